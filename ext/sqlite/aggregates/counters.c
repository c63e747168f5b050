#include "sqlite/aggregates/counters.h"

#include "numeric/states/state_bins.h"
#include "sqlite/api.h"

/* Characters of a count and its comma. */
enum { COUNT_SIZE = 21 };

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

char *clr_counters_to_json(const struct clr_bins *bins, const uint64_t *counters, size_t *size)
{
    const size_t count = (size_t)bins->count + 2;
    char *text = sqlite3_malloc64(count * COUNT_SIZE + 2), *end = text;
    size_t i;

    if (text == NULL)
        return NULL;
    for (i = 0; i < count; i++) {
        *end++ = i == 0 ? '[' : ',';
        end = append_count(end, counters[i]);
    }
    *end++ = ']';
    *size = (size_t)(end - text);
    return text;
}

unsigned char *clr_counters_to_state(const struct clr_bins *bins, const uint64_t *counters,
                                     size_t *size)
{
    unsigned char *bytes;

    *size = clr_state_encode_bins(bins, counters, NULL);
    bytes = sqlite3_malloc64(*size);
    if (bytes != NULL)
        clr_state_encode_bins(bins, counters, bytes);
    return bytes;
}
