/* Values in frames: which one is chosen, and that they come back, their sums and their extremes, in
   every instruction set that this processor has. */
#include "numeric/values/narrow.h"

#include "batch.h"
#include "random.h"

#include "tap.h"

#include <string.h>

enum { MOST = 5000 };

static int64_t values[MOST], found[MOST];
static uint32_t words[MOST];

/* The frame of two values, as chosen. */
static struct clr_frame choose(int64_t a, int64_t b, uint8_t bytes)
{
    struct clr_frame bounds = CLR_FRAME_OF_NONE;

    clr_frame_add(&bounds, &a, 1);
    clr_frame_add(&bounds, &b, 1);
    return clr_frame_choose(&bounds, bytes);
}

static void test_choice(void)
{
    static const struct {
        int64_t least, greatest, begins;
        int bytes;
    } cases[] = {
        {0, 255, 0, 1},
        {0, 256, 0, 2},
        {255, 255, 0, 1},
        {1, 256, 1, 1},
        {-128, 127, -128, 1},
        {-1, 5, -128, 1},
        {-129, 126, -129, 1},
        {-129, 127, -32768, 2},
        {0, 65535, 0, 2},
        {0, 65536, 0, 4},
        {0, UINT32_MAX, 0, 4},
        {0, (int64_t)UINT32_MAX + 1, 0, 0},
        {INT32_MIN, INT32_MAX, INT32_MIN, 4},
        {1000, 1200, 973, 1},
        {INT64_MIN, INT64_MIN + 255, INT64_MIN, 1},
        {INT64_MIN, INT64_MIN, INT64_MIN, 1},
        {INT64_MAX, INT64_MAX, INT64_MAX - 127, 1},
        {INT64_MAX - 65535, INT64_MAX, INT64_MAX - 65535, 2},
        {INT64_MIN, INT64_MAX, 0, 0},
        {INT64_MIN, 0, 0, 0},
        {-1, INT64_MAX, 0, 0},
    };
    const struct clr_frame none = clr_frame_choose(&CLR_FRAME_OF_NONE, 1);
    struct clr_frame frame;
    size_t i;

    batch_begin();
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        frame = choose(cases[i].least, cases[i].greatest, 1);
        batch_ok(frame.bytes == cases[i].bytes && frame.least == cases[i].begins,
                 "%lld to %lld: %d bytes from %lld", (long long)cases[i].least,
                 (long long)cases[i].greatest, frame.bytes, (long long)frame.least);
    }
    frame = choose(3, 4, 4);
    batch_ok(frame.bytes == 4 && frame.least == 0, "not less than four bytes");
    batch_ok(none.bytes == 0, "no values are as they are");
    batch_end("frames chosen");
}

/* Values of some range, the same by the frame as they were. */
static void check(const struct clr_frame_loops *loops, size_t first, size_t count)
{
    const uint64_t span = UINT64_MAX >> random_below(64);
    const int64_t start = random_integer();
    struct clr_frame bounds = CLR_FRAME_OF_NONE, frame;
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    uint32_t low, high;
    uint64_t sum = 0;
    bool has = true;
    size_t i;

    for (i = 0; i < count; i++) {
        values[i] = (int64_t)((uint64_t)start + (random_bits() & span));
        least = values[i] < least ? values[i] : least;
        greatest = values[i] > greatest ? values[i] : greatest;
    }
    loops->add(&bounds, values, count);
    batch_ok(bounds.known_least == least && bounds.known_greatest == greatest, "bounds of %zu",
             count);
    frame = clr_frame_choose(&bounds, 1);
    has = (uint64_t)greatest - (uint64_t)least <= UINT32_MAX;
    batch_ok((frame.bytes != 0) == has, "%d bytes", frame.bytes);
    if (frame.bytes == 0)
        return;
    memset(words, 0x55, sizeof words);
    loops->keep(&frame, values, count, words, first);
    loops->widen(&frame, words, first, count, found);
    batch_ok(memcmp(values, found, count * sizeof *values) == 0, "%zu values, %d bytes", count,
             frame.bytes);
    batch_ok(first == 0 || ((unsigned char *)words)[first * frame.bytes - 1] == 0x55,
             "nothing before them");
    batch_ok(((unsigned char *)words)[(first + count) * frame.bytes] == 0x55, "nor behind");
    for (i = 0; i < count; i++) {
        sum += (uint64_t)values[i] - (uint64_t)frame.least;
        has = has && clr_frame_value(&frame, words, first + i) == values[i];
    }
    batch_ok(has, "each by itself");
    batch_ok(loops->sum(&frame, words, first, count) == sum, "their sum");
    loops->range(&frame, words, first, count, &low, &high);
    batch_ok((int64_t)((uint64_t)frame.least + low) == least &&
                 (int64_t)((uint64_t)frame.least + high) == greatest,
             "their extremes");
}

/* What a frame has is what it can keep. */
static void test_has(void)
{
    int i;

    batch_begin();
    for (i = 0; i < 100000; i++) {
        const int64_t a = random_integer() >> (1 + random_below(59)),
                      b = a + random_between(0, 70000);
        const int64_t value = a + random_between(-70000, 70000);
        const struct clr_frame frame = choose(a, b < a ? a : b, 1), other = choose(value, value, 1);
        const uint64_t distance = (uint64_t)value - (uint64_t)frame.least;
        const bool fits = value >= frame.least && distance >> 8 * frame.bytes == 0;

        batch_ok(frame.bytes != 0 && clr_frame_has(&frame, &other) == fits, "%lld in %d from %lld",
                 (long long)value, frame.bytes, (long long)frame.least);
        batch_ok(clr_frame_has(&frame, &frame), "itself");
    }
    batch_end("what frames have");
}

int main(void)
{
    const struct clr_frame_loops *loops;
    int skipped, i;

    random_start();
    test_choice();
    test_has();
    for (skipped = 0; (loops = clr_frame_choose_loops(skipped)) != NULL; skipped++) {
        batch_begin();
        for (i = 0; i < 3000; i++)
            check(loops, random_below(70), 1 + random_below(random_below(4) == 0 ? 4000 : 200));
        batch_end("values in frames");
    }
    return tap_done();
}
