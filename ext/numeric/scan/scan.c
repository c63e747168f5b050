#include "numeric/scan/scan.h"

#include "base/memory.h"
#include "numeric/scan/row_truths.h"

#include <string.h>

enum clr_opcode clr_opcode_turn(enum clr_opcode opcode)
{
    switch (opcode) {
    case CLR_OP_LESS:
        return CLR_OP_GREATER;
    case CLR_OP_LESS_EQUAL:
        return CLR_OP_GREATER_EQUAL;
    case CLR_OP_GREATER:
        return CLR_OP_LESS;
    case CLR_OP_GREATER_EQUAL:
        return CLR_OP_LESS_EQUAL;
    default:
        return opcode;
    }
}

int clr_opcode_operands(enum clr_opcode opcode)
{
#define ONE(name, function) [CLR_OP_##name] = 1,
#define TWO(name, function) [CLR_OP_##name] = 2,
#define THREE(name, function) [CLR_OP_##name] = 3,
    static const uint8_t operands[CLR_OPCODES] = {CLR_OPERATORS(ONE, TWO, THREE)};

    return operands[opcode];
}

void clr_scan_find_used(const struct clr_scan *scan, const struct clr_tally *tally,
                        bool used[CLR_MOST_INSTRUCTIONS])
{
    const int roots[] = {scan->filter, tally->filter, tally->x, tally->y};
    int i;

    memset(used, 0, (size_t)scan->instruction_count * sizeof *used);
    for (i = 0; i < 4; i++) {
        if (roots[i] >= 0)
            used[roots[i]] = true;
    }
    for (i = scan->instruction_count - 1; i >= 0; i--) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        int operands = clr_opcode_operands(instruction->opcode);
        if (!used[i])
            continue;
        if (operands > 0)
            used[instruction->a] = true;
        if (operands > 1)
            used[instruction->b] = true;
        if (operands > 2)
            used[instruction->c] = true;
    }
}

struct clr_lookup_results *clr_lookup_results_new(uint32_t count)
{
    static atomic_uint_least64_t ids;
    const size_t values_size = count * sizeof(int64_t);
    const uint32_t truths = count > CLR_LEAST_TRUTHS ? count : CLR_LEAST_TRUTHS;
    const size_t truths_size = (truths / 32 + (size_t)1) * sizeof(uint32_t);
    struct clr_lookup_results *results =
        clr_memory_alloc(sizeof *results + values_size + 2 * truths_size + count);

    if (results == NULL)
        return NULL;
    atomic_init(&results->references, 1);
    results->rows = NULL;
    results->missed = 0;
    results->id = atomic_fetch_add(&ids, 1) + 1;
    results->truths = (uint32_t *)(results->values + count);
    results->truth_counts = results->truths + truths_size / sizeof(uint32_t);
    results->tags = (uint8_t *)results->truth_counts + truths_size;
    memset(results->values, 0, values_size);
    memset(results->truths, 0, truths_size);
    memset(results->tags, CLR_TAG_UNSURE, count);
    return results;
}

struct clr_lookup_results *clr_lookup_results_retain(struct clr_lookup_results *results)
{
    if (results != NULL)
        atomic_fetch_add(&results->references, 1);
    return results;
}

void clr_lookup_results_release(struct clr_lookup_results *results)
{
    if (results == NULL || atomic_fetch_sub(&results->references, 1) > 1)
        return;
    clr_row_truths_free(results->rows);
    clr_memory_free(results);
}

static bool is_true(uint8_t tag, int64_t bits)
{
    return (tag == CLR_TAG_INTEGER && bits != 0) ||
           (tag == CLR_TAG_REAL && (bits & INT64_MAX) != 0);
}

/* Returns the tag whose bit alone is set, or CLR_TAG_MIXED; of none NULL's. */
static uint8_t kind_of(unsigned types)
{
    uint8_t tag;

    for (tag = CLR_TAG_NULL; tag < CLR_TAG_UNSURE && types != 1u << tag; tag++)
        ;
    return types == 0 ? (uint8_t)CLR_TAG_NULL : types == 1u << tag ? tag : (uint8_t)CLR_TAG_MIXED;
}

void clr_lookup_set(struct clr_lookup *lookup, struct clr_lookup_results *results, uint32_t count)
{
    unsigned types = 0;
    uint64_t beyond = 0;
    uint32_t truth, last_true = 0, i;

    lookup->true_count = lookup->first_true = 0;
    for (i = 0; i < count; i++) {
        types |= 1u << results->tags[i];
        truth = is_true(results->tags[i], results->values[i]);
        results->truths[i / 32] |= truth << i % 32;
        if (truth != 0 && lookup->true_count++ == 0)
            lookup->first_true = i;
        last_true = truth != 0 ? i : last_true;
        beyond |= ((uint64_t)results->values[i] + INT8_MAX + 1) & ~(uint64_t)UINT8_MAX;
    }
    results->truth_counts[0] = 0;
    for (i = 0; i < count / 32; i++)
        results->truth_counts[i + 1] = results->truth_counts[i] + (results->truths[i] != 0);
    lookup->are_beside =
        lookup->true_count > 0 && last_true - lookup->first_true == lookup->true_count - 1;
    lookup->count = count;
    lookup->kind = kind_of(types);
    lookup->types = (uint8_t)types;
    lookup->is_short = beyond == 0 && (types & 1u << CLR_TAG_REAL) == 0;
    lookup->tags = results->tags;
    lookup->truths = results->truths;
    lookup->truth_counts = results->truth_counts;
    lookup->values = results->values;
    lookup->results = results;
}

/* Returns the column that an instruction is, if all its rows have one type, else -1. */
static int find_column(const struct clr_scan *scan, const uint8_t *kinds, int number)
{
    const struct clr_instruction *instruction = &scan->instructions[number];

    return instruction->opcode == CLR_OP_COLUMN && kinds[instruction->a] != CLR_TAG_MIXED
               ? instruction->a
               : -1;
}

/* Whether the condition, an instruction or -1, is true for all rows. */
static bool is_always_true(const struct clr_scan *scan, const uint8_t *kinds, int condition)
{
    int column;

    if (condition < 0)
        return true;
    if (scan->instructions[condition].opcode != CLR_OP_NOT_NULL)
        return false;
    column = find_column(scan, kinds, scan->instructions[condition].a);
    return column >= 0 && kinds[column] != CLR_TAG_NULL;
}

bool clr_tally_takes_whole_columns(const struct clr_scan *scan, const uint8_t *kinds,
                                   const struct clr_tally *tally, int columns[2])
{
    columns[0] = tally->x < 0 ? -1 : find_column(scan, kinds, tally->x);
    columns[1] = tally->y < 0 ? -1 : find_column(scan, kinds, tally->y);
    return scan->filter < 0 && scan->blocks == NULL && is_always_true(scan, kinds, tally->filter) &&
           (tally->x < 0 || columns[0] >= 0) && (tally->y < 0 || columns[1] >= 0);
}
