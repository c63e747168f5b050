/*
 * Keeps a column that has been decoded, 8 bytes a row, in fewer bytes: first the bounds of its
 * values are found, and by those, from which the host chooses a frame, the values are narrowed. See
 * ext/numeric/values/narrow.h and decimals.h. By integers alone, so that every device can do it.
 *
 * Defined by the host: CPU (1: a work-item takes rows that follow each other).
 */

/* As in ext/numeric/values/decimals.h. */
#define MOST_DECIMAL (1L << 50)
#define MOST_POWER 1000000000L

/* As struct clr_found_bounds in ext/opencl/cells/narrowed_column.c: of the bits, and of the k by
   that power of ten; a power of 0: a value is no decimal. */
typedef struct {
    long least, greatest;
    long low, high;
    long power;
} bounds;

#if CPU
#define FOR_ROWS(i, rows)                                                                          \
    for (ulong items = get_global_size(0), item = get_global_id(0), share = (rows) / items,        \
               extra = (rows) % items, i = item * share + min(item, extra),                        \
               end = i + share + (item < extra);                                                   \
         i < end; i++)
#else
#define FOR_ROWS(i, rows) for (ulong i = get_global_id(0); i < (rows); i += get_global_size(0))
#endif

/*
 * Stores the only k that a REAL's bits can be k / power of, rounded to nearest. Returns whether
 * they are. The REAL is a significand over 2^places, and times the power an integer of 128 bits
 * over that: k is the nearest whole number. A quotient is rounded to the REAL where they differ by
 * less than half of the last place, which below a power of two is half as wide; it is no middle
 * between two.
 */
static inline bool split_decimal(long bits, long power, long *k)
{
    const ulong size = (ulong)bits & LONG_MAX, hidden = 1UL << 52;
    const int places = 1075 - (int)(size >> 52);
    const ulong significand = (size & (hidden - 1)) | hidden;
    const ulong low = significand * (ulong)power, high = mul_hi(significand, (ulong)power);
    ulong whole, back, back_low, differ, differ_low;
    bool is_above;

    *k = 0;
    if (bits == 0)
        return true;
    /* Numbers too large, infinities among them, and too small, as -0.0 is. */
    if (places < 1 || places > 127 || (places < 64 && high >> places != 0))
        return false;
    if (places < 64) {
        whole = (high << (63 - places) << 1 | low >> places) + (low >> (places - 1) & 1);
        back = whole >> (64 - places);
        back_low = whole << places;
    } else {
        whole = high >> (places - 64);
        whole += places == 64 ? low >> 63 : high >> (places - 65) & 1;
        back = whole << (places - 64);
        back_low = 0;
    }
    if (whole == 0 || whole > MOST_DECIMAL - (bits >= 0))
        return false;
    differ_low = low - back_low;
    differ = high - back - (low < back_low);
    is_above = differ == 0;
    if (!is_above && ~differ == 0 && differ_low != 0) {
        differ = 0;
        differ_low = -differ_low;
    }
    *k = bits < 0 ? -(long)whole : (long)whole;
    return differ == 0 && differ_low < (ulong)power &&
           differ_low * (is_above && significand == hidden ? 4 : 2) < (ulong)power;
}

/* Goes on to the next power of ten. */
static inline void raise_power(bounds *of)
{
    of->power = of->power < MOST_POWER ? of->power * 10 : 0;
    if (of->low > of->high)
        return;
    of->low *= 10;
    of->high *= 10;
    if (of->low < -MOST_DECIMAL || of->high >= MOST_DECIMAL)
        of->power = 0;
}

static inline void add_decimal(bounds *to, long bits)
{
    long k = 0;

    while (to->power != 0 && !split_decimal(bits, to->power, &k))
        raise_power(to);
    to->low = min(to->low, k);
    to->high = max(to->high, k);
}

static inline void join_bounds(bounds *to, bounds other)
{
    to->least = min(to->least, other.least);
    to->greatest = max(to->greatest, other.greatest);
    while (to->power != 0 && to->power < other.power)
        raise_power(to);
    while (other.power != 0 && other.power < to->power)
        raise_power(&other);
    if (other.power == 0)
        to->power = 0;
    to->low = min(to->low, other.low);
    to->high = max(to->high, other.high);
}

/* Finds the bounds that each group's rows have. own: one for each work-item of the group. */
__kernel void find_bounds(__global const long *values, ulong rows, __local bounds *own,
                          __global bounds *found)
{
    bounds mine = {LONG_MAX, LONG_MIN, LONG_MAX, LONG_MIN, 1};

    FOR_ROWS(i, rows)
    {
        const long bits = values[i];

        mine.least = min(mine.least, bits);
        mine.greatest = max(mine.greatest, bits);
        if (mine.power != 0)
            add_decimal(&mine, bits);
    }
    own[get_local_id(0)] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) != 0)
        return;
    for (uint i = 1; i < get_local_size(0); i++)
        join_bounds(&mine, own[i]);
    found[get_group_id(0)] = mine;
}

/* Stores what a frame keeps of each value, in so many bytes, from the integer `least` on; power: of
   decimals, or 0. What does not fit sets *unfit. */
__kernel void narrow_values(__global const long *values, ulong rows, uint bytes, long least,
                            long power, __global void *words, __global uint *unfit)
{
    bool fits = true;

    FOR_ROWS(i, rows)
    {
        long k = values[i];
        ulong word;

        if (power != 0)
            fits = split_decimal(k, power, &k) && fits;
        word = (ulong)k - (ulong)least;
        fits = fits && word >> 8 * bytes == 0;
        if (bytes == 1)
            ((__global uchar *)words)[i] = (uchar)word;
        else if (bytes == 2)
            ((__global ushort *)words)[i] = (ushort)word;
        else
            ((__global uint *)words)[i] = (uint)word;
    }
    if (!fits)
        (void)atomic_or(unfit, 1U);
}
