/*
 * What the text of a statement tells of a SELECT that stands in it: whether a view may be read in
 * its place, and what it is by itself. selects: those of the statement, with that one.
 */
#ifndef CLR_SQLITE_SELECT_PLACE_H
#define CLR_SQLITE_SELECT_PLACE_H

#include "query/syntax/selects.h"
#include "sqlite/api.h"

#include <stdbool.h>

/* Whether a text has TRUE or FALSE, which are columns first to SQLite. */
bool clr_text_has_truth(const char *text);

/* Appends a text with names in double quotes in others, which SQLite can't take for strings; and
   with the numbers of parameters, as `numbered` has them, in the place of their names, unless that
   is NULL. */
void clr_text_append_names(sqlite3_str *text, const struct clr_written *written,
                           sqlite3_stmt *numbered);

/* Whether a SELECT stands for a table, perhaps with other arms. */
static inline bool clr_stood_is_table(const struct clr_stood *stood)
{
    return stood->place == CLR_PLACE_FROM || stood->place == CLR_PLACE_CTE;
}

/* Whether a SELECT is read in FROM beside other tables, or may be: so may a subquery around it. */
bool clr_stood_joins(const struct clr_selects *selects, const struct clr_stood *stood);

/*
 * Whether SQLite treats a view in a SELECT's place as it treats that. A subquery's ORDER BY has no
 * effect beside another table or another ORDER BY. A compound's arms and the query around it may be
 * one query to SQLite, and terms of its ORDER BY expressions of an arm.
 */
bool clr_stood_may_be_view(const struct clr_selects *selects, const struct clr_stood *stood);

/* Whether names in a SELECT may be columns of tables that it stands beside: not so in FROM. */
bool clr_stood_may_see_columns(const struct clr_selects *selects, const struct clr_stood *stood);

/* Whether one of its values may have a subtype that something around it in the statement, sql, asks
   for: a view's column has none. */
bool clr_stood_may_lose_subtype(sqlite3 *db, const char *sql, const struct clr_stood *stood);

/*
 * Finds out which CTEs a SELECT reads, also by way of others. Returns false where it can be no
 * statement of its own: a recursive one, and one that reads CTEs of several WITHs, whose names may
 * mean other things to each other.
 */
bool clr_stood_find_ctes(const struct clr_selects *selects, const struct clr_stood *stood,
                         bool reads[CLR_MOST_CTES]);

/*
 * Writes a SELECT as a statement of its own, with the CTEs that it reads. other_quotes: names in
 * double quotes are in others, so that SQLite can't take one for a string where the SELECT has no
 * such column, and the query around it may. distinct: so is a SELECT that the text begins with.
 * Returns memory of SQLite's, or NULL without any.
 */
char *clr_stood_write(const struct clr_selects *selects, const struct clr_stood *stood,
                      const bool reads[CLR_MOST_CTES], bool other_quotes, bool distinct);

#endif
