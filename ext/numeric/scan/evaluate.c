#include "numeric/scan/evaluate.h"

#include "numeric/filter/filter.h"
#include "numeric/filter/gathered.h"
#include "numeric/scan/block.h"
#include "numeric/scan/collector.h"
#include "numeric/scan/host_reduce.h"
#include "numeric/scan/whole_columns.h"

#include <stdbool.h>
#include <string.h>

/*
 * How many rows of columns are reduced between two looks at whether to stop; and where several
 * tallies are, so few that a column stays in a processor's second cache for all of them. Narrow
 * columns are widened so many rows at once, which stay in the first one.
 */
enum { PIECE = 1 << 18, SHARED_PIECE = 1 << 14, NARROW_PIECE = 1 << 11 };

/* A tally over all rows of columns as they lie in memory. */
struct whole {
    const struct clr_tally *tally;
    const struct clr_column *arguments[2];
    struct clr_state *state;
};

/* Stores the columns of a tally that takes whole columns; of pairs both are to be of one type.
   Returns whether it is. */
static bool find_whole_columns(const struct clr_scan *scan, const uint8_t *kinds,
                               const struct clr_tally *tally, const struct clr_column *arguments[2])
{
    int columns[2], i;

    if (tally->merge != 0 || !clr_tally_takes_whole_columns(scan, kinds, tally, columns))
        return false;
    for (i = 0; i < 2; i++)
        arguments[i] = columns[i] < 0 ? NULL : scan->columns[columns[i]];
    return arguments[1] == NULL || arguments[1]->kind == arguments[0]->kind;
}

/* The values of such a tally, where they are. */
static void share_column(const struct clr_column *column, size_t first, size_t rows,
                         struct clr_share *share)
{
    const bool real = column->kind == CLR_TAG_REAL;
    const bool numbers = real || column->kind == CLR_TAG_INTEGER;

    if (column->words == NULL) {
        clr_share_set(share, real ? CLR_KIND_REAL : CLR_KIND_INTEGER, column->values + first,
                      numbers ? rows : 0);
    } else {
        clr_share_set(share, real ? CLR_KIND_REAL : CLR_KIND_INTEGER,
                      (const char *)column->words + first * column->frame.bytes,
                      numbers ? rows : 0);
        share->runs[0].frame = column->frame;
    }
    if (clr_column_has_addresses(column) && column->kind == CLR_TAG_BYTES) {
        share->others = column->values + first;
        share->other_count = rows;
    }
}

static bool is_narrow(const struct clr_column *const arguments[2])
{
    return arguments[0]->words != NULL || (arguments[1] != NULL && arguments[1]->words != NULL);
}

static void reduce_piece(const struct clr_tally *tally, const struct clr_column *const arguments[2],
                         size_t first, size_t count, struct clr_state *state)
{
    enum clr_element element = arguments[0]->kind == CLR_TAG_REAL ? CLR_REAL : CLR_INTEGER;
    const size_t most = is_narrow(arguments) ? (size_t)NARROW_PIECE : count;
    int64_t rooms[2][NARROW_PIECE];
    const size_t end = first + count;
    const int64_t *x, *y;
    int operation;

    for (; first < end; first += count) {
        count = end - first < most ? end - first : most;
        x = clr_column_values(arguments[0], first, count, rooms[0]);
        y = arguments[1] == NULL ? NULL : clr_column_values(arguments[1], first, count, rooms[1]);
        for (operation = 0; operation < CLR_OPERATIONS; operation++)
            if (tally->operations & (1u << operation))
                clr_host_reduce_arrays((enum clr_operation)operation, element, x, y, count, state);
    }
}

/* Counts the rows of such a tally. Stores whether there is anything to reduce. */
static enum clr_scan_outcome count_whole(const struct whole *whole, size_t rows, bool *reduces)
{
    const struct clr_column *x = whole->arguments[0], *y = whole->arguments[1];
    const uint8_t kind = x == NULL ? CLR_TAG_INTEGER : x->kind;

    *reduces = false;
    if (kind == CLR_TAG_NULL || rows == 0)
        return CLR_SCAN_DONE;
    whole->state->count = (int64_t)rows;
    whole->state->non_integers =
        kind == CLR_TAG_INTEGER && (y == NULL || y->kind == CLR_TAG_INTEGER) ? 0 : (int64_t)rows;
    if (whole->tally->operations == 0 || x == NULL)
        return CLR_SCAN_DONE;
    *reduces = kind != CLR_TAG_BYTES;
    return *reduces || clr_tally_takes_bytes(whole->tally) ? CLR_SCAN_DONE : CLR_SCAN_UNSURE;
}

/* All of them piece by piece: one way through the memory, however many they are. */
static enum clr_scan_outcome reduce_columns(const struct whole *wholes, int count, size_t first,
                                            size_t last, const atomic_bool *stop)
{
    const size_t piece = count > 1 ? SHARED_PIECE : PIECE;
    size_t rows;
    int i;

    for (; first < last && count > 0; first += rows) {
        if (atomic_load_explicit(stop, memory_order_relaxed))
            return CLR_SCAN_STOPPED;
        rows = last - first < piece ? last - first : piece;
        for (i = 0; i < count; i++)
            reduce_piece(wholes[i].tally, wholes[i].arguments, first, rows, wholes[i].state);
    }
    return CLR_SCAN_DONE;
}

/* What runs the blocks of a part of the rows. */
struct blocks {
    struct clr_block *block;
    struct clr_gathered gathered;
    struct clr_collector *collectors;
    int collector_count;
};

/* Takes the selected rows of the block into all tallies. */
static enum clr_scan_outcome take_block(struct blocks *blocks, const uint64_t *selected)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    clr_block_run(blocks->block, CLR_STAGE_TALLIES);
    for (i = 0; i < blocks->collector_count && outcome == CLR_SCAN_DONE; i++)
        outcome = clr_collector_take(&blocks->collectors[i], blocks->block, selected);
    return outcome;
}

/* Takes the rows that were gathered, if there are any. */
static enum clr_scan_outcome take_gathered(struct blocks *blocks)
{
    struct clr_gathered *gathered = &blocks->gathered;
    uint64_t selected[CLR_BLOCK_WORDS];

    if (gathered->count == 0)
        return CLR_SCAN_DONE;
    clr_block_set_gathered(blocks->block, gathered->columns, gathered->count);
    clr_filter_select_all(blocks->block, selected);
    gathered->count = 0;
    return take_block(blocks, selected);
}

static enum clr_scan_outcome run_block(struct blocks *blocks, size_t first, size_t rows)
{
    struct clr_block *block = blocks->block;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    uint64_t selected[CLR_BLOCK_WORDS];
    size_t count;

    clr_block_set_rows(block, first, rows);
    if (!clr_filter_select(block, selected))
        return CLR_SCAN_UNSURE;
    count = block->loops->count(selected);
    if (count > CLR_FEW_ROWS)
        return take_block(blocks, selected);
    if (count > CLR_BLOCK - blocks->gathered.count) {
        outcome = take_gathered(blocks);
        clr_block_set_rows(block, first, rows);
    }
    clr_gathered_add(&blocks->gathered, block, selected, count);
    return outcome;
}

static enum clr_scan_outcome run_blocks(const struct clr_scan *scan, size_t first, size_t last,
                                        struct clr_collector *collectors, int collector_count,
                                        const atomic_bool *stop)
{
    struct blocks blocks = {
        .block = clr_block_new(scan), .collectors = collectors, .collector_count = collector_count};
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t count;
    int i;

    if (blocks.block == NULL || !clr_gathered_init(&blocks.gathered, blocks.block))
        outcome = CLR_SCAN_FAILED;
    for (i = 0; i < collector_count; i++)
        collectors[i].stop = stop;
    for (; outcome == CLR_SCAN_DONE && first < last; first += count) {
        if (atomic_load_explicit(stop, memory_order_relaxed)) {
            outcome = CLR_SCAN_STOPPED;
            break;
        }
        count = last - first < CLR_BLOCK ? last - first : CLR_BLOCK;
        outcome = run_block(&blocks, first, count);
    }
    if (outcome == CLR_SCAN_DONE)
        outcome = take_gathered(&blocks);
    for (i = 0; i < collector_count && outcome == CLR_SCAN_DONE; i++)
        clr_collector_flush(&collectors[i]);
    clr_gathered_free(&blocks.gathered);
    clr_block_free(blocks.block);
    return outcome;
}

enum clr_scan_outcome clr_evaluate(const struct clr_scan *scan, size_t first, size_t last,
                                   struct clr_state *states, struct clr_share *shares,
                                   const atomic_bool *stop)
{
    struct clr_collector collectors[CLR_MOST_TALLIES];
    struct whole wholes[CLR_MOST_TALLIES];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int collector_count = 0, whole_count = 0, i;
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_share *share;
    bool reduces;

    for (i = 0; i < scan->column_count; i++) {
        kinds[i] = scan->columns[i]->kind;
        if (scan->longest != 0 && clr_column_longest(scan->columns[i]) > scan->longest)
            return CLR_SCAN_UNSURE;
    }
    for (i = 0; i < scan->tally_count && outcome == CLR_SCAN_DONE; i++) {
        struct whole *whole = &wholes[whole_count];
        whole->tally = &scan->tallies[i];
        whole->state = &states[i];
        share = shares == NULL ? NULL : &shares[i];
        clr_state_clear(&states[i]);
        if (find_whole_columns(scan, kinds, whole->tally, whole->arguments)) {
            outcome = count_whole(whole, last - first, &reduces);
            whole_count += reduces;
            if (whole->tally->operations & CLR_KEEP)
                share_column(whole->arguments[0], first, last - first, share);
        } else if (!clr_collector_init(&collectors[collector_count++], whole->tally, whole->state,
                                       share)) {
            outcome = CLR_SCAN_FAILED;
        }
    }
    if (outcome == CLR_SCAN_DONE)
        outcome = reduce_columns(wholes, whole_count, first, last, stop);
    if (outcome == CLR_SCAN_DONE && collector_count > 0)
        outcome = run_blocks(scan, first, last, collectors, collector_count, stop);
    for (i = 0; i < collector_count; i++)
        clr_collector_free(&collectors[i]);
    return outcome;
}
