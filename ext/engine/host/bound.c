#include "engine/host/bound.h"

#include "base/memory.h"
#include "engine/host/host_scan.h"
#include "numeric/values/column.h"

/*
 * One in STEP blocks is in the sample, but LEAST_BLOCKS if there are as many; and so are the first
 * and the last ones, which have the first rows where rows are in the order of the key.
 */
enum { STEP = 32, LEAST_BLOCKS = 64, ENDS = 2 };

static size_t find_step(size_t all)
{
    const size_t step = all / LEAST_BLOCKS;

    return step < 1 ? 1 : step < STEP ? step : STEP;
}

/* Stores the blocks of the sample, of a scan that has so many. Returns how many they are. */
static size_t take_blocks(const struct clr_scan *scan, size_t all, uint32_t *blocks)
{
    const size_t step = find_step(all);
    size_t count = 0, i;

    for (i = 0; i < all; i++) {
        if (i % step == 0 || i < ENDS || i + ENDS >= all)
            blocks[count++] = scan->blocks != NULL ? scan->blocks[i] : (uint32_t)i;
    }
    return count;
}

enum clr_scan_outcome clr_host_find_place(const struct clr_scan *scan,
                                          const struct clr_scan_order *order, uint64_t place,
                                          const struct clr_watch *watch, struct clr_scalar *number,
                                          uint64_t *count, uint64_t *nulls)
{
    struct clr_tally tallies[] = {{.operations = CLR_KEEP, .x = order->key, .y = -1, .filter = -1},
                                  {.x = -1, .y = -1, .filter = -1}};
    struct clr_question question = {
        .kind = CLR_ASK_PLACE, .place = place, .from_greatest = order->descends};
    struct clr_scan asking = *scan;
    enum clr_scan_outcome outcome;

    asking.grouping = NULL;
    asking.tallies = tallies;
    asking.tally_count = 2;
    asking.questions = &question;
    asking.question_count = 1;
    outcome = clr_host_scan(&asking, watch);
    if (outcome != CLR_SCAN_DONE)
        return outcome;
    *count = (uint64_t)tallies[1].state.count;
    *nulls = *count - (uint64_t)tallies[0].state.count;
    *number = clr_number_scalar(&question.answer);
    return outcome;
}

enum clr_scan_outcome clr_host_guess_place(const struct clr_scan *scan,
                                           const struct clr_scan_order *order, uint64_t place,
                                           const struct clr_watch *watch, struct clr_scalar *number)
{
    const size_t all = clr_zones_of(scan->rows);
    uint32_t *blocks = clr_memory_alloc((all + 1) * sizeof *blocks);
    struct clr_scan sample = *scan;
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    uint64_t count, nulls;

    *number = (struct clr_scalar){.tag = CLR_TAG_NULL};
    if (blocks != NULL) {
        sample.blocks = blocks;
        sample.rows -= (all - take_blocks(scan, all, blocks)) * CLR_ZONE_ROWS;
        outcome = clr_host_find_place(&sample, order, place, watch, number, &count, &nulls);
    }
    clr_memory_free(blocks);
    return outcome;
}
