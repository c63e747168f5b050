/*
 * The entries of a dictionary as a table that SQLite reads, of one column, CLR_LOOKUP_ENTRY, which
 * has the type of the column that the dictionary is of.
 */
#ifndef CLR_SQLITE_ENTRIES_H
#define CLR_SQLITE_ENTRIES_H

#include "numeric/dictionary/dictionary.h"
#include "numeric/values/timestamp.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/session/connection.h"

/* An entry that takes a turn. */
struct clr_sorted_entry {
    int64_t bits; /* of its value */
    uint32_t number;
};

/* What a statement reads: the entries from `first` on, up to `end`, behind which others may be
   added meanwhile. */
struct clr_entries {
    const struct clr_dictionary *dictionary;
    int encoding; /* of TEXT: SQLITE_UTF8, SQLITE_UTF16LE or SQLITE_UTF16BE */
    uint32_t first, end;
    /* Of each entry that stands for the times of a unit the last one of them takes its place. */
    enum clr_time_unit last_of;
    const struct clr_sorted_entry *order; /* by their turns; NULL: they come by their numbers */
};

static inline uint32_t clr_entries_at(const struct clr_entries *entries, uint32_t turn)
{
    return entries->order == NULL ? turn : entries->order[turn].number;
}

/* Returns the table's name as SQL has it, which the table's argument follows; to be freed with
   sqlite3_free(). NULL without memory. */
char *clr_entries_name(const struct clr_column_type *type);

/* Registers the table with the connection, unless it is there. Returns SQLite's code: SQLITE_ERROR
   if the schema may go meanwhile. */
int clr_entries_register(struct clr_connection *connection, const struct clr_column_type *type);

/* Binds the table's argument to entries, which stay the caller's. Returns SQLite's code. */
int clr_entries_bind(sqlite3_stmt *statement, int parameter, struct clr_entries *entries);

#endif
