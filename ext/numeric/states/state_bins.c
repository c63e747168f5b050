#include "numeric/states/state_bins.h"

#include "numeric/states/state_bytes.h"

/* ---- Writing. */

/* Where the next byte goes, unless bytes are only counted. */
struct writer {
    unsigned char *buffer; /* or NULL */
    size_t size;
};

static void put_varint(struct writer *writer, uint64_t value)
{
    unsigned char spare[10], *at = writer->buffer != NULL ? writer->buffer + writer->size : spare;

    writer->size += (size_t)(clr_put_varint(at, value) - at);
}

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

static void put_bound(struct writer *writer, const struct clr_value *number)
{
    const struct clr_value bound = one_type(number);

    put_varint(writer, bound.kind);
    if (bound.kind == CLR_KIND_INTEGER) {
        put_varint(writer, clr_fold_sign(bound.as.integer));
        return;
    }
    if (writer->buffer != NULL)
        clr_put_real(writer->buffer + writer->size, bound.as.real);
    writer->size += 8;
}

/* Writes counters until count rows are in them. */
static void put_counters(struct writer *writer, const uint64_t *counters, uint64_t count)
{
    uint64_t zeros;

    for (; count > 0; counters++) {
        put_varint(writer, *counters);
        count -= *counters;
        if (*counters != 0)
            continue;
        for (zeros = 0; counters[1] == 0; counters++)
            zeros++;
        put_varint(writer, zeros);
    }
}

size_t clr_state_encode_bins(const struct clr_bins *bins, const uint64_t *counters,
                             unsigned char *buffer)
{
    struct writer writer = {buffer, CLR_STATE_HEAD};
    uint64_t count = 0;
    int64_t i;

    for (i = 0; i < bins->count + 2; i++)
        count += counters[i];
    if (buffer != NULL)
        clr_put_head(buffer, CLR_STATE_BINS);
    put_varint(&writer, count);
    if (count == 0)
        return writer.size;
    put_bound(&writer, &bins->low);
    put_bound(&writer, &bins->high);
    put_varint(&writer, (uint64_t)bins->count);
    put_counters(&writer, counters, count);
    return writer.size;
}

/* ---- Reading. */

static struct clr_value get_bound(struct clr_reader *reader)
{
    struct clr_value bound = {.kind = CLR_KIND_NONE}, shorter;
    const unsigned char *type = clr_get_bytes(reader, 1);

    if (type == NULL)
        return bound;
    if (*type == CLR_KIND_INTEGER) {
        bound.kind = CLR_KIND_INTEGER;
        bound.as.integer = clr_unfold_sign(clr_get_varint(reader));
    } else if (*type == CLR_KIND_REAL) {
        bound.kind = CLR_KIND_REAL;
        bound.as.real = clr_get_real(reader);
        shorter = one_type(&bound);
        if (isinf(bound.as.real))
            clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
        else if (shorter.kind != CLR_KIND_REAL)
            clr_reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    } else {
        clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
    }
    return bound;
}

/* Follows the counters to the one with which they add up. */
static void check_counters(struct clr_reader *reader, int64_t count, int64_t places)
{
    bool zeros = false;

    while (count > 0 && reader->fault == CLR_STATE_SOUND) {
        int64_t counter = clr_get_count(reader, count);
        if (places-- == 0)
            clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
        else if (counter == 0 && zeros)
            clr_reader_fail(reader, CLR_STATE_NOT_CANONICAL);
        else if (counter == 0)
            places -= clr_get_count(reader, places);
        zeros = counter == 0;
        count -= counter;
    }
}

enum clr_state_fault clr_state_decode_bins(const unsigned char *bytes, size_t size,
                                           struct clr_stored_bins *stored)
{
    struct clr_reader reader = clr_get_head(bytes, size, CLR_STATE_BINS);
    struct clr_stored_bins state = {.count = clr_get_count(&reader, CLR_STATE_MOST_ROWS)};

    if (state.count > 0) {
        state.low = get_bound(&reader);
        state.high = get_bound(&reader);
        state.bins = clr_get_count(&reader, CLR_BINS_LIMIT);
        if (reader.fault == CLR_STATE_SOUND &&
            (state.bins == 0 || clr_value_compare(&state.low, &state.high, 0) >= 0))
            clr_reader_fail(&reader, CLR_STATE_INCONSISTENT);
    }
    state.counters = reader.at;
    check_counters(&reader, state.count, state.bins + 2);
    state.end = reader.at;
    if (reader.fault == CLR_STATE_SOUND && reader.at != reader.end)
        return CLR_STATE_TRAILING;
    if (reader.fault == CLR_STATE_SOUND)
        *stored = state;
    return reader.fault;
}

void clr_stored_bins_add(const struct clr_stored_bins *stored, int weight, uint64_t *counters)
{
    struct clr_reader reader = {stored->counters, stored->end, CLR_STATE_SOUND};

    while (reader.at != reader.end) {
        uint64_t counter = clr_get_varint(&reader);
        if (counter == 0)
            counters += clr_get_varint(&reader);
        else
            *counters += weight < 0 ? 0 - counter : counter;
        counters++;
    }
}
