/*
 * Which table a SELECT's name means. It is looked for in temp, main and then the attached
 * databases, so what it means changes with the schema of any database that comes before the
 * table's own, while that one's does not. ATTACH adds a last one; DETACH expires all statements.
 */
#ifndef CLR_SQLITE_TABLE_NAMES_H
#define CLR_SQLITE_TABLE_NAMES_H

#include "sqlite/database/connection_database.h"
#include "sqlite/schema/table_info.h"

struct clr_looked_into;

/* The databases in which the name was looked for, the last of which has it. Zeros: none. */
struct clr_table_names {
    struct clr_looked_into *list;
    int count;
};

/*
 * Looks a table up, where SQLite would: in the schema, or if that is NULL in all. The databases
 * that were looked into are in read transactions until clr_table_names_release(). Returns SQLITE_OK
 * or SQLITE_NOMEM; table and reason are as from clr_table_info_read(), or the reason says
 * CLR_WHY_SCHEMA_UNREAD, CLR_WHY_NO_TRANSACTION or CLR_WHY_SCHEMA_LOCKED.
 */
int clr_table_names_find(struct clr_connection *connection, const char *schema, const char *name,
                         struct clr_table_names *names, struct clr_table_info *table,
                         struct clr_reason *reason);

/* Ends the read transactions. */
void clr_table_names_release(struct clr_table_names *names);

/*
 * Within a read transaction on the table's own database: returns whether the name still means that
 * table. If not, the reason is set if a database could not be read; else it means another one now,
 * or the table is another one.
 */
bool clr_table_names_hold(const struct clr_table_names *names, struct clr_reason *reason);

void clr_table_names_free(struct clr_table_names *names);

#endif
