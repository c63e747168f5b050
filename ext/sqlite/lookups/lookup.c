#include "sqlite/lookups/lookup.h"

#include "base/memory.h"
#include "numeric/dictionary/ranks.h"
#include "numeric/scan/lookup_results.h"
#include "sqlite/lookups/entries.h"
#include "sqlite/session/sql_value.h"

#include <string.h>

/* Where so many entries have errors, nothing more is asked: the others are UNSURE. Each error
   begins the statement anew. */
enum { MOST_ERRORS = 100 };

int clr_lookup_statement_write(sqlite3 *db, const struct clr_table_info *table,
                               const struct clr_query *query, const struct clr_lookup_plan *plan,
                               int parameter_count, struct clr_lookup_statement *statement)
{
    char *name;
    int rc = clr_column_type_find(db, table, query->columns[plan->column], &statement->type);

    statement->sql = NULL;
    statement->source = parameter_count + 1;
    statement->is_ranked = plan->is_ranked;
    statement->is_timed = plan->is_timed;
    if (rc != SQLITE_OK)
        return rc;
    name = clr_entries_name(&statement->type);
    if (name == NULL)
        return SQLITE_NOMEM;
    /* The entry itself comes along: an authorizer may put NULL in its place. */
    statement->sql = sqlite3_mprintf("SELECT (%s), \"" CLR_LOOKUP_COLUMN "\" FROM %s(?%d)",
                                     plan->text, name, statement->source);
    sqlite3_free(name);
    return statement->sql == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

void clr_lookup_statement_free(struct clr_lookup_statement *statement)
{
    clr_column_type_free(&statement->type);
    sqlite3_free(statement->sql);
    statement->sql = NULL;
}

void clr_lookup_free(struct clr_lookup *lookup)
{
    clr_lookup_results_release(lookup->results);
    clr_memory_free(lookup->ranked);
    clr_bytes_free(&lookup->bytes);
    memset(lookup, 0, sizeof *lookup);
}

/* ---- Evaluating. */

/* What is filled: of results that are to be ranked the values as they are, with their bytes. */
struct results {
    struct clr_lookup_results *shared;
    int64_t *values; /* of those, as are the tags */
    uint8_t *tags;
    struct clr_scalar *unranked;
    struct clr_bytes bytes;
};

static bool new_results(uint32_t count, bool is_ranked, struct results *results)
{
    uint32_t i;

    *results = (struct results){.shared = NULL};
    if (is_ranked) {
        results->unranked = clr_memory_alloc((count + (size_t)1) * sizeof *results->unranked);
        if (results->unranked == NULL)
            return false;
        for (i = 0; i < count; i++)
            results->unranked[i] = (struct clr_scalar){.tag = CLR_TAG_UNSURE};
    }
    results->shared = clr_lookup_results_new(count);
    if (results->shared == NULL)
        return false;
    results->values = results->shared->values;
    results->tags = results->shared->tags;
    return true;
}

static int bind(sqlite3_stmt *statement, const struct clr_lookup_input *input)
{
    const int count = sqlite3_bind_parameter_count(statement);
    int rc = SQLITE_OK, i;

    for (i = 0; i < input->parameter_count && i < count && rc == SQLITE_OK; i++) {
        if (input->parameters[i] != NULL)
            rc = clr_value_bind(statement, i + 1, input->parameters[i]);
    }
    return rc;
}

/* SQLite's type of an entry. */
static int type_of(const struct clr_scalar *entry)
{
    switch (entry->tag) {
    case CLR_TAG_NULL:
        return SQLITE_NULL;
    case CLR_TAG_INTEGER:
        return SQLITE_INTEGER;
    case CLR_TAG_REAL:
        return SQLITE_FLOAT;
    default:
        return clr_bytes_value(entry->bits).kind == CLR_KIND_TEXT ? SQLITE_TEXT : SQLITE_BLOB;
    }
}

/* Whether an entry is TEXT that SQLite's versions treat differently: UTF-16 of an odd number of
   bytes. */
static bool is_doubtful(const struct clr_scalar *entry, int encoding)
{
    struct clr_value value;

    if (entry->tag != CLR_TAG_BYTES || encoding == SQLITE_UTF8)
        return false;
    value = clr_bytes_value(entry->bits);
    return value.kind == CLR_KIND_TEXT && value.as.size % 2 != 0;
}

/* Whether a result is in UTF-8, in which it is kept, what it is in the database's encoding. */
static bool is_kept(sqlite3_stmt *statement, int encoding)
{
    const void *bytes;

    if (encoding == SQLITE_UTF8 || sqlite3_column_type(statement, 0) != SQLITE_TEXT)
        return true;
    /* Unconverted, as it is asked for before its size. */
    bytes = sqlite3_column_blob(statement, 0);
    return clr_encoding_keeps_utf16(bytes, (size_t)sqlite3_column_bytes(statement, 0), encoding);
}

/* Keeps a result that is TEXT or a BLOB. Returns SQLITE_OK or SQLITE_NOMEM. */
static int keep_bytes(sqlite3_stmt *statement, struct clr_bytes *bytes, int64_t *address)
{
    const bool is_text = sqlite3_column_type(statement, 0) == SQLITE_TEXT;
    const void *from = is_text ? (const void *)sqlite3_column_text(statement, 0)
                               : sqlite3_column_blob(statement, 0);
    const int size = sqlite3_column_bytes(statement, 0);
    unsigned char *to;

    if (from == NULL && size > 0)
        return SQLITE_NOMEM;
    to = clr_bytes_add(bytes, is_text ? CLR_KIND_TEXT : CLR_KIND_BLOB, (size_t)size, address);
    if (to == NULL)
        return SQLITE_NOMEM;
    if (size > 0)
        memcpy(to, from, (size_t)size);
    return SQLITE_OK;
}

/* Takes the statement's row for an entry. Returns SQLITE_OK; SQLITE_AUTH if the row is not that
   entry's; or SQLITE_NOMEM. */
static int take_row(sqlite3_stmt *statement, const struct clr_lookup_input *input, uint32_t code,
                    struct results *results)
{
    const struct clr_scalar *entry = &input->dictionary->entries[code];
    struct clr_scalar result;
    int rc = SQLITE_OK;

    if (sqlite3_column_type(statement, 1) != type_of(entry))
        return SQLITE_AUTH;
    if (is_doubtful(entry, input->encoding))
        return SQLITE_OK;
    result = clr_scalar_of(sqlite3_column_value(statement, 0));
    if (results->unranked == NULL) {
        results->tags[code] = result.tag;
        results->values[code] = result.bits;
        return SQLITE_OK;
    }
    if (!is_kept(statement, input->encoding))
        return SQLITE_OK;
    if (result.tag == CLR_TAG_BYTES)
        rc = keep_bytes(statement, &results->bytes, &result.bits);
    if (rc == SQLITE_OK)
        results->unranked[code] = result;
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

/* Evaluates the entries from one on, up to `count`, beginning anew behind each that has an error.
   Returns SQLite's code; any other than SQLITE_OK is that of the whole. */
static int evaluate(sqlite3_stmt *statement, int source, const struct clr_lookup_input *input,
                    uint32_t code, uint32_t count, struct results *results)
{
    struct clr_entries entries = {input->dictionary, input->encoding, code, count};
    int errors = 0, rc = clr_entries_bind(statement, source, &entries);

    while (rc == SQLITE_OK && code < count && errors < MOST_ERRORS) {
        entries.first = code;
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
            rc = take_row(statement, input, code++, results);
            if (rc != SQLITE_OK) {
                sqlite3_reset(statement);
                return rc;
            }
        }
        rc = sqlite3_reset(statement);
        if (rc == SQLITE_OK)
            break;
        code++;
        errors++;
        if (is_entrys(rc))
            rc = SQLITE_OK;
    }
    return rc;
}

/* Makes ranks of the results, and moves what they are of to the lookup. */
static int rank(struct results *results, uint32_t count, struct clr_lookup *lookup)
{
    uint32_t i;

    if (clr_ranks_replace(results->unranked, count, &lookup->ranked, &lookup->ranked_count) !=
        CLR_OK)
        return SQLITE_NOMEM;
    for (i = 0; i < count; i++) {
        results->tags[i] = results->unranked[i].tag;
        results->values[i] = results->unranked[i].bits;
    }
    lookup->bytes = results->bytes;
    results->bytes = (struct clr_bytes){.blocks = NULL};
    return SQLITE_OK;
}

void clr_lookup_refuse(sqlite3 *db, int rc, struct clr_reason *reason)
{
    const char *message =
        sqlite3_errcode(db) == SQLITE_OK ? sqlite3_errstr(rc) : sqlite3_errmsg(db);

    clr_reason_set_name(reason, CLR_WHY_SQLITE_ERROR, message, strlen(message));
}

/* Copies what is known of the first entries, which may be all NULL. */
static void take_known(const struct clr_lookup *known, struct results *results)
{
    if (known->count == 0)
        return;
    memcpy(results->values, known->values, known->count * sizeof *known->values);
    memcpy(results->tags, known->tags, known->count);
}

int clr_lookup_evaluate(sqlite3 *db, sqlite3_stmt *prepared,
                        const struct clr_lookup_statement *statement,
                        const struct clr_lookup_input *input, struct clr_lookup *lookup,
                        struct clr_reason *reason)
{
    const uint32_t count = input->dictionary->count;
    struct results results = {.shared = NULL};
    int rc = SQLITE_NOMEM;

    if (statement->is_ranked)
        clr_lookup_free(lookup);
    if (new_results(count, statement->is_ranked, &results)) {
        take_known(lookup, &results);
        rc = bind(prepared, input);
    }
    if (rc == SQLITE_OK)
        rc = evaluate(prepared, statement->source, input, lookup->count, count, &results);
    clr_lookup_free(lookup);
    if (rc == SQLITE_OK && statement->is_ranked)
        rc = rank(&results, count, lookup);
    if (rc == SQLITE_OK) {
        clr_lookup_set(lookup, results.shared, count);
    } else {
        clr_lookup_results_release(results.shared);
        if (rc != SQLITE_NOMEM && rc != SQLITE_INTERRUPT)
            clr_lookup_refuse(db, rc, reason);
    }
    sqlite3_clear_bindings(prepared);
    clr_memory_free(results.unranked);
    clr_bytes_free(&results.bytes);
    return rc == SQLITE_NOMEM || rc == SQLITE_INTERRUPT ? rc : SQLITE_OK;
}
