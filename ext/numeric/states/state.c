#include "numeric/states/state.h"

#include <math.h>

void clr_state_clear(struct clr_state *state)
{
    state->count = state->non_integers = 0;
    clr_sum_clear(&state->sum);
    state->integers.seen = state->reals.seen = false;
    state->more = NULL;
    state->more_count = 0;
}

void clr_state_extend(struct clr_state *state, struct clr_sum *more, int count)
{
    int i;

    state->more = more;
    state->more_count = count;
    for (i = 0; i < count; i++)
        clr_sum_clear(&more[i]);
}

void clr_range_merge(struct clr_range *range, const struct clr_range *other)
{
    if (other->seen) {
        clr_range_add(range, other->least);
        clr_range_add(range, other->greatest);
    }
}

void clr_state_merge(struct clr_state *state, struct clr_state *other)
{
    int i;

    state->count += other->count;
    state->non_integers += other->non_integers;
    for (i = 0; i <= state->more_count; i++)
        clr_sum_merge(clr_state_sum(state, i), clr_state_sum(other, i));
    clr_range_merge(&state->integers, &other->integers);
    clr_range_merge(&state->reals, &other->reals);
}

void clr_state_extreme(const struct clr_state *state, int sign, struct clr_value *result)
{
    struct clr_value real = {.kind = CLR_KIND_NONE};

    result->kind = CLR_KIND_NONE;
    result->bytes = NULL;
    if (state->integers.seen) {
        result->kind = CLR_KIND_INTEGER;
        result->as.integer = sign < 0 ? state->integers.least : state->integers.greatest;
    }
    if (state->reals.seen) {
        real.kind = CLR_KIND_REAL;
        real.as.real =
            clr_real_of(clr_real_to_key(sign < 0 ? state->reals.least : state->reals.greatest));
        if (result->kind == CLR_KIND_NONE || clr_value_compare(&real, result, sign) * sign > 0)
            *result = real;
    }
}

bool clr_state_has_infinity(const struct clr_state *state)
{
    struct clr_value least, greatest;

    clr_state_extreme(state, -1, &least);
    clr_state_extreme(state, 1, &greatest);
    return (least.kind == CLR_KIND_REAL && isinf(least.as.real)) ||
           (greatest.kind == CLR_KIND_REAL && isinf(greatest.as.real));
}
