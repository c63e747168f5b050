/* Ranges of values, against their ranks in SQLite's order. */
#include "numeric/values/value_range.h"

#include "batch.h"
#include "numeric/filter/bounds.h"
#include "random.h"

#include "tap.h"

#define INTEGER(number)                                                                            \
    {                                                                                              \
        .kind = CLR_KIND_INTEGER, .as.integer = (number)                                           \
    }
#define REAL(number)                                                                               \
    {                                                                                              \
        .kind = CLR_KIND_REAL, .as.real = (number)                                                 \
    }
#define TEXT(text)                                                                                 \
    {                                                                                              \
        .kind = CLR_KIND_TEXT, .as.size = sizeof(text) - 1, .bytes = (text)                        \
    }
#define BLOB(text)                                                                                 \
    {                                                                                              \
        .kind = CLR_KIND_BLOB, .as.size = sizeof(text) - 1, .bytes = (text)                        \
    }

/* In their order; those of one rank are equal. */
static const struct ranked {
    int rank;
    struct clr_value value;
} values[] = {
    {0, {.kind = CLR_KIND_NONE}},
    {1, REAL(-1e300)},
    {2, INTEGER(INT64_MIN)},
    {2, REAL(-0x1p63)},
    {3, REAL(-4.5)},
    {4, REAL(-0.0)},
    {4, INTEGER(0)},
    {4, REAL(0.0)},
    {5, REAL(5e-324)},
    {6, INTEGER(7)},
    {6, REAL(7)},
    {7, REAL(0x1p53)},
    {8, INTEGER((INT64_C(1) << 53) + 1)},
    {9, INTEGER(INT64_MAX)},
    {10, REAL(0x1p63)},
    {11, TEXT("")},
    {12, TEXT("a")},
    {13, TEXT("a\0")},
    {14, TEXT("a\xff")},
    {15, TEXT("b")},
    {16, BLOB("")},
    {17, BLOB("a")},
};

enum { VALUES = sizeof values / sizeof values[0] };

/* A range, and the least and the greatest rank that is in it. */
struct known {
    struct clr_value_range range;
    int least, greatest;
};

static struct clr_value_end random_end(int *rank)
{
    const struct ranked *chosen = &values[random_below(VALUES)];

    *rank = chosen->rank;
    return (struct clr_value_end){
        .value = chosen->value, .is_there = random_below(4) > 0, .is_open = random_below(2) > 0};
}

static struct known random_range(void)
{
    struct known known = {.least = 0};
    int lower, upper;

    known.range.lower = random_end(&lower);
    known.range.upper = random_end(&upper);
    known.least = known.range.lower.is_there ? lower + known.range.lower.is_open : 0;
    known.greatest = known.range.upper.is_there ? upper - known.range.upper.is_open : VALUES;
    return known;
}

/* Whether a range has the values of those ranks and no others. Of neighbours with open ends it is
   not none, though there is no rank between. */
static bool has_ranks(const struct clr_value_range *range, int least, int greatest)
{
    int i;

    for (i = 0; i < VALUES; i++) {
        const int rank = values[i].rank;
        const int side = rank < least ? -1 : rank > greatest;

        if (!clr_value_range_is_none(range) &&
            clr_value_range_side(range, &values[i].value) != side)
            return false;
    }
    return !clr_value_range_is_none(range) || least > greatest;
}

static void test_random(void)
{
    int round;

    batch_begin();
    for (round = 0; round < 20000; round++) {
        const struct known a = random_range(), b = random_range();
        const bool a_none = clr_value_range_is_none(&a.range),
                   b_none = clr_value_range_is_none(&b.range);
        const struct clr_value_range both = clr_value_range_intersect(&a.range, &b.range);
        const struct clr_value_range either = clr_value_range_unite(&a.range, &b.range);
        const int least = a.least > b.least ? a.least : b.least;
        const int greatest = a.greatest < b.greatest ? a.greatest : b.greatest;

        /* What is open on both sides of two neighbours has no rank, and may have values. */
        if (least - greatest == 1)
            continue;
        batch_ok(has_ranks(&a.range, a.least, a.greatest) || a.least - a.greatest == 1,
                 "round %d: a range", round);
        batch_ok(has_ranks(&both, least, greatest), "round %d: what both have", round);
        if (a_none || b_none)
            batch_ok(
                has_ranks(&either, a_none ? b.least : a.least, a_none ? b.greatest : a.greatest) ||
                    (a_none ? b.least - b.greatest : a.least - a.greatest) >= 1,
                "round %d: one with none", round);
        else
            batch_ok(has_ranks(&either, a.least < b.least ? a.least : b.least,
                               a.greatest > b.greatest ? a.greatest : b.greatest),
                     "round %d: what one of them has", round);
    }
    batch_end("random ranges");
}

/* Whether a comparison of one value with another is true; NULL is not, but by IS. */
static bool compares(enum clr_opcode opcode, const struct ranked *a, const struct ranked *b)
{
    if (opcode == CLR_OP_IS)
        return a->rank == b->rank;
    if (a->rank == 0 || b->rank == 0)
        return false;
    return opcode == CLR_OP_EQUAL        ? a->rank == b->rank
           : opcode == CLR_OP_LESS       ? a->rank < b->rank
           : opcode == CLR_OP_LESS_EQUAL ? a->rank <= b->rank
           : opcode == CLR_OP_GREATER    ? a->rank > b->rank
                                         : a->rank >= b->rank;
}

static void test_comparisons(void)
{
    static const enum clr_opcode opcodes[] = {CLR_OP_EQUAL,   CLR_OP_IS,
                                              CLR_OP_LESS,    CLR_OP_LESS_EQUAL,
                                              CLR_OP_GREATER, CLR_OP_GREATER_EQUAL};
    size_t i, k, o;

    batch_begin();
    for (o = 0; o < sizeof opcodes / sizeof opcodes[0]; o++) {
        for (k = 0; k < VALUES; k++) {
            const struct clr_value_range range = clr_comparison_range(opcodes[o], &values[k].value);
            const bool is_none = clr_value_range_is_none(&range);

            batch_ok(clr_value_range_is_one(&range) ==
                         (!is_none && (opcodes[o] == CLR_OP_EQUAL || opcodes[o] == CLR_OP_IS)),
                     "opcode %d, value %zu: one value", (int)opcodes[o], k);
            for (i = 0; i < VALUES; i++)
                batch_ok((!is_none && clr_value_range_side(&range, &values[i].value) == 0) ==
                             compares(opcodes[o], &values[i], &values[k]),
                         "opcode %d, values %zu and %zu", (int)opcodes[o], i, k);
        }
    }
    batch_end("comparisons");
}

int main(void)
{
    random_start();
    test_random();
    test_comparisons();
    return tap_done();
}
