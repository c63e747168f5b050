/* The filter says yes only where the exact answer is yes, and nearly always then. */
#include "numeric/exact/moments.h"

#include "batch.h"
#include "numeric/state_rows.h"

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
    int factor = random_between(-3, 3), i;

    for (i = 0; i < count; i++) {
        state_rows_add(rows, &x, &y, 1);
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
    int rounds = tap_is_quick() ? 20000 : 100000, round, i;
    long usual = 0, settled = 0, refused = 0;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        enum state_flavour flavour = (enum state_flavour)(round % STATE_FLAVOURS);
        struct clr_sums sums;
        bool disturbed = random_bits() & 1, aligned = random_bits() & 1, exact, plainly;
        state_rows_begin(&rows, kind);
        fill(&rows, flavour, (int)random_below(6), aligned);
        if (disturbed)
            disturb(&rows, clr_state_sums(kind));
        sums = rows.sums;
        for (i = clr_state_sums(kind); i < CLR_MOST_TERMS; i++)
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
