/* The groups of a scan found the slow way: rows are sorted by their keys, and each group's rows are
   scanned alone. */
#ifndef CLR_TESTS_SLOW_GROUPS_H
#define CLR_TESTS_SLOW_GROUPS_H

#include "batch.h"
#include "engine/grouped_scans.h"
#include "engine/host/host_scan.h"
#include "numeric/groups/groups.h"
#include "numeric/scan_reference.h"

#include <stdlib.h>

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

#endif
