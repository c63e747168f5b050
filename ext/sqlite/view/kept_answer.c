#include "sqlite/view/kept_answer.h"

#include "numeric/dictionary/dictionary.h"
#include "sqlite/api.h"

/* MOST_BYTES: of a key, and of an answer. RESULTS: of lookups whose results are a part of the key.
   Where there are more, their number is: a view keeps them from one query to the next. */
enum { MOST_BYTES = 16384, RESULTS = 512 };

static void add(sqlite3_str *key, const void *bytes, size_t size)
{
    sqlite3_str_append(key, bytes, (int)size);
}

/* Adds the values in whose order the results of a lookup are. A long one makes the key too large.
 */
static void add_ranked(sqlite3_str *key, const struct clr_lookup *lookup)
{
    size_t i;

    add(key, &lookup->ranked_count, sizeof lookup->ranked_count);
    for (i = 0; i < lookup->ranked_count && sqlite3_str_length(key) <= MOST_BYTES; i++) {
        const struct clr_value *value = &lookup->ranked[i];
        const bool has_bytes = value->kind == CLR_KIND_TEXT || value->kind == CLR_KIND_BLOB;

        add(key, &value->kind, sizeof value->kind);
        add(key, &value->as, sizeof value->as);
        if (has_bytes)
            add(key, value->bytes, value->as.size < MOST_BYTES ? value->as.size : MOST_BYTES);
    }
}

/* Results are those of codes: entries have others in another dictionary, even of the same version,
   as one that is loaded anew where the last one had been brought up to date. */
static void add_lookup(sqlite3_str *key, const struct clr_lookup *lookup,
                       const struct clr_dictionary *dictionary)
{
    add(key, &dictionary->id, sizeof dictionary->id);
    add(key, &lookup->count, sizeof lookup->count);
    if (lookup->count > RESULTS) {
        add(key, &lookup->results->id, sizeof lookup->results->id);
        return;
    }
    add(key, lookup->tags, lookup->count);
    add(key, lookup->values, lookup->count * sizeof *lookup->values);
    add_ranked(key, lookup);
}

struct clr_answer_key clr_answer_key_make(const struct clr_database_version *version,
                                          const struct clr_deriving *deriving, int changes,
                                          const struct clr_query_run *run,
                                          const struct clr_lookup *lookups,
                                          struct clr_column *const *columns)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    struct clr_answer_key key;
    int i;

    add(text, version->bytes, sizeof version->bytes);
    add(text, deriving->programs, (size_t)run->query->column_count * sizeof deriving->programs[0]);
    add(text, &deriving->has_no_patterns, sizeof deriving->has_no_patterns);
    add(text, &changes, sizeof changes);
    for (i = 0; i < run->query->constant_count; i++) {
        add(text, &run->constants[i].tag, sizeof run->constants[i].tag);
        add(text, &run->constants[i].bits, sizeof run->constants[i].bits);
    }
    for (i = 0; i < run->query->lookup_count && sqlite3_str_length(text) <= MOST_BYTES; i++)
        add_lookup(text, &lookups[i], columns[run->query->lookups[i].column]->dictionary);
    key.size = sqlite3_str_length(text);
    key.bytes = sqlite3_str_finish(text);
    if (key.size > MOST_BYTES) {
        sqlite3_free(key.bytes);
        key.bytes = NULL;
    }
    return key;
}

/* Returns how many bytes they take. */
static size_t find_size(const struct clr_group_values *values)
{
    return (size_t)values->column_count * values->rows *
               (sizeof *values->bits + sizeof *values->tags) +
           values->bytes.size;
}

void clr_kept_answer_keep(struct clr_kept_answer *kept, struct clr_answer_key *key,
                          struct clr_group_values *values)
{
    clr_kept_answer_drop(kept);
    if (key->bytes == NULL || find_size(values) > MOST_BYTES)
        return;
    kept->key = *key;
    kept->values = clr_group_values_retain(values);
    *key = (struct clr_answer_key){.bytes = NULL};
}

void clr_kept_answer_drop(struct clr_kept_answer *kept)
{
    sqlite3_free(kept->key.bytes);
    clr_group_values_release(kept->values);
    *kept = (struct clr_kept_answer){.values = NULL};
}
