#include "sqlite/groups/group_values.h"

#include "base/memory.h"
#include "sqlite/views/finish.h"

#include <string.h>

/* Groups that are finished between two looks at the watch. */
enum { GROUPS_PER_LOOK = 1024 };

void clr_group_values_free(struct clr_group_values *values)
{
    if (values == NULL)
        return;
    clr_bytes_free(&values->bytes);
    clr_memory_free(values->memory);
    clr_memory_free(values->columns);
    clr_memory_free(values);
}

/* Makes room for the values: one block, the tags behind all bits. Returns NULL without memory. */
static struct clr_group_values *new_values(const struct clr_query *query, size_t rows)
{
    const int count = query->grouping.key_count + query->call_count;
    struct clr_group_values *values = clr_memory_alloc_zero(sizeof *values);
    uint8_t *tags;
    int i;

    if (values == NULL)
        return NULL;
    values->rows = rows;
    values->key_count = query->grouping.key_count;
    values->call_count = query->call_count;
    values->columns = clr_memory_alloc_zero((size_t)count * sizeof *values->columns);
    values->memory = clr_memory_alloc_zero((size_t)count * rows * (sizeof(int64_t) + 1) + 1);
    if (values->columns == NULL || values->memory == NULL) {
        clr_group_values_free(values);
        return NULL;
    }
    tags = (uint8_t *)((int64_t *)values->memory + (size_t)count * rows);
    for (i = 0; i < count; i++)
        values->columns[i] = (struct clr_group_column){
            tags + (size_t)i * rows, (int64_t *)values->memory + (size_t)i * rows};
    return values;
}

/* ---- Values. */

/* Copies TEXT or a BLOB. Returns its address, or 0 if it could not be. */
static int64_t copy_bytes(struct clr_bytes *bytes, const struct clr_value *value)
{
    int64_t address = 0;
    unsigned char *copy = clr_bytes_add(bytes, value->kind, value->as.size, &address);

    if (copy == NULL)
        return 0;
    if (value->as.size > 0)
        memcpy(copy, value->bytes, value->as.size);
    return address;
}

/* Sets the value of a group. Returns false without memory. */
static bool set_value(struct clr_group_values *values, struct clr_group_column *column,
                      size_t group, const struct clr_value *value)
{
    switch (value->kind) {
    case CLR_KIND_INTEGER:
        column->tags[group] = CLR_TAG_INTEGER;
        column->bits[group] = value->as.integer;
        return true;
    case CLR_KIND_REAL:
        column->tags[group] = CLR_TAG_REAL;
        memcpy(&column->bits[group], &value->as.real, sizeof value->as.real);
        return true;
    case CLR_KIND_TEXT:
    case CLR_KIND_BLOB:
        column->tags[group] = CLR_TAG_BYTES;
        column->bits[group] = copy_bytes(&values->bytes, value);
        return column->bits[group] != 0;
    default:
        column->tags[group] = CLR_TAG_NULL;
        return true;
    }
}

/* ---- Keys. */

/* The values in the place of their ranks, each copied when it is first needed. */
struct ranked {
    const struct clr_lookup *lookup;
    int64_t *addresses; /* of copies; 0: not yet */
};

static bool set_rank(struct clr_group_values *values, struct clr_group_column *column, size_t group,
                     const struct ranked *ranked, int64_t rank)
{
    const struct clr_value *value = &ranked->lookup->ranked[rank];

    if (value->kind != CLR_KIND_TEXT && value->kind != CLR_KIND_BLOB)
        return set_value(values, column, group, value);
    if (ranked->addresses[rank] == 0)
        ranked->addresses[rank] = copy_bytes(&values->bytes, value);
    column->tags[group] = CLR_TAG_BYTES;
    column->bits[group] = ranked->addresses[rank];
    return ranked->addresses[rank] != 0;
}

/* Sets the values of a key in all groups. */
static enum clr_scan_outcome set_key(struct clr_group_values *values,
                                     const struct clr_query_run *run,
                                     const struct clr_groups *groups, int key)
{
    const struct clr_query *query = run->query;
    const struct clr_instruction *x = &query->instructions[query->grouping.keys[key]];
    const struct clr_lookup *lookup = x->opcode == CLR_OP_LOOKUP ? &run->lookups[x->b] : NULL;
    struct clr_group_column *column = &values->columns[key];
    struct ranked ranked = {.lookup = lookup};
    bool fine = true;
    size_t group;

    if (lookup != NULL && lookup->ranked != NULL) {
        ranked.addresses =
            clr_memory_alloc_zero((lookup->ranked_count + 1) * sizeof *ranked.addresses);
        if (ranked.addresses == NULL)
            return CLR_SCAN_FAILED;
    }
    for (group = 0; group < values->rows && fine; group++) {
        const struct clr_scalar value = clr_groups_key(groups, group, key);

        if (ranked.addresses != NULL && value.tag == CLR_TAG_INTEGER) {
            fine = set_rank(values, column, group, &ranked, value.bits);
        } else {
            column->tags[group] = value.tag;
            column->bits[group] = value.bits;
        }
    }
    clr_memory_free(ranked.addresses);
    return fine ? CLR_SCAN_DONE : CLR_SCAN_FAILED;
}

/* ---- Calls. */

static enum clr_code take_merged(const struct clr_tally *tally, const struct clr_value *state)
{
    clr_merged_free(tally->merged);
    clr_merged_init(tally->merged, tally->merge, UINT64_MAX);
    return clr_merged_add(tally->merged, state);
}

/* Puts what is known of a group in the place of what is known of all rows. */
static enum clr_code take_group(struct clr_query_run *run, const struct clr_groups *groups,
                                size_t group)
{
    enum clr_code code = CLR_OK;
    const uint64_t *counts;
    int i;

    for (i = 0; i < run->query->tally_count && code == CLR_OK; i++) {
        if (run->tallies[i].merge != 0) {
            const struct clr_value state = clr_groups_merged(groups, group, i);

            code = take_merged(&run->tallies[i], &state);
        } else {
            clr_groups_state(groups, group, i, &run->tallies[i].state);
        }
    }
    for (i = 0; i < run->question_count; i++) {
        struct clr_question *question = &run->questions[i];

        question->answer = clr_groups_answer(groups, group, i, &counts);
        if (question->kind == CLR_ASK_BINS)
            memcpy(question->counts, counts,
                   ((size_t)question->bins.count + 2) * sizeof *question->counts);
    }
    return code;
}

static enum clr_scan_outcome finish_group(struct clr_group_values *values,
                                          struct clr_query_run *run, size_t group)
{
    struct clr_output output;
    int i;

    for (i = 0; i < values->call_count; i++) {
        bool fine;

        if (!clr_finish_output(run, &run->query->calls[i], &output))
            return CLR_SCAN_UNSURE;
        /* NaN is NULL, as where SQLite takes it for a value. */
        if (output.value.kind == CLR_KIND_REAL && output.value.as.real != output.value.as.real)
            output.value.kind = CLR_KIND_NONE;
        fine = output.code == CLR_OK &&
               set_value(values, &values->columns[values->key_count + i], group, &output.value);
        clr_memory_free(output.memory);
        if (!fine)
            return CLR_SCAN_FAILED;
    }
    return CLR_SCAN_DONE;
}

static enum clr_scan_outcome fill(struct clr_group_values *values, struct clr_query_run *run,
                                  const struct clr_groups *groups, const struct clr_watch *watch)
{
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    size_t group;
    int i;

    for (i = 0; i < values->key_count && outcome == CLR_SCAN_DONE; i++)
        outcome = set_key(values, run, groups, i);
    for (group = 0; group < values->rows && outcome == CLR_SCAN_DONE; group++) {
        if (group % GROUPS_PER_LOOK == 0 && watch != NULL && watch->wants_stop(watch->context))
            return CLR_SCAN_STOPPED;
        outcome = clr_scan_outcome_of(take_group(run, groups, group));
        if (outcome == CLR_SCAN_DONE)
            outcome = finish_group(values, run, group);
    }
    return outcome;
}

enum clr_scan_outcome clr_group_values_make(struct clr_query_run *run,
                                            const struct clr_groups *groups, uint64_t memory,
                                            const struct clr_watch *watch,
                                            struct clr_group_values **result)
{
    const struct clr_query *query = run->query;
    const size_t rows = clr_groups_count(groups);
    const uint64_t row = (uint64_t)(query->grouping.key_count + query->call_count) * 9;
    struct clr_group_values *values;
    atomic_int_least64_t left;
    enum clr_scan_outcome outcome;

    *result = NULL;
    if (rows > memory / row)
        return CLR_SCAN_LIMIT;
    values = new_values(query, rows);
    if (values == NULL)
        return CLR_SCAN_FAILED;
    memory -= rows * row;
    atomic_init(&left, memory < INT64_MAX ? (int64_t)memory : INT64_MAX);
    values->bytes.left = &left;
    outcome = fill(values, run, groups, watch);
    values->bytes.left = NULL;
    if (outcome == CLR_SCAN_FAILED && values->bytes.code == CLR_LIMIT)
        outcome = CLR_SCAN_LIMIT;
    if (outcome == CLR_SCAN_DONE)
        *result = values;
    else
        clr_group_values_free(values);
    return outcome;
}
