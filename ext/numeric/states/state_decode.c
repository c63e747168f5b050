#include "numeric/exact/moments_filter.h"
#include "numeric/states/state_bytes.h"
#include "numeric/states/state_check.h"

/* A beginning of a beginning is merely short. */
struct clr_reader clr_reader_begin(const unsigned char *bytes, size_t size,
                                   enum clr_state_kind kind)
{
    struct clr_reader reader = {clr_state_magic, clr_state_magic, CLR_STATE_TOO_SHORT};
    size_t compared = size < 2 ? size : 2;

    if (size == 0) /* bytes may be NULL */
        return reader;
    reader = (struct clr_reader){bytes, bytes + size, CLR_STATE_SOUND};
    if (memcmp(bytes, clr_state_magic, compared) != 0 || (size > 2 && bytes[2] == 0))
        clr_reader_fail(&reader, CLR_STATE_NOT_A_STATE);
    else if (size > 2 && bytes[2] > clr_state_magic[2])
        clr_reader_fail(&reader, CLR_STATE_NEWER);
    else if (size < CLR_STATE_HEAD)
        clr_reader_fail(&reader, CLR_STATE_TOO_SHORT);
    else if (bytes[3] != kind)
        clr_reader_fail(&reader, CLR_STATE_OTHER_KIND);
    else
        reader.at += CLR_STATE_HEAD;
    return reader;
}

static void get_sum(struct clr_reader *reader, int64_t non_integers, struct clr_stored_sum *sum)
{
    uint64_t head = clr_reader_get_varint(reader), size = head >> 2;
    int64_t exponent = 0;

    sum->negative = head & 1;
    sum->plus_infinity = sum->minus_infinity = sum->nan = 0;
    if (size != 0)
        exponent = clr_unfold_sign(clr_reader_get_varint(reader));
    else if (sum->negative)
        clr_reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    if (size > CLR_STATE_LIMIT || exponent > CLR_STATE_LIMIT || exponent < -CLR_STATE_LIMIT)
        clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
    sum->size = (size_t)size;
    sum->exponent = (int)exponent;
    sum->bytes = clr_reader_get_bytes(reader, sum->size);
    if (sum->bytes == NULL || reader->fault != CLR_STATE_SOUND) {
        sum->size = 0;
        return;
    }
    if (sum->size != 0 && (sum->bytes[0] == 0 || sum->bytes[sum->size - 1] == 0))
        clr_reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    if ((head & 2) == 0)
        return;
    sum->plus_infinity = clr_reader_get_count(reader, non_integers);
    sum->minus_infinity = clr_reader_get_count(reader, non_integers - sum->plus_infinity);
    sum->nan =
        clr_reader_get_count(reader, non_integers - sum->plus_infinity - sum->minus_infinity);
    if ((sum->plus_infinity | sum->minus_infinity | sum->nan) == 0)
        clr_reader_fail(reader, CLR_STATE_NOT_CANONICAL);
}

/*
 * Adds the sum in pieces that doubles hold: 8 bytes where they have 53 significant bits or fewer,
 * as all of a single row's do, else 6.
 */
static void add_pieces(struct clr_sum *sum, const struct clr_stored_sum *content, bool negative)
{
    size_t i, size;

    for (i = 0; i < content->size; i += size) {
        uint64_t piece;
        double x;
        size = content->size - i < 8 ? content->size - i : 8;
        piece = clr_load_bytes(content->bytes + i, size);
        if (piece == 0)
            continue;
        if (piece >> __builtin_ctzll(piece) >> 53 != 0) {
            size = 6;
            piece &= ((uint64_t)1 << 48) - 1;
        }
        x = ldexp((double)piece, 8 * (content->exponent + (int)i));
        clr_sum_add(sum, negative ? -x : x, 1);
    }
}

/* Adds the sum to the long accumulator, which holds all that the bounds let pass. */
static void add_digits(struct clr_sum *sum, const struct clr_stored_sum *content, bool negative)
{
    static const double nothing[CLR_EXPANSION_TERMS];
    int64_t digit[CLR_ACCUMULATOR_DIGITS] = {0};
    size_t i;

    for (i = 0; i < content->size; i++) {
        size_t at = (size_t)(content->exponent - CLR_ACCUMULATOR_BASE / 8) + i;
        int64_t part = (int64_t)content->bytes[i] << (8 * (at % 4));
        digit[at / 4] += negative ? -part : part;
    }
    clr_sum_add_device_parts(sum, nothing, digit);
}

/* Where a sum goes depends on its state alone, so that taking it away leaves no trace. */
static void add_sum(struct clr_sum *sum, const struct clr_stored_sum *content, bool integers,
                    int weight)
{
    bool negative = content->negative != (weight < 0);
    int top = 8 * (content->exponent + (int)content->size);

    sum->plus_infinity += weight * content->plus_infinity;
    sum->minus_infinity += weight * content->minus_infinity;
    sum->nan += weight * content->nan;
    if (content->size == 0)
        return;
    if (integers) {
        struct clr_int192 value = clr_stored_integer(content);
        if (negative)
            clr_int192_negate(&value);
        clr_int192_add(&sum->integer, &value);
    } else if (clr_stored_lowest_bit(content) >= CLR_LOWEST_BIT && top <= 1024) {
        add_pieces(sum, content, negative);
    } else {
        add_digits(sum, content, negative);
    }
}

/* Whether rows with these squares and products can have these sums. */
static bool moments_agree(const struct clr_stored_state *state, enum clr_state_kind kind)
{
    struct clr_sums sums = {.count = state->count};
    struct clr_sum sum[CLR_MOST_TERMS];
    int count = clr_state_sums(kind), i;

    if (kind != CLR_STATE_SQUARES && kind != CLR_STATE_PAIRS)
        return true;
    for (i = 0; i < count; i++) {
        clr_sum_clear(&sum[i]);
        add_sum(&sum[i], &state->sums[i], state->non_integers == 0, 1);
        sums.sums[clr_state_term(kind, i)] = &sum[i];
    }
    return clr_moments_surely_consistent(&sums) || clr_moments_consistent(&sums);
}

enum clr_state_fault clr_state_decode(const unsigned char *bytes, size_t size,
                                      enum clr_state_kind kind, struct clr_sums *sums, int weight)
{
    struct clr_reader reader = clr_reader_begin(bytes, size, kind);
    int count = clr_state_sums(kind), i;
    struct clr_stored_state state;
    enum clr_state_fault fault;

    state.count = clr_reader_get_count(&reader, CLR_STATE_MOST_ROWS);
    state.non_integers = clr_reader_get_count(&reader, state.count);
    for (i = 0; i < count; i++)
        get_sum(&reader, state.non_integers, &state.sums[i]);
    fault = clr_reader_end(&reader);
    if (fault != CLR_STATE_SOUND)
        return fault;
    if (!clr_stored_is_consistent(&state, kind) || !moments_agree(&state, kind))
        return CLR_STATE_INCONSISTENT;
    if (weight > 0 && state.count > CLR_STATE_MOST_ROWS - sums->count)
        return CLR_STATE_TOO_MANY_ROWS;

    sums->count += weight * state.count;
    sums->non_integers += weight * state.non_integers;
    for (i = 0; i < count; i++)
        add_sum(sums->sums[clr_state_term(kind, i)], &state.sums[i], state.non_integers == 0,
                weight);
    return CLR_STATE_SOUND;
}

struct clr_value clr_reader_get_value(struct clr_reader *reader)
{
    const unsigned char *type = clr_reader_get_bytes(reader, 1), *bytes;
    struct clr_value value = {.kind = CLR_KIND_NONE};
    uint64_t bits;

    if (type == NULL)
        return value;
    if (*type > CLR_KIND_BLOB) {
        clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
        return value;
    }
    value.kind = (enum clr_kind) * type;
    if (value.kind == CLR_KIND_INTEGER) {
        value.as.integer = clr_unfold_sign(clr_reader_get_varint(reader));
    } else if (value.kind == CLR_KIND_REAL) {
        bytes = clr_reader_get_bytes(reader, 8);
        bits = bytes != NULL ? clr_load_bytes(bytes, 8) : 0;
        memcpy(&value.as.real, &bits, sizeof bits);
        if (isnan(value.as.real))
            clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
    } else if (value.kind != CLR_KIND_NONE) {
        value.as.size = (size_t)(reader->end - reader->at);
        value.bytes = clr_reader_get_bytes(reader, value.as.size);
    }
    return value;
}

enum clr_state_fault clr_state_decode_extreme(const unsigned char *bytes, size_t size,
                                              enum clr_state_kind kind, struct clr_value *value)
{
    struct clr_reader reader = clr_reader_begin(bytes, size, kind);
    struct clr_value result = clr_reader_get_value(&reader);
    enum clr_state_fault fault = clr_reader_end(&reader);

    if (fault == CLR_STATE_SOUND)
        *value = result;
    return fault;
}

const char *clr_state_fault_text(enum clr_state_fault fault, const unsigned char *bytes)
{
    static const char *const faults[] = {
        [CLR_STATE_SOUND] = "it is sound",
        [CLR_STATE_TOO_SHORT] = "it ends too early",
        [CLR_STATE_NOT_A_STATE] = "it does not begin as one",
        [CLR_STATE_NEWER] = "it has a newer version of the format",
        [CLR_STATE_OTHER_KIND] = "it is a state of another function",
        [CLR_STATE_NOT_CANONICAL] = "a number in it is not in the shortest form",
        [CLR_STATE_INCONSISTENT] = "no rows have its counts and sums",
        [CLR_STATE_TRAILING] = "bytes follow its end",
        [CLR_STATE_TOO_MANY_ROWS] = "it would make the rows too many"};
    static const char *const others[] = {
        [CLR_STATE_SUM] = "it is a state of gpu_sum, gpu_total and gpu_avg",
        [CLR_STATE_DOT] = "it is a state of gpu_dot",
        [CLR_STATE_MIN] = "it is a state of gpu_min",
        [CLR_STATE_MAX] = "it is a state of gpu_max",
        [CLR_STATE_SQUARES] = "it is a state of variances, standard deviations and gpu_norm",
        [CLR_STATE_PAIRS] = "it is a state of covariances, correlations and regressions",
        [CLR_STATE_BINS] = "it is a state of gpu_histogram"};

    if (fault == CLR_STATE_OTHER_KIND && bytes[3] >= CLR_STATE_SUM && bytes[3] <= CLR_STATE_BINS)
        return others[bytes[3]];
    return faults[fault];
}
