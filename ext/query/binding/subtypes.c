#include "query/binding/subtypes.h"

#include "base/memory.h"
#include "query/binding/content.h"
#include "query/syntax/grammar.h"

/* Returns what a function does with subtypes, as of enum clr_subtype_use. */
static unsigned find_use(struct clr_binder *binder, const struct clr_node *function)
{
    const struct clr_environment *environment = binder->environment;
    char *name = clr_content_name(binder, function);
    const unsigned use = name == NULL ? 0 : environment->subtypes(environment->context, name);

    clr_memory_free(name);
    return use;
}

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
static bool may_have(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_node *child;
    const unsigned use = node->kind == CLR_N_FUNCTION ? find_use(binder, node) : 0;

    if (use & (CLR_SUBTYPE_GIVEN | CLR_SUBTYPE_OWN))
        return (use & CLR_SUBTYPE_GIVEN) != 0;
    for (child = may_pass(node) ? node->first : NULL; child != NULL; child = child->next) {
        if (may_have(binder, child))
            return true;
    }
    return false;
}

/* Whether an argument may have another subtype than in SQLite. */
static bool may_differ(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_node *child;
    struct clr_node *item = NULL;

    if (node->kind == CLR_N_AGGREGATE)
        return node->builtin && node->aggregate->needs == CLR_NEEDS_EXTREME &&
               may_have(binder, node->first);
    if (node->is_item) {
        if (!clr_syntax_find_item(binder->query->syntax, node, &item))
            clr_bind_no_memory(binder);
        return item != NULL && may_differ(binder, item->first);
    }
    if (node->key != 0 || node->name_end != 0)
        return may_have(binder, node);
    if (node->kind == CLR_N_FUNCTION && find_use(binder, node) & CLR_SUBTYPE_OWN)
        return false;
    for (child = may_pass(node) ? node->first : NULL; child != NULL; child = child->next) {
        if (may_differ(binder, child))
            return true;
    }
    return false;
}

bool clr_subtypes_check(struct clr_binder *binder)
{
    const struct clr_node *node, *child;

    for (node = binder->query->syntax->nodes; node != NULL; node = node->allocated) {
        if (node->kind != CLR_N_FUNCTION)
            continue;
        for (child = node->first; child != NULL; child = child->next) {
            if (may_differ(binder, child) && find_use(binder, node) & CLR_SUBTYPE_READ)
                clr_bind_refuse_name(binder, CLR_WHY_SUBTYPE, node->names[0].text,
                                     node->names[0].length);
            if (binder->code != CLR_OK)
                return false;
        }
    }
    return true;
}
