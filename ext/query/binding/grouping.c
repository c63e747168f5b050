#include "query/binding/grouping.h"

#include "base/memory.h"
#include "query/binding/content.h"
#include "query/binding/emit.h"
#include "query/binding/lookup.h"
#include "query/binding/lower.h"
#include "query/syntax/grammar.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which expressions in the select list, HAVING and ORDER BY are what a key of the groups is.
 */

static bool refuse(struct clr_binder *binder, enum clr_reason_code why)
{
    clr_bind_refuse(binder, why);
    return false;
}

/* The keys' expressions: those of GROUP BY, or else the whole select list. */
static struct clr_node *key_uses_first(const struct clr_syntax *syntax)
{
    return syntax->keys.first != NULL ? syntax->keys.first : syntax->items.first;
}

static bool is_same_token(const struct clr_token *a, const struct clr_token *b)
{
    size_t i;

    if (a->kind != b->kind || a->length != b->length)
        return false;
    if (a->kind == CLR_T_STRING || a->kind == CLR_T_BLOB || a->kind == CLR_T_NUMBER)
        return memcmp(a->text, b->text, a->length) == 0;
    for (i = 0; i < a->length; i++) {
        char x = a->text[i], y = b->text[i];
        x = x >= 'A' && x <= 'Z' ? (char)(x - 'A' + 'a') : x;
        y = y >= 'A' && y <= 'Z' ? (char)(y - 'A' + 'a') : y;
        if (x != y)
            return false;
    }
    return true;
}

static bool is_same(const struct clr_syntax *syntax, const struct clr_node *a,
                    const struct clr_node *b);

/* The same for columns, parameters, and columns of a subquery. */
static bool is_same_node(const struct clr_syntax *syntax, const struct clr_node *x,
                         const struct clr_node *y)
{
    if (x->kind != y->kind || x->kind == CLR_N_AGGREGATE || x->is_item || y->is_item)
        return false;
    if (x->kind == CLR_N_COLUMN)
        return x->reads == y->reads;
    return x->kind == CLR_N_PARAMETER ? x->number == y->number : is_same(syntax, x, y);
}

/* Whether two expressions are the same, as they are written, but for how they name columns and
   parameters. */
static bool is_same(const struct clr_syntax *syntax, const struct clr_node *a,
                    const struct clr_node *b)
{
    size_t i = a->begin, j = b->begin;

    if (a == b)
        return true;
    if (a->kind == CLR_N_COLUMN || b->kind == CLR_N_COLUMN)
        return a->kind == b->kind && a->reads == b->reads && !a->is_item && !b->is_item;
    if (i == a->end || j == b->end)
        return false;
    while (i < a->end && j < b->end) {
        const struct clr_node *x = syntax->tokens[i].node, *y = syntax->tokens[j].node;

        if (x == NULL && y == NULL) {
            if (!is_same_token(&syntax->tokens[i++], &syntax->tokens[j++]))
                return false;
            continue;
        }
        if (x == NULL || y == NULL || !is_same_node(syntax, x, y))
            return false;
        i = x->name_end != 0 ? x->name_end : x->end;
        j = y->name_end != 0 ? y->name_end : y->end;
    }
    return i == a->end && j == b->end;
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
    struct clr_node *item = NULL;

    if (child->is_item && !clr_syntax_find_item(binder->query->syntax, child, &item)) {
        clr_bind_no_memory(binder);
        return false;
    }
    if (item != NULL)
        return item->first->kind != CLR_N_COLUMN || item->first->is_binary ||
               refuse(binder, CLR_WHY_COLLATION);
    if (child->kind != CLR_N_COLUMN || child->is_binary)
        return true;
    child->collation[0] = '\0';
    return node->kind == CLR_N_FUNCTION || node->kind == CLR_N_COLLATE ||
           refuse(binder, CLR_WHY_COLLATION);
}

/* Finds the expressions that are keys. Returns false, once it has failed, if there is a column
   elsewhere. */
static bool find_key_uses(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_syntax *syntax = binder->query->syntax;
    const struct clr_node *term;
    struct clr_node *child;
    int key = 1;

    if (node->kind == CLR_N_AGGREGATE || node->is_item)
        return true;
    for (term = key_uses_first(syntax); term != NULL; term = term->next) {
        if (term->is_constant)
            continue;
        if (is_same(syntax, term->first, node)) {
            node->key = key;
            return true;
        }
        key++;
    }
    if (node->kind == CLR_N_COLUMN)
        return refuse(binder, CLR_WHY_KEY_COLUMN);
    for (child = node->first; child != NULL; child = child->next) {
        if (!take_sequence(binder, node, child) || !find_key_uses(binder, child))
            return false;
    }
    return true;
}

/* Lets the first token of each such expression tell. Done when all are found and the keys are
   written down: both go by the tokens. */
static void mark_keys(struct clr_syntax *syntax, struct clr_node *node)
{
    struct clr_node *child;

    if (node->kind == CLR_N_AGGREGATE)
        return;
    if (node->key != 0) {
        syntax->tokens[node->name_end != 0 ? node->name_begin : node->begin].node = node;
        return;
    }
    for (child = node->first; child != NULL; child = child->next)
        mark_keys(syntax, child);
}

/* Does something with each expression outside of aggregates that is evaluated for a group. */
static bool each_outer(struct clr_binder *binder,
                       bool (*act)(struct clr_binder *binder, struct clr_node *node))
{
    const struct clr_syntax *syntax = binder->query->syntax;
    const struct clr_node *node;

    for (node = syntax->items.first; node != NULL; node = node->next) {
        if (!act(binder, node->first))
            return false;
    }
    if (syntax->having != NULL && !act(binder, syntax->having))
        return false;
    for (node = syntax->terms.first; node != NULL; node = node->next) {
        if (!act(binder, node->first))
            return false;
    }
    return true;
}

static bool mark(struct clr_binder *binder, struct clr_node *node)
{
    mark_keys(binder->query->syntax, node);
    return true;
}

/* ---- Names. */

/* Stores the item of the select list that a name means which is no column of the table, or NULL.
   Returns false once it has failed. */
static bool find_item(struct clr_binder *binder, const struct clr_node *node,
                      struct clr_node **item)
{
    const struct clr_environment *environment = binder->environment;
    char *name;

    *item = NULL;
    if (node->kind != CLR_N_COLUMN || node->name_count != 1)
        return true;
    name = clr_token_name(&node->names[0]);
    if (name == NULL) {
        clr_bind_no_memory(binder);
        return false;
    }
    if ((node->is_hidden || environment->column(environment->context, name).number < 0) &&
        !clr_syntax_find_item(binder->query->syntax, node, item))
        clr_bind_no_memory(binder);
    clr_memory_free(name);
    return binder->code == CLR_OK;
}

/* Finds what names mean outside of aggregates. Items of the select list can be meant in HAVING and
   ORDER BY. Returns false once it has failed. */
static bool find_names(struct clr_binder *binder, struct clr_node *node, bool items)
{
    struct clr_node *child, *item = NULL;

    if (node->kind == CLR_N_AGGREGATE)
        return true;
    if (items && !find_item(binder, node, &item))
        return false;
    node->is_item = item != NULL;
    if (node->is_item)
        return true;
    if (!clr_content_check_name(binder, node))
        return false;
    if (node->kind == CLR_N_COLUMN)
        return clr_bind_column(binder, node);
    if (node->kind == CLR_N_STAR)
        return binder->query->has_rows || refuse(binder, CLR_WHY_KEY_COLUMN);
    for (child = node->first; child != NULL; child = child->next) {
        if (!find_names(binder, child, items))
            return false;
    }
    return node->kind != CLR_N_FUNCTION || clr_content_check_function(binder, node);
}

/* A term of ORDER BY that is an item's name means the item, even if a column has that name. */
static bool find_term(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *item;

    if (!clr_syntax_find_item(binder->query->syntax, node, &item)) {
        clr_bind_no_memory(binder);
        return false;
    }
    if (item == NULL)
        return find_names(binder, node, true);
    while (node->kind == CLR_N_COLLATE)
        node = node->first;
    node->is_item = true;
    return true;
}

/* ---- Keys. */

/* A number in GROUP BY is that of an item, from 1. */
static bool take_number(struct clr_binder *binder, struct clr_node *term)
{
    const struct clr_token *token = &term->first->names[0];
    struct clr_node *item = binder->query->syntax->items.first;
    long number = 0;
    size_t i;

    for (i = 0; i < token->length && number < 100000; i++) {
        if (token->text[i] < '0' || token->text[i] > '9')
            return refuse(binder, CLR_WHY_KEY_CONSTANT);
        number = 10 * number + (token->text[i] - '0');
    }
    if (term->first->negative)
        return refuse(binder, CLR_WHY_KEY_CONSTANT);
    for (; item != NULL && number > 1; item = item->next)
        number--;
    if (item == NULL || number != 1) {
        clr_bind_refuse_name(binder, CLR_WHY_KEY_NUMBER, token->text, token->length);
        return false;
    }
    term->first = item->first;
    return true;
}

/* Puts the item of the select list in the place of its number or its name. */
static bool resolve_key(struct clr_binder *binder, struct clr_node *term)
{
    struct clr_node *item;

    if (term->first->kind == CLR_N_LITERAL && term->first->names[0].kind == CLR_T_NUMBER)
        return take_number(binder, term);
    if (!find_item(binder, term->first, &item))
        return false;
    if (item != NULL)
        term->first = item->first;
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
    const struct clr_token *last = &binder->query->syntax->tokens[key->end - 1];
    char *name;

    if (clr_content_compares_binary(key))
        return true;
    if (binder->query->syntax->keys.first == NULL)
        return refuse(binder, CLR_WHY_COLLATION);
    if (key->kind == CLR_N_COLUMN) {
        memcpy(term->collation, key->collation, sizeof term->collation);
    } else if (key->kind == CLR_N_COLLATE && (key->first->has & CLR_HAS_COLLATE) == 0) {
        name = clr_token_name(last);
        if (name == NULL)
            return clr_bind_no_memory(binder), false;
        if (strlen(name) < sizeof term->collation && strchr(name, '"') == NULL)
            strcpy(term->collation, name);
        clr_memory_free(name);
        term->first = key->first;
    }
    return term->collation[0] != '\0' || refuse(binder, CLR_WHY_COLLATION);
}

static bool check_key(struct clr_binder *binder, struct clr_node *term)
{
    if (term->first->has & CLR_HAS_AGGREGATE)
        return refuse(binder, CLR_WHY_KEY_AGGREGATE);
    if (term->first->has & CLR_HAS_SUBQUERY)
        return refuse(binder, CLR_WHY_SUBQUERY);
    if (!clr_content_find(binder, term->first))
        return false;
    term->is_constant = term->first->reads == CLR_READS_NONE;
    return find_sequence(binder, term);
}

static bool find_keys(struct clr_binder *binder)
{
    const struct clr_syntax *syntax = binder->query->syntax;
    struct clr_node *term;
    int count = 0;

    for (term = key_uses_first(syntax); term != NULL; term = term->next) {
        if ((syntax->keys.first != NULL && !resolve_key(binder, term)) || !check_key(binder, term))
            return false;
        count += !term->is_constant;
    }
    if (count > CLR_MOST_KEYS)
        clr_bind_refuse_more(binder, "keys of GROUP BY");
    else if (count == 0)
        clr_bind_refuse(binder, CLR_WHY_KEY_CONSTANT);
    return binder->code == CLR_OK;
}

/* ---- All. */

bool clr_grouping_find(struct clr_binder *binder)
{
    const struct clr_query *query = binder->query;
    const struct clr_syntax *syntax = query->syntax;
    struct clr_node *node;

    for (node = syntax->items.first; node != NULL; node = node->next) {
        if (!find_names(binder, node->first, false))
            return false;
    }
    if ((query->is_grouped && !find_keys(binder)) ||
        (syntax->having != NULL && !find_names(binder, syntax->having, true)))
        return false;
    for (node = syntax->terms.first; node != NULL; node = node->next) {
        if (!find_term(binder, node->first))
            return false;
    }
    return query->has_rows || each_outer(binder, find_key_uses);
}

/* ---- Instructions. */

static bool has_text(const struct clr_node *node)
{
    return node->is_foreign || (node->kind == CLR_N_COLUMN && node->seems_text);
}

/* TEXT, BLOBs and what functions give are known by their ranks. */
static int emit_key(struct clr_binder *binder, struct clr_node *node)
{
    if (!has_text(node))
        return clr_lower(binder, node);
    if (node->reads < 0)
        return clr_bind_refuse(binder, CLR_WHY_TWO_COLUMNS);
    return clr_lookup_emit_ranks(binder, node);
}

/* Returns the expression that a term of ORDER BY means: an item's for its name or number. */
static const struct clr_node *find_ordered(struct clr_binder *binder, const struct clr_node *node)
{
    struct clr_node *item = binder->query->syntax->items.first;
    long number;

    if (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_NUMBER) {
        for (number = strtol(node->names[0].text, NULL, 10); item != NULL && number > 1; number--)
            item = item->next;
    } else if (!node->is_item) {
        return node;
    } else if (!clr_syntax_find_item(binder->query->syntax, node, &item)) {
        clr_bind_no_memory(binder);
        return node;
    }
    return item != NULL ? item->first : node;
}

/* Whether ORDER BY leaves nothing open: it has all keys. */
static bool has_all_keys(struct clr_binder *binder)
{
    bool has[CLR_MOST_KEYS + 1] = {false};
    const struct clr_node *term;
    int i;

    for (term = binder->query->syntax->terms.first; term != NULL; term = term->next)
        has[find_ordered(binder, term->first)->key] = true;
    for (i = 1; i <= binder->query->grouping.key_count; i++) {
        if (!has[i])
            return false;
    }
    return true;
}

/*
 * The groups come in the order in which SQLite's sorter gives them: where GROUP BY and ORDER BY
 * have as many terms, with the latter's directions (sqlite3Select()). So what ORDER BY leaves open
 * is decided as there. DISTINCT leaves values in the order of the rows.
 */
bool clr_grouping_bind(struct clr_binder *binder)
{
    const struct clr_syntax *syntax = binder->query->syntax;
    struct clr_grouping *grouping = &binder->query->grouping;
    const bool like_order = syntax->keys.first != NULL &&
                            clr_list_count(&syntax->keys) == clr_list_count(&syntax->terms);
    const struct clr_node *term, *order = syntax->terms.first;

    grouping->by_first = syntax->keys.first == NULL;
    for (term = key_uses_first(syntax); term != NULL; term = term->next) {
        const bool descending = like_order && order->descending;
        int key;

        order = like_order ? order->next : NULL;
        if (term->is_constant)
            continue;
        key = emit_key(binder, term->first);
        if (key < 0)
            return false;
        grouping->keys[grouping->key_count] = key;
        grouping->descending[grouping->key_count++] = descending;
    }
    binder->query->is_ordered = has_all_keys(binder);
    if (binder->code == CLR_OK)
        each_outer(binder, mark);
    return binder->code == CLR_OK;
}

bool clr_grouping_bind_rowid(struct clr_binder *binder, const char **name)
{
    const struct clr_environment *environment = binder->environment;
    struct clr_grouping *grouping = &binder->query->grouping;
    int i;

    for (i = 0; i < CLR_ROWID_NAMES; i++) {
        const char *const rowid = clr_rowid_names[i];
        const struct clr_known_column known = environment->column(environment->context, rowid);
        int place;

        if (!known.is_rowid)
            continue;
        place = clr_place_column(binder, known.number, false);
        grouping->keys[0] = place < 0 ? -1 : clr_emit(binder, CLR_OP_COLUMN, place, 0, 0);
        grouping->key_count = 1;
        *name = rowid;
        return grouping->keys[0] >= 0;
    }
    return refuse(binder, CLR_WHY_NO_ROWID);
}
