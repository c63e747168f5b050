/*
 * The pointer map of databases with auto_vacuum. SQLite takes short cuts along overflow chains by
 * it, so where it is damaged SQLite reads other pages than the chain has. File format, section 1.8.
 */
#ifndef CLR_STORAGE_POINTER_MAP_H
#define CLR_STORAGE_POINTER_MAP_H

#include "storage/format/page.h"

/* A thread's view of it. Zeros at first. */
struct clr_pointer_map {
    bool known, used; /* whether the database has a map, once that is known */
    unsigned char *page;
    uint32_t number; /* of the page of the map that is in page, or 0 */
};
void clr_pointer_map_free(struct clr_pointer_map *map);

/*
 * Checks that the short cut from an overflow page leads where the chain does, to next.
 * CLR_LOAD_MALFORMED if not, or if the map is damaged there.
 */
enum clr_load_outcome clr_pointer_map_check(struct clr_pointer_map *map, struct clr_pages *pages,
                                            uint32_t from, uint32_t next);

#endif
