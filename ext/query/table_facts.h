/*
 * What a query is bound to: facts about the database, which the caller has looked up before. Facts
 * about single nodes of the tree are in these (syntax.h): numbers and functions.
 */
#ifndef CLR_QUERY_TABLE_FACTS_H
#define CLR_QUERY_TABLE_FACTS_H

#include "numeric/values/timestamp.h"

#include <stdbool.h>
#include <stdint.h>

/* Room for the name of a collating sequence. */
enum { CLR_COLLATION_NAME = 32 };

/* A column of a table, or its rowid. */
struct clr_known_column {
    const char *name; /* the environment's; of the rowid: any */
    int number;       /* the caller's own for it, or -1: there is no such column */
    bool is_rowid;
    bool is_text;   /* of TEXT affinity: comparisons would convert their operands to TEXT */
    bool readable;  /* false: its value can't be had (some virtual generated columns) */
    bool is_stored; /* in the records of the table, and SQLite reads it there */
    bool is_varied; /* with so many different values that no lookup is to read it */
    bool is_named;  /* in the SELECT; of others no more is known */
    /* Of another affinity, and with TEXT or BLOBs in some of its rows: a guess, which decides how
       the column is brought, and not what comes of it. */
    bool seems_text;
    /* Runs have found some where numbers were needed: SQLite looks at its values. */
    bool has_text;
    /* All TEXT in it seems to be timestamps of that format, or 0: a guess as the last one. What has
       been found to be wrong of it: that times of a unit are alike to an expression, or that there
       is nothing else. */
    clr_time_format times;
    bool has_no_units, has_no_counts;
    bool is_numeric; /* of NUMERIC, INTEGER or REAL affinity */
    bool is_real;    /* of the last one */
    bool is_binary;  /* TEXT is compared by the collating sequence BINARY */
    /* Or by another one: its name, or "" if that is long or has quotes. */
    char collation[CLR_COLLATION_NAME];
};

/* What a function does with subtypes of values: it may ask for that of an argument; its result may
   have one; its result's does not follow from its arguments' ones. */
enum clr_subtype_use { CLR_SUBTYPE_READ = 1, CLR_SUBTYPE_GIVEN = 2, CLR_SUBTYPE_OWN = 4 };

/* Columns of a table no two rows of which are equal in all of them, NULLs aside, as the sequences
   compare them. */
enum { CLR_MOST_KEY_COLUMNS = 4 };

struct clr_unique_key {
    int count;
    int columns[CLR_MOST_KEY_COLUMNS];
    char collations[CLR_MOST_KEY_COLUMNS][CLR_COLLATION_NAME];
};

/* A table in FROM. */
struct clr_known_table {
    const char *schema, *name; /* for as long as the query is there; schema: NULL: not known */
    /* Its columns, and then the rowid if it has one, whose names mean it where no column has them.
     */
    const struct clr_known_column *columns;
    int column_count; /* with the rowid */
    int rowid;        /* the number of the INTEGER PRIMARY KEY, or of the rowid; -1: it has none */
    bool derives;     /* columns may be derived, where a query can't be bound otherwise */
    int64_t rows;     /* a guess; of several tables alone, as are the next two */
    const struct clr_unique_key *keys;
    int key_count;
};

/* Whether a column of a table is its rowid, by whichever name. */
static inline bool clr_known_is_rowid(const struct clr_known_table *table,
                                      const struct clr_known_column *column)
{
    return column->is_rowid || column->number == table->rowid;
}

struct clr_environment {
    const struct clr_known_table *tables; /* as many as FROM has, and in its order */
    int parameter_count;                  /* the largest parameter number of the statement */
    bool takes_parts;     /* a query may become one of rows, for a part of WHERE: see bind.c */
    bool prefers_derived; /* columns are derived first, and only then it does */
    bool is_utf8;         /* the encoding of the database's TEXT */
    bool is_exact; /* SQLite's names sum, total and avg mean gpu_sum, gpu_total and gpu_avg */
};

#endif
