#include "opencl/scan/row_text.h"

#include "numeric/values/column.h"

#include <stdarg.h>
#include <stdio.h>

/* Behind the instructions. */
enum { END = -1 };

#define NAME(name, function) [CLR_OP_##name] = #function,
static const char *const operators[CLR_OPCODES] = {CLR_OPERATORS(NAME, NAME, NAME)};
#undef NAME

static const char *const tag_names[] = {"VALUE_NULL", "VALUE_INTEGER", "VALUE_REAL", "VALUE_BYTES",
                                        "VALUE_UNSURE"};

/* Of codes, and of values, by their bytes. */
static const char *const types[] = {[1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "long"};

/* ---- The key of a row. */

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

static void add_word(struct clr_row_key *key, int word)
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

/* A lookup: its type and the kind of its column, and whether it may be unknown; which of the
   arguments the column is, or -1, and which of the lookups. */
enum { SHORT = 256, WIDTH = 512, UNKNOWN = 4096 };

static void add_lookup(struct clr_row_key *key, const struct clr_scan *scan, const uint8_t *kinds,
                       const struct clr_instruction *instruction)
{
    const struct clr_lookup *lookup = &scan->lookups[instruction->b];
    struct clr_row_arguments *arguments = &key->arguments;
    const size_t width = clr_kind_code_bytes(kinds[instruction->a]);
    int i;

    if (!clr_kind_has_values(lookup->kind)) {
        add_word(key, lookup->kind);
        add_word(key, -1);
        add_word(key, -1);
        return;
    }
    add_word(key, lookup->kind + (lookup->types & CLR_UNKNOWN_TYPES ? UNKNOWN : 0) +
                      (lookup->is_short ? SHORT : 0) + (int)width * WIDTH);
    add_word(key, column_in(arguments, kinds, instruction->a));
    i = number_in(arguments->lookups, &arguments->lookup_count, instruction->b);
    arguments->lookup_kinds[i] = lookup->kind;
    arguments->lookups_short[i] = lookup->is_short;
    add_word(key, i);
}

/* An instruction: its opcode; of what a register is loaded with the type, and which of the
   arguments it is, or -1 for none; and otherwise the registers of its operands. */
static void add_instruction(struct clr_row_key *key, const struct clr_scan *scan,
                            const uint8_t *kinds, const struct clr_instruction *instruction,
                            const int *names)
{
    struct clr_row_arguments *arguments = &key->arguments;
    int operands[3], count, i;
    uint8_t tag;

    add_word(key, (int)instruction->opcode);
    if (instruction->opcode == CLR_OP_COLUMN) {
        tag = kinds[instruction->a];
        add_word(key, tag);
        add_word(key, clr_kind_has_values(clr_kind_wide(tag))
                          ? column_in(arguments, kinds, instruction->a)
                          : -1);
    } else if (instruction->opcode == CLR_OP_LOOKUP) {
        add_lookup(key, scan, kinds, instruction);
    } else if (instruction->opcode == CLR_OP_CONSTANT) {
        const bool has_values = clr_kind_has_values(tag = scan->constants[instruction->a].tag);
        add_word(key, has_values ? tag : CLR_TAG_NULL);
        add_word(key, has_values ? number_in(arguments->constants, &arguments->constant_count,
                                             instruction->a)
                                 : -1);
    } else {
        count = clr_instruction_operands(instruction, operands);
        for (i = 0; i < count; i++)
            add_word(key, names[operands[i]]);
    }
}

/* Begins without words and arguments. */
static void begin_key(struct clr_row_key *key)
{
    key->arguments = (struct clr_row_arguments){.column_count = 0};
    key->length = 0;
}

/* Adds the scan's instructions that are used, in at most 4 words each, and one more, and the
   arguments that they need. Stores the number of the register of each, 0 for the first, in names,
   by the number of the instruction. */
static void add_instructions(struct clr_row_key *key, const struct clr_scan *scan,
                             const uint8_t *kinds, const bool *used, int *names)
{
    int i, registers = 0;

    for (i = 0; i < scan->instruction_count; i++) {
        if (used[i]) {
            names[i] = registers++;
            add_instruction(key, scan, kinds, &scan->instructions[i], names);
        }
    }
    add_word(key, END);
}

/* ---- The key's head, of all rows: whether those that pass the filter wait in a queue; and of the
   filter how many terms it has, what each of them is, and how many columns it needs. A term is its
   kind; of BOUNDS and TRUTHS the column's kind, and which of the arguments it and these are; of
   others the instructions, and the register that has to be true. */

/* BOUNDS: all comparisons of a narrow column with constants. TRUTHS: a lookup. SURE, DOUBTFUL: any
   instruction, which is unknown for no row, or may be. */
enum term_kind { DOUBTFUL, SURE, BOUNDS, TRUTHS };

struct term {
    enum term_kind kind;
    int number; /* of the instruction */
    int column;
    int cost; /* those that cost less come first */
};

/* Whether what is kept of a column of that kind is in the order of its values. */
static bool has_bounds(uint8_t kind)
{
    return clr_kind_narrow_bytes(kind) > 0 &&
           clr_kind_wide(kind) == (clr_kind_has_decimals(kind) ? CLR_TAG_REAL : CLR_TAG_INTEGER);
}

/* Comparisons of columns cost nothing but them; the truths of more codes lie farther away. */
static struct term find_term(const struct clr_scan *scan, const uint8_t *kinds, const bool *sure,
                             int number)
{
    const struct clr_instruction *instruction = &scan->instructions[number];
    struct term term = {.kind = sure[number] ? SURE : DOUBTFUL, .number = number};
    const struct clr_lookup *lookup;

    if (term.kind != SURE)
        return term;
    if (clr_terms_compare(scan, number, &term.column)) {
        if (has_bounds(kinds[term.column]))
            term.kind = BOUNDS;
        return term;
    }
    if (instruction->opcode != CLR_OP_LOOKUP)
        return term;
    lookup = &scan->lookups[instruction->b];
    if (!clr_kind_has_values(lookup->kind))
        return term;
    term.kind = TRUTHS;
    term.column = instruction->a;
    term.cost = (int)clr_kind_code_bytes(kinds[instruction->a]);
    return term;
}

/* Puts a term among the others, the doubtful ones first, and returns how many there are then: the
   bounds of a column are one. */
static int place_term(struct term *terms, int count, struct term term)
{
    int i;

    for (i = 0; i < count; i++)
        if (term.kind == BOUNDS && terms[i].kind == BOUNDS && terms[i].column == term.column)
            return count;
    for (i = count; i > 0; i--) {
        const struct term *other = &terms[i - 1];

        if (term.kind == DOUBTFUL ? other->kind == DOUBTFUL
                                  : other->kind == DOUBTFUL || other->cost <= term.cost)
            break;
        terms[i] = *other;
    }
    terms[i] = term;
    return count + 1;
}

/* Stores which instructions a tally needs, without those of the scan's filter. */
static void find_used_by(const struct clr_scan *scan, const struct clr_tally *tally,
                         bool used[CLR_MOST_INSTRUCTIONS])
{
    struct clr_scan unfiltered = *scan;

    unfiltered.filter = -1;
    clr_scan_find_used(&unfiltered, tally, used);
}

/* Stores which instructions one of them needs, and returns how many they are. */
static int find_needed(const struct clr_scan *scan, int number, bool used[CLR_MOST_INSTRUCTIONS])
{
    const struct clr_tally tally = {.x = number, .y = -1, .filter = -1};
    int count = 0, i;

    find_used_by(scan, &tally, used);
    for (i = 0; i < scan->instruction_count; i++)
        count += used[i];
    return count;
}

/* Whether no row of a column of that kind is BYTES. */
static bool is_sure(uint8_t kind)
{
    return kind != CLR_TAG_MIXED && kind != CLR_TAG_BYTES;
}

/* Stores the terms in the order in which they are evaluated, and returns how many they are. Terms
   that share too many instructions stay one. */
static int find_terms(const struct clr_scan *scan, const uint8_t *kinds,
                      struct term terms[CLR_MOST_TERMS_OF_FILTER])
{
    bool sure_columns[CLR_MOST_COLUMNS], sure[CLR_MOST_INSTRUCTIONS], used[CLR_MOST_INSTRUCTIONS];
    int numbers[CLR_MOST_TERMS_OF_FILTER], count, needed = 0, placed = 0, i;

    for (i = 0; i < scan->column_count; i++)
        sure_columns[i] = is_sure(clr_kind_wide(kinds[i]));
    clr_terms_find_sure(scan, sure_columns, sure);
    count = clr_terms_split(scan, numbers);
    for (i = 0; i < count; i++)
        needed += find_needed(scan, numbers[i], used);
    if (needed > CLR_MOST_SCAN_INSTRUCTIONS) {
        numbers[0] = scan->filter;
        count = 1;
    }
    for (i = 0; i < count; i++)
        placed = place_term(terms, placed, find_term(scan, kinds, sure, numbers[i]));
    return placed;
}

static void add_term(struct clr_row_key *key, const struct clr_scan *scan, const uint8_t *kinds,
                     const struct term *term)
{
    const struct clr_instruction *instruction = &scan->instructions[term->number];
    struct clr_row_arguments *arguments = &key->arguments;
    bool used[CLR_MOST_INSTRUCTIONS];
    int names[CLR_MOST_SCAN_INSTRUCTIONS];

    add_word(key, (int)term->kind);
    if (term->kind == TRUTHS || term->kind == BOUNDS) {
        add_word(key, kinds[term->column]);
        add_word(key, column_in(arguments, kinds, term->column));
        add_word(key, term->kind == TRUTHS
                          ? number_in(arguments->truths, &arguments->truth_count, instruction->b)
                          : number_in(arguments->bounds, &arguments->bound_count, term->column));
        return;
    }
    find_needed(scan, term->number, used);
    add_instructions(key, scan, kinds, used, names);
    add_word(key, names[term->number]);
}

/* Adds the scan's filter. Its columns are the first of the arguments. */
static void add_filter(struct clr_row_key *key, const struct clr_scan *scan, const uint8_t *kinds)
{
    struct term terms[CLR_MOST_TERMS_OF_FILTER];
    const int count = find_terms(scan, kinds, terms);
    int i;

    add_word(key, count);
    for (i = 0; i < count; i++)
        add_term(key, scan, kinds, &terms[i]);
    key->arguments.filter_columns = key->arguments.column_count;
    add_word(key, key->arguments.filter_columns);
}

/* ---- The text of a row. */

/* Adds to the part that is being written, as printf(). */
static void __attribute__((format(printf, 2, 3)))
add_text(struct clr_row_text *text, const char *format, ...)
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

/* Ends that part. */
static void end_text(struct clr_row_text *text)
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
        add_text(text, "scalar_of(%s, 0);", tag_names[kind]);
    else if (kind == CLR_TAG_MIXED)
        add_text(text, "scalar_of(lt%d[AT(v%d)], lv%d[AT(v%d)]);", lookup, column, lookup, column);
    else
        add_text(text, "scalar_of(%s, lv%d[AT(v%d)]);", tag_names[kind], lookup, column);
    return word + 3;
}

/* Adds what a row has of a column of that kind. */
static void add_value(struct clr_row_text *text, uint8_t kind, int argument)
{
    const uint8_t tag = clr_kind_wide(kind);

    if (tag == CLR_TAG_MIXED)
        add_text(text, "scalar_of(AT(t%d), ", argument);
    else
        add_text(text, "scalar_of(%s, ", tag_names[tag]);
    if (clr_kind_has_decimals(kind))
        add_text(text, "decimal_bits(AT(v%d), b%d, p%d, q%d));", argument, argument, argument,
                 argument);
    else if (tag != kind)
        add_text(text, "b%d + AT(v%d));", argument, argument);
    else
        add_text(text, "AT(v%d));", argument);
}

/* Adds an instruction, from its first word on. Returns the word after it. */
static const int16_t *add_register(struct clr_row_text *text, const int16_t *word, int number)
{
    const enum clr_opcode opcode = (enum clr_opcode) * word++;
    int i;

    add_text(text, " scalar r%d = ", number);
    if (opcode == CLR_OP_LOOKUP)
        return add_look_up(text, word);
    if (opcode == CLR_OP_COLUMN || opcode == CLR_OP_CONSTANT) {
        const int tag = *word++, argument = *word++;
        if (argument < 0)
            add_text(text, "scalar_of(%s, 0);", tag_names[tag]);
        else if (opcode == CLR_OP_CONSTANT)
            add_text(text, "scalar_of(%s, k%d);", tag_names[tag], argument);
        else
            add_value(text, (uint8_t)tag, argument);
        return word;
    }
    add_text(text, "%s(r%d", operators[opcode], *word++);
    for (i = 1; i < clr_opcode_operands(opcode); i++)
        add_text(text, ", r%d", *word++);
    add_text(text, ");");
    return word;
}

/* How an argument is written: as a kernel takes it, as a function takes it, or a row's value of it,
   and as that is passed on; and an array of a column in a list. */
enum form { FORMAL, VALUE, PASSED, LISTED };

static void add_array(struct clr_row_text *text, enum form form, const char *type, const char *name,
                      int number)
{
    if (form == PASSED)
        add_text(text, " AT(%s%d),", name, number);
    else if (form == FORMAL)
        add_text(text, " __global const %s *restrict %s%d,", type, name, number);
    else
        add_text(text, form == VALUE ? " %s %s%d," : " X(%s, %s%d)", type, name, number);
}

/* Adds the columns from one to another. */
static void add_columns(struct clr_row_text *text, enum form form,
                        const struct clr_row_arguments *arguments, int first, int last)
{
    int i;

    for (i = first; i < last; i++) {
        const uint8_t kind = arguments->kinds[i];

        add_array(text, form, types[clr_kind_value_bytes(kind)], "v", i);
        if (clr_kind_wide(kind) == CLR_TAG_MIXED)
            add_array(text, form, "uchar", "t", i);
        if (clr_kind_narrow_bytes(kind) > 0 && form != LISTED)
            add_text(text, form == PASSED ? " b%d," : " long b%d,", i);
        if (clr_kind_has_decimals(kind) && form != LISTED)
            add_text(text, form == PASSED ? " p%d, q%d," : " long p%d, ulong q%d,", i, i);
    }
}

/* Adds a buffer, as a kernel and a function take it, or as it is passed on. */
static void add_buffer(struct clr_row_text *text, enum form form, const char *type,
                       const char *name, int number)
{
    if (form == PASSED)
        add_text(text, " %s%d,", name, number);
    else
        add_array(text, FORMAL, type, name, number);
}

/* The kernel's first arguments, and those of a function. */
static void add_all(struct clr_row_text *text, enum form form,
                    const struct clr_row_arguments *arguments)
{
    int i;

    add_columns(text, form, arguments, 0, arguments->column_count);
    for (i = 0; i < arguments->lookup_count; i++) {
        add_buffer(text, form, arguments->lookups_short[i] ? "char" : "long", "lv", i);
        if (arguments->lookup_kinds[i] == CLR_TAG_MIXED)
            add_buffer(text, form, "uchar", "lt", i);
    }
    for (i = 0; i < arguments->constant_count; i++)
        add_text(text, form == PASSED ? " k%d," : " long k%d,", i);
}

/* The kernel's arguments that the filter alone needs. */
static void add_filter_formals(struct clr_row_text *text, const struct clr_row_arguments *arguments)
{
    int i;

    for (i = 0; i < arguments->truth_count; i++)
        add_array(text, FORMAL, "uint", "lb", i);
    for (i = 0; i < arguments->bound_count; i++)
        add_text(text, " uint wl%d, uint wm%d,", i, i);
    if (arguments->bound_count > 0)
        add_text(text, " uint any,");
}

static void begin_text(struct clr_row_text *text)
{
    text->complete = true;
    text->length = 0;
}

/* Defines what kernels/scan/filter.cl and those that follow it have of the arguments. */
static void add_arguments(struct clr_row_text *text, const struct clr_row_arguments *arguments)
{
    add_text(text, "#define ROW_FORMALS");
    add_all(text, FORMAL, arguments);
    add_filter_formals(text, arguments);
    add_text(text, "\n#define ROW_VALUES");
    add_all(text, VALUE, arguments);
    add_text(text, "\n#define ROW_ARGUMENTS");
    add_all(text, PASSED, arguments);
    add_text(text, "\n#define FOR_EACH_FILTER_COLUMN(X)");
    add_columns(text, LISTED, arguments, 0, arguments->filter_columns);
    add_text(text, "\n#define FOR_EACH_OTHER_COLUMN(X)");
    add_columns(text, LISTED, arguments, arguments->filter_columns, arguments->column_count);
    add_text(text, "\n#define FILTER_PASSES %s\n", arguments->bound_count > 0 ? "any" : "1");
}

/* Declares and computes the registers r0, r1, ... of a row, where AT(array) is what that has of it,
   from the words of the instructions. Returns the word after them. */
static const int16_t *add_registers(struct clr_row_text *text, const int16_t *word)
{
    int i;

    for (i = 0; *word != END; i++)
        word = add_register(text, word, i);
    return word + 1;
}

/* Defines ROW_BODY, which are the registers. Returns the word after them. */
static const int16_t *add_body(struct clr_row_text *text, const int16_t *word)
{
    add_text(text, "#undef ROW_BODY\n#define ROW_BODY");
    word = add_registers(text, word);
    add_text(text, "\n");
    return word;
}

/* Defines a term of the filter, from its first word on. Returns the word after it. */
static const int16_t *add_term_text(struct clr_row_text *text, const int16_t *word, int number)
{
    const enum term_kind kind = (enum term_kind) * word++;

    add_text(text, "#define TERM_%d {", number);
    if (kind == TRUTHS) {
        add_text(text, " TRUTH(lb%d, AT(v%d)) }\n", word[2], word[1]);
        return word + 3;
    }
    if (kind == BOUNDS) {
        add_text(text, " WITHIN(AT(v%d), wl%d, wm%d) }\n", word[1], word[2], word[2]);
        return word + 3;
    }
    word = add_registers(text, word);
    add_text(text, kind == SURE ? " SURE(r%d) }\n" : " DOUBTFUL(r%d) }\n", *word);
    return word + 1;
}

/* Defines the filter, from its first word on: see kernels/scan/filter.cl. Returns the word after
   it. */
static const int16_t *add_filter_text(struct clr_row_text *text, const int16_t *word)
{
    const int count = *word++;
    int i;

    for (i = 0; i < count; i++)
        word = add_term_text(text, word, i);
    add_text(text, "#define FOR_EACH_TERM(X)");
    for (i = 0; i < count; i++)
        add_text(text, " X(TERM_%d)", i);
    add_text(text, "\n");
    return word + 1;
}

/* Bytes of the widest column that a work-item loads at a time: two vectors, or one where there are
   groups of several columns, whose records take registers as well. Measured on an H200 by
   bench/device-bench narrow and by bench/group-bench. */
enum { LOADED_BYTES = 32, LOADED_BYTES_OF_GROUPS = 16 };

/* Returns how many rows a work-item takes at a time. */
static int choose_batch(const struct clr_row_arguments *arguments, int bytes)
{
    size_t widest = 1;
    int i;

    for (i = 0; i < arguments->column_count; i++)
        if (clr_kind_value_bytes(arguments->kinds[i]) > widest)
            widest = clr_kind_value_bytes(arguments->kinds[i]);
    return bytes / (int)widest < CLR_MOST_BATCH ? bytes / (int)widest : CLR_MOST_BATCH;
}

/* Defines what kernels/scan/filter.cl needs. Returns the key's word after its head. */
static const int16_t *add_rows(struct clr_row_text *text, const struct clr_row_key *key, int bytes)
{
    add_arguments(text, &key->arguments);
    add_text(text, "#define QUEUED %d\n#define ROWS_AT_ONCE %d\n", key->words[0],
             choose_batch(&key->arguments, bytes));
    return add_filter_text(text, key->words + 1);
}

/* ---- The key of a scan. */

/* Behind the head of all rows, a step: its kind, whether it takes values, and all of a narrow
   column's; the instructions that it needs; the registers of its own filter and the operands, or
   -1; and its base. */
enum { OPERATION, ELEMENT, TAKES, WHOLE, HEAD_WORDS, ROOTS = 3 };

/* Returns the argument of a step's column if it adds what that has, which is narrow and of
   INTEGERs, or else -1. */
static int find_base(const struct clr_row_arguments *arguments, const struct clr_scan_plan *plan,
                     const struct clr_scan_step *step)
{
    const int x = plan->scan->tallies[step->tally].x;
    uint8_t kind;
    int i;

    if (step->operation != CLR_SUM || step->element != CLR_INTEGER || step->whole || x < 0 ||
        plan->scan->instructions[x].opcode != CLR_OP_COLUMN)
        return -1;
    kind = plan->kinds[plan->scan->instructions[x].a];
    if (clr_kind_narrow_bytes(kind) == 0 || clr_kind_has_decimals(kind))
        return -1;
    for (i = 0; arguments->columns[i] != plan->scan->instructions[x].a; i++)
        ;
    return i;
}

static void add_key_step(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                         const struct clr_scan_step *step)
{
    const struct clr_scan *scan = plan->scan;
    const struct clr_tally *tally = &scan->tallies[step->tally];
    /* A filter that all rows pass needs no column. */
    const struct clr_tally looked_at = {
        .x = tally->x, .y = tally->y, .filter = step->whole ? -1 : tally->filter};
    const int roots[ROOTS] = {looked_at.filter, looked_at.x, looked_at.y};
    bool used[CLR_MOST_INSTRUCTIONS];
    int names[CLR_MOST_SCAN_INSTRUCTIONS], i;
    int *base = &key->bases[key->step_count];

    key->steps[key->step_count++] = (struct clr_step_kind){step->operation, step->element};
    add_word(&key->row, (int)step->operation);
    add_word(&key->row, (int)step->element);
    add_word(&key->row, step->takes);
    add_word(&key->row, step->whole);
    key->whole = step->whole;
    find_used_by(scan, &looked_at, used);
    add_instructions(&key->row, scan, plan->kinds, used, names);
    for (i = 0; i < ROOTS; i++)
        add_word(&key->row, roots[i] >= 0 ? names[roots[i]] : -1);
    *base = find_base(&key->row.arguments, plan, step);
    add_word(&key->row, *base);
}

void clr_scan_key(struct clr_scan_key *key, const struct clr_scan_plan *plan,
                  const struct clr_scan_bundle *bundle)
{
    int i;

    key->step_count = 0;
    begin_key(&key->row);
    add_word(&key->row, plan->queued);
    add_filter(&key->row, plan->scan, plan->kinds);
    for (i = 0; i < bundle->count; i++)
        add_key_step(key, plan, &plan->steps[bundle->steps[i]]);
}

/* ---- The text of a scan. */

/* What all steps share. Returns the word after the filter's. */
static const int16_t *add_head(struct clr_row_text *text, const struct clr_scan_key *key)
{
    const int16_t *word;
    int i;

    word = add_rows(text, &key->row, LOADED_BYTES);
    add_text(text, "#define BRANCHES 1\n#define STEPS %d\n#define FOR_EACH_STEP(X)",
             key->step_count);
    for (i = 0; i < key->step_count; i++) {
        const struct clr_kernel_kind *kind =
            clr_kernel_kind_of(key->steps[i].operation, key->steps[i].element);
        add_text(text, " X(%d, %s, %s)", i, kind->name,
                 kind->real           ? "WIDE"
                 : key->bases[i] >= 0 ? "DISTANCES"
                                      : "NARROW");
    }
    add_text(text, "\n#define WHOLE %d\n",
             key->whole ? (int)clr_kind_narrow_bytes(key->row.arguments.kinds[0]) : 0);
    add_text(text, "#define WHOLE_SUMS %d\n#define WHOLE_DECIMALS %d\n",
             key->steps[0].operation == CLR_SUM, key->steps[0].element == CLR_REAL);
    for (i = 0; i < key->step_count; i++)
        if (key->bases[i] >= 0)
            add_text(text, "#define BASE_%d b%d\n", i, key->bases[i]);
    end_text(text);
    return word;
}

/* Adds a step, from its first word on. Returns the word after it. */
static const int16_t *add_step(struct clr_row_text *text, const int16_t *word, int number)
{
    static const char *const roots[ROOTS] = {"ROW_OWN_FILTER", "ROW_X", "ROW_Y"};
    const struct clr_kernel_kind *kind =
        clr_kernel_kind_of((enum clr_operation)word[OPERATION], (enum clr_element)word[ELEMENT]);
    const int takes = word[TAKES];
    int i;

    add_text(text, "#undef STEP\n#undef KIND\n#undef REAL\n#undef KEYS\n#undef OPERANDS\n");
    add_text(
        text,
        "#define STEP %d\n#define KIND %s\n#define REAL %d\n#define KEYS %d\n#define OPERANDS %d\n",
        number, kind->name, kind->real, kind->keys, kind->operands);
    word = add_body(text, word + HEAD_WORDS);
    for (i = 0; i < ROOTS; i++, word++) {
        if (*word >= 0)
            add_text(text, "#undef %s\n#define %s r%d\n", roots[i], roots[i], *word);
        else
            add_text(text, "#undef %s\n#define %s scalar_integer(1)\n", roots[i], roots[i]);
    }
    add_text(text, "#undef ROW_TAKES\n#define ROW_TAKES %d\n", takes);
    if (*word >= 0)
        add_text(text, "#undef ROW_BASE\n#define ROW_BASE b%d\n", *word);
    else
        add_text(text, "#undef ROW_BASE\n#define ROW_BASE 0\n");
    end_text(text);
    return word + 1;
}

void clr_scan_text(struct clr_row_text *text, const struct clr_scan_key *key)
{
    const int16_t *word;
    int i;

    begin_text(text);
    word = add_head(text, key);
    for (i = 0; i < key->step_count; i++)
        word = add_step(text, word, i);
}

/* ---- Groups. */

/* Kernels have a bit for each tally. Of a tally six words at most are added. */
_Static_assert(CLR_MOST_SCAN_TALLIES <= 32, "more tallies than bits");
enum { MOST_ADDS = 1 + 6 * CLR_MOST_SCAN_TALLIES };

/* ---- The key of groups: the head of all rows; the instructions of all else;
   how many words of each sort there are; the registers of the keys; and what a tally has. */

static void find_used(const struct clr_group_plan *plan, bool *used)
{
    const struct clr_scan *scan = plan->scan;
    bool one[CLR_MOST_INSTRUCTIONS];
    int i, j;

    for (j = 0; j < scan->instruction_count; j++)
        used[j] = false;
    for (i = 0; i < plan->tally_count + plan->grouping.key_count; i++) {
        struct clr_tally tally = {.x = -1, .y = -1, .filter = -1};

        if (i < plan->tally_count) {
            tally.x = scan->tallies[i].x;
            tally.y = scan->tallies[i].y;
            tally.filter = plan->tallies[i].filter;
        } else {
            tally.x = plan->grouping.keys[i - plan->tally_count];
        }
        find_used_by(scan, &tally, one);
        for (j = 0; j < scan->instruction_count; j++)
            used[j] = used[j] || one[j];
    }
}

enum { FILTER, X, Y, REGISTERS };
enum {
    X_TYPES = REGISTERS,
    Y_TYPES,
    UNSURE_FROM,
    IS_DOT,
    MISSES,
    OTHERS,
    INTEGER,
    IS_LIMITED,
    REAL,
    INTEGERS,
    REALS,
    WIDE,
    REAL_WIDE,
    TALLY_WORDS
};

/* Words that are added, by their numbers: those that are no counts. Returns how many they are. */
static int find_wides(const struct clr_group_plan *plan, bool *wide)
{
    int wides = 0, i;

    for (i = 0; i < plan->adds; i++)
        wide[i] = i > 0;
    for (i = 0; i < plan->tally_count; i++) {
        if (plan->tallies[i].missing >= 0)
            wide[plan->tallies[i].missing] = false;
        if (plan->tallies[i].others >= 0)
            wide[plan->tallies[i].others] = false;
    }
    for (i = 0; i < plan->adds; i++)
        wides += wide[i];
    return wides;
}

int clr_group_wide_words(const struct clr_group_plan *plan)
{
    bool wide[MOST_ADDS];

    return find_wides(plan, wide);
}

/* Returns the number of a word among the wide ones. */
static int number_among(const bool *wide, int word)
{
    int number = 0, i;

    for (i = 0; i < word; i++)
        number += wide[i];
    return number;
}

static void add_tally(struct clr_row_key *key, const struct clr_group_plan *plan, int number,
                      const int *names, const bool *wide)
{
    const struct clr_group_tally *kept = &plan->tallies[number];
    const struct clr_tally *tally = &plan->scan->tallies[number];
    const int words[TALLY_WORDS] = {
        [FILTER] = kept->filter < 0 ? -1 : names[kept->filter],
        [X] = tally->x < 0 ? -1 : names[tally->x],
        [Y] = tally->y < 0 ? -1 : names[tally->y],
        [X_TYPES] = (int)kept->x_types,
        [Y_TYPES] = tally->y < 0 ? (int)CLR_TYPE(CLR_TAG_INTEGER) : (int)kept->y_types,
        [UNSURE_FROM] = tally->operations != 0 ? CLR_TAG_BYTES : CLR_TAG_UNSURE,
        [IS_DOT] = clr_tally_does(tally, CLR_DOT),
        [MISSES] = kept->missing,
        [OTHERS] = kept->others,
        [INTEGER] = kept->integer,
        [IS_LIMITED] = kept->integer_limit != 0,
        [REAL] = kept->real_high,
        [INTEGERS] = kept->extremes[0],
        [REALS] = kept->extremes[2],
        [WIDE] = number_among(wide, kept->integer),
        [REAL_WIDE] = number_among(wide, kept->real_high),
    };
    int i;

    for (i = 0; i < TALLY_WORDS; i++)
        add_word(key, words[i]);
}

void clr_group_key(struct clr_row_key *key, const struct clr_group_plan *plan, const uint8_t *kinds,
                   bool queued)
{
    const struct clr_scan *scan = plan->scan;
    bool used[CLR_MOST_INSTRUCTIONS], wide[MOST_ADDS];
    int names[CLR_MOST_SCAN_INSTRUCTIONS], i;

    begin_key(key);
    add_word(key, queued);
    add_filter(key, scan, kinds);
    find_used(plan, used);
    add_instructions(key, scan, kinds, used, names);
    add_word(key, plan->in_runs && !queued);
    add_word(key, find_wides(plan, wide));
    add_word(key, plan->adds);
    for (i = 0; i < plan->adds; i++)
        add_word(key, wide[i]);
    add_word(key, (int)plan->stride - plan->adds);
    add_word(key, plan->grouping.by_first);
    add_word(key, plan->grouping.key_count);
    for (i = 0; i < plan->grouping.key_count; i++)
        add_word(key, names[plan->grouping.keys[i]]);
    add_word(key, plan->tally_count);
    for (i = 0; i < plan->tally_count; i++)
        add_tally(key, plan, i, names, wide);
}

/* ---- The text of groups. */

static void add_operand(struct clr_row_text *text, int number)
{
    if (number < 0)
        add_text(text, "scalar_integer(1)");
    else
        add_text(text, "r%d", number);
}

void clr_group_text(struct clr_row_text *text, const struct clr_row_key *key)
{
    const int16_t *word;
    int count, i, j;

    begin_text(text);
    word = add_rows(text, key,
                    key->words[0] || key->arguments.column_count == 1 ? LOADED_BYTES
                                                                      : LOADED_BYTES_OF_GROUPS);
    word = add_body(text, word);
    add_text(text, "#define BRANCHES 0\n#define IN_RUNS %d\n", *word++);
    add_text(text, "#define WIDES %d\n", *word++);
    count = *word++;
    add_text(text, "#define ADDS %d\n#define FOR_EACH_ADD(X)", count);
    for (i = j = 0; i < count; i++)
        if (*word++)
            add_text(text, " X(%d, %d)", i, j++);
        else
            add_text(text, " X(%d, NARROW)", i);
    add_text(text, "\n#define MOSTS %d\n#define FOR_EACH_MOST(X)", *word);
    for (i = 0; i < *word; i++)
        add_text(text, " X(%d)", count + i);
    word++;
    add_text(text, "\n");
    add_text(text, "#define BY_FIRST %d\n", *word++);
    count = *word++;
    add_text(text, "#define KEYS %d\n#define FOR_EACH_KEY(X)", count);
    for (i = 0; i < count; i++)
        add_text(text, " X(%d, r%d)", i, *word++);
    count = *word++;
    add_text(text, "\n#define FOR_EACH_TALLY(X)");
    for (i = 0; i < count; i++) {
        add_text(text, " X(%d", i);
        for (j = 0; j < TALLY_WORDS; j++) {
            add_text(text, ", ");
            if (j < REGISTERS)
                add_operand(text, *word++);
            else
                add_text(text, "%d", *word++);
        }
        add_text(text, ")");
    }
    add_text(text, "\n");
    end_text(text);
}
