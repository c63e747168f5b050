/* States of sums, encoded, of random rows. */
#ifndef CLR_TESTS_SUM_STATES_H
#define CLR_TESTS_SUM_STATES_H

#include "numeric/state_rows.h"
#include "numeric/state_text.h"

static const enum clr_state_kind sum_kinds[] = {CLR_STATE_SUM, CLR_STATE_DOT, CLR_STATE_SQUARES,
                                                CLR_STATE_PAIRS};
enum { SUM_KINDS = 4 };

static inline struct bytes encode(enum clr_state_kind kind, const struct clr_sums *sums)
{
    struct bytes bytes;

    bytes.size = clr_state_encode(kind, sums, bytes.data);
    return bytes;
}

static inline void add_random(struct state_rows *rows, enum state_flavour flavour)
{
    struct state_operand x = state_operand(flavour), y = state_operand(flavour);

    state_rows_add(rows, &x, &y, 1);
    if (random_below(8) == 0) {
        /* in and out again, as in a window */
        x = state_operand(STATE_INFINITE);
        y = state_operand(STATE_INFINITE);
        state_rows_add(rows, &x, &y, 1);
        state_rows_add(rows, &x, &y, -1);
    }
}

#endif
