/* Values in frames: which one is chosen, and that they come back, their sums and their extremes, in
   every instruction set that this processor has. */
#include "numeric/values/narrow.h"

#include "batch.h"
#include "random.h"

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

    TAP_EACH (i, cases) {
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

    for (size_t i = 0; i < count; i++) {
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
    for (size_t i = 0; i < count; i++) {
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
    for (int i = 0; i < 100000; i++) {
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

static int64_t random_decimal(double power, int64_t least, int64_t span)
{
    return clr_decimal_bits(least + (int64_t)(random_bits() % ((uint64_t)span + 1)), power);
}

/* Decimals: found, kept and widened; joined with others, and with what is none. */
static void check_decimals(size_t first, size_t count)
{
    static const double powers[] = {1, 10, 100, 1e3, 1e6, 1e9};
    static const int64_t spans[] = {0, 200, 60000, 1 << 30, (int64_t)1 << 34};
    const double power = powers[random_below(6)], other = powers[random_below(6)];
    const int64_t span = spans[random_below(5)],
                  start = random_integer() >> (20 + random_below(43));
    struct clr_frame bounds, more, both, frame;
    size_t half = count / 2;
    int64_t least, greatest;
    bool right = true;

    for (size_t i = 0; i < count; i++)
        values[i] = random_decimal(i < half ? power : other, start, span);
    if (random_below(2) == 0)
        values[random_below((unsigned)count)] = 0;
    bounds = clr_frame_find(NULL, values, half);
    more = clr_frame_find(&bounds, values + half, count - half);
    both = clr_frame_find(NULL, values, count);
    clr_frame_join(&bounds, &more);
    if (both.power != 0.0)
        batch_ok(bounds.power >= both.power &&
                     (double)bounds.known_least / bounds.power ==
                         (double)both.known_least / both.power &&
                     (double)bounds.known_greatest / bounds.power ==
                         (double)both.known_greatest / both.power,
                 "bounds of %zu by %g", count, both.power);
    frame = clr_frame_choose(&both, 1);
    if (frame.bytes == 0) {
        batch_ok(frame.power == 0.0, "no power where all bytes are kept");
        return;
    }
    memset(words, 0x55, sizeof words);
    clr_frame_keep(&frame, values, count, words, first);
    clr_frame_widen(&frame, words, first, count, found);
    batch_ok(memcmp(values, found, count * sizeof *values) == 0, "%zu of %d bytes by %g", count,
             frame.bytes, frame.power);
    for (size_t i = 0; i < count; i++)
        right = right && clr_frame_value(&frame, words, first + i) == values[i];
    batch_ok(right, "each by itself");
    clr_frame_range(&frame, words, first, count, &least, &greatest);
    batch_ok(least == both.known_least && greatest == both.known_greatest, "their extremes");
    batch_ok(clr_frame_has(&frame, &both), "has its own");
    values[0] = frame.power == 0.0 ? INT64_MIN : values[0] + 1;
    more = clr_frame_find(&frame, values, count);
    batch_ok(!clr_frame_has(&frame, &more), "but not what differs by a bit");
    clr_frame_join(&more, &both);
    frame = clr_frame_choose(&more, 1);
    batch_ok(frame.power == 0.0, "nor do they together");
}

/* What frames have of decimals by another power, of NULLs and of others. */
static void test_powers(void)
{
    const int64_t zeros[2] = {0, 0}, cents[2] = {clr_decimal_bits(101, 100), 0};
    const int64_t tenths[2] = {clr_decimal_bits(1, 10), clr_decimal_bits(-3, 10)};
    const int64_t wide[2] = {clr_decimal_bits(3, 1e9), clr_decimal_bits((int64_t)1 << 40, 1)};
    struct clr_frame nothing = clr_frame_find(NULL, zeros, 2);
    struct clr_frame hundred = clr_frame_find(NULL, cents, 2);
    struct clr_frame ten = clr_frame_find(NULL, tenths, 2);
    struct clr_frame frame;

    batch_ok(nothing.power == 0.0 && hundred.power == 100.0 && ten.power == 10.0, "powers");
    batch_ok(clr_frame_find(NULL, wide, 2).power == 0.0, "more than decimals have");
    frame = clr_frame_choose(&hundred, 2);
    batch_ok(clr_frame_has(&frame, &nothing), "zeros are decimals");
    batch_ok(!clr_frame_has(&frame, &ten), "negative ones do not fit");
    clr_frame_join(&hundred, &ten);
    frame = clr_frame_choose(&hundred, 2);
    batch_ok(frame.power == 100.0 && frame.known_least == -30 && frame.known_greatest == 101,
             "by the greater power");
    batch_ok(clr_frame_has(&frame, &ten), "tenths among hundredths");
    batch_ok(clr_frame_find(&frame, tenths, 2).power == 100.0, "by the frame's power");
    frame = clr_frame_choose(&ten, 2);
    batch_ok(!clr_frame_has(&frame, &hundred), "hundredths among tenths");
    clr_frame_join(&nothing, &ten);
    batch_ok(nothing.power == 10.0 && nothing.known_greatest == 1, "zeros and tenths");
    frame = choose(1, 2, 1);
    batch_ok(!clr_frame_has(&frame, &ten), "decimals among bits");
    clr_frame_join(&ten, &frame);
    batch_ok(clr_frame_choose(&ten, 1).bytes == 0, "decimals and bits");
    batch_end("powers");
}

TAP_TEST(test_narrow)
{
    const struct clr_frame_loops *loops;

    test_choice();
    test_has();
    test_powers();
    for (int skipped = 0; skipped < 20000; skipped++)
        check_decimals(random_below(70), 2 + random_below(random_below(4) == 0 ? 3000 : 100));
    batch_end("decimals in frames");
    for (int skipped = 0; (loops = clr_frame_choose_loops(skipped)) != NULL; skipped++) {
        for (int i = 0; i < 3000; i++)
            check(loops, random_below(70), 1 + random_below(random_below(4) == 0 ? 4000 : 200));
        batch_end("values in frames");
    }
}
