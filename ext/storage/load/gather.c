#include "storage/load/gather.h"

enum { WIDEST_HOLE = 4 };

enum clr_load_outcome clr_gather(struct clr_pages *pages, const uint32_t *numbers, size_t count,
                                 unsigned char *buffer, size_t room, const unsigned char **where,
                                 size_t *used)
{
    const struct clr_source *source = pages->source;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i = 0;

    *used = 0;
    while (i < count && outcome == CLR_LOAD_DONE) {
        unsigned char *start = buffer + *used * source->page_size;
        uint32_t first = numbers[i], next = first + 1; /* the run's pages, and the one after */
        bool grows = clr_page_in_database(source, first);

        where[i++] = start;
        while (grows && i < count) {
            uint32_t number = numbers[i];

            /* The pages that are left must find room, too. A hole may lie in the log: the page
               after it is in the database file, which therefore has bytes there. */
            grows = number >= next && number - next <= WIDEST_HOLE &&
                    *used + (number - first) + (count - i) <= room &&
                    clr_page_in_database(source, number);
            if (grows) {
                where[i++] = start + (size_t)(number - first) * source->page_size;
                next = number + 1;
            }
        }
        outcome = clr_pages_read(pages, first, next - first, start);
        *used += next - first;
    }
    return outcome;
}
