/* The filter says yes only where the exact answer is yes, and nearly always then. */
#include "numeric/exact/moments.h"

#include "batch.h"
#include "numeric/state_probe.h"
#include "random.h"

#include <math.h>

struct state_operand {
    bool is_integer;
    int64_t integer;
    double real;
};

/* Rows of a kind of state, and the sums that it has of them. */
struct state_rows {
    enum clr_state_kind kind;
    struct clr_sums sums;
    struct clr_sum memory[CLR_MOST_TERMS];
};

/* Adds x, or x * y, to a sum. */
static void add_to(struct clr_sum *sum, const struct state_operand *x,
                   const struct state_operand *y)
{
    if (y == NULL && x->is_integer)
        clr_sum_add_integer(sum, x->integer, 1);
    else if (y == NULL)
        clr_sum_add(sum, x->real, 1);
    else if (x->is_integer && y->is_integer)
        clr_sum_add_integer(sum, (clr_i128)x->integer * y->integer, 1);
    else if (x->is_integer)
        clr_sum_add_mixed_product(sum, x->integer, y->real, 1);
    else if (y->is_integer)
        clr_sum_add_mixed_product(sum, y->integer, x->real, 1);
    else
        clr_sum_add_product(sum, x->real, y->real, 1);
}

static void add_row(struct state_rows *rows, const struct state_operand *x,
                    const struct state_operand *y)
{
    const bool paired = rows->kind == CLR_STATE_PAIRS;

    rows->sums.count++;
    rows->sums.non_integers += !x->is_integer || (paired && !y->is_integer);
    add_to(&rows->memory[0], x, NULL);
    add_to(&rows->memory[1], x, x);
    if (paired) {
        add_to(&rows->memory[2], y, NULL);
        add_to(&rows->memory[3], y, y);
        add_to(&rows->memory[4], x, y);
    }
}

/* How hard a column of operands is: each makes another part of the sums work. */
enum state_flavour {
    STATE_SMALL,    /* few and small integers */
    STATE_INTEGERS, /* of any size */
    STATE_TAME,     /* REALs near 1 */
    STATE_WHOLE,    /* REALs that are integers */
    STATE_WILD,     /* REALs of any exponent */
    STATE_LOW,      /* the smallest ones */
    STATE_HIGH,     /* the largest ones */
    STATE_MIXED,    /* all of these */
    STATE_INFINITE, /* and infinities */
    STATE_FLAVOURS
};

static struct state_operand integer_operand(int64_t integer)
{
    return (struct state_operand){.is_integer = true, .integer = integer};
}

static struct state_operand real_operand(double real)
{
    return (struct state_operand){.real = real};
}

static struct state_operand state_operand(enum state_flavour flavour)
{
    switch (flavour) {
    case STATE_SMALL:
        return integer_operand(random_between(-100, 100));
    case STATE_INTEGERS:
        return integer_operand(random_integer());
    case STATE_TAME:
        return real_operand(random_hard(1013, 1033));
    case STATE_WHOLE:
        return real_operand((double)random_between(-1000000, 1000000));
    case STATE_WILD:
        return real_operand(random_finite());
    case STATE_LOW:
        return real_operand(random_hard(0, 60));
    case STATE_HIGH:
        return real_operand(random_hard(1980, 2046));
    case STATE_MIXED:
        return state_operand((enum state_flavour)random_below(STATE_MIXED));
    default:
        if (random_below(4) != 0)
            return state_operand((enum state_flavour)random_below(STATE_MIXED));
        return real_operand(random_bits() & 1 ? INFINITY : -INFINITY);
    }
}

/* Changes one of the sums, mostly by so little that only the exact answer can tell. */
static void disturb(struct state_rows *rows, int sums)
{
    struct clr_sum *sum = rows->sums.sums[random_below((uint64_t)sums)];
    double size = fabs(clr_sum_round(sum, 1));

    switch (random_below(4)) {
    case 0:
        clr_sum_add_integer(sum, random_between(-2, 2), 1);
        break;
    case 1:
        clr_sum_add(sum, ldexp(size, -random_between(40, 120)), random_bits() & 1 ? 1 : -1);
        break;
    case 2:
        clr_sum_add(sum, random_bits() & 1 ? 0x1p-1074 : -0x1p-1074, 1);
        break;
    default:
        clr_sum_add(sum, size, random_bits() & 1 ? 1 : -1);
        break;
    }
}

/* Rows of a flavour; aligned ones lie on a line, as nearly as doubles let them, or in one point. */
static void fill(struct state_rows *rows, enum state_flavour flavour, int count, bool aligned)
{
    struct state_operand x = state_operand(flavour), y = state_operand(flavour);
    int factor = random_between(-3, 3);

    for (int i = 0; i < count; i++) {
        add_row(rows, &x, &y);
        if (aligned && factor == 3)
            continue;
        x = state_operand(flavour);
        y = state_operand(flavour);
        if (aligned) {
            y.is_integer = x.is_integer;
            y.real = x.real * factor;
            y.integer = x.integer / 4 * factor;
            x.integer = x.integer / 4;
        }
    }
}

static void test_against_exact(enum clr_state_kind kind)
{
    static struct state_rows rows;
    int rounds = tap_is_quick() ? 20000 : 100000;
    long usual = 0, settled = 0, refused = 0;

    for (int round = 0; round < rounds; round++) {
        enum state_flavour flavour = (enum state_flavour)(round % STATE_FLAVOURS);
        struct clr_sums sums;
        bool disturbed = random_bits() & 1, aligned = random_bits() & 1, exact, plainly;
        rows.kind = kind;
        rows.sums = state_begin(rows.memory);
        fill(&rows, flavour, (int)random_below(6), aligned);
        if (disturbed)
            disturb(&rows, clr_state_sums(kind));
        sums = rows.sums;
        for (int i = clr_state_sums(kind); i < CLR_MOST_TERMS; i++)
            sums.sums[i] = NULL;
        plainly = clr_moments_surely_consistent(&sums);
        exact = clr_moments_consistent(&sums);
        batch_ok(exact || disturbed, "rows %d agree with themselves", round);
        batch_ok(exact || !plainly, "the filter lets sums %d pass", round);
        refused += !exact;
        if (flavour <= STATE_WHOLE && !disturbed && !aligned && rows.sums.count > 2) {
            usual++;
            settled += plainly;
        }
    }
    batch_end("sums of kind %d, with and without the filter", kind);
    tap_ok(refused >= rounds / 50, "%ld of %d are refused", refused, rounds);
    tap_ok(settled > usual / 10 * 9, "%ld of %ld usual rows are settled", settled, usual);
}

TAP_TEST(test_moments_filter)
{
    test_against_exact(CLR_STATE_SQUARES);
    test_against_exact(CLR_STATE_PAIRS);
}
