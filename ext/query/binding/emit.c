#include "query/binding/emit.h"

#include "base/memory.h"
#include "query/syntax/grammar.h"

#include <string.h>

int clr_bind_refuse_name(struct clr_binder *binder, enum clr_reason_code why, const char *name,
                         size_t length)
{
    binder->code = CLR_INVALID;
    clr_reason_set_name(binder->reason, why, name, length);
    return -1;
}

int clr_bind_refuse(struct clr_binder *binder, enum clr_reason_code why)
{
    return clr_bind_refuse_name(binder, why, "", 0);
}

int clr_bind_no_memory(struct clr_binder *binder)
{
    binder->code = CLR_NOMEM;
    return -1;
}

int clr_bind_refuse_more(struct clr_binder *binder, const char *what)
{
    return clr_bind_refuse_name(binder, CLR_WHY_TOO_MANY, what, strlen(what));
}

int clr_emit(struct clr_binder *binder, enum clr_opcode opcode, int a, int b, int c)
{
    struct clr_query *query = binder->query;
    struct clr_instruction *instruction = query->instructions;
    int i;

    for (i = 0; i < query->instruction_count; i++, instruction++)
        if (instruction->opcode == opcode && instruction->a == a && instruction->b == b &&
            instruction->c == c)
            return i;
    if (i == CLR_MOST_INSTRUCTIONS)
        return clr_bind_refuse_more(binder, "operations");
    *instruction = (struct clr_instruction){.opcode = opcode, .a = a, .b = b, .c = c};
    return query->instruction_count++;
}

/* The constant of a literal, or of a parameter that has a number. */
int clr_emit_constant(struct clr_binder *binder, struct clr_scalar value, int parameter)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->constant_count; i++)
        if (query->parameters[i] == parameter && query->constants[i].tag == value.tag &&
            query->constants[i].bits == value.bits)
            break;
    if (i == CLR_MOST_CONSTANTS)
        return clr_bind_refuse_more(binder, "literals and parameters");
    if (i == query->constant_count) {
        query->constants[i] = value;
        query->parameters[i] = parameter;
        query->constant_count++;
    }
    return clr_emit(binder, CLR_OP_CONSTANT, i, 0, 0);
}

/* Whether a column's qualifier, all but the last of its names, means the table. */
static bool is_table(const struct clr_binder *binder, int name_count, char *const *names)
{
    const struct clr_query *query = binder->query;
    const char *schema = query->schema != NULL ? query->schema : binder->environment->schema;

    if (name_count == 1)
        return true;
    if (name_count == 2)
        return clr_name_equal(names[0], query->alias != NULL ? query->alias : query->table);
    return query->alias == NULL && schema != NULL && clr_name_equal(names[0], schema) &&
           clr_name_equal(names[1], query->table);
}

bool clr_bind_column(struct clr_binder *binder, struct clr_node *node)
{
    struct clr_known_column known = {.number = -1};
    char *names[3] = {NULL, NULL, NULL};
    const char *name;
    bool found = false;
    int i;

    for (i = 0; i < node->name_count; i++) {
        names[i] = clr_token_name(&node->names[i]);
        if (names[i] == NULL) {
            clr_bind_no_memory(binder);
            goto done;
        }
    }
    name = names[node->name_count - 1];
    if (!node->is_hidden && is_table(binder, node->name_count, names))
        known = binder->environment->column(binder->environment->context, name);
    found = known.number >= 0 && known.readable;
    if (!found)
        clr_bind_refuse_name(binder, known.number < 0 ? CLR_WHY_COLUMN : CLR_WHY_GENERATED_COLUMN,
                             name, strlen(name));
    node->reads = known.number;
    node->is_text = known.is_text;
    node->seems_text = known.seems_text;
    node->is_numeric = known.is_numeric;
    node->is_real = known.is_real;
    memcpy(node->collation, known.collation, sizeof node->collation);
    node->is_binary = known.is_binary;
done:
    for (i = 0; i < node->name_count; i++)
        clr_memory_free(names[i]);
    return found;
}

int clr_place_column(struct clr_binder *binder, int number, bool with_codes)
{
    struct clr_query *query = binder->query;
    int i;

    for (i = 0; i < query->column_count; i++)
        if (query->columns[i] == number && query->with_codes[i] == with_codes)
            return i;
    if (i == CLR_MOST_COLUMNS)
        return clr_bind_refuse_more(binder, "columns");
    query->columns[i] = number;
    query->with_codes[i] = with_codes;
    return query->column_count++;
}

/* Refuses a column of TEXT by its name. */
static int refuse_text(struct clr_binder *binder, const struct clr_node *node)
{
    char *name = clr_token_name(&node->names[node->name_count - 1]);

    if (name == NULL)
        return clr_bind_no_memory(binder);
    clr_bind_refuse_name(binder, CLR_WHY_TEXT_COLUMN, name, strlen(name));
    clr_memory_free(name);
    return -1;
}

int clr_emit_column(struct clr_binder *binder, const struct clr_node *node, bool may_be_text)
{
    int place;

    if (node->is_text && !may_be_text)
        return refuse_text(binder, node);
    place = clr_place_column(binder, node->reads, false);
    return place < 0 ? -1 : clr_emit(binder, CLR_OP_COLUMN, place, 0, 0);
}

int clr_emit_column_with_bytes(struct clr_binder *binder, const struct clr_node *node)
{
    const int value = clr_emit_column(binder, node, true);

    if (value >= 0)
        binder->query->with_bytes[binder->query->instructions[value].a] = true;
    return value;
}

/* Sets a literal's value; returns false once it has failed. */
bool clr_bind_literal(struct clr_binder *binder, struct clr_node *node)
{
    const struct clr_token *token = &node->names[0];
    char *text;

    if (node->known)
        return true;
    node->value = (struct clr_scalar){.tag = CLR_TAG_NULL};
    node->known = true;
    if (token->kind != CLR_T_NULL) {
        text = clr_memory_alloc(token->length + 2);
        if (text == NULL) {
            clr_bind_no_memory(binder);
            return false;
        }
        text[0] = '-';
        memcpy(text + 1, token->text, token->length);
        text[token->length + 1] = '\0';
        node->known = binder->environment->literal(binder->environment->context,
                                                   node->negative ? text : text + 1, &node->value);
        clr_memory_free(text);
        if (!node->known)
            clr_bind_refuse_name(binder, CLR_WHY_NUMBER, token->text, token->length);
    }
    return node->known;
}
