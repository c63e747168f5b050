#include "sqlite/schema/sole_writer.h"

#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"

bool clr_sole_writer_spares(struct clr_connection *connection, const char *select,
                            const uint32_t *roots, int count)
{
    sqlite3 *db = connection->db;
    struct clr_bytecode writing = {.count = 0}, reading = {.count = 0};
    bool spares;

    if (clr_next_writing(db, NULL) != connection->sole_writer ||
        clr_next_writing(db, connection->sole_writer) != NULL ||
        sqlite3_total_changes(db) != connection->changes_before)
        return false;
    spares =
        clr_bytecode_read(db, &writing, "%s", sqlite3_sql(connection->sole_writer)) == SQLITE_OK &&
        clr_bytecode_read(db, &reading, "%s", select) == SQLITE_OK &&
        clr_bytecode_spares(&writing, &reading, roots, count);
    clr_bytecode_free(&writing);
    clr_bytecode_free(&reading);
    return spares;
}

void clr_sole_writer_set(struct clr_connection *connection, sqlite3_stmt *statement)
{
    connection->sole_writer = statement;
    connection->changes_before = sqlite3_total_changes(connection->db);
}
