#include "numeric/states/state.h"

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

static void merge_range(struct clr_range *range, const struct clr_range *other)
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
    merge_range(&state->integers, &other->integers);
    merge_range(&state->reals, &other->reals);
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
