#include "numeric/scan/block.h"

#include "../../../kernels/arithmetic/reals.cl"
#include "../../../kernels/scan/values.cl"
#include "../../../kernels/scan/values_logic.cl"
#include "base/memory.h"
#include "numeric/scan/row_truths.h"

#include <string.h>

enum { ALIGNMENT = 64, TAGS = CLR_TAG_UNSURE + 1 };

/* Fills the register of a constant once and for all; reals is room for it as REALs. */
static void fill_constant(const struct clr_loops *loops, const struct clr_scalar *constant,
                          int64_t *reals, struct clr_register *result)
{
    size_t i;

    for (i = 0; i < CLR_BLOCK; i++)
        result->own_values[i] = constant->bits;
    if (constant->tag == CLR_TAG_INTEGER && loops->to_reals(result->own_values, reals))
        result->reals = reals;
}

/* One piece of memory: the arrays of the registers and of the block, and behind them the structs.
 */
struct clr_block *clr_block_new(const struct clr_scan *scan)
{
    size_t registers = (size_t)scan->instruction_count, array = CLR_BLOCK * sizeof(int64_t);
    size_t constants = (size_t)scan->constant_count;
    size_t arrays = (registers + constants + 1) * array + (registers + TAGS) * CLR_BLOCK, i;
    struct clr_block *block;
    char *memory = clr_memory_alloc(sizeof *block + registers * sizeof(struct clr_register) +
                                    arrays + ALIGNMENT);
    int64_t *reals;
    char *next;

    if (memory == NULL)
        return NULL;
    block = (struct clr_block *)(void *)memory;
    block->scan = scan;
    block->is_lazy = NULL;
    block->ran = scan->instruction_count;
    block->loops = clr_loops_choose(0);
    block->registers = (struct clr_register *)(void *)(memory + sizeof *block);
    next = memory + sizeof *block + registers * sizeof(struct clr_register);
    next += ALIGNMENT - (uintptr_t)next % ALIGNMENT;
    block->converted = (int64_t *)(void *)next;
    next += array;
    for (i = 0; i < registers; i++, next += array)
        block->registers[i].own_values = (int64_t *)(void *)next;
    reals = (int64_t *)(void *)next;
    next += constants * array;
    for (i = 0; i < registers; i++, next += CLR_BLOCK)
        block->registers[i].own_tags = (uint8_t *)next;
    for (i = 0; i < TAGS; i++, next += CLR_BLOCK) {
        memset(next, (int)i, CLR_BLOCK);
        block->uniform[i] = (const uint8_t *)next;
    }
    for (i = 0; i < registers; i++) {
        const struct clr_instruction *instruction = &scan->instructions[i];
        block->registers[i].reals = NULL;
        if (instruction->opcode == CLR_OP_CONSTANT)
            fill_constant(block->loops, &scan->constants[instruction->a],
                          reals + (size_t)instruction->a * CLR_BLOCK, &block->registers[i]);
    }
    clr_terms_find(scan, &block->terms);
    return block;
}

static void set_rows(struct clr_block *block, struct clr_column *const *columns, size_t first,
                     size_t count, size_t next)
{
    block->columns = columns;
    block->first = first;
    block->count = count;
    block->next = next;
    block->fetched = 0;
    block->ran = 0;
}

void clr_block_set_rows(struct clr_block *block, size_t first, size_t count)
{
    const struct clr_scan *scan = block->scan;
    const uint32_t *place = scan->blocks == NULL ? NULL : scan->blocks + first / CLR_BLOCK;
    size_t next = first + 2 * CLR_BLOCK <= scan->rows ? CLR_BLOCK : 0;

    if (place != NULL) {
        first = place[0] * (size_t)CLR_BLOCK;
        next = next == 0 ? 0 : (place[1] - place[0]) * (size_t)CLR_BLOCK;
    }
    set_rows(block, scan->columns, first, count, next);
}

void clr_block_set_gathered(struct clr_block *block, struct clr_column *const *columns,
                            size_t count)
{
    set_rows(block, columns, 0, count, 0);
}

const int64_t *clr_block_ahead(struct clr_block *block, const int64_t *values)
{
    const struct clr_scan *scan = block->scan;

    while (block->next > 0 && block->fetched < scan->instruction_count) {
        const int number = block->fetched++;
        const struct clr_instruction *instruction = &scan->instructions[number];

        if (instruction->opcode == CLR_OP_COLUMN && block->terms.stages[number] & block->ran &&
            block->columns[instruction->a]->words == NULL)
            return block->columns[instruction->a]->values + block->first + block->next;
    }
    return values;
}

/* ---- Sets of rows. */

bool clr_row_set_find(const struct clr_loops *loops, const struct clr_register *values,
                      enum clr_tag tag, const uint64_t *restrict rows, uint64_t *restrict found)
{
    uint64_t any = 0;
    size_t i;

    if (!(values->types & CLR_TYPE(tag)))
        return false;
    if (values->types == CLR_TYPE(tag)) {
        memcpy(found, rows, CLR_BLOCK_WORDS * sizeof *found);
    } else {
        loops->select_tag(values->tags, (uint8_t)tag, found);
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            found[i] &= rows[i];
    }
    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        any |= found[i];
    return any != 0;
}

/* Stores those of the rows whose value is true: a number other than zero, and -0.0 is zero. */
static void find_true(const struct clr_loops *loops, const struct clr_register *values,
                      const uint64_t *restrict rows, uint64_t *restrict found)
{
    static const int64_t masks[] = {[CLR_TAG_INTEGER] = -1, [CLR_TAG_REAL] = INT64_MAX};
    uint64_t numbers[CLR_BLOCK_WORDS], set[CLR_BLOCK_WORDS];
    int tag;
    size_t i;

    memset(found, 0, CLR_BLOCK_WORDS * sizeof *found);
    for (tag = CLR_TAG_INTEGER; tag <= CLR_TAG_REAL; tag++) {
        if (!clr_row_set_find(loops, values, (enum clr_tag)tag, rows, numbers))
            continue;
        loops->select(values->values, masks[tag], set);
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            found[i] |= numbers[i] & set[i];
    }
}

/* ---- Instructions value by value, for whatever types the values have. */

typedef void loop_function(const struct clr_register *a, const struct clr_register *b,
                           const struct clr_register *c, struct clr_register *result);

#define VALUE(r) scalar_of((r)->tags[i], (r)->values[i])
#define LOOP(function, ...)                                                                        \
    static void each_##function(const struct clr_register *a, const struct clr_register *b,        \
                                const struct clr_register *c, struct clr_register *result)         \
    {                                                                                              \
        size_t i;                                                                                  \
        (void)b, (void)c;                                                                          \
        for (i = 0; i < CLR_BLOCK; i++) {                                                          \
            scalar value = function(__VA_ARGS__);                                                  \
            result->own_values[i] = value.bits;                                                    \
            result->own_tags[i] = (uint8_t)value.tag;                                              \
        }                                                                                          \
    }
#define LOOP_1(name, function) LOOP(function, VALUE(a))
#define LOOP_2(name, function) LOOP(function, VALUE(a), VALUE(b))
#define LOOP_3(name, function) LOOP(function, VALUE(a), VALUE(b), VALUE(c))
CLR_OPERATORS(LOOP_1, LOOP_2, LOOP_3)

#define ENTRY(name, function) [CLR_OP_##name] = each_##function,
static loop_function *const operators[CLR_OPCODES] = {CLR_OPERATORS(ENTRY, ENTRY, ENTRY)};

/* Sets the result's values and tags, not its types, for a whole block. */
static void run_by_value(enum clr_opcode opcode, const struct clr_register *a,
                         const struct clr_register *b, const struct clr_register *c,
                         struct clr_register *result)
{
    operators[opcode](a, b, c, result);
    result->values = result->own_values;
    result->tags = result->own_tags;
}

#define NULLS CLR_TYPE(CLR_TAG_NULL)

/* ---- Blocks. */

/* Gives all rows of the register one tag. */
static void set_type(const struct clr_block *block, struct clr_register *result, int tag)
{
    result->types = CLR_TYPE(tag);
    result->tags = block->uniform[tag];
}

static void alias(struct clr_register *result, const struct clr_register *source)
{
    result->types = source->types;
    result->values = source->values;
    result->tags = source->tags;
}

/* A short block is padded with values of a type that it has. is_lazy: clr_block_widen() may bring
   the values. */
static void load_column(const struct clr_block *block, const struct clr_column *column,
                        bool is_lazy, struct clr_register *result)
{
    size_t padding = CLR_BLOCK - block->count;

    if (is_lazy && padding == 0 && column->words != NULL && column->kind != CLR_TAG_MIXED) {
        result->values = NULL;
        set_type(block, result, column->kind);
        return;
    }
    result->values = clr_column_values(column, block->first, block->count, result->own_values);
    if (padding > 0) {
        if (result->values != result->own_values)
            memcpy(result->own_values, result->values, block->count * sizeof(int64_t));
        memset(result->own_values + block->count, 0, padding * sizeof(int64_t));
        result->values = result->own_values;
    }
    if (column->kind != CLR_TAG_MIXED) {
        set_type(block, result, column->kind);
        return;
    }
    result->tags = column->tags + block->first;
    if (padding > 0) {
        memcpy(result->own_tags, result->tags, block->count);
        memset(result->own_tags + block->count, result->own_tags[0], padding);
        result->tags = result->own_tags;
    }
    result->types = block->loops->find_tags(result->tags);
}

/* What a lookup has for the codes of a column. A short block is padded with the first code. */
static void look_up(const struct clr_block *block, const struct clr_column *column,
                    const struct clr_lookup *lookup, struct clr_register *result)
{
    const size_t width = column->code_bytes, padding = CLR_BLOCK - block->count;
    const char *codes = (const char *)column->codes + block->first * width;
    _Alignas(uint32_t) char padded[CLR_BLOCK * sizeof(uint32_t)];
    size_t i;

    if (padding > 0) {
        memcpy(padded, codes, block->count * width);
        for (i = block->count; i < CLR_BLOCK; i++)
            memcpy(padded + i * width, codes, width);
        codes = padded;
    }
    block->loops->look_up(codes, (int)width, lookup->values, result->own_values);
    result->values = result->own_values;
    if (lookup->kind != CLR_TAG_MIXED) {
        set_type(block, result, lookup->kind);
        return;
    }
    block->loops->look_up_tags(codes, (int)width, lookup->tags, result->own_tags);
    result->tags = result->own_tags;
    result->types = block->loops->find_tags(result->tags);
}

/* The one type, INTEGER or REAL, that the values have where they are not NULL, or NULL. */
static int number_type(const struct clr_register *values)
{
    if ((values->types & ~NULLS) == CLR_TYPE(CLR_TAG_INTEGER))
        return CLR_TAG_INTEGER;
    return (values->types & ~NULLS) == CLR_TYPE(CLR_TAG_REAL) ? CLR_TAG_REAL : CLR_TAG_NULL;
}

static bool gives_operand(enum clr_opcode opcode)
{
    return opcode == CLR_OP_LEAST || opcode == CLR_OP_GREATEST || opcode == CLR_OP_ABSOLUTE;
}

static bool gives_whole(enum clr_opcode opcode)
{
    return opcode == CLR_OP_FLOOR || opcode == CLR_OP_CEILING || opcode == CLR_OP_TRUNCATE;
}

static bool is_arithmetic(enum clr_opcode opcode)
{
    return opcode >= CLR_OP_ADD && opcode <= CLR_OP_REMAINDER;
}

/* The type of what a loop over values of one type gives. */
static int type_of_loop(enum clr_opcode opcode, int type)
{
    if (opcode == CLR_OP_TO_REAL || opcode == CLR_OP_ROUND)
        return CLR_TAG_REAL;
    return gives_operand(opcode) || gives_whole(opcode) || is_arithmetic(opcode) ? type
                                                                                 : CLR_TAG_INTEGER;
}

/* Without NULLs, whether two values are the same is whether they are equal. */
static enum clr_opcode simplify(enum clr_opcode opcode, unsigned types)
{
    if ((types & NULLS) == 0 && opcode == CLR_OP_IS)
        return CLR_OP_EQUAL;
    if ((types & NULLS) == 0 && opcode == CLR_OP_IS_NOT)
        return CLR_OP_UNEQUAL;
    return opcode;
}

/* Operators that are NULL where an operand is, of numbers that have one type each. Returns false if
   the block is not so simple. */
static bool run_loop(struct clr_block *block, enum clr_opcode opcode, const struct clr_register *a,
                     const struct clr_register *b, struct clr_register *result)
{
    const int64_t *x = a->values, *y = b->values;
    int type = number_type(a), type_b = number_type(b);
    clr_loop *loop;

    if (type == CLR_TAG_NULL || type_b == CLR_TAG_NULL)
        return false;
    if (type != type_b) {
        const int64_t **integers = type == CLR_TAG_INTEGER ? &x : &y;
        const int64_t *reals = (type == CLR_TAG_INTEGER ? a : b)->reals;
        if (gives_operand(opcode) || block->loops->reals[opcode] == NULL ||
            (reals == NULL && !block->loops->to_reals(*integers, block->converted) &&
             !is_arithmetic(opcode)))
            return false;
        *integers = reals != NULL ? reals : block->converted;
        type = CLR_TAG_REAL;
    }
    loop = type == CLR_TAG_REAL ? block->loops->reals[opcode] : block->loops->integers[opcode];
    if (loop == NULL || !loop(x, y, result->own_values, clr_block_ahead(block, x)))
        return false;
    result->values = result->own_values;
    type = type_of_loop(opcode, type);
    set_type(block, result, type);
    if ((a->types | b->types) & NULLS) {
        block->loops->spread_nulls(a->tags, b->tags, (uint8_t)type, result->own_tags);
        result->tags = result->own_tags;
        result->types |= NULLS;
    }
    return true;
}

static bool has_loop(enum clr_opcode opcode, unsigned types)
{
    bool logical = opcode == CLR_OP_AND || opcode == CLR_OP_OR; /* not always NULL of NULL */
    return !(logical && (types & NULLS));
}

static void find_nulls(const struct clr_block *block, const struct clr_register *values,
                       const uint64_t *restrict rows, uint64_t *restrict found)
{
    if (!clr_row_set_find(block->loops, values, CLR_TAG_NULL, rows, found))
        memset(found, 0, CLR_BLOCK_WORDS * sizeof *found);
}

/* AND and OR of numbers and NULLs, by sets of rows. One operand may settle the result, false of AND
   and true of OR, whatever the other one is. */
static bool run_logic(const struct clr_block *block, enum clr_opcode opcode,
                      const struct clr_register *a, const struct clr_register *b,
                      struct clr_register *result)
{
    uint64_t all[CLR_BLOCK_WORDS], a_true[CLR_BLOCK_WORDS], b_true[CLR_BLOCK_WORDS];
    uint64_t a_null[CLR_BLOCK_WORDS], b_null[CLR_BLOCK_WORDS], known[CLR_BLOCK_WORDS];
    uint64_t truth[CLR_BLOCK_WORDS];
    size_t i;

    if ((opcode != CLR_OP_AND && opcode != CLR_OP_OR) ||
        ((a->types | b->types) & CLR_UNKNOWN_TYPES) != 0)
        return false;
    memset(all, -1, sizeof all);
    find_true(block->loops, a, all, a_true);
    find_true(block->loops, b, all, b_true);
    find_nulls(block, a, all, a_null);
    find_nulls(block, b, all, b_null);
    for (i = 0; i < CLR_BLOCK_WORDS; i++) {
        uint64_t a_false = ~(a_true[i] | a_null[i]), b_false = ~(b_true[i] | b_null[i]);
        bool is_or = opcode == CLR_OP_OR;
        uint64_t certain = is_or ? a_true[i] | b_true[i] : a_false | b_false;
        truth[i] = is_or ? certain : a_true[i] & b_true[i];
        known[i] = certain | ~(a_null[i] | b_null[i]);
    }
    block->loops->spread_bits(truth, result->own_values);
    block->loops->spread_bits_to_tags(known, result->own_tags);
    result->values = result->own_values;
    result->tags = result->own_tags;
    result->types = block->loops->find_tags(result->tags);
    return true;
}

/* NULL or not: known for the whole block, or else for each row. */
static bool run_null(const struct clr_block *block, enum clr_opcode opcode,
                     const struct clr_register *a, struct clr_register *result)
{
    size_t i;

    if ((opcode != CLR_OP_IS_NULL && opcode != CLR_OP_NOT_NULL) ||
        (a->types & CLR_TYPE(CLR_TAG_UNSURE)))
        return false;
    block->loops->are_null(a->tags, result->own_values);
    if (opcode == CLR_OP_NOT_NULL)
        for (i = 0; i < CLR_BLOCK; i++)
            result->own_values[i] ^= 1;
    result->values = result->own_values;
    set_type(block, result, CLR_TAG_INTEGER);
    return true;
}

/* What leaves numbers of a type, and NULLs, as they are. */
static bool run_nothing(enum clr_opcode opcode, const struct clr_register *a,
                        struct clr_register *result)
{
    const int type = number_type(a);

    if (!(type == CLR_TAG_INTEGER && (opcode == CLR_OP_TO_INTEGER || gives_whole(opcode))) &&
        !(type == CLR_TAG_REAL && opcode == CLR_OP_TO_REAL))
        return false;
    alias(result, a);
    return true;
}

/* Choices between whole registers, by a condition that is known to be 0 or not for every row. */
static bool run_choice(const struct clr_block *block, enum clr_opcode opcode,
                       const struct clr_register *a, const struct clr_register *b,
                       const struct clr_register *c, struct clr_register *result)
{
    if (opcode == CLR_OP_COALESCE && ((a->types & NULLS) == 0 || a->types == NULLS)) {
        alias(result, a->types == NULLS ? b : a);
        return true;
    }
    if (opcode != CLR_OP_IF || a->types != CLR_TYPE(CLR_TAG_INTEGER))
        return false;
    block->loops->choose(a->values, b->values, c->values, result->own_values);
    result->values = result->own_values;
    result->types = b->types | c->types;
    result->tags = b->tags;
    if ((result->types & (result->types - 1)) != 0) {
        block->loops->choose_tags(a->values, b->tags, c->tags, result->own_tags);
        result->tags = result->own_tags;
        result->types = block->loops->find_tags(result->tags);
    }
    return true;
}

static void run_instruction(struct clr_block *block, int number)
{
    const struct clr_scan *scan = block->scan;
    const struct clr_instruction *instruction = &scan->instructions[number];
    struct clr_register *registers = block->registers, *result = &registers[number];
    const struct clr_register *a, *b, *c;
    enum clr_opcode opcode;

    if (instruction->opcode == CLR_OP_COLUMN) {
        load_column(block, block->columns[instruction->a],
                    block->is_lazy != NULL && block->is_lazy[number], result);
        return;
    }
    if (instruction->opcode == CLR_OP_LOOKUP) {
        look_up(block, block->columns[instruction->a], &scan->lookups[instruction->b], result);
        return;
    }
    if (instruction->opcode == CLR_OP_CONSTANT) {
        result->values = result->own_values;
        set_type(block, result, scan->constants[instruction->a].tag);
        return;
    }
    a = &registers[instruction->a];
    b = clr_opcode_operands(instruction->opcode) > 1 ? &registers[instruction->b] : a;
    c = clr_opcode_operands(instruction->opcode) > 2 ? &registers[instruction->c] : a;
    opcode = simplify(instruction->opcode, a->types | b->types);
    if ((has_loop(opcode, a->types | b->types) && run_loop(block, opcode, a, b, result)) ||
        run_nothing(opcode, a, result) || run_logic(block, opcode, a, b, result) ||
        run_null(block, opcode, a, result) || run_choice(block, opcode, a, b, c, result))
        return;
    run_by_value(opcode, a, b, c, result);
    result->types = block->loops->find_tags(result->tags);
}

void clr_block_widen(struct clr_block *block, int instruction)
{
    struct clr_register *result = &block->registers[instruction];

    if (result->values == NULL)
        load_column(block, clr_block_column(block, instruction), false, result);
}

void clr_block_run(struct clr_block *block, enum clr_stage stage)
{
    const uint8_t *stages = block->terms.stages;
    const int before = block->ran;
    int i;

    block->ran |= (int)stage;
    for (i = 0; i < block->scan->instruction_count; i++)
        if (stages[i] & stage && !(stages[i] & before))
            run_instruction(block, i);
}

/* ---- The filter. */

/* Takes away the rows for which the register is not true. Returns false if that is not sure for all
   of them. */
static bool keep_true(const struct clr_block *block, const struct clr_register *values,
                      uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];

    if (clr_row_set_find(block->loops, values, CLR_TAG_BYTES, rows, found) ||
        clr_row_set_find(block->loops, values, CLR_TAG_UNSURE, rows, found))
        return false;
    find_true(block->loops, values, rows, found);
    memcpy(rows, found, sizeof found);
    return true;
}

/* Takes the NULLs of an argument out of the rows. Returns false if it is unsure in one of them. */
static bool drop_nulls(const struct clr_block *block, const struct clr_tally *tally,
                       const struct clr_register *argument, uint64_t *rows)
{
    uint64_t found[CLR_BLOCK_WORDS];
    size_t i;

    if (clr_row_set_find(block->loops, argument, CLR_TAG_UNSURE, rows, found) ||
        (tally->operations != 0 && !clr_tally_takes_bytes(tally) &&
         clr_row_set_find(block->loops, argument, CLR_TAG_BYTES, rows, found)))
        return false;
    if (clr_row_set_find(block->loops, argument, CLR_TAG_NULL, rows, found))
        for (i = 0; i < CLR_BLOCK_WORDS; i++)
            rows[i] &= ~found[i];
    return true;
}

bool clr_tally_rows_find(const struct clr_block *block, const struct clr_tally *tally, int filter,
                         const uint64_t *selected, uint64_t *rows, uint64_t *integers)
{
    const struct clr_register *x = tally->x < 0 ? NULL : &block->registers[tally->x];
    const struct clr_register *y = tally->y < 0 ? NULL : &block->registers[tally->y];
    uint64_t found[CLR_BLOCK_WORDS];

    memcpy(rows, selected, sizeof found);
    if ((filter >= 0 && !keep_true(block, &block->registers[filter], rows)) ||
        /* An argument is evaluated, with its errors, even where another one is NULL. */
        (y != NULL && clr_row_set_find(block->loops, y, CLR_TAG_UNSURE, rows, found)) ||
        (x != NULL && !drop_nulls(block, tally, x, rows)) ||
        (y != NULL && !drop_nulls(block, tally, y, rows)))
        return false;
    if (x == NULL || !clr_row_set_find(block->loops, x, CLR_TAG_INTEGER, rows, found) ||
        !clr_row_set_find(block->loops, y != NULL ? y : x, CLR_TAG_INTEGER, found, integers))
        memset(integers, 0, sizeof found);
    return true;
}

/* Takes away the rows that are not in the set. Returns whether any are left. */
static bool intersect(uint64_t *restrict rows, const uint64_t *restrict set)
{
    uint64_t any = 0;
    size_t i;

    for (i = 0; i < CLR_BLOCK_WORDS; i++)
        any |= rows[i] &= set[i];
    return any != 0;
}

/* Stores the rows of a full block whose INTEGERs or decimals, of a narrow column, are within the
   term's bounds: what is kept of them is compared with what would be kept of those. */
static void find_narrow(const struct clr_block *block, const struct clr_filter_term *term,
                        const struct clr_column *column, uint64_t *found)
{
    const struct clr_frame *frame = &column->frame;
    const int64_t low = term->least > frame->least ? term->least : frame->least;
    const int64_t high =
        term->greatest < frame->known_greatest ? term->greatest : frame->known_greatest;

    if (low > high) {
        memset(found, 0, CLR_BLOCK_WORDS * sizeof *found);
        return;
    }
    block->loops->within_words((const char *)column->words + block->first * frame->bytes,
                               frame->bytes, (uint32_t)((uint64_t)low - (uint64_t)frame->least),
                               (uint32_t)((uint64_t)high - (uint64_t)low), found);
}

/* Stores the rows of a full block, by their codes, for which a lookup is true. */
static void find_looked_up(const struct clr_loops *loops, const void *codes, int code_bytes,
                           const struct clr_lookup *lookup, uint64_t *found)
{
    if (lookup->are_beside)
        loops->within_words(codes, code_bytes, lookup->first_true, lookup->true_count - 1, found);
    else
        loops->select_true(codes, code_bytes, lookup->truths, found);
}

/* Stores the rows of a full block for which a term is true that needs no values. */
static void find_term(const struct clr_block *block, const struct clr_filter_term *term,
                      uint64_t *found)
{
    const struct clr_instruction *instruction = &block->scan->instructions[term->number];
    const struct clr_column *column = block->columns[instruction->a];
    const struct clr_loops *loops = block->loops;
    const int64_t *values, *ahead;
    int64_t room[CLR_BLOCK];

    if (term->kind == CLR_TERM_DECIMALS ||
        (term->kind == CLR_TERM_INTEGERS && column->words != NULL && column->frame.power == 0.0)) {
        find_narrow(block, term, column, found);
    } else if (term->kind == CLR_TERM_INTEGERS || term->kind == CLR_TERM_REALS) {
        values = clr_column_values(column, block->first, CLR_BLOCK, room);
        ahead = values != room ? values + block->next : values;
        (term->kind == CLR_TERM_INTEGERS ? loops->within_integers : loops->within_reals)(
            values, term->least, term->greatest, found, ahead);
    } else {
        find_looked_up(loops, (const char *)column->codes + block->first * column->code_bytes,
                       column->code_bytes, &block->scan->lookups[instruction->b], found);
    }
}

/* Takes away the rows, count of them, for which a lookup is not true, one by one. Returns whether
   any are left. Codes that lie in few of the block's cache lines are fetched together, as a
   processor fetches by itself those that are beside each other. */
static bool keep_looked_up(const struct clr_block *block, const struct clr_filter_term *term,
                           size_t count, uint64_t *rows)
{
    enum { LINE = 64 };
    const struct clr_instruction *instruction = &block->scan->instructions[term->number];
    const struct clr_column *column = block->columns[instruction->a];
    const struct clr_lookup *lookup = &block->scan->lookups[instruction->b];
    const size_t width = column->code_bytes;
    const char *codes = (const char *)column->codes + block->first * width;
    const bool lie_apart = count * LINE < CLR_BLOCK * width;
    uint64_t word, truth, any = 0;
    size_t i, row;

    for (i = 0; i < CLR_BLOCK_WORDS && lie_apart; i++)
        for (word = rows[i]; word != 0; word &= word - 1)
            __builtin_prefetch(codes + (i * 64 + (size_t)__builtin_ctzll(word)) * width);
    for (i = 0; i < CLR_BLOCK_WORDS; i++) {
        for (word = rows[i]; word != 0; word &= word - 1) {
            row = i * 64 + (size_t)__builtin_ctzll(word);
            truth = clr_lookup_is_true(lookup, clr_column_code(column, block->first + row));
            rows[i] ^= (word & -word) & (truth - 1); /* no jump, which would be guessed wrong */
        }
        any |= rows[i];
    }
    return any != 0;
}

static bool is_of_values(const struct clr_filter_term *term)
{
    return term->kind == CLR_TERM_SURE || term->kind == CLR_TERM_DOUBTFUL;
}

/* Terms that may be unsure are asked for all rows: no other term makes them sure. */
static bool select_from_full(struct clr_block *block, uint64_t *selected)
{
    const struct clr_filter_terms *terms = &block->terms;
    const size_t number = block->first / CLR_BLOCK;
    uint64_t found[CLR_BLOCK_WORDS];
    bool any = true;
    size_t count;
    int i;

    clr_block_run(block, CLR_STAGE_DOUBTFUL);
    for (i = 0; i < terms->count; i++) {
        if (terms->terms[i].kind != CLR_TERM_DOUBTFUL)
            continue;
        memset(found, -1, sizeof found);
        if (!keep_true(block, &block->registers[terms->terms[i].number], found))
            return false;
        any = intersect(selected, found);
    }
    for (i = 0; i < terms->count && any; i++) {
        const struct clr_row_truths *kept = terms->terms[i].kept;

        if (is_of_values(&terms->terms[i]))
            continue;
        if (kept != NULL && number < kept->blocks) {
            any = intersect(selected, kept->bits->words + number * CLR_TRUTH_WORDS);
            continue;
        }
        count = terms->terms[i].kind == CLR_TERM_LOOKUP ? block->loops->count(selected) : CLR_BLOCK;
        if (count <= CLR_FEW_ROWS) {
            any = keep_looked_up(block, &terms->terms[i], count, selected);
        } else {
            find_term(block, &terms->terms[i], found);
            any = intersect(selected, found);
        }
    }
    if (any)
        clr_block_run(block, CLR_STAGE_SURE);
    for (i = 0; i < terms->count && any; i++)
        if (terms->terms[i].kind == CLR_TERM_SURE)
            keep_true(block, &block->registers[terms->terms[i].number], selected);
    return true;
}

void clr_filter_select_all(const struct clr_block *block, uint64_t *selected)
{
    size_t i;

    memset(selected, 0, CLR_BLOCK_WORDS * sizeof *selected);
    for (i = 0; i < block->count / 64; i++)
        selected[i] = UINT64_MAX;
    if (block->count % 64 != 0)
        selected[i] = ((uint64_t)1 << block->count % 64) - 1;
}

bool clr_filter_select(struct clr_block *block, uint64_t *selected)
{
    const int filter = block->scan->filter;

    clr_filter_select_all(block, selected);
    if (filter < 0)
        return true;
    if (block->count == CLR_BLOCK)
        return select_from_full(block, selected);
    clr_block_run(block, CLR_STAGE_FILTER);
    return keep_true(block, &block->registers[filter], selected);
}

bool clr_block_find_sum(const struct clr_block *block, const struct clr_tally *tally,
                        const struct clr_zone_sum **sum)
{
    *sum = NULL;
    if (tally->x < 0)
        return true;
    if (!clr_tally_takes_zones(tally) ||
        block->scan->instructions[tally->x].opcode != CLR_OP_COLUMN)
        return false;
    *sum = clr_column_zone_sum(clr_block_column(block, tally->x), block->first / CLR_BLOCK);
    return *sum != NULL;
}
