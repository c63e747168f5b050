#include "sqlite/session/connection.h"

#include "base/lock.h"
#include "engine/worker/runtime.h"
#include "sqlite/session/statement.h"

#include <stdatomic.h>
#include <string.h>

/* Connections of different threads are opened and closed at the same time. */
static struct clr_connection *list;
static int64_t numbers; /* given out so far */
CLR_LOCK(lock)

struct clr_connection *clr_connection_of(sqlite3 *db)
{
    struct clr_connection *connection;

    take_lock();
    connection = list;
    while (connection != NULL && !(connection->db == db && connection->complete))
        connection = connection->next;
    give_lock();
    return connection;
}

bool clr_connection_is_open(int64_t number)
{
    const struct clr_connection *connection;

    take_lock();
    connection = list;
    while (connection != NULL && connection->number != number)
        connection = connection->next;
    give_lock();
    return connection != NULL;
}

struct clr_connection *clr_connection_new(sqlite3 *db)
{
    struct clr_connection *connection = clr_memory_alloc(sizeof *connection);

    if (connection == NULL)
        return NULL;
    memset(connection, 0, sizeof *connection);
    connection->db = db;
    connection->references = 1;
    clr_settings_init(&connection->settings);
    clr_connection_heed_settings(connection);
    connection->pool =
        (struct clr_pool){.settings = &connection->settings, .stats = &connection->stats};
    take_lock();
    connection->number = ++numbers;
    connection->next = list;
    list = connection;
    give_lock();
    return connection;
}

void clr_connection_heed_settings(struct clr_connection *connection)
{
    connection->values.limit = clr_budget_limit(connection->settings.values_memory);
    connection->extremes.limit = connection->values.limit / 4;
}

void *clr_connection_find(const struct clr_connection *connection,
                          const struct clr_attachment_kind *kind)
{
    struct clr_attachment *attachment = connection->attachments;

    while (attachment != NULL && attachment->kind != kind)
        attachment = attachment->next;
    return attachment;
}

void *clr_connection_attach(struct clr_connection *connection,
                            const struct clr_attachment_kind *kind)
{
    struct clr_attachment *attachment = clr_connection_find(connection, kind);

    if (attachment != NULL)
        return attachment;
    attachment = clr_memory_alloc(kind->size);
    if (attachment == NULL)
        return NULL;
    memset(attachment, 0, kind->size);
    attachment->kind = kind;
    attachment->next = connection->attachments;
    connection->attachments = attachment;
    return attachment;
}

struct clr_connection *clr_connection_retain(struct clr_connection *connection)
{
    connection->references++;
    return connection;
}

void clr_connection_release(void *pointer)
{
    struct clr_connection *connection = pointer;
    struct clr_attachment *attachment;

    if (--connection->references > 0)
        return;
    take_lock();
    CLR_UNLINK(list, connection);
    give_lock();
    clr_runtime_rest();
    while ((attachment = connection->attachments) != NULL) {
        if (attachment->kind->free != NULL)
            attachment->kind->free(connection, attachment);
        connection->attachments = attachment->next;
        clr_memory_free(attachment);
    }
    clr_pool_free(&connection->pool);
    clr_memory_free(connection);
}

/* ---- Its age. */

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

    if (witness == NULL || sqlite3_api->expired == NULL)
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
