#include "preload/callbacks.h"

#include "preload/extension.h"

#include <stddef.h>

/* The extension reads what the application was allowed to read when it prepared its statement. */
static int authorize(void *argument, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    struct clr_callbacks *callbacks = argument;
    int rc;

    if (clr_inside > 0)
        return SQLITE_OK;
    rc = callbacks->authorizer(callbacks->authorizer_argument, action, a, b, c, d);
    /* The statement has NULL in the place of a column, or does something in part. */
    callbacks->has_ignored = callbacks->has_ignored || rc == SQLITE_IGNORE;
    return rc;
}

int clr_callbacks_set_authorizer(struct clr_callbacks *callbacks,
                                 const struct clr_originals *originals, sqlite3 *db,
                                 clr_authorizer *authorizer, void *argument)
{
    callbacks->authorizer = authorizer;
    callbacks->authorizer_argument = argument;
    /* With a new one SQLite prepares every statement anew. */
    if (authorizer != NULL)
        callbacks->has_ignored = false;
    return originals->set_authorizer(db, authorizer == NULL ? NULL : authorize, callbacks);
}

static int trace(unsigned event, void *argument, void *p, void *x)
{
    const struct clr_callbacks *callbacks = argument;

    return clr_inside > 0 ? 0 : callbacks->trace(event, callbacks->trace_argument, p, x);
}

int clr_callbacks_set_trace(struct clr_callbacks *callbacks, const struct clr_originals *originals,
                            sqlite3 *db, unsigned mask, clr_trace *callback, void *argument)
{
    callbacks->trace = callback;
    callbacks->trace_argument = argument;
    callbacks->trace_mask = callback == NULL ? 0 : mask;
    callbacks->has_older_trace = false;
    return callback == NULL ? originals->trace_v2(db, mask, NULL, argument)
                            : originals->trace_v2(db, mask, trace, callbacks);
}

void clr_callbacks_return(const struct clr_callbacks *callbacks,
                          const struct clr_originals *originals, sqlite3 *db)
{
    if (callbacks->authorizer != NULL)
        originals->set_authorizer(db, callbacks->authorizer, callbacks->authorizer_argument);
    if (callbacks->trace_mask != 0)
        originals->trace_v2(db, callbacks->trace_mask, callbacks->trace, callbacks->trace_argument);
}

void clr_callbacks_tell(const struct clr_callbacks *callbacks, unsigned event, sqlite3_stmt *plain,
                        void *x)
{
    if ((callbacks->trace_mask & event) != 0 && clr_inside == 0)
        callbacks->trace(event, callbacks->trace_argument, plain, x);
}
