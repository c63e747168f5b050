/*
 * Whether tables of a database are still what they were, though others in it have changed: in WAL
 * mode the log says which pages have changed, and the tables' pages are known (clause 4 of
 * snapshot.h). Any other change of the database is one of the tables.
 */
#ifndef CLR_SQLITE_TABLES_VERSION_H
#define CLR_SQLITE_TABLES_VERSION_H

#include "sqlite/database/snapshot.h"
#include "storage/format/page_set.h"

/* A b-tree that has a table's rows. */
struct clr_table_root {
    uint32_t page;
    bool is_index; /* the table is WITHOUT ROWID */
};

/* What is known of the tables; zeros: nothing. */
struct clr_tables_version {
    unsigned number;            /* another one each time that the tables may have changed */
    bool is_known;              /* of these: */
    unsigned data_version;      /* the database's (SQLITE_FCNTL_DATA_VERSION) at that number */
    struct clr_page_set *pages; /* of all the tables; NULL: not known */
    struct clr_database_version token; /* then: of the snapshot that they were found in */
};

/*
 * Brings the number up to date for the version of the database that the connection reads, which is
 * data_version. The tables are count in the roots. snapshot is one of that version, which is opened
 * if need be, or NULL. most: of tables with more pages of rows nothing is kept, as it would take
 * longer than to make anew what is made of them.
 */
void clr_tables_version_renew(struct clr_tables_version *version, struct clr_database *database,
                              struct clr_snapshot *snapshot, unsigned data_version,
                              const struct clr_table_root *roots, int count, size_t most,
                              const struct clr_watch *watch);

/* Frees what it has; nothing is known then but that its number was used. */
void clr_tables_version_forget(struct clr_tables_version *version);

#endif
