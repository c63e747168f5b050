#include "query/binding/subqueries.h"

#include "base/memory.h"
#include "query/binding/content.h"
#include "query/syntax/grammar.h"

#include <string.h>

/* Whether a name could be one of the query around a subquery: a column, an item, or a column of
   the table of groups. */
static bool is_outer(struct clr_binder *binder, const char *name)
{
    const struct clr_environment *environment = binder->environment;
    const struct clr_syntax *syntax = binder->query->syntax;
    const struct clr_node *item;
    bool found = syntax->inner_begin != 0 || strchr(name, ':') != NULL ||
                 environment->column(environment->context, name).number >= 0;
    int i;

    for (i = 0; i < CLR_ROWID_NAMES; i++)
        found = found || clr_name_equal(name, clr_rowid_names[i]);
    for (item = syntax->items.first; item != NULL && !found; item = item->next) {
        char *other = item->names[0].kind == 0 ? NULL : clr_token_name(&item->names[0]);

        if (item->names[0].kind != 0 && other == NULL)
            clr_bind_no_memory(binder);
        found = other != NULL && clr_name_equal(name, other);
        clr_memory_free(other);
    }
    return found;
}

static bool check_quoted(struct clr_binder *binder, const struct clr_token *token)
{
    char *name = clr_token_name(token);

    if (name == NULL)
        clr_bind_no_memory(binder);
    else if (is_outer(binder, name) && binder->code == CLR_OK)
        clr_bind_refuse_name(binder, CLR_WHY_OUTER_NAME, token->text, token->length);
    clr_memory_free(name);
    return binder->code == CLR_OK;
}

static bool check_names(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_token *tokens = binder->query->syntax->tokens;
    size_t i;

    for (i = node->begin + 1; i + 1 < node->end; i++) {
        if (*tokens[i].text == '"' && tokens[i - 1].kind != CLR_T_DOT &&
            tokens[i + 1].kind != CLR_T_DOT && !check_quoted(binder, &tokens[i]))
            return false;
    }
    return true;
}

/* Returns the key or the aggregate that an operand of IN is, whose value SQLite has in one place
   for the whole row; or NULL: it is computed for IN alone. *is_bare: a unary plus or a hint takes
   the affinity away that it has by itself. */
static const struct clr_node *find_shared(struct clr_binder *binder, const struct clr_node *node,
                                          bool *is_bare)
{
    struct clr_node *item = NULL;

    while (node->key == 0 && (node->kind == CLR_N_PLUS || node->kind == CLR_N_COLLATE ||
                              node->kind == CLR_N_HINT || node->is_item)) {
        if (node->is_item && !clr_syntax_find_item(binder->query->syntax, node, &item))
            clr_bind_no_memory(binder);
        if (node->is_item && item == NULL)
            break;
        *is_bare = *is_bare || node->kind == CLR_N_PLUS || node->kind == CLR_N_HINT;
        node = node->is_item ? item->first : node->first;
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
    if ((node->kind == CLR_N_COLUMN && node->is_real) ||
        (node->kind == CLR_N_CAST &&
         (node->cast == CLR_CAST_TO_REAL || node->cast == CLR_CAST_TO_NUMERIC)))
        return "";
    if (clr_content_is_text(node))
        return "@AB";
    if (node->kind == CLR_N_COLUMN && node->is_numeric)
        return is_bare ? "@ACD" : "@ABCDE";
    if (node->kind == CLR_N_AGGREGATE && node->aggregate->needs == CLR_NEEDS_COUNT)
        return "@ACD";
    return "@A";
}

bool clr_subqueries_find(struct clr_binder *binder)
{
    struct clr_query *query = binder->query;
    struct clr_node *node;

    for (node = query->syntax->subqueries.first; node != NULL; node = node->listed) {
        const struct clr_node *shared = NULL;
        bool is_bare = false;

        if (!check_names(binder, node))
            return false;
        if (node->tested != NULL)
            shared = find_shared(binder, node->tested, &is_bare);
        if (shared == NULL)
            continue;
        if (query->list_count == CLR_MOST_LISTS)
            clr_bind_refuse_more(binder, "subqueries behind IN");
        else
            query->lists[query->list_count++] = find_harmless(shared, is_bare);
        node->number = query->list_count;
    }
    return binder->code == CLR_OK;
}
