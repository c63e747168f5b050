/*
 * The first pass of a scan: goes through the rows of columns, evaluates the scan's expressions, and
 * reduces what they give at once, so that no argument is ever written to memory. Follows reduce.cl
 * and values.cl, and the text that ext/opencl/scan_text.c makes, which defines:
 *
 * ROW_FORMALS, ROW_ARGUMENTS: the columns' buffers and the constants' bits, each followed by a
 * comma ROW_BODY: declarations of the registers, from those and the row's number i ROW_FILTER,
 * ROW_OWN_FILTER, ROW_X, ROW_Y: registers, or scalar_integer(1) where there is none ROW_TAKES: 0 if
 * rows are counted and nothing else
 */

/* What is added to 64-bit counts, then flags: see CLR_COUNT_WORDS. */
#define COUNTED 0
#define NON_INTEGERS 1
#define UNSURE_WORD 4
#define INEXACT_WORD 5
#define COUNTS_START (2 * DIGITS + 4)

#define ROW_COUNTS 1
#define ROW_IS_NO_INTEGER 2
#define ROW_TAKEN 4
#define ROW_UNSURE 8
#define ROW_INEXACT 16

/* What is no number can be counted, and nothing else. */
#define ROW_UNSURE_FROM (ROW_TAKES ? VALUE_OTHER : VALUE_UNSURE)

/* With 32-bit atomics alone, as in exact.cl, which not every program has. */
#define DEFINE_COUNT_TO(name, space)                                                               \
    void name(volatile space uint *words, uint count, ulong value)                                 \
    {                                                                                              \
        uint low = (uint)value, high = (uint)(value >> 32);                                        \
        if (low != 0 && atomic_add(words + 2 * count, low) > ~low)                                 \
            high++;                                                                                \
        if (high != 0)                                                                             \
            atomic_add(words + 2 * count + 1, high);                                               \
    }
DEFINE_COUNT_TO(count_in_group, __local)
DEFINE_COUNT_TO(count_in_result, __global)

#if REAL && OPERANDS == 2
/* A REAL, or the INTEGER if it is one exactly: others are the host's. */
double take_factor(scalar value, uint *found)
{
    if (value.tag == VALUE_INTEGER && (ulong)value.bits + (1UL << 53) > 1UL << 54)
        *found = (*found & ~ROW_TAKEN) | ROW_INEXACT;
    return scalar_to_real(value);
}
#endif

/* Returns what row i is, and its operands if it is ROW_TAKEN. */
uint look_at_row(ROW_FORMALS ulong i, element *x, element *y)
{
    ROW_BODY
    scalar filter = ROW_FILTER, own_filter = ROW_OWN_FILTER, x_value = ROW_X, y_value = ROW_Y;
    int integers = x_value.tag == VALUE_INTEGER && y_value.tag == VALUE_INTEGER;
    uint found = ROW_COUNTS;

    *x = *y = 0;
    if (scalar_is_unknown(filter))
        return ROW_UNSURE;
    if (!scalar_is_true(filter))
        return 0;
    if (scalar_is_unknown(own_filter))
        return ROW_UNSURE;
    if (!scalar_is_true(own_filter))
        return 0;
    /* In this order, which decides where one is NULL and the other unsure. */
    if (x_value.tag >= ROW_UNSURE_FROM || y_value.tag == VALUE_UNSURE)
        return ROW_UNSURE;
    if (x_value.tag == VALUE_NULL)
        return 0;
    if (y_value.tag >= ROW_UNSURE_FROM)
        return ROW_UNSURE;
    if (y_value.tag == VALUE_NULL)
        return 0;
    if (!integers)
        found |= ROW_IS_NO_INTEGER;
#if ROW_TAKES
#if OPERANDS == 2
    if (integers == !REAL)
        found |= ROW_TAKEN;
#else
    if (x_value.tag == (REAL || KEYS ? VALUE_REAL : VALUE_INTEGER))
        found |= ROW_TAKEN;
#endif
#if !REAL
    *x = x_value.bits;
    *y = y_value.bits;
#elif OPERANDS == 2
    if (!integers) {
        *x = take_factor(x_value, &found);
        *y = take_factor(y_value, &found);
    }
#else
    *x = VALUE_REAL_OF(x_value.bits);
#endif
#endif
    return found;
}

typedef struct {
    ulong counted, non_integers;
    uint flags;
} row_counts;

void count_row(row_counts *counts, uint found)
{
    counts->counted += found & ROW_COUNTS;
    counts->non_integers += (found & ROW_IS_NO_INTEGER) != 0;
    counts->flags |= found;
}

/* Adds the counts of all groups to wide_result, behind the long accumulator. */
__kernel void scan_first(ROW_FORMALS ulong count, __global partial *result,
                         __local partial *scratch, __global uint *wide_result,
                         __global uint *results, uint number)
{
    WIDE_BEGIN
    __local uint group_counts[4];
    running sum = running_zero();
    row_counts counts = {0, 0, 0};
    partial mine;
    uint word;
#if CPU
    /* One contiguous run for each work-item; what is taken is collected to vectors. */
    ulong item = get_global_id(0), items = get_global_size(0);
    ulong share = count / items, extra = count % items;
    ulong i = item * share + min(item, extra);
    ulong end = i + share + (item < extra);
    element x[LANES], y[LANES];
    uint lanes_taken = 0;

    for (; i < end; i++) {
        uint found = look_at_row(ROW_ARGUMENTS i, x + lanes_taken, y + lanes_taken);
        count_row(&counts, found);
        lanes_taken += (found & ROW_TAKEN) != 0;
        if (lanes_taken == LANES) {
            running_take(&sum, vload8(0, x), vload8(0, y) WIDE_ARGUMENT);
            lanes_taken = 0;
        }
    }
    if (lanes_taken > 0) {
        /* Filled up with values that change nothing. */
        for (uint lane = lanes_taken; lane < LANES; lane++) {
            x[lane] = PADDING(x[0]);
            y[lane] = 0;
        }
        running_take(&sum, vload8(0, x), vload8(0, y) WIDE_ARGUMENT);
    }
#else
    ulong i = get_global_id(0), step = get_global_size(0);

    for (; i + (LOADS - 1) * step < count; i += LOADS * step) {
        element x[LOADS], y[LOADS];
        uint found[LOADS];
#pragma unroll
        for (uint load = 0; load < LOADS; load++)
            found[load] = look_at_row(ROW_ARGUMENTS i + load * step, x + load, y + load);
#pragma unroll
        for (uint load = 0; load < LOADS; load++) {
            count_row(&counts, found[load]);
            if (found[load] & ROW_TAKEN)
                running_take(&sum, x[load], y[load] WIDE_ARGUMENT);
        }
    }
    for (; i < count; i += step) {
        element x, y;
        uint found = look_at_row(ROW_ARGUMENTS i, &x, &y);
        count_row(&counts, found);
        if (found & ROW_TAKEN)
            running_take(&sum, x, y WIDE_ARGUMENT);
    }
#endif
    for (word = get_local_id(0); word < 4; word += get_local_size(0))
        group_counts[word] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    count_in_group(group_counts, COUNTED, counts.counted);
    count_in_group(group_counts, NON_INTEGERS, counts.non_integers);
    if (counts.flags & ROW_UNSURE)
        wide_result[COUNTS_START + UNSURE_WORD] = 1;
    if (counts.flags & ROW_INEXACT)
        wide_result[COUNTS_START + INEXACT_WORD] = 1;
    mine = running_finish(sum WIDE_ARGUMENT);
    mine = group_merge(mine, scratch WIDE_ARGUMENT);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        result[get_group_id(0)] = mine;
        for (word = 0; word < 2; word++)
            count_in_result(wide_result + COUNTS_START, word,
                            (ulong)group_counts[2 * word + 1] << 32 | group_counts[2 * word]);
    }
    WIDE_END
    publish(mine, wide_result, results, number);
}
