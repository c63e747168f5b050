/* A table as the schema has it: where its rows are, and what its columns look like in a record. */
#ifndef CLR_SQLITE_TABLE_INFO_H
#define CLR_SQLITE_TABLE_INFO_H

#include "query/reason.h"
#include "query/table_facts.h"
#include "sqlite/api.h"
#include "sqlite/schema/bytecode.h"
#include "storage/format/source.h"
#include "storage/load/load.h"

/* ---- The code that reads a column. */

/*
 * It tells what a schema does not: what an authorizer puts in a column's place, and what a
 * generated column depends on.
 */

/* A place in a record that no column has. */
enum { CLR_NO_INDEX = -2 };

struct clr_column_code {
    bool without_rowid; /* the table's rows lie in an index, or those of an index are read */
    int64_t tree; /* the one that is read, by clr_vdbe_op_tree(), or -1 if there are several */
    /* The one place in the record that is read, CLR_FIELD_ROWID for the rowid, or CLR_NO_INDEX if
       there is none, or several. */
    int index;
    /*
     * Whether the value follows from the row alone: it is read, or computed from what is read by
     * operators, comparisons in binary order and functions that are SQLite's own. What an
     * application has a say in, by a function or a collating sequence, can change while the
     * database does not. Functions that are not deterministic SQLite does not allow in a generated
     * column.
     */
    bool is_settled;
    /* Whether functions are called: an application may replace them at any time, so that
       is_settled has to be found out again. */
    bool has_calls;
};

/* Reads the code for a column of a table, which may be its rowid: by an index, or, if that is NULL,
   by none but, of a table WITHOUT ROWID, any. Returns SQLite's code; after an error *code says that
   nothing is read and nothing settled. */
int clr_column_code_read(sqlite3 *db, const char *schema, const char *table, const char *column,
                         const char *index, struct clr_column_code *code);

/* ---- Tables. */

/* The affinity of a column, from its declared type: Datatypes, section 3.1. */
enum clr_affinity {
    CLR_AFFINITY_BLOB, /* also called none */
    CLR_AFFINITY_TEXT,
    CLR_AFFINITY_ANY, /* none in a STRICT table, NUMERIC in any other */
    CLR_AFFINITY_NUMERIC,
    CLR_AFFINITY_INTEGER,
    CLR_AFFINITY_REAL
};

/* Returns the affinity of a declared type. NULL: there is none; a type in quotes may be "". */
enum clr_affinity clr_affinity_of(const char *type);

/* Returns the declared type that gives a column the affinity, with a space before it, or "". */
const char *clr_affinity_declaration(enum clr_affinity affinity);

struct clr_column_info {
    char *name;
    struct clr_field field;
    bool is_text;   /* TEXT affinity */
    bool is_stored; /* false: a virtual generated column */
    bool readable;  /* from pages: it is stored, and no authorizer hides it */
    bool loadable;  /* by SQLite: the value follows from the row (see struct clr_column_code) */
    bool has_calls; /* loadable is to be asked again at any time */
};

struct clr_table_info {
    char *schema, *name;
    uint32_t root;
    int64_t tree;       /* its own in SQLite's code, by clr_vdbe_op_tree(); -1: that is not known */
    bool without_rowid; /* the root is that of an index, whose records columns have their places in
                         */
    int column_count;
    struct clr_column_info *columns; /* column_count of them, and the rowid */
};

/*
 * Looks a table up in a schema, which is in a read transaction. It is to be freed with
 * clr_table_info_free(). Returns SQLITE_OK or SQLITE_NOMEM. Unless the reason's code is then
 * CLR_WHY_NONE it says why SQLite has to read the rows: CLR_WHY_NO_TABLE, nothing there has that
 * name; CLR_WHY_SCHEMA_LOCKED, it may be known later; CLR_WHY_READS_VIEW, it is an ordinary view;
 * or another one.
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

/* Returns the greatest rowid of a table: a guess at how many rows it has. 0: it has none that is
   above, or no rowids, or SQLite does not tell. */
sqlite3_int64 clr_last_rowid(sqlite3 *db, const char *schema, const char *name);

/* Returns an INTEGER, REAL or NULL of SQLite's, or BYTES. */
struct clr_scalar clr_scalar_of(sqlite3_value *value);

/*
 * Reads a table's unique keys: its INTEGER PRIMARY KEY or rowid, and UNIQUE indexes of all rows and
 * of no more than CLR_MOST_KEY_COLUMNS columns. They are to be freed with sqlite3_free(). Returns
 * SQLITE_OK or SQLite's code.
 */
int clr_unique_keys_read(sqlite3 *db, const struct clr_table_info *table,
                         struct clr_unique_key **keys, int *count);

/* How SQLite compares a column's values: its affinity, and its collation, which is to be freed with
   sqlite3_free(). */
struct clr_column_type {
    enum clr_affinity affinity; /* never CLR_AFFINITY_ANY */
    char *collation;            /* its name */
};

#endif
