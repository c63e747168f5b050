/* Scans with groups, of columns and expressions made at random. */
#ifndef CLR_TESTS_GROUPED_SCANS_H
#define CLR_TESTS_GROUPED_SCANS_H

#include "base/memory.h"
#include "numeric/grouping/plan.h"
#include "numeric/scan/scan.h"
#include "random.h"

#include "tap.h"

#include <math.h>
#include <string.h>

enum {
    KEY_COLUMNS = 4,
    VALUE_COLUMNS = 4,
    CODES = KEY_COLUMNS + VALUE_COLUMNS, /* the column of codes */
    COLUMNS,
    LOOKUPS = 3,
    ENTRIES = 200,
    INSTRUCTIONS = 24,
    KEYS = 3,
    TALLIES = 6,
    QUESTIONS = 6,
    MOST_BINS = 9,
    MANY = 100 /* groups */
};

/* A scan and what it points to. */
struct made {
    struct clr_scan scan;
    struct clr_instruction instructions[INSTRUCTIONS];
    struct clr_scalar constants[2];
    struct clr_column *columns[COLUMNS];
    struct clr_tally tallies[TALLIES];
    struct clr_question questions[QUESTIONS];
    uint64_t counts[QUESTIONS][MOST_BINS + 2];
    struct clr_lookup lookups[LOOKUPS];
    struct clr_value ranked[ENTRIES];
    uint8_t tags[LOOKUPS][ENTRIES];
    int64_t values[LOOKUPS][ENTRIES];
    struct clr_grouping grouping;
};

/* ---- Values of all sorts. */

enum family {
    FEW_INTEGERS,
    SOME_INTEGERS,
    SPREAD_INTEGERS,
    ANY_INTEGERS,
    FEW_REALS,
    ROUND_REALS,
    ANY_REALS,
    FEW_OF_ALL,
    NULLS,
    INTEGERS_OR_NULL,
    REALS_OR_NULL,
    TEXTS,
    FAMILIES,
    RARELY_LARGE = FAMILIES,
    RARELY_NULL,
    ZEROS,
    INFINITE,
    ALL_FAMILIES
};

static int64_t bits_of(double real)
{
    int64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static struct clr_scalar integer(int64_t value)
{
    return (struct clr_scalar){CLR_TAG_INTEGER, value};
}

static struct clr_scalar real(double value)
{
    return (struct clr_scalar){CLR_TAG_REAL, bits_of(value)};
}

static struct clr_scalar null(void)
{
    return (struct clr_scalar){CLR_TAG_NULL, 0};
}

static struct clr_scalar text(void)
{
    return (struct clr_scalar){CLR_TAG_BYTES, 0};
}

static struct clr_scalar draw(enum family family)
{
    switch (family) {
    case FEW_INTEGERS:
        return integer(random_between(-3, 3));
    case SOME_INTEGERS:
        return integer(random_between(-500, 70000));
    case SPREAD_INTEGERS:
        return integer((int64_t)random_below((uint64_t)1 << 41) - ((int64_t)1 << 40));
    case ANY_INTEGERS:
        return integer(random_integer());
    case FEW_REALS:
        return real((double)random_between(1, 9) / 4);
    case ROUND_REALS:
        return real(round((double)random_below(100000000)) / 1e6);
    case ANY_REALS:
        return real(random_finite());
    case FEW_OF_ALL:
        return draw(random_below(4) == 0 ? FEW_REALS : INTEGERS_OR_NULL);
    case NULLS:
        return null();
    case INTEGERS_OR_NULL:
        return random_below(5) == 0 ? null() : draw(FEW_INTEGERS);
    case REALS_OR_NULL:
        return random_below(5) == 0 ? null() : draw(ROUND_REALS);
    case TEXTS:
        return random_below(3) == 0 ? draw(FEW_OF_ALL) : text();
    case RARELY_LARGE:
        return random_below(3000) == 0 ? integer(random_integer()) : draw(FEW_INTEGERS);
    case RARELY_NULL:
        return random_below(3000) == 0 ? null() : draw(ROUND_REALS);
    case ZEROS:
        return real(random_below(2) == 0 ? 0.0 : -0.0);
    case INFINITE:
        return real(random_below(500) == 0 ? (random_below(2) ? INFINITY : -INFINITY)
                                           : (double)random_between(0, 10) * 0x1p1000);
    default:
        return null();
    }
}

static struct clr_column *make_column(size_t rows, enum family family)
{
    struct clr_column *column = clr_column_new(rows);
    bool same = true;
    size_t i;

    if (column == NULL)
        tap_bail("no memory");
    column->rows = rows;
    for (i = 0; i < rows; i++) {
        struct clr_scalar value = draw(family);
        column->values[i] = value.bits;
        column->tags[i] = value.tag;
        same = same && value.tag == column->tags[0];
    }
    column->kind = rows > 0 && same ? column->tags[0] : CLR_TAG_MIXED;
    return column;
}

static void make_lookup(struct made *made, int number)
{
    static const enum family families[LOOKUPS] = {FEW_INTEGERS, FEW_INTEGERS, FEW_REALS};
    struct clr_lookup *lookup = &made->lookups[number];
    const int64_t shift = (int64_t)random_below(ENTRIES);
    const bool different = random_below(2) == 0;
    int i;

    for (i = 0; i < ENTRIES; i++) {
        struct clr_scalar value = draw(families[number]);
        if (number == 0)
            value = integer(different ? (3 * i + shift) % ENTRIES : (int64_t)random_below(ENTRIES));
        if (number != 1 && (different ? i == shift / 2 : random_below(20) == 0))
            value = null();
        made->tags[number][i] = value.tag;
        made->values[number][i] = value.bits;
    }
    *lookup = (struct clr_lookup){.count = ENTRIES,
                                  .kind = number == 1 ? CLR_TAG_INTEGER : CLR_TAG_MIXED,
                                  .tags = made->tags[number],
                                  .values = made->values[number]};
    if (number == 0) {
        lookup->ranked = made->ranked;
        lookup->ranked_count = ENTRIES;
    }
}

/* ---- Scans. */

static enum family draw_family(bool key)
{
    if (key && random_below(8) != 0)
        return random_below(3) == 0 ? INTEGERS_OR_NULL : (enum family)random_below(FEW_REALS + 1);
    return (enum family)random_below(random_below(20) == 0 ? ALL_FAMILIES : FAMILIES);
}

static void make_tally(struct made *made, struct clr_tally *tally, int instructions)
{
    static const unsigned masks[] = {0,
                                     1u << CLR_SUM,
                                     1u << CLR_SUM,
                                     1u << CLR_DOT,
                                     1u << CLR_EXTREMES,
                                     1u << CLR_EXTREMES | CLR_LEAST,
                                     1u << CLR_EXTREMES | CLR_GREATEST | 1u << CLR_SUM,
                                     1u << CLR_SUM | 1u << CLR_EXTREMES,
                                     1u << CLR_SUM | CLR_BOUNDS,
                                     CLR_KEEP | 1u << CLR_EXTREMES,
                                     CLR_KEEP,
                                     CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM};
    const int values = KEY_COLUMNS + (int)random_below(VALUE_COLUMNS);

    memset(tally, 0, sizeof *tally);
    tally->operations = masks[random_below(sizeof masks / sizeof masks[0])];
    tally->x = random_below(4) == 0 ? (int)random_below((uint64_t)instructions) : values;
    if (tally->operations == 0 && random_below(3) == 0)
        tally->x = -1;
    tally->y = -1;
    if (clr_tally_does(tally, CLR_DOT))
        tally->y = random_below(4) == 0 ? tally->x : (int)random_below((uint64_t)instructions);
    tally->filter = random_below(4) == 0 ? (int)random_below((uint64_t)instructions) : -1;
    (void)made;
}

static void make_question(struct made *made, int i)
{
    struct clr_value low = {.kind = CLR_KIND_INTEGER, .as.integer = random_between(-400, 0)};
    struct clr_value high = {.kind = CLR_KIND_REAL, .as.real = (double)random_between(8, 400) / 8};
    struct clr_question *question = &made->questions[made->scan.question_count];
    const struct clr_tally *tally = &made->tallies[i];

    memset(question, 0, sizeof *question);
    question->tally = i;
    question->fraction = (double)random_below(101) / 100;
    clr_bins_init(&question->bins, &low, &high, random_between(1, MOST_BINS));
    question->counts = made->counts[made->scan.question_count];
    question->kind =
        (enum clr_question_kind)(tally->operations == CLR_KEEP ? CLR_ASK_MODE + random_below(2)
                                                               : random_below(CLR_ASK_BINS + 1));
    made->scan.question_count++;
}

static void make_scan(struct made *made, size_t rows)
{
    struct clr_instruction *next = made->instructions;
    struct clr_scan *scan = &made->scan;
    int i;

    memset(made, 0, sizeof *made);
    for (i = 0; i < CODES; i++) {
        made->columns[i] = make_column(rows, draw_family(i < KEY_COLUMNS));
        *next++ = (struct clr_instruction){CLR_OP_COLUMN, i, 0, 0};
    }
    made->columns[CODES] = clr_column_new_codes(NULL, rows, 1);
    if (made->columns[CODES] == NULL)
        tap_bail("no memory");
    made->columns[CODES]->rows = rows;
    while (rows-- > 0)
        ((uint8_t *)made->columns[CODES]->codes)[rows] = (uint8_t)random_below(ENTRIES);
    for (i = 0; i < LOOKUPS; i++) {
        make_lookup(made, i);
        *next++ = (struct clr_instruction){CLR_OP_LOOKUP, CODES, i, 0};
    }
    made->constants[0] = integer(0);
    made->constants[1] = draw((enum family)random_below(4));
    *next++ = (struct clr_instruction){CLR_OP_CONSTANT, 0, 0, 0};
    *next++ = (struct clr_instruction){CLR_OP_CONSTANT, 1, 0, 0};
    while (next < made->instructions + INSTRUCTIONS) {
        const uint64_t earlier = (uint64_t)(next - made->instructions);
        *next++ = (struct clr_instruction){(enum clr_opcode)(CLR_OP_ADD + random_below(20)),
                                           (int)random_below(earlier), (int)random_below(earlier),
                                           (int)random_below(earlier)};
    }
    *scan = (struct clr_scan){.instruction_count = INSTRUCTIONS,
                              .constant_count = 2,
                              .column_count = COLUMNS,
                              .tally_count = (int)random_below(TALLIES + 1),
                              .filter = random_below(3) == 0 ? (int)random_below(INSTRUCTIONS) : -1,
                              .instructions = made->instructions,
                              .constants = made->constants,
                              .columns = made->columns,
                              .rows = made->columns[0]->rows,
                              .lookup_count = LOOKUPS,
                              .lookups = made->lookups,
                              .tallies = made->tallies,
                              .questions = made->questions,
                              .grouping = &made->grouping,
                              .values_memory = UINT64_MAX,
                              .seed = random_bits()};
    for (i = 0; i < scan->tally_count; i++)
        make_tally(made, &made->tallies[i], INSTRUCTIONS);
    for (i = 0; i < scan->tally_count; i++)
        if (made->tallies[i].operations & CLR_KEEP)
            make_question(made, i);
    made->grouping.key_count = (int)random_below(KEYS + 1);
    made->grouping.by_first = random_below(4) == 0;
    for (i = 0; i < made->grouping.key_count; i++) {
        made->grouping.keys[i] = random_below(4) == 0 ? CODES + (int)random_below(LOOKUPS)
                                                      : (int)random_below(KEY_COLUMNS);
        if (random_below(30) == 0)
            made->grouping.keys[i] = (int)random_below(INSTRUCTIONS);
        made->grouping.descending[i] = random_below(3) == 0;
    }
}

static void free_scan(struct made *made)
{
    int i;

    for (i = 0; i < COLUMNS; i++)
        clr_column_release(made->columns[i]);
}

#endif
