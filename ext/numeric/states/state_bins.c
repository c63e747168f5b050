#include "numeric/states/state_bins.h"

#include "numeric/states/state_bytes.h"

/* Returns the INTEGER that a REAL equals, if there is one, else the number itself: rows may have
   either, and their bins are the same. */
static struct clr_value one_type(const struct clr_value *number)
{
    struct clr_value integer = {.kind = CLR_KIND_INTEGER};

    /* A NaN, which some bytes are, has no integer either. */
    if (!(number->kind == CLR_KIND_REAL && number->as.real >= -0x1p63 && number->as.real < 0x1p63))
        return *number;
    integer.as.integer = (int64_t)number->as.real;
    return (double)integer.as.integer == number->as.real ? integer : *number;
}

/* Writes counters until count rows are in them. */
static void put_counters(struct clr_writer *writer, const uint64_t *counters, uint64_t count)
{
    uint64_t zeros;

    for (; count > 0; counters++) {
        clr_writer_put_varint(writer, *counters);
        count -= *counters;
        if (*counters != 0)
            continue;
        for (zeros = 0; counters[1] == 0; counters++)
            zeros++;
        clr_writer_put_varint(writer, zeros);
    }
}

size_t clr_state_encode_bins(const struct clr_bins *bins, const uint64_t *counters,
                             unsigned char *buffer)
{
    const struct clr_value low = one_type(&bins->low), high = one_type(&bins->high);
    struct clr_writer writer = clr_writer_begin(buffer, CLR_STATE_BINS);
    uint64_t count = 0;
    int64_t i;

    for (i = 0; i < bins->count + 2; i++)
        count += counters[i];
    clr_writer_put_varint(&writer, count);
    if (count == 0)
        return writer.size;
    clr_writer_put_value(&writer, &low);
    clr_writer_put_value(&writer, &high);
    clr_writer_put_varint(&writer, (uint64_t)bins->count);
    put_counters(&writer, counters, count);
    return writer.size;
}

static struct clr_value get_bound(struct clr_reader *reader)
{
    const struct clr_value bound = clr_reader_get_value(reader);

    if ((bound.kind != CLR_KIND_INTEGER && bound.kind != CLR_KIND_REAL) ||
        (bound.kind == CLR_KIND_REAL && isinf(bound.as.real)))
        clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
    else if (one_type(&bound).kind != bound.kind)
        clr_reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    return bound;
}

/* Follows the counters to the one with which they add up. */
static void check_counters(struct clr_reader *reader, int64_t count, int64_t places)
{
    bool zeros = false;

    while (count > 0 && reader->fault == CLR_STATE_SOUND) {
        int64_t counter = clr_reader_get_count(reader, count);
        if (places-- == 0)
            clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
        else if (counter == 0 && zeros)
            clr_reader_fail(reader, CLR_STATE_NOT_CANONICAL);
        else if (counter == 0)
            places -= clr_reader_get_count(reader, places);
        zeros = counter == 0;
        count -= counter;
    }
}

enum clr_state_fault clr_state_decode_bins(const unsigned char *bytes, size_t size,
                                           struct clr_stored_bins *stored)
{
    struct clr_reader reader = clr_reader_begin(bytes, size, CLR_STATE_BINS);
    struct clr_stored_bins state = {.count = clr_reader_get_count(&reader, CLR_STATE_MOST_ROWS)};
    enum clr_state_fault fault;

    if (state.count > 0) {
        state.low = get_bound(&reader);
        state.high = get_bound(&reader);
        state.bins = clr_reader_get_count(&reader, CLR_BINS_LIMIT);
        if (reader.fault == CLR_STATE_SOUND &&
            (state.bins == 0 || clr_value_compare(&state.low, &state.high, 0) >= 0))
            clr_reader_fail(&reader, CLR_STATE_INCONSISTENT);
    }
    state.counters = reader.at;
    check_counters(&reader, state.count, state.bins + 2);
    state.end = reader.at;
    fault = clr_reader_end(&reader);
    if (fault == CLR_STATE_SOUND)
        *stored = state;
    return fault;
}

void clr_stored_bins_add(const struct clr_stored_bins *stored, int weight, uint64_t *counters)
{
    struct clr_reader reader = {stored->counters, stored->end, CLR_STATE_SOUND};

    while (reader.at != reader.end) {
        uint64_t counter = clr_reader_get_varint(&reader);
        if (counter == 0)
            counters += clr_reader_get_varint(&reader);
        else
            *counters += weight < 0 ? 0 - counter : counter;
        counters++;
    }
}
