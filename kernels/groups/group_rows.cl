/*
 * The kernel whose work-groups have records in local memory, for few places: group_rows_locally.
 * Follows grouping.cl.
 */
/*
 * The table has `copies` copies of the records, so that work-items next to each other seldom meet:
 * the lower halves of the words that are added; the upper halves of those that are no counts, since
 * a work-group has fewer rows than 2^32; and the other words. The same word of all places lies
 * together, so that work-items that add it seldom meet in a bank.
 */
typedef struct {
    __local uint *halves;
    __local ulong *mosts;
    uint first_place, held, place_count, copies, stride;
} group_table;

/*
 * Where the rows of a place lie beside each other, work-items next to each other meet, whatever the
 * copies: a work-item then keeps what its rows add while they are of one place, in `run`, and adds
 * it to the table before a row of another place. A work-group has neighbouring rows, so that this
 * is rare.
 */
#if IN_RUNS
#define COUNT(word) run[word]++
#define ADD(word, wide, value) run[word] += value
#define MOST(word, value) run[word] = max(run[word], value)
#define BEGIN_RUN                                                                                  \
    ulong run[WORDS] = {0};                                                                        \
    uint run_cell = NOWHERE;
#define TAKE_ROW_OF(cell)                                                                          \
    if (cell != run_cell) {                                                                        \
        END_RUN                                                                                    \
        run_cell = cell;                                                                           \
    }                                                                                              \
    TAKE_ROW
#define END_RUN                                                                                    \
    if (run_cell != NOWHERE) {                                                                     \
        FOR_EACH_ADD(END_ADD)                                                                      \
        FOR_EACH_MOST(END_MOST)                                                                    \
    }
#define END_ADD(word, wide)                                                                        \
    if (run[word] != 0) {                                                                          \
        volatile __local uint *low = lows + (word)*place_count + run_cell;                         \
        if (wide == NARROW)                                                                        \
            atomic_add(low, (uint)run[word]);                                                      \
        else                                                                                       \
            add_in_local(low, highs + (wide)*place_count + run_cell, run[word]);                   \
        run[word] = 0;                                                                             \
    }
#define END_MOST(word)                                                                             \
    if (run[word] != 0) {                                                                          \
        KEEP_MOST_LOCALLY(mosts + ((word)-ADDS) * place_count + run_cell, run[word]);              \
        run[word] = 0;                                                                             \
    }
#else
#define COUNT(word) atomic_inc(lows + (word)*place_count + cell)
#define ADD(word, wide, value)                                                                     \
    add_in_local(lows + (word)*place_count + cell, highs + (wide)*place_count + cell, value)
#if MOSTS > 0
#define MOST(word, value) KEEP_MOST_LOCALLY(mosts + ((word)-ADDS) * place_count + cell, value)
#else
#define MOST(word, value)
#endif
#define BEGIN_RUN
#define TAKE_ROW_OF(cell) TAKE_ROW
#define END_RUN
#endif

/* As atomics.cl has it, with the halves apart, so that neighbours lie in other banks. */
void add_in_local(volatile __local uint *low_half, volatile __local uint *high_half, ulong value)
{
    uint low = (uint)value, high = (uint)(value >> 32);

    if (atomic_add(low_half, low) > ~low)
        high++;
    if (high != 0)
        atomic_add(high_half, high);
}

/* Makes the table of place_count places, from the first one on, in memory, all zero but for what
   the first round has left in the records. */
group_table make_table(__local ulong *memory, uint places, uint first_place, uint place_count,
                       uint copies, __global const ulong *records, uint second_round)
{
    uint stride = place_count * (ADDS + WIDES) | 1, cells = copies * stride;
    group_table table = {(__local uint *)memory,
                         memory + (cells + 1) / 2,
                         first_place,
                         min(place_count, places - first_place),
                         place_count,
                         copies,
                         stride};

    for (uint i = get_local_id(0); i < cells; i += get_local_size(0))
        table.halves[i] = 0;
#if MOSTS > 0
    for (uint i = get_local_id(0); i < copies * place_count * MOSTS; i += get_local_size(0)) {
        uint cell = i % place_count, word = i / place_count % MOSTS;
        table.mosts[i] = IN_SECOND_ROUND && cell < table.held
                             ? records[(ulong)(first_place + cell) * WORDS + ADDS + word]
                             : 0;
    }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    return table;
}

/* Adds what the work-group has in its table to the records. */
void add_table(group_table table, __global ulong *records, uint second_round)
{
    uint held = table.held, place_count = table.place_count;
    /* Each work-group begins elsewhere: at the same place they would wait for each other. */
    uint shift = (uint)((ulong)held * get_group_id(0) / get_num_groups(0)) * ADDS;

    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < held * ADDS; i += get_local_size(0)) {
        uint number = (i + shift) % (held * ADDS), cell = number / ADDS, word = number % ADDS;
        uint wide = wide_numbers[word];
        uint low = word * place_count + cell, high = (ADDS + wide) * place_count + cell;
        ulong sum = 0;
        for (uint copy = 0; copy < table.copies; copy++) {
            sum += table.halves[copy * table.stride + low];
            if (wide != NARROW)
                sum += (ulong)table.halves[copy * table.stride + high] << 32;
        }
        if (sum != 0)
            ADD_TO_RECORD(records, (ulong)(table.first_place + cell) * WORDS + word, sum);
    }
#if MOSTS > 0
    for (uint i = get_local_id(0); i < held * MOSTS; i += get_local_size(0)) {
        uint cell = i / MOSTS, word = i % MOSTS;
        ulong most = 0;
        for (uint copy = 0; copy < table.copies; copy++)
            most = max(most, table.mosts[(copy * MOSTS + word) * place_count + cell]);
        if (most != 0)
            KEEP_MOST((volatile __global ulong *)records +
                          (ulong)(table.first_place + cell) * WORDS + ADDS + word,
                      most);
    }
#endif
}

/* Declares what the macros above have of the work-item's copy of a table. */
#define USE_TABLE(table)                                                                           \
    uint copy_of_item = get_local_id(0) % copies;                                                  \
    volatile __local uint *lows = table.halves + copy_of_item * table.stride;                      \
    volatile __local uint *highs = lows + place_count * ADDS;                                      \
    volatile __local ulong *mosts = table.mosts + copy_of_item * place_count * MOSTS;

/* Adds rows to records, in one of two rounds if there are more, and tells in the flags behind them,
   spills and spill_room what does not fit: see grouping.cl. A work-group has the records of
   place_count places: the first one has the first so many, the second the next, and so on, and when
   all are taken, the next one begins again, for other rows. */
__kernel void group_rows_locally(ROW_FORMALS ulong first_row, ulong rows,
                                 __constant long *parameters, uint places, uint place_count,
                                 uint copies, __global ulong *records, __global ulong *spills,
                                 uint spill_room, uint second_round, __local ulong *local_memory)
{
    row_doubts doubts = {0, 0, 0};
    volatile __global uint *flags = FLAGS_BEHIND(records, places);
    uint slices = (places + place_count - 1) / place_count, slice = get_group_id(0) % slices;
    group_table table = make_table(local_memory, places, slice * place_count, place_count, copies,
                                   records, second_round);
    USE_TABLE(table)
    BEGIN_RUN
#if IN_RUNS
    ulong step_rows = get_num_groups(0) / slices * BATCH;
    ulong part_rows = (rows + step_rows - 1) / step_rows * BATCH;
    ulong part_first = first_row + get_group_id(0) / slices * part_rows;
    BEGIN_ROWS(part_first, min(part_first + part_rows, first_row + rows), 0, get_local_size(0))
#else
    BEGIN_ROWS(first_row, first_row + rows, get_group_id(0) / slices * get_local_size(0),
               get_num_groups(0) / slices * get_local_size(0))
#endif

    FOR_EACH_BATCH
    {
        BEGIN_BATCH
        doubts.flags |= in_doubt ? UNSURE_ROW : 0;
#if !QUEUED
#pragma unroll
#endif
        FOR_EACH_ROUND
        {
            BEGIN_ROUND
            if (has_row) {
                uint place, cell;
                LOAD_ROW
                ROW_BODY
                FIND_PLACE
                cell = place - table.first_place;
                if (cell < table.held) {
                    TAKE_ROW_OF(cell)
                }
            }
        }
        END_BATCH
    }
    END_RUN
    tell_doubts(doubts, flags);
    add_table(table, records, second_round);
}
