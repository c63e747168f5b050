#include "query/binding/partial.h"

#include "base/memory.h"
#include "query/binding/grouping.h"
#include "query/binding/lower.h"

#include <stdbool.h>
#include <string.h>

/* How much of everything a query has. */
struct size {
    int instructions, constants, columns, lookups;
};

static struct size size_of(const struct clr_query *query)
{
    return (struct size){query->instruction_count, query->constant_count, query->column_count,
                         query->lookup_count};
}

/* Takes away what was added since the query had that size. */
static void shrink(struct clr_query *query, const struct size *size)
{
    while (query->lookup_count > size->lookups)
        clr_memory_free(query->lookups[--query->lookup_count].text);
    query->instruction_count = size->instructions;
    query->constant_count = size->constants;
    query->column_count = size->columns;
}

/* Begins anew, with a query of rows. */
static void begin(struct clr_query *query)
{
    const struct size nothing = {0, 0, 0, 0};

    shrink(query, &nothing);
    memset(query->is_bounded, 0, sizeof query->is_bounded);
    memset(query->with_bytes, 0, sizeof query->with_bytes);
    memset(&query->grouping, 0, sizeof query->grouping);
    query->tally_count = query->call_count = query->question_count = 0;
    query->filter = -1;
    query->is_grouped = query->is_ordered = false;
    query->has_rows = true;
}

static bool is_and(const struct clr_node *node)
{
    return node->kind == CLR_N_FOLD && node->opcode == CLR_OP_AND;
}

/* Adds those terms to the filter that can be lowered. Returns false without memory. */
static bool add_terms(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_query *query = binder->query;
    const struct size before = size_of(query);
    struct clr_node *child;
    int value;

    for (child = is_and(node) ? node->first : NULL; child != NULL; child = child->next) {
        if (!add_terms(binder, child))
            return false;
    }
    if (is_and(node))
        return true;
    value = clr_lower(binder, node);
    if (value >= 0 && query->filter >= 0)
        value = clr_emit(binder, CLR_OP_AND, query->filter, value, 0);
    if (value >= 0)
        query->filter = value;
    else if (binder->code == CLR_INVALID)
        shrink(query, &before);
    if (binder->code == CLR_INVALID)
        binder->code = CLR_OK;
    return binder->code == CLR_OK;
}

enum clr_code clr_partial_bind(struct clr_binder *binder, const char **rowid)
{
    const struct clr_reason first = *binder->reason;

    begin(binder->query);
    binder->code = CLR_OK;
    if (!add_terms(binder, binder->query->syntax->where))
        return binder->code;
    if (binder->query->filter >= 0 && clr_grouping_bind_rowid(binder, rowid)) {
        clr_reason_set(binder->reason, CLR_WHY_NONE);
        return CLR_OK;
    }
    if (binder->code == CLR_NOMEM)
        return CLR_NOMEM;
    *binder->reason = first;
    return CLR_INVALID;
}
