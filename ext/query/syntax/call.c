#include "query/syntax/syntax.h"

#include "base/memory.h"

#include <limits.h>
#include <string.h>

/* The functions that are no aggregates, by name and number of arguments. */
static const struct scalar {
    const char *name;
    int least, most;
    enum clr_node_kind kind;
    enum clr_opcode opcode;
} scalars[] = {
    {"abs", 1, 1, CLR_N_UNARY, CLR_OP_ABSOLUTE},
    {"coalesce", 2, INT_MAX, CLR_N_FOLD, CLR_OP_COALESCE},
    {"ifnull", 2, 2, CLR_N_FOLD, CLR_OP_COALESCE},
    {"min", 2, INT_MAX, CLR_N_FOLD, CLR_OP_LEAST},
    {"max", 2, INT_MAX, CLR_N_FOLD, CLR_OP_GREATEST},
    {"round", 1, 1, CLR_N_UNARY, CLR_OP_ROUND},
    {"round", 2, 2, CLR_N_FUNCTION, CLR_OP_ROUND}, /* but to 0 digits by way of text */
    {"floor", 1, 1, CLR_N_UNARY, CLR_OP_FLOOR},
    {"ceil", 1, 1, CLR_N_UNARY, CLR_OP_CEILING},
    {"ceiling", 1, 1, CLR_N_UNARY, CLR_OP_CEILING},
    {"trunc", 1, 1, CLR_N_UNARY, CLR_OP_TRUNCATE},
    {"sign", 1, 1, CLR_N_UNARY, CLR_OP_SIGN},
    {"iif", 2, 2, CLR_N_FUNCTION, CLR_OPCODES}, /* of some versions alone */
    {"iif", 3, 3, CLR_N_CASE, CLR_OPCODES},
    {"iif", 4, INT_MAX, CLR_N_FUNCTION, CLR_OPCODES},
    {"nullif", 2, 2, CLR_N_NULLIF, CLR_OPCODES},
    {"likely", 1, 1, CLR_N_HINT, CLR_OPCODES},
    {"unlikely", 1, 1, CLR_N_HINT, CLR_OPCODES},
    {"likelihood", 2, 2, CLR_N_HINT, CLR_OPCODES},
};

enum { SCALARS = sizeof scalars / sizeof scalars[0] };

/* SQLite's own alone. */
static const struct clr_aggregate count_rows = {
    .name = "count", .builtin = "count", .arguments = 1, .needs = CLR_NEEDS_COUNT};

/* A call as it is written, and what it turns out to be: one of the two pointers, or none for a
   function that is SQLite's to evaluate. */
struct written {
    char *name; /* without the suffix of the form */
    enum clr_form form;
    bool star;
    int arguments;
    bool known; /* a scan has a function of that name, though it may take other arguments */
    bool builtin;
    const struct clr_aggregate *aggregate;
    const struct scalar *scalar;
};

/* Takes a suffix off a name. Returns whether it was there. */
static bool take_suffix(char *name, const char *suffix)
{
    const size_t length = strlen(name), size = strlen(suffix);

    if (length <= size || !clr_name_equal(name + length - size, suffix))
        return false;
    name[length - size] = '\0';
    return true;
}

/* Finds out whether the aggregate is the one that is called. */
static void consider_aggregate(struct written *call, const struct clr_aggregate *aggregate)
{
    const bool ours = clr_name_equal(aggregate->name, call->name) &&
                      (call->form == CLR_FORM_VALUE || aggregate->state != 0);
    const bool builtin = call->form == CLR_FORM_VALUE && aggregate->builtin != NULL &&
                         clr_name_equal(aggregate->builtin, call->name);

    if (!ours && !builtin)
        return;
    call->known = true;
    if (call->star ? aggregate->needs != CLR_NEEDS_COUNT : call->arguments != aggregate->arguments)
        return;
    call->aggregate = aggregate;
    call->builtin = builtin;
}

static void consider_scalar(struct written *call, const struct scalar *scalar)
{
    if (call->form != CLR_FORM_VALUE || !clr_name_equal(scalar->name, call->name))
        return;
    call->known = true;
    if (!call->star && call->arguments >= scalar->least && call->arguments <= scalar->most)
        call->scalar = scalar;
}

/* Finds the function that is called, unless it has to be refused. */
static void find_function(struct clr_syntax *syntax, const struct clr_token *token,
                          struct written *call)
{
    const struct clr_aggregate *aggregate;
    int i;

    call->name = clr_token_name(token);
    if (call->name == NULL) {
        clr_syntax_no_memory(syntax);
        return;
    }
    call->form = take_suffix(call->name, "_state") ? CLR_FORM_STATE : CLR_FORM_VALUE;
    consider_aggregate(call, &count_rows);
    for (aggregate = clr_aggregates; aggregate->name != NULL; aggregate++)
        consider_aggregate(call, aggregate);
    for (i = 0; i < SCALARS; i++)
        consider_scalar(call, &scalars[i]);
    if (call->aggregate == NULL && call->scalar == NULL && (call->known || call->star))
        clr_syntax_refuse_name(syntax, CLR_WHY_FUNCTION_ARGUMENTS, token->text, token->length);
    clr_memory_free(call->name);
    call->name = NULL;
}

/* Makes a call that of an aggregate, with all that holds for those. */
static void be_aggregate(struct clr_syntax *syntax, struct clr_node *node,
                         const struct clr_token *name, struct clr_node *filter)
{
    if (node->has & CLR_HAS_AGGREGATE || (filter != NULL && filter->has & CLR_HAS_AGGREGATE)) {
        clr_syntax_refuse(syntax, CLR_WHY_NESTED_AGGREGATE);
        return;
    }
    if ((node->has | (filter != NULL ? filter->has : 0)) & CLR_HAS_SUBQUERY)
        clr_syntax_refuse(syntax, CLR_WHY_SUBQUERY);
    node->filter = filter;
    node->has &= CLR_HAS_COLLATE;
    node->has |= CLR_HAS_AGGREGATE | CLR_HAS_SURE_AGGREGATE;
    syntax->tokens[name->index].node = node;
    clr_list_enlist(&syntax->aggregates, node);
}

static bool is_zero(const struct clr_node *node)
{
    const struct clr_token *token = &node->names[0];

    return node->kind == CLR_N_LITERAL && token->length == 1 && *token->text == '0';
}

struct clr_node *clr_syntax_call(struct clr_syntax *syntax, const struct clr_token *name, bool star,
                                 struct clr_list arguments, struct clr_node *filter)
{
    struct written call = {.star = star, .arguments = clr_list_count(&arguments)};
    enum clr_node_kind kind = CLR_N_FUNCTION;
    struct clr_node *node;

    if (syntax->code != CLR_OK)
        return NULL;
    find_function(syntax, name, &call);
    if (syntax->code != CLR_OK)
        return NULL;
    if (call.aggregate != NULL)
        kind = CLR_N_AGGREGATE;
    else if (call.scalar != NULL)
        kind = call.scalar->opcode == CLR_OP_ROUND && call.arguments == 2 && is_zero(arguments.last)
                   ? CLR_N_UNARY
                   : call.scalar->kind;
    node = clr_syntax_node(syntax, kind, arguments);
    if (node == NULL)
        return NULL;
    node->names[0] = *name;
    node->aggregate = call.aggregate;
    node->form = call.form;
    node->builtin = call.builtin;
    if (call.aggregate != NULL) {
        be_aggregate(syntax, node, name, filter);
    } else if (filter != NULL) {
        clr_syntax_refuse_name(syntax, CLR_WHY_FILTER, name->text, name->length);
    } else {
        node->opcode = call.scalar != NULL ? call.scalar->opcode : CLR_OPCODES;
        node->function = kind != CLR_N_FUNCTION ? call.scalar->name : NULL;
        node->has_else = kind == CLR_N_CASE;
    }
    return clr_syntax_place(syntax, name->index, node);
}

struct clr_node *clr_syntax_call_distinct(struct clr_syntax *syntax, const struct clr_token *token,
                                          const struct clr_token *distinct,
                                          struct clr_node *argument, struct clr_node *filter)
{
    static const char function[] = "gpu_count_distinct";
    struct clr_token name = *token;
    struct clr_node *node = NULL;
    char *written;

    if (syntax->code != CLR_OK)
        return NULL;
    written = clr_token_name(token);
    name.text = function;
    name.length = sizeof function - 1;
    if (written == NULL)
        clr_syntax_no_memory(syntax);
    else if (!clr_name_equal(written, "count") && !clr_name_equal(written, function))
        clr_syntax_unexpected(syntax, distinct);
    else
        node = clr_syntax_call(syntax, &name, false, (struct clr_list){argument, argument}, filter);
    if (node != NULL)
        node->is_distinct = true;
    clr_memory_free(written);
    return node;
}
