/* The loops on the way to groups, of all instruction sets, against the plainest code. */
#include "numeric/grouping/group_loops.h"

#include "batch.h"
#include "random.h"

#include <stdlib.h>

static int64_t values[CLR_BLOCK], others[CLR_BLOCK], masks[CLR_BLOCK];
static int64_t first[CLR_BLOCK], second[CLR_BLOCK];
static uint8_t outside[CLR_BLOCK];

static void draw(bool real, int size)
{
    size_t i;

    for (i = 0; i < CLR_BLOCK; i++) {
        double x = (double)random_between(-1000000, 1000000) / 1024;

        if (size > 1 && random_below(100) == 0)
            x = random_finite();
        if (size > 1 && random_below(300) == 0)
            x = random_below(2) == 0 ? INFINITY : NAN;
        memcpy(&values[i], &x, sizeof x);
        if (!real)
            values[i] = size > 1 ? random_integer() : random_between(-100000, 100000);
        others[i] = size > 1 ? random_integer() : random_between(-100000, 100000);
        masks[i] = (int64_t)random_below(2);
    }
}

static void test_cut(const struct clr_group_loops *loops, int size)
{
    struct clr_window window;
    bool all = true, right = true;
    int64_t high, low;
    size_t i;

    clr_window_lay(&window, 12, -40, 1 << 20);
    draw(true, size);
    for (i = 0; i < CLR_BLOCK; i++)
        all = clr_window_cut(&window, clr_real_of(values[i]), &high, &low) && all;
    batch_ok(loops->cut(&window, values, first, second, values) == all,
             "whether all are in the window");
    for (i = 0; i < CLR_BLOCK && all; i++) {
        clr_window_cut(&window, clr_real_of(values[i]), &high, &low);
        right = right && first[i] == high && second[i] == low;
    }
    loops->cut_carefully(&window, values, first, second, outside);
    for (i = 0; i < CLR_BLOCK; i++) {
        if (!clr_window_cut(&window, clr_real_of(values[i]), &high, &low))
            right = right && outside[i] && first[i] == 0 && second[i] == 0;
        else
            right = right && !outside[i] && first[i] == high && second[i] == low;
    }
    batch_ok(right, "digits");
}

static bool is_within(clr_i128 value, int64_t limit)
{
    return value <= limit && value >= -limit;
}

static void test_integers(const struct clr_group_loops *loops, int size)
{
    const int64_t limit = size == 0 ? INT64_C(10000000000) : 1000000;
    bool products = true, right = true, same;
    size_t i;

    draw(false, size);
    for (i = 0; i < CLR_BLOCK; i++) {
        products = products && is_within((clr_i128)values[i] * others[i], limit);
    }
    loops->limit(values, limit, first, outside);
    for (i = 0; i < CLR_BLOCK; i++)
        right = right && outside[i] == !is_within(values[i], limit) &&
                first[i] == (outside[i] ? 0 : values[i]);
    batch_ok(right, "limited INTEGERs");
    same = loops->multiply(values, others, limit, first, outside);
    batch_ok(!same || products, "products that are not within");
    for (i = 0; i < CLR_BLOCK; i++) {
        const clr_i128 product = (clr_i128)values[i] * others[i];
        if (!same)
            right = right && outside[i] == !is_within(product, limit);
        right = right && first[i] == (is_within(product, limit) ? (int64_t)product : 0);
    }
    batch_ok(right, "products");
    loops->split(values, first, second);
    for (i = 0; i < CLR_BLOCK; i++)
        right = right && first[i] >= 0 && first[i] >> 32 == 0 &&
                (clr_i128)second[i] * ((clr_i128)1 << 32) + first[i] == values[i];
    batch_ok(right, "halves");
}

static void test_packing(const struct clr_group_loops *loops, int size)
{
    const int64_t limit = size == 0 ? INT64_C(10000000000) : 1000000;
    const struct clr_group_packing packing = {limit, random_between(0, 63), random_below(2) == 0,
                                              random_integer()};
    bool within = true, right = true;
    size_t i;

    draw(false, size);
    for (i = 0; i < CLR_BLOCK; i++) {
        within = within && is_within(values[i], limit);
        first[i] = packing.first ? random_integer() : (second[i] = random_integer());
    }
    batch_ok(loops->pack(&packing, values, first, values) == within, "whether all may be packed");
    for (i = 0; i < CLR_BLOCK; i++)
        right = right && (uint64_t)first[i] == (uint64_t)packing.start +
                                                   (packing.first ? 0 : (uint64_t)second[i]) +
                                                   ((uint64_t)values[i] << packing.shift);
    batch_ok(right, "parts of words");
}

static void test_extremes(const struct clr_group_loops *loops, bool real, int size)
{
    const bool least = random_below(3) > 0, greatest = !least || random_below(2) == 0;
    const bool all = random_below(2) == 0;
    bool right = true;
    size_t i;

    draw(real, size);
    loops->find_extremes(values, all ? NULL : masks, real, least ? first : NULL,
                         greatest ? second : NULL, values);
    for (i = 0; i < CLR_BLOCK; i++) {
        const int64_t key = real ? clr_real_to_key(values[i]) : values[i];
        const bool counts = all || masks[i] != 0;
        right = right && (!least ||
                          (counts ? clr_group_least_of((uint64_t)first[i]) == key : first[i] == 0));
        right = right && (!greatest || (counts ? clr_group_greatest_of((uint64_t)second[i]) == key
                                               : second[i] == 0));
    }
    batch_ok(right, "extremes");
}

static void test_places(const struct clr_group_loops *loops, int size)
{
    static uint32_t places[CLR_BLOCK];
    static uint64_t long_places[CLR_BLOCK];
    struct clr_group_placing placing = {random_between(-100000, 0), 0, random_bits(),
                                        random_bits()};
    bool all = true, right = true;
    size_t i;

    placing.size = size == 0 ? 200000 : random_below(220000);
    draw(false, size);
    for (i = 0; i < CLR_BLOCK; i++) {
        all = all && values[i] >= placing.first && is_within(values[i], 100000) &&
              (uint64_t)(values[i] - placing.first) <= placing.size;
        places[i] = (uint32_t)(long_places[i] = random_bits());
        first[i] = (int64_t)long_places[i];
    }
    batch_ok(loops->place(&placing, false, values, places, values) == all &&
                 loops->place_long(&placing, false, values, long_places, values) == all,
             "whether all have places");
    for (i = 0; i < CLR_BLOCK; i++) {
        const uint64_t place = (uint64_t)values[i] * placing.factor + placing.start;
        right = right && long_places[i] == (uint64_t)first[i] + place &&
                places[i] == (uint32_t)long_places[i];
    }
    batch_ok(right, "places added");
    loops->place(&placing, true, values, places, values);
    loops->place_long(&placing, true, values, long_places, values);
    for (i = 0; i < CLR_BLOCK; i++)
        right = right && long_places[i] == (uint64_t)values[i] * placing.factor + placing.start &&
                places[i] == (uint32_t)long_places[i];
    batch_ok(right, "places stored");
}

static int64_t kept_value(const struct clr_frame *frame, size_t row)
{
    return clr_frame_value(frame, others, row);
}

/* What a narrow column keeps, which is drawn into others. */
static struct clr_frame draw_kept(double power)
{
    struct clr_frame frame = {.bytes = (uint8_t)(1 << random_below(3)), .power = power};
    size_t i;

    frame.least = power != 0.0 ? random_between(-100000, 1000) : random_integer() / 2;
    for (i = 0; i < CLR_BLOCK; i++)
        others[i] = (int64_t)random_bits();
    return frame;
}

/* What narrow columns keep, against their values. */
static void test_kept(const struct clr_group_loops *loops)
{
    static uint32_t places[CLR_BLOCK], before[CLR_BLOCK];
    const struct clr_frame frame = draw_kept(0.0),
                           decimals = draw_kept(random_below(2) ? 1e6 : 100);
    struct clr_group_placing placing = {0, 0, random_bits(), random_bits()};
    struct clr_group_packing packing = {0, random_between(0, 63), random_below(2) == 0,
                                        random_integer()};
    const uint64_t start = (uint64_t)packing.start;
    const bool first_key = random_below(2) == 0;
    struct clr_window window;
    bool all = true, right = true;
    int64_t high, low;
    size_t i;

    for (i = 0; i < CLR_BLOCK; i++) {
        places[i] = before[i] = (uint32_t)random_bits();
        first[i] = second[i] = random_integer();
    }
    packing.start = (int64_t)(start + ((uint64_t)frame.least << packing.shift));
    loops->pack_words(&packing, others, frame.bytes, first);
    for (i = 0; i < CLR_BLOCK; i++)
        right =
            right && (uint64_t)first[i] == start + (packing.first ? 0 : (uint64_t)second[i]) +
                                               ((uint64_t)kept_value(&frame, i) << packing.shift);
    batch_ok(right, "parts of words, of %d bytes kept", frame.bytes);

    high = (int64_t)placing.start;
    placing.start += placing.factor * (uint64_t)frame.least;
    loops->place_words(&placing, first_key, others, frame.bytes, places);
    for (i = 0; i < CLR_BLOCK; i++)
        right = right && places[i] == (uint32_t)((first_key ? 0 : before[i]) + (uint64_t)high +
                                                 placing.factor * (uint64_t)kept_value(&frame, i));
    batch_ok(right, "places, of %d bytes kept", frame.bytes);

    clr_window_lay(&window, random_below(2) == 0 ? 26 : 46, -90, 1);
    for (i = 0; i < CLR_BLOCK; i++)
        all = clr_window_cut(&window, clr_real_of(kept_value(&decimals, i)), &high, &low) && all;
    batch_ok(loops->cut_words(&window, &decimals, others, first, second) == all,
             "whether all decimals are in the window");
    for (i = 0; i < CLR_BLOCK && all; i++) {
        clr_window_cut(&window, clr_real_of(kept_value(&decimals, i)), &high, &low);
        right = right && first[i] == high && second[i] == low;
    }
    batch_ok(right, "digits of decimals, of %d bytes kept", decimals.bytes);
}

enum { GROUPS = 50, WORDS = 24 };

static void test_adding(const struct clr_group_loops *loops)
{
    static int64_t words[WORDS][CLR_BLOCK];
    static uint32_t numbers[CLR_BLOCK];
    static uint16_t rows[CLR_BLOCK];
    uint64_t selected[CLR_BLOCK_WORDS] = {0}, ends[CLR_BLOCK_WORDS] = {0};
    const int64_t *pointers[WORDS];
    const int all = random_between(1, WORDS), adds = random_between(1, all);
    const bool some = random_below(2) == 0, counts = random_below(2) == 0;
    const bool runs = random_below(2) == 0;
    const uint64_t groups = random_below(2) == 0 ? GROUPS : 1 + random_below(8);
    const size_t stride = (size_t)all + random_below(3);
    int64_t *got = calloc(GROUPS * stride, sizeof *got), *want = calloc(GROUPS * stride, 8);
    struct clr_group_adding adding = {.records = got,
                                      .stride = stride,
                                      .words = pointers,
                                      .adds = adds,
                                      .all = all,
                                      .numbers = numbers,
                                      .rows = some ? rows : NULL,
                                      .count = random_below(CLR_BLOCK + 1),
                                      .selected = selected,
                                      .fetches = random_below(2) == 0};
    size_t end_count = 0, i;
    int w;

    for (i = 0; i < CLR_BLOCK; i++) {
        numbers[i] = runs && i > 0 && random_below(40) > 0
                         ? numbers[i - 1]
                         : (uint32_t)(random_below(groups) * (GROUPS / groups));
        rows[i] = (uint16_t)(CLR_BLOCK - 1 - i);
        for (w = 0; w < WORDS; w++)
            words[w][i] = random_integer();
    }
    for (w = 0; w < WORDS; w++)
        pointers[w] = w == 0 && counts ? NULL : words[w];
    for (i = 0; i < adding.count; i++) {
        const size_t row = some ? rows[i] : i;
        int64_t *record = want + numbers[row] * stride;

        selected[row / 64] |= (uint64_t)1 << row % 64;
        if (counts)
            record[0]++;
        for (w = counts; w < all; w++) {
            if (w < adds)
                record[w] = (int64_t)((uint64_t)record[w] + (uint64_t)words[w][row]);
            else if ((uint64_t)words[w][row] > (uint64_t)record[w])
                record[w] = words[w][row];
        }
    }
    for (i = 0; i < CLR_BLOCK; i++) {
        const bool ends_here =
            i + 1 == CLR_BLOCK || numbers[i] != numbers[i + 1] ||
            ((selected[i / 64] >> i % 64 ^ selected[(i + 1) / 64] >> (i + 1) % 64) & 1) != 0;

        ends[i / 64] |= (uint64_t)ends_here << i % 64;
        end_count += ends_here;
    }
    if (adding.count >= CLR_BLOCK / 2 && end_count <= CLR_MOST_RUNS)
        adding.ends = ends;
    loops->add(&adding);
    batch_ok(memcmp(got, want, GROUPS * stride * sizeof *got) == 0, "%d words, %d added", all,
             adds);
    free(got);
    free(want);
}

TAP_TEST(test_loops)
{
    const struct clr_group_loops *loops;
    int skipped, round;

    for (skipped = 0; (loops = clr_group_loops_choose(skipped)) != NULL; skipped++) {
        for (round = 0; round < batch_rounds(1000); round++) {
            test_cut(loops, round % 3);
            test_integers(loops, round % 3);
            test_packing(loops, round % 3);
            test_extremes(loops, round % 2, round % 3);
            test_places(loops, round % 3);
            test_kept(loops);
            test_adding(loops);
        }
        batch_end("loops, the best but %d", skipped);
    }
}
