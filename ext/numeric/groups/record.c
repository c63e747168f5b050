#include "numeric/groups/groups_private.h"

/* What is known of one type's extremes by their words, if any such value was seen. */
static void set_range(const int64_t *record, const int words[2], bool seen, struct clr_range *range)
{
    range->seen = seen && (words[0] >= 0 || words[1] >= 0);
    if (!range->seen)
        return;
    if (words[0] >= 0)
        range->least = clr_group_least_of((uint64_t)record[words[0]]);
    if (words[1] >= 0)
        range->greatest = clr_group_greatest_of((uint64_t)record[words[1]]);
    /* Nobody has asked for what has not been found. */
    if (words[0] < 0)
        range->least = range->greatest;
    if (words[1] < 0)
        range->greatest = range->least;
}

static void set_integer(const struct clr_group_tally *kept, const int64_t *record,
                        struct clr_sum *sum)
{
    clr_i128 value;

    /* The lower halves are a sum of fewer than 2^32 numbers below 2^32. */
    if (kept->integer_high >= 0)
        value = (clr_i128)record[kept->integer_high] * ((clr_i128)1 << 32) +
                (uint64_t)record[kept->integer];
    else
        value = clr_group_field_get(&kept->field, record[kept->integer]);
    clr_int192_add_i128(&sum->integer, value);
}

void clr_group_record_state(const struct clr_group_plan *plan, int tally, const int64_t *record,
                            struct clr_state *state)
{
    const struct clr_group_tally *kept = &plan->tallies[tally];
    const unsigned others = CLR_TYPE(CLR_TAG_REAL) | CLR_TYPE(CLR_TAG_BYTES);

    clr_state_clear(state);
    state->count =
        clr_group_row_count(plan, record) - (kept->missing < 0 ? 0 : record[kept->missing]);
    if (kept->others >= 0)
        state->non_integers = record[kept->others];
    else if (kept->has_x && ((kept->x_types | kept->y_types) & others) != 0)
        state->non_integers = state->count;
    if (kept->integer >= 0)
        set_integer(kept, record, &state->sum);
    if (kept->real_high >= 0)
        clr_window_sum(&kept->window, record[kept->real_high], record[kept->real_low], &state->sum);
    set_range(record, kept->extremes, state->count > state->non_integers, &state->integers);
    if (kept->is_bounded && state->count > 0)
        state->integers = (struct clr_range){true, -kept->integer_limit, kept->integer_limit};
    set_range(record, kept->extremes + 2, state->non_integers > 0, &state->reals);
}
