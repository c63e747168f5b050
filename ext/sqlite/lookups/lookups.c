#include "sqlite/lookups/lookups.h"

#include "base/clock.h"
#include "base/memory.h"
#include "numeric/dictionary/dictionary.h"
#include "query/syntax/syntax.h"
#include "sqlite/cache/cache_memory.h"
#include "sqlite/cache/kept_lookups.h"
#include "sqlite/lookups/entries.h"
#include "sqlite/lookups/ranks.h"
#include "sqlite/lookups/subqueries.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"

#include <stdlib.h>
#include <string.h>

/* ---- Values that stand for the present time, or for the time zone. */

/* Whether TEXT, or some made of it, may stand for the present time, or for the time zone, to a
   function of times. That reads no further than a zero. */
static bool is_present_text(const char *text, size_t size)
{
    static const char *const words[] = {"now", "localtime", "utc", "subsec", "subsecond"};
    size_t i;

    if (size > 0 && memchr(text, 0, size) != NULL)
        return true;
    while (size > 0 && strchr(" \t\n\v\f\r", text[size - 1]) != NULL)
        size--;
    for (; size > 0 && strchr(" \t\n\v\f\r", *text) != NULL; text++)
        size--;
    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == size && sqlite3_strnicmp(text, words[i], (int)size) == 0)
            return true;
    }
    return false;
}

/* Whether a value may do so. */
static bool is_present_value(sqlite3_value *value)
{
    const int type = sqlite3_value_type(value);
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(value) : NULL;

    return type == SQLITE_BLOB ||
           (type == SQLITE_TEXT &&
            (text == NULL || is_present_text(text, (size_t)sqlite3_value_bytes(value))));
}

static void fix_time(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (is_present_value(values[0]))
        sqlite3_result_error(context, "a column's value may be the present time", -1);
    else
        sqlite3_result_value(context, values[0]);
}

/* Reads a value as sums do. */
static void make_number(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct clr_value number;

    (void)count;
    if (!clr_value_read_number(values[0], &number))
        return;
    if (number.kind == CLR_KIND_INTEGER)
        sqlite3_result_int64(context, number.as.integer);
    else
        sqlite3_result_double(context, number.as.real);
}

const struct clr_sql_function clr_lookup_functions[] = {
    {CLR_FIXED_TIME, 1, SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, fix_time, NULL},
    {CLR_NUMBER, 1, SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, make_number, NULL},
    {.name = NULL},
};

/* ---- Results of entries. */

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

/* Whether a result is in UTF-8, in which it is kept, what it is in the database's encoding. */
static bool is_kept(sqlite3_value *value, int encoding)
{
    const void *bytes;

    if (encoding == SQLITE_UTF8 || sqlite3_value_type(value) != SQLITE_TEXT)
        return true;
    bytes = sqlite3_value_blob(value); /* unconverted, as it is asked for before its size */
    return clr_encoding_keeps_utf16(bytes, (size_t)sqlite3_value_bytes(value), encoding);
}

/* Finds the number of a result among the distinct ones. Returns SQLITE_OK or SQLITE_NOMEM. */
static int number_result(sqlite3_value *value, struct clr_scalar result,
                         struct clr_dictionary *distinct, uint32_t *number)
{
    const bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
    const void *bytes;
    int size;

    if (result.tag != CLR_TAG_BYTES)
        return clr_dictionary_add(distinct, result, number) == CLR_OK ? SQLITE_OK : SQLITE_NOMEM;
    bytes = is_text ? (const void *)sqlite3_value_text(value) : sqlite3_value_blob(value);
    size = sqlite3_value_bytes(value);
    if (bytes == NULL && size > 0)
        return SQLITE_NOMEM;
    return clr_dictionary_add_bytes(distinct, is_text ? CLR_KIND_TEXT : CLR_KIND_BLOB, bytes,
                                    (size_t)size, number) == CLR_OK
               ? SQLITE_OK
               : SQLITE_NOMEM;
}

/* Takes the result that a column of the statement's row has for an entry. The value is asked for
   once: each function about a column takes the connection's mutex. Returns SQLITE_OK or
   SQLITE_NOMEM. */
static int take_result(sqlite3_stmt *statement, int column, int encoding, uint32_t code,
                       struct results *results)
{
    sqlite3_value *value = sqlite3_column_value(statement, column);
    const struct clr_scalar result = clr_scalar_of(value);
    uint32_t number;
    int rc;

    if (results->distinct == NULL) {
        results->shared->tags[code] = result.tag;
        results->shared->values[code] = result.bits;
        return SQLITE_OK;
    }
    if (!is_kept(value, encoding))
        return SQLITE_OK;
    rc = number_result(value, result, results->distinct, &number);
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
    const struct clr_value entry = clr_scalar_value(&input->dictionary->entries[code]);
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

/* How many turns ahead an entry is fetched. */
enum { TURNS_AHEAD = 8 };

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

/* Fetches what is read and written of an entry whose turn is soon: in the order of values they lie
   apart. Inlined in any case: GCC leaves out calls of a function that does nothing else. */
static inline __attribute__((always_inline)) void fetch_turn(const struct clr_entries *entries,
                                                             uint32_t turn,
                                                             const struct results *results,
                                                             int count)
{
    const uint32_t code = turn < entries->end ? clr_entries_at(entries, turn) : 0;
    int i;

    __builtin_prefetch(&entries->dictionary->entries[code]);
    for (i = 0; i < count; i++) {
        __builtin_prefetch(&results[i].shared->tags[code], 1);
        __builtin_prefetch(&results[i].shared->values[code], 1);
    }
}

/* Evaluates the entries from a turn on, up to `end`, in that order, beginning anew behind each that
   has an error. Returns SQLite's code; any other than SQLITE_OK is that of the whole. SQLITE_DONE:
   it takes too long. */
static int evaluate_entries(sqlite3 *db, const struct clr_lookup_memo *memo,
                            const struct clr_lookup_statement *statement,
                            const struct clr_lookup_input *input, uint32_t turn, uint32_t end,
                            const struct clr_sorted_entry *order, struct results *results)
{
    const uint32_t first = turn;
    const int64_t since = memo->walks ? clr_clock_ns() : 0;
    sqlite3_stmt *prepared = memo->statement;
    struct clr_entries entries = {
        input->dictionary, input->encoding, turn, end, CLR_TIME_NONE, order};
    int errors = 0, rc = clr_entries_bind(prepared, statement->source, &entries);

    while (rc == SQLITE_OK && turn < end && errors < MOST_ERRORS) {
        entries.first = turn;
        while ((rc = sqlite3_step(prepared)) == SQLITE_ROW) {
            fetch_turn(&entries, turn + TURNS_AHEAD, results, statement->count);
            /* A key that is not unique, though the schema has it so, is a sign of a file that is
               damaged. */
            rc = turn == end ? SQLITE_CORRUPT
                             : take_row(prepared, input, clr_entries_at(&entries, turn++), results,
                                        statement->count);
            if (rc == SQLITE_OK && memo->walks && takes_long(since, first, turn, end, input->rows))
                rc = SQLITE_DONE;
            if (rc != SQLITE_OK) {
                sqlite3_reset(prepared);
                return rc;
            }
        }
        rc = sqlite3_reset(prepared);
        if (rc == SQLITE_OK)
            break;
        if (turn == end)
            return rc;
        if (is_entrys(rc))
            rc = statement->count == 1
                     ? SQLITE_OK
                     : evaluate_alone(db, statement, input,
                                      (struct clr_entries){input->dictionary, input->encoding, turn,
                                                           turn + 1, CLR_TIME_NONE, order},
                                      results);
        turn++;
        errors++;
    }
    return rc;
}

/* ---- Whether the times of a unit are alike. */

/* How many entries are looked at. */
enum { SAMPLED_ENTRIES = 64 };

/* Keeps what the statement gives of an entry's last time, if it gives anything. Returns SQLite's
   code. */
static int take_last(sqlite3_stmt *statement, int source, struct clr_entries *entries,
                     struct clr_copied_values *copy)
{
    sqlite3_value *value;
    int rc;

    *copy = (struct clr_copied_values){.bytes = NULL};
    rc = clr_entries_bind(statement, source, entries);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) {
        value = sqlite3_column_value(statement, 0);
        rc = clr_values_copy(&value, 1, copy) ? SQLITE_OK : SQLITE_NOMEM;
        sqlite3_reset(statement);
        return rc;
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
        struct clr_copied_values first, last = {.bytes = NULL};

        rc = take_last(prepared, statement->source, &entries, &first);
        entries.last_of = statement->unit;
        if (rc == SQLITE_OK)
            rc = take_last(prepared, statement->source, &entries, &last);
        if (rc == SQLITE_OK && !clr_copied_values_are_same(&first, &last))
            rc = SQLITE_DONE;
        sqlite3_free(first.bytes);
        sqlite3_free(last.bytes);
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

/* Begins the results of each part, with those of the first entries, so many, which lookups have.
   Returns false without memory. */
static bool begin_results(const struct clr_lookup_statement *statement,
                          const struct clr_dictionary *dictionary, const struct clr_lookup *lookups,
                          uint32_t known, struct results *results)
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
            memcpy(results[i].shared->values, lookups[i].values, known * sizeof(int64_t));
            memcpy(results[i].shared->tags, lookups[i].tags, known);
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

/* Replaces lookups by those of the results of all entries. Returns SQLITE_OK or SQLITE_NOMEM. */
static int take_results(const struct clr_lookup_statement *statement, uint32_t count,
                        struct results *results, struct clr_lookup *lookups)
{
    int rc = SQLITE_OK, i;

    /* As long as all results are here. */
    for (i = 0; i < statement->count; i++) {
        if (statement->parts[i].is_late && !are_groups(&statement->parts[i], &results[i], count))
            narrow(results, statement->count, count, results[i].shared);
    }
    for (i = 0; i < statement->count && rc == SQLITE_OK; i++) {
        if (results[i].distinct != NULL &&
            clr_results_rank(results[i].shared, count, results[i].distinct) != CLR_OK)
            rc = SQLITE_NOMEM;
        if (rc != SQLITE_OK)
            continue;
        clr_lookup_free(&lookups[i]);
        clr_lookup_set(&lookups[i], results[i].shared, count);
        results[i].shared = NULL;
    }
    return rc;
}

static int compare_entries(const void *a, const void *b)
{
    const struct clr_sorted_entry *x = a, *y = b;

    return (x->bits > y->bits) - (x->bits < y->bits);
}

/*
 * Returns the turns of the entries from `begin` on, up to *count, in the order of their values:
 * rows of a table with such keys lie next to each other then. models: the entries that each of them
 * is alike to, of which the first one alone has a turn, and *count becomes the end of the turns; or
 * NULL. Turns are a matter of speed alone: NULL, where the entries are in that order already, and
 * without memory for it, is by their numbers. To be freed with clr_memory_free().
 */
static struct clr_sorted_entry *sort_entries(const struct clr_dictionary *dictionary,
                                             const uint32_t *models, uint32_t begin,
                                             uint32_t *count)
{
    const struct clr_scalar *entries = dictionary->entries;
    struct clr_sorted_entry *sorted;
    uint32_t end = begin, i;

    for (i = begin; i + 1 < *count && entries[i].bits <= entries[i + 1].bits; i++)
        ;
    if (i + 1 >= *count && models == NULL)
        return NULL;
    sorted = clr_memory_alloc(*count * sizeof *sorted);
    if (sorted == NULL)
        return NULL;
    for (i = begin; i < *count; i++) {
        if (models == NULL || models[i] == i)
            sorted[end++] = (struct clr_sorted_entry){entries[i].bits, i};
    }
    qsort(sorted + begin, end - begin, sizeof *sorted, compare_entries);
    *count = end;
    return sorted;
}

/* Returns the entries that all from `known` on are alike to, or NULL. */
static uint32_t *find_alike(struct clr_connection *connection,
                            const struct clr_lookup_statement *statement,
                            const struct clr_lookup_input *input, uint32_t known,
                            struct clr_lookup_memo *memo)
{
    struct clr_alike_input alike = {input->database, input->snapshot, input->watch, 0};
    uint32_t *models;

    if (memo->are_unlike)
        return NULL;
    models = clr_alike_find(&statement->alike, &alike, input->dictionary, known,
                            input->dictionary->count);
    connection->stats.bytes_decoded += alike.bytes_read;
    memo->are_unlike = models == NULL && alike.bytes_read > 0;
    return models;
}

/* Gives entries from `known` on, up to `count`, the results of those that they are alike to. */
static void copy_results(const uint32_t *models, uint32_t known, uint32_t count, int part_count,
                         const struct results *results)
{
    uint32_t code;
    int i;

    for (i = 0; i < part_count; i++) {
        struct clr_lookup_results *shared = results[i].shared;

        for (code = known; code < count; code++) {
            shared->tags[code] = shared->tags[models[code]];
            shared->values[code] = shared->values[models[code]];
        }
    }
}

/* Returns of how many of the first entries the results are known that lookups have. Ranks are those
   of all. */
static uint32_t find_known(const struct clr_lookup_statement *statement,
                           const struct clr_lookup *lookups)
{
    int i;

    for (i = 0; i < statement->count; i++) {
        if (statement->parts[i].is_ranked)
            return 0;
    }
    return lookups[0].count;
}

/*
 * Evaluates the statement that the memo has prepared, and replaces lookups, which have the first
 * entries' results or none, by those of all entries. Where a unit's times have to be alike, and
 * nobody has checked that, it does first. Returns SQLITE_OK, with the lookups complete, or with a
 * reason; SQLITE_NOMEM or SQLITE_INTERRUPT: without them the memo is to be freed.
 */
static int evaluate(struct clr_connection *connection, const struct clr_lookup_statement *statement,
                    const struct clr_lookup_input *input, struct clr_lookup_memo *memo,
                    struct clr_lookup *lookups, struct clr_reason *reason)
{
    const uint32_t count = input->dictionary->count, known = find_known(statement, lookups);
    uint32_t end = count, *models = NULL;
    sqlite3 *db = connection->db;
    struct results *results = clr_memory_alloc_zero((size_t)statement->count * sizeof *results);
    struct clr_sorted_entry *order = NULL;
    int rc = results == NULL ? SQLITE_NOMEM : SQLITE_OK, i;

    if (rc == SQLITE_OK && statement->unit != CLR_TIME_NONE && !memo->has_units) {
        rc = check_parts(db, statement, input);
        memo->has_units = rc == SQLITE_OK;
    }
    if (rc == SQLITE_OK && !begin_results(statement, input->dictionary, lookups, known, results))
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK && statement->joins) {
        models = find_alike(connection, statement, input, known, memo);
        order = sort_entries(input->dictionary, models, known, &end);
    }
    if (rc == SQLITE_OK)
        rc = clr_values_bind(memo->statement, input->parameters, input->parameter_count);
    if (rc == SQLITE_OK)
        rc = evaluate_entries(db, memo, statement, input, known, end, order, results);
    if (rc == SQLITE_OK)
        connection->stats.entries_evaluated += end - known;
    if (rc == SQLITE_OK && models != NULL)
        copy_results(models, known, count, statement->count, results);
    if (rc == SQLITE_OK)
        rc = take_results(statement, count, results, lookups);
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
    clr_memory_free(models);
    sqlite3_clear_bindings(memo->statement);
    return rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT ? rc : SQLITE_OK;
}

/* ---- Whether what was kept still holds. */

void clr_lookup_memo_free(struct clr_lookup_memo *memo)
{
    clr_cache_drop_lookups(memo->id);
    sqlite3_finalize(memo->statement);
    memset(memo, 0, sizeof *memo);
}

/*
 * Whether SQLite would evaluate the statement as it did. A function or a collating sequence that is
 * replaced expires all statements, and SQLite prepares this one again when it is stepped; one that
 * comes beside others of its name, and an authorizer that goes, show in the program, but for one of
 * another encoding, which SQLite prefers where that is the database's.
 */
static bool is_evaluated_alike(const struct clr_connection *connection,
                               struct clr_lookup_memo *memo,
                               const struct clr_lookup_statement *statement,
                               const struct clr_functions *functions,
                               const struct clr_lookup_input *input)
{
    struct clr_entries none = {.dictionary = input->dictionary, .encoding = input->encoding};
    uint64_t variants = memo->variants;
    const bool steps = clr_entries_bind(memo->statement, statement->source, &none) == SQLITE_OK &&
                       sqlite3_step(memo->statement) == SQLITE_DONE;

    sqlite3_reset(memo->statement);
    sqlite3_clear_bindings(memo->statement);
    return steps &&
           (input->encoding == SQLITE_UTF8 ||
            clr_functions_still_are(connection->db, functions, &variants)) &&
           variants == memo->variants &&
           sqlite3_stmt_status(memo->statement, SQLITE_STMTSTATUS_REPREPARE, 0) ==
               memo->preparations &&
           clr_bytecode_hash(connection->db, statement->sql, true) == memo->program;
}

/* Whether the memo's statement is the one that SQLite would prepare. Who asks by a statement that
   was prepared before it, and is not expired, asks for no other functions. */
static bool is_current(const struct clr_connection *connection, struct clr_lookup_memo *memo,
                       const struct clr_lookup_statement *statement,
                       const struct clr_functions *functions, const struct clr_lookup_input *input)
{
    if (memo->statement == NULL)
        return false;
    if ((memo->is_stale || clr_statement_is_outdated(memo->statement)) &&
        !(memo->program != 0 && is_evaluated_alike(connection, memo, statement, functions, input)))
        return false;
    memo->is_stale = false;
    return true;
}

/* ---- Keeping it. */

/* Whether results may be others at another time. TEXT of UTF-16 is not looked at. */
static bool may_be_present(const struct clr_lookup_statement *statement,
                           const struct clr_lookup_input *input)
{
    uint32_t code;
    int i;

    if (!statement->is_timed || statement->joins)
        return statement->is_timed;
    for (i = 0; i < input->parameter_count; i++) {
        if (input->parameters[i] != NULL && is_present_value(input->parameters[i]))
            return true;
    }
    for (code = 0; code < input->dictionary->count; code++) {
        const struct clr_scalar *entry = &input->dictionary->entries[code];
        struct clr_value value;

        if (entry->tag != CLR_TAG_BYTES)
            continue;
        value = clr_bytes_value(entry->bits);
        if (input->encoding != SQLITE_UTF8 || is_present_text(value.bytes, value.as.size))
            return true;
    }
    return false;
}

/* Whether a statement depends on nothing of the connection's own: on no function, no collating
   sequence but BINARY, and no time zone; nor on a view in temp, which may have other literals than
   another connection's: of REALs and BLOBs EXPLAIN does not show all. */
static bool asks_sqlite_alone(const struct clr_connection *connection, const char *sql,
                              const struct clr_functions *functions,
                              const struct clr_bytecode *program)
{
    return CLR_BYTECODE_NEXT(program, NULL, "Real", "Blob") == NULL &&
           !clr_functions_name_zone(sql) &&
           (connection->overrides == 0 || clr_bytecode_count(program, "AggStep") == 0) &&
           clr_sequences_are_binary(connection->db, program) &&
           clr_functions_are_sqlites(connection, functions, program);
}

/* Finds out what SQLite makes of the statement that is prepared, unless it is known. functions:
   some of which it is known just now whether they are SQLite's; or NULL. */
static void find_program(const struct clr_connection *connection, struct clr_lookup_memo *memo,
                         const struct clr_lookup_statement *statement,
                         const struct clr_functions *functions)
{
    const int preparations = sqlite3_stmt_status(memo->statement, SQLITE_STMTSTATUS_REPREPARE, 0);
    struct clr_bytecode program;

    if (memo->program != 0 && memo->preparations == preparations)
        return;
    memo->preparations = preparations;
    memo->program = 0;
    if (clr_bytecode_read(connection->db, &program, "%s", statement->sql) == SQLITE_OK) {
        memo->program = clr_bytecode_hash_program(&program, true);
        memo->is_sqlites = asks_sqlite_alone(connection, statement->sql, functions, &program);
    }
    clr_bytecode_free(&program);
}

/* All that lookups follow from, but for the tables that their statement reads. */
struct key {
    uint64_t dictionary, program, text;
    struct clr_function_limits limits;
    sqlite3_uint64 size;          /* of what follows */
    unsigned char roles_values[]; /* a byte for each part's role, and the parameters */
};

/* What is made of a part's results, and of others by them: take_results(). */
static unsigned char role_of(const struct clr_lookup_part *part)
{
    return (unsigned char)(part->is_ranked | part->is_term << 1 | part->is_late << 2 |
                           part->is_key << 3);
}

/* Returns it, to be freed with sqlite3_free(), or NULL without memory. */
static struct key *make_key(sqlite3 *db, const struct clr_lookup_memo *memo,
                            const struct clr_lookup_statement *statement,
                            const struct clr_lookup_input *input)
{
    const int count = input->parameter_count;
    const sqlite3_uint64 size =
        (sqlite3_uint64)statement->count + clr_values_write(input->parameters, count, NULL);
    const struct clr_value text = {
        .kind = CLR_KIND_TEXT, .as.size = strlen(statement->sql), .bytes = statement->sql};
    struct key *key = sqlite3_malloc64(sizeof *key + size);
    int i;

    if (key == NULL)
        return NULL;
    *key = (struct key){.dictionary = input->dictionary->id,
                        .program = memo->program,
                        .text = clr_bytes_hash(&text, 0),
                        .limits = clr_function_limits_read(db),
                        .size = size};
    for (i = 0; i < statement->count; i++)
        key->roles_values[i] = role_of(&statement->parts[i]);
    clr_values_write(input->parameters, count, key->roles_values + statement->count);
    return key;
}

/* What the memo's view looks for among kept lookups. */
static struct clr_wanted_lookups find_wanted(const struct clr_lookup_memo *memo,
                                             const struct clr_lookup_statement *statement,
                                             const struct clr_lookup_input *input,
                                             const struct key *key)
{
    static const struct clr_database_version none;
    struct clr_wanted_lookups wanted = {
        .key = key, .key_size = sizeof *key + key->size, .used = input->number};

    if (!statement->joins || memo->version == input->version)
        wanted.id = memo->id;
    if (memo->is_sqlites)
        wanted.token = statement->joins ? input->token : &none;
    return wanted;
}

/* Finds lookups that were kept. Returns SQLITE_OK or SQLITE_NOMEM. */
static int find(sqlite3 *db, struct clr_lookup_memo *memo,
                const struct clr_lookup_statement *statement, const struct clr_lookup_input *input,
                struct clr_lookup *lookups)
{
    struct key *key;
    struct clr_wanted_lookups wanted;
    uint64_t id;

    if (memo->program == 0)
        return SQLITE_OK;
    key = make_key(db, memo, statement, input);
    if (key == NULL)
        return SQLITE_NOMEM;
    wanted = find_wanted(memo, statement, input, key);
    clr_cache_lock();
    id = clr_kept_lookups_find(input->table->lookups, &wanted, lookups, statement->count);
    clr_cache_unlock();
    sqlite3_free(key);
    if (id == 0)
        return SQLITE_OK;
    memo->id = id;
    memo->version = input->version;
    return SQLITE_OK;
}

void clr_lookups_keep(struct clr_connection *connection, struct clr_lookup_memo *memo,
                      const struct clr_lookup_statement *statement,
                      const struct clr_lookup_input *input, const struct clr_lookup *lookups)
{
    struct clr_wanted_lookups wanted;
    struct key *key;

    if (!memo->is_new || may_be_present(statement, input))
        return;
    memo->is_new = false;
    find_program(connection, memo, statement, NULL);
    key = memo->program == 0 ? NULL : make_key(connection->db, memo, statement, input);
    if (key == NULL)
        return;
    wanted = find_wanted(memo, statement, input, key);
    wanted.id = memo->id;
    clr_cache_lock();
    memo->id = clr_kept_lookups_add(&input->table->lookups, &wanted, lookups, statement->count);
    clr_cache_unlock();
    memo->version = input->version;
    sqlite3_free(key);
}

/* Prepares the statement, if SQLite would evaluate it as it was planned. functions are those of the
   statement. Returns SQLITE_OK, maybe with a reason, or SQLITE_NOMEM. */
static int prepare(struct clr_connection *connection, struct clr_lookup_memo *memo,
                   const struct clr_lookup_statement *statement,
                   const struct clr_functions *functions, struct clr_reason *reason)
{
    int rc = SQLITE_OK;

    clr_lookup_memo_free(memo);
    if (!clr_functions_still_are(connection->db, functions, &memo->variants)) {
        clr_reason_set(reason, CLR_WHY_REPLACED);
        return SQLITE_OK;
    }
    if (statement->probe != NULL)
        rc = clr_subqueries_check(connection, statement->probe, statement->names,
                                  statement->has_values, &memo->walks, reason);
    if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE)
        return rc;
    rc = clr_statement_make(connection->db, statement->sql, SQLITE_PREPARE_PERSISTENT,
                            &memo->statement);
    if (rc == SQLITE_OK)
        find_program(connection, memo, statement, functions);
    else if (rc != SQLITE_NOMEM)
        clr_statement_refuse(connection->db, rc, reason);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Has the memo's statement be the one that SQLite would prepare, and finds lookups that were kept.
   One that reads tables is prepared anew where there are none. Returns SQLITE_OK, maybe with a
   reason, or SQLITE_NOMEM. */
static int prepare_or_find(struct clr_connection *connection, struct clr_lookup_memo *memo,
                           const struct clr_lookup_statement *statement,
                           const struct clr_functions *functions,
                           const struct clr_lookup_input *input, struct clr_lookup *lookups,
                           struct clr_reason *reason)
{
    const bool is_known = is_current(connection, memo, statement, functions, input);
    int rc = SQLITE_OK;

    if (is_known)
        rc = find(connection->db, memo, statement, input, lookups);
    if (rc != SQLITE_OK || lookups->results != NULL || (is_known && statement->probe == NULL))
        return rc;
    rc = prepare(connection, memo, statement, functions, reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        rc = find(connection->db, memo, statement, input, lookups);
    return rc;
}

int clr_lookups_bring(struct clr_connection *connection, struct clr_lookup_memo *memo,
                      const struct clr_lookup_statement *statement,
                      const struct clr_functions *functions, const struct clr_lookup_input *input,
                      struct clr_lookup *lookups, struct clr_reason *reason)
{
    int rc = clr_entries_register(connection, &statement->type), i;

    memset(lookups, 0, (size_t)statement->count * sizeof *lookups);
    memo->is_new = false;
    if (rc == SQLITE_OK) {
        rc = prepare_or_find(connection, memo, statement, functions, input, lookups, reason);
    } else if (rc != SQLITE_NOMEM) {
        clr_statement_refuse(connection->db, rc, reason);
        rc = SQLITE_OK;
    }
    memo->has_units = lookups->results != NULL;
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE &&
        (lookups->results == NULL || lookups->count < input->dictionary->count)) {
        rc = evaluate(connection, statement, input, memo, lookups, reason);
        memo->is_new = true;
    }
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        return SQLITE_OK;
    for (i = 0; i < statement->count; i++)
        clr_lookup_free(&lookups[i]);
    clr_lookup_memo_free(memo);
    return rc;
}
