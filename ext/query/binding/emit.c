#include "query/binding/emit.h"

#include "base/memory.h"
#include "query/names/times.h"
#include "query/syntax/print.h"

#include <string.h>

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

int clr_emit_constant(struct clr_binder *binder, struct clr_scalar value, int parameter,
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
        clr_lookup_plan_free(&query->lookups[--query->lookup_count]);
    while (query->column_count > size->columns)
        clr_memory_free(query->columns[--query->column_count].derived);
    query->instruction_count = size->instructions;
    query->constant_count = size->constants;
}

/* Whether two columns of the scan are one, with bytes or not, joined or not. */
static bool are_same(const struct clr_query_column *a, const struct clr_query_column *b)
{
    if (a->number != b->number || a->with_codes != b->with_codes || a->unit != b->unit ||
        a->times != b->times)
        return false;
    return a->derived == NULL || strcmp(a->derived, b->derived) == 0;
}

int clr_place_column(struct clr_binder *binder, const struct clr_query_column *column)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->column_count && !are_same(&query->columns[i], column); i++)
        ;
    if (i == query->column_count && i < CLR_MOST_COLUMNS) {
        query->columns[i] = *column;
        return query->column_count++;
    }
    if (i < query->column_count)
        query->columns[i].is_joined = query->columns[i].is_joined || column->is_joined;
    clr_memory_free(column->derived);
    return i < CLR_MOST_COLUMNS ? i : clr_refuse_name(binder->syntax, CLR_WHY_TOO_MANY, "columns");
}

int clr_emit_column(struct clr_binder *binder, int number, bool with_bytes)
{
    const struct clr_query_column column = {.number = number};
    const int place = clr_place_column(binder, &column);

    if (place >= 0 && with_bytes)
        binder->query->columns[place].with_bytes = true;
    return clr_emit(binder, CLR_OP_COLUMN, place, 0, 0);
}

int clr_emit_rowid(struct clr_binder *binder)
{
    const struct clr_known_table *table = clr_tables_fact(binder);
    const char *rowid = clr_tables_rowid(table);

    return rowid == NULL ? clr_refuse(binder->syntax, CLR_WHY_NO_ROWID)
                         : clr_emit_column(binder, clr_tables_column(table, rowid)->number, false);
}

int clr_emit_times(struct clr_binder *binder, const struct clr_node *column)
{
    const struct clr_query_column times = {.number = column->reads, .times = column->column.times};

    return clr_emit(binder, CLR_OP_COLUMN, clr_place_column(binder, &times), 0, 0);
}

int clr_emit_any(struct clr_binder *binder, const struct clr_node *column)
{
    return clr_times_has_counts(column) ? clr_emit_times(binder, column)
                                        : clr_emit_column(binder, column->reads, false);
}

int clr_emit_null(struct clr_binder *binder, int parameter)
{
    return clr_emit_constant(binder, (struct clr_scalar){.tag = CLR_TAG_NULL}, parameter, NULL);
}

int clr_place_operand(struct clr_binder *binder, struct clr_node *node)
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
