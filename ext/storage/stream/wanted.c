#include "storage/stream/wanted.h"

#include "base/memory.h"
#include "numeric/filter/bounds.h"
#include "numeric/scan/register.h"

/* Whether it is known that SQLite reports no error for what is looked up. */
static bool is_sure(const struct clr_scan *scan, int lookup)
{
    if (scan->known_lookups != NULL && scan->known_lookups[lookup].is_sure)
        return true;
    return scan->lookups != NULL && (scan->lookups[lookup].types & CLR_TYPE(CLR_TAG_UNSURE)) == 0;
}

/* Whether the filter has what SQLite reports an error for. */
static bool may_fail(const struct clr_scan *scan)
{
    const struct clr_tally none = {.x = -1, .y = -1, .filter = -1};
    bool used[CLR_MOST_INSTRUCTIONS];
    int i;

    clr_scan_find_used(scan, &none, used);
    for (i = 0; i <= scan->filter; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];

        if (used[i] && (instruction->opcode == CLR_OP_ABSOLUTE ||
                        (instruction->opcode == CLR_OP_LOOKUP && !is_sure(scan, instruction->b))))
            return true;
    }
    return false;
}

/* Returns the values of the field `first` for which an instruction can be true, if it is no AND or
   OR. */
static struct clr_value_range find_range(const struct clr_scan *scan,
                                         const struct clr_field *fields, int first, int number)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    const struct clr_scalar *constant;
    struct clr_value value;
    enum clr_opcode opcode;
    int column;

    if (instruction->opcode == CLR_OP_LOOKUP && scan->known_lookups != NULL &&
        fields[instruction->a].index == first)
        return scan->known_lookups[instruction->b].range;
    if (!clr_comparison_find(scan, number, &column, &opcode, &constant) ||
        fields[scan->instructions[column].a].index != first)
        return (struct clr_value_range){.lower.is_there = false};
    value = clr_number_value(*constant);
    return clr_comparison_range(opcode, &value);
}

/* Finds the values of the field `first` without which the filter is not true. found: room for a
   range of each of its instructions. */
static struct clr_value_range find_filtered(const struct clr_scan *scan,
                                            const struct clr_field *fields, int first,
                                            struct clr_value_range *found)
{
    int i;

    for (i = 0; i <= scan->filter; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];

        if (instruction->opcode == CLR_OP_AND)
            found[i] = clr_value_range_intersect(&found[instruction->a], &found[instruction->b]);
        else if (instruction->opcode == CLR_OP_OR)
            found[i] = clr_value_range_unite(&found[instruction->a], &found[instruction->b]);
        else
            found[i] = find_range(scan, fields, first, i);
    }
    return found[scan->filter];
}

/* Returns the column of number i by which the rows are sorted, if its order is known, or NULL. */
static const struct clr_field *find_field(const struct clr_scan *scan,
                                          const struct clr_source *source,
                                          const struct clr_field *fields, int i)
{
    const int index = source->is_index ? i : (int)CLR_FIELD_ROWID;
    int k;

    if (source->is_index ? source->key_orders.of[i] == CLR_ORDER_UNKNOWN : i > 0)
        return NULL;
    for (k = 0; k < scan->column_count && fields[k].index != index; k++)
        ;
    return k < scan->column_count ? &fields[k] : NULL;
}

bool clr_wanted_find(const struct clr_scan *scan, const struct clr_source *source,
                     const struct clr_field *fields, struct clr_wanted *wanted)
{
    struct clr_value_range *found;
    bool is_one = true; /* each of the columns has one value */

    wanted->count = 0;
    if (scan->filter < 0 || may_fail(scan))
        return false;
    found = clr_memory_alloc(((size_t)scan->filter + 1) * sizeof *found);
    while (found != NULL && is_one && wanted->count < CLR_KEY_COLUMNS) {
        const struct clr_field *field = find_field(scan, source, fields, wanted->count);
        struct clr_value_range *range = &wanted->columns[wanted->count].range;

        if (field == NULL)
            break;
        *range = find_filtered(scan, fields, field->index, found);
        if (clr_value_range_is_none(range))
            *range = clr_value_range_at(&range->lower.value);
        if (!clr_value_range_is_bounded(range))
            break;
        is_one = clr_value_range_is_one(range);
        wanted->columns[wanted->count++].is_real = field->is_real;
    }
    clr_memory_free(found);
    return wanted->count > 0;
}

enum clr_load_outcome clr_wanted_leaves(const struct clr_source *source, uint32_t root,
                                        const struct clr_wanted *wanted,
                                        const struct clr_watch *watch, struct clr_page_list *leaves)
{
    struct clr_pages pages = {
        .source = source, .visited = clr_pages_new_visits(source), .watch = watch};
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;

    *leaves = (struct clr_page_list){.count = 0};
    if (pages.visited != NULL)
        outcome = clr_tree_leaves(&pages, root, wanted, leaves);
    clr_memory_free(pages.visited);
    return outcome;
}
