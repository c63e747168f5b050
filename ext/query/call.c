#include "query/syntax.h"

#include "base/memory.h"

#include <limits.h>
#include <string.h>

/* The functions, by name and number of arguments. */
static const struct {
    const char *name;
    int least, most;
    enum clr_node_kind kind;
    enum clr_function function; /* of CLR_N_AGGREGATE */
    enum clr_opcode opcode;     /* of the others */
} functions[] = {
    {"count", 1, 1, CLR_N_AGGREGATE, CLR_F_COUNT, 0},
    {"sum", 1, 1, CLR_N_AGGREGATE, CLR_F_SUM, 0},
    {"total", 1, 1, CLR_N_AGGREGATE, CLR_F_TOTAL, 0},
    {"avg", 1, 1, CLR_N_AGGREGATE, CLR_F_AVG, 0},
    {"min", 1, 1, CLR_N_AGGREGATE, CLR_F_MIN, 0},
    {"max", 1, 1, CLR_N_AGGREGATE, CLR_F_MAX, 0},
    {"gpu_sum", 1, 1, CLR_N_AGGREGATE, CLR_F_SUM, 0},
    {"gpu_total", 1, 1, CLR_N_AGGREGATE, CLR_F_TOTAL, 0},
    {"gpu_avg", 1, 1, CLR_N_AGGREGATE, CLR_F_AVG, 0},
    {"gpu_min", 1, 1, CLR_N_AGGREGATE, CLR_F_MIN, 0},
    {"gpu_max", 1, 1, CLR_N_AGGREGATE, CLR_F_MAX, 0},
    {"gpu_dot", 2, 2, CLR_N_AGGREGATE, CLR_F_DOT, 0},
    {"abs", 1, 1, CLR_N_UNARY, 0, CLR_OP_ABSOLUTE},
    {"coalesce", 2, INT_MAX, CLR_N_FOLD, 0, CLR_OP_COALESCE},
    {"ifnull", 2, 2, CLR_N_FOLD, 0, CLR_OP_COALESCE},
    {"min", 2, INT_MAX, CLR_N_FOLD, 0, CLR_OP_LEAST},
    {"max", 2, INT_MAX, CLR_N_FOLD, 0, CLR_OP_GREATEST},
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

/* Finds the function, or FUNCTIONS once it has been refused. */
static int find_function(struct clr_syntax *syntax, const struct clr_token *token, bool star,
                         int arguments)
{
    char *name = clr_token_name(token);
    bool known = false;
    int i;

    if (name == NULL) {
        syntax->code = clr_status_set(syntax->status, CLR_NOMEM, 0, "out of memory");
        return FUNCTIONS;
    }
    for (i = 0; i < FUNCTIONS; i++) {
        if (!clr_name_equal(functions[i].name, name))
            continue;
        known = true;
        if (star ? functions[i].kind == CLR_N_AGGREGATE && functions[i].function == CLR_F_COUNT
                 : arguments >= functions[i].least && arguments <= functions[i].most)
            break;
    }
    if (i == FUNCTIONS)
        syntax->code = clr_status_set(
            syntax->status, CLR_INVALID, 0,
            known ? "the function %.100s() with these arguments" : "the function %.100s()", name);
    clr_memory_free(name);
    return i;
}

/* Makes a call that of an aggregate, with all that holds for those. */
static void be_aggregate(struct clr_syntax *syntax, struct clr_node *node,
                         const struct clr_token *name, struct clr_node *filter, size_t end)
{
    if (node->has & CLR_HAS_AGGREGATE || (filter != NULL && filter->has & CLR_HAS_AGGREGATE)) {
        clr_syntax_refuse(syntax, "an aggregate within another one");
        return;
    }
    node->filter = filter;
    node->has = CLR_HAS_AGGREGATE | CLR_HAS_SURE_AGGREGATE;
    node->begin = name->index;
    node->end = end;
    syntax->tokens[node->begin].node = node;
    clr_list_enlist(&syntax->aggregates, node);
}

static int count(struct clr_list list)
{
    int n = 0;

    for (; list.first != NULL; list.first = list.first->next)
        n++;
    return n;
}

struct clr_node *clr_syntax_call(struct clr_syntax *syntax, const struct clr_token *name, bool star,
                                 struct clr_list arguments, struct clr_node *filter, size_t end)
{
    struct clr_node *node;
    int i;

    if (syntax->code != CLR_OK)
        return NULL;
    i = find_function(syntax, name, star, count(arguments));
    if (i == FUNCTIONS)
        return NULL;
    node = clr_syntax_node(syntax, functions[i].kind, arguments);
    if (node == NULL)
        return NULL;
    node->opcode = functions[i].opcode;
    node->function = functions[i].function;
    node->builtin = strncmp(functions[i].name, "gpu_", 4) != 0;
    if (node->kind == CLR_N_AGGREGATE)
        be_aggregate(syntax, node, name, filter, end);
    else if (filter != NULL)
        clr_syntax_refuse(syntax, "FILTER for a function that is no aggregate");
    return node;
}
