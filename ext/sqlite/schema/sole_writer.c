#include "sqlite/schema/sole_writer.h"

#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* What a connection was promised. */
struct promise {
    struct clr_attachment attachment;
    char *sql;   /* NULL: nothing */
    int changes; /* sqlite3_total_changes() then */
};

static void free_promise(struct clr_connection *connection, void *promise)
{
    (void)connection;
    sqlite3_free(((struct promise *)promise)->sql);
}

static const struct clr_attachment_kind promise_kind = {sizeof(struct promise), free_promise};

/* Whether the transaction had written nothing before the statement of that text, which runs. */
static bool is_first(const struct clr_connection *connection, const char *sql)
{
    const struct promise *promise = clr_connection_find(connection, &promise_kind);

    if (promise == NULL || promise->sql == NULL || strcmp(promise->sql, sql) != 0)
        return sqlite3_get_autocommit(connection->db);
    return promise->changes == sqlite3_total_changes(connection->db);
}

/* Returns the text of the statement that writes, if it is all that the transaction has written by;
   NULL if that is not known. */
static const char *find_writer(const struct clr_connection *connection)
{
    sqlite3 *db = connection->db;
    sqlite3_stmt *writer = clr_next_writing(db, NULL);
    /* A blob handle is a statement without a text. */
    const char *sql = writer == NULL ? NULL : sqlite3_sql(writer);

    if (sql == NULL || sqlite3_column_count(writer) > 0 || clr_next_writing(db, writer) != NULL)
        return NULL;
    return is_first(connection, sql) ? sql : NULL;
}

bool clr_sole_writer_spares(struct clr_connection *connection, const char *select,
                            const uint32_t *roots, int count)
{
    struct clr_bytecode writing = {.count = 0}, reading = {.count = 0};
    const char *writer = find_writer(connection);
    bool spares = writer != NULL &&
                  clr_bytecode_read(connection->db, &writing, "%s", writer) == SQLITE_OK &&
                  clr_bytecode_read(connection->db, &reading, "%s", select) == SQLITE_OK &&
                  clr_bytecode_spares(&writing, &reading, roots, count);

    clr_bytecode_free(&writing);
    clr_bytecode_free(&reading);
    return spares;
}

void clr_sole_writer_promise(struct clr_connection *connection, const char *sql)
{
    struct promise *promise = clr_connection_attach(connection, &promise_kind);

    if (promise == NULL)
        return;
    sqlite3_free(promise->sql);
    promise->sql = sql == NULL ? NULL : sqlite3_mprintf("%s", sql);
    promise->changes = sqlite3_total_changes(connection->db);
}
