#include "sqlite/lookups/lookups.h"

#include "base/clock.h"
#include "base/memory.h"
#include "numeric/dictionary/dictionary.h"
#include "sqlite/lookups/entries.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <stdlib.h>
#include <string.h>

/* Where so many entries have errors, nothing more is asked: the others are UNSURE. Each error
   begins the statement anew. */
enum { MOST_ERRORS = 100 };

/* What is filled for a part: of results that are to be ranked the numbers of the distinct ones. */
struct results {
    struct clr_lookup_results *shared;
    struct clr_dictionary *distinct; /* NULL: they are not to be ranked */
    bool is_term;                    /* as the part has it */
    bool may_lack;                   /* entries that fail a term, which get another one's */
};

/* The value of an entry or a result; of kind NONE where that is NULL. */
static struct clr_value value_of(const struct clr_scalar *scalar)
{
    return scalar->tag == CLR_TAG_BYTES ? clr_bytes_value(scalar->bits) : clr_number_value(*scalar);
}

/* Whether the result in a column is in UTF-8, in which it is kept, what it is in the database's
   encoding. */
static bool is_kept(sqlite3_stmt *statement, int column, int encoding)
{
    const void *bytes;

    if (encoding == SQLITE_UTF8 || sqlite3_column_type(statement, column) != SQLITE_TEXT)
        return true;
    /* Unconverted, as it is asked for before its size. */
    bytes = sqlite3_column_blob(statement, column);
    return clr_encoding_keeps_utf16(bytes, (size_t)sqlite3_column_bytes(statement, column),
                                    encoding);
}

/* Finds the number of a result among the distinct ones. Returns SQLITE_OK or SQLITE_NOMEM. */
static int number_result(sqlite3_stmt *statement, int column, struct clr_scalar result,
                         struct clr_dictionary *distinct, uint32_t *number)
{
    const bool is_text = sqlite3_column_type(statement, column) == SQLITE_TEXT;
    const void *bytes;
    int size;

    if (result.tag != CLR_TAG_BYTES)
        return clr_dictionary_add(distinct, result, number) == CLR_OK ? SQLITE_OK : SQLITE_NOMEM;
    bytes = is_text ? (const void *)sqlite3_column_text(statement, column)
                    : sqlite3_column_blob(statement, column);
    size = sqlite3_column_bytes(statement, column);
    if (bytes == NULL && size > 0)
        return SQLITE_NOMEM;
    return clr_dictionary_add_bytes(distinct, is_text ? CLR_KIND_TEXT : CLR_KIND_BLOB, bytes,
                                    (size_t)size, number) == CLR_OK
               ? SQLITE_OK
               : SQLITE_NOMEM;
}

/* Takes the result that a column of the statement's row has for an entry. Returns SQLITE_OK or
   SQLITE_NOMEM. */
static int take_result(sqlite3_stmt *statement, int column, int encoding, uint32_t code,
                       struct results *results)
{
    const struct clr_scalar result = clr_scalar_of(sqlite3_column_value(statement, column));
    uint32_t number;
    int rc;

    if (results->distinct == NULL) {
        results->shared->tags[code] = result.tag;
        results->shared->values[code] = result.bits;
        return SQLITE_OK;
    }
    if (!is_kept(statement, column, encoding))
        return SQLITE_OK;
    rc = number_result(statement, column, result, results->distinct, &number);
    if (rc == SQLITE_OK) {
        results->shared->tags[code] = CLR_TAG_INTEGER;
        results->shared->values[code] = number;
    }
    return rc;
}

/* Whether an entry's results of terms say that no row with it passes the filter. */
static bool fails_term(const struct results *results, int count, uint32_t code)
{
    int i;

    for (i = 0; i < count; i++) {
        const uint8_t tag = results[i].shared->tags[code];
        const int64_t bits = results[i].shared->values[code];

        if (results[i].is_term && (tag == CLR_TAG_NULL || (tag == CLR_TAG_INTEGER && bits == 0) ||
                                   (tag == CLR_TAG_REAL && clr_real_of(bits) == 0.0)))
            return true;
    }
    return false;
}

/* Takes the statement's row, of the results of so many parts, for an entry. Returns SQLITE_OK;
   SQLITE_AUTH if the row is not that entry's; or SQLITE_NOMEM. */
static int take_row(sqlite3_stmt *statement, const struct clr_lookup_input *input, uint32_t code,
                    struct results *results, int count)
{
    static const int types[] = {[CLR_KIND_NONE] = SQLITE_NULL,
                                [CLR_KIND_INTEGER] = SQLITE_INTEGER,
                                [CLR_KIND_REAL] = SQLITE_FLOAT,
                                [CLR_KIND_TEXT] = SQLITE_TEXT,
                                [CLR_KIND_BLOB] = SQLITE_BLOB};
    const struct clr_value entry = value_of(&input->dictionary->entries[code]);
    int rc = SQLITE_OK, i;

    if (sqlite3_column_type(statement, count) != types[entry.kind])
        return SQLITE_AUTH;
    /* SQLite's versions treat UTF-16 of an odd number of bytes differently. */
    if (input->encoding != SQLITE_UTF8 && entry.kind == CLR_KIND_TEXT && entry.as.size % 2 != 0)
        return SQLITE_OK;
    for (i = 0; i < count && rc == SQLITE_OK; i++) {
        if (!results[i].may_lack)
            rc = take_result(statement, i, input->encoding, code, &results[i]);
    }
    if (rc != SQLITE_OK || fails_term(results, count, code))
        return rc;
    for (i = 0; i < count && rc == SQLITE_OK; i++) {
        if (results[i].may_lack)
            rc = take_result(statement, i, input->encoding, code, &results[i]);
    }
    return rc;
}

/* Whether an error is that of the entry alone. */
static bool is_entrys(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
    case SQLITE_RANGE:
        return true;
    default:
        return false;
    }
}

/* As other conditions may leave few rows to SQLite, subqueries that go over a table for each entry
   are given no more time than SQLite takes to go over the rows, but this in any case. */
enum { LEAST_WALKS_NS = 50000000, ROW_NS = 100, ENTRIES_TIMED = 16 };

/* Whether the entries that are evaluated since a time, from one on, say that all up to `count` take
   too long. */
static bool takes_long(int64_t since, uint32_t first, uint32_t code, uint32_t count, size_t rows)
{
    const int64_t taken = (code - first) % ENTRIES_TIMED == 0 ? clr_clock_ns() - since : 0;

    return taken > LEAST_WALKS_NS &&
           (double)taken / (code - first) * (count - first) > (double)ROW_NS * (double)rows;
}

/* Evaluates the entry of a turn for each part by itself, as one of them has an error. Returns as
   the function below. */
static int evaluate_alone(sqlite3 *db, const struct clr_lookup_statement *statement,
                          const struct clr_lookup_input *input, struct clr_entries entries,
                          struct results *results)
{
    int rc = SQLITE_OK, i;

    for (i = 0; i < statement->count && rc == SQLITE_OK; i++) {
        sqlite3_stmt *prepared;

        rc = clr_statement_make(db, statement->parts[i].sql, 0, &prepared);
        if (rc == SQLITE_OK)
            rc = clr_values_bind(prepared, input->parameters, input->parameter_count);
        if (rc == SQLITE_OK)
            rc = clr_entries_bind(prepared, statement->source, &entries);
        if (rc == SQLITE_OK && sqlite3_step(prepared) == SQLITE_ROW)
            rc = take_row(prepared, input, clr_entries_at(&entries, entries.first), &results[i], 1);
        if (rc == SQLITE_OK)
            rc = sqlite3_reset(prepared);
        sqlite3_finalize(prepared);
        if (is_entrys(rc))
            rc = SQLITE_OK;
    }
    return rc;
}

/* Evaluates the entries from one on, up to `count`, in that order, beginning anew behind each that
   has an error. Returns SQLite's code; any other than SQLITE_OK is that of the whole. SQLITE_DONE:
   it takes too long. */
static int evaluate_entries(sqlite3 *db, const struct clr_lookup_memo *memo,
                            const struct clr_lookup_statement *statement,
                            const struct clr_lookup_input *input, uint32_t code,
                            const struct clr_sorted_entry *order, struct results *results)
{
    const uint32_t first = code, count = input->dictionary->count;
    const int64_t since = memo->walks ? clr_clock_ns() : 0;
    sqlite3_stmt *prepared = memo->statement;
    struct clr_entries entries = {
        input->dictionary, input->encoding, code, count, CLR_TIME_NONE, order};
    int errors = 0, rc = clr_entries_bind(prepared, statement->source, &entries);

    while (rc == SQLITE_OK && code < count && errors < MOST_ERRORS) {
        entries.first = code;
        while ((rc = sqlite3_step(prepared)) == SQLITE_ROW) {
            /* A key that is not unique, though the schema has it so, is a sign of a file that is
               damaged. */
            rc = code == count ? SQLITE_CORRUPT
                               : take_row(prepared, input, clr_entries_at(&entries, code++),
                                          results, statement->count);
            if (rc == SQLITE_OK && memo->walks &&
                takes_long(since, first, code, count, input->rows))
                rc = SQLITE_DONE;
            if (rc != SQLITE_OK) {
                sqlite3_reset(prepared);
                return rc;
            }
        }
        rc = sqlite3_reset(prepared);
        if (rc == SQLITE_OK)
            break;
        if (code == count)
            return rc;
        if (is_entrys(rc))
            rc = statement->count == 1
                     ? SQLITE_OK
                     : evaluate_alone(db, statement, input,
                                      (struct clr_entries){input->dictionary, input->encoding, code,
                                                           code + 1, CLR_TIME_NONE, order},
                                      results);
        code++;
        errors++;
    }
    return rc;
}

/* ---- Ranks of results. */

/* A value, and where it came from. */
struct ranked {
    struct clr_value value;
    struct clr_scalar *from;
};

/* A total order, in which what SQL takes for equal is together: 0, -0.0 and 0.0 are three values
   here. */
static int compare(const void *a, const void *b)
{
    const struct clr_value *x = &((const struct ranked *)a)->value;
    const struct clr_value *y = &((const struct ranked *)b)->value;
    const int order = clr_value_compare(x, y, 0);

    return order != 0 ? order : (int)x->kind - (int)y->kind;
}

/* Whether SQL takes two values for equal. */
static bool are_equal(const struct clr_value *a, const struct clr_value *b)
{
    if (a->kind == CLR_KIND_REAL && b->kind == CLR_KIND_REAL)
        return a->as.real == b->as.real;
    return clr_value_compare(a, b, 0) == 0;
}

/* Ranks those from `first` up to `last`, which are equal to SQL: if they are not the same, they are
   UNSURE. */
static void set_rank(struct ranked *order, size_t first, size_t last, size_t number)
{
    struct clr_scalar result = {.tag = CLR_TAG_INTEGER, .bits = (int64_t)number};
    size_t i;

    if (compare(&order[first], &order[last - 1]) != 0)
        result = (struct clr_scalar){.tag = CLR_TAG_UNSURE};
    for (i = first; i < last; i++)
        *order[i].from = result;
}

/*
 * Replaces count values, of BYTES by their addresses, by their ranks: each by its place among the
 * different ones. What finds the least, the greatest or the most frequent of numbers finds it of
 * values by that. NULL and UNSURE stay as they are. Numbers that are equal and yet two, 1 and 1.0
 * or 0.0 and -0.0, become UNSURE. Stores the value of each rank, to be freed with
 * clr_memory_free(): bytes stay where they are. Returns CLR_OK or CLR_NOMEM.
 */
static enum clr_code replace_by_ranks(struct clr_scalar *values, size_t count,
                                      struct clr_value **ranked, size_t *ranked_count)
{
    struct ranked *order = clr_memory_alloc((count + 1) * sizeof *order);
    size_t known = 0, ranks = 0, i, first;

    *ranked = clr_memory_alloc((count + 1) * sizeof **ranked);
    if (order == NULL || *ranked == NULL) {
        clr_memory_free(order);
        clr_memory_free(*ranked);
        *ranked = NULL;
        return CLR_NOMEM;
    }
    for (i = 0; i < count; i++) {
        if (values[i].tag != CLR_TAG_NULL && values[i].tag != CLR_TAG_UNSURE)
            order[known++] = (struct ranked){value_of(&values[i]), &values[i]};
    }
    qsort(order, known, sizeof *order, compare);
    for (first = 0; first < known; first = i, ranks++) {
        for (i = first + 1; i < known && are_equal(&order[first].value, &order[i].value); i++)
            ;
        (*ranked)[ranks] = order[first].value;
        set_rank(order, first, i, ranks);
    }
    *ranked_count = ranks;
    clr_memory_free(order);
    return CLR_OK;
}

/* Makes ranks of the results, and moves what they are of to the lookup. */
static int rank(const struct results *results, uint32_t count, struct clr_lookup *lookup)
{
    struct clr_dictionary *distinct = results->distinct;
    struct clr_scalar *ranks = clr_memory_alloc((distinct->count + (size_t)1) * sizeof *ranks);
    enum clr_code code = CLR_NOMEM;
    uint32_t i;

    if (ranks != NULL) {
        /* Those that no entry has any more get none. */
        for (i = 0; i < distinct->count; i++)
            ranks[i] = (struct clr_scalar){.tag = CLR_TAG_NULL};
        for (i = 0; i < count; i++) {
            if (results->shared->tags[i] != CLR_TAG_UNSURE)
                ranks[results->shared->values[i]] = distinct->entries[results->shared->values[i]];
        }
        code = replace_by_ranks(ranks, distinct->count, &lookup->ranked, &lookup->ranked_count);
    }
    for (i = 0; i < count && code == CLR_OK; i++) {
        const struct clr_scalar *from = &ranks[results->shared->values[i]];

        if (results->shared->tags[i] == CLR_TAG_UNSURE)
            continue;
        results->shared->tags[i] = from->tag;
        results->shared->values[i] = from->bits;
    }
    clr_memory_free(ranks);
    if (code != CLR_OK)
        return SQLITE_NOMEM;
    lookup->bytes = distinct->bytes;
    distinct->bytes = (struct clr_bytes){.blocks = NULL};
    return SQLITE_OK;
}

/* ---- Whether the times of a unit are alike. */

/* How many entries are looked at. */
enum { SAMPLED_ENTRIES = 64 };

/* Keeps what the statement gives of an entry's last time, if it gives anything. Returns SQLite's
   code. */
static int take_last(sqlite3_stmt *statement, int source, struct clr_entries *entries,
                     sqlite3_value **value)
{
    int rc;

    *value = NULL;
    rc = clr_entries_bind(statement, source, entries);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        *value = sqlite3_value_dup(sqlite3_column_value(statement, 0));
        sqlite3_reset(statement);
        return *value == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    rc = sqlite3_reset(statement);
    return is_entrys(rc) ? SQLITE_OK : rc;
}

/*
 * The rules by which an expression is said to be alike for all times of a unit are checked by some
 * of the entries: SQLite evaluates it for the first and for the last time of each. Returns as
 * check_parts() does.
 */
static int check_units(sqlite3_stmt *prepared, const struct clr_lookup_statement *statement,
                       const struct clr_lookup_input *input)
{
    const uint32_t count = input->dictionary->count;
    const uint32_t step = count / SAMPLED_ENTRIES + 1;
    int rc = clr_values_bind(prepared, input->parameters, input->parameter_count);
    uint32_t code;

    for (code = 0; code < count && rc == SQLITE_OK; code += step) {
        struct clr_entries entries = {.dictionary = input->dictionary,
                                      .encoding = input->encoding,
                                      .first = code,
                                      .end = code + 1};
        sqlite3_value *first, *last = NULL;

        rc = take_last(prepared, statement->source, &entries, &first);
        entries.last_of = statement->unit;
        if (rc == SQLITE_OK)
            rc = take_last(prepared, statement->source, &entries, &last);
        if (rc == SQLITE_OK && ((first == NULL) != (last == NULL) ||
                                (first != NULL && !clr_values_are_same(first, last))))
            rc = SQLITE_DONE;
        sqlite3_value_free(first);
        sqlite3_value_free(last);
    }
    return rc;
}

/* Does so for each part. Returns SQLite's code; SQLITE_DONE: they are not alike. */
static int check_parts(sqlite3 *db, const struct clr_lookup_statement *statement,
                       const struct clr_lookup_input *input)
{
    int rc = SQLITE_OK, i;

    for (i = 0; i < statement->count && rc == SQLITE_OK; i++) {
        sqlite3_stmt *prepared;

        rc = clr_statement_make(db, statement->parts[i].sql, 0, &prepared);
        if (rc == SQLITE_OK)
            rc = check_units(prepared, statement, input);
        sqlite3_finalize(prepared);
    }
    return rc;
}

/* ---- All results. */

/* Begins the results of each part, with those of so many first entries, which are known. Returns
   false without memory. */
static bool begin_results(const struct clr_lookup_statement *statement,
                          const struct clr_dictionary *dictionary,
                          const struct clr_lookup_memo *memo, uint32_t known,
                          struct results *results)
{
    int i;

    for (i = 0; i < statement->count; i++) {
        const struct clr_lookup_part *part = &statement->parts[i];

        results[i].is_term = part->is_term;
        results[i].may_lack = statement->joins && part->is_late && !part->is_key;
        results[i].shared = clr_lookup_results_new(dictionary->count);
        if (results[i].shared == NULL)
            return false;
        if (part->is_ranked) {
            results[i].distinct = clr_dictionary_new(dictionary->seed, NULL);
            if (results[i].distinct == NULL)
                return false;
        }
        if (known > 0) {
            memcpy(results[i].shared->values, memo->lookups[i].values, known * sizeof(int64_t));
            memcpy(results[i].shared->tags, memo->lookups[i].tags, known);
        }
    }
    return true;
}

/* Gives the entries whose rows do not pass the filter the result of one whose rows may: who reads
   none of such rows finds fewer different results, of which it has as many groups fewer. */
static void narrow(const struct results *results, int part_count, uint32_t count,
                   struct clr_lookup_results *narrowed)
{
    uint32_t model = 0, code;

    while (model < count &&
           (narrowed->tags[model] == CLR_TAG_UNSURE || fails_term(results, part_count, model)))
        model++;
    for (code = 0; code < count && model < count; code++) {
        if (!fails_term(results, part_count, code))
            continue;
        narrowed->tags[code] = narrowed->tags[model];
        narrowed->values[code] = narrowed->values[model];
    }
}

/* Whether entries stand for the groups as they are: scans are quickest with them. */
static bool are_groups(const struct clr_lookup_part *part, const struct results *results,
                       uint32_t count)
{
    return part->is_key && results->distinct != NULL && results->distinct->count == count;
}

static void free_lookup(struct clr_lookup *lookup)
{
    clr_lookup_results_release(lookup->results);
    clr_memory_free(lookup->ranked);
    clr_bytes_free(&lookup->bytes);
    memset(lookup, 0, sizeof *lookup);
}

void clr_lookups_free(struct clr_lookup_memo *memo)
{
    int i;

    for (i = 0; i < memo->count && memo->lookups != NULL; i++)
        free_lookup(&memo->lookups[i]);
    clr_memory_free(memo->lookups);
    memo->lookups = NULL;
    memo->count = 0;
}

/* Gives the memo the results of all entries. Returns SQLITE_OK or SQLITE_NOMEM. */
static int take_results(const struct clr_lookup_statement *statement, uint32_t count,
                        struct results *results, struct clr_lookup_memo *memo)
{
    int rc = SQLITE_OK, i;

    clr_lookups_free(memo);
    memo->lookups = clr_memory_alloc_zero((size_t)statement->count * sizeof *memo->lookups);
    if (memo->lookups == NULL)
        return SQLITE_NOMEM;
    memo->count = statement->count;
    /* As long as all results are here. */
    for (i = 0; i < statement->count; i++) {
        if (statement->parts[i].is_late && !are_groups(&statement->parts[i], &results[i], count))
            narrow(results, statement->count, count, results[i].shared);
    }
    for (i = 0; i < statement->count && rc == SQLITE_OK; i++) {
        if (results[i].distinct != NULL)
            rc = rank(&results[i], count, &memo->lookups[i]);
        if (rc == SQLITE_OK) {
            clr_lookup_set(&memo->lookups[i], results[i].shared, count);
            results[i].shared = NULL;
        }
    }
    return rc;
}

static int compare_entries(const void *a, const void *b)
{
    const struct clr_sorted_entry *x = a, *y = b;

    return (x->bits > y->bits) - (x->bits < y->bits);
}

/*
 * Returns the turns of the entries from `begin` on, up to `count`, in the order of their values:
 * rows of a table with such keys lie next to each other then. The order is a matter of speed alone:
 * NULL, without memory for it, is by their numbers. To be freed with clr_memory_free().
 */
static struct clr_sorted_entry *sort_entries(const struct clr_dictionary *dictionary,
                                             uint32_t begin, uint32_t count)
{
    struct clr_sorted_entry *sorted = clr_memory_alloc((count + (size_t)1) * sizeof *sorted);
    uint32_t turn = begin, far, i;
    size_t place;

    if (sorted == NULL)
        return NULL;
    /* The window has its INTEGERs in order. */
    for (place = 0; place < dictionary->near_count; place++) {
        const uint32_t code = dictionary->near_codes[place] - 1;

        if (code >= begin && code < count)
            sorted[turn++] = (struct clr_sorted_entry){dictionary->entries[code].bits, code};
    }
    far = turn;
    for (i = begin; i < count && turn < count; i++) {
        if (clr_dictionary_near(dictionary, dictionary->entries[i]) == 0)
            sorted[turn++] = (struct clr_sorted_entry){dictionary->entries[i].bits, i};
    }
    qsort(sorted + far, turn - far, sizeof *sorted, compare_entries);
    return sorted;
}

int clr_lookups_evaluate(sqlite3 *db, const struct clr_lookup_statement *statement,
                         const struct clr_lookup_input *input, uint32_t known,
                         struct clr_lookup_memo *memo, struct clr_reason *reason)
{
    const uint32_t count = input->dictionary->count;
    struct results *results = clr_memory_alloc_zero((size_t)statement->count * sizeof *results);
    struct clr_sorted_entry *order = NULL;
    int rc = results == NULL ? SQLITE_NOMEM : SQLITE_OK, i;

    if (rc == SQLITE_OK && statement->unit != CLR_TIME_NONE && !memo->has_units) {
        rc = check_parts(db, statement, input);
        memo->has_units = rc == SQLITE_OK;
    }
    if (rc == SQLITE_OK && !begin_results(statement, input->dictionary, memo, known, results))
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK && statement->joins)
        order = sort_entries(input->dictionary, known, count);
    if (rc == SQLITE_OK)
        rc = clr_values_bind(memo->statement, input->parameters, input->parameter_count);
    if (rc == SQLITE_OK)
        rc = evaluate_entries(db, memo, statement, input, known, order, results);
    if (rc == SQLITE_OK)
        rc = take_results(statement, count, results, memo);
    if (rc == SQLITE_DONE)
        clr_reason_set(reason, CLR_WHY_MANY_VALUES);
    else if (rc != SQLITE_OK && rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT)
        clr_statement_refuse(db, rc, reason);
    for (i = 0; i < statement->count && results != NULL; i++) {
        clr_lookup_results_release(results[i].shared);
        clr_dictionary_release(results[i].distinct);
    }
    clr_memory_free(results);
    clr_memory_free(order);
    sqlite3_clear_bindings(memo->statement);
    return rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT ? rc : SQLITE_OK;
}
