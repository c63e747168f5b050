#include "numeric/exact/moments_filter.h"

#include "numeric/states/state_bytes.h"
#include "numeric/states/state_format.h"

/* ---- A state of sums that was read and not yet believed, and bounds of what rows can make. */

/* Every finite double, and so every sum of them, is a multiple of 2^CLR_LOWEST_BIT. */
enum { CLR_LOWEST_BIT = -1074 };

/* A sum in a state: size bytes that count units of 256^exponent, and what is not finite. */
struct stored_sum {
    const unsigned char *bytes;
    size_t size;
    int exponent;
    bool negative;
    int64_t plus_infinity, minus_infinity, nan;
};

/* A state, taken apart; its sums are in the format's order. */
struct stored_state {
    int64_t count, non_integers;
    struct stored_sum sums[CLR_MOST_TERMS];
};

static int stored_lowest_bit(const struct stored_sum *sum)
{
    return 8 * sum->exponent + __builtin_ctz(sum->bytes[0]);
}

/* The size of a sum that is an integer of 24 bytes at most. */
static struct clr_int192 stored_integer(const struct stored_sum *sum)
{
    uint64_t word[3] = {0, 0, 0};
    size_t i;

    for (i = 0; i < sum->size; i++) {
        size_t at = (size_t)sum->exponent + i;
        word[at / 8] |= (uint64_t)sum->bytes[i] << (8 * (at % 8));
    }
    return (struct clr_int192){word[0], word[1], word[2]};
}

/* The bounds of what rows can add up to; bits and bytes are numbered from the point. */
struct bounds {
    int integer_bit; /* n INTEGER rows add up to n * 2^integer_bit at most, in size */
    int real_byte;   /* n finite rows to less than n * 256^real_byte */
    int lowest_bit;  /* every row, and so every sum, is a multiple of 2^lowest_bit */
};

static const struct bounds value_bounds = {63, 1024 / 8, CLR_LOWEST_BIT};
static const struct bounds product_bounds = {126, 2048 / 8, 2 * CLR_LOWEST_BIT};

static int64_t specials(const struct stored_sum *sum)
{
    return sum->plus_infinity + sum->minus_infinity + sum->nan;
}

/* Whether that many INTEGER rows can add up to the sum. */
static bool integers_reach(const struct stored_sum *sum, int64_t rows, int bit)
{
    clr_u128 most = (clr_u128)rows << (bit - 63), high; /* in units of 2^63 */
    struct clr_int192 size;

    if (sum->exponent < 0 || sum->exponent + (int)sum->size > 24)
        return false;
    size = stored_integer(sum);
    high = (clr_u128)size.high << 65 | (clr_u128)size.middle << 1 | size.low >> 63;
    return size.high >> 63 == 0 && (high < most || (high == most && size.low << 1 == 0));
}

/* Whether that many finite rows, one of them not an INTEGER at least, can add up to the sum. */
static bool reals_reach(const struct stored_sum *sum, int64_t rows, const struct bounds *bounds)
{
    int top = sum->exponent + (int)sum->size, at;
    uint64_t high = 0; /* in units of the bound */

    if (stored_lowest_bit(sum) < bounds->lowest_bit || top > bounds->real_byte + 8)
        return false;
    for (at = top - 1; at >= bounds->real_byte && at >= sum->exponent; at--)
        high |= (uint64_t)sum->bytes[at - sum->exponent] << (8 * (at - bounds->real_byte));
    return high < (uint64_t)rows;
}

/* quantity is one of a layout's. */
static bool is_possible(const struct stored_state *state, const struct stored_sum *sum,
                        char quantity)
{
    const struct bounds *bounds = quantity == 'x' ? &value_bounds : &product_bounds;
    int64_t finite = state->non_integers - specials(sum);

    if (sum->size == 0)
        return true;
    if (quantity == '2' && sum->negative)
        return false;
    if (finite == 0)
        return integers_reach(sum, state->count - state->non_integers, bounds->integer_bit);
    return reals_reach(sum, finite, bounds);
}

/* An infinite value has an infinite square, and a NaN a NaN. */
static bool squares_agree(const struct stored_sum *values, const struct stored_sum *squares)
{
    return squares->plus_infinity == values->plus_infinity + values->minus_infinity &&
           squares->minus_infinity == 0 && squares->nan == values->nan;
}

/* A product is special where either of its factors is. */
static bool products_agree(const struct stored_sum *x, const struct stored_sum *y,
                           const struct stored_sum *products)
{
    return specials(products) >= specials(x) && specials(products) >= specials(y) &&
           specials(products) <= specials(x) + specials(y);
}

/*
 * Returns whether rows of that kind can have these counts and sums, as far as each sum's size,
 * lowest bit and sign tell, and which of them are infinite. What is left to ask is whether squares
 * and products agree with the sums (clr_moments_consistent).
 */
static bool stored_is_consistent(const struct stored_state *state, enum clr_state_kind kind)
{
    const char *layout = clr_state_layout(kind);
    const struct stored_sum *sums = state->sums;
    int i;

    for (i = 0; layout[i] != '\0'; i++) {
        if (!is_possible(state, &sums[i], layout[i]))
            return false;
    }
    if (kind == CLR_STATE_SQUARES)
        return squares_agree(&sums[0], &sums[1]);
    if (kind == CLR_STATE_PAIRS)
        return squares_agree(&sums[0], &sums[2]) && squares_agree(&sums[1], &sums[3]) &&
               products_agree(&sums[0], &sums[1], &sums[4]);
    return true;
}

/* ---- Reading. */

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

static void get_sum(struct clr_reader *reader, int64_t non_integers, struct stored_sum *sum)
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
static void add_pieces(struct clr_sum *sum, const struct stored_sum *content, bool negative)
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
static void add_digits(struct clr_sum *sum, const struct stored_sum *content, bool negative)
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
static void add_sum(struct clr_sum *sum, const struct stored_sum *content, bool integers,
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
        struct clr_int192 value = stored_integer(content);
        if (negative)
            clr_int192_negate(&value);
        clr_int192_add(&sum->integer, &value);
    } else if (stored_lowest_bit(content) >= CLR_LOWEST_BIT && top <= 1024) {
        add_pieces(sum, content, negative);
    } else {
        add_digits(sum, content, negative);
    }
}

/* Whether rows with these squares and products can have these sums. */
static bool moments_agree(const struct stored_state *state, enum clr_state_kind kind)
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
    struct stored_state state;
    enum clr_state_fault fault;

    state.count = clr_reader_get_count(&reader, CLR_STATE_MOST_ROWS);
    state.non_integers = clr_reader_get_count(&reader, state.count);
    for (i = 0; i < count; i++)
        get_sum(&reader, state.non_integers, &state.sums[i]);
    fault = clr_reader_end(&reader);
    if (fault != CLR_STATE_SOUND)
        return fault;
    if (!stored_is_consistent(&state, kind) || !moments_agree(&state, kind))
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
