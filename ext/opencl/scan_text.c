#include "opencl/scan_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct operation {
    const char *function; /* of kernels/values.cl */
    int operands;
};

static const struct operation operators[CLR_OPCODES] = {
    [CLR_OP_ADD] = {"scalar_add", 2},
    [CLR_OP_SUBTRACT] = {"scalar_subtract", 2},
    [CLR_OP_MULTIPLY] = {"scalar_multiply", 2},
    [CLR_OP_DIVIDE] = {"scalar_divide", 2},
    [CLR_OP_REMAINDER] = {"scalar_remainder", 2},
    [CLR_OP_EQUAL] = {"scalar_equal", 2},
    [CLR_OP_UNEQUAL] = {"scalar_unequal", 2},
    [CLR_OP_LESS] = {"scalar_less", 2},
    [CLR_OP_LESS_EQUAL] = {"scalar_less_equal", 2},
    [CLR_OP_GREATER] = {"scalar_greater", 2},
    [CLR_OP_GREATER_EQUAL] = {"scalar_greater_equal", 2},
    [CLR_OP_IS] = {"scalar_is", 2},
    [CLR_OP_IS_NOT] = {"scalar_is_not", 2},
    [CLR_OP_IS_NULL] = {"scalar_is_null", 1},
    [CLR_OP_NOT_NULL] = {"scalar_not_null", 1},
    [CLR_OP_AND] = {"scalar_and", 2},
    [CLR_OP_OR] = {"scalar_or", 2},
    [CLR_OP_NOT] = {"scalar_not", 1},
    [CLR_OP_IF] = {"scalar_if", 3},
    [CLR_OP_COALESCE] = {"scalar_coalesce", 2},
    [CLR_OP_LEAST] = {"scalar_least", 2},
    [CLR_OP_GREATEST] = {"scalar_greatest", 2},
    [CLR_OP_ABSOLUTE] = {"scalar_absolute", 1},
};

static const char *const tag_names[] = {"VALUE_NULL", "VALUE_INTEGER", "VALUE_REAL", "VALUE_OTHER"};

static void add(struct clr_scan_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct clr_scan_text *text, const char *format, ...)
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

/* Finds what the tally's registers are computed from: operands come before what uses them. */
static void find_used(const struct clr_scan *scan, const struct clr_tally *tally, bool *used)
{
    const int roots[] = {scan->filter, tally->filter, tally->x, tally->y};
    int i;

    memset(used, 0, (size_t)scan->instruction_count * sizeof *used);
    for (i = 0; i < 4; i++) {
        if (roots[i] >= 0)
            used[roots[i]] = true;
    }
    for (i = scan->instruction_count - 1; i >= 0; i--) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        int operands = operators[instruction->opcode].operands;
        if (!used[i])
            continue;
        if (operands > 0)
            used[instruction->a] = true;
        if (operands > 1)
            used[instruction->b] = true;
        if (operands > 2)
            used[instruction->c] = true;
    }
}

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

static void add_register(struct clr_scan_text *text, const struct clr_scan *scan,
                         const uint8_t *kinds, int number, int *names)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    const struct operation *used = &operators[instruction->opcode];
    uint8_t tag;
    int i;

    add(text, " scalar r%d = ", names[number]);
    if (instruction->opcode == CLR_OP_COLUMN) {
        tag = kinds[instruction->a];
        if (tag == CLR_TAG_NULL || tag == CLR_TAG_OTHER) {
            add(text, "scalar_of(%s, 0);", tag_names[tag]);
            return;
        }
        i = number_in(text->columns, &text->column_count, instruction->a);
        if (tag == CLR_TAG_MIXED)
            add(text, "scalar_of(t%d[i], v%d[i]);", i, i);
        else
            add(text, "scalar_of(%s, v%d[i]);", tag_names[tag], i);
    } else if (instruction->opcode == CLR_OP_CONSTANT) {
        tag = scan->constants[instruction->a].tag;
        if (tag == CLR_TAG_NULL) {
            add(text, "scalar_of(VALUE_NULL, 0);");
            return;
        }
        i = number_in(text->constants, &text->constant_count, instruction->a);
        add(text, "scalar_of(%s, k%d);", tag_names[tag], i);
    } else {
        add(text, "%s(r%d", used->function, names[instruction->a]);
        if (used->operands > 1)
            add(text, ", r%d", names[instruction->b]);
        if (used->operands > 2)
            add(text, ", r%d", names[instruction->c]);
        add(text, ");");
    }
}

static void add_root(struct clr_scan_text *text, const char *name, int number, const int *names)
{
    if (number >= 0)
        add(text, "#define %s r%d\n", name, names[number]);
    else
        add(text, "#define %s scalar_integer(1)\n", name);
}

void clr_scan_text(struct clr_scan_text *text, const struct clr_scan *scan, const uint8_t *kinds,
                   const struct clr_tally *tally, bool takes)
{
    bool used[CLR_MOST_INSTRUCTIONS];
    int names[CLR_MOST_INSTRUCTIONS], i, registers = 0;

    text->complete = true;
    text->length = 0;
    text->column_count = text->constant_count = 0;
    find_used(scan, tally, used);
    add(text, "#define ROW_BODY");
    for (i = 0; i < scan->instruction_count; i++) {
        if (used[i]) {
            names[i] = registers++;
            add_register(text, scan, kinds, i, names);
        }
    }
    add(text, "\n");
    add_root(text, "ROW_FILTER", scan->filter, names);
    add_root(text, "ROW_OWN_FILTER", tally->filter, names);
    add_root(text, "ROW_X", tally->x, names);
    add_root(text, "ROW_Y", tally->y, names);
    add(text, "#define ROW_TAKES %d\n#define ROW_FORMALS", takes);
    for (i = 0; i < text->column_count; i++) {
        add(text, " __global const long *restrict v%d,", i);
        if (kinds[text->columns[i]] == CLR_TAG_MIXED)
            add(text, " __global const uchar *restrict t%d,", i);
    }
    for (i = 0; i < text->constant_count; i++)
        add(text, " long k%d,", i);
    add(text, "\n#define ROW_ARGUMENTS");
    for (i = 0; i < text->column_count; i++) {
        add(text, " v%d,", i);
        if (kinds[text->columns[i]] == CLR_TAG_MIXED)
            add(text, " t%d,", i);
    }
    for (i = 0; i < text->constant_count; i++)
        add(text, " k%d,", i);
    add(text, "\n");
}
