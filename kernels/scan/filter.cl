/*
 * How a work-group goes through rows, and which of them pass the filter. Each work-item takes a
 * batch of rows beside each other, for which it loads the columns that the filter needs; it loads
 * the others if one of the rows passes. Or, where few rows pass, these wait in a queue until there
 * is one for each work-item, so that what follows is done side by side. Follows values_logic.cl and
 * the text that ext/opencl/scan/row_text.c makes, which defines:
 *
 * QUEUED: whether rows wait in a queue
 * FOR_EACH_TERM(X): X(TERM_number) for each term of the filter, all of which have to be true: the
 * doubtful ones first, and then those that take little time
 * TERM_number: a block that ends with WITHIN(), TRUTH(), SURE() or DOUBTFUL()
 * FILTER_PASSES: 0 if it is known that no row passes, else 1
 * FOR_EACH_FILTER_COLUMN(X): X(type, array) for each array of a column that the filter needs
 * FOR_EACH_OTHER_COLUMN(X): likewise, of the others
 * ROWS_AT_ONCE: rows of a batch, a power of two up to 8, unless that is more than MOST_BATCH
 * BRANCHES: whether a row that has failed branches past a truth. Where a kernel has few registers,
 * so many work-groups wait for memory at a time that this is quicker; where it has more, the truths
 * of a batch are loaded side by side.
 *
 * Defined by the host: MOST_BATCH, and MOST_ITEMS, the work-items of a work-group at most. Rows are
 * gone through so:
 *
 *     BEGIN_ROWS(first, last, item, items)
 *     FOR_EACH_BATCH {
 *         BEGIN_BATCH
 *         FOR_EACH_ROUND {
 *             BEGIN_ROUND
 *             if (has_row) {
 *                 LOAD_ROW
 *                 ... what there is of row `row`, of each array AT(array)
 *             }
 *         }
 *         END_BATCH
 *     }
 *
 * The rows are those from `first`, a multiple of BATCH, to before `last`, and are shared by so many
 * items, among which the work-group's first one has the number `item`. All items of a work-group
 * are in the same round. in_doubt tells whether one of the item's rows of the batch is in doubt.
 */

#if ROWS_AT_ONCE < MOST_BATCH
#define BATCH ROWS_AT_ONCE
#else
#define BATCH MOST_BATCH
#endif

#define FOR_EACH_BATCH for (; batch < end; batch += step)

/* A value of the row that is being looked at. */
#undef AT
#define AT(array) array##_of[load]

#define DECLARE_BATCH(type, array) type array##_of[BATCH];
#if BATCH == 8
#define LOAD_BATCH(type, array)                                                                    \
    vstore8(((__global const type##8 *)array)[i / BATCH], 0, array##_of);
#elif BATCH == 4
#define LOAD_BATCH(type, array)                                                                    \
    vstore4(((__global const type##4 *)array)[i / BATCH], 0, array##_of);
#elif BATCH == 2
#define LOAD_BATCH(type, array)                                                                    \
    vstore2(((__global const type##2 *)array)[i / BATCH], 0, array##_of);
#else
#define LOAD_BATCH(type, array) array##_of[0] = array[i];
#endif
#define LOAD_CUT_BATCH(type, array)                                                                \
    for (uint load = 0; load < BATCH; load++)                                                      \
        array##_of[load] = array[min(i + load, end - 1)];
/* Loads what the columns have of the item's rows of the batch, which the rows' end may cut. */
#define LOAD_COLUMNS(FOR_EACH)                                                                     \
    if (i + BATCH <= end) {                                                                        \
        FOR_EACH(LOAD_BATCH)                                                                       \
    } else {                                                                                       \
        FOR_EACH(LOAD_CUT_BATCH)                                                                   \
    }

/* The word of a narrow column is within bounds; the bit that a lookup has for a code; a register,
   where one that is doubtful may be unknown. The bits of rows that fail are not loaded. */
#define KEEP_IF(passes) pass_of[load] = pass_of[load] && (passes);
#define WITHIN(word, least, more) KEEP_IF((uint)(word) - (least) <= (more))
#if BRANCHES
#define TRUTH(truths, code)                                                                        \
    if (pass_of[load])                                                                             \
        pass_of[load] = truths[(uint)(code) >> 5] >> ((code)&31) & 1;
#else
#define TRUTH(truths, code)                                                                        \
    uint word = 0;                                                                                 \
    if (pass_of[load])                                                                             \
        word = truths[(uint)(code) >> 5];                                                          \
    KEEP_IF(word >> ((code)&31) & 1)
#endif
#define SURE(value) KEEP_IF(scalar_is_true(value))
#define DOUBTFUL(value)                                                                            \
    SURE(value)                                                                                    \
    in_doubt |= (uint)scalar_is_unknown(value) << load;

#define EVALUATE_TERM(term)                                                                        \
    for (uint load = 0; load < BATCH; load++)                                                      \
    term

/* Declares and loads what the filter needs of the batch from row i on, and finds out which of its
   rows pass, and which are in doubt: a bit for each. */
#define FILTER_ROWS                                                                                \
    uint pass_of[BATCH];                                                                           \
    FOR_EACH_FILTER_COLUMN(DECLARE_BATCH)                                                          \
    LOAD_COLUMNS(FOR_EACH_FILTER_COLUMN)                                                           \
    for (uint load = 0; load < BATCH; load++)                                                      \
        pass_of[load] = FILTER_PASSES;                                                             \
    FOR_EACH_TERM(EVALUATE_TERM)                                                                   \
    for (uint load = 0; load < BATCH; load++)                                                      \
        passing |= pass_of[load] << load;                                                          \
    if (i + BATCH > end) {                                                                         \
        const uint rows = i < end ? (1u << (uint)(end - i)) - 1 : 0;                               \
        passing &= rows;                                                                           \
        in_doubt &= rows;                                                                          \
    }

#if QUEUED

#define BEGIN_ROWS(first, last, item, items)                                                       \
    __local uint queue[MOST_ITEMS * (BATCH + 1)];                                                  \
    __local uint queued;                                                                           \
    ulong batch = (first) + (ulong)(item)*BATCH, step = (ulong)(items)*BATCH, end = last;          \
    ulong origin = batch;                                                                          \
    if (get_local_id(0) == 0)                                                                      \
        queued = 0;                                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);

/* Puts the rows that pass into the queue, by their distance from `origin`, and lets so many of them
   wait that each round but the last one has a row for each item. */
#define BEGIN_BATCH                                                                                \
    ulong i = batch + BATCH * get_local_id(0);                                                     \
    const uint items = get_local_size(0);                                                          \
    uint passing = 0, in_doubt = 0, count, rounds;                                                 \
    int is_last = batch + step >= end || batch + step - origin >= 1UL << 31;                       \
    {                                                                                              \
        FILTER_ROWS                                                                                \
    }                                                                                              \
    if (passing != 0) {                                                                            \
        uint at = atomic_add(&queued, popcount(passing));                                          \
        for (; passing != 0; passing &= passing - 1)                                               \
            queue[at++] = (uint)(i - origin) + 31 - clz(passing & -passing);                       \
    }                                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    count = queued;                                                                                \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                  \
    rounds = (count + (is_last ? items - 1 : 0)) / items;

/* The last ones of the queue are the first that are taken. */
#define FOR_EACH_ROUND for (uint round = 1; round <= rounds; round++)
#define BEGIN_ROUND                                                                                \
    const uint load = 0, place_in_queue = count + (uint)get_local_id(0) - round * items;           \
    const int has_row = place_in_queue < count;                                                    \
    const ulong row = has_row ? origin + queue[place_in_queue] : 0;

#define LOAD_VALUE(type, array) type array##_of[1] = {array[row]};
#define LOAD_ROW                                                                                   \
    FOR_EACH_FILTER_COLUMN(LOAD_VALUE)                                                             \
    FOR_EACH_OTHER_COLUMN(LOAD_VALUE)

#define END_BATCH                                                                                  \
    if (rounds > 0) {                                                                              \
        count -= min(count, rounds * items);                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (get_local_id(0) == 0)                                                                  \
            queued = count;                                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
    }                                                                                              \
    if (count == 0)                                                                                \
        origin = batch + step;

#else

#define BEGIN_ROWS(first, last, item, items)                                                       \
    ulong batch = (first) + (ulong)(item)*BATCH, step = (ulong)(items)*BATCH, end = last;

#define BEGIN_BATCH                                                                                \
    ulong i = batch + BATCH * get_local_id(0);                                                     \
    uint passing = 0, in_doubt = 0;                                                                \
    FILTER_ROWS                                                                                    \
    FOR_EACH_OTHER_COLUMN(DECLARE_BATCH)                                                           \
    if (passing != 0) {                                                                            \
        LOAD_COLUMNS(FOR_EACH_OTHER_COLUMN)                                                        \
    }

#define FOR_EACH_ROUND for (uint load = 0; load < BATCH; load++)
#define BEGIN_ROUND                                                                                \
    const ulong row = i + load;                                                                    \
    const int has_row = passing >> load & 1;
#define LOAD_ROW
#define END_BATCH

#endif
