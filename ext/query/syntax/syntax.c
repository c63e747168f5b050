/* How the tree of a SELECT is built: the functions that the grammar's rules call, and the parser.
 */
#include "query/syntax/syntax.h"

#include "base/memory.h"
#include "query/syntax/grammar.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

const char *const clr_rowid_names[CLR_ROWID_NAMES] = {"rowid", "_rowid_", "oid"};

/* ---- Refusals. */

static int refuse(struct clr_syntax *syntax, enum clr_reason_code why, const char *name,
                  size_t length)
{
    if (syntax->code == CLR_OK) {
        syntax->code = CLR_INVALID;
        clr_reason_set_name(syntax->reason, why, name, length);
    }
    return -1;
}

int clr_refuse(struct clr_syntax *syntax, enum clr_reason_code why)
{
    return refuse(syntax, why, "", 0);
}

int clr_refuse_name(struct clr_syntax *syntax, enum clr_reason_code why, const char *name)
{
    return refuse(syntax, why, name, strlen(name));
}

int clr_refuse_token(struct clr_syntax *syntax, enum clr_reason_code why,
                     const struct clr_token *token)
{
    return refuse(syntax, why, token->text, token->length);
}

int clr_syntax_no_memory(struct clr_syntax *syntax)
{
    if (syntax->code == CLR_OK)
        syntax->code = CLR_NOMEM;
    return -1;
}

/* Refuses a token that the grammar does not have in this place. */
static void refuse_unexpected(struct clr_syntax *syntax, const struct clr_token *token)
{
    const int *last = syntax->last_kinds;

    if (syntax->at->clause == 0 &&
        ((token->kind == 0 && last[0] != 0) || (token->kind == CLR_T_WHERE && last[1] != 0)))
        clr_refuse(syntax, CLR_WHY_NO_FROM);
    else if (token->kind == 0)
        clr_refuse(syntax, CLR_WHY_INCOMPLETE);
    else if (token->kind == CLR_T_DISTINCT)
        clr_refuse(syntax, CLR_WHY_DISTINCT);
    else if (token->kind == CLR_T_ORDER)
        clr_refuse(syntax, CLR_WHY_ORDER_BY);
    else if (token->kind == CLR_T_HAVING)
        clr_refuse(syntax, CLR_WHY_HAVING);
    else if (last[0] == 0)
        clr_refuse(syntax, CLR_WHY_NO_SELECT);
    else if (last[0] == CLR_T_SEMI)
        clr_refuse(syntax, CLR_WHY_STATEMENTS);
    else if (token->kind == CLR_T_SELECT || token->kind == CLR_T_SUBQUERY)
        clr_refuse(syntax, CLR_WHY_SUBQUERY);
    else
        clr_refuse_token(syntax, CLR_WHY_UNEXPECTED, token);
}

/* ---- Nodes. */

static const struct clr_list none = {NULL, NULL};

/* Returns how many nodes there are, as siblings. */
static int count_nodes(const struct clr_list *list)
{
    const struct clr_node *node;
    int count = 0;

    for (node = list->first; node != NULL; node = node->next)
        count++;
    return count;
}

/* Appends a node; NULL is none. */
static void append(struct clr_list *list, struct clr_node *node)
{
    if (node == NULL)
        return;
    if (list->first == NULL)
        list->first = node;
    else
        list->last->next = node;
    list->last = node;
}

/* Appends another list. */
static void chain(struct clr_list *list, const struct clr_list *other)
{
    if (other->first == NULL)
        return;
    append(list, other->first);
    list->last = other->last;
}

/* Appends to a list of nodes of one kind, whose siblings are others; NULL is none. */
static void enlist(struct clr_list *list, struct clr_node *node)
{
    if (node == NULL)
        return;
    if (list->first == NULL)
        list->first = node;
    else
        list->last->listed = node;
    list->last = node;
}

/* The list of three nodes, of which any may be NULL. */
static struct clr_list three(struct clr_node *a, struct clr_node *b, struct clr_node *c)
{
    struct clr_list list = none;

    append(&list, a);
    append(&list, b);
    append(&list, c);
    return list;
}

static struct clr_list one(struct clr_node *node)
{
    return three(node, NULL, NULL);
}

struct clr_node *clr_syntax_node(struct clr_syntax *syntax, enum clr_node_kind kind,
                                 const struct clr_token *name, struct clr_list children)
{
    struct clr_node *node = NULL, *child;
    int depth = 1;
    unsigned has = 0;

    if (syntax->code != CLR_OK)
        return NULL;
    for (child = children.first; child != NULL; child = child->next) {
        if (child->depth >= depth)
            depth = child->depth + 1;
        has |= child->has;
    }
    if (depth > CLR_DEEPEST)
        clr_refuse(syntax, CLR_WHY_NESTING);
    else if ((node = clr_memory_alloc(sizeof *node)) == NULL)
        clr_syntax_no_memory(syntax);
    if (node == NULL)
        return NULL;
    *node = (struct clr_node){.kind = kind,
                              .first = children.first,
                              .allocated = syntax->nodes,
                              .depth = depth,
                              .has = has,
                              .at = syntax->at,
                              .is_ordering = syntax->is_ordering};
    if (name != NULL)
        node->names[0] = *name;
    if (kind == CLR_N_FUNCTION)
        enlist(&syntax->functions, node);
    syntax->nodes = node;
    return node;
}

const struct clr_node *clr_node_find(const struct clr_node *node,
                                     bool (*test)(const struct clr_node *node))
{
    const struct clr_node *child, *found = test(node) ? node : NULL;

    for (child = node->first; child != NULL && found == NULL; child = child->next)
        found = clr_node_find(child, test);
    return found;
}

struct clr_node *clr_syntax_find_item(const struct clr_syntax *syntax, const struct clr_node *node)
{
    struct clr_node *item;

    while (node->kind == CLR_N_COLLATE)
        node = node->first;
    if (node->written != NULL)
        node = node->written;
    if (node->kind != CLR_N_COLUMN || node->name_count != 1)
        return NULL;
    for (item = syntax->select.items.first; item != NULL; item = item->next) {
        if (item->names[0].kind != 0 && clr_name_equal(node->names[0].name, item->names[0].name))
            return item;
    }
    return NULL;
}

struct clr_node *clr_syntax_find_numbered(const struct clr_syntax *syntax,
                                          const struct clr_node *node)
{
    const struct clr_token *token = &node->names[0];
    struct clr_node *item = syntax->select.items.first;
    long number;

    if (node->kind != CLR_N_LITERAL || token->kind != CLR_T_NUMBER || node->written != NULL ||
        node->negative || strspn(token->name, "0123456789") != token->length)
        return NULL;
    for (number = strtol(token->name, NULL, 10); item != NULL && number > 1; number--)
        item = item->first->kind == CLR_N_STAR ? NULL : item->next;
    return number == 1 && item != NULL && item->first->kind != CLR_N_STAR ? item : NULL;
}

/* The text from one token to another one. */
static struct clr_token join(const struct clr_token *first, const struct clr_token *last)
{
    struct clr_token all = *first;

    all.length = (size_t)(last->text + last->length - first->text);
    all.name = NULL;
    return all;
}

/* ---- Operands. */

/* One to three names with dots between them. */
static struct clr_node *column(struct clr_syntax *syntax, int count, const struct clr_token *names)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_COLUMN, NULL, none);

    if (node == NULL)
        return NULL;
    memcpy(node->names, names, (size_t)count * sizeof *names);
    node->name_count = count;
    node->has = CLR_HAS_COLUMN;
    return node;
}

struct clr_node *clr_syntax_column(struct clr_syntax *syntax, const struct clr_token *name)
{
    return column(syntax, 1, name);
}

/* A name in a list of columns: it is in no SELECT that says what it means. */
static struct clr_node *column_name(struct clr_syntax *syntax, const struct clr_token *name)
{
    struct clr_node *node = column(syntax, 1, name);

    if (node != NULL)
        node->at = NULL;
    return node;
}

bool clr_node_is_truth(const struct clr_node *node)
{
    return node->kind == CLR_N_LITERAL &&
           (node->names[0].kind == CLR_T_TRUE || node->names[0].kind == CLR_T_FALSE);
}

static struct clr_node *literal(struct clr_syntax *syntax, const struct clr_token *token)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_LITERAL, token, none);

    if (node != NULL && clr_node_is_truth(node)) {
        node->value = (struct clr_scalar){CLR_TAG_INTEGER, token->kind == CLR_T_TRUE};
        node->is_known = true;
        enlist(&syntax->truths, node);
    } else if (token->kind == CLR_T_NUMBER) {
        enlist(&syntax->numbers, node);
    }
    return node;
}

static struct clr_node *parameter(struct clr_syntax *syntax, const struct clr_token *token)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_PARAMETER, token, none);

    enlist(&syntax->parameters, node);
    return node;
}

/* A subquery in an expression, with its parentheses. */
static struct clr_node *subquery(struct clr_syntax *syntax, const struct clr_token *first,
                                 const struct clr_token *last)
{
    const struct clr_token all = join(first, last);
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_SUBQUERY, &all, none);

    if (node != NULL)
        node->has = CLR_HAS_SUBQUERY;
    enlist(&syntax->subqueries, node);
    return node;
}

/* ---- Operators. */

static struct clr_node *unary(struct clr_syntax *syntax, enum clr_opcode opcode,
                              struct clr_node *operand)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_UNARY, NULL, one(operand));

    if (node != NULL)
        node->opcode = opcode;
    return node;
}

/* Negates an operator that has NOT in front of it. */
static struct clr_node *negate(struct clr_syntax *syntax, bool negated, struct clr_node *node)
{
    if (!negated)
        return node;
    node = unary(syntax, CLR_OP_NOT, node);
    if (node != NULL)
        node->is_infix = true;
    return node;
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

    if (syntax->code != CLR_OK)
        return NULL;
    if (is_number(operand) && !operand->negative) {
        operand->negative = true;
        return operand;
    }
    while (bare->kind == CLR_N_PLUS)
        bare = bare->first;
    if (bare != operand && is_number(bare) && !bare->negative) {
        /* A literal or not, and so -0.0 or 0.0: SQLite's versions differ. */
        clr_refuse(syntax, CLR_WHY_MINUS_PLUS);
        return NULL;
    }
    return clr_syntax_node(syntax, CLR_N_MINUS, NULL, one(operand));
}

static struct clr_node *binary(struct clr_syntax *syntax, enum clr_node_kind kind,
                               enum clr_opcode opcode, const struct clr_token *token,
                               struct clr_node *left, struct clr_node *right)
{
    struct clr_node *node = clr_syntax_node(syntax, kind, token, three(left, right, NULL));

    if (node == NULL)
        return NULL;
    node->opcode = opcode;
    node->is_infix = true;
    /* "sum(x) AND 0" is 0 to SQLite's parser, and the sum is gone. */
    if (opcode == CLR_OP_AND && node->has & CLR_HAS_SURE_AGGREGATE)
        node->has ^= CLR_HAS_SURE_AGGREGATE;
    return node;
}

static struct clr_node *fold(struct clr_syntax *syntax, enum clr_opcode opcode,
                             const struct clr_token *token, struct clr_node *left,
                             struct clr_node *right)
{
    return binary(syntax, CLR_N_FOLD, opcode, token, left, right);
}

static struct clr_node *is(struct clr_syntax *syntax, bool negated, struct clr_node *left,
                           struct clr_node *right)
{
    const struct clr_token no_token = {.kind = 0};

    if (syntax->code == CLR_OK && right->kind == CLR_N_LITERAL &&
        right->names[0].kind == CLR_T_NULL)
        return unary(syntax, negated ? CLR_OP_NOT_NULL : CLR_OP_IS_NULL, left);
    return fold(syntax, negated ? CLR_OP_IS_NOT : CLR_OP_IS, &no_token, left, right);
}

/* Puts a name that no column has into small letters. Returns it. */
static const char *fold_case(const struct clr_token *token)
{
    char *at;

    for (at = token->name; *at != '\0'; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    }
    return token->name;
}

/* An operator such as LIKE, which may have NOT in front of it. */
struct like {
    struct clr_token token;
    bool negated;
};

/* escape may be NULL. */
static struct clr_node *like(struct clr_syntax *syntax, const struct like *like,
                             struct clr_node *operand, struct clr_node *pattern,
                             struct clr_node *escape)
{
    struct clr_node *node =
        clr_syntax_node(syntax, CLR_N_FUNCTION, &like->token, three(operand, pattern, escape));

    fold_case(&like->token);
    if (node != NULL)
        node->is_infix = true;
    return negate(syntax, like->negated, node);
}

static struct clr_node *collate(struct clr_syntax *syntax, struct clr_node *operand,
                                const struct clr_token *name)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_COLLATE, name, one(operand));

    if (node != NULL)
        node->has |= CLR_HAS_COLLATE;
    return node;
}

enum clr_cast clr_cast_of(const char *type, size_t length)
{
    static const struct {
        char part[5];
        enum clr_cast cast;
    } rules[] = {{"INT", CLR_CAST_TO_INTEGER}, {"CHAR", CLR_CAST_TO_TEXT},
                 {"CLOB", CLR_CAST_TO_TEXT},   {"TEXT", CLR_CAST_TO_TEXT},
                 {"BLOB", CLR_CAST_TO_BLOB},   {"REAL", CLR_CAST_TO_REAL},
                 {"FLOA", CLR_CAST_TO_REAL},   {"DOUB", CLR_CAST_TO_REAL}};
    size_t i, k;

    for (k = 0; k < sizeof rules / sizeof rules[0]; k++) {
        for (i = 0; i < length; i++) {
            if (clr_name_begins(type + i, length - i, rules[k].part))
                return rules[k].cast;
        }
    }
    return CLR_CAST_TO_NUMERIC;
}

/* Whether a type is more than words: SQLite takes what is in it for a part of the name, comments
   among it, and drops what is behind a quoted word. */
static bool is_odd_type(const struct clr_token *type)
{
    size_t i;

    for (i = 0; i < type->length; i++) {
        if (strchr("\"`[", type->text[i]) != NULL ||
            clr_name_begins(type->text + i, type->length - i, "--") ||
            clr_name_begins(type->text + i, type->length - i, "/*"))
            return true;
    }
    return false;
}

static struct clr_node *cast(struct clr_syntax *syntax, struct clr_node *operand,
                             struct clr_token type)
{
    struct clr_node *node;

    if (is_odd_type(&type))
        clr_refuse(syntax, CLR_WHY_TYPE);
    node = clr_syntax_node(syntax, CLR_N_CAST, &type, one(operand));
    if (node != NULL)
        node->cast = clr_cast_of(type.text, type.length);
    return node;
}

/* The operand in front of a list's nodes. */
static struct clr_list before(struct clr_node *operand, struct clr_list list)
{
    if (operand == NULL)
        return list;
    operand->next = list.first;
    return (struct clr_list){operand, list.first != NULL ? list.last : operand};
}

static struct clr_node *in(struct clr_syntax *syntax, bool negated, struct clr_node *operand,
                           struct clr_list list)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_IN, NULL, before(operand, list));

    /* Nothing of the operand is left when SQLite's parser sees "x IN ()". */
    if (node != NULL && list.first == NULL && node->has & CLR_HAS_SURE_AGGREGATE)
        node->has ^= CLR_HAS_SURE_AGGREGATE;
    return negate(syntax, negated, node);
}

static struct clr_node *in_subquery(struct clr_syntax *syntax, bool negated,
                                    struct clr_node *operand, struct clr_node *subquery)
{
    if (subquery != NULL)
        subquery->tested = operand;
    return negate(syntax, negated,
                  clr_syntax_node(syntax, CLR_N_OPERATOR, NULL, three(operand, subquery, NULL)));
}

/* CASE: base and otherwise may be NULL; whens are pairs. */
static struct clr_node *choice(struct clr_syntax *syntax, struct clr_node *base,
                               struct clr_list whens, struct clr_node *otherwise)
{
    struct clr_node *node;

    append(&whens, otherwise);
    node = clr_syntax_node(syntax, CLR_N_CASE, NULL, before(base, whens));
    if (node != NULL) {
        node->has_base = base != NULL;
        node->has_else = otherwise != NULL;
    }
    return node;
}

/* ---- Calls. */

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
static const struct clr_aggregate sqlites[] = {
    {"count", "count", 1, CLR_NEEDS_COUNT, 0, 0, 0},
    {"group_concat", "group_concat", 1, CLR_NEEDS_VALUES, 0, 0, CLR_LIST_OF_TEXT},
    {"group_concat", "group_concat", 2, CLR_NEEDS_VALUES, 0, 0, CLR_LIST_OF_TEXT},
    {"string_agg", "string_agg", 2, CLR_NEEDS_VALUES, 0, 0, CLR_LIST_OF_TEXT},
    {"json_group_array", "json_group_array", 1, CLR_NEEDS_VALUES, 0, 0, CLR_LIST_OF_JSON},
};

enum { SQLITES = sizeof sqlites / sizeof sqlites[0] };

/* A call as it is written, and what it turns out to be: one of the two pointers, or none for a
   function that is SQLite's to evaluate. */
struct written {
    const char *name; /* in small letters */
    size_t length;    /* of it without the suffix of the form */
    enum clr_form form;
    bool star;
    int arguments;
    bool known; /* a scan has a function of that name, though it may take other arguments */
    bool builtin;
    const struct clr_aggregate *aggregate;
    const struct scalar *scalar;
};

static bool is_named(const struct written *call, const char *name)
{
    return strlen(name) == call->length && memcmp(name, call->name, call->length) == 0;
}

/* Finds out whether the aggregate is the one that is called. */
static void consider_aggregate(struct written *call, const struct clr_aggregate *aggregate)
{
    const bool ours =
        is_named(call, aggregate->name) && (call->form == CLR_FORM_VALUE || aggregate->state != 0);
    const bool builtin = call->form == CLR_FORM_VALUE && aggregate->builtin != NULL &&
                         is_named(call, aggregate->builtin);

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
    if (call->form != CLR_FORM_VALUE || !is_named(call, scalar->name))
        return;
    call->known = true;
    if (!call->star && call->arguments >= scalar->least && call->arguments <= scalar->most)
        call->scalar = scalar;
}

/* Finds the function that is called, unless it has to be refused. */
static void find_function(struct clr_syntax *syntax, const struct clr_token *token,
                          struct written *call)
{
    static const char suffix[] = "_state";
    const size_t length = strlen(call->name), size = sizeof suffix - 1;
    const struct clr_aggregate *aggregate;
    int i;

    call->form = length > size && strcmp(call->name + length - size, suffix) == 0 ? CLR_FORM_STATE
                                                                                  : CLR_FORM_VALUE;
    call->length = call->form == CLR_FORM_STATE ? length - size : length;
    for (i = 0; i < SQLITES; i++)
        consider_aggregate(call, &sqlites[i]);
    for (aggregate = clr_aggregates; aggregate->name != NULL; aggregate++)
        consider_aggregate(call, aggregate);
    for (i = 0; i < SCALARS; i++)
        consider_scalar(call, &scalars[i]);
    if (call->aggregate == NULL && call->scalar == NULL && (call->known || call->star))
        clr_refuse_token(syntax, CLR_WHY_FUNCTION_ARGUMENTS, token);
}

/* Makes a call that of an aggregate, with all that holds for those. */
static void be_aggregate(struct clr_syntax *syntax, struct clr_node *node, struct clr_node *filter)
{
    const unsigned has = node->has | (filter != NULL ? filter->has : 0);

    if (has & CLR_HAS_AGGREGATE)
        clr_refuse(syntax, CLR_WHY_NESTED_AGGREGATE);
    node->filter = filter;
    node->has &= CLR_HAS_COLLATE;
    node->has |= CLR_HAS_AGGREGATE | CLR_HAS_SURE_AGGREGATE;
    enlist(&syntax->aggregates, node);
}

/* Returns another node with the same children, and without siblings; NULL without memory. */
static struct clr_node *copy_top(struct clr_syntax *syntax, const struct clr_node *node)
{
    struct clr_node *copy = clr_syntax_node(syntax, CLR_N_COLUMN, NULL, none);
    struct clr_node *allocated;

    if (copy == NULL)
        return NULL;
    allocated = copy->allocated;
    *copy = *node;
    copy->next = NULL;
    copy->allocated = allocated;
    return copy;
}

struct clr_node *clr_syntax_number(struct clr_syntax *syntax, const struct clr_node *node)
{
    static char name[] = CLR_NUMBER;
    const struct clr_token token = {.text = name, .length = sizeof name - 1, .name = name};
    struct clr_node *argument = copy_top(syntax, node), *call;

    if (argument == NULL)
        return NULL;
    call = clr_syntax_node(syntax, CLR_N_FUNCTION, &token, one(argument));
    if (call == NULL)
        return NULL;
    call->reads = node->reads;
    call->is_foreign = call->is_deterministic = call->is_builtin = true;
    return call;
}

void clr_syntax_be_greatest(struct clr_syntax *syntax, struct clr_node *node)
{
    struct clr_node *column = copy_top(syntax, node);
    const struct clr_aggregate *greatest = clr_aggregates;

    if (column == NULL)
        return;
    while (greatest->builtin == NULL || strcmp(greatest->builtin, "max") != 0)
        greatest++;
    *node = (struct clr_node){.kind = CLR_N_AGGREGATE,
                              .first = column,
                              .next = node->next,
                              .allocated = node->allocated,
                              .depth = node->depth + 1,
                              .at = node->at,
                              .is_ordering = node->is_ordering,
                              .is_enclosed = node->is_enclosed,
                              .aggregate = greatest,
                              .builtin = true,
                              .written = column};
    be_aggregate(syntax, node, NULL);
}

static bool is_zero(const struct clr_node *node)
{
    const struct clr_token *token = &node->names[0];

    return node->kind == CLR_N_LITERAL && token->length == 1 && *token->text == '0';
}

/* A call as it is written, of the function of a name that may be another one. sorting: the terms of
   ORDER BY behind the arguments, which only those of lists make use of. */
static struct clr_node *call_named(struct clr_syntax *syntax, const struct clr_token *token,
                                   struct written call, struct clr_list arguments,
                                   struct clr_list sorting, struct clr_node *filter)
{
    enum clr_node_kind kind = CLR_N_FUNCTION;
    struct clr_node *node;

    call.arguments = count_nodes(&arguments);
    find_function(syntax, token, &call);
    if (syntax->code != CLR_OK)
        return NULL;
    if (call.aggregate != NULL)
        kind = CLR_N_AGGREGATE;
    else if (call.scalar != NULL)
        kind = call.scalar->opcode == CLR_OP_ROUND && call.arguments == 2 && is_zero(arguments.last)
                   ? CLR_N_UNARY
                   : call.scalar->kind;
    if (sorting.first != NULL &&
        (call.aggregate == NULL || call.aggregate->needs != CLR_NEEDS_VALUES)) {
        clr_refuse(syntax, CLR_WHY_ORDER_BY);
        return NULL;
    }
    chain(&arguments, &sorting);
    node = clr_syntax_node(syntax, kind, token, arguments);
    if (node == NULL)
        return NULL;
    node->aggregate = call.aggregate;
    node->form = call.form;
    node->builtin = call.builtin;
    if (call.aggregate != NULL) {
        be_aggregate(syntax, node, filter);
    } else if (filter != NULL) {
        clr_refuse_token(syntax, CLR_WHY_FILTER, token);
    } else {
        node->opcode = call.scalar != NULL ? call.scalar->opcode : CLR_OPCODES;
        node->function = kind != CLR_N_FUNCTION ? call.scalar->name : NULL;
        node->has_else = kind == CLR_N_CASE;
    }
    return node;
}

/* name(arguments ORDER BY sorting) or name(*), with FILTER (WHERE filter) unless that is NULL. */
static struct clr_node *call(struct clr_syntax *syntax, const struct clr_token *token, bool star,
                             struct clr_list arguments, struct clr_list sorting,
                             struct clr_node *filter)
{
    const struct written call = {.name = fold_case(token), .star = star};

    return call_named(syntax, token, call, arguments, sorting, filter);
}

/* A term of ORDER BY. */
static struct clr_node *term(struct clr_syntax *syntax, struct clr_node *expression,
                             bool descending, enum clr_nulls nulls)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_TERM, NULL, one(expression));

    if (node == NULL)
        return NULL;
    node->descending = descending;
    node->nulls = nulls;
    return node;
}

/* What is behind OVER. */
struct over {
    struct clr_list partition, sorting; /* terms */
    struct clr_token frame;             /* kind 0: none */
};

/* name(arguments) OVER (...); star: it stands in their place, or NULL. */
static struct clr_node *window(struct clr_syntax *syntax, const struct clr_token *token,
                               const struct clr_token *star, struct clr_list arguments,
                               const struct over *over)
{
    const int partition_count = count_nodes(&over->partition);
    struct clr_list children = none;
    struct clr_node *node;

    chain(&children, &arguments);
    chain(&children, &over->partition);
    chain(&children, &over->sorting);
    node = clr_syntax_node(syntax, CLR_N_WINDOW, token, children);
    if (node == NULL)
        return NULL;
    node->names[1] = over->frame;
    if (star != NULL)
        node->names[2] = *star;
    node->partition_count = partition_count;
    enlist(&syntax->functions, node);
    return node;
}

/* name(DISTINCT argument ORDER BY sorting), likewise: of count() and lists alone. */
static struct clr_node *call_distinct(struct clr_syntax *syntax, const struct clr_token *token,
                                      const struct clr_token *distinct, struct clr_node *argument,
                                      struct clr_list sorting, struct clr_node *filter)
{
    static const char counting[] = "gpu_count_distinct";
    const bool counts =
        clr_name_equal(token->name, "count") || clr_name_equal(token->name, counting);
    const struct written call = {.name = counts ? counting : fold_case(token)};
    struct clr_node *node = call_named(syntax, token, call, one(argument), sorting, filter);

    if (node != NULL && !counts &&
        (node->aggregate == NULL || node->aggregate->needs != CLR_NEEDS_VALUES))
        refuse_unexpected(syntax, distinct);
    if (node != NULL)
        node->is_distinct = true;
    return node;
}

/* ---- Clauses. */

static bool is_collated_aggregate(const struct clr_node *node)
{
    return node->kind == CLR_N_AGGREGATE && node->has & CLR_HAS_COLLATE;
}

/* name: of kind 0 if it has none. */
static void add_item(struct clr_syntax *syntax, struct clr_node *expression,
                     const struct clr_token *name)
{
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_ITEM, name, one(expression));

    /* A comparison takes the sequence that is named within the arguments of a function, and so of
       an aggregate: of its value, which is a parameter in the result row, it is gone. */
    if (node != NULL && expression->kind != CLR_N_AGGREGATE &&
        clr_node_find(expression, is_collated_aggregate) != NULL)
        clr_refuse(syntax, CLR_WHY_COLLATED_AGGREGATE);
    append(&syntax->at->items, node);
}

/* table: NULL for all columns of all tables. */
static void add_star(struct clr_syntax *syntax, const struct clr_token *table)
{
    const struct clr_token no_name = {.kind = 0};
    struct clr_node *node = clr_syntax_node(syntax, CLR_N_STAR, table, none);

    if (node != NULL)
        node->has = CLR_HAS_COLUMN;
    add_item(syntax, node, &no_name);
}

/* ---- Tables. */

/* Adds a table of FROM; schema: NULL if it is not named. */
static void add_source(struct clr_syntax *syntax, const struct clr_token *schema,
                       const struct clr_token *table, const struct clr_token *alias)
{
    struct clr_select_tree *select = syntax->at;

    if (select->source_count == CLR_MOST_SOURCES) {
        clr_refuse_name(syntax, CLR_WHY_TOO_MANY, "tables");
        return;
    }
    select->sources[select->source_count] =
        (struct clr_from_table){.table = *table, .alias = *alias};
    if (schema != NULL)
        select->sources[select->source_count].schema = *schema;
    select->source_count++;
}

static bool has_word(const struct clr_token *words, int count, const char *word)
{
    int i = 0;

    while (i < count && !clr_token_is(&words[i], word))
        i++;
    return i < count;
}

/* How a table is joined to those before it. */
struct joining {
    struct clr_token words;
    bool is_natural, is_left, is_right;
};

/* Reads the words of a join, which SQLite takes in any order, up to JOIN, the last one. */
static struct joining join_words(struct clr_syntax *syntax, const struct clr_token *words,
                                 int count, const struct clr_token *last)
{
    const struct joining joining = {join(&words[0], last), has_word(words, count, "NATURAL"),
                                    has_word(words, count, "LEFT"),
                                    has_word(words, count, "RIGHT")};
    const bool is_outer = has_word(words, count, "OUTER");
    const bool has_side = joining.is_left != joining.is_right;
    const int others = count - joining.is_natural;

    if ((is_outer && !has_side) || others > 2 || (others == 2 && !(is_outer && has_side)))
        clr_refuse_token(syntax, CLR_WHY_UNEXPECTED, &joining.words);
    return joining;
}

static struct clr_from_table *last_source(struct clr_syntax *syntax)
{
    return &syntax->at->sources[syntax->at->source_count - 1];
}

/* Refuses a condition of rows with an aggregate, which is none of theirs. */
static void check_condition(struct clr_syntax *syntax, const struct clr_node *expression)
{
    if (expression->has & CLR_HAS_AGGREGATE)
        clr_refuse(syntax, CLR_WHY_AGGREGATE_IN_WHERE);
}

static void set_on(struct clr_syntax *syntax, struct clr_node *expression)
{
    if (expression == NULL || syntax->code != CLR_OK)
        return;
    check_condition(syntax, expression);
    if (expression->has & CLR_HAS_SUBQUERY)
        clr_refuse(syntax, CLR_WHY_SUBQUERY);
    last_source(syntax)->on = expression;
}

static void set_using(struct clr_syntax *syntax, struct clr_list columns)
{
    if (syntax->code == CLR_OK)
        last_source(syntax)->common = columns;
}

/*
 * Takes note of how the last table is joined. a RIGHT JOIN b is b LEFT JOIN a but for the order of
 * the columns of a star, and for the names of columns that both have: SQLite takes these of b where
 * a has no row.
 */
static void end_join(struct clr_syntax *syntax, const struct joining *joining)
{
    struct clr_select_tree *select = syntax->at;

    if (syntax->code != CLR_OK)
        return;
    last_source(syntax)->join = joining->words;
    last_source(syntax)->is_natural = joining->is_natural;
    last_source(syntax)->is_left = joining->is_left;
    if (!joining->is_right)
        return;
    if (select->source_count > 2 || joining->is_natural || last_source(syntax)->on == NULL)
        clr_refuse_name(syntax, CLR_WHY_JOIN, "RIGHT");
    select->sources[0].is_left = true;
}

/* ---- Subqueries in FROM, CTEs and ordinary views. */

struct clr_select_tree *clr_select_join(struct clr_select_tree *select)
{
    struct clr_select_tree *tree = select;

    while (tree->source_count == 1 && tree->sources[0].inner != NULL)
        tree = tree->sources[0].inner;
    return tree->source_count > 1 ? tree : select;
}

bool clr_select_has_inner(const struct clr_select_tree *select)
{
    int i;

    for (i = 0; i < select->source_count && select->sources[i].inner == NULL; i++)
        ;
    return i < select->source_count;
}

/* Begins a SELECT within another one. */
static void begin_inner(struct clr_syntax *syntax)
{
    struct clr_select_tree *tree = syntax->code == CLR_OK ? clr_memory_alloc(sizeof *tree) : NULL;

    if (tree == NULL) {
        clr_syntax_no_memory(syntax);
        return;
    }
    *tree = (struct clr_select_tree){.allocated = syntax->trees, .outer = syntax->at};
    syntax->at = syntax->trees = tree;
}

/* Whether terms of ORDER BY are no more than columns and numbers of items, which are no errors. */
static bool are_plain(const struct clr_list *terms)
{
    const struct clr_node *term = terms->first;

    while (term != NULL &&
           (term->first->kind == CLR_N_COLUMN || term->first->kind == CLR_N_LITERAL))
        term = term->next;
    return term == NULL;
}

/* Refuses a SELECT in FROM whose rows are not those of its table, in an order that need not be
   known. */
static void check_inner(struct clr_syntax *syntax, const struct clr_select_tree *tree)
{
    const struct clr_node *item;
    const char *clause = tree->distinct             ? "DISTINCT"
                         : tree->keys.first != NULL ? "GROUP"
                         : tree->limit != NULL      ? "LIMIT"
                         : !are_plain(&tree->terms) ? "ORDER"
                                                    : NULL;

    if (clause != NULL)
        clr_refuse_name(syntax, CLR_WHY_IN_FROM, clause);
    if (tree->where != NULL && tree->where->has & CLR_HAS_SUBQUERY)
        clr_refuse(syntax, CLR_WHY_SUBQUERY);
    for (item = tree->items.first; item != NULL; item = item->next) {
        if (item->has & (CLR_HAS_AGGREGATE | CLR_HAS_COLLATE | CLR_HAS_SUBQUERY))
            clr_refuse(syntax, CLR_WHY_SUBQUERY);
    }
}

/* Goes on with the SELECT around one. Returns that, or NULL once something has failed. */
static struct clr_select_tree *leave_inner(struct clr_syntax *syntax)
{
    struct clr_select_tree *tree = syntax->at;

    if (syntax->code != CLR_OK)
        return NULL;
    syntax->at = tree->outer;
    syntax->is_ordering = false;
    check_inner(syntax, tree);
    return tree;
}

/* A subquery in FROM. */
static void end_inner(struct clr_syntax *syntax, const struct clr_token *alias)
{
    const struct clr_token no_name = {.kind = 0};
    struct clr_select_tree *tree = leave_inner(syntax);

    if (tree == NULL)
        return;
    add_source(syntax, NULL, &no_name, alias);
    if (syntax->code == CLR_OK)
        last_source(syntax)->inner = tree;
}

/* Gives the items the names of a list of columns, if there is one. */
static void name_items(struct clr_syntax *syntax, struct clr_select_tree *tree,
                       const struct clr_list *names)
{
    const struct clr_node *name = names->first;
    struct clr_node *item = tree->items.first;

    for (; name != NULL && item != NULL && item->first->kind != CLR_N_STAR; name = name->next) {
        item->names[0] = name->names[0];
        item = item->next;
    }
    if (names->first != NULL && (name != NULL || item != NULL))
        clr_refuse(syntax, CLR_WHY_COLUMN_LIST);
}

static void end_cte(struct clr_syntax *syntax, const struct clr_token *name,
                    const struct clr_list *names)
{
    struct clr_select_tree *tree = leave_inner(syntax);

    if (tree == NULL)
        return;
    name_items(syntax, tree, names);
    tree->name = *name;
    tree->next = syntax->ctes;
    syntax->ctes = tree;
}

static void check_word(struct clr_syntax *syntax, const struct clr_token *token, const char *word)
{
    if (!clr_token_is(token, word))
        clr_refuse_token(syntax, CLR_WHY_UNEXPECTED, token);
}

static struct clr_list copy_list(struct clr_syntax *syntax, const struct clr_list *list);

/* Returns a node that is the same, in the SELECT that the parser is at; NULL once something has
   failed. */
static struct clr_node *copy_node(struct clr_syntax *syntax, const struct clr_node *node)
{
    const struct clr_list inside = {node->first, NULL};
    const struct clr_list children = copy_list(syntax, &inside);
    struct clr_node *copy = copy_top(syntax, node);

    if (copy == NULL)
        return NULL;
    copy->first = children.first;
    copy->listed = NULL;
    copy->at = syntax->at;
    if (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_NUMBER)
        enlist(&syntax->numbers, copy);
    else if (node->kind == CLR_N_WINDOW || node->kind == CLR_N_FUNCTION)
        enlist(&syntax->functions, copy);
    return copy;
}

static struct clr_list copy_list(struct clr_syntax *syntax, const struct clr_list *list)
{
    const struct clr_node *node;
    struct clr_list copy = none;

    for (node = list->first; node != NULL && syntax->code == CLR_OK; node = node->next)
        append(&copy, copy_node(syntax, node));
    return copy;
}

/* Returns a SELECT that is the same as one in FROM or WITH; NULL once something has failed. */
static struct clr_select_tree *copy_tree(struct clr_syntax *syntax,
                                         const struct clr_select_tree *tree)
{
    struct clr_select_tree *copy;
    struct clr_node *name;
    int i;

    begin_inner(syntax);
    if (syntax->code != CLR_OK)
        return NULL;
    copy = syntax->at;
    copy->items = copy_list(syntax, &tree->items);
    copy->terms = copy_list(syntax, &tree->terms);
    if (tree->where != NULL)
        copy->where = copy_node(syntax, tree->where);
    copy->source_count = tree->source_count;
    for (i = 0; i < tree->source_count && syntax->code == CLR_OK; i++) {
        struct clr_from_table *source = &copy->sources[i];

        *source = tree->sources[i];
        source->common = copy_list(syntax, &tree->sources[i].common);
        for (name = source->common.first; name != NULL; name = name->next)
            name->at = NULL;
        if (source->on != NULL)
            source->on = copy_node(syntax, source->on);
        if (source->inner != NULL)
            source->inner = copy_tree(syntax, source->inner);
    }
    syntax->at = copy->outer;
    return copy;
}

/* SELECTs in FROM of one another, and of CTEs and views, go no deeper. */
enum { MOST_LEVELS = 16 };

/* Has the names in FROM mean CTEs: each use has a copy. */
static void find_ctes(struct clr_syntax *syntax, struct clr_select_tree *tree, int level)
{
    int i;

    if (level > MOST_LEVELS)
        clr_refuse(syntax, CLR_WHY_NESTING);
    for (i = 0; i < tree->source_count && syntax->code == CLR_OK; i++) {
        struct clr_from_table *source = &tree->sources[i];
        const struct clr_select_tree *cte =
            source->inner == NULL && source->schema.kind == 0 ? syntax->ctes : NULL;

        while (cte != NULL && !clr_name_equal(cte->name.name, source->table.name))
            cte = cte->next;
        if (cte != NULL)
            source->inner = copy_tree(syntax, cte);
        if (source->inner != NULL)
            find_ctes(syntax, source->inner, level + 1);
    }
}

static void set_where(struct clr_syntax *syntax, struct clr_node *expression)
{
    if (expression == NULL)
        return;
    check_condition(syntax, expression);
    syntax->at->where = expression;
}

/* A term of ORDER BY. */
static void add_term(struct clr_syntax *syntax, struct clr_node *expression, bool descending,
                     enum clr_nulls nulls)
{
    append(&syntax->at->terms, term(syntax, expression, descending, nulls));
}

/* LIMIT, which has no columns and aggregates; offset may be NULL. */
static void set_limit(struct clr_syntax *syntax, struct clr_node *limit, struct clr_node *offset)
{
    if (syntax->code != CLR_OK)
        return;
    if (((limit->has | (offset != NULL ? offset->has : 0)) &
         (CLR_HAS_COLUMN | CLR_HAS_AGGREGATE | CLR_HAS_SUBQUERY)) != 0)
        clr_refuse(syntax, CLR_WHY_LIMIT);
    syntax->at->limit = limit;
    syntax->at->offset = offset;
}

/* ---- The parser. */

#pragma GCC diagnostic push
/* Unused names and small integers of Lemon's template are not what the warnings are there for. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wconversion"
#include "query/syntax/grammar.c"
#pragma GCC diagnostic pop

/* "?12" has number 12; a number that no statement can have is 0. */
static int written_number(const char *name)
{
    const long number = strtol(name + 1, NULL, 10);

    return number < 1000000 ? (int)number : 0;
}

/* Returns the number of an earlier parameter of the name, or 0. */
static int known_number(const struct clr_node *earlier, const struct clr_node *node)
{
    while (earlier != node && strcmp(earlier->names[0].name, node->names[0].name) != 0)
        earlier = earlier->listed;
    return earlier != node ? earlier->number : 0;
}

/* As SQLite does, in the order of the text: a "?" and a new name get the number after the largest
   one so far. */
static void number_parameters(struct clr_syntax *syntax)
{
    struct clr_node *const first = syntax->parameters.first, *node;
    int largest = 0;

    for (node = first; node != NULL; node = node->listed) {
        const char *name = node->names[0].name;

        node->number = largest + 1;
        if (name[0] == '?' && name[1] != '\0')
            node->number = written_number(name);
        else if (name[0] != '?' && known_number(first, node) > 0)
            node->number = known_number(first, node);
        if (node->number <= 0)
            clr_refuse_token(syntax, CLR_WHY_PARAMETER, &node->names[0]);
        if (node->number > largest)
            largest = node->number;
    }
}

/* Reads the next token; its words are names if is_raw. Returns false once something has failed. */
static bool read_token(struct clr_syntax *syntax, const char **at, bool is_raw,
                       struct clr_token *token)
{
    syntax->code = is_raw ? clr_lexer_next_raw(at, token, syntax->reason)
                          : clr_lexer_next(at, token, syntax->reason);
    if (syntax->code != CLR_OK)
        return false;
    token->name = syntax->last;
    syntax->last = clr_token_unquote(token, token->name);
    return true;
}

/* Whether the last token, a parenthesis, stands in the place of a table, or behind a CTE's name. */
static bool opens_table(const struct clr_syntax *syntax)
{
    const int *last = syntax->last_kinds;

    switch (last[1]) {
    case CLR_T_FROM:
        return last[2] != CLR_T_DISTINCT;
    case CLR_T_COMMA:
        return syntax->at->clause == CLR_T_FROM;
    case CLR_T_JOIN:
    case CLR_T_AS:
        return true;
    default:
        /* MATERIALIZED */
        return last[1] == CLR_T_ID && (last[2] == CLR_T_AS || last[2] == CLR_T_NOT);
    }
}

/* Whether the last token is a parenthesis that opens a subquery in an expression: the rest of the
   text is at `at`. */
static bool opens_subquery(const struct clr_syntax *syntax, const char *at)
{
    struct clr_token token;

    return syntax->last_kinds[0] == CLR_T_LP && !opens_table(syntax) &&
           clr_token_next(&at, &token) && CLR_TOKEN_IN(&token, "SELECT", "WITH", "VALUES");
}

/* Reads the tokens of a subquery but for its first one, up to the parenthesis that closes it. */
static void read_subquery(struct clr_syntax *syntax, const char **at)
{
    const char *next = *at;
    struct clr_token token;
    int depth = 0;

    while (syntax->code == CLR_OK && read_token(syntax, &next, true, &token)) {
        depth += (token.kind == CLR_T_LP) - (token.kind == CLR_T_RP);
        if (depth < 0 || token.kind == 0) {
            syntax->last = token.name;
            return;
        }
        *at = next;
        if (token.kind == CLR_T_VARIABLE)
            parameter(syntax, &token);
    }
}

/* Takes note of a token that the parser has taken. */
static void pass_token(struct clr_syntax *syntax, int kind)
{
    int *last = syntax->last_kinds;

    if (kind == CLR_T_WHERE || kind == CLR_T_GROUP || kind == CLR_T_ORDER || kind == CLR_T_LIMIT ||
        (kind == CLR_T_FROM && last[0] != CLR_T_DISTINCT))
        syntax->at->clause = kind;
    last[2] = last[1];
    last[1] = last[0];
    last[0] = kind;
}

/* Returns room that is there as long as the syntax, or NULL without memory. */
static char *add_block(struct clr_syntax *syntax, size_t size)
{
    struct clr_text_block *block = clr_memory_alloc(sizeof *block + size);

    if (block == NULL) {
        clr_syntax_no_memory(syntax);
        return NULL;
    }
    block->next = syntax->blocks;
    syntax->blocks = block;
    return block->text;
}

/* Copies a text, to be there as long as the syntax; NULL without memory. */
static const char *keep(struct clr_syntax *syntax, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = add_block(syntax, size);

    return copy == NULL ? NULL : memcpy(copy, text, size);
}

/* Parses a text, which is there as long as the syntax, as the SELECT that the parser is at. */
static void parse_text(struct clr_syntax *syntax, const char *at)
{
    struct clr_select_tree *tree = syntax->at;
    struct clr_token token = {.kind = -1};
    yyParser parser;

    syntax->ctes = NULL;
    /* Each token has its own characters, and a 0 more; so has the end, and one name of a subquery.
     */
    syntax->last = add_block(syntax, 3 * strlen(at) + 2);
    clr_grammarInit(&parser);
    while (token.kind != 0 && syntax->code == CLR_OK) {
        const bool is_subquery = opens_subquery(syntax, at);

        if (!read_token(syntax, &at, is_subquery, &token))
            break;
        if (is_subquery)
            token.kind = CLR_T_SUBQUERY;
        clr_grammar(&parser, token.kind, token, syntax);
        pass_token(syntax, token.kind);
        if (is_subquery)
            read_subquery(syntax, &at);
    }
    clr_grammarFinalize(&parser);
    if (syntax->code == CLR_OK && syntax->ctes != NULL && syntax->subqueries.first != NULL)
        clr_refuse(syntax, CLR_WHY_WITH);
    if (syntax->code == CLR_OK)
        number_parameters(syntax);
    if (syntax->code == CLR_OK)
        find_ctes(syntax, tree, 0);
}

enum clr_code clr_syntax_parse(const char *sql, struct clr_syntax **result,
                               struct clr_reason *reason)
{
    struct clr_syntax *syntax = clr_memory_alloc(sizeof *syntax);
    enum clr_code code;

    *result = NULL;
    if (syntax == NULL)
        return CLR_NOMEM;
    *syntax = (struct clr_syntax){.reason = reason};
    syntax->at = &syntax->select;
    syntax->sql = keep(syntax, sql);
    if (syntax->sql != NULL)
        parse_text(syntax, syntax->sql);
    code = syntax->code;
    if (code != CLR_OK)
        clr_syntax_free(syntax);
    else
        *result = syntax;
    return code;
}

void clr_syntax_free(struct clr_syntax *syntax)
{
    struct clr_select_tree *tree;
    struct clr_text_block *block;
    struct clr_node *node;

    if (syntax == NULL)
        return;
    while ((node = syntax->nodes) != NULL) {
        syntax->nodes = node->allocated;
        clr_memory_free(node);
    }
    while ((tree = syntax->trees) != NULL) {
        syntax->trees = tree->allocated;
        clr_memory_free(tree);
    }
    while ((block = syntax->blocks) != NULL) {
        syntax->blocks = block->next;
        clr_memory_free(block);
    }
    clr_memory_free(syntax);
}

/* Returns the token of a name, as it is written in double quotes; all zeros without memory. */
static struct clr_token quote(struct clr_syntax *syntax, const char *name)
{
    const size_t length = strlen(name);
    struct clr_token token = {.kind = 0};
    char *text = add_block(syntax, 3 * length + 4), *end = text;

    if (text == NULL)
        return token;
    *end++ = '"';
    for (; *name != '\0'; name++) {
        if (*name == '"')
            *end++ = '"';
        *end++ = *name;
    }
    *end++ = '"';
    token = (struct clr_token){CLR_T_ID, text, (size_t)(end - text), end};
    clr_token_unquote(&token, end);
    return token;
}

/* Reads the names of a view's columns: they stand in parentheses, with commas between them. */
static struct clr_list read_columns(struct clr_syntax *syntax, const char *at)
{
    struct clr_token token = {.kind = CLR_T_LP};
    struct clr_list columns = none;

    syntax->last = add_block(syntax, 3 * strlen(at) + 2);
    while (syntax->code == CLR_OK && token.kind != CLR_T_RP && token.kind != 0 &&
           read_token(syntax, &at, true, &token)) {
        if (token.kind == CLR_T_ID || token.kind == CLR_T_STRING)
            append(&columns, column_name(syntax, &token));
    }
    return columns;
}

bool clr_syntax_add_common(struct clr_syntax *syntax, struct clr_from_table *source,
                           const char *name)
{
    const struct clr_token token = quote(syntax, name);

    if (token.kind != 0)
        append(&source->common, column_name(syntax, &token));
    return syntax->code == CLR_OK;
}

/* Whether the statement has a CTE of the name: SQLite may take that for the table of a view. */
static bool is_cte(const struct clr_syntax *syntax, const char *name)
{
    const struct clr_select_tree *tree = syntax->trees;

    while (tree != NULL && (tree->name.kind == 0 || !clr_name_equal(tree->name.name, name)))
        tree = tree->allocated;
    return tree != NULL;
}

/* Has the tables of a view's SELECT mean those of a schema. */
static void name_schema(struct clr_syntax *syntax, struct clr_select_tree *tree, const char *schema)
{
    int i;

    for (i = 0; i < tree->source_count && syntax->code == CLR_OK; i++) {
        struct clr_from_table *source = &tree->sources[i];

        if (source->inner != NULL)
            name_schema(syntax, source->inner, schema);
        else if (is_cte(syntax, source->table.name))
            clr_refuse(syntax, CLR_WHY_WITH);
        else if (source->schema.kind == 0)
            source->schema = quote(syntax, schema);
    }
}

enum clr_code clr_syntax_add_view(struct clr_syntax *syntax, struct clr_from_table *source,
                                  const char *schema, const char *columns, const char *select)
{
    char *last = syntax->last;
    struct clr_list names = none;

    begin_inner(syntax);
    select = keep(syntax, select);
    columns = columns == NULL ? NULL : keep(syntax, columns);
    if (syntax->code != CLR_OK)
        return syntax->code;
    source->inner = syntax->at;
    parse_text(syntax, select);
    leave_inner(syntax);
    if (columns != NULL && syntax->code == CLR_OK)
        names = read_columns(syntax, columns);
    if (syntax->code == CLR_OK)
        name_items(syntax, source->inner, &names);
    if (syntax->code == CLR_OK)
        name_schema(syntax, source->inner, schema);
    syntax->last = last;
    return syntax->code;
}
