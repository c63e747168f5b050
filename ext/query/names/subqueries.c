#include "query/names/subqueries.h"

#include "query/syntax/grammar.h"

#include <string.h>

/* ---- The names in a subquery's text. */

/* The tokens of a text, with no dots at either side of a name that stands alone. */
struct names {
    const char *at, *end;
    struct clr_token last, token, next;
};

static struct names begin_names(const struct clr_node *subquery)
{
    const struct clr_token *all = &subquery->names[0];

    return (struct names){.at = all->text, .end = all->text + all->length};
}

/* Goes on to the next name. Returns false if there is none. */
static bool find_name(struct names *names)
{
    do {
        names->last = names->token;
        names->token = names->next;
        names->next = (struct clr_token){.kind = 0};
        if (names->at < names->end)
            clr_token_next(&names->at, &names->next);
        if (names->token.kind == CLR_T_ID)
            return true;
    } while (names->token.kind != 0 || names->next.kind != 0);
    return false;
}

static bool stands_alone(const struct names *names)
{
    return names->last.kind != CLR_T_DOT && names->next.kind != CLR_T_DOT;
}

bool clr_subquery_may_name(const struct clr_query *query, const struct clr_node *subquery,
                           const char *column)
{
    const struct clr_select_tree *from = &query->syntax->select;
    struct names names = begin_names(subquery);
    const struct clr_node *common;
    int i;

    /* Names are those of a subquery in FROM, or mean the column of another table. */
    for (i = 0; i < from->source_count; i++) {
        for (common = from->sources[i].common.first; common != NULL; common = common->next) {
            if (clr_name_equal(common->names[0].name, column))
                return false;
        }
    }
    if (clr_select_has_inner(from))
        return false;
    while (find_name(&names)) {
        clr_token_unquote(&names.token, query->syntax->last);
        if (clr_name_equal(query->syntax->last, column))
            return true;
    }
    return false;
}

/* Whether a name could be one of the query around a subquery: a column, an item, or a column of
   the table of groups. */
static bool is_outer(const struct clr_binder *binder, const char *name)
{
    const struct clr_node *item;

    if (clr_select_has_inner(&binder->syntax->select) || strchr(name, ':') != NULL ||
        clr_tables_have(binder, name) || clr_tables_name_rowid(name))
        return true;
    for (item = binder->syntax->select.items.first; item != NULL; item = item->next) {
        if (item->names[0].kind != 0 && clr_name_equal(name, item->names[0].name))
            return true;
    }
    return false;
}

/*
 * Refuses a name with no dot at either side of it that could be such a name, and is another thing
 * where there is none: TEXT in double quotes, or a truth. A rowid that is said to be of the query
 * around it may be none of a table there.
 */
static bool check_names(struct clr_binder *binder, const struct clr_node *subquery)
{
    struct names names = begin_names(subquery);
    char *name = binder->syntax->last;

    while (find_name(&names)) {
        const bool is_quoted = *names.token.text == '"';
        const bool is_alone = stands_alone(&names);
        bool is_refused;

        clr_token_unquote(&names.token, name);
        is_refused =
            is_alone && (is_quoted || clr_name_equal(name, "true") || clr_name_equal(name, "false"))
                ? is_outer(binder, name)
                : subquery->first != NULL && clr_tables_name_rowid(name);
        if (is_refused)
            return clr_refuse_token(binder->syntax, CLR_WHY_OUTER_NAME, &names.token) >= 0;
    }
    return true;
}

/* ---- Those that SQLite evaluates as it finishes the query. */

/* Returns the key or the aggregate that an operand of IN is, whose value SQLite has in one place
   for the whole row; or NULL: it is computed for IN alone. *is_bare: a unary plus or a hint takes
   the affinity away that it has by itself. */
static const struct clr_node *find_shared(const struct clr_node *node, bool *is_bare)
{
    while (node->key == 0 && (node->kind == CLR_N_PLUS || node->kind == CLR_N_COLLATE ||
                              node->kind == CLR_N_HINT || node->item != NULL)) {
        *is_bare = *is_bare || node->kind == CLR_N_PLUS || node->kind == CLR_N_HINT;
        node = node->item != NULL ? node->item->first : node->first;
    }
    return node->key != 0 || node->kind == CLR_N_AGGREGATE || node->kind == CLR_N_COLUMN ? node
                                                                                         : NULL;
}

/* Returns the letters of the affinities of a subquery's column by which no value of the key or the
   aggregate changes, by SQLite's sqlite3CompareAffinity() and applyAffinity(). */
static const char *find_harmless(const struct clr_node *node, bool is_bare)
{
    while (node->kind == CLR_N_HINT) {
        is_bare = true;
        node = node->first;
    }
    /* A REAL that is whole becomes an INTEGER by its own affinity. */
    if ((node->kind == CLR_N_COLUMN && node->column.is_real) ||
        (node->kind == CLR_N_CAST &&
         (node->cast == CLR_CAST_TO_REAL || node->cast == CLR_CAST_TO_NUMERIC)))
        return "";
    if (clr_content_is_text(node))
        return "@AB";
    if (node->kind == CLR_N_COLUMN && node->column.is_numeric)
        return is_bare ? "@ACD" : "@ABCDE";
    if (node->kind == CLR_N_AGGREGATE && node->aggregate->needs == CLR_NEEDS_COUNT)
        return "@ACD";
    return "@A";
}

/* Writes down what a list changes: see struct clr_query. Returns false once it has failed. */
static bool find_list(struct clr_binder *binder, struct clr_node *subquery)
{
    struct clr_query *query = binder->query;
    const struct clr_node *shared = NULL;
    bool is_bare = false;

    if (subquery->tested != NULL)
        shared = find_shared(subquery->tested, &is_bare);
    if (shared == NULL)
        return true;
    if (query->list_count == CLR_MOST_LISTS)
        return clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "subqueries behind IN") >= 0;
    query->lists[query->list_count++] = find_harmless(shared, is_bare);
    subquery->number = query->list_count;
    return true;
}

/* ---- All. */

/* Whether a subquery's rows, and not their order alone, may follow from the order of other rows. */
static bool may_follow_order(const struct clr_node *subquery)
{
    const struct clr_token *all = &subquery->names[0];
    const char *at = all->text + 1, *end = all->text + all->length;
    struct clr_token token;

    while (at < end && clr_token_next(&at, &token)) {
        if (token.kind == CLR_T_LP || clr_token_is(&token, "LIMIT") ||
            clr_token_is(&token, "GROUP"))
            return true;
    }
    return false;
}

/* Notes those of an expression of rows; is_value: it is no operand of IN or EXISTS. */
static void mark(struct clr_binder *binder, struct clr_node *node, bool is_value)
{
    const bool tests = node->kind == CLR_N_OPERATOR && node->names[0].kind == 0;
    struct clr_node *child;

    if (node->kind == CLR_N_SUBQUERY) {
        node->is_looked_up = binder->query->looks_up_subqueries = true;
        binder->query->looks_up_values =
            binder->query->looks_up_values || is_value || may_follow_order(node);
    }
    /* What IN looks for comes before the subquery. */
    for (child = node->first; child != NULL; child = child->next)
        mark(binder, child, !tests || child->next != NULL);
}

/* Notes those of what is a key in an expression that finishes the query. */
static void mark_keys(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *child;

    if (node->key != 0)
        mark(binder, node, true);
    for (child = node->first; child != NULL && node->key == 0; child = child->next)
        mark_keys(binder, child);
}

static void mark_keys_of(struct clr_binder *binder, const struct clr_list *list)
{
    struct clr_node *node;

    for (node = list->first; node != NULL; node = node->next)
        mark_keys(binder, node->first);
}

static void mark_all(struct clr_binder *binder)
{
    struct clr_query *query = binder->query;
    struct clr_node *node, *child;
    int i;

    for (i = 0; i < query->condition_count; i++)
        mark(binder, query->conditions[i], true);
    for (node = query->is_grouped ? clr_names_keys(binder->syntax) : NULL; node != NULL;
         node = node->next) {
        if (!node->is_constant)
            mark(binder, node->first, true);
    }
    mark_keys_of(binder, &binder->syntax->select.items);
    mark_keys_of(binder, &binder->syntax->select.terms);
    if (binder->syntax->select.having != NULL)
        mark_keys(binder, binder->syntax->select.having);
    for (node = binder->syntax->aggregates.first; node != NULL; node = node->listed) {
        for (child = node->first; child != NULL; child = child->next)
            mark(binder, child, true);
        if (node->filter != NULL)
            mark(binder, node->filter, true);
    }
}

bool clr_subqueries_resolve(struct clr_binder *binder)
{
    struct clr_query *query = binder->query;
    struct clr_node *node;

    mark_all(binder);
    query->has_subqueries = false;
    for (node = binder->syntax->subqueries.first; node != NULL; node = node->listed) {
        query->has_subqueries = query->has_subqueries || !node->is_looked_up;
        if (!node->is_looked_up && !query->is_grouped)
            node->first = NULL; /* there is no key that it could name */
        /* The rows that are found are not all that such an aggregate is of. */
        if (query->has_rows && node->aggregates_around)
            return clr_refuse(binder->syntax, CLR_WHY_AGGREGATE_AROUND) >= 0;
        if (node->is_looked_up && node->names_more)
            return clr_refuse(binder->syntax, CLR_WHY_SUBQUERY_NAMES) >= 0;
        if ((!query->has_rows || node->is_looked_up) && !check_names(binder, node))
            return false;
        if (!query->has_rows && !node->is_looked_up && !find_list(binder, node))
            return false;
    }
    return true;
}
