#include "query/names/ranked.h"

static bool is_window(const struct clr_node *node)
{
    return node->kind == CLR_N_WINDOW;
}

/* Whether a window function counts the rows of a partition, by keys, in an order, from 1 on, and
   gives the same number to equal ones at most. */
static bool ranks(const struct clr_node *window)
{
    const char *name = window->names[0].name;
    const struct clr_node *term = window->first;
    int i;

    for (i = 0; i < window->partition_count && term != NULL; i++)
        term = term->next;
    return (clr_name_equal(name, "row_number") || clr_name_equal(name, "rank") ||
            clr_name_equal(name, "dense_rank")) &&
           window->is_builtin && window->names[1].kind == 0 && window->partition_count > 0 &&
           term != NULL && term->kind == CLR_N_TERM;
}

/* Returns the window function of a SELECT that has no other; else NULL. */
static struct clr_node *find_ranking(const struct clr_select_tree *select)
{
    const struct clr_node *item;
    struct clr_node *found = NULL;

    for (item = select->items.first; item != NULL; item = item->next) {
        if (item->first->kind == CLR_N_WINDOW && found == NULL)
            found = item->first;
        else if (clr_node_find(item->first, is_window) != NULL)
            return NULL;
    }
    return found != NULL && ranks(found) ? found : NULL;
}

/* Returns the greatest rank that a condition lets pass, or may by a parameter, which is stored; 0:
   that is not known. */
static int64_t find_last(struct clr_query *query, const struct clr_node *node)
{
    struct clr_node *child = node->kind == CLR_N_FOLD ? node->first : NULL;
    bool is_beyond;
    int64_t last = 0;

    if (child != NULL && node->opcode == CLR_OP_AND) {
        for (; child != NULL && last == 0; child = child->next)
            last = find_last(query, child);
        return last;
    }
    is_beyond = node->opcode == CLR_OP_LESS;
    if (child == NULL || child->kind != CLR_N_WINDOW ||
        (!is_beyond && node->opcode != CLR_OP_EQUAL && node->opcode != CLR_OP_LESS_EQUAL))
        return 0;
    if (child->next->kind == CLR_N_PARAMETER) {
        query->rank = child->next;
        query->is_beyond = is_beyond;
        return CLR_MOST_RANKS;
    }
    if (!child->next->is_known || child->next->value.tag != CLR_TAG_INTEGER)
        return 0;
    last = child->next->value.bits - is_beyond;
    return last < 1 || last > CLR_MOST_RANKS ? 0 : last;
}

void clr_ranked_find(struct clr_binder *binder)
{
    const struct clr_select_tree *select = &binder->syntax->select;
    const struct clr_select_tree *inner = select->sources[0].inner;
    struct clr_query *query = binder->query;

    if (select->source_count > 1 || inner == NULL || inner->source_count > 1 ||
        inner->sources[0].inner != NULL || select->where == NULL)
        return;
    query->ranks = (int)find_last(query, select->where);
    query->ranking = query->ranks == 0 ? NULL : find_ranking(inner);
    if (query->ranking == NULL)
        return;
    query->is_grouped = false;
    query->has_rows = true;
}
