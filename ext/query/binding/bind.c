/* A SELECT whose names are known as a scan: keys, conditions, first rows, and the ways to it. */
#include "query/query.h"

#include "base/memory.h"
#include "query/binding/derived.h"
#include "query/binding/emit.h"
#include "query/binding/lookups.h"
#include "query/binding/lower.h"
#include "query/names/names.h"
#include "query/names/subqueries.h"
#include "query/names/tables.h"
#include "query/names/times.h"
#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"

#include <string.h>

/* Whether nothing has failed. */
static bool is_fine(const struct clr_binder *binder)
{
    return binder->syntax->code == CLR_OK;
}

/* ---- Keys of groups. */

static bool has_text(const struct clr_node *node)
{
    return node->is_foreign || (node->kind == CLR_N_COLUMN && node->column.seems_text);
}

/* TEXT, BLOBs and what functions give are known by their ranks. */
static int emit_key(struct clr_binder *binder, struct clr_node *node)
{
    if (!has_text(node))
        return clr_lower(binder, node);
    return clr_lower_ranks(binder, node);
}

/* Returns the expression that a term of ORDER BY means: an item's for its name or number. */
static struct clr_node *find_ordered(const struct clr_syntax *syntax, struct clr_node *node)
{
    const struct clr_node *item =
        node->item != NULL ? node->item : clr_syntax_find_numbered(syntax, node);

    return item != NULL ? item->first : node;
}

/* Whether ORDER BY leaves nothing open: it has all keys. */
static bool has_all_keys(const struct clr_binder *binder)
{
    bool has[CLR_MOST_KEYS + 1] = {false};
    const struct clr_node *term;
    int i;

    for (term = binder->syntax->select.terms.first; term != NULL; term = term->next)
        has[find_ordered(binder->syntax, term->first)->key] = true;
    for (i = 1; i <= binder->query->grouping.key_count; i++) {
        if (!has[i])
            return false;
    }
    return true;
}

/* The groups come in the order of ascending keys, until more is known of SQLite's own. DISTINCT
   leaves values in the order of the rows. */
static bool bind_keys(struct clr_binder *binder)
{
    struct clr_grouping *grouping = &binder->query->grouping;
    const struct clr_node *term;
    int key;

    grouping->by_first = binder->syntax->select.keys.first == NULL;
    for (term = clr_names_keys(binder->syntax); term != NULL; term = term->next) {
        if (term->is_constant)
            continue;
        key = emit_key(binder, term->first);
        if (key < 0)
            return false;
        grouping->keys[grouping->key_count] = key;
        grouping->descending[grouping->key_count++] = false;
    }
    binder->query->is_ordered = !clr_syntax_has_window(binder->syntax) && has_all_keys(binder);
    return true;
}

/* Whether an aggregate lists values. */
static bool lists_values(const struct clr_syntax *syntax)
{
    const struct clr_node *call = syntax->aggregates.first;

    while (call != NULL && call->aggregate->needs != CLR_NEEDS_VALUES)
        call = call->listed;
    return call != NULL;
}

/* Lists are of groups: without GROUP BY all rows are one, whose key is a constant. Returns false
   once it has failed. */
static bool bind_one_group(struct clr_binder *binder)
{
    const struct clr_scalar zero = {.tag = CLR_TAG_INTEGER};

    binder->query->grouping.keys[0] = clr_emit_constant(binder, zero, 0, NULL);
    binder->query->grouping.key_count = 1;
    return binder->query->grouping.keys[0] >= 0;
}

/* Refuses window functions but for those over groups that come in the order in which SQLite has
   them: where rows are equal to a window that order shows in its values. */
static bool check_windows(struct clr_binder *binder)
{
    const struct clr_syntax *syntax = binder->syntax;
    const struct clr_node *node, *term;
    bool is_fine = syntax->select.keys.first != NULL && binder->environment->is_utf8;

    for (term = syntax->select.keys.first; term != NULL; term = term->next)
        is_fine = is_fine && (term->is_constant || term->collation[0] == '\0');
    for (node = syntax->functions.first; node != NULL; node = node->listed)
        is_fine = is_fine && (node->kind != CLR_N_WINDOW || node->at == &syntax->select);
    return is_fine || !clr_syntax_has_window(syntax) ||
           clr_refuse(binder->syntax, CLR_WHY_WINDOW) >= 0;
}

/* Writes down the rowid as the key, of a SELECT that has rows. Returns false once it has failed. */
static bool bind_rowid(struct clr_binder *binder)
{
    binder->query->grouping.keys[0] = clr_emit_rowid(binder);
    binder->query->grouping.key_count = 1;
    binder->query->rowid = clr_tables_rowid(clr_tables_fact(binder));
    return binder->query->grouping.keys[0] >= 0;
}

/* ---- ORDER BY, which SQLite leaves out where there is one row. */

/* Whether the last call gives what another one does. */
static bool is_repeated(const struct clr_query *query)
{
    const struct clr_call *last = &query->calls[query->call_count - 1], *call;

    for (call = query->calls; call < last; call++) {
        if (call->aggregate == last->aggregate && call->form == last->form &&
            call->builtin == last->builtin && call->tally == last->tally &&
            call->question == last->question &&
            memcmp(call->terms, last->terms, sizeof call->terms) == 0)
            return true;
    }
    return false;
}

/* An aggregate of ORDER BY: SQLite computes it, and it may fail, so that it has to be in the select
   list as well. */
static bool bind_ordering(struct clr_binder *binder, struct clr_node *node)
{
    if (!clr_call_bind(binder, node))
        return false;
    if (!is_repeated(binder->query))
        return clr_refuse(binder->syntax, CLR_WHY_ORDER_BY) >= 0;
    binder->query->call_count--;
    return true;
}

/* ---- All that a scan computes. */

/* Whether a condition follows from one column, and is about dimensions that it leads to. */
static bool is_of_dimensions(const struct clr_node *condition)
{
    return condition->reads >= 0 && clr_node_find(condition, clr_node_is_dimension) != NULL;
}

/* Lowers a condition, with all later ones over the dimensions that the same column leads to, which
   are one lookup: they are taken. Returns -1 once it has failed. */
static int bind_condition(struct clr_binder *binder, int i, bool *taken)
{
    struct clr_query *query = binder->query;
    struct clr_node *const *conditions = query->conditions, *alike[CLR_MOST_CONDITIONS];
    const int reads = conditions[i]->reads;
    int count = 0;

    if (!is_of_dimensions(conditions[i]))
        return clr_lower(binder, conditions[i]);
    for (; i < query->condition_count; i++) {
        if (conditions[i]->reads != reads || !is_of_dimensions(conditions[i]))
            continue;
        taken[i] = true;
        alike[count++] = conditions[i];
    }
    return clr_lookup_emit(binder, alike, count, "AND", false);
}

static bool bind_filter(struct clr_binder *binder)
{
    bool taken[CLR_MOST_CONDITIONS] = {false};
    int *filter = &binder->query->filter, value, i;

    for (i = 0; i < binder->query->condition_count && is_fine(binder); i++) {
        if (taken[i])
            continue;
        value = bind_condition(binder, i, taken);
        *filter = *filter < 0 ? value : clr_emit(binder, CLR_OP_AND, *filter, value, 0);
    }
    return is_fine(binder);
}

/* ---- The first rows in an order. */

static bool is_item(const struct clr_node *node)
{
    return node->item != NULL;
}

/* Returns the expression by which rows are in an order, if a scan may know it; else NULL. An item's
   number is not that in the text where there is a star. */
static struct clr_node *find_first_key(const struct clr_syntax *syntax)
{
    const struct clr_node *term = syntax->select.terms.first, *item = syntax->select.items.first;
    struct clr_node *key;

    key = find_ordered(syntax, term->first);
    while (item != NULL && item->first->kind != CLR_N_STAR)
        item = item->next;
    return term->first->kind == CLR_N_COLLATE ||
                   (term->first->kind == CLR_N_LITERAL && item != NULL) ||
                   clr_node_find(key, is_item) != NULL || key->reads == CLR_READS_NONE
               ? NULL
               : key;
}

/* Whether what SQLite makes of it, once for the SELECT, may be another value than once more. */
static bool may_vary(const struct clr_node *node)
{
    return node->kind == CLR_N_FUNCTION ||
           (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_CTIME_KW);
}

/* Returns the constant that LIMIT or OFFSET is; -1 if there is none, or once it has failed. */
static int bind_count(struct clr_binder *binder, struct clr_node *node)
{
    int value;

    if (node == NULL)
        return -1;
    if (clr_node_find(node, may_vary) != NULL)
        return clr_refuse(binder->syntax, CLR_WHY_LIMIT);
    value = node->is_known ? clr_emit_constant(binder, node->value, 0, NULL)
                           : clr_emit_null(binder, clr_place_operand(binder, node));
    return value < 0 ? -1 : binder->query->instructions[value].a;
}

/* Returns the filter with one more condition. */
static int add_condition(struct clr_binder *binder, int condition)
{
    const int filter = binder->query->filter;

    return filter < 0 ? condition : clr_emit(binder, CLR_OP_AND, filter, condition, 0);
}

/* Returns the instruction of what rows are in the order of; -1 once it has failed. TEXT of the
   table that is no timestamp takes longer to load than SQLite's walk over all rows, but not than
   its sort of groups. */
static int bind_ordered(struct clr_binder *binder, struct clr_node *key)
{
    const bool is_text = has_text(key) && !clr_derive_gives_numbers(key);

    if (is_text && !clr_times_has_counts(key) && binder->syntax->select.keys.first == NULL &&
        binder->query->ranking == NULL && clr_node_find(key, clr_node_is_dimension) == NULL)
        return clr_refuse(binder->syntax, CLR_WHY_TEXT_ORDER);
    if (is_text && !(clr_content_compares_binary(key) && binder->environment->is_utf8))
        return clr_refuse(binder->syntax, CLR_WHY_COLLATION);
    return is_text ? clr_lower_ranks(binder, key) : clr_lower(binder, key);
}

/* The first rows before LIMIT. */
static void bind_limited(struct clr_binder *binder)
{
    const struct clr_select_tree *select = &binder->syntax->select;
    struct clr_node *key = find_first_key(binder->syntax);
    struct clr_first_rows *first = &binder->query->first;

    if (key == NULL) {
        clr_refuse(binder->syntax, CLR_WHY_NO_AGGREGATE);
        return;
    }
    first->descends = select->terms.first->descending;
    first->limit = bind_count(binder, select->limit);
    first->offset = bind_count(binder, select->offset);
    first->key = bind_ordered(binder, key);
}

/* The row of an extreme, which all aggregates are. */
static void bind_extreme(struct clr_binder *binder)
{
    const struct clr_node *call = binder->syntax->aggregates.first;
    struct clr_first_rows *first = &binder->query->first;

    first->descends = call->aggregate->finish >= 0;
    first->key = bind_ordered(binder, call->first);
    while ((call = call->listed) != NULL) {
        if (bind_ordered(binder, call->first) != first->key)
            clr_refuse(binder->syntax, CLR_WHY_BARE_COLUMN);
    }
}

/* What rows are grouped by. */
struct keys {
    int count;
    struct clr_node *nodes[CLR_MOST_KEYS];
};

static void add_key(struct clr_binder *binder, struct keys *keys, struct clr_node *node)
{
    if (keys->count == CLR_MOST_KEYS)
        clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "keys");
    else
        keys->nodes[keys->count++] = node;
}

/* The condition that rows have the extremes of their group, by keys, or NULL where such rows come
   first. There may be more groups here than to SQLite, which tells fewer keys apart by other
   collating sequences than BINARY. */
static void bind_extremes(struct clr_binder *binder, const struct keys *keys, bool nulls_come_first)
{
    struct clr_query *query = binder->query;
    struct clr_first_rows *first = &query->first;
    const struct clr_instruction *group;
    int value, condition;

    first->group = keys->count == 1 ? clr_lower_ranks(binder, keys->nodes[0])
                                    : clr_derive_group(binder, keys->nodes, keys->count);
    group = &query->instructions[first->group < 0 ? 0 : first->group];
    if (first->group < 0 || group->opcode != CLR_OP_LOOKUP ||
        query->lookup_count == CLR_MOST_LOOKUPS)
        clr_refuse(binder->syntax, query->ranking != NULL ? CLR_WHY_WINDOW : CLR_WHY_KEY_COLUMN);
    value = clr_emit(binder, CLR_OP_LOOKUP, group->a, query->lookup_count, 0);
    if (first->keys == 1) {
        condition = clr_emit(binder, CLR_OP_IS, first->key, value, 0);
    } else {
        condition = clr_emit(binder, first->descends ? CLR_OP_GREATER_EQUAL : CLR_OP_LESS_EQUAL,
                             first->key, value, 0);
        condition = clr_emit(binder, CLR_OP_OR, clr_emit(binder, CLR_OP_IS_NULL, value, 0, 0),
                             condition, 0);
        first->beyond =
            add_condition(binder, clr_emit(binder, first->descends ? CLR_OP_LESS : CLR_OP_GREATER,
                                           first->key, value, 0));
    }
    if (nulls_come_first)
        condition = clr_emit(binder, CLR_OP_OR, clr_emit(binder, CLR_OP_IS_NULL, first->key, 0, 0),
                             condition, 0);
    first->filter = first->filter_or_null = add_condition(binder, condition);
}

static bool nulls_come_first(const struct clr_node *term)
{
    return term->nulls == CLR_NULLS_FIRST ||
           (term->nulls == CLR_NULLS_ANYWHERE && !term->descending);
}

/* The first rows of partitions. */
static void bind_ranked(struct clr_binder *binder)
{
    const struct clr_node *term = binder->query->ranking->first;
    struct clr_first_rows *first = &binder->query->first;
    struct keys keys = {.count = 0};
    int i;

    for (i = 0; i < binder->query->ranking->partition_count; i++, term = term->next) {
        if (term->first->reads == CLR_READS_NONE)
            clr_refuse(binder->syntax, CLR_WHY_WINDOW);
        add_key(binder, &keys, term->first);
    }
    if (term->first->reads == CLR_READS_NONE)
        clr_refuse(binder->syntax, CLR_WHY_WINDOW);
    first->keys = binder->query->ranks;
    first->limit = bind_count(binder, binder->query->rank);
    first->is_beyond = binder->query->is_beyond;
    first->descends = term->descending;
    first->key = bind_ordered(binder, term->first);
    bind_extremes(binder, &keys, nulls_come_first(term));
}

/* The rows of groups' extremes. */
static void bind_grouped(struct clr_binder *binder)
{
    const struct clr_node *term;
    struct keys keys = {.count = 0};

    for (term = binder->syntax->select.keys.first; term != NULL; term = term->next) {
        if (!term->is_constant)
            add_key(binder, &keys, term->first);
    }
    bind_extreme(binder);
    bind_extremes(binder, &keys, false);
}

/* The condition that rows are not behind a bound. */
static void bind_bound(struct clr_binder *binder)
{
    const struct clr_node *term = binder->syntax->select.terms.first;
    const struct clr_bound bound = {.kind = CLR_BOUND_FIRST};
    const struct clr_scalar null = {.tag = CLR_TAG_NULL};
    struct clr_first_rows *first = &binder->query->first;
    const int value = clr_emit_constant(binder, null, 0, &bound);
    const int is_before = clr_emit(
        binder, first->descends ? CLR_OP_GREATER_EQUAL : CLR_OP_LESS_EQUAL, first->key, value, 0);
    int is_null;

    first->filter = first->filter_or_null = add_condition(binder, is_before);
    if (binder->syntax->aggregates.first == NULL && nulls_come_first(term)) {
        is_null = clr_emit(binder, CLR_OP_IS_NULL, first->key, 0, 0);
        first->filter_or_null =
            add_condition(binder, clr_emit(binder, CLR_OP_OR, is_null, is_before, 0));
    }
    if (is_fine(binder))
        first->bound = binder->query->instructions[value].a;
}

/* Finds out by which key the first rows are all that SQLite needs. It is given all that the filter
   lets pass where that can't be computed. */
static bool bind_first_rows(struct clr_binder *binder)
{
    struct clr_syntax *syntax = binder->syntax;
    const struct clr_query_size before = clr_query_size_of(binder->query);
    struct clr_reason *reason = syntax->reason, earlier = *reason;

    binder->query->first =
        (struct clr_first_rows){.group = -1, .keys = 1, .limit = -1, .offset = -1};
    if (binder->query->ranking != NULL) {
        bind_ranked(binder);
    } else if (syntax->select.keys.first != NULL) {
        bind_grouped(binder);
    } else {
        if (syntax->aggregates.first != NULL)
            bind_extreme(binder);
        else
            bind_limited(binder);
        bind_bound(binder);
    }
    if (is_fine(binder) || syntax->code == CLR_NOMEM || binder->query->filter < 0 ||
        binder->environment->prefers_derived)
        return is_fine(binder);
    clr_query_shrink(binder->query, &before);
    binder->query->first.key = -1;
    binder->query->has_part = true;
    syntax->code = CLR_OK;
    *reason = earlier;
    return true;
}

/* LIMIT without ORDER BY ends SQLite's own search at the first rows that are found. */
static bool bind_rows(struct clr_binder *binder)
{
    const struct clr_select_tree *select = &binder->syntax->select;
    const bool has_call =
        binder->syntax->aggregates.first != NULL || binder->query->ranking != NULL;

    if (select->limit != NULL && select->terms.first == NULL && !has_call)
        return clr_refuse(binder->syntax, CLR_WHY_LIMIT_OF_ROWS) >= 0;
    return ((select->limit == NULL && !has_call) || bind_first_rows(binder)) && bind_rowid(binder);
}

static bool may_fail(const struct clr_node *node)
{
    return node->kind == CLR_N_FUNCTION || node->opcode == CLR_OP_ABSOLUTE;
}

/* Whether there may be errors in the terms of a dimension. */
static bool has_errors(const struct clr_dimension *dimension)
{
    int i = 0;

    while (i < dimension->term_count && clr_node_find(dimension->terms[i], may_fail) == NULL)
        i++;
    return i < dimension->term_count;
}

/* Has the terms of dimensions evaluated that nothing reads, as of LEFT JOIN beside count(*): their
   errors are the SELECT's. The condition is true for all rows. */
static void bind_unread(struct clr_binder *binder)
{
    struct clr_query *query = binder->query;
    int i, value;

    for (i = 0; i < query->dimension_count; i++) {
        const struct clr_dimension *dimension = &query->dimensions[i];

        if (dimension->is_read || !has_errors(dimension))
            continue;
        value = clr_lookup_emit(binder, dimension->terms, dimension->term_count, "AND", false);
        query->filter = add_condition(binder, clr_emit(binder, CLR_OP_IS, value, value, 0));
    }
}

/* All that a scan computes. */
static bool bind_whole(struct clr_binder *binder)
{
    const struct clr_query *query = binder->query;
    struct clr_node *node;

    if (!bind_filter(binder) || (query->ranking == NULL && !check_windows(binder)) ||
        (query->is_grouped && !bind_keys(binder)))
        return false;
    if (query->has_rows)
        return bind_rows(binder);
    if (!query->is_grouped && lists_values(binder->syntax) && !bind_one_group(binder))
        return false;
    for (node = binder->syntax->aggregates.first; node != NULL; node = node->listed) {
        if (!(node->is_ordering && !query->is_grouped ? bind_ordering(binder, node)
                                                      : clr_call_bind(binder, node)))
            return false;
    }
    bind_unread(binder);
    return is_fine(binder);
}

/* ---- Rows. */

/*
 * SELECTs of which a scan can compute a part of WHERE alone: it finds the rows for which that part
 * is true, and SQLite runs the SELECT over these.
 */

/* Begins anew, of a query of which nothing was found to be refused before it was bound. */
static void begin(struct clr_query *query)
{
    const struct clr_query_size nothing = {0, 0, 0, 0};
    struct clr_node *node;
    int i;

    clr_query_shrink(query, &nothing);
    while (query->operand_count > 0)
        clr_memory_free(query->operands[--query->operand_count]);
    for (node = query->syntax->nodes; node != NULL; node = node->allocated) {
        if (node->kind != CLR_N_PARAMETER && node->kind != CLR_N_SUBQUERY)
            node->number = 0; /* of an operand, or a call */
    }
    for (i = 0; i < query->dimension_count; i++)
        query->dimensions[i].is_read = false;
    memset(query->is_bounded, 0, sizeof query->is_bounded);
    memset(&query->grouping, 0, sizeof query->grouping);
    query->tally_count = query->call_count = query->question_count = 0;
    query->filter = query->first.key = -1;
    query->is_ordered = false;
}

/* Adds those terms to the filter that can be lowered. Returns false without memory. */
static bool add_terms(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_query *query = binder->query;
    const struct clr_query_size before = clr_query_size_of(query);
    struct clr_node *child;
    int value;

    for (child = clr_node_is_and(node) ? node->first : NULL; child != NULL; child = child->next) {
        if (!add_terms(binder, child))
            return false;
    }
    if (clr_node_is_and(node))
        return true;
    value = clr_lower(binder, node);
    if (query->filter >= 0)
        value = clr_emit(binder, CLR_OP_AND, query->filter, value, 0);
    if (value >= 0)
        query->filter = value;
    else if (binder->syntax->code == CLR_INVALID)
        clr_query_shrink(query, &before);
    if (binder->syntax->code == CLR_INVALID)
        binder->syntax->code = CLR_OK;
    return is_fine(binder);
}

/*
 * Binds the query, which could not be bound as a whole, as one of rows: with the terms of WHERE
 * that can be. What is in its expressions must have been found out. The reason is what could not be
 * bound first.
 */
static bool bind_part(struct clr_binder *binder)
{
    struct clr_syntax *syntax = binder->syntax;
    const struct clr_reason first = *syntax->reason;
    int i;

    begin(binder->query);
    binder->query->is_grouped = false;
    binder->query->has_rows = binder->query->has_part = true;
    syntax->code = CLR_OK;
    for (i = 0; i < binder->query->condition_count; i++) {
        if (!add_terms(binder, binder->query->conditions[i]))
            return false;
    }
    if (binder->query->filter >= 0 && bind_rowid(binder)) {
        clr_reason_set(syntax->reason, CLR_WHY_NONE);
        return true;
    }
    if (is_fine(binder))
        syntax->code = CLR_INVALID;
    *syntax->reason = first;
    return false;
}

/* Binds the query, which could not be bound as it was, with derived columns. Returns false once it
   has failed; the reason is what could not be bound first. */
static bool bind_derived(struct clr_binder *binder, bool is_grouped, bool has_rows)
{
    struct clr_syntax *syntax = binder->syntax;
    const struct clr_reason first = *syntax->reason;
    bool is_bound;

    begin(binder->query);
    binder->query->is_grouped = is_grouped;
    binder->query->has_rows = has_rows;
    binder->query->has_part = false;
    syntax->code = CLR_OK;
    binder->derives = true;
    is_bound = clr_derive_keys(binder) && bind_whole(binder);
    binder->derives = false;
    if (is_bound)
        clr_reason_set(syntax->reason, CLR_WHY_NONE);
    else
        *syntax->reason = first;
    return is_bound;
}

/* Binds all that a scan computes, in the first of the ways that there are. */
static bool bind_any(struct clr_binder *binder)
{
    const struct clr_environment *environment = binder->environment;
    struct clr_query *query = binder->query;
    const bool is_grouped = query->is_grouped, has_rows = query->has_rows;
    const bool takes_part = environment->takes_parts && query->may_find_rows &&
                            binder->from->sources[query->fact].inner == NULL &&
                            binder->from == &binder->syntax->select;
    bool is_bound = bind_whole(binder);

    if (binder->syntax->code == CLR_INVALID && takes_part && !environment->prefers_derived)
        is_bound = bind_part(binder);
    if (binder->syntax->code == CLR_INVALID && clr_tables_fact(binder)->derives)
        is_bound = bind_derived(binder, is_grouped, has_rows);
    if (binder->syntax->code == CLR_INVALID && takes_part && environment->prefers_derived)
        is_bound = bind_part(binder);
    return is_bound;
}

static bool has_derived(const struct clr_query *query)
{
    int i;

    for (i = 0; i < query->column_count && query->columns[i].derived == NULL; i++)
        ;
    return i < query->column_count;
}

/* Whether SQLite computes: see struct clr_query. */
static bool computes(const struct clr_query *query)
{
    int i;

    if (query->has_derived)
        return true;
    for (i = 0; i < query->instruction_count; i++) {
        switch (query->instructions[i].opcode) {
        case CLR_OP_CONSTANT:
        case CLR_OP_COLUMN:
        case CLR_OP_IS_NULL:
        case CLR_OP_NOT_NULL:
            break;
        default:
            return true;
        }
    }
    for (i = 0; i < query->call_count; i++) {
        if (query->calls[i].builtin && !query->calls[i].is_exact &&
            query->calls[i].aggregate->needs != CLR_NEEDS_COUNT)
            return true;
    }
    return false;
}

/* ---- The first rows of each partition: row_number() OVER (PARTITION BY key ORDER BY x) in a
   SELECT in FROM, of which the SELECT around it wants the rows where that is 1, or a few more. */

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

/* Has the query be one of the first rows of partitions, where it is: of the rows that meet the
   inner condition SQLite needs no others than those that have the first values of their partition.
   To be called once names of subqueries mean what is in them, before conditions are taken. */
static void find_ranked(struct clr_binder *binder)
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

/* ---- Instants. */

/* Whether an expression that finishes the query is made anew by SQLite of the present time, or of
   what else a scan has as an operand. So may be a subquery, whose text tells. */
static bool is_momentary(const struct clr_node *node)
{
    const struct clr_node *child;
    bool is =
        node->is_momentary || (node->kind == CLR_N_SUBQUERY &&
                               clr_instants_count(node->names[0].text, node->names[0].length) > 0);

    if (node->kind == CLR_N_AGGREGATE || node->item != NULL || node->key != 0)
        return false;
    for (child = node->first; child != NULL && !is; child = child->next)
        is = is_momentary(child);
    return is;
}

static bool has_momentary(const struct clr_list *list)
{
    const struct clr_node *node;

    for (node = list->first; node != NULL; node = node->next) {
        if (is_momentary(node->first))
            return true;
    }
    return false;
}

/* Refuses a query that would have two instants for the present time: SQLite has one in a step, but
   the operands are those of another statement. Rows are found again by the SELECT itself. */
static bool check_instants(struct clr_binder *binder)
{
    const struct clr_select_tree *select = &binder->syntax->select;

    if (binder->query->operand_count == 0 || binder->query->has_rows ||
        !(has_momentary(&select->items) || has_momentary(&select->terms) ||
          (select->having != NULL && is_momentary(select->having))))
        return true;
    return clr_refuse(binder->syntax, CLR_WHY_TWO_INSTANTS) >= 0;
}

/* ---- Items that are computed of groups. */

/* Lowers the items that are no key and no call by themselves. Returns false if one of them can't be
   lowered. */
static bool lower_results(struct clr_binder *binder)
{
    struct clr_query *results = binder->query;
    struct clr_node *item;

    for (item = binder->syntax->select.items.first; item != NULL; item = item->next) {
        if (clr_names_group_column(binder->groups, item->first) >= 0)
            continue;
        if (is_momentary(item->first) || results->tally_count == CLR_MOST_TALLIES)
            return false;
        results->tallies[results->tally_count] =
            (struct clr_tally_plan){.x = clr_lower(binder, item->first), .y = -1, .filter = -1};
        item->number = ++results->tally_count;
    }
    return is_fine(binder);
}

/* Has the items of a bound query computed that are expressions of keys and calls, where that can be
   done of all. Returns false without memory. */
static bool bind_results(const struct clr_binder *binder)
{
    struct clr_syntax *syntax = binder->syntax;
    const struct clr_reason earlier = *syntax->reason;
    struct clr_binder of_groups = *binder;
    struct clr_query *results;

    if (!binder->query->is_grouped || binder->query->eager != NULL ||
        !clr_query_gives_groups(binder->query))
        return true;
    results = of_groups.query = clr_memory_alloc_zero(sizeof *results);
    if (results == NULL)
        return clr_syntax_no_memory(syntax) >= 0;
    results->filter = -1;
    of_groups.groups = binder->query;
    if (lower_results(&of_groups) && results->tally_count > 0)
        binder->query->results = results;
    else
        clr_query_free(results);
    if (syntax->code == CLR_INVALID) {
        syntax->code = CLR_OK;
        *syntax->reason = earlier;
    }
    return is_fine(binder);
}

/* Notes in which schemas the tables of a join, or the one table, are found. */
static void note_schemas(struct clr_select_tree *from, const struct clr_known_table *tables)
{
    struct clr_from_table *source;
    int i;

    for (i = 0; i < from->source_count; i++) {
        for (source = &from->sources[i]; source->inner != NULL; source = source->inner->sources)
            ;
        source->found = tables[i].schema;
    }
}

enum clr_code clr_query_bind(struct clr_query *query, const struct clr_environment *environment,
                             struct clr_reason *reason)
{
    struct clr_syntax *syntax = query->syntax;
    struct clr_environment groups = *environment;
    struct clr_binder binder = {query, syntax, environment, clr_select_join(&syntax->select),
                                false, NULL,   NULL};
    bool is_bound;

    query->is_utf8 = environment->is_utf8;
    query->parameter_count = environment->parameter_count;
    note_schemas(clr_select_join(&syntax->select), environment->tables);
    syntax->reason = reason;
    if (!clr_merge_all(&binder))
        return syntax->code;
    find_ranked(&binder);
    if (clr_eager_find(&binder)) {
        groups.tables += query->eager->whole->source_count - 1;
        binder.environment = &groups;
    }
    if (syntax->code != CLR_OK || (query->eager == NULL && !clr_star_find(&binder)) ||
        !clr_names_resolve(&binder) || !clr_subqueries_resolve(&binder))
        return syntax->code;
    is_bound = bind_any(&binder) && check_instants(&binder) && bind_results(&binder);
    query->scanned = query->eager != NULL ? query->eager->whole->source_count - 1 : query->fact;
    query->has_derived = has_derived(query);
    query->computes = computes(query);
    return is_bound ? clr_query_write(query) : syntax->code;
}
