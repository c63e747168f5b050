#include "sqlite/schema/table_names.h"

#include "sqlite/database/row_version.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* A database in which names were looked for, and its generation then. */
struct clr_looked_into {
    struct clr_database *database;
    int generation;
    bool is_read; /* names are found in it */
    int number;   /* in SQLite's code, by clr_table_names_add(); else -1 */
};

/* Adds a database, in a read transaction, unless it is there. Stores its place in the list, unless
   the reason says why it can't be read. Returns SQLITE_OK or SQLITE_NOMEM. */
static int add_database(struct clr_connection *connection, const char *schema,
                        struct clr_table_names *names, int *place, struct clr_reason *reason)
{
    const sqlite3_uint64 count = (sqlite3_uint64)names->count + 1;
    struct clr_looked_into *list = sqlite3_realloc64(names->list, count * sizeof *list);
    struct clr_database *database;
    enum clr_reason_code why;

    if (list == NULL)
        return SQLITE_NOMEM;
    names->list = list;
    database = clr_database_get(connection, schema);
    if (database == NULL) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_UNREAD);
        return SQLITE_OK;
    }
    for (*place = 0; *place < names->count; ++*place) {
        if (list[*place].database == database)
            return SQLITE_OK;
    }
    clr_database_hold(database, &why);
    if (why != CLR_WHY_NONE) {
        clr_database_release(database);
        clr_reason_set(reason, why);
        return SQLITE_OK;
    }
    list[names->count++] =
        (struct clr_looked_into){database, database->generation, .is_read = false, .number = -1};
    return SQLITE_OK;
}

/* Looks into a database, which is added. */
static int look_into(struct clr_connection *connection, const char *schema, const char *name,
                     struct clr_table_names *names, struct clr_table_info *table,
                     struct clr_reason *reason)
{
    int place, rc;

    clr_reason_set(reason, CLR_WHY_NONE);
    rc = add_database(connection, schema, names, &place, reason);
    if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE)
        return rc;
    names->last = place;
    rc = clr_table_info_read(connection->db, schema, name, table, reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        names->list[place].is_read = true;
    return rc;
}

int clr_table_names_find(struct clr_connection *connection, const char *schema, const char *name,
                         struct clr_table_names *names, struct clr_table_info *table,
                         struct clr_reason *reason)
{
    struct clr_names all;
    int rc, i;

    if (schema != NULL)
        return look_into(connection, schema, name, names, table, reason);
    rc = SQLITE_OK;
    clr_reason_set(reason, CLR_WHY_NO_TABLE);
    if (clr_temp_is_open(connection->db))
        rc = look_into(connection, "temp", name, names, table, reason);
    else
        names->without_temp = connection->db;
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NO_TABLE)
        rc = look_into(connection, "main", name, names, table, reason);
    if (rc != SQLITE_OK || reason->code != CLR_WHY_NO_TABLE)
        return rc;
    rc = clr_schema_names_read(connection->db, &all);
    if (rc != SQLITE_OK) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_LOCKED);
        return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
    }
    for (i = 1; i < all.count && rc == SQLITE_OK && reason->code == CLR_WHY_NO_TABLE; i++) {
        if (sqlite3_stricmp(all.list[i], "temp") != 0)
            rc = look_into(connection, all.list[i], name, names, table, reason);
    }
    clr_names_free(&all);
    return rc;
}

const char *clr_table_names_schema(const struct clr_table_names *names)
{
    return names->list[names->last].database->schema;
}

/* Returns the next operation that opens a b-tree, as CLR_BYTECODE_NEXT() does; p3 is the number of
   its database. */
static const struct clr_vdbe_op *next_open(const struct clr_bytecode *program,
                                           const struct clr_vdbe_op *behind)
{
    return CLR_BYTECODE_NEXT(program, behind, "OpenRead", "ReopenIdx");
}

/* Whether a program reads a database, by its number. */
static bool reads_database(const struct clr_bytecode *program, int number)
{
    const struct clr_vdbe_op *open = NULL;

    do
        open = next_open(program, open);
    while (open != NULL && open->p3 != number);
    return open != NULL;
}

/* Returns the greatest number of a database that a program reads. */
static int find_last(const struct clr_bytecode *program)
{
    const struct clr_vdbe_op *open = NULL;
    int last = 0;

    while ((open = next_open(program, open)) != NULL)
        last = open->p3 > last ? open->p3 : last;
    return last;
}

/* Returns the number of a database, by its place in the list of clr_schema_names_read(), which has
   no temp that is not open, but where an authorizer hides the others. */
static int find_number(const char *schema, int place, bool has_temp)
{
    if (sqlite3_stricmp(schema, "temp") == 0)
        return 1;
    return place > 0 && !has_temp ? place + 1 : place;
}

int clr_table_names_add(struct clr_connection *connection, const struct clr_bytecode *program,
                        struct clr_table_names *names, struct clr_reason *reason)
{
    const bool has_temp = clr_temp_is_open(connection->db);
    const int last = find_last(program);
    struct clr_names all;
    int rc = clr_schema_names_read(connection->db, &all), place, i;

    if (rc != SQLITE_OK) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_LOCKED);
        return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
    }
    if (!has_temp)
        names->without_temp = connection->db;
    for (i = 0; i < all.count && rc == SQLITE_OK && reason->code == CLR_WHY_NONE; i++) {
        const int number = find_number(all.list[i], i, has_temp);

        if ((number == 1 && !has_temp) || (number > 1 && number > last))
            continue;
        rc = add_database(connection, all.list[i], names, &place, reason);
        if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE)
            break;
        names->list[place].number = number;
        names->list[place].is_read = names->list[place].is_read || reads_database(program, number);
    }
    clr_names_free(&all);
    return rc;
}

bool clr_table_names_have(const struct clr_table_names *names, const struct clr_bytecode *program)
{
    const struct clr_vdbe_op *open = NULL;
    int i = 0;

    while (i < names->count && (open = next_open(program, open)) != NULL) {
        for (i = 0; i < names->count; i++) {
            if (names->list[i].is_read && names->list[i].number == open->p3)
                break;
        }
    }
    return i < names->count;
}

/* Whether nothing of an attached database is read, and yet a look at its names would have it stay
   locked until the application's transaction ends. */
static bool would_stay_locked(const struct clr_looked_into *looked)
{
    const struct clr_database *database = looked->database;
    sqlite3 *db = database->connection->db;

    return !looked->is_read && sqlite3_get_autocommit(db) == 0 &&
           sqlite3_stricmp(database->schema, "main") != 0 && !clr_database_has_no_file(database) &&
           sqlite3_txn_state(db, database->schema) == SQLITE_TXN_NONE;
}

int clr_table_names_hold(const struct clr_table_names *names, const struct clr_database *held,
                         bool *are_same, struct clr_reason *reason)
{
    int rc = SQLITE_OK, i;

    *are_same = names->without_temp == NULL || !clr_temp_is_open(names->without_temp);
    for (i = 0; i < names->count && *are_same; i++) {
        const struct clr_looked_into *looked = &names->list[i];
        struct clr_database *database = looked->database;
        enum clr_reason_code refused = CLR_WHY_NONE, why;

        if (database != held && would_stay_locked(looked)) {
            refused = CLR_WHY_NAMES_LOCK;
        } else if (database != held) {
            rc = clr_database_hold(database, &why);
            if (rc != SQLITE_OK && looked->is_read)
                return rc;
            if (!looked->is_read)
                clr_database_release(database);
            refused = why == CLR_WHY_NONE ? CLR_WHY_NONE : CLR_WHY_NAMES_UNREAD;
        }
        if (refused != CLR_WHY_NONE)
            clr_reason_set_name(reason, refused, database->schema, strlen(database->schema));
        *are_same = refused == CLR_WHY_NONE && looked->generation == database->generation;
    }
    return SQLITE_OK;
}

enum clr_reason_code clr_table_names_version(const struct clr_table_names *names,
                                             const struct clr_database *held, unsigned *number)
{
    enum clr_reason_code why = CLR_WHY_NONE;
    unsigned version;
    int i;

    *number = 0;
    for (i = 0; i < names->count && why == CLR_WHY_NONE; i++) {
        if (!names->list[i].is_read || names->list[i].database == held)
            continue;
        why = clr_row_version_number(names->list[i].database, &version);
        if (why == CLR_WHY_NONE)
            *number += version;
    }
    return why;
}

void clr_table_names_release(const struct clr_table_names *names)
{
    int i;

    for (i = 0; i < names->count; i++)
        clr_database_release(names->list[i].database);
}

void clr_table_names_free(struct clr_table_names *names)
{
    sqlite3_free(names->list);
    *names = (struct clr_table_names){.list = NULL};
}
