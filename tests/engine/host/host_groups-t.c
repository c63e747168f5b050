/* Groups on the host, against a scan of each group's rows alone. */
#include "engine/host/host_groups.h"

#include "base/memory.h"
#include "batch.h"
#include "engine/host/host_scan.h"
#include "numeric/groups/group_scan.h"
#include "numeric/scan_reference.h"
#include "random.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>

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
    struct clr_bytes bytes;
};

/* ---- Values of all sorts. */

enum family {
    FEW_INTEGERS,
    SOME_INTEGERS,
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

static struct clr_scalar text(struct clr_bytes *bytes)
{
    struct clr_scalar value = {.tag = CLR_TAG_BYTES};
    unsigned char *to = clr_bytes_add(bytes, CLR_KIND_TEXT, 1, &value.bits);

    if (to == NULL)
        tap_bail("no memory");
    *to = (unsigned char)('a' + random_below(5));
    return value;
}

static struct clr_scalar draw(enum family family, struct clr_bytes *bytes)
{
    switch (family) {
    case FEW_INTEGERS:
        return integer(random_between(-3, 3));
    case SOME_INTEGERS:
        return integer(random_between(-500, 70000));
    case ANY_INTEGERS:
        return integer(random_integer());
    case FEW_REALS:
        return real((double)random_between(1, 9) / 4);
    case ROUND_REALS:
        return real(round((double)random_below(100000000)) / 1e6);
    case ANY_REALS:
        return real(random_finite());
    case FEW_OF_ALL:
        return draw(random_below(4) == 0 ? FEW_REALS : INTEGERS_OR_NULL, bytes);
    case NULLS:
        return null();
    case INTEGERS_OR_NULL:
        return random_below(5) == 0 ? null() : draw(FEW_INTEGERS, bytes);
    case REALS_OR_NULL:
        return random_below(5) == 0 ? null() : draw(ROUND_REALS, bytes);
    case TEXTS:
        return random_below(3) == 0 ? draw(FEW_OF_ALL, bytes) : text(bytes);
    case RARELY_LARGE:
        return random_below(3000) == 0 ? integer(random_integer()) : draw(FEW_INTEGERS, bytes);
    case RARELY_NULL:
        return random_below(3000) == 0 ? null() : draw(ROUND_REALS, bytes);
    case ZEROS:
        return real(random_below(2) == 0 ? 0.0 : -0.0);
    case INFINITE:
        return real(random_below(500) == 0 ? (random_below(2) ? INFINITY : -INFINITY)
                                           : (double)random_between(0, 10) * 0x1p1000);
    default:
        return null();
    }
}

static struct clr_column *make_column(size_t rows, enum family family, struct clr_bytes *bytes)
{
    struct clr_column *column = clr_column_new(rows);
    bool same = true;
    size_t i;

    if (column == NULL)
        tap_bail("no memory");
    column->rows = rows;
    for (i = 0; i < rows; i++) {
        struct clr_scalar value = draw(family, bytes);
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
    int i;

    for (i = 0; i < ENTRIES; i++) {
        struct clr_scalar value = draw(families[number], NULL);
        if (number == 0)
            value = integer((int64_t)random_below(ENTRIES));
        if (number != 1 && random_below(20) == 0)
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
                                     1u << CLR_SUM | 1u << CLR_EXTREMES,
                                     1u << CLR_SUM | CLR_BOUNDS,
                                     CLR_KEEP | 1u << CLR_EXTREMES,
                                     CLR_KEEP | CLR_BYTES,
                                     CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM};
    const int values = KEY_COLUMNS + (int)random_below(VALUE_COLUMNS);

    memset(tally, 0, sizeof *tally);
    tally->operations = masks[random_below(sizeof masks / sizeof masks[0])];
    tally->x = random_below(4) == 0 && !(tally->operations & CLR_BYTES)
                   ? (int)random_below((uint64_t)instructions)
                   : values;
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
        (enum clr_question_kind)(tally->operations & CLR_BYTES ? CLR_ASK_MODE + random_below(2)
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
        made->columns[i] = make_column(rows, draw_family(i < KEY_COLUMNS), &made->bytes);
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
    made->constants[1] = draw((enum family)random_below(4), &made->bytes);
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
    clr_bytes_free(&made->bytes);
}

/* ---- The slow way. */

/* A row that counts: its keys. */
struct keyed {
    struct clr_scalar keys[KEYS];
    size_t row, group_first;
};

static struct keyed *keyed;
static size_t keyed_count;
static const struct clr_grouping *sorted_by;

static void evaluate_row(const struct clr_scan *scan, size_t row, scalar *values)
{
    int i;

    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *in = &scan->instructions[i];
        const struct clr_lookup *lookup = &scan->lookups[in->b];

        if (in->opcode == CLR_OP_COLUMN)
            values[i] = reference_column(scan->columns[in->a], row);
        else if (in->opcode == CLR_OP_CONSTANT)
            values[i] = scalar_of(scan->constants[in->a].tag, scan->constants[in->a].bits);
        else if (in->opcode == CLR_OP_LOOKUP) {
            const uint32_t code = clr_column_code(scan->columns[in->a], row);
            values[i] = scalar_of(lookup->kind == CLR_TAG_MIXED ? lookup->tags[code] : lookup->kind,
                                  lookup->values[code]);
        } else
            values[i] = reference_operate(in->opcode, values[in->a], values[in->b], values[in->c]);
    }
}

static int compare_keys(const struct clr_scalar *a, const struct clr_scalar *b)
{
    const int64_t x = a->tag == CLR_TAG_REAL ? clr_real_to_key(a->bits) : a->bits;
    const int64_t y = b->tag == CLR_TAG_REAL ? clr_real_to_key(b->bits) : b->bits;

    if (a->tag == CLR_TAG_NULL || b->tag == CLR_TAG_NULL)
        return (a->tag != CLR_TAG_NULL) - (b->tag != CLR_TAG_NULL);
    return (x > y) - (x < y);
}

static int compare_rows(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int i, order;

    for (i = 0; i < sorted_by->key_count; i++) {
        order = compare_keys(&x->keys[i], &y->keys[i]);
        if (order != 0)
            return sorted_by->descending[i] ? -order : order;
    }
    return (x->row > y->row) - (x->row < y->row);
}

static int compare_first_rows(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->group_first != y->group_first)
        return x->group_first < y->group_first ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool same_group(const struct keyed *a, const struct keyed *b)
{
    int i;

    for (i = 0; i < sorted_by->key_count; i++)
        if (compare_keys(&a->keys[i], &b->keys[i]) != 0)
            return false;
    return true;
}

/* Puts the rows that count in order. Returns false if it is not sure what the groups are. */
static bool key_rows(const struct clr_scan *scan)
{
    scalar values[INSTRUCTIONS];
    unsigned types[KEYS] = {0}, zeros[KEYS] = {0};
    size_t row, i;
    int k;

    sorted_by = scan->grouping;
    keyed_count = 0;
    keyed = realloc(keyed, (scan->rows + 1) * sizeof *keyed);
    for (row = 0; row < scan->rows; row++) {
        struct keyed *here = &keyed[keyed_count];

        evaluate_row(scan, row, values);
        if (scan->filter >= 0 && scalar_is_unknown(values[scan->filter]))
            return false;
        if (scan->filter >= 0 && !scalar_is_true(values[scan->filter]))
            continue;
        here->row = row;
        for (k = 0; k < scan->grouping->key_count; k++) {
            const scalar value = values[scan->grouping->keys[k]];

            if (value.tag == CLR_TAG_BYTES || value.tag == CLR_TAG_UNSURE)
                return false;
            here->keys[k].tag = (uint8_t)value.tag;
            here->keys[k].bits = value.tag == CLR_TAG_NULL ? 0 : value.bits;
            types[k] |= 1u << value.tag;
            if (value.tag == CLR_TAG_REAL && value_real_of(value.bits) == 0.0)
                zeros[k] |= value.bits == 0 ? 1 : 2;
        }
        keyed_count++;
    }
    for (k = 0; k < scan->grouping->key_count; k++)
        if (zeros[k] == 3 || (types[k] & 6) == 6)
            return false;
    qsort(keyed, keyed_count, sizeof *keyed, compare_rows);
    for (i = 0; i < keyed_count; i++)
        keyed[i].group_first =
            i > 0 && same_group(&keyed[i - 1], &keyed[i]) ? keyed[i - 1].group_first : keyed[i].row;
    if (scan->grouping->by_first)
        qsort(keyed, keyed_count, sizeof *keyed, compare_first_rows);
    return true;
}

static struct clr_column *copy_rows(const struct clr_column *from, const struct keyed *rows,
                                    size_t count)
{
    struct clr_column *column =
        from->codes != NULL ? clr_column_new_codes(NULL, count, 1) : clr_column_new(count);
    size_t i;

    if (column == NULL)
        tap_bail("no memory");
    column->rows = count;
    column->kind = from->kind;
    for (i = 0; i < count; i++) {
        if (from->codes != NULL) {
            ((uint8_t *)column->codes)[i] = ((const uint8_t *)from->codes)[rows[i].row];
            continue;
        }
        column->values[i] = from->values[rows[i].row];
        if (from->kind == CLR_TAG_MIXED)
            column->tags[i] = from->tags[rows[i].row];
    }
    return column;
}

/* Scans the rows of one group. Without groups there are no bounds, but extremes. */
static enum clr_scan_outcome scan_group(struct made *made, const struct keyed *rows, size_t count)
{
    struct clr_column *columns[COLUMNS];
    struct clr_scan scan = made->scan;
    unsigned operations[TALLIES];
    enum clr_scan_outcome outcome;
    int i;

    for (i = 0; i < scan.tally_count; i++) {
        operations[i] = scan.tallies[i].operations;
        if (operations[i] & CLR_BOUNDS)
            scan.tallies[i].operations = (operations[i] | 1u << CLR_EXTREMES) & ~CLR_BOUNDS;
    }

    for (i = 0; i < COLUMNS; i++)
        columns[i] = copy_rows(made->columns[i], rows, count);
    scan.columns = columns;
    scan.grouping = NULL;
    scan.rows = count;
    outcome = clr_host_scan(&scan, NULL);
    for (i = 0; i < COLUMNS; i++)
        clr_column_release(columns[i]);
    for (i = 0; i < scan.tally_count; i++)
        scan.tallies[i].operations = operations[i];
    return outcome;
}

static bool same_answer(const struct clr_value *a, const struct clr_value *b)
{
    if (a->kind != b->kind || a->kind == CLR_KIND_NONE)
        return a->kind == b->kind;
    if (a->kind >= CLR_KIND_TEXT)
        return a->as.size == b->as.size && memcmp(a->bytes, b->bytes, a->as.size) == 0;
    return a->as.integer == b->as.integer;
}

static bool same_range(const struct clr_tally *tally, const struct clr_range *a,
                       const struct clr_range *b)
{
    return !clr_tally_does(tally, CLR_EXTREMES) || reference_same_range(a, b);
}

/* Whether these are the extremes, or numbers that they lie between, and not too large. */
static bool are_bounds(const struct clr_range *bounds, const struct clr_range *extremes,
                       size_t rows)
{
    const int64_t most = (INT64_C(1) << 53) / (int64_t)rows;

    return reference_same_range(bounds, extremes) ||
           (bounds->seen && extremes->seen && bounds->least <= extremes->least &&
            bounds->greatest >= extremes->greatest && bounds->least >= -most &&
            bounds->greatest <= most);
}

/* Compares a group with what made's tallies and questions have now. */
static void compare_group(const struct made *made, const struct clr_groups *groups, size_t group,
                          const char *what)
{
    const struct clr_scan *scan = &made->scan;
    const uint64_t *counts;
    struct clr_state state;
    int i;

    memset(&state, 0x5a, sizeof state);
    for (i = 0; i < scan->tally_count; i++) {
        struct clr_tally *tally = &scan->tallies[i];

        clr_groups_state(groups, group, i, &state);
        batch_ok(same_range(tally, &state.integers, &tally->state.integers) &&
                     same_range(tally, &state.reals, &tally->state.reals),
                 "%s, extremes of group %zu, tally %d", what, group, i);
        batch_ok(!(tally->operations & CLR_BOUNDS) ||
                     are_bounds(&state.integers, &tally->state.integers, scan->rows),
                 "%s, bounds of group %zu, tally %d", what, group, i);
        state.integers = tally->state.integers;
        state.reals = tally->state.reals;
        batch_ok(reference_same(&state, &tally->state),
                 "%s, group %zu, tally %d: %lld %lld %a, not %lld %lld %a", what, group, i,
                 (long long)state.count, (long long)state.non_integers,
                 clr_sum_round(&state.sum, 1), (long long)tally->state.count,
                 (long long)tally->state.non_integers, clr_sum_round(&tally->state.sum, 1));
    }
    for (i = 0; i < scan->question_count; i++) {
        const struct clr_question *question = &scan->questions[i];
        const struct clr_value answer = clr_groups_answer(groups, group, i, &counts);

        if (question->kind == CLR_ASK_BINS)
            batch_ok(counts != NULL &&
                         memcmp(counts, question->counts,
                                ((size_t)question->bins.count + 2) * sizeof *counts) == 0,
                     "%s, bins of group %zu", what, group);
        else
            batch_ok(same_answer(&answer, &question->answer),
                     "%s, group %zu, answer %d of kind %d: %d %llx, not %d %llx", what, group, i,
                     (int)question->kind, (int)answer.kind, (long long)answer.as.integer,
                     (int)question->answer.kind, (long long)question->answer.as.integer);
    }
}

/* The size of the group that begins with the row at i. */
static size_t group_size(size_t i)
{
    size_t end = i;

    while (end < keyed_count && same_group(&keyed[i], &keyed[end]))
        end++;
    return end - i;
}

/* Compares groups, some of many; made's states change. Returns what the outcome should have been:
   without groups, by all. */
static enum clr_scan_outcome compare(struct made *made, const struct clr_groups *groups,
                                     const char *what)
{
    size_t i, size, group = 0;
    int k;

    if (!key_rows(&made->scan))
        return CLR_SCAN_UNSURE;
    for (i = 0; i < keyed_count; i += size, group++) {
        size = group_size(i);
        for (k = 0;
             groups != NULL && group < clr_groups_count(groups) && k < made->grouping.key_count;
             k++) {
            const struct clr_scalar key = clr_groups_key(groups, group, k);
            batch_ok(key.tag == keyed[i].keys[k].tag && key.bits == keyed[i].keys[k].bits,
                     "%s, key %d of group %zu", what, k, group);
        }
        if (groups != NULL && group >= MANY && random_below(MANY) != 0)
            continue;
        if (scan_group(made, &keyed[i], size) != CLR_SCAN_DONE)
            return CLR_SCAN_UNSURE;
        if (groups == NULL || group >= clr_groups_count(groups))
            continue;
        compare_group(made, groups, group, what);
    }
    if (groups != NULL)
        batch_ok(clr_groups_count(groups) == group, "%s, %zu groups of %zu", what,
                 clr_groups_count(groups), group);
    return CLR_SCAN_DONE;
}

/* ---- Tests. */

/* One after the other, in an order that threads might have. */
static bool run_serially(void *context, int count, clr_portion_work *work, void *argument)
{
    const atomic_bool never = false;
    int i;

    (void)context;
    for (i = count - 1; i >= 0; i--)
        work(argument, i, &never);
    return true;
}

static void check(struct made *made, int threads, const char *what)
{
    const struct clr_group_team team = {threads, run_serially, NULL};
    struct clr_groups *groups = NULL;
    const enum clr_scan_outcome outcome = threads > 0 ? clr_group_scan(&made->scan, &team, &groups)
                                                      : clr_host_group(&made->scan, NULL, &groups);

    batch_ok(outcome == compare(made, groups, what), "%s, outcome %d", what, (int)outcome);
    batch_ok((groups != NULL) == (outcome == CLR_SCAN_DONE), "%s, groups only if done", what);
    clr_groups_free(groups);
}

static void test_random(void)
{
    static const size_t sizes[] = {0, 1, 2, 30, 1023, 1024, 1025, 3000, 5000, 20000};
    const int rounds = tap_is_quick() ? 150 : 1000;
    struct made *made = malloc(sizeof *made);
    char what[100];
    int round;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        const size_t rows = sizes[random_below(10)];
        const int threads = (int)random_below(6);

        make_scan(made, rows);
        snprintf(what, sizeof what, "round %d, %zu rows, %d threads", round, rows, threads);
        check(made, threads, what);
        free_scan(made);
    }
    batch_end("groups of random scans");
    free(made);
}

/* A scan of one key and one tally of these families. */
static void make_plain(struct made *made, size_t rows, enum family key, enum family value,
                       unsigned operations)
{
    make_scan(made, rows);
    clr_column_release(made->columns[0]);
    clr_column_release(made->columns[KEY_COLUMNS]);
    made->columns[0] = make_column(rows, key, &made->bytes);
    made->columns[KEY_COLUMNS] = make_column(rows, value, &made->bytes);
    made->scan.filter = -1;
    made->scan.tally_count = 1;
    made->scan.question_count = 0;
    made->tallies[0] = (struct clr_tally){.operations = operations,
                                          .x = KEY_COLUMNS,
                                          .y = operations == 1u << CLR_DOT ? KEY_COLUMNS : -1,
                                          .filter = -1};
    if (operations & CLR_KEEP)
        make_question(made, 0);
    made->grouping.key_count = 1;
    made->grouping.keys[0] = 0;
}

/* Each family of values, by each sort of number. */
static void test_families(void)
{
    static const enum family keys[] = {FEW_INTEGERS, SOME_INTEGERS, ANY_INTEGERS, FEW_REALS,
                                       INTEGERS_OR_NULL};
    static const unsigned operations[] = {0,
                                          1u << CLR_SUM,
                                          1u << CLR_DOT,
                                          1u << CLR_EXTREMES,
                                          CLR_KEEP | 1u << CLR_EXTREMES,
                                          1u << CLR_SUM | CLR_BOUNDS};
    struct made *made = malloc(sizeof *made);
    char what[100];
    int key, value, operation;

    batch_begin();
    for (key = 0; key < 5; key++) {
        for (value = 0; value < ALL_FAMILIES; value++) {
            for (operation = 0; operation < 6; operation++) {
                make_plain(made, 5000, keys[key], (enum family)value, operations[operation]);
                snprintf(what, sizeof what, "keys %d, values %d, operation %d", key, value,
                         operation);
                check(made, (key + value) % 3 + 1, what);
                free_scan(made);
            }
        }
    }
    batch_end("each sort of keys and values");
    free(made);
}

/* The planned is not what comes: the sample is of a few blocks. */
static void test_surprises(void)
{
    struct made *made = malloc(sizeof *made);
    const size_t rows = 100 * 1024;
    char what[100];
    int surprise;
    static const struct clr_scalar values[] = {
        {CLR_TAG_NULL, 0}, {CLR_TAG_INTEGER, INT64_MIN}, {CLR_TAG_INTEGER, 7},
        {CLR_TAG_REAL, 1}, {CLR_TAG_REAL, INT64_MIN},    {CLR_TAG_BYTES, 0}};

    batch_begin();
    for (surprise = 0; surprise < 24; surprise++) {
        const int column = surprise % 2 == 0 ? 0 : KEY_COLUMNS;
        const struct clr_scalar value = values[surprise / 2 % 6];

        make_plain(made, rows, FEW_INTEGERS, surprise < 12 ? FEW_INTEGERS : ROUND_REALS,
                   1u << CLR_SUM | (surprise % 4 < 2 ? 1u << CLR_EXTREMES : CLR_BOUNDS));
        memset(made->columns[column]->tags, made->columns[column]->kind, rows);
        made->columns[column]->kind = CLR_TAG_MIXED;
        made->columns[column]->tags[2 * 1024 + 5] = value.tag;
        made->columns[column]->values[2 * 1024 + 5] = value.bits;
        snprintf(what, sizeof what, "surprise %d", surprise);
        check(made, 2, what);
        free_scan(made);
    }
    batch_end("rows that are not as planned");
    free(made);
}

/* One after the other: more of them than there are plans. */
static void test_many_surprises(void)
{
    struct made *made = malloc(sizeof *made);
    const size_t rows = 100 * 1024;
    int i;

    batch_begin();
    make_plain(made, rows, FEW_INTEGERS, FEW_INTEGERS, 1u << CLR_SUM);
    made->scan.tally_count = TALLIES;
    for (i = 0; i < TALLIES; i++) {
        const int column = i < VALUE_COLUMNS ? KEY_COLUMNS + i : i - VALUE_COLUMNS + 1;

        clr_column_release(made->columns[column]);
        made->columns[column] = make_column(rows, FEW_INTEGERS, &made->bytes);
        memset(made->columns[column]->tags, CLR_TAG_INTEGER, rows);
        made->columns[column]->kind = CLR_TAG_MIXED;
        made->columns[column]->tags[(size_t)(2 + i) * 4096 - 5] = CLR_TAG_REAL;
        made->tallies[i] =
            (struct clr_tally){.operations = 1u << CLR_SUM, .x = column, .y = -1, .filter = -1};
    }
    check(made, 1, "surprises in each tally");
    free_scan(made);
    batch_end("more surprises than plans");
    free(made);
}

static void test_memory(void)
{
    struct made *made = malloc(sizeof *made);
    static const enum family keys[] = {FEW_INTEGERS, ANY_INTEGERS, FEW_REALS};
    const struct clr_group_team team = {3, run_serially, NULL};
    int key, after, failures;

    batch_begin();
    for (key = 0; key < 6; key++) {
        bool failed = true;

        make_plain(made, 20000, keys[key % 3], ANY_REALS,
                   key < 3 ? CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM : 1u << CLR_SUM);
        made->columns[KEY_COLUMNS]->values[0] = bits_of(1.0);
        for (after = failures = 0; failed && after < 5000; after++) {
            struct clr_groups *groups = NULL;
            enum clr_scan_outcome outcome;

            clr_memory_fail_after(after);
            outcome = clr_group_scan(&made->scan, &team, &groups);
            failed = clr_memory_fail_after(-1) != 0;
            batch_ok(outcome == (failed ? CLR_SCAN_FAILED : CLR_SCAN_DONE),
                     "allocation %d of keys %d: %d", after, key, (int)outcome);
            failures += failed;
            clr_groups_free(groups);
            if (after > 60)
                after += 37;
        }
        batch_ok(failures > 10 && !failed, "%d failures", failures);
        free_scan(made);
    }
    batch_end("without memory");
    free(made);
}

static void test_limits(void)
{
    struct made *made = malloc(sizeof *made);
    struct clr_groups *groups = NULL;
    uint64_t limit;
    int done = 0, limited = 0, i;

    for (i = 0; i < 2; i++) {
        make_plain(made, 50000, ANY_INTEGERS, ROUND_REALS,
                   i == 0 ? 1u << CLR_SUM : CLR_KEEP | 1u << CLR_EXTREMES);
        for (limit = 1; limit < (uint64_t)1 << 40; limit *= 2) {
            enum clr_scan_outcome outcome;

            made->scan.values_memory = limit;
            outcome = clr_host_group(&made->scan, NULL, &groups);
            done += outcome == CLR_SCAN_DONE;
            limited += outcome == CLR_SCAN_LIMIT;
            if (outcome == CLR_SCAN_DONE && clr_groups_size(groups) > limit)
                tap_diag("%d bytes", (int)clr_groups_size(groups));
            clr_groups_free(groups);
        }
        free_scan(made);
    }
    tap_ok(done + limited == 80 && done > 20 && limited > 20, "groups take what they may: %d %d",
           done, limited);
    free(made);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void test_stop(void)
{
    const struct clr_watch watch = {stop_at_once, NULL};
    struct made *made = malloc(sizeof *made);
    struct clr_groups *groups = NULL;
    int i, stopped = 0;

    for (i = 0; i < 5; i++) {
        make_plain(made, 3000000, ANY_INTEGERS, ROUND_REALS, CLR_KEEP | 1u << CLR_EXTREMES);
        stopped += clr_host_group(&made->scan, &watch, &groups) == CLR_SCAN_STOPPED;
        free_scan(made);
    }
    tap_is_int64(stopped, 5, "a watch stops it");
    free(made);
}

/* Many groups, as many as rows, and all in one. */
static void test_many(void)
{
    struct made *made = malloc(sizeof *made);
    const size_t rows = tap_is_quick() ? 300000 : 2000000;
    struct clr_groups *groups = NULL;
    struct clr_state state;
    size_t i;
    int sort;

    for (sort = 0; sort < 4; sort++) {
        bool right = true;

        make_plain(made, rows, FEW_INTEGERS, ROUND_REALS, 1u << CLR_SUM);
        for (i = 0; i < rows; i++)
            made->columns[0]->values[i] = sort == 0   ? 5
                                          : sort == 1 ? (int64_t)(rows - i)
                                          : sort == 2 ? (int64_t)(i * 0x9e3779b97f4a7c15)
                                                      : (int64_t)(i % (rows / 2));
        made->grouping.by_first = sort == 2;
        made->grouping.descending[0] = false;
        tap_is_int64(clr_host_group(&made->scan, NULL, &groups), CLR_SCAN_DONE, "%zu rows", rows);
        tap_is_uint64(clr_groups_count(groups),
                      sort == 0   ? 1
                      : sort == 3 ? rows / 2
                                  : rows,
                      "their groups");
        for (i = 0; i < clr_groups_count(groups) && sort > 0; i++) {
            const size_t row = sort == 1 ? rows - 1 - i : i;
            const int64_t *values = made->columns[KEY_COLUMNS]->values;

            clr_groups_state(groups, i, 0, &state);
            right =
                right && clr_groups_key(groups, i, 0).bits == made->columns[0]->values[row] &&
                clr_sum_round(&state.sum, 1) ==
                    (sort == 3 ? value_real_of(values[row]) + value_real_of(values[row + rows / 2])
                               : value_real_of(values[row]));
        }
        tap_ok(right, "keys and sums of each");
        clr_groups_free(groups);
        free_scan(made);
    }
    free(made);
}

int main(void)
{
    random_start();
    test_random();
    test_families();
    test_surprises();
    test_many_surprises();
    test_memory();
    test_limits();
    test_stop();
    test_many();
    free(keyed);
    return tap_done();
}
