#include "storage/format/pointer_map.h"

#include "base/memory.h"

enum { AUTO_VACUUM_AT = 52, ENTRY_SIZE = 5, LEAST_TYPE = 1, OVERFLOW_LATER = 4, MOST_TYPE = 5 };

void clr_pointer_map_free(struct clr_pointer_map *map)
{
    clr_memory_free(map->page);
}

static enum clr_load_outcome read_page(struct clr_pointer_map *map, struct clr_pages *pages,
                                       uint32_t number)
{
    enum clr_load_outcome outcome;

    if (map->number == number)
        return CLR_LOAD_DONE;
    if (map->page == NULL)
        map->page = clr_memory_alloc(pages->source->page_size);
    if (map->page == NULL)
        return clr_pages_no_memory(pages);
    map->number = 0;
    outcome = clr_pages_read(pages, number, 1, map->page);
    if (outcome == CLR_LOAD_DONE)
        map->number = number;
    return outcome;
}

/* Returns the page of the map that has a page's entry, or is that page. */
static uint32_t map_page_of(const struct clr_source *source, uint32_t number)
{
    uint32_t each = source->usable_size / ENTRY_SIZE + 1;
    uint32_t page = (number - 2) / each * each + 2;

    return page == clr_lock_page(source) ? page + 1 : page;
}

enum clr_load_outcome clr_pointer_map_check(struct clr_pointer_map *map, struct clr_pages *pages,
                                            uint32_t from, uint32_t next)
{
    const struct clr_source *source = pages->source;
    const unsigned char *entry;
    uint32_t guess = from + 1, number;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;

    if (!map->known) {
        outcome = read_page(map, pages, 1);
        if (outcome != CLR_LOAD_DONE)
            return outcome;
        map->known = true;
        map->used = clr_get_u32(map->page + AUTO_VACUUM_AT) != 0;
    }
    if (!map->used)
        return CLR_LOAD_DONE;
    /* The short cut is to the page behind, whose entry tells whether it follows in the chain. */
    while (guess == clr_lock_page(source) || map_page_of(source, guess) == guess)
        guess++;
    if (guess > source->page_count)
        return CLR_LOAD_DONE;
    number = map_page_of(source, guess);
    outcome = number < guess ? read_page(map, pages, number) : clr_page_malformed(pages, number);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    entry = map->page + ENTRY_SIZE * (size_t)(guess - number - 1);
    if (entry[0] < LEAST_TYPE || entry[0] > MOST_TYPE ||
        (entry[0] == OVERFLOW_LATER && clr_get_u32(entry + 1) == from && next != guess))
        return clr_page_malformed(pages, number);
    return CLR_LOAD_DONE;
}
