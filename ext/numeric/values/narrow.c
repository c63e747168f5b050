#include "numeric/values/narrow.h"

#include "base/processor.h"

#include <string.h>

/* The loops go over so many values at once, a number that the compiler knows, and fetch what is so
   many bytes ahead: where each value takes one byte the processor does not look as far by itself.
 */
enum { STEP = 64, AHEAD = 2048 };

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

/* ---- The same in each instruction set. */

struct loops {
    void (*widen)(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                  int64_t *restrict values);
    void (*keep)(const struct clr_frame *frame, const int64_t *restrict values, size_t count,
                 void *words, size_t first);
    void (*add)(struct clr_frame *frame, const int64_t *values, size_t count);
};

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
    static const struct loops name##_loops = {name##_widen, name##_keep, name##_add};

LOOPS(portable, )
#if defined(__x86_64__)
LOOPS(avx2, __attribute__((target("avx2"))))
LOOPS(avx512, __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))))
#endif

static const struct loops *choose_loops(void)
{
#if defined(__x86_64__)
    if (clr_processor_vectors() >= CLR_VECTORS_AVX512)
        return &avx512_loops;
    if (clr_processor_vectors() >= CLR_VECTORS_AVX2)
        return &avx2_loops;
#endif
    return &portable_loops;
}

void clr_frame_widen(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                     int64_t *restrict values)
{
    choose_loops()->widen(frame, words, first, count, values);
}

void clr_frame_keep(const struct clr_frame *frame, const int64_t *restrict values, size_t count,
                    void *words, size_t first)
{
    choose_loops()->keep(frame, values, count, words, first);
}

void clr_frame_add(struct clr_frame *frame, const int64_t *values, size_t count)
{
    choose_loops()->add(frame, values, count);
}

void clr_frame_join(struct clr_frame *frame, const struct clr_frame *other)
{
    if (other->known_least < frame->known_least)
        frame->known_least = other->known_least;
    if (other->known_greatest > frame->known_greatest)
        frame->known_greatest = other->known_greatest;
}

static bool fits(uint64_t greatest, unsigned bytes)
{
    return greatest >> 8 * bytes == 0;
}

/* Values that need no more bytes from 0 on are kept from there: then others fit that come later. */
struct clr_frame clr_frame_choose(const struct clr_frame *bounds)
{
    const uint64_t distance = (uint64_t)bounds->known_greatest - (uint64_t)bounds->known_least;
    struct clr_frame frame = *bounds;

    frame.bytes = 0;
    frame.least = 0;
    if (bounds->known_least > bounds->known_greatest || !fits(distance, 4))
        return frame;
    frame.bytes = fits(distance, 1) ? 1 : fits(distance, 2) ? 2 : 4;
    if (bounds->known_least < 0 || !fits((uint64_t)bounds->known_greatest, frame.bytes))
        frame.least = bounds->known_least;
    return frame;
}

bool clr_frame_has(const struct clr_frame *frame, const struct clr_frame *other)
{
    return other->known_least > other->known_greatest ||
           (other->known_least >= frame->least &&
            fits((uint64_t)other->known_greatest - (uint64_t)frame->least, frame->bytes));
}
