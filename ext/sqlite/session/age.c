#include "sqlite/session/age.h"

#include "sqlite/session/statement.h"

#include <stdatomic.h>

struct witness {
    struct clr_attachment attachment;
    sqlite3_stmt *statement; /* is outdated with all others; NULL: none is prepared */
    uint64_t age;            /* by that statement */
    int users;
};

static void free_witness(struct clr_connection *connection, void *witness)
{
    (void)connection;
    sqlite3_finalize(((struct witness *)witness)->statement);
}

static const struct clr_attachment_kind witness_kind = {sizeof(struct witness), free_witness};

uint64_t clr_age_read(struct clr_connection *connection, bool *holds)
{
    static _Atomic uint64_t last;
    struct witness *witness = clr_connection_attach(connection, &witness_kind);

#ifndef SQLITE_CORE
    if (sqlite3_api->expired == NULL)
        return 0;
#endif
    if (witness == NULL)
        return 0;
    witness->users += !*holds;
    *holds = true;
    if (witness->statement != NULL && !clr_statement_is_outdated(witness->statement))
        return witness->age;
    sqlite3_finalize(witness->statement);
    witness->statement = NULL;
    if (clr_statement_make(connection->db, "SELECT 1", 0, &witness->statement) != SQLITE_OK)
        return 0;
    witness->age = ++last;
    return witness->age;
}

bool clr_age_release(struct clr_connection *connection, bool *holds)
{
    struct witness *witness = clr_connection_find(connection, &witness_kind);

    if (!*holds || witness == NULL)
        return false;
    *holds = false;
    if (--witness->users > 0)
        return false;
    sqlite3_finalize(witness->statement);
    witness->statement = NULL;
    return true;
}
