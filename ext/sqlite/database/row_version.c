#include "sqlite/database/row_version.h"

#include <string.h>

_Static_assert(sizeof(struct clr_row_version) <= CLR_VERSION_SIZE,
               "a token has room for a version");

/* Why versions of the database say nothing. */
static enum clr_reason_code refuse(struct clr_database *database)
{
    sqlite3 *db = database->connection->db;
    sqlite3_vfs *vfs = NULL;

    if (sqlite3_txn_state(db, database->schema) == SQLITE_TXN_WRITE && !database->is_spared)
        return CLR_WHY_UNCOMMITTED;
    if (sqlite3_file_control(db, database->schema, SQLITE_FCNTL_VFS_POINTER, &vfs) != SQLITE_OK ||
        vfs == NULL || strcmp(vfs->zName, "memdb") == 0)
        return CLR_WHY_DESERIALIZED;
    if (clr_database_has_no_file(database) && clr_database_has_mode(database, "off"))
        return CLR_WHY_NO_JOURNAL;
    return CLR_WHY_NONE;
}

/* Within a read transaction: finds the version. Returns CLR_WHY_NONE, or why it can't be known. */
static enum clr_reason_code read_version(struct clr_database *database,
                                         struct clr_row_version *version)
{
    sqlite3 *db = database->connection->db;

    memset(version, 0, sizeof *version);
    if (clr_database_shares_cache(database))
        return CLR_WHY_SHARED_CACHE;
    if (sqlite3_file_control(db, database->schema, SQLITE_FCNTL_DATA_VERSION,
                             &version->data_version) != SQLITE_OK)
        return CLR_WHY_NO_VERSION;
    version->generation = database->generation;
    version->changes = clr_database_has_no_file(database) ? sqlite3_total_changes(db) : 0;
    version->length_limit = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, -1);
    version->pattern_limit = sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1);
    return CLR_WHY_NONE;
}

int clr_row_version_begin(struct clr_database *database, struct clr_database_version *token,
                          enum clr_reason_code *why)
{
    struct clr_row_version version;
    int rc = SQLITE_OK;

    memset(token, 0, sizeof *token);
    *why = refuse(database);
    if (*why == CLR_WHY_NONE)
        rc = clr_database_hold(database, why);
    if (rc != SQLITE_OK || *why != CLR_WHY_NONE)
        return rc;
    *why = read_version(database, &version);
    memcpy(token->bytes, &version, sizeof version);
    return SQLITE_OK;
}

enum clr_reason_code clr_row_version_number(struct clr_database *database, unsigned *number)
{
    struct clr_row_version version;
    enum clr_reason_code why = refuse(database);

    if (why == CLR_WHY_NONE)
        why = read_version(database, &version);
    if (why != CLR_WHY_NONE)
        return why;
    if (memcmp(&version, &database->rows, sizeof version) != 0)
        database->rows_number++;
    database->rows = version;
    *number = database->rows_number;
    return CLR_WHY_NONE;
}
