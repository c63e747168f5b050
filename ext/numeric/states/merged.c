#include "numeric/states/merged.h"

#include "base/memory.h"
#include "numeric/states/state_bins.h"

#include <string.h>

void clr_merged_init(struct clr_merged *merged, enum clr_state_kind kind, uint64_t memory)
{
    int i;

    merged->kind = kind;
    merged->sums = (struct clr_sums){.count = 0};
    for (i = 0; i < CLR_MOST_TERMS; i++) {
        clr_sum_clear(&merged->sum[i]);
        merged->sums.sums[i] = &merged->sum[i];
    }
    merged->extreme = (struct clr_value){.kind = CLR_KIND_NONE};
    merged->bytes = NULL;
    merged->room = 0;
    merged->counters = NULL;
    merged->total = 0;
    merged->memory = memory;
}

void clr_merged_free(struct clr_merged *merged)
{
    clr_memory_free(merged->bytes);
    clr_memory_free(merged->counters);
    merged->bytes = NULL;
    merged->room = 0;
    merged->counters = NULL;
}

/* Makes the value the extreme, if it is a better one. */
static enum clr_code consider(struct clr_merged *merged, const struct clr_value *value)
{
    const int sign = merged->kind == CLR_STATE_MIN ? -1 : 1;
    void *bytes;

    if (value->kind == CLR_KIND_NONE ||
        (merged->extreme.kind != CLR_KIND_NONE &&
         clr_value_compare(value, &merged->extreme, sign) * sign <= 0))
        return CLR_OK;
    if (value->kind >= CLR_KIND_TEXT && value->as.size > merged->room) {
        bytes = clr_memory_realloc(merged->bytes, value->as.size);
        if (bytes == NULL)
            return CLR_NOMEM;
        merged->bytes = bytes;
        merged->room = value->as.size;
    }
    merged->extreme = *value;
    if (value->kind >= CLR_KIND_TEXT) {
        if (value->as.size > 0)
            memcpy(merged->bytes, value->bytes, value->as.size);
        merged->extreme.bytes = merged->bytes;
    }
    return CLR_OK;
}

static enum clr_code add_extreme(struct clr_merged *merged, const struct clr_value *state)
{
    struct clr_value value;

    if (clr_state_decode_extreme(state->bytes, state->as.size, merged->kind, &value) !=
        CLR_STATE_SOUND)
        return CLR_INVALID;
    return consider(merged, &value);
}

/* Makes counters for a histogram, or finds that those there are for other bins. */
static enum clr_code make_counters(struct clr_merged *merged, const struct clr_value *low,
                                   const struct clr_value *high, int64_t bins)
{
    const size_t size = ((size_t)bins + 2) * sizeof *merged->counters;

    if (merged->counters != NULL)
        return clr_value_compare(low, &merged->bins.low, 0) == 0 &&
                       clr_value_compare(high, &merged->bins.high, 0) == 0 &&
                       bins == merged->bins.count
                   ? CLR_OK
                   : CLR_INVALID;
    if (size > merged->memory)
        return CLR_LIMIT;
    merged->counters = clr_memory_alloc_zero(size);
    if (merged->counters == NULL)
        return CLR_NOMEM;
    clr_bins_init(&merged->bins, low, high, bins);
    return CLR_OK;
}

static bool has_room(const struct clr_merged *merged, uint64_t count)
{
    return count <= (uint64_t)CLR_STATE_MOST_ROWS - merged->total;
}

static enum clr_code add_bins(struct clr_merged *merged, const struct clr_value *state)
{
    struct clr_stored_bins stored;
    enum clr_code code;

    if (clr_state_decode_bins(state->bytes, state->as.size, &stored) != CLR_STATE_SOUND)
        return CLR_INVALID;
    if (stored.count == 0)
        return CLR_OK;
    code = make_counters(merged, &stored.low, &stored.high, stored.bins);
    if (code == CLR_OK && !has_room(merged, (uint64_t)stored.count))
        code = CLR_INVALID;
    if (code != CLR_OK)
        return code;
    clr_stored_bins_add(&stored, 1, merged->counters);
    merged->total += (uint64_t)stored.count;
    return CLR_OK;
}

enum clr_code clr_merged_add(struct clr_merged *merged, const struct clr_value *state)
{
    if (state->kind != CLR_KIND_BLOB)
        return CLR_INVALID;
    switch (merged->kind) {
    case CLR_STATE_MIN:
    case CLR_STATE_MAX:
        return add_extreme(merged, state);
    case CLR_STATE_BINS:
        return add_bins(merged, state);
    default:
        return clr_state_decode(state->bytes, state->as.size, merged->kind, &merged->sums, 1) ==
                       CLR_STATE_SOUND
                   ? CLR_OK
                   : CLR_INVALID;
    }
}

static enum clr_code join_bins(struct clr_merged *merged, const struct clr_merged *other)
{
    enum clr_code code;
    int64_t i;

    if (other->counters == NULL)
        return CLR_OK;
    code = make_counters(merged, &other->bins.low, &other->bins.high, other->bins.count);
    if (code == CLR_OK && !has_room(merged, other->total))
        code = CLR_INVALID;
    for (i = 0; i < other->bins.count + 2 && code == CLR_OK; i++)
        merged->counters[i] += other->counters[i];
    merged->total += code == CLR_OK ? other->total : 0;
    return code;
}

enum clr_code clr_merged_join(struct clr_merged *merged, struct clr_merged *other)
{
    int i;

    if (merged->kind == CLR_STATE_MIN || merged->kind == CLR_STATE_MAX)
        return consider(merged, &other->extreme);
    if (merged->kind == CLR_STATE_BINS)
        return join_bins(merged, other);
    if (other->sums.count > CLR_STATE_MOST_ROWS - merged->sums.count)
        return CLR_INVALID;
    merged->sums.count += other->sums.count;
    merged->sums.non_integers += other->sums.non_integers;
    for (i = 0; i < clr_state_sums(merged->kind); i++)
        clr_sum_merge(&merged->sum[i], &other->sum[i]);
    return CLR_OK;
}
