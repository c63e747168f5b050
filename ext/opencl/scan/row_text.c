#include "opencl/scan/row_text.h"

#include <stdarg.h>
#include <stdio.h>

/* Behind the instructions. */
enum { END = -1 };

/* Functions of kernels/scan/values.cl and values_logic.cl. */
static const char *const operators[CLR_OPCODES] = {
    [CLR_OP_ADD] = "scalar_add",
    [CLR_OP_SUBTRACT] = "scalar_subtract",
    [CLR_OP_MULTIPLY] = "scalar_multiply",
    [CLR_OP_DIVIDE] = "scalar_divide",
    [CLR_OP_REMAINDER] = "scalar_remainder",
    [CLR_OP_EQUAL] = "scalar_equal",
    [CLR_OP_UNEQUAL] = "scalar_unequal",
    [CLR_OP_LESS] = "scalar_less",
    [CLR_OP_LESS_EQUAL] = "scalar_less_equal",
    [CLR_OP_GREATER] = "scalar_greater",
    [CLR_OP_GREATER_EQUAL] = "scalar_greater_equal",
    [CLR_OP_IS] = "scalar_is",
    [CLR_OP_IS_NOT] = "scalar_is_not",
    [CLR_OP_IS_NULL] = "scalar_is_null",
    [CLR_OP_NOT_NULL] = "scalar_not_null",
    [CLR_OP_AND] = "scalar_and",
    [CLR_OP_OR] = "scalar_or",
    [CLR_OP_NOT] = "scalar_not",
    [CLR_OP_IF] = "scalar_if",
    [CLR_OP_COALESCE] = "scalar_coalesce",
    [CLR_OP_LEAST] = "scalar_least",
    [CLR_OP_GREATEST] = "scalar_greatest",
    [CLR_OP_ABSOLUTE] = "scalar_absolute",
    [CLR_OP_BIT_AND] = "scalar_bit_and",
    [CLR_OP_BIT_OR] = "scalar_bit_or",
    [CLR_OP_BIT_NOT] = "scalar_bit_not",
    [CLR_OP_SHIFT_LEFT] = "scalar_shift_left",
    [CLR_OP_SHIFT_RIGHT] = "scalar_shift_right",
    [CLR_OP_TO_INTEGER] = "scalar_cast_to_integer",
    [CLR_OP_TO_REAL] = "scalar_cast_to_real",
    [CLR_OP_ROUND] = "scalar_round",
    [CLR_OP_FLOOR] = "scalar_floor",
    [CLR_OP_CEILING] = "scalar_ceiling",
    [CLR_OP_TRUNCATE] = "scalar_truncate",
    [CLR_OP_SIGN] = "scalar_sign",
};

static const char *const tag_names[] = {"VALUE_NULL", "VALUE_INTEGER", "VALUE_REAL", "VALUE_BYTES",
                                        "VALUE_UNSURE"};

/* Of codes, and of values, by their bytes. */
static const char *const types[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "long"};

/* ---- The key. */

/* Returns the number under which the list has a value, after adding it if need be. */
static int number_in(int *list, int *count, int value)
{
    int i;

    for (i = 0; i < *count && list[i] != value; i++)
        ;
    list[i] = value;
    if (i == *count)
        ++*count;
    return i;
}

void clr_row_key_add(struct clr_row_key *key, int word)
{
    key->words[key->length++] = (int16_t)word;
}

/* Returns which of the arguments a column is, after adding it if need be. */
static int column_in(struct clr_row_arguments *arguments, const uint8_t *kinds, int column)
{
    const int i = number_in(arguments->columns, &arguments->column_count, column);

    arguments->kinds[i] = kinds[column];
    return i;
}

/* A lookup: its type and the kind of its column; which of the arguments the column is, or -1, and
   which of the lookups. */
enum { SHORT = 256, WIDTH = 512 };

static void add_lookup(struct clr_row_key *key, const struct clr_scan *scan, const uint8_t *kinds,
                       const struct clr_instruction *instruction)
{
    const struct clr_lookup *lookup = &scan->lookups[instruction->b];
    struct clr_row_arguments *arguments = &key->arguments;
    const size_t width = clr_kind_code_bytes(kinds[instruction->a]);
    int i;

    if (!clr_kind_has_values(lookup->kind)) {
        clr_row_key_add(key, lookup->kind);
        clr_row_key_add(key, -1);
        clr_row_key_add(key, -1);
        return;
    }
    clr_row_key_add(key, lookup->kind + (lookup->is_short ? SHORT : 0) + (int)width * WIDTH);
    clr_row_key_add(key, column_in(arguments, kinds, instruction->a));
    i = number_in(arguments->lookups, &arguments->lookup_count, instruction->b);
    arguments->lookup_kinds[i] = lookup->kind;
    arguments->lookups_short[i] = lookup->is_short;
    clr_row_key_add(key, i);
}

/* An instruction: its opcode; of what a register is loaded with the type, and which of the
   arguments it is, or -1 for none; and otherwise the registers of its operands. */
static void add_instruction(struct clr_row_key *key, const struct clr_scan *scan,
                            const uint8_t *kinds, const struct clr_instruction *instruction,
                            const int *names)
{
    const int operands[] = {instruction->a, instruction->b, instruction->c};
    struct clr_row_arguments *arguments = &key->arguments;
    uint8_t tag;
    int i;

    clr_row_key_add(key, (int)instruction->opcode);
    if (instruction->opcode == CLR_OP_COLUMN) {
        tag = kinds[instruction->a];
        clr_row_key_add(key, tag);
        clr_row_key_add(key, clr_kind_has_values(clr_kind_wide(tag))
                                 ? column_in(arguments, kinds, instruction->a)
                                 : -1);
    } else if (instruction->opcode == CLR_OP_LOOKUP) {
        add_lookup(key, scan, kinds, instruction);
    } else if (instruction->opcode == CLR_OP_CONSTANT) {
        const bool has_values = clr_kind_has_values(tag = scan->constants[instruction->a].tag);
        clr_row_key_add(key, has_values ? tag : CLR_TAG_NULL);
        clr_row_key_add(key, has_values ? number_in(arguments->constants,
                                                    &arguments->constant_count, instruction->a)
                                        : -1);
    } else {
        for (i = 0; i < clr_opcode_operands(instruction->opcode); i++)
            clr_row_key_add(key, names[operands[i]]);
    }
}

void clr_row_key_begin(struct clr_row_key *key)
{
    key->arguments.column_count = key->arguments.lookup_count = 0;
    key->arguments.constant_count = 0;
    key->length = 0;
}

void clr_row_key_add_instructions(struct clr_row_key *key, const struct clr_scan *scan,
                                  const uint8_t *kinds, const bool *used, int *names)
{
    int i, registers = 0;

    for (i = 0; i < scan->instruction_count; i++) {
        if (used[i]) {
            names[i] = registers++;
            add_instruction(key, scan, kinds, &scan->instructions[i], names);
        }
    }
    clr_row_key_add(key, END);
}

/* ---- The text. */

void clr_row_text_add(struct clr_row_text *text, const char *format, ...)
{
    size_t room = sizeof text->text - text->length;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text->text + text->length, room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= room)
        text->complete = false;
    else
        text->length += (size_t)length;
}

void clr_row_text_end(struct clr_row_text *text)
{
    if (text->length + 1 < sizeof text->text)
        text->text[text->length++] = '\0';
    else
        text->complete = false;
}

/* Adds what a row's code is looked up as, from the words behind the opcode on. Returns the word
   after them. */
static const int16_t *add_look_up(struct clr_row_text *text, const int16_t *word)
{
    const int kind = word[0] % SHORT, column = word[1], lookup = word[2];

    if (column < 0)
        clr_row_text_add(text, "scalar_of(%s, 0);", tag_names[kind]);
    else if (kind == CLR_TAG_MIXED)
        clr_row_text_add(text, "scalar_of(lt%d[AT(v%d)], lv%d[AT(v%d)]);", lookup, column, lookup,
                         column);
    else
        clr_row_text_add(text, "scalar_of(%s, lv%d[AT(v%d)]);", tag_names[kind], lookup, column);
    return word + 3;
}

/* Adds what a row has of a column of that kind. */
static void add_value(struct clr_row_text *text, uint8_t kind, int argument)
{
    const uint8_t tag = clr_kind_wide(kind);

    if (tag == CLR_TAG_MIXED)
        clr_row_text_add(text, "scalar_of(AT(t%d), ", argument);
    else
        clr_row_text_add(text, "scalar_of(%s, ", tag_names[tag]);
    if (clr_kind_has_decimals(kind))
        clr_row_text_add(text, "decimal_bits(AT(v%d), b%d, p%d, q%d));", argument, argument,
                         argument, argument);
    else if (tag != kind)
        clr_row_text_add(text, "b%d + AT(v%d));", argument, argument);
    else
        clr_row_text_add(text, "AT(v%d));", argument);
}

/* Adds an instruction, from its first word on. Returns the word after it. */
static const int16_t *add_register(struct clr_row_text *text, const int16_t *word, int number)
{
    const enum clr_opcode opcode = (enum clr_opcode) * word++;
    int i;

    clr_row_text_add(text, " scalar r%d = ", number);
    if (opcode == CLR_OP_LOOKUP)
        return add_look_up(text, word);
    if (opcode == CLR_OP_COLUMN || opcode == CLR_OP_CONSTANT) {
        const int tag = *word++, argument = *word++;
        if (argument < 0)
            clr_row_text_add(text, "scalar_of(%s, 0);", tag_names[tag]);
        else if (opcode == CLR_OP_CONSTANT)
            clr_row_text_add(text, "scalar_of(%s, k%d);", tag_names[tag], argument);
        else
            add_value(text, (uint8_t)tag, argument);
        return word;
    }
    clr_row_text_add(text, "%s(r%d", operators[opcode], *word++);
    for (i = 1; i < clr_opcode_operands(opcode); i++)
        clr_row_text_add(text, ", r%d", *word++);
    clr_row_text_add(text, ");");
    return word;
}

/* How an array is written: as a kernel takes it, as it is passed on, and in a list. */
enum form { FORMAL, PASSED, LISTED };

static void add_array(struct clr_row_text *text, enum form form, const char *type, const char *name,
                      int number)
{
    if (form == FORMAL)
        clr_row_text_add(text, " __global const %s *restrict %s%d,", type, name, number);
    else if (form == PASSED)
        clr_row_text_add(text, " %s%d,", name, number);
    else
        clr_row_text_add(text, " X(%s, %s%d)", type, name, number);
}

static void add_columns(struct clr_row_text *text, enum form form,
                        const struct clr_row_arguments *arguments)
{
    int i;

    for (i = 0; i < arguments->column_count; i++) {
        const uint8_t kind = arguments->kinds[i];

        add_array(text, form, types[clr_kind_value_bytes(kind)], "v", i);
        if (clr_kind_wide(kind) == CLR_TAG_MIXED)
            add_array(text, form, "uchar", "t", i);
        if (clr_kind_narrow_bytes(kind) > 0 && form != LISTED)
            clr_row_text_add(text, form == FORMAL ? " long b%d," : " b%d,", i);
        if (clr_kind_has_decimals(kind) && form != LISTED)
            clr_row_text_add(text, form == FORMAL ? " long p%d, ulong q%d," : " p%d, q%d,", i, i);
    }
}

/* The kernel's first arguments. */
static void add_all(struct clr_row_text *text, enum form form,
                    const struct clr_row_arguments *arguments)
{
    int i;

    add_columns(text, form, arguments);
    for (i = 0; i < arguments->lookup_count; i++) {
        add_array(text, form, arguments->lookups_short[i] ? "char" : "long", "lv", i);
        if (arguments->lookup_kinds[i] == CLR_TAG_MIXED)
            add_array(text, form, "uchar", "lt", i);
    }
    for (i = 0; i < arguments->constant_count; i++)
        clr_row_text_add(text, form == FORMAL ? " long k%d," : " k%d,", i);
}

void clr_row_text_begin(struct clr_row_text *text)
{
    text->complete = true;
    text->length = 0;
}

void clr_row_text_add_arguments(struct clr_row_text *text,
                                const struct clr_row_arguments *arguments)
{
    clr_row_text_add(text, "#define ROW_FORMALS");
    add_all(text, FORMAL, arguments);
    clr_row_text_add(text, "\n#define ROW_ARGUMENTS");
    add_all(text, PASSED, arguments);
    clr_row_text_add(text, "\n#define FOR_EACH_COLUMN(X)");
    add_columns(text, LISTED, arguments);
    clr_row_text_add(text, "\n");
}

const int16_t *clr_row_text_add_body(struct clr_row_text *text, const int16_t *word)
{
    int i;

    clr_row_text_add(text, "#undef ROW_BODY\n#define ROW_BODY");
    for (i = 0; *word != END; i++)
        word = add_register(text, word, i);
    clr_row_text_add(text, "\n");
    return word + 1;
}
