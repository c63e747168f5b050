/* What names of ordinary views mean, where nothing in temp has them. */
#ifndef CLR_SQLITE_VIEW_NAMES_H
#define CLR_SQLITE_VIEW_NAMES_H

#include "sqlite/api.h"

enum clr_named_kind { CLR_NAMED_VIEW, CLR_NAMED_TABLE };

struct clr_named_view {
    struct clr_named_view *next;
    char *schema, *name; /* as the schema writes it */
    enum clr_named_kind kind;
};

/* Looks a name up where SQLite would, but for temp: in main, and then the attached databases.
   Returns SQLite's code; *found is NULL if none has it, else to be freed. */
int clr_named_view_find(sqlite3 *db, const char *name, struct clr_named_view **found);

/* Lists the views of all databases but temp, in front of those in the list. Returns SQLite's code;
   the list is to be freed one by one in any case. */
int clr_named_views_list(sqlite3 *db, struct clr_named_view **list);

/* NULL is fine. */
void clr_named_view_free(struct clr_named_view *view);

#endif
