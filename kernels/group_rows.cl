/*
 * The kernels that go through the rows, this text twice: IN_LOCAL is 1 for the one whose groups'
 * records are in local memory, and 0 for the one that adds to global memory. Follows grouping.cl.
 */
#undef COUNT
#undef ADD
#undef MOST
#undef AT
#undef DECLARE
#undef LOAD
#undef TAKE_ROW
#undef TAKE_NUMBER
/* Several rows' values are on their way at the same time. */
#define AT(array) array##_of[load]
#define DECLARE(type, array) type array##_of[LOADS];
#define LOAD(type, array) array##_of[load] = array[i + load * step];
#if IN_LOCAL
/*
 * The table has `copies` copies of the records, so that work-items next to each other seldom meet:
 * the lower halves of the words that are added; the upper halves of those that are no counts, since
 * a work-group has fewer rows than 2^32; and the other words. The same word of all places lies
 * together, so that work-items that add it seldom meet in a bank.
 */
#define COUNT(word) atomic_inc(lows + (word)*place_count + place)
#define ADD(word, wide, value)                                                                     \
    add_in_local(lows + (word)*place_count + place, highs + (wide)*place_count + place, value)
#if MOSTS > 0
#define MOST(word, value) atom_max(mosts + ((word)-ADDS) * place_count + place, value)
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

#else
#define COUNT(word) ADD_TO_RECORD(records, (ulong)place *WORDS + (word), 1UL)
#define ADD(word, wide, value) ADD_TO_RECORD(records, (ulong)place *WORDS + (word), value)
#if MOSTS > 0
#define MOST(word, value)                                                                          \
    atom_max((volatile __global ulong *)records + (ulong)place * WORDS + (word), value)
#endif
#endif
#if MOSTS == 0
#define MOST(word, value)
#endif

#if BY_FIRST
#define TAKE_NUMBER MOST(WORDS - 1, ~(i + load * step));
#else
#define TAKE_NUMBER
#endif
#define TAKE_ROW                                                                                   \
    ROW_BODY                                                                                       \
    scalar filter = ROW_FILTER;                                                                    \
    if (scalar_is_unknown(filter)) {                                                               \
        doubts.flags |= UNSURE_ROW;                                                                \
    } else if (scalar_is_true(filter)) {                                                           \
        int outside = 0;                                                                           \
        uint place = 0;                                                                            \
        FOR_EACH_KEY(KEY)                                                                          \
        if (outside)                                                                               \
            doubts.flags |= NO_PLACE;                                                              \
        place -= first_place;                                                                      \
        if (!outside && place < held) {                                                            \
            COUNT(0);                                                                              \
            FOR_EACH_TALLY(TALLY)                                                                  \
            TAKE_NUMBER                                                                            \
        }                                                                                          \
    }

/*
 * Adds rows to records, and tells in flags, spills and spill_room what does not fit: see
 * grouping.cl. In local memory, a work-group has the records of place_count places: the first one
 * has the first so many, the second the next, and so on, and when all are taken, the next one
 * begins again, for other rows. In global memory these are all places.
 */
__kernel void
#if IN_LOCAL
group_rows_locally
#else
group_rows_globally
#endif
    (ROW_FORMALS ulong rows, __constant long *parameters, uint places, uint place_count,
     uint copies, __global ulong *records, volatile __global uint *flags, __global ulong *spills,
     uint spill_room, __local ulong *local_memory)
{
    row_doubts doubts = {0, 0, 0};
#if IN_LOCAL
    uint slices = (places + place_count - 1) / place_count;
    uint first_place = get_group_id(0) % slices * place_count;
    uint held = min(place_count, places - first_place);
    uint stride = place_count * (ADDS + WIDES) | 1, cells = copies * stride;
    uint mine = get_local_id(0) % copies;
    __local uint *table = (__local uint *)local_memory;
    volatile __local uint *lows = table + mine * stride, *highs = lows + place_count * ADDS;
    __local ulong *most_table = local_memory + (cells + 1) / 2;
    volatile __local ulong *mosts = most_table + mine * place_count * MOSTS;
    ulong item = get_group_id(0) / slices * get_local_size(0) + get_local_id(0);
    ulong items = (get_num_groups(0) / slices) * get_local_size(0);
    uint cell;

    for (cell = get_local_id(0); cell < cells; cell += get_local_size(0))
        table[cell] = 0;
    for (cell = get_local_id(0); cell < copies * place_count * MOSTS; cell += get_local_size(0))
        most_table[cell] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#else
    const uint first_place = 0, held = places;
    ulong item = get_global_id(0), items = get_global_size(0);
#endif
#if CPU
    /* One contiguous run for each work-item: a CPU's prefetchers follow it. */
    ulong share = rows / items, extra = rows % items;
    ulong i = item * share + min(item, extra), end = i + share + (item < extra), step = 1;
#else
    ulong i = item, end = rows, step = items;
#endif

    for (; i < end; i += LOADS * step) {
        FOR_EACH_COLUMN(DECLARE)
        if (i + (LOADS - 1) * step < end) {
#pragma unroll
            for (uint load = 0; load < LOADS; load++) {
                FOR_EACH_COLUMN(LOAD)
            }
#pragma unroll
            for (uint load = 0; load < LOADS; load++) {
                TAKE_ROW
            }
        } else {
            for (uint load = 0; load < LOADS && i + load * step < end; load++) {
                FOR_EACH_COLUMN(LOAD)
                TAKE_ROW
            }
        }
    }
    if (doubts.flags != 0)
        atomic_or(flags + DOUBTS_WORD, doubts.flags);
    if (doubts.types != 0)
        atomic_or(flags + TYPES_WORD, doubts.types);
    if (doubts.spilled != 0)
        atomic_or(flags + SPILLED_WORD, doubts.spilled);
#if IN_LOCAL
    barrier(CLK_LOCAL_MEM_FENCE);
    /* Each work-group begins elsewhere: at the same place they would wait for each other. */
    uint shift = (uint)((ulong)held * get_group_id(0) / get_num_groups(0)) * ADDS;
    for (uint i = get_local_id(0); i < held * ADDS; i += get_local_size(0)) {
        uint cell = (i + shift) % (held * ADDS), place = cell / ADDS, word = cell % ADDS;
        uint wide = wide_numbers[word];
        uint low = word * place_count + place, high = (ADDS + wide) * place_count + place;
        ulong sum = 0;
        for (uint copy = 0; copy < copies; copy++) {
            sum += table[copy * stride + low];
            if (wide != NARROW)
                sum += (ulong)table[copy * stride + high] << 32;
        }
        if (sum != 0)
            ADD_TO_RECORD(records, (ulong)(first_place + place) * WORDS + word, sum);
    }
#if MOSTS > 0
    for (cell = get_local_id(0); cell < held * MOSTS; cell += get_local_size(0)) {
        uint place = cell / MOSTS, word = cell % MOSTS;
        ulong most = 0;
        for (uint copy = 0; copy < copies; copy++)
            most = max(most, most_table[(copy * MOSTS + word) * place_count + place]);
        if (most != 0)
            atom_max((volatile __global ulong *)records + (ulong)(first_place + place) * WORDS +
                         ADDS + word,
                     most);
    }
#endif
#endif
}
