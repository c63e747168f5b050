/* Checks of groups on the host. */
#ifndef CLR_TESTS_GROUP_CHECKS_H
#define CLR_TESTS_GROUP_CHECKS_H

#include "base/memory.h"
#include "batch.h"
#include "engine/host/host_groups.h"
#include "engine/host/host_scan.h"
#include "numeric/grouping/plan.h"
#include "numeric/groups/group_scan.h"
#include "numeric/groups/groups.h"
#include "numeric/scan/scan.h"
#include "numeric/scan_reference.h"
#include "numeric/scans.h"
#include "random.h"

#include "tap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Scans with groups, of columns and expressions made at random. */

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
    struct scans_made of;
    struct clr_question questions[QUESTIONS];
    uint64_t counts[QUESTIONS][MOST_BINS + 2];
    struct clr_value ranked[ENTRIES];
    uint8_t tags[LOOKUPS][ENTRIES];
    int64_t values[LOOKUPS][ENTRIES];
    struct clr_grouping grouping;
};

/* The one that a test is at. */
static struct made made[1];

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

static struct clr_scalar integer(int64_t value)
{
    return (struct clr_scalar){CLR_TAG_INTEGER, value};
}

static struct clr_scalar real(double value)
{
    return (struct clr_scalar){CLR_TAG_REAL, scans_bits(value)};
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
    struct clr_column *column = scans_new(CLR_TAG_MIXED, rows);
    bool same = true;
    size_t i;

    for (i = 0; i < rows; i++) {
        struct clr_scalar value = draw(family);
        column->values[i] = value.bits;
        column->tags[i] = value.tag;
        same = same && value.tag == column->tags[0];
    }
    if (rows > 0 && same)
        column->kind = column->tags[0];
    return column;
}

static void make_lookup(int number)
{
    static const enum family families[LOOKUPS] = {FEW_INTEGERS, FEW_INTEGERS, FEW_REALS};
    struct clr_lookup *lookup = &made->of.lookups[number];
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

static void make_tally(struct clr_tally *tally)
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
    const int values = KEY_COLUMNS + random_pick(VALUE_COLUMNS);

    memset(tally, 0, sizeof *tally);
    tally->operations = masks[random_below(sizeof masks / sizeof masks[0])];
    tally->x = random_below(4) == 0 ? random_pick(INSTRUCTIONS) : values;
    if (tally->operations == 0 && random_below(3) == 0)
        tally->x = -1;
    tally->y = -1;
    if (clr_tally_does(tally, CLR_DOT))
        tally->y = random_below(4) == 0 ? tally->x : random_pick(INSTRUCTIONS);
    tally->filter = random_below(4) == 0 ? random_pick(INSTRUCTIONS) : -1;
}

static void make_question(int i)
{
    struct clr_value low = {.kind = CLR_KIND_INTEGER, .as.integer = random_between(-400, 0)};
    struct clr_value high = {.kind = CLR_KIND_REAL, .as.real = (double)random_between(8, 400) / 8};
    struct clr_question *question = &made->questions[made->of.scan.question_count];
    const struct clr_tally *tally = &made->of.tallies[i];

    memset(question, 0, sizeof *question);
    question->tally = i;
    question->fraction = (double)random_below(101) / 100;
    clr_bins_init(&question->bins, &low, &high, random_between(1, MOST_BINS));
    question->counts = made->counts[made->of.scan.question_count];
    question->kind =
        (enum clr_question_kind)(tally->operations == CLR_KEEP ? CLR_ASK_MODE + random_below(2)
                                                               : random_below(CLR_ASK_BINS + 1));
    made->of.scan.question_count++;
}

static void make_scan(size_t rows)
{
    struct clr_column *columns[COLUMNS];
    struct clr_scan *scan = &made->of.scan;
    struct clr_scalar constant;
    int i;

    memset(made, 0, sizeof *made);
    for (i = 0; i < CODES; i++)
        columns[i] = make_column(rows, draw_family(i < KEY_COLUMNS));
    columns[CODES] = scans_codes(1, ENTRIES, rows, false);
    scans_begin(&made->of, columns, COLUMNS);
    scan->instruction_count = CODES; /* codes are looked up alone */
    for (i = 0; i < LOOKUPS; i++) {
        make_lookup(i);
        scans_add(&made->of, CLR_OP_LOOKUP, CODES, i);
    }
    scan->lookup_count = LOOKUPS;
    constant = draw((enum family)random_below(4));
    scans_constant(&made->of, CLR_TAG_INTEGER, 0);
    scans_constant(&made->of, constant.tag, constant.bits);
    while (scan->instruction_count < INSTRUCTIONS) {
        const int earlier = scan->instruction_count;

        scans_add(&made->of, (enum clr_opcode)(CLR_OP_ADD + random_below(20)), random_pick(earlier),
                  random_pick(earlier));
        made->of.instructions[earlier].c = random_pick(earlier);
    }
    scan->tally_count = random_pick(TALLIES + 1);
    scan->filter = random_below(3) == 0 ? random_pick(INSTRUCTIONS) : -1;
    scan->questions = made->questions;
    scan->grouping = &made->grouping;
    scan->values_memory = UINT64_MAX;
    scan->seed = random_bits();
    for (i = 0; i < scan->tally_count; i++)
        make_tally(&made->of.tallies[i]);
    for (i = 0; i < scan->tally_count; i++)
        if (made->of.tallies[i].operations & CLR_KEEP)
            make_question(i);
    made->grouping.key_count = random_pick(KEYS + 1);
    made->grouping.by_first = random_below(4) == 0;
    for (i = 0; i < made->grouping.key_count; i++) {
        made->grouping.keys[i] =
            random_below(4) == 0 ? CODES + random_pick(LOOKUPS) : random_pick(KEY_COLUMNS);
        if (random_below(30) == 0)
            made->grouping.keys[i] = random_pick(INSTRUCTIONS);
        made->grouping.descending[i] = random_below(3) == 0;
    }
}

static void free_scan(void)
{
    scans_release(&made->of);
}

/* ---- The groups of a scan found the slow way: rows are sorted by their keys, and each group's
 * rows are scanned alone. */

/* A row that counts: its keys. */
struct keyed {
    struct clr_scalar keys[KEYS];
    size_t row, group_first;
};

static struct keyed *keyed;
static size_t keyed_count;
static const struct clr_grouping *sorted_by;

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

        reference_row(scan, row, values);
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

    TAP_NEED(column != NULL, "no memory");
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
static enum clr_scan_outcome scan_group(const struct keyed *rows, size_t count)
{
    struct clr_column *columns[COLUMNS];
    struct clr_scan scan = made->of.scan;
    unsigned operations[TALLIES];
    enum clr_scan_outcome outcome;
    int i;

    for (i = 0; i < scan.tally_count; i++) {
        operations[i] = scan.tallies[i].operations;
        if (operations[i] & CLR_BOUNDS)
            scan.tallies[i].operations = (operations[i] | 1u << CLR_EXTREMES) & ~CLR_BOUNDS;
    }

    for (i = 0; i < COLUMNS; i++)
        columns[i] = copy_rows(made->of.columns[i], rows, count);
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
    return a->as.integer == b->as.integer;
}

static bool same_range(const struct clr_tally *tally, const struct clr_range *a,
                       const struct clr_range *b)
{
    const unsigned wanted = tally->operations & (CLR_LEAST | CLR_GREATEST);

    if (!clr_tally_does(tally, CLR_EXTREMES) || reference_same_range(a, b))
        return true;
    return a->seen == b->seen && ((wanted == CLR_LEAST && a->least == b->least) ||
                                  (wanted == CLR_GREATEST && a->greatest == b->greatest));
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
static void compare_group(const struct clr_groups *groups, size_t group, const char *what)
{
    const struct clr_scan *scan = &made->of.scan;
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
static enum clr_scan_outcome compare(const struct clr_groups *groups, const char *what)
{
    size_t i, size, group = 0;
    int k;

    if (!key_rows(&made->of.scan))
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
        if (scan_group(&keyed[i], size) != CLR_SCAN_DONE)
            return CLR_SCAN_UNSURE;
        if (groups == NULL || group >= clr_groups_count(groups))
            continue;
        compare_group(groups, group, what);
    }
    if (groups != NULL)
        batch_ok(clr_groups_count(groups) == group, "%s, %zu groups of %zu", what,
                 clr_groups_count(groups), group);
    return CLR_SCAN_DONE;
}

/* ---- Checks of groups on the host, against a scan of each group's rows alone. */

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

/* Scans, compares and frees what has been made. */
static void check(int threads, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void check(int threads, const char *format, ...)
{
    const struct clr_group_team team = {.size = threads, .run = run_serially, .context = NULL};
    struct clr_groups *groups = NULL;
    const enum clr_scan_outcome outcome =
        threads > 0 ? clr_group_scan(&made->of.scan, &team, NULL, NULL, &groups)
                    : clr_host_group(&made->of.scan, NULL, NULL, &groups);
    char what[100];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    batch_ok(outcome == compare(groups, what), "%s, outcome %d", what, (int)outcome);
    batch_ok((groups != NULL) == (outcome == CLR_SCAN_DONE), "%s, groups only if done", what);
    clr_groups_free(groups);
    free_scan();
}

/* A scan of one key and one tally of these families. */
static void make_plain(size_t rows, enum family key, enum family value, unsigned operations)
{
    make_scan(rows);
    clr_column_release(made->of.columns[0]);
    clr_column_release(made->of.columns[KEY_COLUMNS]);
    made->of.columns[0] = make_column(rows, key);
    made->of.columns[KEY_COLUMNS] = make_column(rows, value);
    made->of.scan.filter = -1;
    made->of.scan.tally_count = 1;
    made->of.scan.question_count = 0;
    made->of.tallies[0] = (struct clr_tally){.operations = operations,
                                             .x = KEY_COLUMNS,
                                             .y = operations == 1u << CLR_DOT ? KEY_COLUMNS : -1,
                                             .filter = -1};
    if (operations & CLR_KEEP)
        make_question(0);
    made->grouping.key_count = 1;
    made->grouping.keys[0] = 0;
}

#endif
