#include "query/binding/lookup.h"

#include "base/memory.h"
#include "query/binding/content.h"
#include "query/binding/emit.h"
#include "query/syntax/grammar.h"

#include <stdio.h>
#include <string.h>

/* ---- What a lookup may hold: expressions that mean the same wherever SQLite evaluates them. */

static bool refuse(struct clr_binder *binder, enum clr_reason_code why)
{
    clr_bind_refuse(binder, why);
    return false;
}

/* ---- Functions of times. */

/* Whether a literal is a word, spaces and ASCII case aside. */
static bool is_word(const struct clr_token *token, const char *word)
{
    const char *begin = token->text + 1, *end = token->text + token->length - 1;

    while (begin < end && *begin == ' ')
        begin++;
    while (begin < end && end[-1] == ' ')
        end--;
    return (size_t)(end - begin) == strlen(word) &&
           clr_name_begins(begin, (size_t)(end - begin), word);
}

/* Whether a part of a concatenation has something that no word has which stands for the present
   time or the time zone. */
static bool has_more_than_letters(const struct clr_node *node)
{
    const struct clr_token *token = &node->names[0];
    size_t i;

    if (node->kind == CLR_N_OPERATOR && token->kind == CLR_T_CONCAT)
        return has_more_than_letters(node->first) || has_more_than_letters(node->first->next);
    if (node->kind != CLR_N_LITERAL || token->kind != CLR_T_STRING)
        return node->kind == CLR_N_LITERAL && token->kind == CLR_T_NUMBER;
    for (i = 1; i + 1 < token->length; i++) {
        if (strchr("+-.: 0123456789", token->text[i]) != NULL)
            return true;
    }
    return false;
}

/* Whether an expression may have a zero, behind which no function of times reads, where neither an
   entry nor a parameter has one, at which the caller looks. */
static bool may_make_zero(struct clr_binder *binder, const struct clr_node *node)
{
    static const char *const plain[] = {"lower",  "ltrim",     "replace", "rtrim",
                                        "substr", "substring", "trim",    "upper"};
    const struct clr_node *child;
    bool may = node->kind == CLR_N_FUNCTION ||
               (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_BLOB) ||
               (node->kind == CLR_N_OPERATOR && node->names[0].kind != CLR_T_CONCAT);
    char *name;
    size_t i;

    if (node->kind == CLR_N_FUNCTION) {
        name = clr_content_name(binder, node);
        may = name == NULL || !clr_content_is_timed(name);
        for (i = 0; i < sizeof plain / sizeof plain[0] && name != NULL; i++)
            may = may && strcmp(name, plain[i]) != 0;
        clr_memory_free(name);
    }
    for (child = node->first; child != NULL && !may; child = child->next)
        may = may_make_zero(binder, child);
    return may;
}

static bool check_time_literal(struct clr_binder *binder, const struct clr_token *token,
                               bool is_value)
{
    if (token->kind == CLR_T_BLOB)
        return refuse(binder, CLR_WHY_TIME_COMPUTED);
    if (token->kind == CLR_T_STRING &&
        (is_word(token, "NOW") || is_word(token, "LOCALTIME") || is_word(token, "UTC") ||
         (is_value && (is_word(token, "SUBSEC") || is_word(token, "SUBSECOND")))))
        return refuse(binder, CLR_WHY_PRESENT_TIME);
    return true;
}

/*
 * Checks an argument that is a time (is_value) or changes one. What it is may be said by a literal,
 * or by an entry or a parameter, at which the caller looks; not by what is computed of them, unless
 * that is no such word whatever they are.
 */
static bool check_time(struct clr_binder *binder, const struct clr_node *node, bool is_value)
{
    const struct clr_node *child;
    char *name;
    bool is_known;

    switch (node->kind) {
    case CLR_N_LITERAL:
        return check_time_literal(binder, &node->names[0], is_value);
    case CLR_N_FUNCTION:
        name = clr_content_name(binder, node);
        if (name == NULL)
            return false;
        is_known = clr_content_is_timed(name) && strcmp(name, "strftime") != 0;
        clr_memory_free(name);
        return is_known || refuse(binder, CLR_WHY_TIME_COMPUTED);
    case CLR_N_OPERATOR:
        return node->names[0].kind != CLR_T_CONCAT ||
               (has_more_than_letters(node) && !may_make_zero(binder, node)) ||
               (binder->code == CLR_OK && refuse(binder, CLR_WHY_TIME_COMPUTED));
    case CLR_N_CAST:
        return (node->cast != CLR_CAST_TO_TEXT && node->cast != CLR_CAST_TO_BLOB) ||
               check_time(binder, node->first, is_value);
    case CLR_N_FOLD:
        if (node->opcode != CLR_OP_COALESCE && node->opcode != CLR_OP_LEAST &&
            node->opcode != CLR_OP_GREATEST)
            return true;
        break;
    case CLR_N_PLUS:
    case CLR_N_COLLATE:
    case CLR_N_CASE:
    case CLR_N_NULLIF:
    case CLR_N_HINT:
        break;
    default:
        return true; /* the column, a parameter, or a number */
    }
    for (child = node->first; child != NULL; child = child->next) {
        if (!check_time(binder, child, is_value))
            return false;
    }
    return true;
}

/* Checks the arguments of a function of times: (time, modifiers...), strftime(format, time,
   modifiers...), timediff(time, time). */
static bool check_times(struct clr_binder *binder, const struct clr_node *node, const char *name)
{
    const struct clr_node *argument = node->first;
    const bool is_difference = strcmp(name, "timediff") == 0;
    bool is_value = true;

    if (argument != NULL && strcmp(name, "strftime") == 0)
        argument = argument->next;
    /* Without a time it is the present one. */
    if (argument == NULL)
        return refuse(binder, CLR_WHY_PRESENT_TIME);
    for (; argument != NULL; argument = argument->next) {
        if (!check_time(binder, argument, is_value))
            return false;
        is_value = is_difference;
    }
    return true;
}

static bool check_function(struct clr_binder *binder, const struct clr_node *node, bool *is_timed)
{
    char *name = clr_content_name(binder, node);
    bool fine = name != NULL;

    if (fine && clr_content_is_timed(name)) {
        *is_timed = true;
        fine = check_times(binder, node, name);
    }
    clr_memory_free(name);
    return fine;
}

/*
 * Refuses an expression whose value may be another one where SQLite evaluates it for an entry of a
 * dictionary. Sets *is_timed, which is the caller's to begin, if it has functions of times. Returns
 * false once it has failed.
 */
static bool held_check(struct clr_binder *binder, const struct clr_node *node, bool *is_timed)
{
    const struct clr_node *child;

    for (child = node->first; child != NULL; child = child->next) {
        if (!held_check(binder, child, is_timed))
            return false;
    }
    switch (node->kind) {
    case CLR_N_IN:
        /* SQLite's parser makes FALSE of it, which IS around the lookup takes for a test. */
        return node->first->next != NULL || refuse(binder, CLR_WHY_EMPTY_IN);
    case CLR_N_FUNCTION:
        return check_function(binder, node, is_timed);
    default:
        return true;
    }
}

/* ---- Text. */

/* Text that is measured first, while `text` is NULL, and written then. */
struct text {
    char *text;
    size_t length;
};

/* Adds a token, with a space in front of all but the first: no two run together, and comments are
   gone. */
static void add(struct text *to, const char *token, size_t length)
{
    const size_t space = to->length > 0;

    if (to->text != NULL) {
        if (space != 0)
            to->text[to->length] = ' ';
        memcpy(to->text + to->length + space, token, length);
    }
    to->length += space + length;
}

static void add_expression(struct text *to, const struct clr_syntax *syntax,
                           const struct clr_node *expression);

/* Adds what is more than a token: a column, a parameter, or what a subquery's column is. */
static void add_node(struct text *to, const struct clr_syntax *syntax, const struct clr_node *node)
{
    char number[16];

    if (node->kind == CLR_N_COLUMN) {
        add(to, "\"" CLR_LOOKUP_COLUMN "\"", sizeof CLR_LOOKUP_COLUMN + 1);
    } else if (node->kind == CLR_N_PARAMETER) {
        add(to, number, (size_t)snprintf(number, sizeof number, "?%d", node->number));
    } else {
        add(to, "(", 1);
        add_expression(to, syntax, node);
        add(to, ")", 1);
    }
}

static void add_expression(struct text *to, const struct clr_syntax *syntax,
                           const struct clr_node *expression)
{
    size_t i = expression->begin;

    while (i < expression->end) {
        const struct clr_token *token = &syntax->tokens[i];
        const struct clr_node *node = token->node;

        if (node == NULL) {
            add(to, token->text, token->length);
            i++;
        } else {
            add_node(to, syntax, node);
            i = node->name_end != 0 ? node->name_end : node->end;
        }
    }
}

/* Parentheses change neither the affinity nor the collating sequence of what is in them. */
static void write(struct text *to, const struct clr_syntax *syntax, const struct clr_node *node,
                  const struct clr_node *equal)
{
    to->length = 0;
    if (equal == NULL) {
        add_expression(to, syntax, node);
    } else {
        add(to, "(", 1);
        add_expression(to, syntax, node);
        add(to, ") = (", 5);
        add_expression(to, syntax, equal);
        add(to, ")", 1);
    }
    if (to->text != NULL)
        to->text[to->length] = '\0';
}

/* ---- The lookup. */

/* Returns the number of the lookup of a column with codes, which takes the text; -1 once it has
   failed, without it. */
static int find_lookup(struct clr_binder *binder, const struct clr_lookup_plan *plan)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->lookup_count; i++) {
        const struct clr_lookup_plan *known = &query->lookups[i];
        if (known->column == plan->column && known->is_ranked == plan->is_ranked &&
            strcmp(known->text, plan->text) == 0) {
            clr_memory_free(plan->text);
            return i;
        }
    }
    if (i == CLR_MOST_LOOKUPS) {
        clr_memory_free(plan->text);
        return clr_bind_refuse_more(binder, "expressions with text or functions");
    }
    query->lookups[i] = *plan;
    return query->lookup_count++;
}

/* Returns a column that is read in the expression, or NULL. */
static const struct clr_node *find_column(const struct clr_node *node)
{
    const struct clr_node *child = node->first, *found = NULL;

    if (node->kind == CLR_N_COLUMN)
        return node;
    for (; child != NULL && found == NULL; child = child->next)
        found = find_column(child);
    return found;
}

/* Refuses lookups over a column with too many different values. Returns false once it has failed.
 */
static bool check_column(struct clr_binder *binder, int number, const struct clr_node *node)
{
    const struct clr_environment *environment = binder->environment;
    const struct clr_node *column;
    char *name;
    int i;

    for (i = 0; i < environment->varied_count && environment->varied[i] != number; i++)
        ;
    if (i == environment->varied_count)
        return true;
    column = find_column(node);
    name = clr_token_name(&column->names[column->name_count - 1]);
    if (name == NULL)
        clr_bind_no_memory(binder);
    else
        clr_bind_refuse_name(binder, CLR_WHY_MANY_VALUES, name, strlen(name));
    clr_memory_free(name);
    return false;
}

static int emit_lookup(struct clr_binder *binder, struct clr_node *node, struct clr_node *equal,
                       bool is_ranked)
{
    const int number =
        equal != NULL ? clr_content_together(node->reads, equal->reads) : node->reads;
    const struct clr_syntax *syntax = binder->query->syntax;
    struct clr_lookup_plan plan = {.is_ranked = is_ranked};
    struct text text = {NULL, 0};
    int lookup;

    if (!check_column(binder, number, node->reads >= 0 ? node : equal) ||
        !held_check(binder, node, &plan.is_timed) ||
        (equal != NULL && !held_check(binder, equal, &plan.is_timed)))
        return -1;
    plan.column = clr_place_column(binder, number, true);
    if (plan.column < 0)
        return -1;
    write(&text, syntax, node, equal);
    text.text = clr_memory_alloc(text.length + 1);
    if (text.text == NULL)
        return clr_bind_no_memory(binder);
    write(&text, syntax, node, equal);
    plan.text = text.text;
    lookup = find_lookup(binder, &plan);
    return lookup < 0 ? -1 : clr_emit(binder, CLR_OP_LOOKUP, plan.column, lookup, 0);
}

int clr_lookup_emit(struct clr_binder *binder, struct clr_node *node, struct clr_node *equal)
{
    return emit_lookup(binder, node, equal, false);
}

int clr_lookup_emit_ranks(struct clr_binder *binder, struct clr_node *node)
{
    return emit_lookup(binder, node, NULL, true);
}
