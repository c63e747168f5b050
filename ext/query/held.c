#include "query/held.h"

#include "base/memory.h"
#include "query/binding/content.h"
#include "query/syntax/grammar.h"

#include <string.h>

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

bool clr_held_check(struct clr_binder *binder, const struct clr_node *node, bool *is_timed)
{
    const struct clr_node *child;

    for (child = node->first; child != NULL; child = child->next) {
        if (!clr_held_check(binder, child, is_timed))
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
