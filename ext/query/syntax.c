#include "query/syntax.h"

#include "base/memory.h"
#include "query/grammar.h"

#include <string.h>

void clr_syntax_refuse_name(struct clr_syntax *syntax, enum clr_reason_code why, const char *name,
                            size_t length)
{
    if (syntax->code != CLR_OK)
        return;
    syntax->code = CLR_INVALID;
    clr_reason_set_name(syntax->reason, why, name, length);
}

void clr_syntax_refuse(struct clr_syntax *syntax, enum clr_reason_code why)
{
    clr_syntax_refuse_name(syntax, why, "", 0);
}

void clr_syntax_no_memory(struct clr_syntax *syntax)
{
    if (syntax->code == CLR_OK)
        syntax->code = CLR_NOMEM;
}

/* Whether a token is in the FROM clause. */
static bool is_source(const struct clr_syntax *syntax, size_t index)
{
    while (index > 0 && syntax->tokens[index].kind != CLR_T_FROM &&
           syntax->tokens[index].kind != CLR_T_WHERE)
        index--;
    return syntax->tokens[index].kind == CLR_T_FROM;
}

void clr_syntax_unexpected(struct clr_syntax *syntax, const struct clr_token *token)
{
    if (syntax->code != CLR_OK)
        return;
    if (token->kind == 0)
        clr_syntax_refuse(syntax, CLR_WHY_INCOMPLETE);
    else if (token->kind == CLR_T_STRING)
        clr_syntax_refuse(syntax, CLR_WHY_TEXT_LITERAL);
    else if (token->index == 0)
        clr_syntax_refuse(syntax, CLR_WHY_NO_SELECT);
    else if (syntax->tokens[token->index - 1].kind == CLR_T_SEMI)
        clr_syntax_refuse(syntax, CLR_WHY_STATEMENTS);
    else if (token->kind == CLR_T_SELECT)
        clr_syntax_refuse(syntax, CLR_WHY_SUBQUERY);
    else if (token->kind == CLR_T_COMMA && is_source(syntax, token->index))
        clr_syntax_refuse(syntax, CLR_WHY_JOIN);
    else
        clr_syntax_refuse_name(syntax, CLR_WHY_UNEXPECTED, token->text, token->length);
}

void clr_list_append(struct clr_list *list, struct clr_node *node)
{
    if (node == NULL)
        return;
    if (list->first == NULL)
        list->first = node;
    else
        list->last->next = node;
    list->last = node;
}

void clr_list_enlist(struct clr_list *list, struct clr_node *node)
{
    if (list->first == NULL)
        list->first = node;
    else
        list->last->listed = node;
    list->last = node;
}

struct clr_node *clr_syntax_node(struct clr_syntax *syntax, enum clr_node_kind kind,
                                 struct clr_list children)
{
    struct clr_node *node, *child;
    int depth = 1;
    unsigned has = 0;

    if (syntax->code != CLR_OK)
        return NULL;
    for (child = children.first; child != NULL; child = child->next) {
        if (child->depth >= depth)
            depth = child->depth + 1;
        has |= child->has;
    }
    if (depth > CLR_DEEPEST) {
        clr_syntax_refuse(syntax, CLR_WHY_NESTING);
        return NULL;
    }
    node = clr_memory_alloc(sizeof *node);
    if (node == NULL) {
        clr_syntax_no_memory(syntax);
        return NULL;
    }
    memset(node, 0, sizeof *node);
    node->kind = kind;
    node->first = children.first;
    node->allocated = syntax->nodes;
    node->depth = depth;
    node->has = has;
    syntax->nodes = node;
    return node;
}

/* The list of one, two or no children. */
static struct clr_list children_of(struct clr_node *a, struct clr_node *b)
{
    struct clr_list list = {NULL, NULL};

    clr_list_append(&list, a);
    clr_list_append(&list, b);
    return list;
}

static struct clr_node *with_opcode(struct clr_node *node, enum clr_opcode opcode)
{
    if (node != NULL)
        node->opcode = opcode;
    return node;
}

struct clr_node *clr_syntax_column(struct clr_syntax *syntax, int name_count,
                                   const struct clr_token *names)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_COLUMN, children_of(NULL, NULL));

    if (node != NULL) {
        memcpy(node->names, names, (size_t)name_count * sizeof *names);
        node->name_count = name_count;
        node->has = CLR_HAS_COLUMN;
    }
    return node;
}

struct clr_node *clr_syntax_value(struct clr_syntax *syntax, enum clr_node_kind kind,
                                  const struct clr_token *token)
{
    struct clr_node *node = clr_syntax_node(syntax, kind, children_of(NULL, NULL));

    if (node == NULL)
        return NULL;
    node->names[0] = *token;
    if (kind == CLR_N_PARAMETER) {
        clr_list_enlist(&syntax->parameters, node);
        node->begin = token->index;
        node->end = token->index + 1;
        syntax->tokens[node->begin].node = node;
    }
    return node;
}

static bool is_number(const struct clr_node *node)
{
    return node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_NUMBER;
}

/* A minus sign right in front of a number, parentheses aside, is a part of it: SQLite negates the
   literal. It computes everything else as 0 - x. */
struct clr_node *clr_syntax_sign(struct clr_syntax *syntax, int kind, struct clr_node *operand)
{
    const struct clr_node *bare = operand;

    if (syntax->code != CLR_OK)
        return NULL;
    if (kind == CLR_T_PLUS)
        return clr_syntax_node(syntax, CLR_N_PLUS, children_of(operand, NULL));
    if (is_number(operand) && !operand->negative) {
        operand->negative = true;
        return operand;
    }
    while (bare->kind == CLR_N_PLUS)
        bare = bare->first;
    if (bare != operand && is_number(bare) && !bare->negative) {
        /* A literal or not, and so -0.0 or 0.0: SQLite's versions differ. */
        clr_syntax_refuse(syntax, CLR_WHY_MINUS_PLUS);
        return NULL;
    }
    return clr_syntax_node(syntax, CLR_N_MINUS, children_of(operand, NULL));
}

struct clr_node *clr_syntax_unary(struct clr_syntax *syntax, enum clr_opcode opcode,
                                  struct clr_node *operand)
{
    return with_opcode(clr_syntax_node(syntax, CLR_N_UNARY, children_of(operand, NULL)), opcode);
}

struct clr_node *clr_syntax_binary(struct clr_syntax *syntax, int kind, struct clr_node *left,
                                   struct clr_node *right)
{
    static const struct {
        int kind;
        enum clr_opcode opcode;
    } table[] = {
        {CLR_T_OR, CLR_OP_OR},         {CLR_T_AND, CLR_OP_AND},
        {CLR_T_EQ, CLR_OP_EQUAL},      {CLR_T_NE, CLR_OP_UNEQUAL},
        {CLR_T_LT, CLR_OP_LESS},       {CLR_T_LE, CLR_OP_LESS_EQUAL},
        {CLR_T_GT, CLR_OP_GREATER},    {CLR_T_GE, CLR_OP_GREATER_EQUAL},
        {CLR_T_PLUS, CLR_OP_ADD},      {CLR_T_MINUS, CLR_OP_SUBTRACT},
        {CLR_T_STAR, CLR_OP_MULTIPLY}, {CLR_T_SLASH, CLR_OP_DIVIDE},
        {CLR_T_REM, CLR_OP_REMAINDER},
    };
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_FOLD, children_of(left, right));
    size_t i = 0;

    if (node == NULL)
        return NULL;
    while (table[i].kind != kind)
        i++;
    node->opcode = table[i].opcode;
    /* "sum(x) AND 0" is 0 to SQLite's parser, and the sum is gone. */
    if (kind == CLR_T_AND && node->has & CLR_HAS_SURE_AGGREGATE)
        node->has ^= CLR_HAS_SURE_AGGREGATE;
    return node;
}

struct clr_node *clr_syntax_is(struct clr_syntax *syntax, bool negated, struct clr_node *left,
                               struct clr_node *right)
{
    if (syntax->code == CLR_OK && right->kind == CLR_N_LITERAL &&
        right->names[0].kind == CLR_T_NULL)
        return clr_syntax_unary(syntax, negated ? CLR_OP_NOT_NULL : CLR_OP_IS_NULL, left);
    return with_opcode(clr_syntax_node(syntax, CLR_N_FOLD, children_of(left, right)),
                       negated ? CLR_OP_IS_NOT : CLR_OP_IS);
}

struct clr_node *clr_syntax_range(struct clr_syntax *syntax, enum clr_node_kind kind, bool negated,
                                  struct clr_node *operand, struct clr_list list)
{
    struct clr_list children = children_of(operand, list.first);
    struct clr_node *node = clr_syntax_node(syntax, kind, children);

    /* Nothing of the operand is left when SQLite's parser sees "x IN ()". */
    if (node != NULL && list.first == NULL && node->has & CLR_HAS_SURE_AGGREGATE)
        node->has ^= CLR_HAS_SURE_AGGREGATE;
    return negated ? clr_syntax_unary(syntax, CLR_OP_NOT, node) : node;
}

struct clr_node *clr_syntax_case(struct clr_syntax *syntax, struct clr_node *base,
                                 struct clr_list whens, struct clr_node *otherwise)
{
    struct clr_list children = {base, base};
    struct clr_node *node;

    if (base == NULL)
        children = whens;
    else
        base->next = whens.first;
    if (whens.last != NULL)
        whens.last->next = otherwise;
    node = clr_syntax_node(syntax, CLR_N_CASE, children);
    if (node != NULL) {
        node->has_base = base != NULL;
        node->has_else = otherwise != NULL;
    }
    return node;
}

void clr_syntax_item(struct clr_syntax *syntax, size_t begin, struct clr_node *expression,
                     size_t end)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_ITEM, children_of(expression, NULL));

    if (node == NULL)
        return;
    if (node->has & CLR_HAS_COLUMN) {
        clr_syntax_refuse(syntax, CLR_WHY_BARE_COLUMN);
        return;
    }
    node->begin = begin;
    node->end = end;
    clr_list_append(&syntax->items, node);
}

void clr_syntax_where(struct clr_syntax *syntax, struct clr_node *expression)
{
    if (syntax->code != CLR_OK)
        return;
    if (expression->has & CLR_HAS_AGGREGATE)
        clr_syntax_refuse(syntax, CLR_WHY_AGGREGATE_IN_WHERE);
    syntax->where = expression;
}
