#include "numeric/states/finish.h"

#include "base/memory.h"
#include "numeric/exact/moments.h"
#include "numeric/states/state_format.h"

/* Characters of a count and its comma, at most. */
enum { COUNT_SIZE = 21 };

unsigned clr_finish_needs(const struct clr_aggregate *aggregate)
{
    return aggregate->operation < CLR_OPERATIONS
               ? 1
               : clr_statistic_needs((enum clr_statistic)aggregate->finish);
}

static void finish_total(enum clr_total total, const struct clr_sums *sums,
                         struct clr_output *output)
{
    struct clr_value *value = &output->value;
    struct clr_sum *sum = sums->sums[0];

    if (sums->count == 0 && total != CLR_TOTAL_TOTAL)
        return;
    value->kind = CLR_KIND_REAL;
    if (total == CLR_TOTAL_AVG) {
        value->as.real = clr_sum_round(sum, (uint64_t)sums->count);
    } else if (total == CLR_TOTAL_TOTAL || sums->non_integers != 0) {
        value->as.real = sums->count == 0 ? 0.0 : clr_sum_round(sum, 1);
    } else {
        value->kind = CLR_KIND_INTEGER;
        if (!clr_int192_to_int64(&sum->integer, &value->as.integer)) {
            output->code = CLR_INVALID;
            output->error = "integer overflow";
        }
    }
}

/* Makes the output bytes of that size, and returns where they go; NULL, with its code, without
   memory. */
static void *make_bytes(struct clr_output *output, enum clr_kind kind, size_t size)
{
    void *bytes = output->small;

    if (size > sizeof output->small)
        bytes = output->memory = clr_memory_alloc(size);
    if (bytes == NULL) {
        output->code = CLR_NOMEM;
        return NULL;
    }
    output->value = (struct clr_value){.kind = kind, .as.size = size, .bytes = bytes};
    return bytes;
}

void clr_finish_sums(const struct clr_aggregate *aggregate, enum clr_form form,
                     const struct clr_sums *sums, struct clr_output *output)
{
    if (form & CLR_FORM_STATE) {
        make_bytes(output, CLR_KIND_BLOB, sizeof output->small);
        output->value.as.size = clr_state_encode(aggregate->state, sums, output->small);
    } else if (aggregate->operation < CLR_OPERATIONS) {
        finish_total((enum clr_total)aggregate->finish, sums, output);
    } else {
        clr_moments_finish(sums, (enum clr_statistic)aggregate->finish, &output->value);
    }
}

void clr_finish_extreme(const struct clr_aggregate *aggregate, enum clr_form form,
                        const struct clr_value *extreme, struct clr_output *output)
{
    unsigned char *bytes;

    if (form & CLR_FORM_STATE) {
        bytes = make_bytes(output, CLR_KIND_BLOB,
                           clr_state_encode_extreme(aggregate->state, extreme, NULL));
        if (bytes != NULL)
            clr_state_encode_extreme(aggregate->state, extreme, bytes);
    } else {
        output->value = *extreme;
    }
}

/* Appends a count in decimal digits; returns the end. */
static char *append_count(char *end, uint64_t count)
{
    char digits[COUNT_SIZE];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + count % 10);
        count /= 10;
    } while (count != 0);
    while (n > 0)
        *end++ = digits[--n];
    return end;
}

static void write_json(const uint64_t *counters, size_t count, struct clr_output *output)
{
    char *text = make_bytes(output, CLR_KIND_TEXT, count * COUNT_SIZE + 2), *end = text;
    size_t i;

    if (text == NULL)
        return;
    for (i = 0; i < count; i++) {
        *end++ = i == 0 ? '[' : ',';
        end = append_count(end, counters[i]);
    }
    *end++ = ']';
    output->value.as.size = (size_t)(end - text);
    output->is_json = true;
}

/* Whether a histogram has counted a value. */
static bool has_values(const struct clr_bins *bins, const uint64_t *counters)
{
    int64_t i = bins->count + 1;

    while (i >= 0 && counters[i] == 0)
        i--;
    return i >= 0;
}

void clr_finish_bins(const struct clr_aggregate *aggregate, enum clr_form form,
                     const struct clr_bins *bins, const uint64_t *counters,
                     struct clr_output *output)
{
    unsigned char *bytes;

    if (!(form & CLR_FORM_STATE)) {
        if (bins == NULL || !has_values(bins, counters))
            return;
        if (bins->counting->value != NULL)
            output->value = bins->counting->value(counters);
        else
            write_json(counters, (size_t)bins->count + 2, output);
        return;
    }
    bytes = make_bytes(output, CLR_KIND_BLOB,
                       clr_state_encode_bins(aggregate->state, bins, counters, NULL));
    if (bytes != NULL)
        clr_state_encode_bins(aggregate->state, bins, counters, bytes);
}
