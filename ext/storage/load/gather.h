/* Reads many pages with few reads. */
#ifndef CLR_STORAGE_GATHER_H
#define CLR_STORAGE_GATHER_H

#include "storage/format/page.h"

#include <stddef.h>

/*
 * Reads count pages into buffer, which has room for room of them, room >= count, and stores where
 * each is in where[0 .. count-1]. What room there is beyond count serves to read over holes: pages
 * not asked for between two that are. *used is the number of all pages that were read.
 */
enum clr_load_outcome clr_gather(struct clr_pages *pages, const uint32_t *numbers, size_t count,
                                 unsigned char *buffer, size_t room, const unsigned char **where,
                                 size_t *used);

#endif
