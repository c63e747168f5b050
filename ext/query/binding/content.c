#include "query/binding/content.h"

#include "base/memory.h"
#include "query/syntax/grammar.h"

#include <string.h>

char *clr_content_name(struct clr_binder *binder, const struct clr_node *node)
{
    char *name = clr_token_name(&node->names[0]), *p;

    if (name == NULL) {
        clr_bind_no_memory(binder);
        return NULL;
    }
    for (p = name; *p != '\0'; p++) {
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    }
    return name;
}

bool clr_content_check_function(struct clr_binder *binder, const struct clr_node *node)
{
    char *name = clr_content_name(binder, node);
    bool deterministic;

    if (name == NULL)
        return false;
    deterministic = binder->environment->deterministic(binder->environment->context, name);
    if (!deterministic)
        clr_bind_refuse_name(binder, CLR_WHY_NOT_DETERMINISTIC, name, strlen(name));
    clr_memory_free(name);
    return deterministic;
}

bool clr_content_check_name(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_environment *environment = binder->environment;
    char *name;

    if (!node->is_behind)
        return true;
    name = clr_token_name(&binder->query->syntax->tokens[node->name_end - 1]);
    if (name == NULL)
        clr_bind_no_memory(binder);
    else if (environment->column(environment->context, name).number >= 0)
        clr_bind_refuse(binder, CLR_WHY_SUBQUERY);
    clr_memory_free(name);
    return binder->code == CLR_OK;
}

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
    const bool compares =
        node->kind == CLR_N_BETWEEN || node->kind == CLR_N_IN ||
        (node->kind == CLR_N_FOLD && node->opcode >= CLR_OP_EQUAL && node->opcode <= CLR_OP_IS_NOT);
    const struct clr_node *child;
    bool column = false, parameter = false;

    for (child = node->first; child != NULL; child = child->next) {
        column = column || (child->kind == CLR_N_COLUMN && child->seems_text);
        parameter = parameter || child->kind == CLR_N_PARAMETER;
    }
    return compares && column && parameter && node->reads >= 0;
}

/* Whether SQLite compares all TEXT that the expression may be byte by byte: no column in it has
   another collating sequence than BINARY, and it names none. */
static bool is_all_binary(const struct clr_node *node)
{
    const struct clr_node *child;

    if (node->kind == CLR_N_COLUMN)
        return node->is_binary;
    for (child = node->first; child != NULL; child = child->next) {
        if (!is_all_binary(child))
            return false;
    }
    return node->kind != CLR_N_COLLATE;
}

bool clr_content_find(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *child;

    node->reads = CLR_READS_NONE;
    node->is_foreign = false;
    if (node->kind == CLR_N_AGGREGATE)
        return true;
    for (child = node->first; child != NULL; child = child->next) {
        if (!clr_content_find(binder, child))
            return false;
        node->reads = clr_content_together(node->reads, child->reads);
        node->is_foreign = node->is_foreign || child->is_foreign;
    }
    if (!clr_content_check_name(binder, node))
        return false;
    /* A subquery's column that is no column of the table has a collating sequence of its own:
       BINARY. */
    if (node->name_end != 0 && node->kind != CLR_N_COLUMN && !is_all_binary(node)) {
        clr_bind_refuse(binder, CLR_WHY_COLLATION);
        return false;
    }
    switch (node->kind) {
    case CLR_N_COLUMN:
        if (!clr_bind_column(binder, node))
            return false;
        /* Comparisons would convert numbers to TEXT, and arithmetic TEXT to numbers. */
        node->is_foreign = node->is_text;
        return true;
    case CLR_N_LITERAL:
        node->is_foreign = node->names[0].kind == CLR_T_STRING || node->names[0].kind == CLR_T_BLOB;
        return true;
    case CLR_N_FUNCTION:
        node->is_foreign = true;
        return clr_content_check_function(binder, node);
    case CLR_N_OPERATOR:
    case CLR_N_COLLATE:
        node->is_foreign = true;
        return true;
    case CLR_N_CAST:
        node->is_foreign =
            node->is_foreign || node->cast == CLR_CAST_TO_TEXT || node->cast == CLR_CAST_TO_BLOB;
        return true;
    case CLR_N_UNARY:
        /* Of a column it is asked whatever its values are. */
        if ((node->opcode == CLR_OP_IS_NULL || node->opcode == CLR_OP_NOT_NULL) &&
            node->first->kind == CLR_N_COLUMN)
            node->is_foreign = false;
        return true;
    default:
        node->is_foreign = node->is_foreign || compares_parameter(node);
        return true;
    }
}

bool clr_content_is_column(const struct clr_node *node)
{
    while (node->kind == CLR_N_PLUS)
        node = node->first;
    return node->kind == CLR_N_COLUMN;
}

bool clr_content_is_text(const struct clr_node *node)
{
    /* A hint has the affinity of its argument, as some versions of SQLite see it; to others it has
       none. */
    while (node->kind == CLR_N_COLLATE || node->kind == CLR_N_HINT)
        node = node->first;
    return (node->kind == CLR_N_COLUMN && node->is_text) ||
           (node->kind == CLR_N_CAST && node->cast == CLR_CAST_TO_TEXT);
}

bool clr_content_has_sequence(const struct clr_node *node)
{
    while (node->name_end == 0 && (node->kind == CLR_N_PLUS || node->kind == CLR_N_CAST))
        node = node->first;
    return node->kind == CLR_N_COLUMN || node->name_end != 0;
}

/* Returns what an expression may have its collating sequence of. */
static const struct clr_node *strip(const struct clr_node *node)
{
    while (node->kind == CLR_N_PLUS || node->kind == CLR_N_CAST || node->kind == CLR_N_HINT)
        node = node->first;
    return node;
}

bool clr_content_compares_binary(const struct clr_node *node)
{
    return (node->has & CLR_HAS_COLLATE) == 0 &&
           (strip(node)->kind != CLR_N_COLUMN || strip(node)->is_binary);
}

bool clr_content_is_timed(const char *name)
{
    static const char *const names[] = {"date",      "time",     "datetime", "julianday",
                                        "unixepoch", "strftime", "timediff"};
    size_t i;

    for (i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}
