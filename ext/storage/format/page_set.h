/* Sets of pages: a bit for each, by number. */
#ifndef CLR_STORAGE_PAGE_SET_H
#define CLR_STORAGE_PAGE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLR_PAGE_SET_WORD = 32 }; /* bits */

/* Returns how many words a set has that can have pages up to that one. */
static inline size_t clr_page_set_words(uint32_t last)
{
    return last / CLR_PAGE_SET_WORD + (size_t)1;
}

static inline bool clr_page_set_has(const uint32_t *set, uint32_t page)
{
    return (set[page / CLR_PAGE_SET_WORD] >> page % CLR_PAGE_SET_WORD & 1) != 0;
}

static inline void clr_page_set_add(uint32_t *set, uint32_t page)
{
    set[page / CLR_PAGE_SET_WORD] |= UINT32_C(1) << page % CLR_PAGE_SET_WORD;
}

#endif
