/* The parameters of a view, which a query gives by conditions on its hidden columns. */
#ifndef CLR_SQLITE_VIEW_PARAMETERS_H
#define CLR_SQLITE_VIEW_PARAMETERS_H

#include "sqlite/views/view_life.h"

/* xBestIndex: says how the view is read, and which conditions give parameters, in a text and a
   number for xFilter. */
int clr_view_best_index(sqlite3_vtab *view, sqlite3_index_info *info);

/*
 * Stores copies of the parameters that clr_view_best_index() chose, by its number (at) and its
 * text, and whose count values xFilter has; the caller frees them. parameters has one pointer for
 * each parameter of the view, all NULL before: those that are not given stay so (clause 2 of
 * view.h). Returns SQLITE_OK, SQLITE_NOMEM, SQLITE_INTERNAL if that is no such text, or
 * SQLITE_ERROR, with the view's message, for a NULL that SQLite itself would compare by =.
 */
int clr_view_take_parameters(struct clr_view *view, int at, const char *text, int count,
                             sqlite3_value *const *values, sqlite3_value **parameters);

#endif
