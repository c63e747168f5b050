#include "numeric/scan/evaluate.h"

#include "base/memory.h"
#include "numeric/scan/host_reduce.h"
#include "numeric/scan/taking.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Values of each type: few enough to stay in a processor's second cache, and to let the last block
   of a reduction, which is slow, weigh little. */
enum { CAPACITY = 32 * CLR_BLOCK };

#define OPERATION(operation) (1u << (operation))

/*
 * A tally's way from blocks to its state: the values of the rows that count are gathered, by type,
 * into arrays that are reduced when they are full.
 */
struct collector {
    const struct clr_tally *tally;
    struct clr_state *state;
    struct clr_share *share; /* if the tally has CLR_KEEP */
    struct clr_chunk *values,
        *pairs; /* of CLR_SUM and CLR_EXTREMES; of CLR_DOT; NULL: not needed */
};

/* Lets a share have count values of the kind, in two runs of which one is empty. */
static void share_set(struct clr_share *share, enum clr_kind kind, const void *values, size_t count)
{
    share->runs[0] =
        (struct clr_run){.next = &share->runs[1], .kind = kind, .values = values, .count = count};
    share->runs[1] = (struct clr_run){.kind = CLR_KIND_REAL, .values = share->room_end};
    share->others = share->other_room;
    share->other_count = 0;
}

/* Returns false without memory; then, too, collector_free() is due. */
static bool collector_init(struct collector *collector, const struct clr_tally *tally,
                           struct clr_state *state, struct clr_share *share)
{
    bool values = tally->operations & (OPERATION(CLR_SUM) | OPERATION(CLR_EXTREMES));
    bool pairs = tally->operations & OPERATION(CLR_DOT);

    collector->tally = tally;
    collector->state = state;
    collector->share = tally->operations & CLR_KEEP ? share : NULL;
    if (collector->share != NULL)
        share_set(share, CLR_KIND_INTEGER, share->room, 0);
    collector->values = values ? clr_chunk_new(CLR_SUM, CAPACITY) : NULL;
    collector->pairs = pairs ? clr_chunk_new(CLR_DOT, CAPACITY) : NULL;
    return (!values || collector->values != NULL) && (!pairs || collector->pairs != NULL);
}

static void collector_free(struct collector *collector)
{
    clr_memory_free(collector->values);
    clr_memory_free(collector->pairs);
}

static void flush(struct collector *collector, struct clr_chunk *chunk, enum clr_element element)
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

/* Brings the state up to date. */
static void collector_flush(struct collector *collector)
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

static void gather(struct collector *collector, struct clr_block *block, struct clr_chunk *chunk,
                   enum clr_element element, const int64_t *x, const int64_t *y,
                   const uint64_t *rows)
{
    int64_t *next = get_array(chunk, element) + chunk->count[element];
    size_t count = block->loops->gather(x, rows, next, clr_block_ahead(block, x));

    if (y != NULL)
        block->loops->gather(y, rows, next + chunk->capacity, clr_block_ahead(block, y));
    chunk->count[element] += count;
    if (chunk->count[element] + CLR_BLOCK > chunk->capacity)
        flush(collector, chunk, element);
}

/* Of an INTEGER and a REAL: the INTEGER goes along as a double if it is one, else the product
   straight into the sum. */
static void take_mixed_pairs(struct collector *collector, const int64_t *integers,
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

static void take_pairs(struct collector *collector, struct clr_block *block,
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

static void take_values(struct collector *collector, struct clr_block *block,
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

/* Adds the rows of the block that are selected. Returns CLR_SCAN_DONE, CLR_SCAN_UNSURE or
   CLR_SCAN_LIMIT. */
static enum clr_scan_outcome collector_take(struct collector *collector, struct clr_block *block,
                                            const uint64_t *selected)
{
    const struct clr_tally *tally = collector->tally;
    const struct clr_register *x = tally->x < 0 ? NULL : &block->registers[tally->x];
    const struct clr_register *y = tally->y < 0 ? NULL : &block->registers[tally->y];
    uint64_t rows[CLR_BLOCK_WORDS], integers[CLR_BLOCK_WORDS];
    size_t count;

    if (!clr_tally_rows_find(block, tally, tally->filter, selected, rows, integers))
        return CLR_SCAN_UNSURE;
    count = block->loops->count(rows);
    collector->state->count += (int64_t)count;
    if (x == NULL || count == 0)
        return CLR_SCAN_DONE;
    collector->state->non_integers += (int64_t)(count - block->loops->count(integers));
    if (collector->values != NULL)
        take_values(collector, block, x, rows);
    if (collector->pairs != NULL)
        take_pairs(collector, block, x, y, rows);
    return collector->share != NULL ? keep(collector->share, block, x, rows) : CLR_SCAN_DONE;
}

/* ---- The scan. */

/*
 * How many rows of columns are reduced between two looks at whether to stop; and where several
 * tallies are, so few that a column stays in a processor's second cache for all of them.
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

    if (!clr_tally_takes_whole_columns(scan, kinds, tally, columns))
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
        share_set(share, real ? CLR_KIND_REAL : CLR_KIND_INTEGER, column->values + first,
                  numbers ? rows : 0);
    } else {
        share_set(share, real ? CLR_KIND_REAL : CLR_KIND_INTEGER,
                  (const char *)column->words + first * column->frame.bytes, numbers ? rows : 0);
        share->runs[0].frame = column->frame;
    }
    if (clr_column_has_addresses(column) && column->kind == CLR_TAG_BYTES) {
        share->others = column->values + first;
        share->other_count = rows;
    }
}

/* Whether values of a narrow column are reduced as they are kept. The order of decimals is that of
   the integers which are kept of them, but their sum is so only if they are whole. */
static bool takes_words(enum clr_operation operation, enum clr_element element,
                        const struct clr_column *column)
{
    if (column->frame.power != 0.0)
        return element == CLR_REAL &&
               (operation == CLR_EXTREMES || (operation == CLR_SUM && column->frame.power == 1.0));
    return operation != CLR_DOT && element == CLR_INTEGER;
}

/* Returns the sum of what is kept of a column's values as integers. */
static clr_i128 sum_words(const struct clr_column *column, size_t first, size_t count)
{
    const struct clr_frame *frame = &column->frame;

    return (clr_i128)frame->least * (int64_t)count +
           (clr_i128)clr_frame_choose_loops(0)->sum(frame, column->words, first, count);
}

/* Adds such values: their sum, or their extremes. */
static void reduce_words(enum clr_operation operation, const struct clr_column *column,
                         size_t first, size_t count, struct clr_state *state)
{
    const struct clr_frame *frame = &column->frame;
    struct clr_range *range = frame->power == 0.0 ? &state->integers : &state->reals;
    int64_t least, greatest;

    if (operation == CLR_SUM) {
        clr_sum_add_integer(&state->sum, sum_words(column, first, count), 1);
        return;
    }
    clr_frame_range(frame, column->words, first, count, &least, &greatest);
    if (frame->power != 0.0) {
        least = clr_real_to_key(clr_decimal_bits(least, frame->power));
        greatest = clr_real_to_key(clr_decimal_bits(greatest, frame->power));
    }
    clr_range_add(range, least);
    clr_range_add(range, greatest);
}

/* Whether the values of a column of INTEGERs are known to have 32 bits, with their signs. */
static bool is_short(const struct clr_column *column)
{
    return column->words != NULL && column->frame.power == 0.0 &&
           column->frame.known_least >= INT32_MIN && column->frame.known_greatest <= INT32_MAX;
}

/* Whether the sum of a column's values is that of decimals which are small enough for a loop of
   their own. */
static bool has_short_decimals(const struct clr_column *column)
{
    return column->frame.power != 0.0 && column->frame.known_least >= -CLR_DECIMALS_MOST_SUMMED &&
           column->frame.known_greatest <= CLR_DECIMALS_MOST_SUMMED;
}

/* Stores two doubles whose sum is that of up to CLR_DECIMALS_SUMMED of them. */
static void sum_decimals(const struct clr_column *column, size_t first, size_t count,
                         double parts[2])
{
    int64_t room[CLR_DECIMALS_SUMMED];

    clr_frame_widen(&column->frame, column->words, first, count, room);
    clr_decimals_choose_loops(0)->sum(column->frame.power, room, count, parts);
}

static void add_decimals(const struct clr_column *column, size_t first, size_t count,
                         struct clr_sum *sum)
{
    const size_t end = first + count;
    double parts[2];

    for (; first < end; first += count) {
        count = end - first < CLR_DECIMALS_SUMMED ? end - first : CLR_DECIMALS_SUMMED;
        sum_decimals(column, first, count, parts);
        clr_sum_add(sum, parts[0], 1);
        clr_sum_add(sum, parts[1], 1);
    }
}

/* Reduces values of columns, one of which is narrow, widened as many at once as stay in a
   processor's first cache. */
static void reduce_narrow(enum clr_operation operation, enum clr_element element,
                          const struct clr_column *const arguments[2], size_t first, size_t count,
                          struct clr_state *state)
{
    int64_t rooms[2][NARROW_PIECE];
    const bool are_short = operation == CLR_DOT && element == CLR_INTEGER &&
                           is_short(arguments[0]) && is_short(arguments[1]);
    const size_t end = first + count;
    const int64_t *x, *y;
    size_t i;

    if (takes_words(operation, element, arguments[0])) {
        reduce_words(operation, arguments[0], first, count, state);
        return;
    }
    if (operation == CLR_SUM && element == CLR_REAL && has_short_decimals(arguments[0])) {
        add_decimals(arguments[0], first, count, &state->sum);
        return;
    }
    for (; first < end; first += count) {
        count = end - first < NARROW_PIECE ? end - first : NARROW_PIECE;
        x = clr_column_values(arguments[0], first, count, rooms[0]);
        y = arguments[1] == NULL ? NULL : clr_column_values(arguments[1], first, count, rooms[1]);
        for (i = 0; i < count && are_short; i++)
            rooms[0][i] *= y[i];
        clr_host_reduce_arrays(are_short ? CLR_SUM : operation, element, x, y, count, state);
    }
}

static void reduce_piece(const struct clr_tally *tally, const struct clr_column *const arguments[2],
                         size_t first, size_t count, struct clr_state *state)
{
    const struct clr_column *x = arguments[0], *y = arguments[1];
    enum clr_element element = x->kind == CLR_TAG_REAL ? CLR_REAL : CLR_INTEGER;
    int operation;

    for (operation = 0; operation < CLR_OPERATIONS; operation++) {
        if (!(tally->operations & (1u << operation)))
            continue;
        if (x->words != NULL || (operation == CLR_DOT && y->words != NULL))
            reduce_narrow((enum clr_operation)operation, element, arguments, first, count, state);
        else
            clr_host_reduce_arrays((enum clr_operation)operation, element, x->values + first,
                                   y == NULL || y->words != NULL ? NULL : y->values + first, count,
                                   state);
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

/* ---- Sums of some rows. */

/* INTEGERs whose sizes are not above this have a sum of 64 bits in a block. */
#define MOST_SUMMED (INT64_MAX / CLR_BLOCK)

/* Whether the values of a column, all of them numbers, are kept in a way that tells the sum of rows
   beside each other without a look at each value. */
static bool sums_rows(const struct clr_column *column)
{
    const struct clr_frame *frame = &column->frame;

    if (column->words == NULL)
        return false;
    return frame->power == 0.0
               ? column->kind == CLR_TAG_INTEGER && frame->known_least >= -MOST_SUMMED &&
                     frame->known_greatest <= MOST_SUMMED
               : column->kind == CLR_TAG_REAL && has_short_decimals(column);
}

bool clr_block_keeps_sums(const struct clr_block *block, const struct clr_tally *tally)
{
    return clr_tally_takes_zones(tally) &&
           block->scan->instructions[tally->x].opcode == CLR_OP_COLUMN &&
           sums_rows(clr_block_column(block, tally->x));
}

void clr_column_sum_rows(const struct clr_column *column, size_t first, size_t count,
                         int64_t parts[2])
{
    double reals[2];

    if (column->frame.power == 0.0) {
        parts[0] = (int64_t)sum_words(column, first, count);
        return;
    }
    sum_decimals(column, first, count, reals);
    parts[0] = clr_bits_of(reals[0]);
    parts[1] = clr_bits_of(reals[1]);
}

/* Adds the numbers of a block, whose sum is known, to what a tally has found. */
static void reduce_zone(const struct clr_tally *tally, const struct clr_zone *ends,
                        const struct clr_zone_sum *sum, struct clr_state *state)
{
    const bool real = (ends->types & CLR_TYPE(CLR_TAG_REAL)) != 0;
    struct clr_range *range = real ? &state->reals : &state->integers;

    if (sum->numbers == 0)
        return;
    if ((tally->operations & OPERATION(CLR_SUM)) != 0 && real) {
        clr_sum_add(&state->sum, clr_real_of(sum->parts[0]), 1);
        clr_sum_add(&state->sum, clr_real_of(sum->parts[1]), 1);
    } else if ((tally->operations & OPERATION(CLR_SUM)) != 0) {
        clr_sum_add_integer(&state->sum, sum->parts[0], 1);
    }
    if ((tally->operations & OPERATION(CLR_EXTREMES)) != 0) {
        clr_range_add(range, real ? clr_real_to_key(ends->least) : ends->least);
        clr_range_add(range, real ? clr_real_to_key(ends->greatest) : ends->greatest);
    }
}

/* The same as reduce_piece(), by what zones tell of the blocks from the piece's first row on. */
static void reduce_blocks(const struct whole *whole, size_t first, size_t count)
{
    const struct clr_column *column = whole->arguments[0];
    const struct clr_zone_sum *sum;
    const size_t last = first + count;
    size_t rows;

    for (; first < last; first += rows) {
        rows = last - first < CLR_BLOCK ? last - first : CLR_BLOCK;
        sum = clr_column_zone_sum(column, first / CLR_BLOCK);
        if (sum != NULL)
            reduce_zone(whole->tally, &clr_column_zones(column)->zones[first / CLR_BLOCK], sum,
                        whole->state);
        else
            reduce_piece(whole->tally, whole->arguments, first, rows, whole->state);
    }
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
        for (i = 0; i < count; i++) {
            if (clr_tally_takes_zones(wholes[i].tally) &&
                clr_column_zones(wholes[i].arguments[0]) != NULL)
                reduce_blocks(&wholes[i], first, rows);
            else
                reduce_piece(wholes[i].tally, wholes[i].arguments, first, rows, wholes[i].state);
        }
    }
    return CLR_SCAN_DONE;
}

/* What blocks of rows are taken into. */
struct collectors {
    struct collector all[CLR_MOST_TALLIES];
    int count;
};

/* Takes the selected rows of the block into all tallies. */
static enum clr_scan_outcome collect(void *taker, struct clr_block *block, const uint64_t *selected,
                                     size_t count)
{
    struct collectors *collectors = taker;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    (void)count;
    for (i = 0; i < collectors->count && outcome == CLR_SCAN_DONE; i++)
        outcome = collector_take(&collectors->all[i], block, selected);
    return outcome;
}

/* Whether what is kept of a column's values tells all that a tally needs of some rows. */
static bool takes_kept(const struct clr_tally *tally, const struct clr_block *block)
{
    return (tally->operations & ~OPERATION(CLR_SUM)) == 0 && clr_block_keeps_sums(block, tally);
}

/* Takes all rows of the block into a tally, whose argument's zone tells of them, or what is kept of
   its values. */
static void collect_block(const struct collector *collector, const struct clr_block *block,
                          const struct clr_zone_sum *sum)
{
    const struct clr_column *column = clr_block_column(block, collector->tally->x);
    struct clr_zone_sum own = {.numbers = (uint32_t)block->count};
    struct clr_zone of_kept = {.types = 0};
    const struct clr_zone *ends = &of_kept;

    if (sum == NULL) {
        of_kept.types = (uint8_t)CLR_TYPE(column->kind);
        clr_column_sum_rows(column, block->first, block->count, own.parts);
        sum = &own;
    } else {
        ends = clr_block_zone(block, collector->tally->x);
    }
    collector->state->count += (int64_t)sum->numbers;
    if (ends->types & CLR_TYPE(CLR_TAG_REAL))
        collector->state->non_integers += (int64_t)sum->numbers;
    reduce_zone(collector->tally, ends, sum, collector->state);
}

/* Takes all rows of the block into all tallies without running it. Returns false if one needs that.
 */
static bool collect_zones(void *taker, const struct clr_block *block, uint64_t *left,
                          size_t *left_count)
{
    const struct collectors *collectors = taker;
    const struct clr_zone_sum *sums[CLR_MOST_TALLIES];
    int i;

    for (i = 0; i < collectors->count; i++) {
        const struct clr_tally *tally = collectors->all[i].tally;

        if (tally->filter >= 0 ||
            (!clr_block_find_sum(block, tally, &sums[i]) && !takes_kept(tally, block)))
            return false;
    }
    for (i = 0; i < collectors->count; i++) {
        if (collectors->all[i].tally->x < 0)
            collectors->all[i].state->count += (int64_t)block->count;
        else
            collect_block(&collectors->all[i], block, sums[i]);
    }
    (void)left;
    *left_count = 0;
    return true;
}

static enum clr_scan_outcome run_blocks(const struct clr_scan *scan, size_t first, size_t last,
                                        struct collectors *collectors, const atomic_bool *stop)
{
    struct clr_taking taking = {.take = collect, .take_zones = collect_zones, .taker = collectors};
    enum clr_scan_outcome outcome = clr_blocks_take(scan, first, last, &taking, stop);
    int i;

    for (i = 0; i < collectors->count && outcome == CLR_SCAN_DONE; i++)
        collector_flush(&collectors->all[i]);
    return outcome;
}

enum clr_scan_outcome clr_evaluate(const struct clr_scan *scan, size_t first, size_t last,
                                   struct clr_state *states, struct clr_share *shares,
                                   const atomic_bool *stop)
{
    struct collectors collectors;
    struct whole wholes[CLR_MOST_TALLIES];
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int whole_count = 0, i;
    uint8_t kinds[CLR_MOST_COLUMNS];
    struct clr_share *share;
    bool reduces;

    collectors.count = 0;
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
        } else if (!collector_init(&collectors.all[collectors.count++], whole->tally, whole->state,
                                   share)) {
            outcome = CLR_SCAN_FAILED;
        }
    }
    if (outcome == CLR_SCAN_DONE)
        outcome = reduce_columns(wholes, whole_count, first, last, stop);
    if (outcome == CLR_SCAN_DONE && collectors.count > 0)
        outcome = run_blocks(scan, first, last, &collectors, stop);
    for (i = 0; i < collectors.count; i++)
        collector_free(&collectors.all[i]);
    return outcome;
}

/* ---- Zones of columns. */

_Static_assert((int)CLR_ZONE_ROWS == (int)CLR_BLOCK, "a zone is one of a scan's blocks");

static void find_codes(const struct clr_column *column, size_t first, size_t count,
                       struct clr_zone *zone)
{
    const struct clr_frame frame = {.bytes = column->code_bytes};

    *zone = (struct clr_zone){.types = 0};
    clr_frame_range(&frame, column->codes, first, count, &zone->least, &zone->greatest);
}

/* Finds the sum of REALs as two doubles, which is known unless they differ too much in size. */
static void find_real_sum(const int64_t *values, size_t count, struct clr_zone_sum *sum)
{
    struct clr_state state;
    double part;
    int i;

    clr_state_clear(&state);
    clr_host_reduce_arrays(CLR_SUM, CLR_REAL, values, NULL, count, &state);
    sum->is_known = !clr_sum_is_unusual(&state.sum);
    for (i = 0; i < 2 && sum->is_known; i++) {
        part = clr_sum_round(&state.sum, 1);
        sum->parts[i] = clr_bits_of(part);
        sum->is_known = isfinite(part);
        clr_sum_add(&state.sum, part, -1);
    }
    sum->is_known = sum->is_known && clr_sum_round(&state.sum, 1) == 0.0;
}

/* Finds the extremes and the sum of values of one type. */
static void find_numbers(const int64_t *values, size_t count, enum clr_tag tag,
                         struct clr_zone *zone, struct clr_zone_sum *sum)
{
    const bool real = tag == CLR_TAG_REAL;
    struct clr_state state;
    const struct clr_range *range = real ? &state.reals : &state.integers;
    size_t i;

    clr_state_clear(&state);
    clr_host_reduce_arrays(CLR_EXTREMES, real ? CLR_REAL : CLR_INTEGER, values, NULL, count,
                           &state);
    zone->least = real ? clr_real_to_key(range->least) : range->least;
    zone->greatest = real ? clr_real_to_key(range->greatest) : range->greatest;
    *sum = (struct clr_zone_sum){.numbers = (uint32_t)count};
    if (real) {
        find_real_sum(values, count, sum);
        return;
    }
    sum->is_known = zone->least >= -MOST_SUMMED && zone->greatest <= MOST_SUMMED;
    for (i = 0; i < count && sum->is_known; i++)
        sum->parts[0] += values[i];
}

/* Finds what a register has, the only one of its block. */
static void find_values(const struct clr_block *block, const struct clr_register *values,
                        struct clr_zone *zone, struct clr_zone_sum *sum)
{
    const unsigned numbers = values->types & (CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL));
    const enum clr_tag tag = numbers & CLR_TYPE(CLR_TAG_REAL) ? CLR_TAG_REAL : CLR_TAG_INTEGER;
    uint64_t all[CLR_BLOCK_WORDS], rows[CLR_BLOCK_WORDS];
    int64_t gathered[CLR_BLOCK];

    *zone = (struct clr_zone){.types = (uint8_t)values->types};
    *sum = (struct clr_zone_sum){.is_known = values->types == CLR_TYPE(CLR_TAG_NULL)};
    if (numbers != CLR_TYPE(tag))
        return;
    if (values->types == numbers) {
        find_numbers(values->values, block->count, tag, zone, sum);
        return;
    }
    clr_filter_select_all(block, all);
    clr_row_set_find(block->loops, values, tag, all, rows);
    find_numbers(gathered, block->loops->gather(values->values, rows, gathered, values->values),
                 tag, zone, sum);
    sum->is_known = sum->is_known && (values->types & CLR_TYPE(CLR_TAG_BYTES)) == 0;
}

/* Finds the extremes and the sum of a block of such a column. */
static void find_words(const struct clr_column *column, size_t first, size_t count,
                       struct clr_zone *zone, struct clr_zone_sum *sum)
{
    const struct clr_frame *frame = &column->frame;

    *zone = (struct clr_zone){.types = (uint8_t)CLR_TYPE(column->kind)};
    *sum = (struct clr_zone_sum){.is_known = true, .numbers = (uint32_t)count};
    clr_frame_range(frame, column->words, first, count, &zone->least, &zone->greatest);
    zone->least = clr_frame_bits(frame, zone->least);
    zone->greatest = clr_frame_bits(frame, zone->greatest);
    clr_column_sum_rows(column, first, count, sum->parts);
}

static bool find_zones_of_values(struct clr_column *column, size_t first, size_t count,
                                 struct clr_zones *zones)
{
    const struct clr_instruction load = {.opcode = CLR_OP_COLUMN};
    struct clr_tally tally = {.x = 0, .y = -1, .filter = -1};
    const struct clr_scan scan = {.instruction_count = 1,
                                  .column_count = 1,
                                  .tally_count = 1,
                                  .filter = -1,
                                  .instructions = &load,
                                  .columns = &column,
                                  .rows = column->rows,
                                  .tallies = &tally};
    struct clr_block *block = clr_block_new(&scan);
    size_t i;

    if (block == NULL)
        return false;
    for (i = first; i < first + count; i++) {
        clr_block_set_rows(block, i * CLR_BLOCK, clr_zone_rows(column->rows, i));
        clr_block_run(block, CLR_STAGE_TALLIES);
        find_values(block, &block->registers[0], &zones->zones[i], &zones->sums[i]);
    }
    clr_memory_free(block);
    return true;
}

bool clr_column_find_zones(struct clr_column *column, size_t first, size_t count,
                           struct clr_zones *zones)
{
    size_t i;

    if (column->codes == NULL && !sums_rows(column))
        return find_zones_of_values(column, first, count, zones);
    for (i = first; i < first + count; i++) {
        const size_t rows = clr_zone_rows(column->rows, i);

        if (column->codes != NULL)
            find_codes(column, i * CLR_BLOCK, rows, &zones->zones[i]);
        else
            find_words(column, i * CLR_BLOCK, rows, &zones->zones[i], &zones->sums[i]);
    }
    return true;
}
