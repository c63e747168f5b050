/* A table as the schema has it: where its rows are, and what its columns look like in a record. */
#ifndef CLR_SQLITE_TABLE_INFO_H
#define CLR_SQLITE_TABLE_INFO_H

#include "query/reason.h"
#include "sqlite/api.h"
#include "storage/format/source.h"
#include "storage/load/load.h"

struct clr_column_info {
    char *name;
    struct clr_field field;
    bool is_text;   /* TEXT affinity */
    bool is_stored; /* false: a virtual generated column */
    bool readable;  /* from pages: it is stored, and no authorizer hides it */
    bool loadable;  /* by SQLite: the value follows from the row (see column_code.h) */
    bool has_calls; /* loadable is to be asked again at any time */
};

struct clr_table_info {
    char *schema, *name;
    uint32_t root;
    bool without_rowid; /* the root is that of an index, whose records columns have their places in
                         */
    int column_count;
    struct clr_column_info *columns; /* column_count of them, and the rowid */
};

/*
 * Looks up a table of a schema, to be freed with clr_table_info_free(). Returns SQLITE_OK or
 * SQLITE_NOMEM. Unless the reason's code is then CLR_WHY_NONE it says why SQLite has to read the
 * rows: CLR_WHY_NO_TABLE, nothing there has that name; CLR_WHY_SCHEMA_LOCKED, it may be known
 * later; or another one.
 */
int clr_table_info_read(sqlite3 *db, const char *schema, const char *name,
                        struct clr_table_info *info, struct clr_reason *reason);

/* Frees what it holds; zeros are fine. */
void clr_table_info_free(struct clr_table_info *info);

/*
 * Returns the number of a column by its name, or column_count for the rowid, or -1. A column goes
 * before the rowid's names.
 */
int clr_table_info_find(const struct clr_table_info *info, const char *name);

/* Evaluates the text of a number as SQLite does, to be used as a literal. False: it is none. */
bool clr_literal_read(sqlite3 *db, const char *text, struct clr_scalar *value);

/* Returns an INTEGER, REAL or NULL of SQLite's, or BYTES. */
struct clr_scalar clr_scalar_of(sqlite3_value *value);

#endif
