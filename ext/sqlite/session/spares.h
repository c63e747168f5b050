/*
 * Structures that a connection keeps for reuse: what an aggregate needs beyond its small context is
 * taken from here, so that a million small groups allocate nothing.
 */
#ifndef CLR_SQLITE_SPARES_H
#define CLR_SQLITE_SPARES_H

#include "sqlite/session/connection.h"

#include <stddef.h>

enum { CLR_SPARES_KEPT = 8 };

/* The first member of such a structure. */
struct clr_spare {
    struct clr_spare *next;
};

/* Those of one kind, an attachment of the connection. */
struct clr_spares {
    struct clr_attachment attachment;
    struct clr_spare *first;
    int count;
};

/* Returns one that was given, or NULL. spares may be NULL. */
static inline struct clr_spare *clr_spares_take(struct clr_spares *spares)
{
    struct clr_spare *spare = spares == NULL ? NULL : spares->first;

    if (spare != NULL) {
        spares->first = spare->next;
        spares->count--;
    }
    return spare;
}

/* Takes one for reuse, unless there are enough, or spares is NULL: then it frees it. */
static inline void clr_spares_give(struct clr_spares *spares, struct clr_spare *spare,
                                   void (*free)(struct clr_spare *))
{
    if (spares == NULL || spares->count == CLR_SPARES_KEPT) {
        free(spare);
        return;
    }
    spare->next = spares->first;
    spares->first = spare;
    spares->count++;
}

static inline void clr_spares_free(struct clr_spares *spares, void (*free)(struct clr_spare *))
{
    struct clr_spare *spare;

    while ((spare = clr_spares_take(spares)) != NULL)
        free(spare);
}

#endif
