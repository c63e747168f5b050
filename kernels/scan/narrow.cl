/*
 * Takes all rows of a narrow column, for a scan that does nothing else: the sum of INTEGERs, or
 * extremes, of distances from the least integer of the column's frame, and only in the end of the
 * values, which have more bits; and the sum of decimals. Follows row.cl for a kind of one operand,
 * and the text of ext/opencl/scan/row_text.c, which defines:
 *
 * WHOLE: the bytes of a distance, 1, 2 or 4; 0 for other scans
 * WHOLE_SUMS: 1 for the sum, 0 for the extremes
 * WHOLE_DECIMALS: 1 for REALs, which are decimals
 */
#if WHOLE

/* A frame, and the arguments that one is made of. */
typedef struct {
    long least, power;
    ulong reciprocal;
} whole_frame;

#if WHOLE_DECIMALS
#define WHOLE_FRAME b0, p0, q0
#define WHOLE_VALUE(frame, word)                                                                   \
    decimal_bits(word, (frame)->least, (frame)->power, (frame)->reciprocal)
#else
#define WHOLE_FRAME b0, 0, 0
#define WHOLE_VALUE(frame, word) ((frame)->least + (word))
#endif
#if WHOLE_DECIMALS && WHOLE_SUMS
#define WHOLE_WIDE , wide0
#else
#define WHOLE_WIDE
#endif

/* Distances in the 16 bytes that a work-item loads at a time, and how many such loads are on
   their way. */
#define BLOCK (16 / WHOLE)
#define LOADS 4

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

/*
 * A part is what a work-item has taken. It is begun for a frame, takes words and single ones,
 * settles now and then, and goes to the result in the end, which is told how many distances it
 * took.
 */
#if WHOLE_SUMS && !WHOLE_DECIMALS

/* A work-item has fewer than 2^32 distances, each of which is below 2^32. */
typedef ulong whole_part;

void whole_begin(whole_part *part, const whole_frame *frame)
{
    *part = 0;
}

/* Several distances that share a word are added at once, as many as can't leave their bits. */
void whole_take(whole_part *part, const whole_frame *frame, uint4 words, running *sum)
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

void whole_take_one(whole_part *part, const whole_frame *frame, whole_word one, running *sum)
{
    *part += one;
}

#define WHOLE_SETTLE(part, frame, sum)

void whole_end(const whole_part *part, const whole_frame *frame, ulong count, running *sum)
{
    running_add_times(sum, frame->least, count);
    running_add(sum, *part, 0, 0);
}

#elif WHOLE_SUMS && DOUBLES

/*
 * Sums of REALs, which are no sums of the distances. Each is cut in two at 2^52 times the last
 * place of 1 / power, the least of them but 0: both parts are numbers of 52 bits, of which 2^11
 * have a sum of 64. They are added as the bits of doubles, to each of which an origin was added,
 * whose last place is the part's: as in cut_real() of grouping.cl.
 */
typedef struct {
    ulong4 high, low;
    uint count; /* of each of the four */
    double high_origin, low_origin;
} whole_part;

#define WHOLE_MOST 512

void whole_begin(whole_part *part, const whole_frame *frame)
{
    const ulong least = as_ulong(reciprocal_of(frame->power, frame->reciprocal));

    part->high = part->low = 0;
    part->count = 0;
    part->low_origin = 1.5 * as_double(least & 0x7ff0000000000000);
    part->high_origin = part->low_origin * 0x1p52;
}

void whole_take_four(whole_part *part, const whole_frame *frame, uint4 words)
{
    const double power = convert_double(frame->power);
    const double by = reciprocal_of(frame->power, frame->reciprocal);
    const double4 k = as_double4(convert_ulong4(words) | 0x4330000000000000) -
                      (0x1p52 - convert_double(frame->least));
    const double4 x = DECIMAL_QUOTIENT(k, (double4)power, (double4)by);
    const double4 high = x + part->high_origin, rest = x - (high - part->high_origin);

    part->high += as_ulong4(high);
    part->low += as_ulong4(rest + part->low_origin);
    part->count++;
}

void whole_take(whole_part *part, const whole_frame *frame, uint4 words, running *sum WIDE_FORMAL)
{
#if WHOLE == 1
    whole_take_four(part, frame, words & 0xff);
    whole_take_four(part, frame, words >> 8 & 0xff);
    whole_take_four(part, frame, words >> 16 & 0xff);
    whole_take_four(part, frame, words >> 24);
#elif WHOLE == 2
    whole_take_four(part, frame, words & 0xffff);
    whole_take_four(part, frame, words >> 16);
#else
    whole_take_four(part, frame, words);
#endif
}

void whole_take_one(whole_part *part, const whole_frame *frame, whole_word one,
                    running *sum WIDE_FORMAL)
{
    running_take(sum, as_double(WHOLE_VALUE(frame, one)), 0 WIDE_ARGUMENT);
}

/* Adds a sum of four parts, so many each, to the result. */
void whole_add(ulong4 parts, uint count, double origin, running *sum WIDE_FORMAL)
{
    const ulong4 integers = parts - count * as_ulong(origin);
    const long all = (long)(integers.x + integers.y + integers.z + integers.w);
    const double place = origin / 0x1.8p52;

    running_add(sum, convert_double(all >> 32) * (0x1p32 * place) WIDE_ARGUMENT);
    running_add(sum, convert_double(all & 0xffffffff) * place WIDE_ARGUMENT);
}

void whole_settle(whole_part *part, running *sum WIDE_FORMAL)
{
    whole_add(part->high, part->count, part->high_origin, sum WIDE_ARGUMENT);
    whole_add(part->low, part->count, part->low_origin, sum WIDE_ARGUMENT);
    part->high = part->low = 0;
    part->count = 0;
}

#define WHOLE_SETTLE(part, frame, sum)                                                             \
    if ((part)->count > WHOLE_MOST - 16 * LOADS)                                                   \
    whole_settle(part, sum WIDE_ARGUMENT)

void whole_end(whole_part *part, const whole_frame *frame, ulong count, running *sum WIDE_FORMAL)
{
    whole_settle(part, sum WIDE_ARGUMENT);
}

#elif WHOLE_SUMS

/* Values are added one by one. */
typedef int whole_part;

void whole_begin(whole_part *part, const whole_frame *frame)
{
}

void whole_take_one(whole_part *part, const whole_frame *frame, whole_word one,
                    running *sum WIDE_FORMAL)
{
    running_take(sum, WHOLE_VALUE(frame, one), 0 WIDE_ARGUMENT);
}

void whole_take(whole_part *part, const whole_frame *frame, uint4 words, running *sum WIDE_FORMAL)
{
    whole_word each[BLOCK];

    STORE_WHOLE_WORDS(AS_WHOLE_WORDS(words), each);
    for (uint i = 0; i < BLOCK; i++)
        whole_take_one(part, frame, each[i], sum WIDE_ARGUMENT);
}

#define WHOLE_SETTLE(part, frame, sum)

void whole_end(whole_part *part, const whole_frame *frame, ulong count, running *sum WIDE_FORMAL)
{
}

#else

/* The order of decimals is that of the distances. */
typedef struct {
    whole_words least, greatest;
} whole_part;

void whole_begin(whole_part *part, const whole_frame *frame)
{
    part->least = (whole_word)-1;
    part->greatest = 0;
}

void whole_take(whole_part *part, const whole_frame *frame, uint4 words, running *range)
{
    part->least = min(part->least, AS_WHOLE_WORDS(words));
    part->greatest = max(part->greatest, AS_WHOLE_WORDS(words));
}

void whole_take_one(whole_part *part, const whole_frame *frame, whole_word one, running *range)
{
    part->least = min(part->least, (whole_words)one);
    part->greatest = max(part->greatest, (whole_words)one);
}

#define WHOLE_SETTLE(part, frame, range)

void whole_end(const whole_part *part, const whole_frame *frame, ulong count, running *range)
{
    whole_word low[BLOCK], high[BLOCK];

    STORE_WHOLE_WORDS(part->least, low);
    STORE_WHOLE_WORDS(part->greatest, high);
    for (uint i = 0; i < BLOCK && count > 0; i++) {
        running_take(range, WHOLE_VALUE(frame, low[i]), 0);
        running_take(range, WHOLE_VALUE(frame, high[i]), 0);
    }
}

#endif

/* values begin at a multiple of 16 bytes. */
void take_whole(running *result, row_counts *counts, __global const whole_word *restrict values,
                whole_frame frame, ulong count WIDE_FORMAL)
{
    __global const uint4 *restrict words = (__global const uint4 *)values;
    ulong blocks = count / BLOCK, taken = 0;
    whole_part part;
    ulong i = get_global_id(0), end = blocks, stride = get_global_size(0);

    whole_begin(&part, &frame);
    for (; i + (LOADS - 1) * stride < end; i += LOADS * stride) {
        uint4 loaded[LOADS];
#pragma unroll
        for (uint load = 0; load < LOADS; load++)
            loaded[load] = words[i + load * stride];
#pragma unroll
        for (uint load = 0; load < LOADS; load++)
            whole_take(&part, &frame, loaded[load], result WIDE_ARGUMENT);
        taken += LOADS * BLOCK;
        WHOLE_SETTLE(&part, &frame, result);
    }
    for (; i < end; i += stride, taken += BLOCK)
        whole_take(&part, &frame, words[i], result WIDE_ARGUMENT);
    for (i = blocks * BLOCK + get_global_id(0); i < count; i += get_global_size(0), taken++)
        whole_take_one(&part, &frame, values[i], result WIDE_ARGUMENT);
    whole_end(&part, &frame, taken, result WIDE_ARGUMENT);
    counts->counted += taken;
    counts->non_integers += WHOLE_DECIMALS ? taken : 0;
}

#endif
