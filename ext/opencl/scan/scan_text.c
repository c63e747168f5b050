#include "opencl/scan/scan_text.h"

#include "opencl/reduction/kernel_kinds.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Functions of kernels/values.cl. */
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

static bool has_values(uint8_t tag)
{
    return tag != CLR_TAG_NULL && tag != CLR_TAG_OTHER;
}

/* Takes note of the columns and constants that the kernel needs for a tally. */
static void find_tally_arguments(struct clr_scan_arguments *arguments, const struct clr_scan *scan,
                                 const uint8_t *kinds, const struct clr_tally *tally)
{
    bool used[CLR_MOST_INSTRUCTIONS];
    int i;

    clr_scan_find_used(scan, tally, used);
    for (i = 0; i < scan->instruction_count; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        if (!used[i])
            continue;
        if (instruction->opcode == CLR_OP_COLUMN && has_values(kinds[instruction->a]))
            number_in(arguments->columns, &arguments->column_count, instruction->a);
        if (instruction->opcode == CLR_OP_CONSTANT &&
            has_values(scan->constants[instruction->a].tag))
            number_in(arguments->constants, &arguments->constant_count, instruction->a);
    }
}

void clr_scan_find_arguments(struct clr_scan_arguments *arguments, const struct clr_scan *scan,
                             const uint8_t *kinds, const struct clr_scan_step *steps,
                             const struct clr_scan_bundle *bundle)
{
    int i;

    arguments->column_count = arguments->constant_count = 0;
    for (i = 0; i < bundle->count; i++)
        find_tally_arguments(arguments, scan, kinds, &scan->tallies[steps[bundle->steps[i]].tally]);
}

static void add_register(struct clr_scan_text *text, const struct clr_scan *scan,
                         const uint8_t *kinds, int number, int *names)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    int operands = clr_opcode_operands(instruction->opcode);
    uint8_t tag;
    int i;

    add(text, " scalar r%d = ", names[number]);
    if (instruction->opcode == CLR_OP_COLUMN) {
        tag = kinds[instruction->a];
        if (!has_values(tag)) {
            add(text, "scalar_of(%s, 0);", tag_names[tag]);
            return;
        }
        i = number_in(text->arguments.columns, &text->arguments.column_count, instruction->a);
        if (tag == CLR_TAG_MIXED)
            add(text, "scalar_of(t%d[i], v%d[i]);", i, i);
        else
            add(text, "scalar_of(%s, v%d[i]);", tag_names[tag], i);
    } else if (instruction->opcode == CLR_OP_CONSTANT) {
        tag = scan->constants[instruction->a].tag;
        if (!has_values(tag)) {
            add(text, "scalar_of(VALUE_NULL, 0);");
            return;
        }
        i = number_in(text->arguments.constants, &text->arguments.constant_count, instruction->a);
        add(text, "scalar_of(%s, k%d);", tag_names[tag], i);
    } else {
        add(text, "%s(r%d", operators[instruction->opcode], names[instruction->a]);
        if (operands > 1)
            add(text, ", r%d", names[instruction->b]);
        if (operands > 2)
            add(text, ", r%d", names[instruction->c]);
        add(text, ");");
    }
}

static void add_root(struct clr_scan_text *text, const char *name, int number, const int *names)
{
    if (number >= 0)
        add(text, "#undef %s\n#define %s r%d\n", name, name, names[number]);
    else
        add(text, "#undef %s\n#define %s scalar_integer(1)\n", name, name);
}

/* Ends a part of the text. */
static void add_end(struct clr_scan_text *text)
{
    if (text->length + 1 < sizeof text->text)
        text->text[text->length++] = '\0';
    else
        text->complete = false;
}

/* What all steps share. */
static void add_head(struct clr_scan_text *text, const uint8_t *kinds,
                     const struct clr_scan_step *steps, const struct clr_scan_bundle *bundle)
{
    bool wide = false;
    int i;

    add(text, "#define ROW_FORMALS");
    for (i = 0; i < text->arguments.column_count; i++) {
        add(text, " __global const long *restrict v%d,", i);
        if (kinds[text->arguments.columns[i]] == CLR_TAG_MIXED)
            add(text, " __global const uchar *restrict t%d,", i);
    }
    for (i = 0; i < text->arguments.constant_count; i++)
        add(text, " long k%d,", i);
    add(text, "\n#define ROW_ARGUMENTS");
    for (i = 0; i < text->arguments.column_count; i++) {
        add(text, " v%d,", i);
        if (kinds[text->arguments.columns[i]] == CLR_TAG_MIXED)
            add(text, " t%d,", i);
    }
    for (i = 0; i < text->arguments.constant_count; i++)
        add(text, " k%d,", i);
    /* Rows of one step, or of several: as many values, about, as there are registers for. */
    add(text, "\n#define LOADS %d\n#define STEPS %d\n#define FOR_EACH_STEP(X)",
        bundle->count > 1 ? 2 : 4, bundle->count);
    for (i = 0; i < bundle->count; i++) {
        const struct clr_scan_step *step = &steps[bundle->steps[i]];
        const struct clr_kernel_kind *kind = clr_kernel_kind_of(step->operation, step->element);
        add(text, " X(%d, %s, %s)", i, kind->name, kind->real ? "WIDE" : "NARROW");
        wide = wide || kind->real;
    }
    add(text, "\n#define ANY_WIDE %d\n", wide);
    add_end(text);
}

static void add_step(struct clr_scan_text *text, const struct clr_scan *scan, const uint8_t *kinds,
                     const struct clr_scan_step *step, int number)
{
    const struct clr_tally *tally = &scan->tallies[step->tally];
    const struct clr_kernel_kind *kind = clr_kernel_kind_of(step->operation, step->element);
    bool used[CLR_MOST_INSTRUCTIONS];
    int names[CLR_MOST_INSTRUCTIONS], i, registers = 0;

    add(text, "#undef STEP\n#undef KIND\n#undef REAL\n#undef KEYS\n#undef OPERANDS\n");
    add(text,
        "#define STEP %d\n#define KIND %s\n#define REAL %d\n#define KEYS %d\n#define OPERANDS %d\n",
        number, kind->name, kind->real, kind->keys, kind->operands);
    clr_scan_find_used(scan, tally, used);
    add(text, "#undef ROW_BODY\n#define ROW_BODY");
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
    add(text, "#undef ROW_TAKES\n#define ROW_TAKES %d\n", step->takes);
    add_end(text);
}

void clr_scan_text(struct clr_scan_text *text, const struct clr_scan *scan, const uint8_t *kinds,
                   const struct clr_scan_step *steps, const struct clr_scan_bundle *bundle)
{
    int i;

    text->complete = true;
    text->length = 0;
    clr_scan_find_arguments(&text->arguments, scan, kinds, steps, bundle);
    add_head(text, kinds, steps, bundle);
    for (i = 0; i < bundle->count; i++)
        add_step(text, scan, kinds, &steps[bundle->steps[i]], i);
}
