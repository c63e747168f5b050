#include "storage/load/device_sample.h"

#include "base/memory.h"
#include "storage/leaves/few_leaves.h"

/* Leaves by which the others are judged: fewer than a table has that a device decodes. */
enum { SAMPLES = 8 };

static enum clr_load_outcome decode(const struct clr_units *units, struct clr_few_leaves *few,
                                    struct clr_pages *pages)
{
    const struct clr_page_list *leaves = &units->leaves;
    enum clr_load_outcome outcome =
        clr_few_leaves_init(few, pages, units->fields, units->field_count, SAMPLES, 0, 0);
    size_t i;

    /* Those of a layout that is known are in no order. */
    for (i = 0; i < SAMPLES && outcome == CLR_LOAD_DONE; i++)
        outcome = clr_few_leaves_add_any(few, leaves->numbers[leaves->count / SAMPLES * i]);
    if (outcome == CLR_LOAD_DONE)
        clr_few_leaves_end(few);
    return outcome;
}

static uint8_t guess_kind(const struct clr_column *column)
{
    const struct clr_frame bounds = clr_frame_find(NULL, column->values, column->rows);
    const struct clr_frame frame = clr_frame_choose(&bounds, 1);

    return clr_kind_framed(column->kind, &frame);
}

enum clr_load_outcome clr_device_sample(struct clr_units *units, struct clr_feed_setup *setup,
                                        uint8_t *kinds)
{
    struct clr_pages pages = clr_units_pages(units);
    struct clr_few_leaves few = {.count = 0};
    enum clr_load_outcome outcome;
    int k;

    pages.visited = clr_pages_new_visits(units->source); /* what is met now is met again */
    outcome = pages.visited == NULL ? clr_pages_no_memory(&pages) : decode(units, &few, &pages);
    for (k = 0; k < setup->count && outcome == CLR_LOAD_DONE; k++)
        kinds[k] = guess_kind(few.columns[units->fields[k].position]);
    setup->rows = few.reader.decoder.rows * units->leaves.count / SAMPLES;
    clr_few_leaves_free(&few);
    clr_memory_free(pages.visited);
    return clr_units_note(units, outcome, &pages);
}
