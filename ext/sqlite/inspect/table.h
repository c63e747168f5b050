/* What a table to look inside consists of: see tables.c, which makes a virtual table of it. */
#ifndef CLR_SQLITE_TABLE_H
#define CLR_SQLITE_TABLE_H

#include "sqlite/api.h"
#include "sqlite/session/connection.h"

#include <stddef.h>

/* Lines that a table-valued function gives for its argument: all zeros, or memory of SQLite's. */
struct clr_lines {
    char *argument; /* as its column shows it */
    char **text;
    sqlite3_int64 count;
};

struct clr_table {
    const char *name;
    const char *declaration; /* CREATE TABLE, for sqlite3_declare_vtab() */
    bool innocuous;          /* reading it starts nothing, so that any schema may */
    /* Returns the number of rows. */
    sqlite3_int64 (*count)(struct clr_connection *connection);
    /* Sets the result to a column, from 0, of a row, from 0; leaves it alone for NULL. */
    void (*column)(struct clr_connection *connection, size_t row, int column,
                   sqlite3_context *result);
    /*
     * Instead of both, for a table-valued function: it has a column for the lines, and a hidden one
     * for the argument, which may be NULL. Adds to the lines, which are the caller's, also after an
     * error. Returns SQLite's result code, SQLITE_ERROR with a message unless memory is short.
     */
    int (*list)(struct clr_connection *connection, const char *argument, struct clr_lines *lines,
                char **error);
};

/* Sets the result to text that may change later. */
static inline void clr_result_text(sqlite3_context *result, const char *text)
{
    sqlite3_result_text(result, text, -1, SQLITE_TRANSIENT);
}

#endif
