/*
 * Takes all rows of a narrow column of INTEGERs, for a scan that does nothing else: their sum, or
 * extremes, of distances from the least value of the column's frame, and only in the end of the
 * values, which have more bits. Follows row.cl for an INTEGER kind, and the text of
 * ext/opencl/scan/scan_text.c, which defines:
 *
 * WHOLE: the bytes of a distance, 1, 2 or 4; 0 for other scans
 * WHOLE_SUMS: 1 for the sum, 0 for the extremes
 */
#if WHOLE

/* Distances in the 16 bytes that a work-item loads at a time. */
#define BLOCK (16 / WHOLE)

#if WHOLE == 1
typedef uchar whole_word;
typedef uchar16 whole_words;
#define AS_WHOLE_WORDS(words) as_uchar16(words)
#define STORE_WHOLE_WORDS(vector, array) vstore16(vector, 0, array)
#elif WHOLE == 2
typedef ushort whole_word;
typedef ushort8 whole_words;
#define AS_WHOLE_WORDS(words) as_ushort8(words)
#define STORE_WHOLE_WORDS(vector, array) vstore8(vector, 0, array)
#else
typedef uint whole_word;
typedef uint4 whole_words;
#define AS_WHOLE_WORDS(words) (words)
#define STORE_WHOLE_WORDS(vector, array) vstore4(vector, 0, array)
#endif

#if WHOLE_SUMS

/* A work-item has fewer than 2^32 distances, each of which is below 2^32. */
typedef ulong whole_part;

void whole_part_init(whole_part *part)
{
    *part = 0;
}

/* Several distances that share a word are added at once, as many as can't leave their bits. */
void whole_part_take(whole_part *part, uint4 words)
{
#if WHOLE == 1
    uint4 pairs = (words & 0xff00ff) + (words >> 8 & 0xff00ff);
    uint sums = pairs.x + pairs.y + pairs.z + pairs.w;
    *part += (sums & 0xffff) + (sums >> 16);
#elif WHOLE == 2
    uint4 sums = (words & 0xffff) + (words >> 16);
    *part += sums.x + sums.y + sums.z + sums.w;
#else
    *part += (ulong)words.x + words.y + words.z + words.w;
#endif
}

void whole_part_take_one(whole_part *part, whole_word one)
{
    *part += one;
}

void whole_part_finish(const whole_part *part, ulong count, long least, running *sum)
{
    running_add_times(sum, least, count);
    running_add(sum, *part, 0, 0);
}

#else

typedef struct {
    whole_words least, greatest;
} whole_part;

void whole_part_init(whole_part *part)
{
    part->least = (whole_word)-1;
    part->greatest = 0;
}

void whole_part_take(whole_part *part, uint4 words)
{
    part->least = min(part->least, AS_WHOLE_WORDS(words));
    part->greatest = max(part->greatest, AS_WHOLE_WORDS(words));
}

void whole_part_take_one(whole_part *part, whole_word one)
{
    part->least = min(part->least, (whole_words)one);
    part->greatest = max(part->greatest, (whole_words)one);
}

void whole_part_finish(const whole_part *part, ulong count, long least, running *range)
{
    whole_word low[BLOCK], high[BLOCK];

    STORE_WHOLE_WORDS(part->least, low);
    STORE_WHOLE_WORDS(part->greatest, high);
    for (uint i = 0; i < BLOCK && count > 0; i++) {
        running_take(range, least + low[i], 0);
        running_take(range, least + high[i], 0);
    }
}

#endif

/* values begin at a multiple of 16 bytes. */
void take_whole(running *result, row_counts *counts, __global const whole_word *restrict values,
                long least, ulong count)
{
    __global const uint4 *restrict words = (__global const uint4 *)values;
    ulong blocks = count / BLOCK, taken = 0;
    whole_part part;
#if CPU
    ulong item = get_global_id(0), items = get_global_size(0);
    ulong share = blocks / items, extra = blocks % items;
    ulong i = item * share + min(item, extra);
    ulong end = i + share + (item < extra), stride = 1;
#else
    ulong i = get_global_id(0), end = blocks, stride = get_global_size(0);
#endif

    whole_part_init(&part);
    for (; i + (LOADS - 1) * stride < end; i += LOADS * stride) {
        uint4 loaded[LOADS];
#pragma unroll
        for (uint load = 0; load < LOADS; load++)
            loaded[load] = words[i + load * stride];
#pragma unroll
        for (uint load = 0; load < LOADS; load++)
            whole_part_take(&part, loaded[load]);
        taken += LOADS * BLOCK;
    }
    for (; i < end; i += stride, taken += BLOCK)
        whole_part_take(&part, words[i]);
    for (i = blocks * BLOCK + get_global_id(0); i < count; i += get_global_size(0), taken++)
        whole_part_take_one(&part, values[i]);
    whole_part_finish(&part, taken, least, result);
    counts->counted += taken;
}

#endif
