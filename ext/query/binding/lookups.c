#include "query/binding/lookups.h"

#include "numeric/values/bytes.h"
#include "query/names/tables.h"
#include "query/names/times.h"
#include "query/syntax/grammar.h"
#include "query/syntax/print.h"

#include <stdio.h>
#include <string.h>

/* ---- What a lookup may hold: expressions that mean the same wherever SQLite evaluates them. */

static bool refuse_lookup(struct clr_binder *binder, enum clr_reason_code why)
{
    clr_refuse(binder->syntax, why);
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
    const char *name = node->names[0].name;
    const struct clr_node *child;
    bool may = (node->kind == CLR_N_FUNCTION && !clr_times_is_function(name) &&
                !CLR_TEXT_IN(name, "lower", "ltrim", "replace", "rtrim", "substr", "substring",
                             "trim", "upper")) ||
               (node->kind == CLR_N_LITERAL && node->names[0].kind == CLR_T_BLOB) ||
               (node->kind == CLR_N_OPERATOR && node->names[0].kind != CLR_T_CONCAT);

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
    case CLR_N_SUBQUERY:
        return refuse_lookup(binder, CLR_WHY_TIME_COMPUTED);
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

/* Checks the arguments of a function of times. */
static bool check_times(struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_node *first = clr_times_first(node), *argument;

    for (argument = first; argument != NULL; argument = argument->next) {
        if (!check_time(binder, argument, argument == first || clr_times_takes_more(node)))
            return false;
    }
    return first != NULL || refuse_lookup(binder, CLR_WHY_PRESENT_TIME);
}

/* Returns the number, from 0, that an expression has among the parts of a key, or -1. */
static int find_key_part(const struct clr_binder *binder, const struct clr_node *node)
{
    const struct clr_query *query = binder->query;
    int part = -1, i;

    for (i = 0; i < query->dimension_count && part < 0; i++)
        part = clr_tables_part(&query->dimensions[i], node);
    return part;
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

    if (is_operand(node) || node == binder->entry || find_key_part(binder, node) >= 0)
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

/* ---- Lookups: expressions over one column that SQLite evaluates for each of its entries. */

/* What a lookup's text calls a dimension, by its place in FROM, from 1. */
#define DIMENSION "\"clreduce:%d\""

/* In a lookup's text a column is that of the entries, or a dimension's under a name that no other
   table has, and an operand is as a parameter. */
static bool print_entry(struct clr_printer *printer, const struct clr_node *node)
{
    const struct clr_binder *binder = printer->context;
    const int part = find_key_part(binder, node);
    char word[96];

    if (part >= 0) {
        snprintf(word, sizeof word, CLR_ROW_KEY_PART "(" CLR_LOOKUP_ENTRY ", %d)", part);
        clr_print_word(printer, word);
    } else if (clr_node_is_dimension(node)) {
        snprintf(word, sizeof word, DIMENSION " .", node->source);
        clr_print_word(printer, word);
        clr_print_name(printer,
                       node->column.is_rowid
                           ? clr_tables_rowid(&binder->environment->tables[node->source - 1])
                           : node->column.name);
    } else if (node->kind == CLR_N_COLUMN || node == binder->entry) {
        clr_print_word(printer, CLR_LOOKUP_ENTRY);
    } else if (is_operand(node)) {
        snprintf(word, sizeof word, "?%d", node->number);
        clr_print_word(printer, word);
    }
    return part >= 0 || node->kind == CLR_N_COLUMN || node == binder->entry || is_operand(node);
}

/* Places the operands of a lookup. Returns false once it has failed. */
static bool place_operands(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_node *child;

    if (node == binder->entry || find_key_part(binder, node) >= 0)
        return true;
    if (is_operand(node))
        return clr_place_operand(binder, node) >= 0;
    for (child = node->first; child != NULL; child = child->next) {
        if (!place_operands(binder, child))
            return false;
    }
    return true;
}

/* Prints expressions with an operator between them: parentheses change neither the affinity nor the
   collating sequence of what is in them. */
static void print_all(struct clr_printer *printer, struct clr_node *const *nodes, int count,
                      const char *operator)
{
    int i;

    if (count == 1)
        clr_print_inside(printer, nodes[0]);
    for (i = 0; i < count && count > 1; i++) {
        if (i > 0)
            clr_print_word(printer, operator);
        clr_print_word(printer, "(");
        clr_print_inside(printer, nodes[i]);
        clr_print_word(printer, ")");
    }
}

/* Returns the bits of the dimensions, by their numbers from 1, that an expression reads. */
static unsigned find_dimensions(const struct clr_node *node)
{
    unsigned found = clr_node_is_dimension(node) ? 1u << node->dimension : 0;
    const struct clr_node *child;

    for (child = node->first; child != NULL; child = child->next)
        found |= find_dimensions(child);
    return found;
}

/* Adds those that lead to dimensions, which come before them. */
static unsigned find_way(const struct clr_query *query, unsigned dimensions)
{
    int i, k;

    for (i = query->dimension_count; i > 0; i--) {
        const struct clr_dimension *dimension = &query->dimensions[i - 1];

        for (k = 0; k < dimension->term_count && (dimensions >> i & 1) != 0; k++)
            dimensions |= find_dimensions(dimension->terms[k]);
    }
    return dimensions;
}

/* Notes the dimensions that a lookup reads. Returns its joins of an entry with their rows; NULL
   without memory. */
static char *write_joins(struct clr_binder *binder, unsigned dimensions)
{
    struct clr_printer printer = {
        .syntax = binder->syntax, .replace = print_entry, .context = binder};
    int i;

    for (i = 0; i < binder->query->dimension_count; i++) {
        struct clr_dimension *dimension = &binder->query->dimensions[i];
        const struct clr_known_table *table = &binder->environment->tables[dimension->source];

        if ((dimensions >> (i + 1) & 1) == 0)
            continue;
        dimension->is_read = true;
        clr_text_add(&printer.text, " LEFT JOIN");
        clr_print_name(&printer, table->schema);
        clr_text_add(&printer.text, ".");
        clr_print_name(&printer, table->name);
        clr_text_add(&printer.text, " AS " DIMENSION " ON", dimension->source + 1);
        print_all(&printer, dimension->terms, dimension->term_count, "AND");
    }
    return clr_text_end(&printer.text);
}

/* ---- What subqueries name. */

enum { MOST_NAMED = 8 };

/* The columns that the subqueries of a lookup name. */
struct scope {
    int count;
    const struct clr_node *columns[MOST_NAMED];
};

/* Adds those of an expression. Returns false once it has failed. */
static bool find_scope(struct clr_binder *binder, const struct clr_node *node, struct scope *scope)
{
    const struct clr_node *child = node->first;
    int i;

    for (; child != NULL; child = child->next) {
        if (!find_scope(binder, child, scope))
            return false;
        if (node->kind != CLR_N_SUBQUERY)
            continue;
        for (i = 0; i < scope->count; i++) {
            if (scope->columns[i]->source == child->source &&
                scope->columns[i]->column.number == child->column.number)
                break;
        }
        if (i == MOST_NAMED)
            return clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "columns in subqueries") >= 0;
        scope->columns[i] = child;
        scope->count += i == scope->count;
    }
    return true;
}

/* Prints, behind an expression, a table for each column: with that column's name, affinity and
   collating sequence, the alias of the table that it is of in the query around, and nothing else.
 */
static void print_scope(struct clr_printer *printer, const struct scope *scope)
{
    int i;

    for (i = 0; i < scope->count; i++) {
        const struct clr_node *column = scope->columns[i];

        clr_print_word(printer, i == 0 ? "FROM (SELECT" : ", (SELECT");
        clr_print_node(printer, column);
        clr_print_scope_end(printer, column, "");
    }
}

/* ---- What decides on a lookup. */

static bool is_deciding_rowid(const struct clr_binder *binder, const struct clr_node *node,
                              const struct clr_lookup_plan *plan)
{
    return node->kind == CLR_N_COLUMN && node->dimension == plan->decided_by &&
           clr_known_is_rowid(&binder->environment->tables[node->source - 1], &node->column);
}

/* Whether an expression is the equality of the column that leads to the dimension with its rowid.
 */
static bool is_deciding_key(const struct clr_binder *binder, const struct clr_node *node,
                            const struct clr_lookup_plan *plan)
{
    const struct clr_node *x = node->first, *y = x == NULL ? NULL : x->next;

    if (node->kind != CLR_N_FOLD || node->opcode != CLR_OP_EQUAL || y == NULL || y->next != NULL)
        return false;
    if (x->kind == CLR_N_COLUMN && x->dimension == plan->decided_by) {
        y = x;
        x = x->next;
    }
    return x->kind == CLR_N_COLUMN && x->dimension == 0 && is_deciding_rowid(binder, y, plan);
}

static bool add_deciding(struct clr_lookup_plan *plan, int number)
{
    int i;

    for (i = 0; i < plan->deciding_count && plan->deciding[i] != number; i++)
        ;
    if (i == CLR_MOST_DECIDING)
        return false;
    plan->deciding[i] = number;
    plan->deciding_count += i == plan->deciding_count;
    return true;
}

/* Adds the columns that an expression reads. Returns false if it reads anything else. */
static bool add_all_deciding(const struct clr_binder *binder, const struct clr_node *node,
                             struct clr_lookup_plan *plan)
{
    const struct clr_node *child;

    if (is_operand(node) || is_deciding_key(binder, node, plan))
        return true;
    if (node->kind == CLR_N_COLUMN)
        return node->dimension == plan->decided_by && !is_deciding_rowid(binder, node, plan) &&
               add_deciding(plan, node->column.number);
    for (child = node->first; child != NULL; child = child->next) {
        if (!add_all_deciding(binder, child, plan))
            return false;
    }
    return node->kind != CLR_N_SUBQUERY;
}

/* Finds the columns that decide on the expressions of a lookup, which joins these dimensions. */
static void find_deciding(const struct clr_binder *binder, struct clr_node *const *nodes, int count,
                          unsigned dimensions, struct clr_lookup_plan *plan)
{
    const struct clr_dimension *dimension = binder->query->dimensions;
    bool do_decide;
    int i;

    if (dimensions == 0)
        return;
    for (plan->decided_by = 1; (dimensions >> plan->decided_by & 1) == 0; dimension++)
        plan->decided_by++;
    do_decide = dimensions == 1u << plan->decided_by;
    for (i = 0; i < count && do_decide; i++)
        do_decide = add_all_deciding(binder, nodes[i], plan);
    for (i = 0; i < dimension->term_count && do_decide; i++)
        do_decide = add_all_deciding(binder, dimension->terms[i], plan);
    if (!do_decide)
        plan->decided_by = 0;
}

/* Returns the number of the lookup of a column with codes, which takes the texts; -1 once it has
   failed, without them. */
static int place_lookup(struct clr_binder *binder, struct clr_lookup_plan *plan)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->lookup_count; i++) {
        const struct clr_lookup_plan *known = &query->lookups[i];

        if (known->column == plan->column && known->is_ranked == plan->is_ranked &&
            strcmp(known->text, plan->text) == 0 && (known->joins == NULL) == (plan->joins == NULL))
            break;
    }
    if (i == query->lookup_count && i < CLR_MOST_LOOKUPS) {
        query->lookups[i] = *plan;
        return query->lookup_count++;
    }
    clr_lookup_plan_free(plan);
    return i < CLR_MOST_LOOKUPS ? i
                                : clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY,
                                                  "expressions with text or functions");
}

/* Refuses lookups over a column with too many different values. Returns false once it has failed.
 */
static bool check_varied(struct clr_binder *binder, int number)
{
    const struct clr_known_column *column = clr_tables_number(binder, number);

    return !column->is_varied || clr_refuse_name(binder->syntax, CLR_WHY_MANY_VALUES,
                                                 column->is_rowid ? "rowid" : column->name) >= 0;
}

/* Returns the place among the scan's columns of the derived one that leads to the dimension with a
   place in FROM, whose key has parts; -1 once it has failed. */
static int place_key(struct clr_binder *binder, int source)
{
    const struct clr_query *query = binder->query;
    const char *key = query->dimensions[clr_tables_dimension(query, source) - 1].key;
    struct clr_query_column column = {.number = -1, .with_codes = true, .is_joined = true};
    struct clr_text text = {.text = NULL};

    if (key == NULL)
        return clr_tables_refuse_join(binder, source);
    clr_text_add(&text, "%s", key);
    column.derived = clr_text_end(&text);
    return column.derived == NULL ? clr_syntax_no_memory(binder->syntax)
                                  : clr_place_column(binder, &column);
}

int clr_lookup_emit(struct clr_binder *binder, struct clr_node *const *nodes, int count,
                    const char *operator, bool is_ranked)
{
    struct clr_printer printer = {
        .syntax = binder->syntax, .replace = print_entry, .context = binder};
    const enum clr_time_unit unit = count == 1 ? clr_times_unit(nodes[0]) : CLR_TIME_NONE;
    struct clr_lookup_plan plan = {.is_ranked = is_ranked};
    struct scope scope = {.count = 0};
    int number = CLR_READS_NONE, i;
    unsigned dimensions = 0;

    for (i = 0; i < count; i++) {
        number = clr_content_together(number, nodes[i]->reads);
        dimensions |= find_dimensions(nodes[i]);
    }
    if (unit == CLR_TIME_NONE && !check_varied(binder, number))
        return -1;
    for (i = 0; i < count; i++) {
        if (!check_held(binder, nodes[i], &plan.is_timed) || !place_operands(binder, nodes[i]) ||
            !find_scope(binder, nodes[i], &scope))
            return -1;
        plan.has_subqueries = plan.has_subqueries || (nodes[i]->has & CLR_HAS_SUBQUERY) != 0;
    }
    plan.column =
        number >= CLR_COMPOSITE
            ? place_key(binder, number - CLR_COMPOSITE)
            : clr_place_column(binder, &(struct clr_query_column){.number = number,
                                                                  .with_codes = true,
                                                                  .is_joined = dimensions != 0 ||
                                                                               plan.has_subqueries,
                                                                  .unit = unit});
    if (plan.column < 0)
        return -1;
    if (scope.count > 0)
        clr_print_word(&printer, "SELECT");
    print_all(&printer, nodes, count, operator);
    print_scope(&printer, &scope);
    plan.text = clr_text_end(&printer.text);
    dimensions = find_way(binder->query, dimensions);
    find_deciding(binder, nodes, count, dimensions, &plan);
    plan.joins = dimensions == 0 ? NULL : write_joins(binder, dimensions);
    if (plan.text == NULL || (plan.joins == NULL && dimensions != 0)) {
        clr_lookup_plan_free(&plan);
        return clr_syntax_no_memory(binder->syntax);
    }
    return clr_emit(binder, CLR_OP_LOOKUP, plan.column, place_lookup(binder, &plan), 0);
}

int clr_lookup_emit_over(struct clr_binder *binder, struct clr_node *node,
                         const struct clr_node *entry, int column, bool is_ranked)
{
    struct clr_printer printer = {
        .syntax = binder->syntax, .replace = print_entry, .context = binder};
    struct clr_lookup_plan plan = {.column = column, .is_ranked = is_ranked};
    bool may;

    binder->entry = entry;
    may = check_held(binder, node, &plan.is_timed) && place_operands(binder, node);
    if (may) {
        print_all(&printer, &node, 1, NULL);
        plan.text = clr_text_end(&printer.text);
    }
    binder->entry = NULL;
    if (may && plan.text == NULL)
        return clr_syntax_no_memory(binder->syntax);
    return may ? clr_emit(binder, CLR_OP_LOOKUP, column, place_lookup(binder, &plan), 0) : -1;
}

int clr_lookup_emit_ranks(struct clr_binder *binder, int column)
{
    struct clr_lookup_plan plan = {.column = column, .is_ranked = true};
    struct clr_text entry = {.text = NULL};

    clr_text_add(&entry, CLR_LOOKUP_ENTRY);
    plan.text = clr_text_end(&entry);
    if (plan.text == NULL)
        return clr_syntax_no_memory(binder->syntax);
    return clr_emit(binder, CLR_OP_LOOKUP, column, place_lookup(binder, &plan), 0);
}
