/* The clauses that are cited here are those of row_version.h. */
#include "sqlite/columns/row_version.h"

#include <string.h>

struct version {
    int generation;
    unsigned data_version;
    int changes; /* of databases without a file, clause 3 */
    int length_limit, pattern_limit;
};

_Static_assert(sizeof(struct version) <= CLR_TOKEN_SIZE, "a token has room for a version");

/* Whether the database is in memory, temporary, or has temporary tables. */
static bool has_no_file(const struct clr_database *database)
{
    const char *name = sqlite3_db_filename(database->connection->db, database->schema);

    return name == NULL || *name == '\0';
}

/* Why versions of the database say nothing. */
static enum clr_reason_code refuse(struct clr_database *database)
{
    sqlite3 *db = database->connection->db;
    sqlite3_vfs *vfs = NULL;

    if (sqlite3_txn_state(db, database->schema) == SQLITE_TXN_WRITE)
        return CLR_WHY_UNCOMMITTED;
    if (sqlite3_file_control(db, database->schema, SQLITE_FCNTL_VFS_POINTER, &vfs) != SQLITE_OK ||
        vfs == NULL || strcmp(vfs->zName, "memdb") == 0)
        return CLR_WHY_DESERIALIZED;
    if (has_no_file(database) && clr_database_has_mode(database, "off"))
        return CLR_WHY_NO_JOURNAL;
    return CLR_WHY_NONE;
}

int clr_row_version_begin(struct clr_database *database, struct clr_token *token,
                          enum clr_reason_code *why)
{
    sqlite3 *db = database->connection->db;
    struct version version;
    int rc = SQLITE_OK;

    memset(token, 0, sizeof *token);
    memset(&version, 0, sizeof version);
    *why = refuse(database);
    if (*why == CLR_WHY_NONE)
        rc = clr_database_hold(database, why);
    if (rc != SQLITE_OK || *why != CLR_WHY_NONE)
        return rc;
    if (clr_database_shares_cache(database))
        *why = CLR_WHY_SHARED_CACHE;
    else if (sqlite3_file_control(db, database->schema, SQLITE_FCNTL_DATA_VERSION,
                                  &version.data_version) != SQLITE_OK)
        *why = CLR_WHY_NO_VERSION;
    if (*why != CLR_WHY_NONE)
        return SQLITE_OK;
    version.generation = database->generation;
    version.changes = has_no_file(database) ? sqlite3_total_changes(db) : 0;
    version.length_limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    version.pattern_limit = sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
    memcpy(token->bytes, &version, sizeof version);
    return SQLITE_OK;
}
