/* The operators of expressions, as nodes of the syntax. */
#include "query/syntax/syntax.h"

#include "query/syntax/grammar.h"

#include <string.h>

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

static struct clr_node *unary(struct clr_syntax *syntax, enum clr_opcode opcode,
                              struct clr_node *operand)
{
    return with_opcode(clr_syntax_node(syntax, CLR_N_UNARY, children_of(operand, NULL)), opcode);
}

/* Sets the tokens of a node that begins with an operand. */
static struct clr_node *place_behind(struct clr_syntax *syntax, const struct clr_node *operand,
                                     struct clr_node *node)
{
    return operand == NULL ? NULL : clr_syntax_place(syntax, operand->outer_begin, node);
}

static bool is_number(const struct clr_node *node)
{
    return node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_NUMBER;
}

/* A minus sign right in front of a number, parentheses aside, is a part of it: SQLite negates the
   literal. It computes everything else as 0 - x. */
static struct clr_node *minus(struct clr_syntax *syntax, struct clr_node *operand)
{
    const struct clr_node *bare = operand;

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

struct clr_node *clr_syntax_prefix(struct clr_syntax *syntax, const struct clr_token *token,
                                   struct clr_node *operand)
{
    struct clr_node *node;

    if (syntax->code != CLR_OK)
        return NULL;
    if (token->kind == CLR_T_MINUS)
        node = minus(syntax, operand);
    else if (token->kind == CLR_T_PLUS)
        node = clr_syntax_node(syntax, CLR_N_PLUS, children_of(operand, NULL));
    else
        node = unary(syntax, token->kind == CLR_T_NOT ? CLR_OP_NOT : CLR_OP_BIT_NOT, operand);
    return clr_syntax_place(syntax, token->index, node);
}

struct clr_node *clr_syntax_postfix(struct clr_syntax *syntax, enum clr_opcode opcode,
                                    struct clr_node *operand)
{
    return place_behind(syntax, operand, unary(syntax, opcode, operand));
}

struct clr_node *clr_syntax_binary(struct clr_syntax *syntax, const struct clr_token *token,
                                   struct clr_node *left, struct clr_node *right)
{
    static const struct {
        int kind;
        enum clr_node_kind node;
        enum clr_opcode opcode;
    } table[] = {
        {CLR_T_OR, CLR_N_FOLD, CLR_OP_OR},
        {CLR_T_AND, CLR_N_FOLD, CLR_OP_AND},
        {CLR_T_EQ, CLR_N_FOLD, CLR_OP_EQUAL},
        {CLR_T_NE, CLR_N_FOLD, CLR_OP_UNEQUAL},
        {CLR_T_LT, CLR_N_FOLD, CLR_OP_LESS},
        {CLR_T_LE, CLR_N_FOLD, CLR_OP_LESS_EQUAL},
        {CLR_T_GT, CLR_N_FOLD, CLR_OP_GREATER},
        {CLR_T_GE, CLR_N_FOLD, CLR_OP_GREATER_EQUAL},
        {CLR_T_PLUS, CLR_N_FOLD, CLR_OP_ADD},
        {CLR_T_MINUS, CLR_N_FOLD, CLR_OP_SUBTRACT},
        {CLR_T_STAR, CLR_N_FOLD, CLR_OP_MULTIPLY},
        {CLR_T_SLASH, CLR_N_FOLD, CLR_OP_DIVIDE},
        {CLR_T_REM, CLR_N_FOLD, CLR_OP_REMAINDER},
        {CLR_T_PTR, CLR_N_FUNCTION, CLR_OPCODES},
        {CLR_T_CONCAT, CLR_N_OPERATOR, CLR_OPCODES},
        {CLR_T_BITAND, CLR_N_FOLD, CLR_OP_BIT_AND},
        {CLR_T_BITOR, CLR_N_FOLD, CLR_OP_BIT_OR},
        {CLR_T_LSHIFT, CLR_N_FOLD, CLR_OP_SHIFT_LEFT},
        {CLR_T_RSHIFT, CLR_N_FOLD, CLR_OP_SHIFT_RIGHT},
    };
    struct clr_node *node;
    size_t i = 0;

    while (table[i].kind != token->kind)
        i++;
    node = clr_syntax_node(syntax, table[i].node, children_of(left, right));
    if (node == NULL)
        return NULL;
    node->opcode = table[i].opcode;
    node->names[0] = *token;
    /* "sum(x) AND 0" is 0 to SQLite's parser, and the sum is gone. */
    if (token->kind == CLR_T_AND && node->has & CLR_HAS_SURE_AGGREGATE)
        node->has ^= CLR_HAS_SURE_AGGREGATE;
    return place_behind(syntax, left, node);
}

struct clr_node *clr_syntax_is(struct clr_syntax *syntax, bool negated, struct clr_node *left,
                               struct clr_node *right)
{
    struct clr_node *node;

    if (syntax->code == CLR_OK && right->kind == CLR_N_LITERAL &&
        right->names[0].kind == CLR_T_NULL)
        node = unary(syntax, negated ? CLR_OP_NOT_NULL : CLR_OP_IS_NULL, left);
    else
        node = with_opcode(clr_syntax_node(syntax, CLR_N_FOLD, children_of(left, right)),
                           negated ? CLR_OP_IS_NOT : CLR_OP_IS);
    return place_behind(syntax, left, node);
}

struct clr_node *clr_syntax_like(struct clr_syntax *syntax, const struct clr_like *like,
                                 struct clr_node *operand, struct clr_node *pattern,
                                 struct clr_node *escape)
{
    struct clr_list list = children_of(operand, pattern);
    struct clr_node *node;

    clr_list_append(&list, escape);
    node = clr_syntax_node(syntax, CLR_N_FUNCTION, list);
    if (node != NULL)
        node->names[0] = like->token;
    if (like->negated)
        node = unary(syntax, CLR_OP_NOT, node);
    return place_behind(syntax, operand, node);
}

struct clr_node *clr_syntax_collate(struct clr_syntax *syntax, struct clr_node *operand)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_COLLATE, children_of(operand, NULL));

    if (node != NULL)
        node->has |= CLR_HAS_COLLATE;
    return place_behind(syntax, operand, node);
}

/* What a type's name makes of a cast, by SQLite's rules: "INT" goes before all, and of the others
   the last one wins that may. */
static enum clr_cast find_cast(const char *name, size_t length)
{
    static const struct {
        char part[5];
        enum clr_cast cast;
    } rules[] = {{"CHAR", CLR_CAST_TO_TEXT}, {"CLOB", CLR_CAST_TO_TEXT}, {"TEXT", CLR_CAST_TO_TEXT},
                 {"BLOB", CLR_CAST_TO_BLOB}, {"REAL", CLR_CAST_TO_REAL}, {"FLOA", CLR_CAST_TO_REAL},
                 {"DOUB", CLR_CAST_TO_REAL}};
    enum clr_cast cast = CLR_CAST_TO_NUMERIC;
    size_t i, k;

    for (i = 0; i < length; i++) {
        if (clr_name_begins(name + i, length - i, "INT"))
            return CLR_CAST_TO_INTEGER;
    }
    for (i = 0; i < length; i++) {
        for (k = 0; k < sizeof rules / sizeof rules[0]; k++) {
            if (!clr_name_begins(name + i, length - i, rules[k].part))
                continue;
            if (rules[k].cast == CLR_CAST_TO_TEXT || cast == CLR_CAST_TO_NUMERIC ||
                (rules[k].cast == CLR_CAST_TO_BLOB && cast == CLR_CAST_TO_REAL))
                cast = rules[k].cast;
        }
    }
    return cast;
}

/* Refuses a type that is more than words: SQLite takes what is in it for a part of the name,
   comments among it, and drops what is behind a quoted word. */
static void check_type(struct clr_syntax *syntax, struct clr_type type)
{
    size_t i;
    const char *end = type.first.text;

    for (i = type.first.index; i <= type.last.index; i++) {
        const struct clr_token *token = &syntax->tokens[i];
        const bool is_quoted = token->kind == CLR_T_ID && strchr("\"`[", token->text[0]) != NULL;

        for (; end < token->text; end++) {
            if (*end == '-' || *end == '/') {
                clr_syntax_refuse(syntax, CLR_WHY_TYPE);
                return;
            }
        }
        if (is_quoted) {
            clr_syntax_refuse(syntax, CLR_WHY_TYPE);
            return;
        }
        end = token->text + token->length;
    }
}

struct clr_node *clr_syntax_cast(struct clr_syntax *syntax, const struct clr_token *cast,
                                 struct clr_node *operand, struct clr_type type)
{
    struct clr_node *node;

    check_type(syntax, type);
    node = clr_syntax_node(syntax, CLR_N_CAST, children_of(operand, NULL));
    if (node != NULL)
        node->cast = find_cast(type.first.text,
                               (size_t)(type.last.text + type.last.length - type.first.text));
    return clr_syntax_place(syntax, cast->index, node);
}

struct clr_node *clr_syntax_range(struct clr_syntax *syntax, enum clr_node_kind kind, bool negated,
                                  struct clr_node *operand, struct clr_list list)
{
    struct clr_list children = children_of(operand, list.first);
    struct clr_node *node = clr_syntax_node(syntax, kind, children);

    /* Nothing of the operand is left when SQLite's parser sees "x IN ()". */
    if (node != NULL && list.first == NULL && node->has & CLR_HAS_SURE_AGGREGATE)
        node->has ^= CLR_HAS_SURE_AGGREGATE;
    if (negated)
        node = unary(syntax, CLR_OP_NOT, node);
    return place_behind(syntax, operand, node);
}

struct clr_node *clr_syntax_in_subquery(struct clr_syntax *syntax, bool negated,
                                        struct clr_node *operand, struct clr_node *subquery)
{
    if (subquery != NULL)
        subquery->tested = operand;
    return clr_syntax_range(syntax, CLR_N_OPERATOR, negated, operand,
                            (struct clr_list){subquery, subquery});
}

struct clr_node *clr_syntax_case(struct clr_syntax *syntax, const struct clr_token *word,
                                 struct clr_node *base, struct clr_list whens,
                                 struct clr_node *otherwise)
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
    return clr_syntax_place(syntax, word->index, node);
}
