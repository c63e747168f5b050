#include "sqlite/lookups/lookups.h"

#include "numeric/dictionary/dictionary.h"
#include "sqlite/lookups/entries.h"
#include "sqlite/lookups/subqueries.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

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

const struct clr_sql_function clr_lookup_functions[] = {
    {CLR_FIXED_TIME, 1, SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, fix_time, NULL},
    {.name = NULL},
};

/* ---- What a memo holds. */

/* Returns how many entries the results are of that a memo has. */
static uint32_t known_entries(const struct clr_lookup_memo *memo)
{
    return memo->count == 0 ? 0 : memo->lookups[0].count;
}

/* Returns how many of the first entries need not be evaluated anew. Ranks are those of all. */
static uint32_t find_known(const struct clr_lookup_statement *statement,
                           const struct clr_lookup_memo *memo)
{
    int i;

    for (i = 0; i < statement->count; i++) {
        if (statement->parts[i].is_ranked)
            return 0;
    }
    return known_entries(memo);
}

static void free_parameters(struct clr_lookup_memo *memo)
{
    int i;

    for (i = 0; i < memo->parameter_count; i++)
        sqlite3_value_free(memo->parameters[i]);
    sqlite3_free((void *)memo->parameters);
    memo->parameters = NULL;
    memo->parameter_count = 0;
}

void clr_lookup_memo_free(struct clr_lookup_memo *memo)
{
    clr_lookups_free(memo);
    free_parameters(memo);
    sqlite3_finalize(memo->statement);
    memset(memo, 0, sizeof *memo);
}

/* ---- Whether what was kept still holds. */

static bool has_parameters(const struct clr_lookup_memo *memo, const struct clr_lookup_input *input)
{
    int i;

    if (memo->parameter_count != input->parameter_count)
        return false;
    for (i = 0; i < input->parameter_count; i++) {
        sqlite3_value *kept = memo->parameters[i], *given = input->parameters[i];

        if ((kept == NULL) != (given == NULL) ||
            (kept != NULL && !clr_values_are_same(kept, given)))
            return false;
    }
    return true;
}

/*
 * Whether SQLite would evaluate the statement as it did. A function or a collating sequence that is
 * replaced expires all statements, and SQLite prepares this one again when it is stepped; one that
 * comes beside others of its name, and an authorizer that goes, show in the program.
 */
static bool is_evaluated_alike(const struct clr_connection *connection,
                               struct clr_lookup_memo *memo,
                               const struct clr_lookup_statement *statement,
                               const struct clr_lookup_input *input)
{
    struct clr_entries none = {.dictionary = input->dictionary, .encoding = input->encoding};
    const bool steps = clr_entries_bind(memo->statement, statement->source, &none) == SQLITE_OK &&
                       sqlite3_step(memo->statement) == SQLITE_DONE;

    sqlite3_reset(memo->statement);
    sqlite3_clear_bindings(memo->statement);
    return steps &&
           sqlite3_stmt_status(memo->statement, SQLITE_STMTSTATUS_REPREPARE, 0) ==
               memo->preparations &&
           clr_bytecode_hash(connection->db, statement->sql) == memo->program;
}

/* Whether the memo's statement is the one that SQLite would prepare. Who asks by a statement that
   was prepared before it, and is not expired, asks for no other functions. */
static bool is_current(const struct clr_connection *connection, struct clr_lookup_memo *memo,
                       const struct clr_lookup_statement *statement,
                       const struct clr_lookup_input *input)
{
    if (memo->statement == NULL)
        return false;
    if ((memo->is_stale || clr_statement_is_outdated(memo->statement)) &&
        !(memo->program != 0 && is_evaluated_alike(connection, memo, statement, input)))
        return false;
    memo->is_stale = false;
    return true;
}

/* Whether the memo has results of its statement for the query, though maybe not of all entries. */
static bool has_results(sqlite3 *db, const struct clr_lookup_memo *memo,
                        const struct clr_lookup_statement *statement,
                        const struct clr_lookup_input *input)
{
    const struct clr_function_limits limits = clr_function_limits_read(db);

    return memo->is_kept && memo->dictionary == input->dictionary->id &&
           (!statement->joins || memo->version == input->version) &&
           known_entries(memo) <= input->dictionary->count && has_parameters(memo, input) &&
           memcmp(&limits, &memo->limits, sizeof limits) == 0;
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

/* Gives up the results, and what is known of them; the statement stays. */
static void drop_results(struct clr_lookup_memo *memo)
{
    clr_lookups_free(memo);
    free_parameters(memo);
    memo->is_kept = memo->has_units = false;
}

/* Keeps what tells whether the results hold for another query; without memory they don't. */
static void keep(sqlite3 *db, struct clr_lookup_memo *memo,
                 const struct clr_lookup_statement *statement, const struct clr_lookup_input *input)
{
    const int preparations = sqlite3_stmt_status(memo->statement, SQLITE_STMTSTATUS_REPREPARE, 0);
    int i;

    memo->is_kept = false;
    free_parameters(memo);
    if (memo->program == 0 || memo->preparations != preparations) {
        memo->preparations = preparations;
        memo->program = clr_bytecode_hash(db, statement->sql);
    }
    if (may_be_present(statement, input))
        return;
    memo->parameters =
        sqlite3_malloc64(((sqlite3_uint64)input->parameter_count + 1) * sizeof *memo->parameters);
    if (memo->parameters == NULL)
        return;
    for (i = 0; i < input->parameter_count; i++) {
        sqlite3_value *given = input->parameters[i];

        memo->parameters[i] = given == NULL ? NULL : sqlite3_value_dup(given);
        memo->parameter_count = i + 1;
        if (given != NULL && memo->parameters[i] == NULL)
            return;
    }
    memo->limits = clr_function_limits_read(db);
    memo->dictionary = input->dictionary->id;
    memo->version = input->version;
    memo->is_kept = memo->program != 0;
}

int clr_lookup_memo_bring(struct clr_connection *connection, struct clr_lookup_memo *memo,
                          const struct clr_lookup_statement *statement,
                          const struct clr_functions *functions,
                          const struct clr_lookup_input *input, struct clr_reason *reason)
{
    uint64_t variants;
    int rc = clr_entries_register(connection, &statement->type);
    const bool is_known = rc == SQLITE_OK && is_current(connection, memo, statement, input);

    if (is_known && has_results(connection->db, memo, statement, input)) {
        if (known_entries(memo) == input->dictionary->count)
            return SQLITE_OK;
    } else if (is_known && statement->probe == NULL) {
        drop_results(memo);
    } else {
        clr_lookup_memo_free(memo);
        if (rc == SQLITE_OK && !clr_functions_still_are(connection->db, functions, &variants)) {
            clr_reason_set(reason, CLR_WHY_REPLACED);
            return SQLITE_OK;
        }
        if (rc == SQLITE_OK && statement->probe != NULL) {
            rc = clr_subqueries_check(connection, statement->probe, statement->schema,
                                      statement->has_values, &memo->walks, reason);
            if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE)
                return rc;
        }
        if (rc == SQLITE_OK)
            rc = clr_statement_make(connection->db, statement->sql, SQLITE_PREPARE_PERSISTENT,
                                    &memo->statement);
        if (rc == SQLITE_NOMEM)
            return rc;
        if (rc != SQLITE_OK) {
            clr_statement_refuse(connection->db, rc, reason);
            return SQLITE_OK;
        }
    }
    rc = clr_lookups_evaluate(connection->db, statement, input, find_known(statement, memo), memo,
                              reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        keep(connection->db, memo, statement, input);
    else
        clr_lookup_memo_free(memo);
    return rc;
}
