#include "numeric/scan/collector.h"

#include "numeric/filter/filter.h"
#include "numeric/filter/row_set.h"
#include "numeric/scan/host_reduce.h"

#include <string.h>

/* Values of each type: few enough to stay in a processor's second cache, and to let the last block
   of a reduction, which is slow, weigh little. */
enum { CAPACITY = 32 * CLR_BLOCK };

#define OPERATION(operation) (1u << (operation))

void clr_share_set(struct clr_share *share, enum clr_kind kind, const void *values, size_t count)
{
    share->runs[0] =
        (struct clr_run){.next = &share->runs[1], .kind = kind, .values = values, .count = count};
    share->runs[1] = (struct clr_run){.kind = CLR_KIND_REAL, .values = share->room_end};
    share->others = share->other_room;
    share->other_count = 0;
}

bool clr_collector_init(struct clr_collector *collector, const struct clr_tally *tally,
                        struct clr_state *state, struct clr_share *share)
{
    bool values = tally->operations & (OPERATION(CLR_SUM) | OPERATION(CLR_EXTREMES));
    bool pairs = tally->operations & OPERATION(CLR_DOT);

    collector->tally = tally;
    collector->state = state;
    collector->share = tally->operations & CLR_KEEP ? share : NULL;
    if (collector->share != NULL)
        clr_share_set(share, CLR_KIND_INTEGER, share->room, 0);
    collector->values = values ? clr_chunk_new(CLR_SUM, CAPACITY) : NULL;
    collector->pairs = pairs ? clr_chunk_new(CLR_DOT, CAPACITY) : NULL;
    return (!values || collector->values != NULL) && (!pairs || collector->pairs != NULL);
}

void clr_collector_free(struct clr_collector *collector)
{
    clr_chunk_free(collector->values);
    clr_chunk_free(collector->pairs);
}

static void flush(struct clr_collector *collector, struct clr_chunk *chunk,
                  enum clr_element element)
{
    int operation;

    for (operation = 0; operation < CLR_OPERATIONS; operation++) {
        bool of_pairs = operation == CLR_DOT;
        if (!(collector->tally->operations & OPERATION(operation)) ||
            of_pairs != (chunk == collector->pairs))
            continue;
        chunk->operation = (enum clr_operation)operation;
        clr_host_reduce(chunk, element, collector->state);
    }
    chunk->count[element] = 0;
}

void clr_collector_flush(struct clr_collector *collector)
{
    struct clr_chunk *chunks[] = {collector->values, collector->pairs};
    size_t i;

    for (i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        if (chunks[i] != NULL) {
            flush(collector, chunks[i], CLR_REAL);
            flush(collector, chunks[i], CLR_INTEGER);
        }
    }
}

/* The arrays of a chunk as the gathering loops see them: bits. */
static int64_t *get_array(const struct clr_chunk *chunk, enum clr_element element)
{
    return element == CLR_REAL ? (int64_t *)(void *)chunk->real : chunk->integer;
}

static void gather(struct clr_collector *collector, struct clr_block *block,
                   struct clr_chunk *chunk, enum clr_element element, const int64_t *x,
                   const int64_t *y, const uint64_t *rows)
{
    int64_t *next = get_array(chunk, element) + chunk->count[element];
    size_t count = block->loops->gather(x, rows, next, clr_block_ahead(block, x));

    if (y != NULL)
        block->loops->gather(y, rows, next + chunk->capacity, clr_block_ahead(block, y));
    chunk->count[element] += count;
    if (chunk->count[element] + CLR_BLOCK > chunk->capacity)
        flush(collector, chunk, element);
}

/* Takes the NULLs of an argument out of the rows. Returns false if it is unsure in one of them. */
static bool drop_nulls(const struct clr_collector *collector, const struct clr_block *block,
                       const struct clr_register *argument, uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];
    size_t i;

    if (clr_row_set_find(block->loops, argument, CLR_TAG_UNSURE, rows, found) ||
        (collector->tally->operations != 0 && !clr_tally_takes_bytes(collector->tally) &&
         clr_row_set_find(block->loops, argument, CLR_TAG_BYTES, rows, found)))
        return false;
    if (clr_row_set_find(block->loops, argument, CLR_TAG_NULL, rows, found))
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            rows[i] &= ~found[i];
    return true;
}

/* Of an INTEGER and a REAL: the INTEGER goes along as a double if it is one, else the product
   straight into the sum. */
static void take_mixed_pairs(struct clr_collector *collector, const int64_t *integers,
                             const int64_t *reals, const uint64_t *rows)
{
    struct clr_chunk *chunk = collector->pairs;
    size_t count = chunk->count[CLR_REAL], i;

    for (i = 0; i < CLR_BLOCK_WORDS; i++) {
        uint64_t word;
        for (word = rows[i]; word != 0; word &= word - 1) {
            size_t row = i * 64 + (size_t)__builtin_ctzll(word);
            const double real = clr_real_of(reals[row]);
            if (clr_sum_fits_double(integers[row])) {
                chunk->real[count] = (double)integers[row];
                chunk->real[chunk->capacity + count++] = real;
            } else {
                clr_sum_add_mixed_product(&collector->state->sum, integers[row], real, 1);
            }
        }
    }
    chunk->count[CLR_REAL] = count;
    if (count + CLR_BLOCK > chunk->capacity)
        flush(collector, chunk, CLR_REAL);
}

static void take_pairs(struct clr_collector *collector, struct clr_block *block,
                       const struct clr_register *x, const struct clr_register *y,
                       const uint64_t *rows)
{
    uint64_t integers[CLR_BLOCK_WORDS], reals[CLR_BLOCK_WORDS], found[CLR_BLOCK_WORDS];

    if (clr_row_set_find(block->loops, x, CLR_TAG_INTEGER, rows, integers)) {
        if (clr_row_set_find(block->loops, y, CLR_TAG_INTEGER, integers, found))
            gather(collector, block, collector->pairs, CLR_INTEGER, x->values, y->values, found);
        if (clr_row_set_find(block->loops, y, CLR_TAG_REAL, integers, found))
            take_mixed_pairs(collector, x->values, y->values, found);
    }
    if (clr_row_set_find(block->loops, x, CLR_TAG_REAL, rows, reals)) {
        if (clr_row_set_find(block->loops, y, CLR_TAG_INTEGER, reals, found))
            take_mixed_pairs(collector, y->values, x->values, found);
        if (clr_row_set_find(block->loops, y, CLR_TAG_REAL, reals, found))
            gather(collector, block, collector->pairs, CLR_REAL, x->values, y->values, found);
    }
}

static void take_values(struct clr_collector *collector, struct clr_block *block,
                        const struct clr_register *x, const uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];

    if (clr_row_set_find(block->loops, x, CLR_TAG_INTEGER, rows, found))
        gather(collector, block, collector->values, CLR_INTEGER, x->values, NULL, found);
    if (clr_row_set_find(block->loops, x, CLR_TAG_REAL, rows, found))
        gather(collector, block, collector->values, CLR_REAL, x->values, NULL, found);
}

/* Takes the bytes for count values from what is left; once that is too little, it stays so. */
static bool grant(struct clr_share *share, size_t count)
{
    const int64_t bytes = (int64_t)(count * sizeof *share->room);

    return atomic_fetch_sub_explicit(share->left, bytes, memory_order_relaxed) >= bytes;
}

/* Copies the values of the rows, whose type is the tag, to memory of their own, since the loop
   writes beyond the last one. Returns how many they are. */
static size_t copy_values(struct clr_block *block, const struct clr_register *x, enum clr_tag tag,
                          const uint64_t *rows, int64_t values[CLR_BLOCK])
{
    uint64_t found[CLR_BLOCK_WORDS];

    if (!clr_row_set_find(block->loops, x, tag, rows, found))
        return 0;
    return block->loops->gather(x->values, found, values, clr_block_ahead(block, x->values));
}

static enum clr_scan_outcome keep(struct clr_share *share, struct clr_block *block,
                                  const struct clr_register *x, const uint64_t *rows)
{
    int64_t values[CLR_BLOCK], *reals = share->room_end - share->runs[1].count;
    size_t count;

    if (!grant(share, block->loops->count(rows)))
        return CLR_SCAN_LIMIT;
    count = copy_values(block, x, CLR_TAG_INTEGER, rows, values);
    memcpy(share->room + share->runs[0].count, values, count * sizeof *values);
    share->runs[0].count += count;
    count = copy_values(block, x, CLR_TAG_REAL, rows, values);
    memcpy(reals - count, values, count * sizeof *values);
    share->runs[1].values = reals - count;
    share->runs[1].count += count;
    count = copy_values(block, x, CLR_TAG_BYTES, rows, values);
    if (count > 0) /* only then is there room for them */
        memcpy(share->other_room + share->other_count, values, count * sizeof *values);
    share->other_count += count;
    return CLR_SCAN_DONE;
}

enum clr_scan_outcome clr_collector_take(struct clr_collector *collector, struct clr_block *block,
                                         const uint64_t *selected)
{
    const struct clr_tally *tally = collector->tally;
    const struct clr_register *x = tally->x < 0 ? NULL : &block->registers[tally->x];
    const struct clr_register *y = tally->y < 0 ? NULL : &block->registers[tally->y];
    uint64_t rows[CLR_BLOCK_WORDS], integers[CLR_BLOCK_WORDS], found[CLR_BLOCK_WORDS];
    size_t count;

    memcpy(rows, selected, sizeof rows);
    if ((tally->filter >= 0 &&
         !clr_filter_keep_true(block, &block->registers[tally->filter], rows)) ||
        /* An argument is evaluated, with its errors, even where another one is NULL. */
        (y != NULL && clr_row_set_find(block->loops, y, CLR_TAG_UNSURE, rows, found)) ||
        (x != NULL && !drop_nulls(collector, block, x, rows)) ||
        (y != NULL && !drop_nulls(collector, block, y, rows)))
        return CLR_SCAN_UNSURE;
    count = block->loops->count(rows);
    collector->state->count += (int64_t)count;
    if (x == NULL || count == 0)
        return CLR_SCAN_DONE;
    collector->state->non_integers += (int64_t)count;
    if (clr_row_set_find(block->loops, x, CLR_TAG_INTEGER, rows, integers) &&
        clr_row_set_find(block->loops, y != NULL ? y : x, CLR_TAG_INTEGER, integers, found))
        collector->state->non_integers -= (int64_t)block->loops->count(found);
    if (collector->values != NULL)
        take_values(collector, block, x, rows);
    if (collector->pairs != NULL)
        take_pairs(collector, block, x, y, rows);
    return collector->share != NULL ? keep(collector->share, block, x, rows) : CLR_SCAN_DONE;
}
