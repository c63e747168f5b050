/* Leaves that are decoded one by one, as they are found to be needed, into columns of their own. */
#ifndef CLR_STORAGE_FRESH_H
#define CLR_STORAGE_FRESH_H

#include "storage/load/decode.h"
#include "storage/load/load.h"

struct clr_fresh {
    int count;
    struct clr_want *wants;      /* ascending by index; position is the field's */
    struct clr_column **columns; /* one for each want */
    atomic_int_least64_t left;   /* bytes that those of TEXT and BLOBs may still take */
    size_t leaf_count, room;
    struct clr_leaf *leaves;
    size_t *at; /* where their rows begin */
    struct clr_decoder decoder;
    unsigned char *page;
};

/*
 * Begins with columns for count fields, and room for so many leaves, of pages that are read by way
 * of pages; the bytes of TEXT and BLOBs may take most_bytes, 0: any. Returns false without memory.
 * Free in any case; fresh may be zeros then, and stays where it is.
 */
bool clr_fresh_init(struct clr_fresh *fresh, struct clr_pages *pages,
                    const struct clr_field *fields, int count, size_t room, size_t most_bytes);
void clr_fresh_free(struct clr_fresh *fresh);

/* Decodes a leaf whose rows come after those of the leaves before; only if it is the table's only
   one it may be empty. CLR_LOAD_TOO_LARGE: there is no more room. */
enum clr_load_outcome clr_fresh_add(struct clr_fresh *fresh, uint32_t number, bool is_only);

/* Completes the columns, which stay with fresh. */
void clr_fresh_end(struct clr_fresh *fresh);

#endif
