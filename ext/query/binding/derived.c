#include "query/binding/derived.h"

#include "numeric/values/bytes.h"
#include "query/binding/lookups.h"
#include "query/names/tables.h"
#include "query/names/times.h"
#include "query/syntax/grammar.h"
#include "query/syntax/print.h"

#include <string.h>

/* Whether a literal is TEXT of which no affinity makes a number. */
static bool is_no_number(const struct clr_node *node)
{
    const struct clr_token *token = &node->names[0];

    return node->kind == CLR_N_LITERAL && token->kind == CLR_T_STRING &&
           (token->length == 2 || (token->text[1] >= 'A' && token->text[1] <= 'Z') ||
            (token->text[1] >= 'a' && token->text[1] <= 'z'));
}

/* Whether SQLite may search an index for what an expression compares a column with, and so find
   other rows than those for which it is true: see lower_compared(). It finds TEXT as it compares
   it, and so it does numbers that are no REALs past all INTEGERs. It searches for nothing that a
   column is not. */
static bool may_search(const struct clr_node *node)
{
    const struct clr_node *child;
    bool has_column = false, has_others = false;

    if (node->kind != CLR_N_BETWEEN && node->kind != CLR_N_IN &&
        (node->kind != CLR_N_FOLD || !clr_opcode_compares(node->opcode) ||
         node->opcode == CLR_OP_UNEQUAL || node->opcode == CLR_OP_IS_NOT))
        return false;
    for (child = node->first; child != NULL; child = child->next) {
        has_column =
            has_column || (clr_content_is_signed_column(child) && !clr_content_is_text(child));
        has_others =
            has_others || (child->reads == CLR_READS_NONE &&
                           !(child->is_known && !clr_scalar_is_past_integers(&child->value)) &&
                           !is_no_number(child));
    }
    return has_column && has_others;
}

/* Whether an argument of a function of times is none that may stand for the present time, but for a
   column's value, at which CLR_FIXED_TIME looks. is_value: it is a time; else it changes one. */
static bool is_fixed_time(const struct clr_node *node, bool is_value)
{
    switch (node->kind) {
    case CLR_N_COLUMN:
        return is_value;
    case CLR_N_LITERAL:
        return node->names[0].kind == CLR_T_NUMBER ||
               (!is_value && node->names[0].kind == CLR_T_STRING);
    case CLR_N_FUNCTION:
        return is_value && clr_times_is_function(node->names[0].name) &&
               strcmp(node->names[0].name, "strftime") != 0;
    case CLR_N_FOLD:
        return node->opcode >= CLR_OP_ADD && node->opcode <= CLR_OP_REMAINDER;
    case CLR_N_CAST:
        return node->cast != CLR_CAST_TO_TEXT && node->cast != CLR_CAST_TO_BLOB;
    default:
        return false;
    }
}

/* Whether a function of times, if it is one, has times that are fixed. */
static bool has_fixed_times(const struct clr_node *node)
{
    const struct clr_node *first = clr_times_first(node), *argument;

    if (!clr_times_is_function(node->names[0].name))
        return true;
    for (argument = first; argument != NULL; argument = argument->next) {
        if (!is_fixed_time(argument, argument == first || clr_times_takes_more(node)))
            return false;
    }
    return first != NULL;
}

/* Whether a node is a column of the table that is scanned which SQLite has in its rows. */
static bool is_in_row(const struct clr_node *node)
{
    return node->kind == CLR_N_COLUMN && !clr_node_is_dimension(node) && node->column.is_stored &&
           !node->column.is_rowid && node->item == NULL;
}

/* Whether a node is a call of a function that is, or of some arguments may be, the application's.
 */
static bool is_own_call(const struct clr_node *node)
{
    return node->kind == CLR_N_FUNCTION && !node->is_builtin;
}

/* Whether an expression follows from the row of the table that is scanned, and from the time zone,
   alone, whichever connection with the same functions has it evaluated. */
static bool follows_from_row(const struct clr_node *node)
{
    const struct clr_node *child;

    switch (node->kind) {
    case CLR_N_COLUMN:
        if (!is_in_row(node) || !node->column.is_binary)
            return false;
        break;
    case CLR_N_FUNCTION:
        /* The number of TEXT does not depend on how that is compared. */
        if (clr_node_is_number(node) && is_in_row(node->first))
            return true;
        if (!node->is_deterministic || !has_fixed_times(node) ||
            (!node->is_builtin && clr_times_is_function(node->names[0].name)))
            return false;
        break;
    case CLR_N_PARAMETER:
    case CLR_N_AGGREGATE:
    case CLR_N_COLLATE:
    case CLR_N_SUBQUERY:
    case CLR_N_STAR:
    case CLR_N_ITEM:
    case CLR_N_TERM:
        return false;
    case CLR_N_IN:
        /* SQLite's parser makes FALSE of it. */
        if (node->first->next == NULL)
            return false;
        break;
    default:
        break;
    }
    for (child = node->first; child != NULL; child = child->next) {
        if (!follows_from_row(child))
            return false;
    }
    return !node->is_momentary && !may_search(node);
}

/* Whether something was refused for what makes no sense in a derived column, either. */
static bool is_underivable(enum clr_reason_code why)
{
    return why != CLR_WHY_TWO_COLUMNS && why != CLR_WHY_MANY_VALUES && why != CLR_WHY_TEXT_COLUMN &&
           why != CLR_WHY_NUMBER && why != CLR_WHY_NO_COLUMN_IN_IT && why != CLR_WHY_PRESENT_TIME;
}

/* Whether a column is an argument of a function of times in an expression. */
static bool is_time(const struct clr_node *column, const struct clr_node *expression)
{
    const struct clr_node *child;
    const bool has_times =
        expression->kind == CLR_N_FUNCTION && clr_times_is_function(expression->names[0].name);

    for (child = expression->first; child != NULL; child = child->next) {
        if ((has_times && child == column) || is_time(column, child))
            return true;
    }
    return false;
}

/* In the text of a derived column the table's columns have their own names, without the table's. */
static bool print_name(struct clr_printer *printer, const struct clr_node *node)
{
    const bool has_time = node->kind == CLR_N_COLUMN && is_time(node, printer->context);

    if (node->kind != CLR_N_COLUMN)
        return false;
    if (has_time)
        clr_print_word(printer, CLR_FIXED_TIME "(");
    clr_print_name(printer, node->column.name);
    if (has_time)
        clr_print_word(printer, ")");
    return true;
}

/* Whether ESCAPE changes nothing of a pattern: its character is not in that, and means nothing. */
static bool escapes_nothing(const struct clr_node *escape, const struct clr_token *pattern)
{
    const struct clr_token *token = &escape->names[0];

    return escape->kind == CLR_N_LITERAL && token->kind == CLR_T_STRING && token->length == 3 &&
           strchr("%_'", token->text[1]) == NULL &&
           memchr(pattern->text + 1, token->text[1], pattern->length - 2) == NULL;
}

/* Finds the pattern of an expression that is a column LIKE one that a decoder knows, at the end of
   the expression's text, or before an ESCAPE there. A rowid is no TEXT, and has no place in the
   records where a decoder would see that. */
static void find_pattern(const struct clr_binder *binder, const struct clr_node *node,
                         struct clr_query_column *column)
{
    const struct clr_node *text = node->first, *pattern = text == NULL ? NULL : text->next;
    const struct clr_node *escape = pattern == NULL ? NULL : pattern->next;
    const struct clr_token *token = pattern == NULL ? NULL : &pattern->names[0];
    size_t end = strlen(column->derived);

    if (!binder->environment->is_utf8 || node->kind != CLR_N_FUNCTION || !node->is_builtin ||
        !node->is_infix || strcmp(node->names[0].name, "like") != 0 || pattern == NULL ||
        text->kind != CLR_N_COLUMN || text->reads == clr_tables_fact(binder)->rowid ||
        pattern->kind != CLR_N_LITERAL || token->kind != CLR_T_STRING || end > UINT16_MAX ||
        (escape != NULL && !escapes_nothing(escape, token)))
        return;
    end -= escape == NULL ? 0 : strlen(" ESCAPE ") + escape->names[0].length;
    if (end < token->length ||
        memcmp(column->derived + end - token->length, token->text, token->length) != 0 ||
        memchr(token->text + 1, '\'', token->length - 2) != NULL ||
        !clr_like_knows(token->text + 1, token->length - 2))
        return;
    column->like = text->reads;
    column->pattern_at = (uint16_t)(end - token->length + 1);
    column->pattern_size = (uint16_t)(token->length - 2);
}

/* Returns the place among the scan's columns of a derived one; -1 once it has failed. */
static int place_derived(struct clr_binder *binder, const struct clr_node *node, bool with_codes)
{
    struct clr_printer printer = {
        .syntax = binder->syntax, .replace = print_name, .context = (void *)node};
    struct clr_query_column column = {.number = -1,
                                      .with_codes = with_codes,
                                      .calls_own = clr_node_find(node, is_own_call) != NULL};

    clr_print_inside(&printer, node);
    column.derived = clr_text_end(&printer.text);
    if (column.derived == NULL)
        return clr_syntax_no_memory(binder->syntax);
    if (!with_codes)
        find_pattern(binder, node, &column);
    return clr_place_column(binder, &column);
}

/* Whether one of some expressions calls a function of the application's. */
static bool call_own(struct clr_node *const *parts, int count)
{
    while (count > 0 && clr_node_find(parts[count - 1], is_own_call) == NULL)
        count--;
    return count > 0;
}

/* Returns the text of the derived column that is CLR_ROW_KEY of expressions; NULL: there can be
   none, or it has failed. */
static char *write_key(struct clr_binder *binder, struct clr_node *const *parts, int count)
{
    struct clr_printer printer = {.syntax = binder->syntax, .replace = print_name};
    char *key;
    int i;

    for (i = 0; i < count; i++) {
        if (!is_in_row(parts[i]) && !follows_from_row(parts[i]))
            return NULL;
    }
    for (i = 0; i < count; i++) {
        printer.context = parts[i];
        clr_print_word(&printer, i == 0 ? CLR_ROW_KEY "(" : ",");
        clr_print_inside(&printer, parts[i]);
    }
    clr_print_word(&printer, ")");
    key = clr_text_end(&printer.text);
    if (key == NULL)
        clr_syntax_no_memory(binder->syntax);
    return key;
}

bool clr_derive_keys(struct clr_binder *binder)
{
    struct clr_dimension *dimension = binder->query->dimensions;
    int i;

    for (i = 0; i < binder->query->dimension_count; i++, dimension++) {
        if (dimension->part_count > 0 && !call_own(dimension->parts, dimension->part_count))
            dimension->key = write_key(binder, dimension->parts, dimension->part_count);
    }
    return binder->syntax->code == CLR_OK;
}

/* Whether an expression was refused that may be derived, or a part of it. */
static bool may_derive(const struct clr_binder *binder, const struct clr_node *node, int value)
{
    return value < 0 && binder->derives && binder->syntax->code == CLR_INVALID &&
           !is_underivable(binder->syntax->reason->code) && node->reads != CLR_READS_NONE;
}

int clr_derive_instead(struct clr_binder *binder, const struct clr_node *node,
                       const struct clr_query_size *before, int value, bool is_ranked)
{
    int column;

    if (!may_derive(binder, node, value) || clr_content_is_signed_column(node) ||
        !follows_from_row(node))
        return value;
    clr_query_shrink(binder->query, before);
    binder->syntax->code = CLR_OK;
    column = place_derived(binder, node, is_ranked);
    return column < 0 || !is_ranked ? clr_emit(binder, CLR_OP_COLUMN, column, 0, 0)
                                    : clr_lookup_emit_ranks(binder, column);
}

int clr_derive_group(struct clr_binder *binder, struct clr_node *const *keys, int count)
{
    struct clr_query_column column = {.number = -1, .with_codes = true};

    column.calls_own = call_own(keys, count);
    column.derived = binder->derives ? write_key(binder, keys, count) : NULL;
    return column.derived == NULL
               ? -1
               : clr_lookup_emit_ranks(binder, clr_place_column(binder, &column));
}

/* Whether an expression takes of its operands nothing but their values: a function of the
   application's may give a pointer or a subtype, too. */
static bool takes_values(const struct clr_node *node)
{
    return node->kind == CLR_N_BETWEEN || node->kind == CLR_N_IN || node->kind == CLR_N_OPERATOR ||
           (node->kind == CLR_N_FOLD && clr_opcode_compares(node->opcode));
}

/* Returns the largest part of an expression that has all of its columns and can be derived, or
   NULL: one without an affinity, as what stands for it has none. */
static const struct clr_node *find_part(const struct clr_node *node)
{
    const struct clr_node *child, *part = NULL;

    for (child = node->first; child != NULL; child = child->next) {
        if (child->reads != CLR_READS_NONE && part != NULL)
            return NULL;
        part = child->reads != CLR_READS_NONE ? child : part;
    }
    if (part == NULL)
        return NULL;
    return (part->kind == CLR_N_FUNCTION || part->kind == CLR_N_OPERATOR) &&
                   (!is_own_call(part) || takes_values(node)) && follows_from_row(part)
               ? part
               : find_part(part);
}

int clr_derive_part(struct clr_binder *binder, struct clr_node *node,
                    const struct clr_query_size *before, int value, bool is_ranked)
{
    const struct clr_node *part = NULL;
    int column;

    if (may_derive(binder, node, value) && (node->has & CLR_HAS_SUBQUERY) == 0)
        part = find_part(node);
    if (part == NULL)
        return value;
    clr_query_shrink(binder->query, before);
    binder->syntax->code = CLR_OK;
    column = place_derived(binder, part, true);
    return column < 0 ? -1 : clr_lookup_emit_over(binder, node, part, column, is_ranked);
}

bool clr_derive_gives_numbers(const struct clr_node *node)
{
    if (is_own_call(node))
        return false;
    switch (node->kind) {
    case CLR_N_MINUS:
    case CLR_N_UNARY:
    case CLR_N_BETWEEN:
    case CLR_N_IN:
        return true;
    case CLR_N_FOLD:
        return node->opcode != CLR_OP_COALESCE && node->opcode != CLR_OP_LEAST &&
               node->opcode != CLR_OP_GREATEST;
    case CLR_N_CAST:
        return node->cast != CLR_CAST_TO_TEXT && node->cast != CLR_CAST_TO_BLOB;
    case CLR_N_FUNCTION:
        return CLR_TEXT_IN(node->names[0].name, "glob", "instr", "json_array_length", "json_valid",
                           "length", "like", "octet_length", "unicode");
    default:
        return false;
    }
}
