#include "query/syntax.h"

#include "base/memory.h"

#include <limits.h>
#include <string.h>

/* The functions, by name and number of arguments. */
static const struct function {
    const char *name;
    int least, most;
    enum clr_node_kind kind;
    enum clr_function function; /* of CLR_N_AGGREGATE */
    union {
        enum clr_opcode opcode;        /* of what is no aggregate */
        enum clr_statistic statistic;  /* of CLR_F_MOMENTS */
        enum clr_order_function order; /* of CLR_F_ORDER */
    } which;
} functions[] = {
    {"count", 1, 1, CLR_N_AGGREGATE, CLR_F_COUNT, {0}},
    {"sum", 1, 1, CLR_N_AGGREGATE, CLR_F_SUM, {0}},
    {"total", 1, 1, CLR_N_AGGREGATE, CLR_F_TOTAL, {0}},
    {"avg", 1, 1, CLR_N_AGGREGATE, CLR_F_AVG, {0}},
    {"min", 1, 1, CLR_N_AGGREGATE, CLR_F_MIN, {0}},
    {"max", 1, 1, CLR_N_AGGREGATE, CLR_F_MAX, {0}},
    {"gpu_sum", 1, 1, CLR_N_AGGREGATE, CLR_F_SUM, {0}},
    {"gpu_total", 1, 1, CLR_N_AGGREGATE, CLR_F_TOTAL, {0}},
    {"gpu_avg", 1, 1, CLR_N_AGGREGATE, CLR_F_AVG, {0}},
    {"gpu_min", 1, 1, CLR_N_AGGREGATE, CLR_F_MIN, {0}},
    {"gpu_max", 1, 1, CLR_N_AGGREGATE, CLR_F_MAX, {0}},
    {"gpu_dot", 2, 2, CLR_N_AGGREGATE, CLR_F_DOT, {0}},
    {"abs", 1, 1, CLR_N_UNARY, 0, {.opcode = CLR_OP_ABSOLUTE}},
    {"coalesce", 2, INT_MAX, CLR_N_FOLD, 0, {.opcode = CLR_OP_COALESCE}},
    {"ifnull", 2, 2, CLR_N_FOLD, 0, {.opcode = CLR_OP_COALESCE}},
    {"min", 2, INT_MAX, CLR_N_FOLD, 0, {.opcode = CLR_OP_LEAST}},
    {"max", 2, INT_MAX, CLR_N_FOLD, 0, {.opcode = CLR_OP_GREATEST}},
    {"gpu_var_pop", 1, 1, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_VAR_POP}},
    {"gpu_var_samp", 1, 1, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_VAR_SAMP}},
    {"gpu_stddev_pop", 1, 1, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_STDDEV_POP}},
    {"gpu_stddev_samp", 1, 1, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_STDDEV_SAMP}},
    {"gpu_norm", 1, 1, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_NORM}},
    {"gpu_covar_pop", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_COVAR_POP}},
    {"gpu_covar_samp", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_COVAR_SAMP}},
    {"gpu_corr", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_CORR}},
    {"gpu_regr_slope", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_SLOPE}},
    {"gpu_regr_intercept", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_INTERCEPT}},
    {"gpu_regr_r2", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_R2}},
    {"gpu_regr_count", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_COUNT}},
    {"gpu_regr_avgx", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_AVGX}},
    {"gpu_regr_avgy", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_AVGY}},
    {"gpu_regr_sxx", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_SXX}},
    {"gpu_regr_syy", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_SYY}},
    {"gpu_regr_sxy", 2, 2, CLR_N_AGGREGATE, CLR_F_MOMENTS, {.statistic = CLR_REGR_SXY}},
    {"gpu_median", 1, 1, CLR_N_AGGREGATE, CLR_F_ORDER, {.order = CLR_ORDER_MEDIAN}},
    {"gpu_percentile", 2, 2, CLR_N_AGGREGATE, CLR_F_ORDER, {.order = CLR_ORDER_PERCENTILE}},
    {"gpu_percentile_cont", 2, 2, CLR_N_AGGREGATE, CLR_F_ORDER, {.order = CLR_ORDER_CONT}},
    {"gpu_percentile_disc", 2, 2, CLR_N_AGGREGATE, CLR_F_ORDER, {.order = CLR_ORDER_DISC}},
    {"gpu_mode", 1, 1, CLR_N_AGGREGATE, CLR_F_ORDER, {.order = CLR_ORDER_MODE}},
    {"gpu_count_distinct", 1, 1, CLR_N_AGGREGATE, CLR_F_ORDER, {.order = CLR_ORDER_DISTINCT}},
    {"gpu_histogram", 4, 4, CLR_N_AGGREGATE, CLR_F_ORDER, {.order = CLR_ORDER_HISTOGRAM}},
};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static bool is_ours(const struct function *function)
{
    return strncmp(function->name, "gpu_", 4) == 0;
}

static bool has_state(const struct function *function)
{
    return is_ours(function) &&
           (function->function != CLR_F_ORDER || function->which.order == CLR_ORDER_HISTOGRAM);
}

/* The forms of a function, by the suffixes of its name. */
struct form {
    bool state, merge;
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

/* Whether the function may be called with these arguments. */
static bool takes(const struct function *function, struct form form, bool star, int arguments)
{
    if (form.merge)
        return !star && arguments == 1;
    return star ? function->kind == CLR_N_AGGREGATE && function->function == CLR_F_COUNT
                : arguments >= function->least && arguments <= function->most;
}

/* Finds the function, or FUNCTIONS once it has been refused. */
static int find_function(struct clr_syntax *syntax, const struct clr_token *token, bool star,
                         int arguments, struct form *form)
{
    char *name = clr_token_name(token);
    bool known = false;
    int i;

    if (name == NULL) {
        syntax->code = clr_status_set(syntax->status, CLR_NOMEM, 0, "out of memory");
        return FUNCTIONS;
    }
    form->merge = take_suffix(name, "_merge");
    form->state = take_suffix(name, "_state");
    for (i = 0; i < FUNCTIONS; i++) {
        if (!clr_name_equal(functions[i].name, name) ||
            ((form->state || form->merge) && !has_state(&functions[i])))
            continue;
        known = true;
        if (takes(&functions[i], *form, star, arguments))
            break;
    }
    if (i == FUNCTIONS)
        syntax->code = clr_status_set(
            syntax->status, CLR_INVALID, 0,
            known ? "the function %.100s%s%s() with these arguments" : "the function %.100s%s%s()",
            name, form->state ? "_state" : "", form->merge ? "_merge" : "");
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
    struct form form;
    int i;

    if (syntax->code != CLR_OK)
        return NULL;
    i = find_function(syntax, name, star, count(arguments), &form);
    if (i == FUNCTIONS)
        return NULL;
    node = clr_syntax_node(syntax, functions[i].kind, arguments);
    if (node == NULL)
        return NULL;
    node->function = functions[i].function;
    if (node->kind != CLR_N_AGGREGATE)
        node->opcode = functions[i].which.opcode;
    else if (node->function == CLR_F_ORDER)
        node->order = functions[i].which.order;
    else
        node->statistic = functions[i].which.statistic;
    node->builtin = !is_ours(&functions[i]);
    node->state = form.state;
    node->merge = form.merge;
    node->name = functions[i].name;
    if (node->kind == CLR_N_AGGREGATE)
        be_aggregate(syntax, node, name, filter, end);
    else if (filter != NULL)
        clr_syntax_refuse(syntax, "FILTER for a function that is no aggregate");
    return node;
}
