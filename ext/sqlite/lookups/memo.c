#include "sqlite/lookups/memo.h"

#include "sqlite/lookups/entries.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* Fewer entries are evaluated sooner than it is found out whether their results still hold. */
enum { LEAST_ENTRIES = 512 };

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
    clr_lookup_free(&memo->lookup);
    free_parameters(memo);
    sqlite3_finalize(memo->statement);
    memset(memo, 0, sizeof *memo);
}

/* ---- Whether what was kept still holds. */

/* Whether two values are of one type, and the same. */
static bool are_same(sqlite3_value *a, sqlite3_value *b)
{
    const int type = sqlite3_value_type(a);
    const void *x_bytes, *y_bytes;
    double x, y;
    int size;

    if (type != sqlite3_value_type(b))
        return false;
    switch (type) {
    case SQLITE_NULL:
        return true;
    case SQLITE_INTEGER:
        return sqlite3_value_int64(a) == sqlite3_value_int64(b);
    case SQLITE_FLOAT:
        x = sqlite3_value_double(a);
        y = sqlite3_value_double(b);
        return memcmp(&x, &y, sizeof x) == 0;
    default:
        break;
    }
    /* The bytes as they are, without a conversion: asked for before their number. */
    x_bytes = sqlite3_value_blob(a);
    y_bytes = sqlite3_value_blob(b);
    size = sqlite3_value_bytes(a);
    return sqlite3_value_bytes(b) == size &&
           (size == 0 || memcmp(x_bytes, y_bytes, (size_t)size) == 0);
}

static bool has_parameters(const struct clr_lookup_memo *memo, const struct clr_lookup_input *input)
{
    int i;

    if (memo->parameter_count != input->parameter_count)
        return false;
    for (i = 0; i < input->parameter_count; i++) {
        sqlite3_value *kept = memo->parameters[i], *given = input->parameters[i];

        if ((kept == NULL) != (given == NULL) || (kept != NULL && !are_same(kept, given)))
            return false;
    }
    return true;
}

/*
 * Hashes what SQLite makes of the text now: it names functions with their numbers of arguments,
 * collating sequences, and what an authorizer puts in the place of anything. 0: it can't be had.
 */
static uint64_t hash_program(sqlite3 *db, const char *sql)
{
    struct clr_bytecode program;
    uint64_t hash = clr_bytecode_read(db, &program, "%s", sql) == SQLITE_OK ? 1 : 0;
    int i, k;

    for (i = 0; i < program.count; i++) {
        const struct clr_vdbe_op *operation = &program.operations[i];
        const int numbers[] = {operation->p1, operation->p2, operation->p3, operation->p5};
        const char *const parts[] = {operation->opcode, operation->p4, (const char *)numbers};

        for (k = 0; k < 3; k++) {
            const struct clr_value value = {.kind = CLR_KIND_TEXT,
                                            .as.size = k < 2 ? strlen(parts[k]) : sizeof numbers,
                                            .bytes = parts[k]};
            hash = clr_bytes_hash(&value, hash);
        }
    }
    clr_bytecode_free(&program);
    return hash;
}

static void read_limits(sqlite3 *db, int limits[2])
{
    limits[0] = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    limits[1] = sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
}

/*
 * Whether SQLite would evaluate the statement as it did. A function or a collating sequence that is
 * replaced expires all statements, and SQLite prepares this one again when it is stepped; one that
 * comes beside others of its name, and an authorizer that goes, show in the program.
 */
static bool holds(struct clr_connection *connection, struct clr_lookup_memo *memo,
                  const struct clr_lookup_statement *statement,
                  const struct clr_lookup_input *input)
{
    struct clr_entries none = {input->dictionary, input->encoding, 0, 0};
    int limits[2];
    bool same;

    if (!memo->is_kept || memo->dictionary != input->dictionary->id ||
        memo->lookup.count > input->dictionary->count || !has_parameters(memo, input))
        return false;
    read_limits(connection->db, limits);
    if (memcmp(limits, memo->limits, sizeof limits) != 0)
        return false;
    same = clr_entries_bind(memo->statement, statement->source, &none) == SQLITE_OK &&
           sqlite3_step(memo->statement) == SQLITE_DONE;
    sqlite3_reset(memo->statement);
    sqlite3_clear_bindings(memo->statement);
    return same &&
           sqlite3_stmt_status(memo->statement, SQLITE_STMTSTATUS_REPREPARE, 0) ==
               memo->preparations &&
           hash_program(connection->db, statement->sql) == memo->program;
}

/* ---- Keeping it. */

/* Whether TEXT, or some made of it, may stand for the present time, or for the time zone, to a
   function of times. That reads no further than a zero. */
static bool is_present(const char *text, size_t size)
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

/* Whether results may be others at another time. TEXT of UTF-16 is not looked at. */
static bool may_be_present(const struct clr_lookup_statement *statement,
                           const struct clr_lookup_input *input)
{
    uint32_t code;
    int i;

    if (!statement->is_timed)
        return false;
    for (i = 0; i < input->parameter_count; i++) {
        const int type =
            input->parameters[i] == NULL ? SQLITE_NULL : sqlite3_value_type(input->parameters[i]);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            return true;
    }
    for (code = 0; code < input->dictionary->count; code++) {
        const struct clr_scalar *entry = &input->dictionary->entries[code];
        struct clr_value value;

        if (entry->tag != CLR_TAG_BYTES)
            continue;
        value = clr_bytes_value(entry->bits);
        if (input->encoding != SQLITE_UTF8 || is_present(value.bytes, value.as.size))
            return true;
    }
    return false;
}

/* Keeps what tells whether the results hold for another query; without memory they don't. */
static void keep(sqlite3 *db, struct clr_lookup_memo *memo,
                 const struct clr_lookup_statement *statement, const struct clr_lookup_input *input)
{
    int i;

    memo->is_kept = false;
    free_parameters(memo);
    if (input->dictionary->count < LEAST_ENTRIES || may_be_present(statement, input))
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
    read_limits(db, memo->limits);
    memo->dictionary = input->dictionary->id;
    memo->preparations = sqlite3_stmt_status(memo->statement, SQLITE_STMTSTATUS_REPREPARE, 0);
    memo->program = hash_program(db, statement->sql);
    memo->is_kept = memo->program != 0;
}

int clr_lookup_memo_bring(struct clr_connection *connection, struct clr_lookup_memo *memo,
                          const struct clr_lookup_statement *statement,
                          const struct clr_function_names *functions,
                          const struct clr_lookup_input *input, struct clr_reason *reason)
{
    int rc = clr_entries_register(connection, &statement->type);

    if (rc == SQLITE_OK && holds(connection, memo, statement, input)) {
        if (memo->lookup.count == input->dictionary->count)
            return SQLITE_OK;
    } else {
        clr_lookup_memo_free(memo);
        if (rc == SQLITE_OK && !clr_functions_are_deterministic(connection->db, functions)) {
            clr_reason_set(reason, CLR_WHY_REPLACED);
            return SQLITE_OK;
        }
        if (rc == SQLITE_OK)
            rc = clr_statement_make(connection->db, statement->sql, SQLITE_PREPARE_PERSISTENT,
                                    &memo->statement);
        if (rc == SQLITE_NOMEM)
            return rc;
        if (rc != SQLITE_OK) {
            clr_lookup_refuse(connection->db, rc, reason);
            return SQLITE_OK;
        }
    }
    rc = clr_lookup_evaluate(connection->db, memo->statement, statement, input, &memo->lookup,
                             reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        keep(connection->db, memo, statement, input);
    else
        clr_lookup_memo_free(memo);
    return rc;
}
