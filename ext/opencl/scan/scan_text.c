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

/* Of codes by their bytes. */
static const char *const code_types[] = {[1] = "uchar", [2] = "ushort", [4] = "uint"};

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

static void add_word(struct clr_scan_key *key, int word)
{
    key->words[key->length++] = (int16_t)word;
}

/* Returns which of the arguments a column is, after adding it if need be. */
static int column_in(struct clr_scan_arguments *arguments, const struct clr_scan_plan *plan,
                     int column)
{
    const int i = number_in(arguments->columns, &arguments->column_count, column);

    arguments->kinds[i] = plan->kinds[column];
    return i;
}

/* A lookup: its type and the kind of its column; which of the arguments the column is, or -1, and
   which of the lookups. */
enum { SHORT = 256, WIDTH = 512 };

static void add_lookup(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                       const struct clr_instruction *instruction)
{
    const struct clr_lookup *lookup = &plan->scan->lookups[instruction->b];
    struct clr_scan_arguments *arguments = &key->arguments;
    const size_t width = clr_kind_code_bytes(plan->kinds[instruction->a]);
    int i;

    if (!clr_kind_has_values(lookup->kind)) {
        add_word(key, lookup->kind);
        add_word(key, -1);
        add_word(key, -1);
        return;
    }
    add_word(key, lookup->kind + (lookup->is_short ? SHORT : 0) + (int)width * WIDTH);
    add_word(key, column_in(arguments, plan, instruction->a));
    i = number_in(arguments->lookups, &arguments->lookup_count, instruction->b);
    arguments->lookup_kinds[i] = lookup->kind;
    arguments->lookups_short[i] = lookup->is_short;
    add_word(key, i);
}

/* An instruction: its opcode; of what a register is loaded with the type, and which of the
   arguments it is, or -1 for none; and otherwise the registers of its operands. */
static void add_instruction(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                            const struct clr_instruction *instruction, const int *names)
{
    const int operands[] = {instruction->a, instruction->b, instruction->c};
    struct clr_scan_arguments *arguments = &key->arguments;
    uint8_t tag;
    int i;

    add_word(key, (int)instruction->opcode);
    if (instruction->opcode == CLR_OP_COLUMN) {
        tag = plan->kinds[instruction->a];
        add_word(key, tag);
        add_word(key, clr_kind_has_values(tag) ? column_in(arguments, plan, instruction->a) : -1);
    } else if (instruction->opcode == CLR_OP_LOOKUP) {
        add_lookup(key, plan, instruction);
    } else if (instruction->opcode == CLR_OP_CONSTANT) {
        const bool has_values =
            clr_kind_has_values(tag = plan->scan->constants[instruction->a].tag);
        add_word(key, has_values ? tag : CLR_TAG_NULL);
        add_word(key, has_values ? number_in(arguments->constants, &arguments->constant_count,
                                             instruction->a)
                                 : -1);
    } else {
        for (i = 0; i < clr_opcode_operands(instruction->opcode); i++)
            add_word(key, names[operands[i]]);
    }
}

/* A step: its kind, whether it takes values, the instructions that it needs, END, and the registers
   of the filters and operands, or -1. */
enum { END = -1, ROOTS = 4 };

static void add_key_step(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                         const struct clr_scan_step *step)
{
    const struct clr_scan *scan = plan->scan;
    const struct clr_tally *tally = &scan->tallies[step->tally];
    const int roots[ROOTS] = {scan->filter, tally->filter, tally->x, tally->y};
    bool used[CLR_MOST_INSTRUCTIONS];
    int names[CLR_MOST_SCAN_INSTRUCTIONS], i, registers = 0;

    key->steps[key->step_count++] = (struct clr_step_kind){step->operation, step->element};
    add_word(key, (int)step->operation);
    add_word(key, (int)step->element);
    add_word(key, step->takes);
    clr_scan_find_used(scan, tally, used);
    for (i = 0; i < scan->instruction_count; i++) {
        if (used[i]) {
            names[i] = registers++;
            add_instruction(key, plan, &scan->instructions[i], names);
        }
    }
    add_word(key, END);
    for (i = 0; i < ROOTS; i++)
        add_word(key, roots[i] >= 0 ? names[roots[i]] : -1);
}

void clr_scan_key(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                  const struct clr_scan_bundle *bundle)
{
    int i;

    key->step_count = 0;
    key->arguments.column_count = key->arguments.lookup_count = 0;
    key->arguments.constant_count = 0;
    key->length = 0;
    for (i = 0; i < bundle->count; i++)
        add_key_step(key, plan, &plan->steps[bundle->steps[i]]);
}

/* ---- The text. */

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

/* Ends a part of the text. */
static void add_end(struct clr_scan_text *text)
{
    if (text->length + 1 < sizeof text->text)
        text->text[text->length++] = '\0';
    else
        text->complete = false;
}

/* Adds what a row's code is looked up as, from the words behind the opcode on. Returns the word
   after them. */
static const int16_t *add_look_up(struct clr_scan_text *text, const int16_t *word)
{
    const int kind = word[0] % SHORT, column = word[1], lookup = word[2];

    if (column < 0)
        add(text, "scalar_of(%s, 0);", tag_names[kind]);
    else if (kind == CLR_TAG_MIXED)
        add(text, "scalar_of(lt%d[v%d[i]], lv%d[v%d[i]]);", lookup, column, lookup, column);
    else
        add(text, "scalar_of(%s, lv%d[v%d[i]]);", tag_names[kind], lookup, column);
    return word + 3;
}

/* Adds an instruction, from its first word on. Returns the word after it. */
static const int16_t *add_register(struct clr_scan_text *text, const int16_t *word, int number)
{
    const enum clr_opcode opcode = (enum clr_opcode) * word++;
    int i;

    add(text, " scalar r%d = ", number);
    if (opcode == CLR_OP_LOOKUP)
        return add_look_up(text, word);
    if (opcode == CLR_OP_COLUMN || opcode == CLR_OP_CONSTANT) {
        const int tag = *word++, argument = *word++;
        if (argument < 0)
            add(text, "scalar_of(%s, 0);", tag_names[tag]);
        else if (opcode == CLR_OP_CONSTANT)
            add(text, "scalar_of(%s, k%d);", tag_names[tag], argument);
        else if (tag == CLR_TAG_MIXED)
            add(text, "scalar_of(t%d[i], v%d[i]);", argument, argument);
        else
            add(text, "scalar_of(%s, v%d[i]);", tag_names[tag], argument);
        return word;
    }
    add(text, "%s(r%d", operators[opcode], *word++);
    for (i = 1; i < clr_opcode_operands(opcode); i++)
        add(text, ", r%d", *word++);
    add(text, ");");
    return word;
}

/* The kernel's first arguments, as it takes them. */
static void add_formals(struct clr_scan_text *text, const struct clr_scan_arguments *arguments)
{
    int i;

    for (i = 0; i < arguments->column_count; i++) {
        const size_t width = clr_kind_code_bytes(arguments->kinds[i]);
        add(text, " __global const %s *restrict v%d,", width == 0 ? "long" : code_types[width], i);
        if (arguments->kinds[i] == CLR_TAG_MIXED)
            add(text, " __global const uchar *restrict t%d,", i);
    }
    for (i = 0; i < arguments->lookup_count; i++) {
        add(text, " __global const %s *restrict lv%d,",
            arguments->lookups_short[i] ? "char" : "long", i);
        if (arguments->lookup_kinds[i] == CLR_TAG_MIXED)
            add(text, " __global const uchar *restrict lt%d,", i);
    }
    for (i = 0; i < arguments->constant_count; i++)
        add(text, " long k%d,", i);
}

/* And as they are passed on. */
static void add_arguments(struct clr_scan_text *text, const struct clr_scan_arguments *arguments)
{
    int i;

    for (i = 0; i < arguments->column_count; i++) {
        add(text, " v%d,", i);
        if (arguments->kinds[i] == CLR_TAG_MIXED)
            add(text, " t%d,", i);
    }
    for (i = 0; i < arguments->lookup_count; i++) {
        add(text, " lv%d,", i);
        if (arguments->lookup_kinds[i] == CLR_TAG_MIXED)
            add(text, " lt%d,", i);
    }
    for (i = 0; i < arguments->constant_count; i++)
        add(text, " k%d,", i);
}

/* What all steps share. */
static void add_head(struct clr_scan_text *text, const struct clr_scan_key *key)
{
    bool wide = false;
    int i;

    add(text, "#define ROW_FORMALS");
    add_formals(text, &key->arguments);
    add(text, "\n#define ROW_ARGUMENTS");
    add_arguments(text, &key->arguments);
    /* Rows of one step, or of several: as many values, about, as there are registers for. */
    add(text, "\n#define LOADS %d\n#define STEPS %d\n#define FOR_EACH_STEP(X)",
        key->step_count > 1 ? 2 : 4, key->step_count);
    for (i = 0; i < key->step_count; i++) {
        const struct clr_kernel_kind *kind =
            clr_kernel_kind_of(key->steps[i].operation, key->steps[i].element);
        add(text, " X(%d, %s, %s)", i, kind->name, kind->real ? "WIDE" : "NARROW");
        wide = wide || kind->real;
    }
    add(text, "\n#define ANY_WIDE %d\n", wide);
    add_end(text);
}

/* Adds a step, from its first word on. Returns the word after it. */
static const int16_t *add_step(struct clr_scan_text *text, const int16_t *word, int number)
{
    static const char *const roots[ROOTS] = {"ROW_FILTER", "ROW_OWN_FILTER", "ROW_X", "ROW_Y"};
    const struct clr_kernel_kind *kind =
        clr_kernel_kind_of((enum clr_operation)word[0], (enum clr_element)word[1]);
    const int takes = word[2];
    int i;

    add(text, "#undef STEP\n#undef KIND\n#undef REAL\n#undef KEYS\n#undef OPERANDS\n");
    add(text,
        "#define STEP %d\n#define KIND %s\n#define REAL %d\n#define KEYS %d\n#define OPERANDS %d\n",
        number, kind->name, kind->real, kind->keys, kind->operands);
    add(text, "#undef ROW_BODY\n#define ROW_BODY");
    for (word += 3, i = 0; *word != END; i++)
        word = add_register(text, word, i);
    add(text, "\n");
    for (i = 0, word++; i < ROOTS; i++, word++) {
        if (*word >= 0)
            add(text, "#undef %s\n#define %s r%d\n", roots[i], roots[i], *word);
        else
            add(text, "#undef %s\n#define %s scalar_integer(1)\n", roots[i], roots[i]);
    }
    add(text, "#undef ROW_TAKES\n#define ROW_TAKES %d\n", takes);
    add_end(text);
    return word;
}

void clr_scan_text(struct clr_scan_text *text, const struct clr_scan_key *key)
{
    const int16_t *word = key->words;
    int i;

    text->complete = true;
    text->length = 0;
    add_head(text, key);
    for (i = 0; i < key->step_count; i++)
        word = add_step(text, word, i);
}
