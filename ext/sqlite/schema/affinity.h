/* The affinity of a column, from its declared type: Datatypes, section 3.1. */
#ifndef CLR_SQLITE_AFFINITY_H
#define CLR_SQLITE_AFFINITY_H

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

#endif
