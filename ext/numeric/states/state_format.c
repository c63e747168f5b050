#include "numeric/states/state_format.h"

#include "numeric/exact/moments.h"

#include <math.h>
#include <string.h>

/*
 * The writer and the reader of states' bytes, for the files that know what is in them;
 * state_format.h has the format.
 */

/* How every state begins; its kind's byte follows. */
static const unsigned char clr_state_magic[] = {'c', 'r', 1};

enum { STATE_HEAD = 4 };

#define DESCRIBE(name, sums, functions) {sums, "it is a state of " functions},
static const struct {
    const char *sums, *text;
} kinds[] = {{"", ""}, CLR_STATE_KINDS(DESCRIBE)};

/* Which of an operation's sums stands in place i of a state of that kind. */
static inline int state_term(enum clr_state_kind kind, int i)
{
    static const int pairs[] = {CLR_MOMENT_X, CLR_MOMENT_Y, CLR_MOMENT_XX, CLR_MOMENT_YY,
                                CLR_MOMENT_XY};

    return kind == CLR_STATE_PAIRS ? pairs[i] : i;
}

/* The type bytes of MIN and MAX, and of the bounds of BINS, are the values of enum clr_kind: they
 * must not change. */
_Static_assert(CLR_KIND_NONE == 0 && CLR_KIND_INTEGER == 1 && CLR_KIND_REAL == 2 &&
                   CLR_KIND_TEXT == 3 && CLR_KIND_BLOB == 4,
               "the format's types");

/* A signed number as the unsigned one that stands for it, and back. */
static inline uint64_t fold_sign(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t unfold_sign(uint64_t folded)
{
    return (int64_t)(folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0));
}

/* ---- Writing. */

struct clr_writer {
    unsigned char *buffer; /* or NULL: bytes are only counted */
    size_t size;           /* of what was written so far */
};

/* Returns where the next size bytes go, or NULL where they are only counted. */
static inline unsigned char *writer_take(struct clr_writer *writer, size_t size)
{
    unsigned char *at = writer->buffer != NULL ? writer->buffer + writer->size : NULL;

    writer->size += size;
    return at;
}

static inline void writer_put_bytes(struct clr_writer *writer, const void *bytes, size_t size)
{
    unsigned char *at = writer_take(writer, size);

    if (at != NULL && size > 0)
        memcpy(at, bytes, size);
}

static inline void writer_put_varint(struct clr_writer *writer, uint64_t value)
{
    unsigned char spare[10];
    unsigned char *start = writer->buffer != NULL ? writer->buffer + writer->size : spare;
    unsigned char *at = start;

    for (; value >= 0x80; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    writer->size += (size_t)(at - start);
}

/* A type and the value of that type. */
static inline void writer_put_value(struct clr_writer *writer, const struct clr_value *value)
{
    unsigned char bytes[8];
    uint64_t bits;
    int i;

    writer_put_varint(writer, value->kind);
    if (value->kind == CLR_KIND_INTEGER) {
        writer_put_varint(writer, fold_sign(value->as.integer));
    } else if (value->kind == CLR_KIND_REAL) {
        bits = (uint64_t)clr_bits_of(value->as.real);
        for (i = 0; i < 8; i++)
            bytes[i] = (unsigned char)(bits >> (8 * i));
        writer_put_bytes(writer, bytes, sizeof bytes);
    } else if (value->kind != CLR_KIND_NONE) {
        writer_put_bytes(writer, value->bytes, value->as.size);
    }
}

/* Begins to write a state of that kind. */
static inline struct clr_writer writer_begin(unsigned char *buffer, enum clr_state_kind kind)
{
    struct clr_writer writer = {buffer, 0};

    writer_put_bytes(&writer, clr_state_magic, sizeof clr_state_magic);
    writer_put_varint(&writer, kind);
    return writer;
}

/* ---- Reading. */

/* Reads forward. The first fault stays, and ends the reading: at is then end. */
struct clr_reader {
    const unsigned char *at, *end;
    enum clr_state_fault fault;
};

/* Returns the fault of a state that was read as far as it has content. */
static inline enum clr_state_fault reader_end(const struct clr_reader *reader)
{
    if (reader->fault == CLR_STATE_SOUND && reader->at != reader->end)
        return CLR_STATE_TRAILING;
    return reader->fault;
}

static inline void reader_fail(struct clr_reader *reader, enum clr_state_fault fault)
{
    if (reader->fault == CLR_STATE_SOUND)
        reader->fault = fault;
    reader->at = reader->end;
}

/* Returns 0 where there is no varint. */
static inline uint64_t reader_get_varint(struct clr_reader *reader)
{
    uint64_t value = 0;
    int shift;

    for (shift = 0; shift < 64; shift += 7) {
        unsigned char byte;
        if (reader->at == reader->end) {
            reader_fail(reader, CLR_STATE_TOO_SHORT);
            return 0;
        }
        byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if ((byte != 0 || shift == 0) && (shift < 63 || byte == 1))
                return value;
            break;
        }
    }
    reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    return 0;
}

/* Returns where the next size bytes are, or NULL. */
static inline const unsigned char *reader_get_bytes(struct clr_reader *reader, size_t size)
{
    const unsigned char *bytes = reader->at;

    if ((size_t)(reader->end - reader->at) < size) {
        reader_fail(reader, CLR_STATE_TOO_SHORT);
        return NULL;
    }
    reader->at += size;
    return bytes;
}

/* A number of rows or the like, of which there are most at most. */
static inline int64_t reader_get_count(struct clr_reader *reader, int64_t most)
{
    uint64_t count = reader_get_varint(reader);

    if (count <= (uint64_t)most)
        return (int64_t)count;
    reader_fail(reader, CLR_STATE_INCONSISTENT);
    return 0;
}

/* The number that size bytes are, 8 at most, the lowest first. */
static inline uint64_t load_bytes(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

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
    const char *layout = kinds[kind].sums;
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

/* Begins to read a state of that kind: checks what precedes the content, of which a beginning is
   merely short. */
static struct clr_reader reader_begin(const unsigned char *bytes, size_t size,
                                      enum clr_state_kind kind)
{
    struct clr_reader reader = {clr_state_magic, clr_state_magic, CLR_STATE_TOO_SHORT};
    size_t compared = size < 2 ? size : 2;

    if (size == 0) /* bytes may be NULL */
        return reader;
    reader = (struct clr_reader){bytes, bytes + size, CLR_STATE_SOUND};
    if (memcmp(bytes, clr_state_magic, compared) != 0 || (size > 2 && bytes[2] == 0))
        reader_fail(&reader, CLR_STATE_NOT_A_STATE);
    else if (size > 2 && bytes[2] > clr_state_magic[2])
        reader_fail(&reader, CLR_STATE_NEWER);
    else if (size < STATE_HEAD)
        reader_fail(&reader, CLR_STATE_TOO_SHORT);
    else if (bytes[3] != kind)
        reader_fail(&reader, CLR_STATE_OTHER_KIND);
    else
        reader.at += STATE_HEAD;
    return reader;
}

static void get_sum(struct clr_reader *reader, int64_t non_integers, struct stored_sum *sum)
{
    uint64_t head = reader_get_varint(reader), size = head >> 2;
    int64_t exponent = 0;

    sum->negative = head & 1;
    sum->plus_infinity = sum->minus_infinity = sum->nan = 0;
    if (size != 0)
        exponent = unfold_sign(reader_get_varint(reader));
    else if (sum->negative)
        reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    if (size > CLR_STATE_LIMIT || exponent > CLR_STATE_LIMIT || exponent < -CLR_STATE_LIMIT)
        reader_fail(reader, CLR_STATE_INCONSISTENT);
    sum->size = (size_t)size;
    sum->exponent = (int)exponent;
    sum->bytes = reader_get_bytes(reader, sum->size);
    if (sum->bytes == NULL || reader->fault != CLR_STATE_SOUND) {
        sum->size = 0;
        return;
    }
    if (sum->size != 0 && (sum->bytes[0] == 0 || sum->bytes[sum->size - 1] == 0))
        reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    if ((head & 2) == 0)
        return;
    sum->plus_infinity = reader_get_count(reader, non_integers);
    sum->minus_infinity = reader_get_count(reader, non_integers - sum->plus_infinity);
    sum->nan = reader_get_count(reader, non_integers - sum->plus_infinity - sum->minus_infinity);
    if ((sum->plus_infinity | sum->minus_infinity | sum->nan) == 0)
        reader_fail(reader, CLR_STATE_NOT_CANONICAL);
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
        piece = load_bytes(content->bytes + i, size);
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
        sums.sums[state_term(kind, i)] = &sum[i];
    }
    return clr_moments_surely_consistent(&sums) || clr_moments_consistent(&sums);
}

enum clr_state_fault clr_state_decode(const unsigned char *bytes, size_t size,
                                      enum clr_state_kind kind, struct clr_sums *sums, int weight)
{
    struct clr_reader reader = reader_begin(bytes, size, kind);
    int count = clr_state_sums(kind), i;
    struct stored_state state;
    enum clr_state_fault fault;

    state.count = reader_get_count(&reader, CLR_STATE_MOST_ROWS);
    state.non_integers = reader_get_count(&reader, state.count);
    for (i = 0; i < count; i++)
        get_sum(&reader, state.non_integers, &state.sums[i]);
    fault = reader_end(&reader);
    if (fault != CLR_STATE_SOUND)
        return fault;
    if (!stored_is_consistent(&state, kind) || !moments_agree(&state, kind))
        return CLR_STATE_INCONSISTENT;
    if (weight > 0 && state.count > CLR_STATE_MOST_ROWS - sums->count)
        return CLR_STATE_TOO_MANY_ROWS;

    sums->count += weight * state.count;
    sums->non_integers += weight * state.non_integers;
    for (i = 0; i < count; i++)
        add_sum(sums->sums[state_term(kind, i)], &state.sums[i], state.non_integers == 0, weight);
    return CLR_STATE_SOUND;
}

/* A type and the value of that type, no NaN; TEXT and BLOB take all that is left. Where there is
   none the reading has ended. */
static struct clr_value reader_get_value(struct clr_reader *reader)
{
    const unsigned char *type = reader_get_bytes(reader, 1), *bytes;
    struct clr_value value = {.kind = CLR_KIND_NONE};
    uint64_t bits;

    if (type == NULL)
        return value;
    if (*type > CLR_KIND_BLOB) {
        reader_fail(reader, CLR_STATE_INCONSISTENT);
        return value;
    }
    value.kind = (enum clr_kind) * type;
    if (value.kind == CLR_KIND_INTEGER) {
        value.as.integer = unfold_sign(reader_get_varint(reader));
    } else if (value.kind == CLR_KIND_REAL) {
        bytes = reader_get_bytes(reader, 8);
        bits = bytes != NULL ? load_bytes(bytes, 8) : 0;
        value.as.real = clr_real_of((int64_t)bits);
        if (isnan(value.as.real))
            reader_fail(reader, CLR_STATE_INCONSISTENT);
    } else if (value.kind != CLR_KIND_NONE) {
        value.as.size = (size_t)(reader->end - reader->at);
        value.bytes = reader_get_bytes(reader, value.as.size);
    }
    return value;
}

enum clr_state_fault clr_state_decode_extreme(const unsigned char *bytes, size_t size,
                                              enum clr_state_kind kind, struct clr_value *value)
{
    struct clr_reader reader = reader_begin(bytes, size, kind);
    struct clr_value result = reader_get_value(&reader);
    enum clr_state_fault fault = reader_end(&reader);

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

    if (fault == CLR_STATE_OTHER_KIND && bytes[3] > CLR_STATE_NONE && bytes[3] < CLR_STATE_END)
        return kinds[bytes[3]].text;
    return faults[fault];
}

int clr_state_sums(enum clr_state_kind kind)
{
    return (int)strlen(kinds[kind].sums);
}

static unsigned char digit_byte(const struct clr_magnitude *value, int i)
{
    return (unsigned char)(value->digit[i / 4] >> (8 * (i % 4)));
}

static void put_sum(struct clr_writer *writer, struct clr_sum *sum)
{
    struct clr_magnitude value;
    bool special = clr_sum_is_unusual(sum);
    int first = 0, last = -1, i;
    unsigned char *at;

    /* Bytes are numbered from the accumulator's lowest, whose weight is a power of 256. */
    _Static_assert(CLR_ACCUMULATOR_BASE % 8 == 0, "the accumulator is made of bytes");
    clr_sum_exact(sum, &value);
    if (value.top >= 0) {
        first = 4 * value.low + __builtin_ctz(value.digit[value.low]) / 8;
        last = 4 * value.top + (31 - __builtin_clz(value.digit[value.top])) / 8;
    }
    writer_put_varint(writer, (uint64_t)(last - first + 1) << 2 | (special ? 2 : 0) |
                                  (value.negative ? 1 : 0));
    if (value.top >= 0)
        writer_put_varint(writer, fold_sign(first + CLR_ACCUMULATOR_BASE / 8));
    at = writer_take(writer, (size_t)(last - first + 1));
    for (i = first; i <= last; i++)
        *at++ = digit_byte(&value, i);
    if (special) {
        writer_put_varint(writer, (uint64_t)sum->plus_infinity);
        writer_put_varint(writer, (uint64_t)sum->minus_infinity);
        writer_put_varint(writer, (uint64_t)sum->nan);
    }
}

size_t clr_state_encode(enum clr_state_kind kind, const struct clr_sums *sums,
                        unsigned char *buffer)
{
    struct clr_writer writer = writer_begin(buffer, kind);
    int count = clr_state_sums(kind), i;

    writer_put_varint(&writer, (uint64_t)sums->count);
    writer_put_varint(&writer, (uint64_t)sums->non_integers);
    for (i = 0; i < count; i++)
        put_sum(&writer, sums->sums[state_term(kind, i)]);
    return writer.size;
}

size_t clr_state_encode_extreme(enum clr_state_kind kind, const struct clr_value *value,
                                unsigned char *buffer)
{
    struct clr_writer writer = writer_begin(buffer, kind);

    writer_put_value(&writer, value);
    return writer.size;
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

/* Writes counters until count rows are in them. */
static void put_counters(struct clr_writer *writer, const uint64_t *counters, uint64_t count)
{
    uint64_t zeros;

    for (; count > 0; counters++) {
        writer_put_varint(writer, *counters);
        count -= *counters;
        if (*counters != 0)
            continue;
        for (zeros = 0; counters[1] == 0; counters++)
            zeros++;
        writer_put_varint(writer, zeros);
    }
}

size_t clr_state_encode_bins(const struct clr_bins *bins, const uint64_t *counters,
                             unsigned char *buffer)
{
    struct clr_writer writer = writer_begin(buffer, CLR_STATE_BINS);
    struct clr_value low, high;
    uint64_t count = 0;
    int64_t i;

    for (i = 0; bins != NULL && i < bins->count + 2; i++)
        count += counters[i];
    writer_put_varint(&writer, count);
    if (count == 0)
        return writer.size;
    low = one_type(&bins->low);
    high = one_type(&bins->high);
    writer_put_value(&writer, &low);
    writer_put_value(&writer, &high);
    writer_put_varint(&writer, (uint64_t)bins->count);
    put_counters(&writer, counters, count);
    return writer.size;
}

static struct clr_value get_bound(struct clr_reader *reader)
{
    const struct clr_value bound = reader_get_value(reader);

    if ((bound.kind != CLR_KIND_INTEGER && bound.kind != CLR_KIND_REAL) ||
        (bound.kind == CLR_KIND_REAL && isinf(bound.as.real)))
        reader_fail(reader, CLR_STATE_INCONSISTENT);
    else if (one_type(&bound).kind != bound.kind)
        reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    return bound;
}

/* Follows the counters to the one with which they add up. */
static void check_counters(struct clr_reader *reader, int64_t count, int64_t places)
{
    bool zeros = false;

    while (count > 0 && reader->fault == CLR_STATE_SOUND) {
        int64_t counter = reader_get_count(reader, count);
        if (places-- == 0)
            reader_fail(reader, CLR_STATE_INCONSISTENT);
        else if (counter == 0 && zeros)
            reader_fail(reader, CLR_STATE_NOT_CANONICAL);
        else if (counter == 0)
            places -= reader_get_count(reader, places);
        zeros = counter == 0;
        count -= counter;
    }
}

enum clr_state_fault clr_state_decode_bins(const unsigned char *bytes, size_t size,
                                           struct clr_stored_bins *stored)
{
    struct clr_reader reader = reader_begin(bytes, size, CLR_STATE_BINS);
    struct clr_stored_bins state = {.count = reader_get_count(&reader, CLR_STATE_MOST_ROWS)};
    enum clr_state_fault fault;

    if (state.count > 0) {
        state.low = get_bound(&reader);
        state.high = get_bound(&reader);
        state.bins = reader_get_count(&reader, CLR_BINS_LIMIT);
        if (reader.fault == CLR_STATE_SOUND &&
            (state.bins == 0 || clr_value_compare(&state.low, &state.high, 0) >= 0))
            reader_fail(&reader, CLR_STATE_INCONSISTENT);
    }
    state.counters = reader.at;
    check_counters(&reader, state.count, state.bins + 2);
    state.end = reader.at;
    fault = reader_end(&reader);
    if (fault == CLR_STATE_SOUND)
        *stored = state;
    return fault;
}

void clr_stored_bins_add(const struct clr_stored_bins *stored, int weight, uint64_t *counters)
{
    struct clr_reader reader = {stored->counters, stored->end, CLR_STATE_SOUND};

    while (reader.at != reader.end) {
        uint64_t counter = reader_get_varint(&reader);
        if (counter == 0)
            counters += reader_get_varint(&reader);
        else
            *counters += weight < 0 ? 0 - counter : counter;
        counters++;
    }
}
