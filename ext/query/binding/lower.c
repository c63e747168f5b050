#include "query/binding/lower.h"

#include "base/memory.h"
#include "query/binding/times.h"
#include "query/syntax/grammar.h"
#include "query/syntax/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int lower(struct clr_binder *binder, struct clr_node *node);

static int refuse(struct clr_binder *binder, enum clr_reason_code why)
{
    return clr_refuse(binder->syntax, why);
}

/* ---- What is added to a query: instructions, and the constants and columns that they refer to. */

int clr_emit(struct clr_binder *binder, enum clr_opcode opcode, int a, int b, int c)
{
    struct clr_query *query = binder->query;
    struct clr_instruction *instruction = query->instructions;
    int i;

    if (binder->syntax->code != CLR_OK)
        return -1;
    for (i = 0; i < query->instruction_count; i++, instruction++)
        if (instruction->opcode == opcode && instruction->a == a && instruction->b == b &&
            instruction->c == c)
            return i;
    if (i == CLR_MOST_INSTRUCTIONS)
        return clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "operations");
    *instruction = (struct clr_instruction){.opcode = opcode, .a = a, .b = b, .c = c};
    return query->instruction_count++;
}

/* A literal's value, or NULL and the number of a parameter or an operand, of which a bound is made
   unless that is NULL. */
static int emit_constant(struct clr_binder *binder, struct clr_scalar value, int parameter,
                         const struct clr_bound *bound)
{
    static const struct clr_bound none = {.kind = CLR_BOUND_NONE};
    struct clr_query *query = binder->query;
    int i;

    if (bound == NULL)
        bound = &none;
    for (i = 0; i < query->constant_count; i++)
        if (query->parameters[i] == parameter && query->constants[i].tag == value.tag &&
            query->constants[i].bits == value.bits && query->bounds[i].kind == bound->kind &&
            query->bounds[i].format == bound->format &&
            query->bounds[i].is_text == bound->is_text &&
            query->bounds[i].is_numeric == bound->is_numeric)
            break;
    if (i == CLR_MOST_CONSTANTS)
        return clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "literals and parameters");
    if (i == query->constant_count) {
        query->constants[i] = value;
        query->parameters[i] = parameter;
        query->bounds[i] = *bound;
        query->constant_count++;
    }
    return clr_emit(binder, CLR_OP_CONSTANT, i, 0, 0);
}

struct clr_query_size clr_query_size_of(const struct clr_query *query)
{
    return (struct clr_query_size){query->instruction_count, query->constant_count,
                                   query->column_count, query->lookup_count};
}

void clr_query_shrink(struct clr_query *query, const struct clr_query_size *size)
{
    while (query->lookup_count > size->lookups)
        clr_memory_free(query->lookups[--query->lookup_count].text);
    while (query->column_count > size->columns) {
        clr_memory_free(query->derived[--query->column_count]);
        query->derived[query->column_count] = NULL;
    }
    query->instruction_count = size->instructions;
    query->constant_count = size->constants;
}

/* Adds a column of the scan. Returns its place, or -1 once it has failed. */
static int add_column(struct clr_binder *binder, int number, bool with_codes,
                      enum clr_time_unit unit, clr_time_format times)
{
    struct clr_query *query = binder->query;
    const int i = query->column_count;

    if (i == CLR_MOST_COLUMNS)
        return clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "columns");
    query->columns[i] = number;
    query->with_codes[i] = with_codes;
    query->with_bytes[i] = false;
    query->units[i] = unit;
    query->times[i] = times;
    return query->column_count++;
}

/* Returns the place among the scan's columns of a column of the table, by the environment's
   number, with codes of a unit, times or values; -1 once it has failed. */
static int place_column(struct clr_binder *binder, int number, bool with_codes,
                        enum clr_time_unit unit, clr_time_format times)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->column_count; i++)
        if (query->columns[i] == number && query->with_codes[i] == with_codes &&
            query->units[i] == unit && query->times[i] == times)
            return i;
    return add_column(binder, number, with_codes, unit, times);
}

int clr_emit_column(struct clr_binder *binder, int number, bool with_bytes)
{
    const int place = place_column(binder, number, false, CLR_TIME_NONE, 0);

    if (place >= 0 && with_bytes)
        binder->query->with_bytes[place] = true;
    return clr_emit(binder, CLR_OP_COLUMN, place, 0, 0);
}

/* The times of a column, which clr_times_has_counts(). */
static int emit_times(struct clr_binder *binder, const struct clr_node *column)
{
    const int place =
        place_column(binder, column->reads, false, CLR_TIME_NONE, column->column.times);

    return clr_emit(binder, CLR_OP_COLUMN, place, 0, 0);
}

int clr_emit_any(struct clr_binder *binder, const struct clr_node *column)
{
    return clr_times_has_counts(column) ? emit_times(binder, column)
                                        : clr_emit_column(binder, column->reads, false);
}

static int emit_null(struct clr_binder *binder, int parameter)
{
    return emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_NULL}, parameter, NULL);
}

/* Returns the number of an expression without columns as an operand, or as the parameter that it
   is; -1 once it has failed. */
static int place_operand(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_printer printer = {.syntax = binder->syntax};
    struct clr_query *query = binder->query;
    char *text;
    int i;

    if (node->kind == CLR_N_PARAMETER || node->number > 0)
        return node->number;
    clr_print_inside(&printer, node);
    text = clr_text_end(&printer.text);
    if (text == NULL)
        return clr_syntax_no_memory(binder->syntax);
    for (i = 0; i < query->operand_count && strcmp(query->operands[i], text) != 0; i++)
        ;
    if (i == CLR_MOST_OPERANDS || i < query->operand_count)
        clr_memory_free(text);
    else
        query->operands[query->operand_count++] = text;
    if (i == CLR_MOST_OPERANDS)
        return clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "expressions without columns");
    node->number = query->parameter_count + 1 + i;
    return node->number;
}

/* Whether a literal that is NULL or a number has a value; returns false once it has failed. */
static bool check_literal(struct clr_binder *binder, const struct clr_node *node)
{
    return node->is_known || node->names[0].kind == CLR_T_NULL ||
           clr_refuse_token(binder->syntax, CLR_WHY_NUMBER, &node->names[0]) >= 0;
}

/* ---- What a lookup may hold: expressions that mean the same wherever SQLite evaluates them. */

static bool refuse_lookup(struct clr_binder *binder, enum clr_reason_code why)
{
    refuse(binder, why);
    return false;
}

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
static bool may_make_zero(const struct clr_node *node)
{
    static const char *const plain[] = {"lower",  "ltrim",     "replace", "rtrim",
                                        "substr", "substring", "trim",    "upper"};
    const char *name = node->names[0].name;
    const struct clr_node *child;
    bool may = (node->kind == CLR_N_FUNCTION && !clr_times_is_function(name)) ||
               (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_BLOB) ||
               (node->kind == CLR_N_OPERATOR && node->names[0].kind != CLR_T_CONCAT);
    size_t i;

    for (i = 0; i < sizeof plain / sizeof plain[0] && node->kind == CLR_N_FUNCTION; i++)
        may = may && strcmp(name, plain[i]) != 0;
    for (child = node->first; child != NULL && !may; child = child->next)
        may = may_make_zero(child);
    return may;
}

static bool check_time_literal(struct clr_binder *binder, const struct clr_token *token,
                               bool is_value)
{
    if (token->kind == CLR_T_BLOB)
        return refuse_lookup(binder, CLR_WHY_TIME_COMPUTED);
    if (token->kind == CLR_T_STRING &&
        (is_word(token, "NOW") || is_word(token, "LOCALTIME") || is_word(token, "UTC") ||
         (is_value && (is_word(token, "SUBSEC") || is_word(token, "SUBSECOND")))))
        return refuse_lookup(binder, CLR_WHY_PRESENT_TIME);
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
    const char *name = node->names[0].name;

    switch (node->kind) {
    case CLR_N_LITERAL:
        return check_time_literal(binder, &node->names[0], is_value);
    case CLR_N_FUNCTION:
        return (clr_times_is_function(name) && strcmp(name, "strftime") != 0) ||
               refuse_lookup(binder, CLR_WHY_TIME_COMPUTED);
    case CLR_N_OPERATOR:
        return node->names[0].kind != CLR_T_CONCAT ||
               (has_more_than_letters(node) && !may_make_zero(node)) ||
               refuse_lookup(binder, CLR_WHY_TIME_COMPUTED);
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
static bool check_times(struct clr_binder *binder, const struct clr_node *node)
{
    const char *name = node->names[0].name;
    const struct clr_node *argument = node->first;
    const bool is_difference = strcmp(name, "timediff") == 0;
    bool is_value = true;

    if (argument != NULL && strcmp(name, "strftime") == 0)
        argument = argument->next;
    /* Without a time it is the present one. */
    if (argument == NULL)
        return refuse_lookup(binder, CLR_WHY_PRESENT_TIME);
    for (; argument != NULL; argument = argument->next) {
        if (!check_time(binder, argument, is_value))
            return false;
        is_value = is_difference;
    }
    return true;
}

/* Whether a lookup has the expression as an operand: it is momentary and has no affinity. */
static bool is_operand(const struct clr_node *node)
{
    return node->is_momentary && node->kind != CLR_N_CAST && node->kind != CLR_N_PLUS &&
           node->kind != CLR_N_HINT;
}

/*
 * Refuses an expression whose value may be another one where SQLite evaluates it for an entry of a
 * dictionary. Sets *timed, which is the caller's to begin, if it has functions of times. Returns
 * false once it has failed.
 */
static bool check_held(struct clr_binder *binder, const struct clr_node *node, bool *timed)
{
    const struct clr_node *child;

    if (is_operand(node))
        return true;
    for (child = node->first; child != NULL; child = child->next) {
        if (!check_held(binder, child, timed))
            return false;
    }
    switch (node->kind) {
    case CLR_N_IN:
        /* SQLite's parser makes FALSE of it, which IS around the lookup takes for a test. */
        return node->first->next != NULL || refuse_lookup(binder, CLR_WHY_EMPTY_IN);
    case CLR_N_FUNCTION:
        *timed = *timed || clr_times_is_function(node->names[0].name);
        return !clr_times_is_function(node->names[0].name) || check_times(binder, node);
    default:
        return true;
    }
}

/* Refuses a column by its name. */
static int refuse_column(struct clr_binder *binder, enum clr_reason_code why,
                         const struct clr_node *node)
{
    return clr_refuse_name(binder->syntax, why, node->names[node->name_count - 1].name);
}

/* ---- Lookups: expressions over one column that SQLite evaluates for each of its entries. */

/* In a lookup's text a column is that of the entries, and an operand is as a parameter. */
static bool print_entry(struct clr_printer *printer, const struct clr_node *node)
{
    char word[16];

    if (node->kind == CLR_N_COLUMN) {
        clr_print_word(printer, "\"" CLR_LOOKUP_COLUMN "\"");
    } else if (is_operand(node)) {
        snprintf(word, sizeof word, "?%d", node->number);
        clr_print_word(printer, word);
    }
    return node->kind == CLR_N_COLUMN || is_operand(node);
}

/* Places the operands of a lookup. Returns false once it has failed. */
static bool place_operands(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *child;

    if (is_operand(node))
        return place_operand(binder, node) >= 0;
    for (child = node->first; child != NULL; child = child->next) {
        if (!place_operands(binder, child))
            return false;
    }
    return true;
}

/* Returns the text of the lookup of an expression, or of its comparison with `equal`: parentheses
   change neither the affinity nor the collating sequence of what is in them. NULL without memory.
 */
static char *write_lookup(const struct clr_syntax *syntax, const struct clr_node *node,
                          const struct clr_node *equal)
{
    struct clr_printer printer = {.syntax = syntax, .replace = print_entry};

    if (equal == NULL) {
        clr_print_inside(&printer, node);
    } else {
        clr_print_word(&printer, "(");
        clr_print_inside(&printer, node);
        clr_print_word(&printer, ") = (");
        clr_print_inside(&printer, equal);
        clr_print_word(&printer, ")");
    }
    return clr_text_end(&printer.text);
}

/* Returns the number of the lookup of a column with codes, which takes the text; -1 once it has
   failed, without it. */
static int place_lookup(struct clr_binder *binder, const struct clr_lookup_plan *plan)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->lookup_count; i++) {
        const struct clr_lookup_plan *known = &query->lookups[i];

        if (known->column == plan->column && known->is_ranked == plan->is_ranked &&
            strcmp(known->text, plan->text) == 0)
            break;
    }
    if (i == query->lookup_count && i < CLR_MOST_LOOKUPS) {
        query->lookups[i] = *plan;
        return query->lookup_count++;
    }
    clr_memory_free(plan->text);
    return i < CLR_MOST_LOOKUPS ? i
                                : clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY,
                                                  "expressions with text or functions");
}

static bool is_column(const struct clr_node *node)
{
    return node->kind == CLR_N_COLUMN;
}

/* Refuses lookups over a column with too many different values, the one that the expression reads.
   Returns false once it has failed. */
static bool check_varied(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_node *column = clr_node_find(node, is_column);

    return !column->column.is_varied || refuse_column(binder, CLR_WHY_MANY_VALUES, column) >= 0;
}

/*
 * Returns the instruction that looks up the result of an expression, or of a comparison of it with
 * `equal` unless that is NULL, which read one column together; -1 once it has failed. A lookup that
 * is there already is used again. is_ranked: see clr_lower_ranks().
 */
static int emit_lookup(struct clr_binder *binder, struct clr_node *node, struct clr_node *equal,
                       bool is_ranked)
{
    const int number =
        equal != NULL ? clr_content_together(node->reads, equal->reads) : node->reads;
    const enum clr_time_unit unit = equal == NULL ? clr_times_unit(node) : CLR_TIME_NONE;
    struct clr_lookup_plan plan = {.is_ranked = is_ranked};

    if ((unit == CLR_TIME_NONE && !check_varied(binder, node->reads >= 0 ? node : equal)) ||
        !check_held(binder, node, &plan.is_timed) || !place_operands(binder, node) ||
        (equal != NULL &&
         (!check_held(binder, equal, &plan.is_timed) || !place_operands(binder, equal))))
        return -1;
    plan.column = place_column(binder, number, true, unit, 0);
    if (plan.column < 0)
        return -1;
    plan.text = write_lookup(binder->syntax, node, equal);
    if (plan.text == NULL)
        return clr_syntax_no_memory(binder->syntax);
    return clr_emit(binder, CLR_OP_LOOKUP, plan.column, place_lookup(binder, &plan), 0);
}

/* ---- Derived columns: expressions of a row that SQLite evaluates once, row by row. */

/* Whether an expression is a column, plus signs aside. */
static bool is_signed_column(const struct clr_node *node)
{
    while (node->kind == CLR_N_PLUS)
        node = node->first;
    return node->kind == CLR_N_COLUMN;
}

/* Whether SQLite may search an index for what an expression compares a column with, and so find
   other rows than those for which it is true: see lower_compared(). It finds TEXT as it compares
   it, and so it does numbers that are no REALs past all INTEGERs. */
static bool may_search(const struct clr_node *node)
{
    const struct clr_node *child;
    bool has_column = false, has_others = false;

    if (node->kind != CLR_N_BETWEEN && node->kind != CLR_N_IN &&
        (node->kind != CLR_N_FOLD || !clr_opcode_compares(node->opcode)))
        return false;
    for (child = node->first; child != NULL; child = child->next) {
        has_column = has_column || (is_signed_column(child) && !clr_content_is_text(child));
        has_others =
            has_others || (child->reads == CLR_READS_NONE &&
                           !(child->is_known && !clr_scalar_is_past_integers(&child->value)));
    }
    return has_column && has_others;
}

/* Whether an expression follows from the row alone, whichever connection has it evaluated. What a
   function of times makes of a value may follow from the present time. */
static bool follows_from_row(const struct clr_node *node)
{
    const struct clr_node *child;

    switch (node->kind) {
    case CLR_N_COLUMN:
        if (!node->column.is_stored || !node->column.is_binary || node->column.is_rowid ||
            node->item != NULL)
            return false;
        break;
    case CLR_N_FUNCTION:
        if (!node->is_builtin || !node->is_deterministic ||
            clr_times_is_function(node->names[0].name))
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
           why != CLR_WHY_NUMBER && why != CLR_WHY_NO_COLUMN_IN_IT;
}

/* In the text of a derived column the table's columns have their own names, without the table's. */
static bool print_name(struct clr_printer *printer, const struct clr_node *node)
{
    const char *name = node->column.name;

    if (node->kind != CLR_N_COLUMN)
        return false;
    clr_print_word(printer, "\"");
    for (; *name != '\0'; name++)
        clr_text_add(&printer->text, *name == '"' ? "\"%c" : "%c", *name);
    clr_text_add(&printer->text, "\"");
    return true;
}

/* Returns the place among the scan's columns of a derived one; -1 once it has failed. */
static int place_derived(struct clr_binder *binder, const struct clr_node *node, bool with_codes)
{
    struct clr_printer printer = {.syntax = binder->syntax, .replace = print_name};
    struct clr_query *query = binder->query;
    char *text;
    int i;

    clr_print_inside(&printer, node);
    text = clr_text_end(&printer.text);
    if (text == NULL)
        return clr_syntax_no_memory(binder->syntax);
    for (i = 0; i < query->column_count; i++) {
        if (query->derived[i] != NULL && query->with_codes[i] == with_codes &&
            strcmp(query->derived[i], text) == 0)
            break;
    }
    if (i == query->column_count)
        i = add_column(binder, -1, with_codes, CLR_TIME_NONE, 0);
    if (i < 0 || query->derived[i] != NULL)
        clr_memory_free(text);
    else
        query->derived[i] = text;
    return i;
}

/*
 * Has an expression be a derived column if it could not be lowered otherwise, with its ranks or as
 * values; before: the query's size until then; value: what came of it. Returns the instruction, or
 * -1 with what it was refused for.
 */
static int derive_instead(struct clr_binder *binder, const struct clr_node *node,
                          const struct clr_query_size *before, int value, bool is_ranked)
{
    struct clr_lookup_plan plan = {.is_ranked = is_ranked};
    struct clr_text entry = {.text = NULL};

    if (value >= 0 || !binder->derives || binder->syntax->code != CLR_INVALID ||
        is_underivable(binder->syntax->reason->code) || node->reads == CLR_READS_NONE ||
        is_signed_column(node) || !follows_from_row(node))
        return value;
    clr_query_shrink(binder->query, before);
    binder->syntax->code = CLR_OK;
    plan.column = place_derived(binder, node, is_ranked);
    if (plan.column < 0 || !is_ranked)
        return clr_emit(binder, CLR_OP_COLUMN, plan.column, 0, 0);
    clr_text_add(&entry, "\"" CLR_LOOKUP_COLUMN "\"");
    plan.text = clr_text_end(&entry);
    if (plan.text == NULL)
        return clr_syntax_no_memory(binder->syntax);
    return clr_emit(binder, CLR_OP_LOOKUP, plan.column, place_lookup(binder, &plan), 0);
}

int clr_lower_ranks(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_query_size before = clr_query_size_of(binder->query);
    int value;

    if (binder->syntax->code != CLR_OK)
        return -1;
    if (clr_times_has_counts(node))
        return emit_times(binder, node);
    value = node->reads == CLR_READS_SEVERAL ? refuse(binder, CLR_WHY_TWO_COLUMNS)
                                             : emit_lookup(binder, node, NULL, true);
    return derive_instead(binder, node, &before, value, true);
}

/* ---- How large the numbers can be that expressions without columns have. */

/* Up to here every INTEGER is a REAL. */
#define CLR_EXACT_INTEGERS 0x1p53

/* What a parameter is in an operand that is computed, which is no more than
   CLR_MOST_OF_A_PARAMETER. */
#define PARAMETER (0x1p52 - 1)

/* Of results that are INTEGERs the truth values. */
static bool is_truth(const struct clr_node *node)
{
    return node->kind == CLR_N_BETWEEN || node->kind == CLR_N_IN ||
           ((node->kind == CLR_N_FOLD || node->kind == CLR_N_UNARY) &&
            node->opcode >= CLR_OP_EQUAL && node->opcode <= CLR_OP_NOT);
}

/* The magnitude of an INTEGER, or if a REAL can't have its value twice that. */
static double magnitude_of(int64_t integer)
{
    double magnitude = fabs((double)integer);

    return magnitude == CLR_EXACT_INTEGERS && integer % 2 != 0 ? 2 * CLR_EXACT_INTEGERS : magnitude;
}

/* The most that the quotient of two operands can be: of a literal divisor that is known. */
static double divide(double first, const struct clr_node *divisor, double last)
{
    return divisor->kind == CLR_N_LITERAL && last > 0 ? fmax(first, first / last) : INFINITY;
}

static bool is_parameter(const struct clr_node *node)
{
    return node->kind == CLR_N_PARAMETER;
}

/* Whether the operator makes INTEGERs of REALs. */
static bool makes_integers(const struct clr_node *node)
{
    return (node->kind == CLR_N_CAST && node->cast == CLR_CAST_TO_INTEGER) ||
           ((node->kind == CLR_N_FOLD || node->kind == CLR_N_UNARY) &&
            node->opcode >= CLR_OP_BIT_AND && node->opcode <= CLR_OP_SHIFT_RIGHT);
}

/* The most of what such an operator makes; any REAL may be given for a parameter. */
static double find_integers_magnitude(const struct clr_node *node, double first, double last)
{
    if (clr_node_find(node, is_parameter) != NULL)
        return INFINITY;
    switch (node->kind == CLR_N_CAST ? CLR_OPCODES : node->opcode) {
    case CLR_OP_BIT_AND: /* of two negative numbers it may be more than either */
    case CLR_OP_BIT_OR:
        return first + last;
    case CLR_OP_BIT_NOT:
        return first + 1.0;
    case CLR_OP_SHIFT_LEFT:
    case CLR_OP_SHIFT_RIGHT:
        return ldexp(first, (int)fmin(last, 64.0));
    default:
        return first;
    }
}

/* Stores the most that a number of an operand without columns, or a part of it, can be, in
   magnitude: of parameters as much as CLR_MOST_OF_A_PARAMETER. Returns false once it has failed. */
static bool magnitude_find(struct clr_binder *binder, struct clr_node *node, double *most)
{
    struct clr_node *child;
    double first = 0.0, last = 0.0;

    *most = 0.0;
    if (node->kind == CLR_N_LITERAL) {
        if (node->names[0].kind != CLR_T_NUMBER)
            return true;
        if (!check_literal(binder, node))
            return false;
        *most = node->value.tag == CLR_TAG_INTEGER ? magnitude_of(node->value.bits)
                                                   : fabs(clr_real_of(node->value.bits));
        return true;
    }
    if (node->kind == CLR_N_PARAMETER || is_truth(node)) {
        *most = node->kind == CLR_N_PARAMETER ? PARAMETER : 1.0;
        return true;
    }
    for (child = node->first; child != NULL; child = child->next) {
        if (!magnitude_find(binder, child, &last))
            return false;
        if (node->opcode == CLR_OP_DIVIDE && node->kind == CLR_N_FOLD && child != node->first)
            last = divide(first, child, last);
        if (child == node->first)
            first = last;
        *most = fmax(*most, last);
    }
    if (node->kind == CLR_N_FOLD || makes_integers(node)) {
        if (makes_integers(node))
            *most = find_integers_magnitude(node, first, last);
        else if (node->opcode == CLR_OP_ADD || node->opcode == CLR_OP_SUBTRACT)
            *most = first + last;
        else if (node->opcode == CLR_OP_MULTIPLY)
            *most = first * last;
        /* What is computed here may have been rounded down. */
        if (*most == CLR_EXACT_INTEGERS)
            *most *= 2;
    }
    return true;
}

/* ---- Comparisons. */

/* Takes note of the parameters of an operand that is computed, once it is lowered. */
static void bound_parameters(struct clr_query *query, const struct clr_node *node)
{
    const struct clr_node *child;
    int i;

    for (i = 0; i < query->constant_count && node->kind == CLR_N_PARAMETER; i++) {
        if (query->parameters[i] == node->number)
            query->is_bounded[i] = true;
    }
    for (child = node->first; child != NULL; child = child->next)
        bound_parameters(query, child);
}

/* An operand that is computed and has no columns: it is refused if it may be 2^63 or -2^63
   as a REAL. */
static int lower_computed(struct clr_binder *binder, struct clr_node *node)
{
    double most;
    int value;

    if (node->is_momentary)
        return emit_null(binder, place_operand(binder, node));
    if (!node->is_foreign && !magnitude_find(binder, node, &most))
        return -1;
    if (!node->is_foreign && !(most <= CLR_EXACT_INTEGERS))
        return refuse(binder, CLR_WHY_PAST_INTEGERS);
    value = lower(binder, node);
    bound_parameters(binder->query, node);
    return value;
}

/*
 * An operand of a comparison. If something in the comparison is foreign, it reads several columns,
 * for it would be a lookup else. Where one operand has TEXT affinity, SQLite would make TEXT of the
 * other one's numbers: that is refused. Any other affinity changes TEXT and BLOBs alone, which are
 * BYTES and so make the result UNSURE, and with them the collating sequence.
 *
 * Numbers compare exactly, and so do those in indexes: with one exception. Many versions of SQLite
 * do not find the rowid -2^63 by that number as a REAL, and take 2^63 for the greatest rowid.
 */
static int lower_compared(struct clr_binder *binder, struct clr_node *node)
{
    if ((node->is_foreign || node->is_momentary) &&
        (clr_content_is_text(node) || is_signed_column(node)))
        return refuse(binder, CLR_WHY_TWO_COLUMNS);
    if (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_NUMBER) {
        if (!check_literal(binder, node))
            return -1;
        if (clr_scalar_is_past_integers(&node->value))
            return refuse(binder, CLR_WHY_PAST_INTEGERS);
    } else if (node->kind != CLR_N_LITERAL && node->kind != CLR_N_PARAMETER &&
               !(node->has & CLR_HAS_COLUMN)) {
        return lower_computed(binder, node);
    }
    return lower(binder, node);
}

static int lower_fold(struct clr_binder *binder, struct clr_node *node)
{
    int (*lower_operand)(struct clr_binder *, struct clr_node *) =
        clr_opcode_compares(node->opcode) ? lower_compared : lower;
    struct clr_node *child = node->first;
    int value = lower_operand(binder, child);

    while (value >= 0 && (child = child->next) != NULL)
        value = clr_emit(binder, node->opcode, value, lower_operand(binder, child), 0);
    return value;
}

static int lower_between(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *low = node->first->next;
    const int x = lower_compared(binder, node->first);
    const int a = clr_emit(binder, CLR_OP_GREATER_EQUAL, x, lower_compared(binder, low), 0);
    const int b = clr_emit(binder, CLR_OP_LESS_EQUAL, x, lower_compared(binder, low->next), 0);

    return clr_emit(binder, CLR_OP_AND, a, b, 0);
}

/* Nothing is in an empty list, not even NULL is unknown to be. */
static int lower_in(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *child = node->first->next;
    const int x = lower_compared(binder, node->first);
    int value = -1, equal;

    /* SQLite's parser makes FALSE of it, which IS then takes for a test of truth. */
    if (child == NULL)
        return refuse(binder, CLR_WHY_EMPTY_IN);
    for (; child != NULL; child = child->next) {
        equal = clr_emit(binder, CLR_OP_EQUAL, x, lower_compared(binder, child), 0);
        value = value < 0 ? equal : clr_emit(binder, CLR_OP_OR, value, equal, 0);
    }
    return value;
}

/*
 * Whether a CASE is at a choice. The two are compared as by "=", and may be a lookup together
 * though the CASE reads more. With COLLATE SQLite alone knows which sequence is that of a base that
 * was computed before. *value is that of the base, and found once: -1 until then.
 */
static int lower_choice(struct clr_binder *binder, struct clr_node *base, int *value,
                        struct clr_node *choice)
{
    const int reads = clr_content_together(base->reads, choice->reads);

    if ((base->is_foreign || choice->is_foreign) && reads >= 0 &&
        ((base->has | choice->has) & CLR_HAS_COLLATE) == 0)
        return emit_lookup(binder, base, choice, false);
    if (*value < 0)
        *value = lower_compared(binder, base);
    return clr_emit(binder, CLR_OP_EQUAL, *value, lower_compared(binder, choice), 0);
}

/* The value of a CASE whose pairs begin at child; base may be NULL, and parts has room for two
   numbers a pair. */
static int lower_pairs(struct clr_binder *binder, struct clr_node *base, struct clr_node *child,
                       bool has_else, int *parts)
{
    int compared = -1, value, count = 0;

    for (; child != NULL && child->next != NULL; child = child->next->next) {
        parts[count++] =
            base == NULL ? lower(binder, child) : lower_choice(binder, base, &compared, child);
        parts[count++] = lower(binder, child->next);
        if (binder->syntax->code != CLR_OK)
            return -1;
    }
    value = has_else ? lower(binder, child) : emit_null(binder, 0);
    /* From the last choice to the first: each needs the next. */
    for (; count > 0; count -= 2)
        value = clr_emit(binder, CLR_OP_IF, parts[count - 2], parts[count - 1], value);
    return value;
}

static int lower_case(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *base = node->has_base ? node->first : NULL;
    struct clr_node *const first = base != NULL ? base->next : node->first, *child;
    size_t children = 0;
    int value, *parts;

    for (child = first; child != NULL; child = child->next)
        children++;
    parts = clr_memory_alloc(children * sizeof *parts);
    if (parts == NULL)
        return clr_syntax_no_memory(binder->syntax);
    value = lower_pairs(binder, base, first, node->has_else, parts);
    clr_memory_free(parts);
    return value;
}

/* No index is searched for what nullif() compares, and no affinity is applied. */
static int lower_nullif(struct clr_binder *binder, struct clr_node *node)
{
    const int value = lower(binder, node->first);
    const int other = lower(binder, node->first->next);
    const int equal = clr_emit(binder, CLR_OP_EQUAL, value, other, 0);

    return clr_emit(binder, CLR_OP_IF, equal, emit_null(binder, 0), value);
}

/* A cast of numbers. One to NUMERIC leaves them as they are, as the least of a number and itself
   is, but not what is BYTES. */
static int lower_cast(struct clr_binder *binder, struct clr_node *node)
{
    int value;

    if (node->cast == CLR_CAST_TO_TEXT || node->cast == CLR_CAST_TO_BLOB)
        return refuse(binder, CLR_WHY_TWO_COLUMNS);
    value = lower(binder, node->first);
    if (node->cast == CLR_CAST_TO_NUMERIC)
        return clr_emit(binder, CLR_OP_LEAST, value, value, 0);
    return clr_emit(binder, node->cast == CLR_CAST_TO_REAL ? CLR_OP_TO_REAL : CLR_OP_TO_INTEGER,
                    value, 0, 0);
}

/* ---- Comparisons of timestamps. */

/* The bound that a value is for a column. */
static int emit_bound(struct clr_binder *binder, const struct clr_node *column,
                      struct clr_node *value, enum clr_bound_kind kind)
{
    const struct clr_bound bound = {kind, column->column.times, column->column.is_text,
                                    column->column.is_numeric};

    return emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_NULL},
                         place_operand(binder, value), &bound);
}

/* A comparison of a column of times with a value. */
static int emit_compared(struct clr_binder *binder, const struct clr_node *column,
                         enum clr_opcode opcode, struct clr_node *value)
{
    const bool is_below = opcode == CLR_OP_LESS || opcode == CLR_OP_GREATER_EQUAL;
    const bool is_upto = opcode == CLR_OP_LESS_EQUAL || opcode == CLR_OP_GREATER;
    const int bound = emit_bound(binder, column, value,
                                 is_below  ? CLR_BOUND_BELOW
                                 : is_upto ? CLR_BOUND_UPTO
                                           : CLR_BOUND_EQUAL);

    return clr_emit(binder, opcode, emit_times(binder, column), bound, 0);
}

static int lower_times(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *first = node->first, *other = first->next;
    int value, equal;

    if (node->kind == CLR_N_FOLD)
        return clr_times_has_counts(first)
                   ? emit_compared(binder, first, node->opcode, other)
                   : emit_compared(binder, other, clr_opcode_turn(node->opcode), first);
    if (node->kind == CLR_N_BETWEEN) {
        value = emit_compared(binder, first, CLR_OP_GREATER_EQUAL, other);
        return clr_emit(binder, CLR_OP_AND, value,
                        emit_compared(binder, first, CLR_OP_LESS_EQUAL, other->next), 0);
    }
    value = emit_compared(binder, first, CLR_OP_EQUAL, other);
    while ((other = other->next) != NULL) {
        equal = emit_compared(binder, first, CLR_OP_EQUAL, other);
        value = clr_emit(binder, CLR_OP_OR, value, equal, 0);
    }
    return value;
}

/* ---- Numbers of timestamps. */

/* Seconds from 0000-01-01 to 1970-01-01, and milliseconds to there from the first Julian day. */
#define UNIX_SECONDS INT64_C(62167219200)
#define JULIAN_MILLISECONDS INT64_C(148699540800000)
#define DAY_MILLISECONDS 86400000.0

static int emit_integer(struct clr_binder *binder, int64_t integer)
{
    return emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = integer}, 0,
                         NULL);
}

/* A function of a column's timestamp as SQLite computes it of milliseconds; NULL of empty TEXT. */
static int lower_time_number(struct clr_binder *binder, const struct clr_node *node,
                             enum clr_time_number number)
{
    const struct clr_node *column =
        number == CLR_TIME_SECONDS_TEXT ? node->first->next : node->first;
    const int64_t step = CLR_DAY_SECONDS / clr_timestamp_steps(column->column.times);
    const bool is_julian = number == CLR_TIME_JULIAN;
    const int count = emit_times(binder, column);
    const int is_there = clr_emit(binder, CLR_OP_GREATER_EQUAL, count, emit_integer(binder, 0), 0);
    int value = clr_emit(binder, CLR_OP_MULTIPLY, count,
                         emit_integer(binder, is_julian ? step * 1000 : step), 0);

    value = clr_emit(binder, CLR_OP_ADD, value,
                     emit_integer(binder, is_julian ? JULIAN_MILLISECONDS : -UNIX_SECONDS), 0);
    if (is_julian)
        value = clr_emit(binder, CLR_OP_DIVIDE, value,
                         emit_constant(binder,
                                       (struct clr_scalar){.tag = CLR_TAG_REAL,
                                                           .bits = clr_bits_of(DAY_MILLISECONDS)},
                                       0, NULL),
                         0);
    return clr_emit(binder, CLR_OP_IF, is_there, value, emit_null(binder, 0));
}

/* Whether an expression is one of comparisons of timestamps, and maybe others: then it is no lookup
   as a whole. */
static bool joins_times(const struct clr_node *node)
{
    const bool joins =
        node->kind == CLR_N_CASE || node->kind == CLR_N_HINT ||
        (node->kind == CLR_N_FOLD && (node->opcode == CLR_OP_AND || node->opcode == CLR_OP_OR)) ||
        (node->kind == CLR_N_UNARY && node->opcode == CLR_OP_NOT);

    return joins && clr_node_find(node, clr_times_compare) != NULL;
}

/* Whether an expression over one column is no lookup as a whole, as parts of it may be derived. */
static bool is_divided(const struct clr_binder *binder, const struct clr_node *node)
{
    return binder->derives && clr_node_find(node, is_column)->column.is_varied &&
           clr_times_unit(node) == CLR_TIME_NONE;
}

static int lower_as_is(struct clr_binder *binder, struct clr_node *node)
{
    int zero;

    if (node->is_momentary)
        return emit_null(binder, place_operand(binder, node));
    if (clr_times_compare(node))
        return lower_times(binder, node);
    if (!node->is_foreign && clr_times_number(node) != CLR_TIME_NO_NUMBER)
        return lower_time_number(binder, node, clr_times_number(node));
    /* The largest expression over one column that has something foreign. A column by itself is
       none: as TEXT it would be of use to no one. */
    if (node->is_foreign && !is_signed_column(node) && !joins_times(node)) {
        if (node->reads >= 0 && !is_divided(binder, node))
            return emit_lookup(binder, node, NULL, false);
        if (node->reads == CLR_READS_NONE)
            return refuse(binder, CLR_WHY_NO_COLUMN_IN_IT);
    }
    switch (node->kind) {
    case CLR_N_COLUMN:
        return node->column.is_text ? refuse_column(binder, CLR_WHY_TEXT_COLUMN, node)
                                    : clr_emit_column(binder, node->reads, false);
    case CLR_N_LITERAL:
        if (node->names[0].kind == CLR_T_TRUE || node->names[0].kind == CLR_T_FALSE)
            return refuse(binder, node->names[0].kind == CLR_T_TRUE ? CLR_WHY_TRUE : CLR_WHY_FALSE);
        return check_literal(binder, node) ? emit_constant(binder, node->value, 0, NULL) : -1;
    case CLR_N_PARAMETER:
        return emit_null(binder, node->number);
    case CLR_N_PLUS:
        return lower(binder, node->first);
    case CLR_N_MINUS:
        zero = emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_INTEGER}, 0, NULL);
        return clr_emit(binder, CLR_OP_SUBTRACT, zero, lower(binder, node->first), 0);
    case CLR_N_UNARY:
        /* Any column will do where no more is asked than whether a value is NULL. */
        return clr_emit(binder, node->opcode,
                        (node->opcode == CLR_OP_IS_NULL || node->opcode == CLR_OP_NOT_NULL) &&
                                node->first->kind == CLR_N_COLUMN
                            ? clr_emit_any(binder, node->first)
                            : lower(binder, node->first),
                        0, 0);
    case CLR_N_FOLD:
        return lower_fold(binder, node);
    case CLR_N_BETWEEN:
        return lower_between(binder, node);
    case CLR_N_IN:
        return lower_in(binder, node);
    case CLR_N_CASE:
        return lower_case(binder, node);
    case CLR_N_NULLIF:
        return lower_nullif(binder, node);
    case CLR_N_HINT:
        return lower(binder, node->first);
    case CLR_N_CAST:
        return lower_cast(binder, node);
    case CLR_N_FUNCTION:
    case CLR_N_OPERATOR:
    case CLR_N_COLLATE:
        return refuse(binder, CLR_WHY_TWO_COLUMNS);
    case CLR_N_AGGREGATE:
    case CLR_N_SUBQUERY:
    case CLR_N_STAR:
    case CLR_N_ITEM:
    case CLR_N_TERM:
        break;
    }
    return refuse(binder, CLR_WHY_AGGREGATE_IN_EXPRESSION);
}

/* Whether an expression has no other results than numbers and NULL, whatever it reads. */
static bool gives_numbers(const struct clr_node *node)
{
    static const char *const functions[] = {"glob",   "instr", "json_array_length", "json_valid",
                                            "length", "like",  "octet_length",      "unicode"};
    const char *name = node->names[0].name;
    size_t i;

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
        for (i = 0; i < sizeof functions / sizeof functions[0]; i++) {
            if (strcmp(name, functions[i]) == 0)
                return true;
        }
        return false;
    default:
        return false;
    }
}

/* Whether its results are TEXT or BLOBs, or NULL. */
static bool gives_text(const struct clr_node *node)
{
    return (node->kind == CLR_N_OPERATOR && node->names[0].kind == CLR_T_CONCAT) ||
           (node->kind == CLR_N_CAST && !gives_numbers(node));
}

/* The smallest expressions that give numbers are derived, where they have to be: what is around
   them a scan computes. */
static int lower(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_query_size before = clr_query_size_of(binder->query);
    int value;

    if (binder->syntax->code != CLR_OK)
        return -1;
    value = lower_as_is(binder, node);
    return gives_numbers(node) ? derive_instead(binder, node, &before, value, false) : value;
}

int clr_lower(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_query_size before = clr_query_size_of(binder->query);
    int value;

    if (binder->syntax->code != CLR_OK)
        return -1;
    value = lower(binder, node);
    return gives_text(node) ? value : derive_instead(binder, node, &before, value, false);
}
