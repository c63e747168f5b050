/* Pointers by pointers, for many readers that take no lock. A key that is looked up while it is put
   in or taken out may be found or not. */
#ifndef CLR_PRELOAD_POINTERS_H
#define CLR_PRELOAD_POINTERS_H

#include <stdbool.h>

struct clr_pointer_table;

/* Begins as zeros. */
struct clr_pointers {
    _Atomic(struct clr_pointer_table *) table;
};

/* Returns a key's value, or NULL. */
void *clr_pointers_get(struct clr_pointers *map, const void *key);

/* Puts a key in, or gives it another value. Returns false without memory. */
bool clr_pointers_put(struct clr_pointers *map, const void *key, void *value);

/* Takes a key out, and returns its value, or NULL. */
void *clr_pointers_take(struct clr_pointers *map, const void *key);

#endif
