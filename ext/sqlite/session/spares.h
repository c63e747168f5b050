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

/* A kind, a constant: the structures' own end, beside how the connection frees all of them. */
struct clr_spares_kind {
    struct clr_attachment_kind attachment;
    void (*free)(struct clr_spare *);
};

/* Frees what an attachment of such a kind keeps. */
static inline void clr_spares_free(struct clr_connection *connection, void *attachment)
{
    struct clr_spares *spares = attachment;
    const struct clr_spares_kind *kind = (const void *)spares->attachment.kind;
    struct clr_spare *spare;

    (void)connection;
    while ((spare = spares->first) != NULL) {
        spares->first = spare->next;
        kind->free(spare);
    }
}

#define CLR_SPARES_KIND(free)                                                                      \
    {                                                                                              \
        {sizeof(struct clr_spares), clr_spares_free}, free                                         \
    }

/* Returns one that was given, or NULL. */
static inline void *clr_spares_take(const struct clr_connection *connection,
                                    const struct clr_spares_kind *kind)
{
    struct clr_spares *spares = clr_connection_find(connection, &kind->attachment);
    struct clr_spare *spare = spares == NULL ? NULL : spares->first;

    if (spare != NULL) {
        spares->first = spare->next;
        spares->count--;
    }
    return spare;
}

/* Takes one for reuse; frees it if there are enough, or no memory to keep it by. */
static inline void clr_spares_give(struct clr_connection *connection,
                                   const struct clr_spares_kind *kind, struct clr_spare *spare)
{
    struct clr_spares *spares = clr_connection_attach(connection, &kind->attachment);

    if (spares == NULL || spares->count == CLR_SPARES_KEPT) {
        kind->free(spare);
        return;
    }
    spare->next = spares->first;
    spares->first = spare;
    spares->count++;
}

#endif
