/* How a virtual table begins that has nothing of its own but what it was registered with. */
#ifndef CLR_SQLITE_VIRTUAL_TABLE_H
#define CLR_SQLITE_VIRTUAL_TABLE_H

#include "sqlite/session/statement.h"

struct clr_virtual_table {
    sqlite3_vtab base;
    void *argument; /* of sqlite3_create_module_v2(), which owns it */
    int source;     /* of a bound table: the number of its hidden column; else 0 */
};

/* Declares a virtual table by its CREATE TABLE. Returns SQLite's result code: where the connection
   is interrupted SQLite has a plain error of that, without a message. */
static inline int clr_virtual_table_declare(sqlite3 *db, const char *declaration)
{
    struct clr_interruption interruption = {db, NULL};
    int rc = sqlite3_declare_vtab(db, declaration);

    if (rc == SQLITE_ERROR && clr_interruption_is_wanted(&interruption))
        rc = SQLITE_INTERRUPT;
    clr_interruption_end(&interruption);
    return rc;
}

/*
 * For xConnect: declares the table by its CREATE TABLE and makes it. source: of a bound table, the
 * number of its hidden column. Returns SQLite's result code; *result is set for SQLITE_OK alone,
 * and is freed by clr_virtual_table_disconnect().
 */
static inline int clr_virtual_table_connect(sqlite3 *db, const char *declaration, void *argument,
                                            int source, sqlite3_vtab **result)
{
    struct clr_virtual_table *table;
    int rc = clr_virtual_table_declare(db, declaration);

    if (rc != SQLITE_OK)
        return rc;
    table = clr_sqlite_alloc_zero(sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    table->argument = argument;
    table->source = source;
    *result = &table->base;
    return SQLITE_OK;
}

/* xDisconnect. */
static inline int clr_virtual_table_disconnect(sqlite3_vtab *table)
{
    sqlite3_free(table);
    return SQLITE_OK;
}

static inline void *clr_virtual_table_argument(sqlite3_vtab *table)
{
    return ((struct clr_virtual_table *)table)->argument;
}

/* For xOpen: makes a cursor of so many bytes, which begins with SQLite's part; the rest is zero.
   Returns SQLITE_OK with *result, or SQLITE_NOMEM. */
static inline int clr_virtual_table_open(size_t size, sqlite3_vtab_cursor **result)
{
    *result = clr_sqlite_alloc_zero(size);
    return *result == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* xClose, of a cursor that holds nothing of its own. */
static inline int clr_virtual_table_close(sqlite3_vtab_cursor *cursor)
{
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* ---- A bound table is of nothing but what its hidden column is bound to, by
   sqlite3_bind_pointer(), which outlives the statement's steps. Its rows are numbered. */

struct clr_bound_cursor {
    sqlite3_vtab_cursor base;
    const void *source; /* NULL: none was bound, and there are no rows */
    sqlite3_int64 row, end;
};

/* Has the argument of xFilter with a number, from 1, be the value that a column is equal to.
   Returns false if there is none. */
static inline bool clr_bound_take(sqlite3_index_info *info, int column, int number)
{
    int i = 0;

    while (i < info->nConstraint &&
           (info->aConstraint[i].iColumn != column || !info->aConstraint[i].usable ||
            info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ))
        i++;
    if (i == info->nConstraint)
        return false;
    info->aConstraintUsage[i].argvIndex = number;
    info->aConstraintUsage[i].omit = 1;
    return true;
}

/* xBestIndex. Without the hidden column there is no way, which no order of joined tables mends. The
   column behind it, if there is one, is what rows are found by: the second argument. Of groups
   SQLite finishes one at a time, behind its loops: told of more rows it would take the subqueries
   in the statement for repeated, and go over their rows in another way. */
static inline int clr_bound_best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    const int source = ((struct clr_virtual_table *)table)->source;

    if (!clr_bound_take(info, source, 1))
        return SQLITE_CONSTRAINT;
    info->estimatedRows = 1;
    if (clr_bound_take(info, source + 1, 2))
        info->estimatedCost = 1;
    return SQLITE_OK;
}

/* xOpen, xNext, xEof and xRowid. */
static inline int clr_bound_open(sqlite3_vtab *table, sqlite3_vtab_cursor **result)
{
    (void)table;
    return clr_virtual_table_open(sizeof(struct clr_bound_cursor), result);
}

static inline int clr_bound_next(sqlite3_vtab_cursor *cursor)
{
    ((struct clr_bound_cursor *)cursor)->row++;
    return SQLITE_OK;
}

static inline int clr_bound_eof(sqlite3_vtab_cursor *cursor)
{
    return ((struct clr_bound_cursor *)cursor)->row >= ((struct clr_bound_cursor *)cursor)->end;
}

static inline int clr_bound_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *number)
{
    *number = ((struct clr_bound_cursor *)cursor)->row;
    return SQLITE_OK;
}

/* For xFilter: goes to a row of what was bound, which end before another one. */
static inline int clr_bound_begin(sqlite3_vtab_cursor *base, const void *source, sqlite3_int64 row,
                                  sqlite3_int64 end)
{
    struct clr_bound_cursor *cursor = (struct clr_bound_cursor *)base;

    cursor->source = source;
    cursor->row = row;
    cursor->end = end;
    return SQLITE_OK;
}

/* The methods that all bound tables have in common; xConnect, xFilter and xColumn are their own. */
#define CLR_BOUND_METHODS                                                                          \
    .xBestIndex = clr_bound_best_index, .xDisconnect = clr_virtual_table_disconnect,               \
    .xOpen = clr_bound_open, .xClose = clr_virtual_table_close, .xNext = clr_bound_next,           \
    .xEof = clr_bound_eof, .xRowid = clr_bound_rowid

#endif
