/*
 * What must hold for any bytes that are taken for a state, sound or not: for state-t, which
 * mutates sound ones, and for libFuzzer (make state-fuzz).
 */
#ifndef CLR_TESTS_STATE_PROBE_H
#define CLR_TESTS_STATE_PROBE_H

#include "numeric/states/state_format.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What there is of no rows, in those sums. */
static inline struct clr_sums state_begin(struct clr_sum memory[CLR_MOST_TERMS])
{
    struct clr_sums sums = {.count = 0};

    for (int i = 0; i < CLR_MOST_TERMS; i++) {
        clr_sum_clear(&memory[i]);
        sums.sums[i] = &memory[i];
    }
    return sums;
}

/* Whether nothing was ever added. */
static inline bool state_is_untouched(const struct clr_sums *sums)
{
    static const struct clr_sum zero;

    for (int i = 0; i < CLR_MOST_TERMS; i++) {
        if (memcmp(sums->sums[i], &zero, offsetof(struct clr_sum, wide)) != 0)
            return false;
    }
    return sums->count == 0 && sums->non_integers == 0;
}

static inline bool state_has_bytes(enum clr_state_kind kind, const struct clr_sums *sums,
                                   const unsigned char *bytes, size_t size)
{
    unsigned char buffer[CLR_STATE_LIMIT];

    return clr_state_encode(kind, sums, buffer) == size && memcmp(buffer, bytes, size) == 0;
}

/* Returns NULL, or what is wrong; *fault is the library's answer. */
static inline const char *state_probe_sums(const unsigned char *bytes, size_t size,
                                           enum clr_state_kind kind, enum clr_state_fault *fault)
{
    static struct clr_sum memory[CLR_MOST_TERMS];
    struct clr_sums sums = state_begin(memory);
    unsigned char empty[CLR_STATE_LIMIT];
    size_t empty_size;

    *fault = clr_state_decode(bytes, size, kind, &sums, 1);
    if (*fault != CLR_STATE_SOUND)
        return state_is_untouched(&sums) ? NULL : "a refused state left a trace";
    if (!state_has_bytes(kind, &sums, bytes, size))
        return "a state that was taken is written in another way";
    for (int i = 0; i < clr_state_sums(kind); i++)
        clr_sum_round(&memory[i], (uint64_t)sums.count + 1);
    if (clr_state_decode(bytes, size, kind, &sums, 1) == CLR_STATE_SOUND) {
        if (clr_state_decode(bytes, size, kind, &sums, -1) != CLR_STATE_SOUND)
            return "a state that was added cannot be taken away";
        if (!state_has_bytes(kind, &sums, bytes, size))
            return "a state that was added and taken away left a trace";
    }
    clr_state_decode(bytes, size, kind, &sums, -1);
    empty_size = clr_state_encode(kind, &sums, empty);
    sums = state_begin(memory);
    return state_has_bytes(kind, &sums, empty, empty_size) ? NULL : "something is left of no rows";
}

static inline const char *state_probe_extreme(const unsigned char *bytes, size_t size,
                                              enum clr_state_kind kind, enum clr_state_fault *fault)
{
    static const unsigned char mark = 0;
    static unsigned char buffer[1 << 16];
    struct clr_value value = {.kind = CLR_KIND_BLOB, .as.size = 1, .bytes = &mark};

    *fault = clr_state_decode_extreme(bytes, size, kind, &value);
    if (*fault != CLR_STATE_SOUND)
        return value.kind == CLR_KIND_BLOB && value.as.size == 1 && value.bytes == &mark
                   ? NULL
                   : "a refused state left a trace";
    if (clr_state_encode_extreme(kind, &value, NULL) != size)
        return "a state that was taken would be written with another size";
    if (size > sizeof buffer)
        return NULL;
    return clr_state_encode_extreme(kind, &value, buffer) == size &&
                   memcmp(buffer, bytes, size) == 0
               ? NULL
               : "a state that was taken is written in another way";
}

/* A state of rows whose counters there is memory for. */
static inline const char *state_probe_counters(const unsigned char *bytes, size_t size,
                                               const struct clr_stored_bins *state,
                                               uint64_t *counters, unsigned char *buffer)
{
    struct clr_bins bins;
    uint64_t count = 0;

    clr_bins_init(&bins, &state->low, &state->high, state->bins);
    if (clr_bins_find(&bins, &state->low) != 0 ||
        clr_bins_find(&bins, &state->high) != state->bins - 1)
        return "the bounds are not in the first and the last bin";
    clr_stored_bins_add(state, 1, counters);
    for (int64_t i = 0; i < state->bins + 2; i++)
        count += counters[i];
    if (count != (uint64_t)state->count)
        return "the counters do not add up";
    if (clr_state_encode_bins(&bins, counters, NULL) != size ||
        clr_state_encode_bins(&bins, counters, buffer) != size || memcmp(buffer, bytes, size) != 0)
        return "a state that was taken is written in another way";
    clr_stored_bins_add(state, 1, counters);
    clr_stored_bins_add(state, -1, counters);
    clr_stored_bins_add(state, -1, counters);
    for (int64_t i = 0; i < state->bins + 2; i++)
        if (counters[i] != 0)
            return "a state that was added and taken away left a trace";
    return NULL;
}

static inline const char *state_probe_bins(const unsigned char *bytes, size_t size,
                                           enum clr_state_fault *fault)
{
    struct clr_stored_bins state = {.count = -1};
    const char *wrong = "no memory";
    unsigned char *buffer;
    uint64_t *counters;

    *fault = clr_state_decode_bins(bytes, size, &state);
    if (*fault != CLR_STATE_SOUND)
        return state.count == -1 ? NULL : "a refused state left a trace";
    if (state.count == 0)
        return size == 5 ? NULL : "a state of no rows has more than a count";
    buffer = malloc(size);
    counters = calloc((size_t)state.bins + 2, sizeof *counters);
    if (buffer != NULL && counters != NULL)
        wrong = state_probe_counters(bytes, size, &state, counters, buffer);
    free(counters);
    free(buffer);
    return wrong;
}

static inline const char *state_probe(const unsigned char *bytes, size_t size,
                                      enum clr_state_kind kind, enum clr_state_fault *fault)
{
    if (kind == CLR_STATE_MIN || kind == CLR_STATE_MAX)
        return state_probe_extreme(bytes, size, kind, fault);
    if (kind == CLR_STATE_BINS)
        return state_probe_bins(bytes, size, fault);
    return state_probe_sums(bytes, size, kind, fault);
}

#endif
