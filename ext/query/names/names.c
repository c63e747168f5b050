#include "query/names/names.h"

#include "query/names/times.h"
#include "query/syntax/grammar.h"

#include <string.h>

static bool refuse(struct clr_binder *binder, enum clr_reason_code why)
{
    return clr_refuse(binder->syntax, why) >= 0;
}

static bool refuse_name(struct clr_binder *binder, enum clr_reason_code why, const char *name)
{
    return clr_refuse_name(binder->syntax, why, name) >= 0;
}

static bool refuse_token(struct clr_binder *binder, enum clr_reason_code why,
                         const struct clr_token *token)
{
    return clr_refuse_token(binder->syntax, why, token) >= 0;
}

/* ---- Columns and functions. */

/* Looks up a column of a table, for the node; returns false once it has failed. */
static bool bind_column(struct clr_binder *binder, struct clr_node *node)
{
    const char *name = node->names[node->name_count - 1].name;
    const struct clr_known_column *known = clr_tables_find(binder, node, &node->source);

    if (known == NULL)
        return refuse_name(binder, CLR_WHY_COLUMN, name);
    node->column = *known;
    node->dimension = clr_tables_dimension(binder->query, node->source - 1);
    node->reads = node->dimension == 0 ? known->number
                                       : binder->query->dimensions[node->dimension - 1].column;
    memcpy(node->collation, known->collation, sizeof node->collation);
    return known->readable || refuse_name(binder, CLR_WHY_GENERATED_COLUMN, name);
}

/* ---- What is in an expression: which columns it reads, and what of it only SQLite computes. */

int clr_content_together(int reads, int other)
{
    if (reads == CLR_READS_NONE || reads == other)
        return other;
    return other == CLR_READS_NONE ? reads : CLR_READS_SEVERAL;
}

/*
 * Whether a comparison is one of a column that may well have TEXT with parameters, whose types are
 * known later: as numbers they could be compared by kernels, as TEXT they can't.
 */
static bool compares_parameter(const struct clr_node *node)
{
    const bool compares = node->kind == CLR_N_BETWEEN || node->kind == CLR_N_IN ||
                          (node->kind == CLR_N_FOLD && clr_opcode_compares(node->opcode));
    const struct clr_node *child;
    bool column = false, parameter = false;

    for (child = node->first; child != NULL; child = child->next) {
        column = column || (child->kind == CLR_N_COLUMN && child->column.seems_text);
        parameter = parameter || child->kind == CLR_N_PARAMETER || child->is_momentary;
    }
    return compares && column && parameter && node->reads >= 0;
}

/* Whether SQLite may compare TEXT that is of it otherwise than byte by byte. */
static bool is_collated(const struct clr_node *node)
{
    return (node->kind == CLR_N_COLUMN && !node->column.is_binary) || node->kind == CLR_N_COLLATE;
}

/* Returns the item of the select list that a name means which is no column of the table, or NULL.
 */
static struct clr_node *find_item(const struct clr_binder *binder, const struct clr_node *node)
{
    if (node->kind != CLR_N_COLUMN || node->name_count != 1 || node->source != 0 ||
        (!node->is_hidden && clr_tables_have(binder, node->names[0].name)))
        return NULL;
    return clr_syntax_find_item(binder->syntax, node);
}

/* Whether an expression whose children are known is momentary: see struct clr_node. A sequence that
   COLLATE names is not a value's. */
static bool is_momentary(const struct clr_node *node)
{
    const struct clr_node *child;

    if (node->has != 0 || node->kind == CLR_N_WINDOW)
        return false;
    if ((node->kind == CLR_N_FUNCTION && clr_times_is_function(node->names[0].name)) ||
        (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_CTIME_KW))
        return true;
    for (child = node->first; child != NULL && !child->is_momentary; child = child->next)
        ;
    return child != NULL;
}

/* Whether SQLite makes numbers of the operands. */
static bool takes_number(const struct clr_node *node)
{
    return node->kind == CLR_N_MINUS ||
           (node->kind == CLR_N_CAST && node->cast != CLR_CAST_TO_TEXT &&
            node->cast != CLR_CAST_TO_BLOB) ||
           (node->kind == CLR_N_FOLD && node->opcode >= CLR_OP_ADD &&
            node->opcode <= CLR_OP_REMAINDER);
}

/*
 * Looks up the names of an expression, and sets what is known of each node once it is bound.
 * Refuses columns that there are not, and functions that are not deterministic. Items of the select
 * list can be meant in HAVING and ORDER BY. Aggregates are left alone. Returns false once it has
 * failed.
 */
static bool find_content(struct clr_binder *binder, struct clr_node *node, bool items)
{
    struct clr_node *child;

    node->reads = CLR_READS_NONE;
    node->is_foreign = node->is_momentary = false;
    node->item = items ? find_item(binder, node) : NULL;
    if (node->kind == CLR_N_AGGREGATE || node->item != NULL)
        return true;
    for (child = node->first; child != NULL; child = child->next) {
        if (!find_content(binder, child, items))
            return false;
        node->reads = clr_content_together(node->reads, child->reads);
        if (clr_times_number(child) == CLR_TIME_SECONDS_TEXT && takes_number(node))
            child->is_foreign = false;
        node->is_foreign = node->is_foreign || child->is_foreign;
    }
    /* A subquery's column that is no column of the table has a collating sequence of its own:
       BINARY. That of a window function is a number. */
    if (node->written != NULL && node->kind != CLR_N_COLUMN && node->kind != CLR_N_WINDOW &&
        clr_node_find(node, is_collated) != NULL)
        return refuse(binder, CLR_WHY_COLLATION);
    if (node->kind == CLR_N_FUNCTION && !node->is_deterministic)
        return refuse_name(binder, CLR_WHY_NOT_DETERMINISTIC, node->names[0].name);
    node->is_momentary = is_momentary(node);
    if (node->is_momentary) {
        node->is_foreign = false;
        return true;
    }
    switch (node->kind) {
    case CLR_N_COLUMN:
        if (!bind_column(binder, node))
            return false;
        /* Comparisons would convert numbers to TEXT, and arithmetic TEXT to numbers. */
        node->is_foreign = node->column.is_text || node->column.has_text || node->dimension != 0;
        return true;
    case CLR_N_STAR:
        return binder->query->has_rows || binder->query->may_find_extremes ||
               refuse(binder, CLR_WHY_KEY_COLUMN);
    case CLR_N_LITERAL:
        node->is_foreign = node->names[0].kind == CLR_T_STRING || node->names[0].kind == CLR_T_BLOB;
        return true;
    case CLR_N_FUNCTION:
        node->is_foreign = clr_times_number(node) == CLR_TIME_NO_NUMBER ||
                           clr_times_number(node) == CLR_TIME_SECONDS_TEXT;
        return true;
    case CLR_N_OPERATOR:
    case CLR_N_COLLATE:
    case CLR_N_SUBQUERY:
        node->is_foreign = true;
        return true;
    case CLR_N_CAST:
        node->is_foreign =
            node->is_foreign || node->cast == CLR_CAST_TO_TEXT || node->cast == CLR_CAST_TO_BLOB;
        return true;
    case CLR_N_UNARY:
        /* Of a column it is asked whatever its values are. */
        if ((node->opcode == CLR_OP_IS_NULL || node->opcode == CLR_OP_NOT_NULL) &&
            clr_node_is_scanned(node->first))
            node->is_foreign = false;
        return true;
    default:
        node->is_foreign = node->is_foreign || compares_parameter(node);
        return true;
    }
}

bool clr_content_is_signed_column(const struct clr_node *node)
{
    while (node->kind == CLR_N_PLUS)
        node = node->first;
    return clr_node_is_scanned(node);
}

bool clr_content_is_text(const struct clr_node *node)
{
    /* A hint has the affinity of its argument, as some versions of SQLite see it; to others it has
       none. */
    while (node->kind == CLR_N_COLLATE || node->kind == CLR_N_HINT)
        node = node->first;
    return (node->kind == CLR_N_COLUMN && node->column.is_text) ||
           (node->kind == CLR_N_CAST && node->cast == CLR_CAST_TO_TEXT);
}

/* Returns what an expression may have its collating sequence of. */
static const struct clr_node *strip(const struct clr_node *node)
{
    while (node->kind == CLR_N_PLUS || node->kind == CLR_N_CAST || node->kind == CLR_N_HINT)
        node = node->first;
    return node;
}

bool clr_content_is_subquery(const struct clr_node *node)
{
    while (node->kind == CLR_N_COLLATE || node->kind == CLR_N_HINT)
        node = node->first;
    return node->kind == CLR_N_SUBQUERY;
}

bool clr_content_compares_binary(const struct clr_node *node)
{
    return (node->has & CLR_HAS_COLLATE) == 0 &&
           (strip(node)->kind != CLR_N_COLUMN || strip(node)->column.is_binary);
}

/* Refuses items with names as the columns of the table of groups have: in HAVING and in expressions
   of ORDER BY a column goes before an item of its name. */
static bool check_item_names(struct clr_binder *binder)
{
    const struct clr_node *item;

    for (item = binder->syntax->select.items.first; item != NULL; item = item->next) {
        const char *name = item->names[0].kind == 0 ? "" : item->names[0].name;

        if (clr_name_begins(name, strlen(name), CLR_GROUP_KEY_PREFIX) ||
            clr_name_begins(name, strlen(name), CLR_GROUP_CALL_PREFIX))
            return refuse_name(binder, CLR_WHY_INNER_NAME, name);
    }
    return true;
}

/* Finds what the terms of ORDER BY mean. One that is an item's name means the item, even if a
   column has that name. */
static bool find_terms(struct clr_binder *binder)
{
    const struct clr_node *term = binder->syntax->select.terms.first;

    for (; term != NULL; term = term->next) {
        struct clr_node *node = term->first, *item = clr_syntax_find_item(binder->syntax, node);

        if (item == NULL && !find_content(binder, node, true))
            return false;
        while (item != NULL && node->kind == CLR_N_COLLATE)
            node = node->first;
        if (item != NULL)
            node->item = item;
    }
    return true;
}

/* ---- Keys. */

struct clr_node *clr_names_keys(const struct clr_syntax *syntax)
{
    const struct clr_select_tree *select = &syntax->select;

    return select->keys.first != NULL ? select->keys.first : select->items.first;
}

/* Has a term of GROUP BY mean another expression than the one that is written. */
static void take_key(struct clr_node *term, struct clr_node *key)
{
    if (term->written == NULL)
        term->written = term->first;
    term->first = key;
}

/* A number in GROUP BY is that of an item, from 1. */
static bool take_number(struct clr_binder *binder, struct clr_node *term)
{
    const struct clr_token *token = &term->first->names[0];
    const struct clr_node *item = clr_syntax_find_numbered(binder->syntax, term->first);

    if (term->first->negative || strspn(token->name, "0123456789") != token->length)
        return refuse(binder, CLR_WHY_KEY_CONSTANT);
    if (item == NULL)
        return refuse_token(binder, CLR_WHY_KEY_NUMBER, token);
    take_key(term, item->first);
    return true;
}

/* Puts the item of the select list in the place of its number or its name. */
static bool resolve_key(struct clr_binder *binder, struct clr_node *term)
{
    const struct clr_node *item;

    if (term->first->kind == CLR_N_LITERAL && term->first->names[0].kind == CLR_T_NUMBER &&
        term->first->written == NULL)
        return take_number(binder, term);
    item = find_item(binder, term->first);
    if (item != NULL)
        take_key(term, item->first);
    return true;
}

/*
 * Finds out by which collating sequence a key is compared, if that is not BINARY, and takes COLLATE
 * off it: where no two values of a key are equal by it, it makes no other groups. DISTINCT gives
 * them in the order of the rows, and not of a sequence.
 */
static bool find_sequence(struct clr_binder *binder, struct clr_node *term)
{
    struct clr_node *key = term->first;
    const char *name = key->names[0].name;

    if (clr_content_compares_binary(key))
        return true;
    if (binder->syntax->select.keys.first == NULL)
        return refuse(binder, CLR_WHY_COLLATION);
    if (key->kind == CLR_N_COLUMN) {
        memcpy(term->collation, key->collation, sizeof term->collation);
    } else if (key->kind == CLR_N_COLLATE && (key->first->has & CLR_HAS_COLLATE) == 0) {
        if (strlen(name) < sizeof term->collation && strchr(name, '"') == NULL)
            strcpy(term->collation, name);
        take_key(term, key->first);
    }
    return term->collation[0] != '\0' || refuse(binder, CLR_WHY_COLLATION);
}

static bool check_key(struct clr_binder *binder, struct clr_node *term)
{
    if (term->first->has & CLR_HAS_AGGREGATE)
        return refuse(binder, CLR_WHY_KEY_AGGREGATE);
    if (!find_content(binder, term->first, false))
        return false;
    term->is_constant = term->first->reads == CLR_READS_NONE;
    return find_sequence(binder, term);
}

static bool find_keys(struct clr_binder *binder)
{
    const struct clr_syntax *syntax = binder->syntax;
    struct clr_node *term;
    int count = 0;

    for (term = clr_names_keys(syntax); term != NULL; term = term->next) {
        if ((syntax->select.keys.first != NULL && !resolve_key(binder, term)) ||
            !check_key(binder, term))
            return false;
        count += !term->is_constant;
    }
    if (count > CLR_MOST_KEYS)
        refuse_name(binder, CLR_WHY_TOO_MANY, "keys of GROUP BY");
    else if (count == 0)
        refuse(binder, CLR_WHY_KEY_CONSTANT);
    return binder->syntax->code == CLR_OK;
}

/* ---- Which expressions in the select list, HAVING and ORDER BY are what a key of the groups is.
 */

/* Whether two subqueries are one, as they are written, and have the same parameters. */
static bool are_one(const struct clr_node *a, const struct clr_node *b)
{
    const struct clr_token *x = &a->names[0], *y = &b->names[0];

    return x->length == y->length && memcmp(x->text, y->text, x->length) == 0 &&
           memchr(x->text, '?', x->length) == NULL;
}

bool clr_content_is_same(const struct clr_node *a, const struct clr_node *b)
{
    const struct clr_node *x = a->first, *y = b->first;

    if (a == b)
        return true;
    if (a->kind != b->kind || a->kind == CLR_N_AGGREGATE || a->item != NULL || b->item != NULL)
        return false;
    if (a->kind == CLR_N_COLUMN)
        return a->source == b->source && a->column.number == b->column.number;
    if (a->kind == CLR_N_PARAMETER)
        return a->number == b->number;
    if (a->kind == CLR_N_SUBQUERY)
        return are_one(a, b);
    if (a->opcode != b->opcode || a->negative != b->negative || a->is_infix != b->is_infix ||
        a->has_base != b->has_base || a->has_else != b->has_else ||
        !clr_token_equal(&a->names[0], &b->names[0]))
        return false;
    while (x != NULL && y != NULL && clr_content_is_same(x, y))
        x = x->next, y = y->next;
    return x == NULL && y == NULL;
}

/*
 * Takes note of a key, or the name of an item that is one, within an expression, if it is a column
 * with another collating sequence than BINARY. What stands for it names the sequence as COLLATE
 * does, which counts for all that is around it, while that of a column does not. Functions have no
 * use for it, and COLLATE goes before it: within them it is left out. Returns false once it has
 * failed.
 */
static bool take_sequence(struct clr_binder *binder, const struct clr_node *node,
                          struct clr_node *child)
{
    const struct clr_node *item = child->item;

    if (item != NULL && item->first->key != 0 && clr_content_is_subquery(item->first))
        return refuse(binder, CLR_WHY_SUBQUERY);
    if (item != NULL)
        return item->first->kind != CLR_N_COLUMN || item->first->column.is_binary ||
               refuse(binder, CLR_WHY_COLLATION);
    if (child->kind != CLR_N_COLUMN || child->column.is_binary)
        return true;
    child->collation[0] = '\0';
    return node->kind == CLR_N_FUNCTION || node->kind == CLR_N_COLLATE ||
           refuse(binder, CLR_WHY_COLLATION);
}

/* Whether a dimension has one key that is a column, and this is it: its rows with a key that is no
   NULL are no others than the one that is joined. */
static bool is_joined_by(const struct clr_dimension *dimension, const struct clr_node *column)
{
    const struct clr_node *term = dimension->terms[0], *side;

    if (dimension->term_count != 1 || term->kind != CLR_N_FOLD || term->opcode != CLR_OP_EQUAL)
        return false;
    for (side = term->first; side != NULL; side = side->next) {
        if (side->kind == CLR_N_COLUMN && side->source == column->source &&
            side->column.number == column->column.number)
            return true;
    }
    return false;
}

/*
 * Whether a dimension's column has one value in all rows with the same key of GROUP BY: the key is
 * the one that the dimension is joined by, or the column of the fact table that leads there, if
 * equal values of it are the same value, as those of a column of TEXT or INTEGERs are.
 */
static bool follows(const struct clr_binder *binder, const struct clr_node *column,
                    const struct clr_node *key)
{
    const struct clr_dimension *dimension = &binder->query->dimensions[column->dimension - 1];

    if (key->kind != CLR_N_COLUMN || !key->column.is_binary)
        return false;
    if (key->dimension != 0)
        return key->dimension == column->dimension && is_joined_by(dimension, key);
    return key->column.number == dimension->column &&
           (key->column.is_text || (key->column.is_numeric && !key->column.is_real));
}

/* Finds out whether a column follows from a key, and notes it. */
static bool find_determined(const struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_node *term = binder->syntax->select.keys.first;

    if (!clr_node_is_dimension(node) || !node->column.is_binary)
        return false;
    while (term != NULL && !follows(binder, node, term->first))
        term = term->next;
    node->is_determined = term != NULL;
    return term != NULL;
}

/* Whether the affinity and the collating sequence of a column mean nothing to an expression that
   has it. */
static bool takes_value(const struct clr_node *node)
{
    switch (node->kind) {
    case CLR_N_PLUS:
    case CLR_N_MINUS:
    case CLR_N_UNARY:
    case CLR_N_FUNCTION:
    case CLR_N_WINDOW:
    case CLR_N_CAST:
    case CLR_N_TERM:
        return true;
    case CLR_N_FOLD:
        return !clr_opcode_compares(node->opcode);
    case CLR_N_CASE:
        return !node->has_base;
    default:
        return node->kind == CLR_N_OPERATOR && node->names[0].kind == CLR_T_CONCAT;
    }
}

static bool find_key_uses(struct clr_binder *binder, struct clr_node *node);

/*
 * Whether the column that a subquery names, if it names one, is a key. Whether it names more SQLite
 * finds out. SQLite may apply the affinity of a comparison in the subquery to the very place where
 * it has the key: see clr_query's lists. Of an index that is never REAL
 * (sqlite3IndexAffinityStr()), and NUMERIC changes nothing in a column of such an affinity, but for
 * one of REALs.
 */
static bool names_key(struct clr_binder *binder, struct clr_node *subquery)
{
    const struct clr_node *key = subquery->first;

    if (key == NULL)
        return true;
    return find_key_uses(binder, subquery->first) &&
           ((subquery->tested == NULL && !key->is_determined && key->column.is_numeric &&
             !key->column.is_real) ||
            refuse(binder, CLR_WHY_NAMED_KEY));
}

/* Finds the expressions that are keys. Returns false, once it has failed, if there is a column
   elsewhere. */
static bool find_key_uses(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_node *term;
    struct clr_node *child;
    int key = 1;

    if (node->kind == CLR_N_AGGREGATE || node->item != NULL)
        return true;
    for (term = clr_names_keys(binder->syntax); term != NULL; term = term->next) {
        if (term->is_constant)
            continue;
        if (clr_content_is_same(term->first, node)) {
            node->key = key;
            return true;
        }
        key++;
    }
    if (node->kind == CLR_N_COLUMN || node->kind == CLR_N_STAR)
        return find_determined(binder, node) || refuse(binder, CLR_WHY_KEY_COLUMN);
    if (node->kind == CLR_N_SUBQUERY)
        return names_key(binder, node);
    for (child = node->first; child != NULL; child = child->next) {
        child->is_exists = node->kind == CLR_N_OPERATOR && node->names[0].kind == 0;
        if (!take_sequence(binder, node, child) || !find_key_uses(binder, child))
            return false;
        if (child->is_determined && !takes_value(node))
            return refuse(binder, CLR_WHY_KEY_COLUMN);
        /* A key has no affinity, and a subquery has that of its column, which is not known. */
        if (child->key != 0 && clr_content_is_subquery(child))
            return refuse(binder, CLR_WHY_SUBQUERY);
    }
    return true;
}

static bool find_list_uses(struct clr_binder *binder, const struct clr_list *list)
{
    const struct clr_node *node;

    for (node = list->first; node != NULL; node = node->next) {
        if (!find_key_uses(binder, node->first))
            return false;
    }
    return true;
}

/* Finds the expressions in the select list, HAVING and ORDER BY that are keys: what else these have
   is in aggregates or no column of the table, or it follows from a key, and then the greatest value
   of a group is the only one. Returns false once it has failed. */
static bool find_uses(struct clr_binder *binder)
{
    const struct clr_select_tree *select = &binder->syntax->select;
    struct clr_node *node;

    if (!find_list_uses(binder, &select->items) ||
        (select->having != NULL && !find_key_uses(binder, select->having)) ||
        !find_list_uses(binder, &select->terms))
        return false;
    for (node = binder->syntax->nodes; node != NULL; node = node->allocated) {
        if (node->is_determined && node->kind == CLR_N_COLUMN)
            clr_syntax_be_greatest(binder->syntax, node);
    }
    return binder->syntax->code == CLR_OK;
}

/* Has the query be one of rows: of those that have the extreme of their group, which the columns
   are of that are no keys. Returns false if it can't be. */
static bool become_rows(struct clr_binder *binder)
{
    struct clr_query *query = binder->query;
    struct clr_node *node;

    if (!query->may_find_extremes || binder->syntax->code != CLR_INVALID ||
        binder->syntax->reason->code != CLR_WHY_KEY_COLUMN)
        return false;
    for (node = binder->syntax->nodes; node != NULL; node = node->allocated) {
        node->key = 0;
        node->is_determined = false;
    }
    query->is_grouped = false;
    query->has_rows = true;
    binder->syntax->code = CLR_OK;
    clr_reason_set(binder->syntax->reason, CLR_WHY_NONE);
    return true;
}

/* ---- Subtypes of values, by which SQLite's JSON functions know JSON from other text. */

/* Whether an expression may be one of its operands as it is. */
static bool may_pass(const struct clr_node *node)
{
    switch (node->kind) {
    case CLR_N_MINUS:
    case CLR_N_UNARY:
    case CLR_N_BETWEEN:
    case CLR_N_IN:
    case CLR_N_OPERATOR:
        return false;
    case CLR_N_FOLD:
        return node->opcode == CLR_OP_COALESCE || node->opcode == CLR_OP_LEAST ||
               node->opcode == CLR_OP_GREATEST;
    default:
        return true;
    }
}

/* Whether a value may have a subtype. */
static bool may_have(const struct clr_node *node)
{
    const struct clr_node *child;
    const unsigned use = node->subtypes;

    if (node->kind == CLR_N_SUBQUERY)
        return true;
    if (use & (CLR_SUBTYPE_GIVEN | CLR_SUBTYPE_OWN))
        return (use & CLR_SUBTYPE_GIVEN) != 0;
    for (child = may_pass(node) ? node->first : NULL; child != NULL; child = child->next) {
        if (may_have(child))
            return true;
    }
    return false;
}

/* Whether an argument may have another subtype than in SQLite. */
static bool may_differ(const struct clr_node *node)
{
    const struct clr_node *child;

    if (node->kind == CLR_N_AGGREGATE)
        return node->builtin && node->aggregate->needs == CLR_NEEDS_EXTREME &&
               may_have(node->first);
    if (node->item != NULL)
        return may_differ(node->item->first);
    if (node->key != 0 || node->written != NULL)
        return may_have(node);
    if (node->subtypes & CLR_SUBTYPE_OWN)
        return false;
    for (child = may_pass(node) ? node->first : NULL; child != NULL; child = child->next) {
        if (may_differ(child))
            return true;
    }
    return false;
}

/* Whether an aggregate lists values as JSON, and so would have to know which are that already. */
static bool lists_json(const struct clr_node *node)
{
    return node->kind == CLR_N_AGGREGATE && node->aggregate->needs == CLR_NEEDS_VALUES &&
           node->aggregate->finish == CLR_LIST_OF_JSON;
}

/*
 * Refuses a function that reads subtypes if one of its arguments may have another one than in
 * SQLite: keys and aggregates of the table of groups have none, and the column of a subquery in
 * FROM, in whose place its expression stands, loses it in SQLite. To be called once it is known
 * which expressions are keys. Returns false once it has failed.
 */
static bool check_subtypes(struct clr_binder *binder)
{
    const struct clr_node *node, *child;

    for (node = binder->syntax->nodes; node != NULL; node = node->allocated) {
        const bool is_list = lists_json(node);

        if (!is_list && (node->subtypes & CLR_SUBTYPE_READ) == 0)
            continue;
        for (child = node->first; child != NULL; child = child->next) {
            if (is_list ? may_have(child) : may_differ(child))
                return refuse_token(binder, CLR_WHY_SUBTYPE, &node->names[0]);
        }
    }
    return true;
}

/* ---- Parameters, and all. */

static bool check_parameters(struct clr_binder *binder)
{
    const struct clr_node *node;

    for (node = binder->syntax->parameters.first; node != NULL; node = node->listed) {
        if (node->number > binder->environment->parameter_count)
            return refuse_token(binder, CLR_WHY_PARAMETER, &node->names[0]);
    }
    return true;
}

/* Whether something that is written in quotes has the name, as a column of a subquery in FROM. */
static bool is_quoted_name(const struct clr_syntax *syntax, const char *name)
{
    const struct clr_node *node = syntax->nodes;

    while (node != NULL && (clr_node_is_truth(node) || node->names[0].name == NULL ||
                            !clr_name_equal(node->names[0].name, name)))
        node = node->allocated;
    return node != NULL;
}

/* To SQLite TRUE and FALSE are columns first. */
static bool check_truths(struct clr_binder *binder)
{
    const struct clr_node *node;

    for (node = binder->syntax->truths.first; node != NULL; node = node->listed) {
        const char *name = node->names[0].kind == CLR_T_TRUE ? "true" : "false";

        if (clr_tables_have(binder, name) || is_quoted_name(binder->syntax, name))
            return refuse(binder, CLR_WHY_TRUTH_NAME);
    }
    return true;
}

/* Finds out what is in the node and its siblings; NULL is none. Returns false once it has failed.
 */
static bool find_siblings(struct clr_binder *binder, struct clr_node *node)
{
    while (node != NULL && find_content(binder, node, false))
        node = node->next;
    return node == NULL;
}

/* Finds out what is in the conditions that find a dimension's row, all of which follow from the
   column that leads to it. Returns false once it has failed. */
static bool find_dimension(struct clr_binder *binder, const struct clr_dimension *dimension)
{
    int i;

    for (i = 0; i < dimension->term_count; i++) {
        struct clr_node *term = dimension->terms[i];

        if (!find_content(binder, term, false))
            return false;
        if (clr_tables_has_part(dimension, term))
            term->reads = dimension->column;
        if (term->reads != dimension->column)
            return clr_tables_refuse_join(binder, dimension->source) >= 0;
    }
    return true;
}

/* Finds out what is in a SELECT in FROM that ranks rows, and in the condition around it. Returns
   false once it has failed. */
static bool find_ranked(struct clr_binder *binder)
{
    const struct clr_select_tree *select = &binder->syntax->select;
    const struct clr_node *item = select->sources[0].inner->items.first;

    while (item != NULL && find_content(binder, item->first, false))
        item = item->next;
    return item == NULL && find_content(binder, select->where, false);
}

/* Finds out what is in all expressions. Returns false once it has failed. */
static bool find_contents(struct clr_binder *binder)
{
    const struct clr_select_tree *select = &binder->syntax->select;
    const bool is_grouped = binder->query->is_grouped, has_rows = binder->query->has_rows;
    struct clr_node *node;
    int i;

    for (i = 0; i < binder->query->condition_count; i++) {
        if (!find_content(binder, binder->query->conditions[i], false))
            return false;
    }
    for (i = 0; i < binder->query->dimension_count; i++) {
        if (!find_dimension(binder, &binder->query->dimensions[i]))
            return false;
    }
    for (node = select->items.first; node != NULL; node = node->next) {
        if (!find_content(binder, node->first, false))
            return false;
    }
    if ((is_grouped && !find_keys(binder)) ||
        (select->having != NULL && !find_content(binder, select->having, true)) ||
        !find_terms(binder) ||
        (!has_rows &&
         !(find_siblings(binder, select->limit) && find_siblings(binder, select->offset))))
        return false;
    for (node = binder->syntax->aggregates.first; node != NULL; node = node->listed) {
        if (!find_siblings(binder, node->first) || !find_siblings(binder, node->filter))
            return false;
    }
    if (binder->query->ranking != NULL && !find_ranked(binder))
        return false;
    return !is_grouped || find_uses(binder) || become_rows(binder);
}

bool clr_names_resolve(struct clr_binder *binder)
{
    return check_parameters(binder) && check_truths(binder) && check_item_names(binder) &&
           find_contents(binder) && check_subtypes(binder);
}
