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

/* The databases in which names were looked for, and which of them are read. Zeros: none. */
struct clr_table_names {
    struct clr_looked_into *list;
    int count, last;       /* last: the one in which the latest name was found */
    sqlite3 *without_temp; /* the connection, if its temp was not open and so has no such name */
};

/*
 * Looks a table up, where SQLite would: in the schema, or if that is NULL in all. The databases
 * that were looked into, for earlier names as well, are in read transactions until
 * clr_table_names_release(). Returns as clr_table_info_read() does.
 */
int clr_table_names_find(struct clr_connection *connection, const char *schema, const char *name,
                         struct clr_table_names *names, struct clr_table_info *table,
                         struct clr_reason *reason);

/*
 * Adds the databases in which SQLite looks for names of subqueries that have no schema: those up to
 * the last one that its code for the SELECT reads. Of those that the code reads names are found.
 * They are in read transactions then, as above. Returns SQLITE_OK, with the reason if one of them
 * can't be read; or SQLITE_NOMEM.
 */
int clr_table_names_add(struct clr_connection *connection, const struct clr_bytecode *program,
                        struct clr_table_names *names, struct clr_reason *reason);

/* Once they are added: whether names are found in all databases that a program reads b-trees of. */
bool clr_table_names_have(const struct clr_table_names *names, const struct clr_bytecode *program);

/* Returns the database that was looked into last: it has the name, unless nothing has it. */
const char *clr_table_names_schema(const struct clr_table_names *names);

/*
 * Within a read transaction on the one database that is held: begins one on each other in which
 * names are found, and finds out whether the names still mean these tables. If not, the reason is
 * set if a database could not be read, or nothing of it is read and it would stay locked until the
 * application's transaction ends; else one means another table now, or a table is another one.
 * clr_table_names_release() is to be called in any case. Returns SQLITE_OK; or SQLITE_BUSY if
 * others have one locked in which names are found, which has been waited for.
 */
int clr_table_names_hold(const struct clr_table_names *names, const struct clr_database *held,
                         bool *are_same, struct clr_reason *reason);

/* Within these transactions: stores a number that only grows, and is the same for as long as the
   rows are of all the databases in which names are found, but for the one that is held. Returns
   CLR_WHY_NONE, or why that can't be known. */
enum clr_reason_code clr_table_names_version(const struct clr_table_names *names,
                                             const struct clr_database *held, unsigned *number);

/* Ends the read transactions. */
void clr_table_names_release(const struct clr_table_names *names);

void clr_table_names_free(struct clr_table_names *names);

#endif
