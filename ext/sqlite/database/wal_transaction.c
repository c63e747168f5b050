/* The clauses that are cited here are those of snapshot.h. */
#include "sqlite/database/wal_transaction.h"

#include <string.h>

enum { MOST_ATTEMPTS = 5 };

/* Stores the pager's data version. Returns whether there is one. */
static bool read_version(const struct clr_database *database, unsigned *version)
{
    return sqlite3_file_control(database->connection->db, database->schema,
                                SQLITE_FCNTL_DATA_VERSION, version) == SQLITE_OK;
}

/* Whether the last snapshot that was proved has that data version, and that header. */
static bool was_proved(const struct clr_database *database, unsigned version,
                       const unsigned char *header)
{
    return database->proved && database->data_version == version &&
           memcmp(database->wal_header, header, CLR_WAL_HEADER_SIZE) == 0;
}

/* The index has a later header than the snapshot, which has the last one that was proved: what the
   index says of pages proves nothing (clause 3). */
static void take_last_header(const struct clr_database *database, struct clr_wal_index *index,
                             bool *is_overtaken)
{
    memcpy(index->header, database->wal_header, CLR_WAL_HEADER_SIZE);
    *is_overtaken = true;
}

/* Clause 2, if a transaction was open already. */
static bool prove_open(const struct clr_database *database, sqlite3_file *file,
                       struct clr_wal_index *index, bool *is_overtaken)
{
    unsigned version = 0;

    if (!clr_wal_index_read(file, index) || !database->proved ||
        !read_version(database, &version) || version != database->data_version)
        return false;
    if (!was_proved(database, version, index->header))
        take_last_header(database, index, is_overtaken);
    return true;
}

/* Clause 2, if the transaction has just begun, with what the index and the version were before. */
static bool prove_begun(struct clr_database *database, sqlite3_file *file,
                        const struct clr_wal_index *before, unsigned version_before,
                        struct clr_wal_index *index, bool *is_overtaken)
{
    const unsigned char *after = index->header;
    unsigned version = 0;
    bool proved;

    if (!clr_wal_index_read(file, index) || !read_version(database, &version))
        return false;
    proved = memcmp(before->header, after, CLR_WAL_HEADER_SIZE) == 0;
    if (!proved && was_proved(database, version_before, before->header)) {
        if (version == version_before)
            take_last_header(database, index, is_overtaken);
        proved = version == version_before || clr_wal_index_is_next(before->header, after);
    }
    database->proved = proved;
    memcpy(database->wal_header, after, CLR_WAL_HEADER_SIZE);
    database->data_version = version;
    return proved;
}

/* A commit just then leaves it open whether the transaction sees it. Then another transaction is
   begun, if that can be done: within BEGIN, this one stays. */
int clr_wal_transaction_hold(struct clr_database *database, sqlite3_file *file,
                             struct clr_wal_index *index, bool *is_overtaken,
                             enum clr_reason_code *why)
{
    int state = sqlite3_txn_state(database->connection->db, database->schema), attempt, rc;
    struct clr_wal_index before;
    unsigned version = 0;
    bool first, proved;

    for (attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        first = state == SQLITE_TXN_NONE;
        if (first && (!clr_wal_index_read(file, &before) || !read_version(database, &version)))
            break;
        rc = clr_database_hold(database, why);
        /* Within BEGIN, a statement that fails as its schema is stale has begun the transaction. */
        proved = sqlite3_txn_state(database->connection->db, database->schema) != SQLITE_TXN_NONE &&
                 (first ? prove_begun(database, file, &before, version, index, is_overtaken)
                        : prove_open(database, file, index, is_overtaken));
        if (rc != SQLITE_OK || *why != CLR_WHY_NONE || proved)
            return rc;
        clr_database_release(database);
        state = sqlite3_txn_state(database->connection->db, database->schema);
        if (state != SQLITE_TXN_NONE)
            break;
    }
    *why = CLR_WHY_UNPROVED_SNAPSHOT;
    return SQLITE_OK;
}
