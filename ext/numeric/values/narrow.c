#include "numeric/values/narrow.h"

#include "base/processor.h"

/* The loops go over so many values at once, a number that the compiler knows, and fetch what is so
   many bytes ahead: where each value takes one byte the processor does not look as far by itself.
 */
enum { STEP = 64, LONG_STEP = 1024, AHEAD = 2048 };

/* So many decimals at once become integers, and these what is kept of them. */
enum { PIECE = 1024 };

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define WIDEN(type)                                                                                \
    do {                                                                                           \
        const type *each = (const type *)words + first;                                            \
        for (i = 0; i + STEP <= count; i += STEP) {                                                \
            for (k = 0; k < STEP * sizeof(type); k += STEP)                                        \
                __builtin_prefetch((const char *)(each + i) + AHEAD + k);                          \
            for (k = 0; k < STEP; k++)                                                             \
                values[i + k] = (int64_t)(least + each[i + k]);                                    \
        }                                                                                          \
        for (; i < count; i++)                                                                     \
            values[i] = (int64_t)(least + each[i]);                                                \
    } while (0)

static ALWAYS_INLINE void widen(const struct clr_frame *frame, const void *words, size_t first,
                                size_t count, int64_t *restrict values)
{
    const uint64_t least = (uint64_t)frame->least;
    size_t i, k;

    if (frame->bytes == 1)
        WIDEN(uint8_t);
    else if (frame->bytes == 2)
        WIDEN(uint16_t);
    else
        WIDEN(uint32_t);
}

#define KEEP(type)                                                                                 \
    do {                                                                                           \
        type *each = (type *)words + first;                                                        \
        for (i = 0; i + STEP <= count; i += STEP)                                                  \
            for (k = 0; k < STEP; k++)                                                             \
                each[i + k] = (type)((uint64_t)values[i + k] - least);                             \
        for (; i < count; i++)                                                                     \
            each[i] = (type)((uint64_t)values[i] - least);                                         \
    } while (0)

static ALWAYS_INLINE void keep(const struct clr_frame *frame, const int64_t *restrict values,
                               size_t count, void *words, size_t first)
{
    const uint64_t least = (uint64_t)frame->least;
    size_t i, k;

    if (frame->bytes == 1)
        KEEP(uint8_t);
    else if (frame->bytes == 2)
        KEEP(uint16_t);
    else
        KEEP(uint32_t);
}

static ALWAYS_INLINE void add(struct clr_frame *frame, const int64_t *values, size_t count)
{
    int64_t least[8], greatest[8];
    size_t i, k;

    for (k = 0; k < 8; k++) {
        least[k] = frame->known_least;
        greatest[k] = frame->known_greatest;
    }
    for (i = 0; i + 8 <= count; i += 8) {
        for (k = 0; k < 8; k++) {
            least[k] = values[i + k] < least[k] ? values[i + k] : least[k];
            greatest[k] = values[i + k] > greatest[k] ? values[i + k] : greatest[k];
        }
    }
    for (; i < count; i++) {
        least[0] = values[i] < least[0] ? values[i] : least[0];
        greatest[0] = values[i] > greatest[0] ? values[i] : greatest[0];
    }
    for (k = 0; k < 8; k++) {
        frame->known_least = least[k] < frame->known_least ? least[k] : frame->known_least;
        frame->known_greatest =
            greatest[k] > frame->known_greatest ? greatest[k] : frame->known_greatest;
    }
}

/* Of a long step a type of 32 bits holds the sum of its words of 8 or 16. */
#define SUM(type, sum_type)                                                                        \
    do {                                                                                           \
        const type *each = (const type *)words + first;                                            \
        for (i = 0; i + LONG_STEP <= count; i += LONG_STEP) {                                      \
            sum_type part = 0;                                                                     \
            for (k = 0; k < LONG_STEP; k++)                                                        \
                part += each[i + k];                                                               \
            total += part;                                                                         \
        }                                                                                          \
        for (; i < count; i++)                                                                     \
            total += each[i];                                                                      \
    } while (0)

static ALWAYS_INLINE uint64_t sum(const struct clr_frame *frame, const void *words, size_t first,
                                  size_t count)
{
    uint64_t total = 0;
    size_t i, k;

    if (frame->bytes == 1)
        SUM(uint8_t, uint32_t);
    else if (frame->bytes == 2)
        SUM(uint16_t, uint32_t);
    else
        SUM(uint32_t, uint64_t);
    return total;
}

#define RANGE(type)                                                                                \
    do {                                                                                           \
        const type *each = (const type *)words + first;                                            \
        type low = each[0], high = each[0];                                                        \
        for (i = 0; i + LONG_STEP <= count; i += LONG_STEP) {                                      \
            for (k = 0; k < LONG_STEP; k++) {                                                      \
                low = each[i + k] < low ? each[i + k] : low;                                       \
                high = each[i + k] > high ? each[i + k] : high;                                    \
            }                                                                                      \
        }                                                                                          \
        for (; i < count; i++) {                                                                   \
            low = each[i] < low ? each[i] : low;                                                   \
            high = each[i] > high ? each[i] : high;                                                \
        }                                                                                          \
        *least = low;                                                                              \
        *greatest = high;                                                                          \
    } while (0)

static ALWAYS_INLINE void range(const struct clr_frame *frame, const void *words, size_t first,
                                size_t count, uint32_t *least, uint32_t *greatest)
{
    size_t i, k;

    if (frame->bytes == 1)
        RANGE(uint8_t);
    else if (frame->bytes == 2)
        RANGE(uint16_t);
    else
        RANGE(uint32_t);
}

/* ---- The same in each instruction set. */

#define LOOPS(name, target)                                                                        \
    target static void name##_widen(const struct clr_frame *frame, const void *words,              \
                                    size_t first, size_t count, int64_t *restrict values)          \
    {                                                                                              \
        widen(frame, words, first, count, values);                                                 \
    }                                                                                              \
    target static void name##_keep(const struct clr_frame *frame, const int64_t *restrict values,  \
                                   size_t count, void *words, size_t first)                        \
    {                                                                                              \
        keep(frame, values, count, words, first);                                                  \
    }                                                                                              \
    target static void name##_add(struct clr_frame *frame, const int64_t *values, size_t count)    \
    {                                                                                              \
        add(frame, values, count);                                                                 \
    }                                                                                              \
    target static uint64_t name##_sum(const struct clr_frame *frame, const void *words,            \
                                      size_t first, size_t count)                                  \
    {                                                                                              \
        return sum(frame, words, first, count);                                                    \
    }                                                                                              \
    target static void name##_range(const struct clr_frame *frame, const void *words,              \
                                    size_t first, size_t count, uint32_t *least,                   \
                                    uint32_t *greatest)                                            \
    {                                                                                              \
        range(frame, words, first, count, least, greatest);                                        \
    }                                                                                              \
    static const struct clr_frame_loops name##_loops = {name##_widen, name##_keep, name##_add,     \
                                                        name##_sum, name##_range};

LOOPS(portable, )
#if defined(__x86_64__)
LOOPS(avx2, __attribute__((target("avx2"))))
LOOPS(avx512, __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))))
#endif

const struct clr_frame_loops *clr_frame_choose_loops(int skipped)
{
    CLR_CHOOSE_LOOPS(struct clr_frame_loops, skipped);
}

void clr_frame_widen(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                     int64_t *restrict values)
{
    if (frame->power != 0.0)
        clr_decimals_choose_loops(0)->widen(frame->power, frame->least, frame->bytes, words, first,
                                            count, values);
    else
        clr_frame_choose_loops(0)->widen(frame, words, first, count, values);
}

void clr_frame_keep(const struct clr_frame *frame, const int64_t *restrict values, size_t count,
                    void *words, size_t first)
{
    const struct clr_frame_loops *loops = clr_frame_choose_loops(0);
    const struct clr_decimals_loops *decimals = clr_decimals_choose_loops(0);
    int64_t integers[PIECE];
    size_t done, piece;

    if (frame->power == 0.0) {
        loops->keep(frame, values, count, words, first);
        return;
    }
    for (done = 0; done < count; done += piece) {
        piece = count - done < PIECE ? count - done : PIECE;
        decimals->split(frame->power, values + done, piece, integers);
        loops->keep(frame, integers, piece, words, first + done);
    }
}

void clr_frame_add(struct clr_frame *frame, const int64_t *values, size_t count)
{
    clr_frame_choose_loops(0)->add(frame, values, count);
}

void clr_frame_range(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                     int64_t *least, int64_t *greatest)
{
    uint32_t low, high;

    clr_frame_choose_loops(0)->range(frame, words, first, count, &low, &high);
    *least = (int64_t)((uint64_t)frame->least + low);
    *greatest = (int64_t)((uint64_t)frame->least + high);
}

/* Widens the bounds by those of values as decimals of the frame's power. Returns false if they are
   none: then the bounds mean nothing. */
static bool add_decimals(struct clr_frame *frame, const int64_t *values, size_t count)
{
    const struct clr_decimals_loops *loops = clr_decimals_choose_loops(0);
    int64_t integers[PIECE];
    size_t done, piece;

    for (done = 0; done < count; done += piece) {
        piece = count - done < PIECE ? count - done : PIECE;
        if (!loops->split(frame->power, values + done, piece, integers))
            return false;
        clr_frame_add(frame, integers, piece);
    }
    return true;
}

struct clr_frame clr_frame_find(const struct clr_frame *like, const int64_t *values, size_t count)
{
    struct clr_frame bounds = CLR_FRAME_OF_NONE;

    if (like != NULL && like->power == 0.0) {
        clr_frame_add(&bounds, values, count);
        if (clr_frame_has(like, &bounds))
            return bounds;
    } else if (like != NULL) {
        bounds.power = like->power;
        if (add_decimals(&bounds, values, count))
            return bounds;
    }
    bounds = CLR_FRAME_OF_NONE;
    bounds.power = clr_decimals_find_power(values, count);
    if (bounds.power != 0.0 && add_decimals(&bounds, values, count) &&
        (bounds.known_least != 0 || bounds.known_greatest != 0))
        return bounds;
    bounds = CLR_FRAME_OF_NONE;
    clr_frame_add(&bounds, values, count);
    return bounds;
}

static bool is_of_none(const struct clr_frame *bounds)
{
    return bounds->known_least > bounds->known_greatest;
}

/* Gives the same bounds by another power, if what is within them can be kept by that. Bits of 0 are
   0 by any power. */
static bool change_power(struct clr_frame *bounds, double power)
{
    double factor;

    if (power == bounds->power || is_of_none(bounds) ||
        (bounds->known_least == 0 && bounds->known_greatest == 0)) {
        bounds->power = power;
        return true;
    }
    if (bounds->power == 0.0 || power < bounds->power)
        return false;
    factor = power / bounds->power;
    if ((double)bounds->known_least * factor < -(double)CLR_DECIMALS_MOST ||
        (double)bounds->known_greatest * factor >= (double)CLR_DECIMALS_MOST)
        return false;
    bounds->known_least *= (int64_t)factor;
    bounds->known_greatest *= (int64_t)factor;
    bounds->power = power;
    return true;
}

void clr_frame_join(struct clr_frame *frame, const struct clr_frame *other)
{
    struct clr_frame more = *other;

    if (!change_power(&more, frame->power) && !change_power(frame, more.power)) {
        frame->power = 0.0;
        frame->known_least = INT64_MIN;
        frame->known_greatest = INT64_MAX;
        return;
    }
    if (more.known_least < frame->known_least)
        frame->known_least = more.known_least;
    if (more.known_greatest > frame->known_greatest)
        frame->known_greatest = more.known_greatest;
}

static bool fits(uint64_t greatest, unsigned bytes)
{
    return greatest >> 8 * bytes == 0;
}

/* Returns what a frame, whose bounds fit into that many bytes, begins with: 0, or what a signed
   number begins with, if that will do, else as far below as above its bounds. Others may come that
   fit as well. */
static int64_t choose_least(const struct clr_frame *bounds, unsigned bytes)
{
    const uint64_t most = ((uint64_t)1 << 8 * bytes) - 1;
    const int64_t half = -((int64_t)1 << (8 * bytes - 1));
    const uint64_t distance = (uint64_t)bounds->known_greatest - (uint64_t)bounds->known_least;
    const int64_t margin = (int64_t)((most - distance) / 2);

    if (bounds->known_least >= 0 && fits((uint64_t)bounds->known_greatest, bytes))
        return 0;
    if (bounds->known_least >= half && bounds->known_greatest < -half)
        return half;
    return bounds->known_least < INT64_MIN + margin ? INT64_MIN : bounds->known_least - margin;
}

struct clr_frame clr_frame_choose(const struct clr_frame *bounds, uint8_t bytes)
{
    const uint64_t distance = (uint64_t)bounds->known_greatest - (uint64_t)bounds->known_least;
    struct clr_frame frame = *bounds;

    frame.bytes = 0;
    frame.least = 0;
    if (is_of_none(bounds) || !fits(distance, 4)) {
        frame.power = 0.0;
        return frame;
    }
    while (!fits(distance, bytes))
        bytes *= 2;
    frame.bytes = bytes;
    frame.least = choose_least(bounds, bytes);
    return frame;
}

bool clr_frame_has(const struct clr_frame *frame, const struct clr_frame *other)
{
    struct clr_frame bounds = *other;

    return is_of_none(other) ||
           (change_power(&bounds, frame->power) && bounds.known_least >= frame->least &&
            fits((uint64_t)bounds.known_greatest - (uint64_t)frame->least, frame->bytes));
}
