/* The loops of every instruction set that this processor has, against plain code and each other. */
#include "numeric/scan/loops.h"

#include "batch.h"
#include "numeric/scan_reference.h"
#include "random.h"

static int64_t a[CLR_BLOCK], b[CLR_BLOCK], result[CLR_BLOCK];
static uint8_t a_tags[CLR_BLOCK], b_tags[CLR_BLOCK], result_tags[CLR_BLOCK];

/* Few values that matter, so that most blocks have no doubts, or any. */
static scalar draw(int tag, bool tame)
{
    if (tag == VALUE_INTEGER)
        return scalar_integer(tame ? random_between(-70, 70) : random_integer());
    return scalar_real(tame ? (double)random_between(-40, 40) / 4 : random_finite());
}

static void fill(int64_t *values, int tag, bool tame)
{
    for (size_t i = 0; i < CLR_BLOCK; i++)
        values[i] = draw(tag, tame).bits;
}

static void check_operator(clr_loop *loop, enum clr_opcode opcode, int tag)
{
    bool defined = loop(a, b, result, a);

    for (size_t i = 0; i < CLR_BLOCK && defined; i++) {
        scalar want =
            reference_operate(opcode, scalar_of(tag, a[i]), scalar_of(tag, b[i]), scalar_of(0, 0));
        bool to_real = opcode == CLR_OP_TO_REAL || opcode == CLR_OP_ROUND;
        bool same_type = want.tag == (to_real ? VALUE_REAL : tag) || want.tag == VALUE_INTEGER;
        if (!batch_ok(same_type && want.bits == result[i], "opcode %d, tag %d, row %zu",
                      (int)opcode, tag, i))
            return;
    }
}

static void check_operators(const struct clr_loops *loops)
{
    for (int round = 0; round < 100; round++) {
        for (int tag = VALUE_INTEGER; tag <= VALUE_REAL; tag++) {
            clr_loop *const *list = tag == VALUE_REAL ? loops->reals : loops->integers;
            fill(a, tag, round % 4 != 0);
            fill(b, tag, round % 4 < 2);
            for (enum clr_opcode opcode = 0; opcode < CLR_OPCODES; opcode++)
                if (list[opcode] != NULL)
                    check_operator(list[opcode], opcode, tag);
        }
    }
}

/* Quotients next to whole numbers, of INTEGERs with few bits and with as many as loops take: they
   are sure of these, and of no more bits, of no division by 0. */
static void check_division(const struct clr_loops *loops)
{
    static const enum clr_opcode opcodes[] = {CLR_OP_DIVIDE, CLR_OP_REMAINDER};
    const int64_t most = ((int64_t)1 << 51) - 1;

    for (size_t round = 0; round < 200; round++) {
        for (size_t i = 0; i < CLR_BLOCK; i++) {
            const int bits = random_between(1, 51);
            const int64_t size = 1 + (int64_t)(random_bits() >> (64 - bits)) % most;
            b[i] = random_below(2) ? size : -size;
            a[i] =
                (int64_t)random_below((uint64_t)(most / size) + 1) * b[i] + random_between(-1, 1);
            a[i] = a[i] > most ? most : a[i] < -most - 1 ? -most - 1 : a[i];
        }
        TAP_EACH (i, opcodes) {
            batch_ok(loops->integers[opcodes[i]](a, b, result, a), "a division is sure");
            check_operator(loops->integers[opcodes[i]], opcodes[i], VALUE_INTEGER);
            (round % 2 ? a : b)[round * 5] = round % 2 ? most + 1 + (int64_t)round : -most - 2;
            batch_ok(!loops->integers[opcodes[i]](a, b, result, a), "one of 52 bits is not");
            b[round * 5] = 0, a[round * 5] = 1;
            batch_ok(!loops->integers[opcodes[i]](a, b, result, a), "nor is one by 0");
            a[round * 5] = b[round * 5] = 1;
        }
    }
}

static bool bit_of(const uint64_t *bits, size_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* Words of each size, and bounds of all sorts. */
static void check_words(const struct clr_loops *loops, uint64_t *bits)
{
    static uint32_t room[2 * CLR_BLOCK]; /* with what is fetched behind the words */
    struct clr_frame frame = {.bytes = 4};
    uint32_t least, more;
    size_t found;

    for (; frame.bytes > 0; frame.bytes /= 2) {
        for (size_t i = 0; i < CLR_BLOCK; i++)
            room[i] = (uint32_t)random_bits();
        least = (uint32_t)clr_frame_value(&frame, room, random_below(CLR_BLOCK));
        more = (uint32_t)random_bits() >> (8 * (4U - frame.bytes) + (unsigned)random_below(8));
        if (more > (UINT32_MAX >> (32 - 8 * frame.bytes)) - least)
            more = (UINT32_MAX >> (32 - 8 * frame.bytes)) - least;
        loops->within_words(room, frame.bytes, least, more, bits);
        for (size_t i = 0; i < CLR_BLOCK; i++) {
            const uint32_t word = (uint32_t)clr_frame_value(&frame, room, i);
            batch_ok(bit_of(bits, i) == (word >= least && word - least <= more),
                     "row %zu of %d bytes is within", i, frame.bytes);
        }
        for (size_t i = 0; i < sizeof room / 2; i++) /* runs of bytes, as of words */
            ((uint8_t *)room)[i] &= random_below(4) == 0 ? 1 : 0;
        batch_ok(loops->find_ends(room, frame.bytes, CLR_BLOCK, bits),
                 "all ends of runs are found");
        found = loops->count(bits);
        for (size_t i = 0; i < CLR_BLOCK; i++)
            batch_ok(bit_of(bits, i) ==
                         (clr_frame_value(&frame, room, i) != clr_frame_value(&frame, room, i + 1)),
                     "row %zu of %d bytes is the last of its run", i, frame.bytes);
        batch_ok(loops->find_ends(room, frame.bytes, found, bits) &&
                     (found == 0 || !loops->find_ends(room, frame.bytes, found - 1, bits)),
                 "so many ends are not too many, and were one fewer wanted they would be");
    }
}

/* Codes of each size, of few entries and of many. */
static void check_codes(const struct clr_loops *loops, uint64_t *bits)
{
    enum { ENTRIES = 70000 };
    static uint32_t codes[2 * CLR_BLOCK], truths[ENTRIES / 32 + 1], words[CLR_BLOCK];
    struct clr_lookup lookup = {.truths = truths};
    struct clr_column column = {.codes = codes, .code_bytes = 4};

    for (size_t i = 0; i <= ENTRIES / 32; i++)
        truths[i] = (uint32_t)random_bits();
    for (; column.code_bytes > 0; column.code_bytes /= 2) {
        for (size_t i = 0; i < CLR_BLOCK; i++)
            codes[i] =
                column.code_bytes == 4 ? (uint32_t)random_below(ENTRIES) : (uint32_t)random_bits();
        loops->select_true(codes, column.code_bytes, truths, bits);
        for (size_t i = 0; i < CLR_BLOCK; i++)
            batch_ok(bit_of(bits, i) == clr_lookup_is_true(&lookup, clr_column_code(&column, i)),
                     "row %zu of codes of %d bytes is true", i, column.code_bytes);
        loops->widen(codes, column.code_bytes, words);
        for (size_t i = 0; i < CLR_BLOCK; i++)
            batch_ok(words[i] == clr_column_code(&column, i), "code %zu of %d bytes", i,
                     column.code_bytes);
    }
}

static void check_rows(const struct clr_loops *loops)
{
    uint64_t bits[CLR_BLOCK_WORDS];
    size_t count, kept = 0;
    int64_t mask = random_bits() & 1 ? -1 : INT64_MAX;
    uint8_t tag = (uint8_t)random_below(5);

    loops->select(a, mask, bits);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(bit_of(bits, i) == ((a[i] & mask) != 0), "row %zu is selected", i);
    loops->within_integers(a, b[0], b[1], bits, a);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(bit_of(bits, i) == (a[i] >= b[0] && a[i] <= b[1]), "row %zu is within", i);
    check_words(loops, bits);
    check_codes(loops, bits);
    fill(result, VALUE_REAL, true);
    loops->within_reals(result, result[0], result[1], bits, result);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(bit_of(bits, i) == (value_real_of(result[i]) >= value_real_of(result[0]) &&
                                     value_real_of(result[i]) <= value_real_of(result[1])),
                 "row %zu is within, as REAL", i);
    for (size_t i = 0; i < CLR_BLOCK_WORDS; i++)
        bits[i] = random_below(5) == 0 ? UINT64_MAX : random_bits() & random_bits();
    loops->spread_bits(bits, result);
    loops->spread_bits_to_tags(bits, result_tags);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(result[i] == bit_of(bits, i) && result_tags[i] == result[i], "bit %zu", i);
    count = loops->gather(b, bits, result, a);
    batch_ok(loops->count(bits) == count, "%zu bits", count);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        if (bit_of(bits, i))
            batch_ok(kept < count && result[kept++] == b[i], "row %zu is gathered", i);
    batch_ok(kept == count, "%zu rows of %zu", kept, count);
    loops->select_tag(a_tags, tag, bits);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(bit_of(bits, i) == (a_tags[i] == tag), "tag of row %zu", i);
}

static void check_tags(const struct clr_loops *loops)
{
    unsigned found = 0;
    bool exact;

    for (size_t i = 0; i < CLR_BLOCK; i++)
        found |= 1u << a_tags[i];
    batch_ok(loops->find_tags(a_tags) == found, "tags found");
    loops->spread_nulls(a_tags, b_tags, 2, result_tags);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(result_tags[i] == (a_tags[i] == 0 || b_tags[i] == 0 ? 0 : 2), "NULL %zu", i);
    loops->choose_tags(a, a_tags, b_tags, result_tags);
    loops->choose(a, a, b, result);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(result_tags[i] == (a[i] ? a_tags : b_tags)[i] && result[i] == (a[i] ? a : b)[i],
                 "choice %zu", i);
    loops->are_null(a_tags, result);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(result[i] == (a_tags[i] == 0), "row %zu is NULL", i);
    exact = loops->to_reals(a, result);
    for (size_t i = 0; i < CLR_BLOCK; i++)
        batch_ok(result[i] == value_bits_of((double)a[i]) && (!exact || clr_sum_fits_double(a[i])),
                 "row %zu as REAL", i);
}

TAP_TEST(test_loops)
{
    const struct clr_loops *loops;

    for (int skipped = 0; (loops = clr_loops_choose(skipped)) != NULL; skipped++) {
        check_operators(loops);
        check_division(loops);
        for (int round = 0; round < 50; round++) {
            int types = random_between(1, 5);
            fill(a, VALUE_INTEGER, round % 5 != 0);
            for (size_t i = 0; i < CLR_BLOCK; i++) {
                a[i] = random_below(10) == 0 ? INT64_MIN : random_below(3) == 0 ? 0 : a[i];
                a_tags[i] = (uint8_t)random_below((uint64_t)types);
                b_tags[i] = (uint8_t)random_below(5);
            }
            check_rows(loops);
            check_tags(loops);
        }
        batch_end("the loops after the best %d", skipped);
    }
}
