#include "opencl/memory/trial.h"

#include "base/memory.h"
#include "numeric/scan/loops.h"
#include "numeric/scan/scan.h"
#include "numeric/values/column.h"

#include <string.h>

/* ---- Values and columns. */

/* The bits of -0.0, infinities, the least and the greatest doubles and their neighbours. */
static const uint64_t special_reals[] = {0x8000000000000000, 0,
                                         0x7ff0000000000000, 0xfff0000000000000,
                                         0x0000000000000001, 0x8000000000000001,
                                         0x7fefffffffffffff, 0xffefffffffffffff};
static const int64_t special_integers[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1};

/* A small generator (xorshift64*, Vigna 2016). */
uint64_t clr_test_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

/*
 * Stores `count` INTEGERs (CLR_TAG_INTEGER) of all sizes, or bits of REALs (CLR_TAG_REAL) with both
 * zeros, infinities and subnormals among them; a quarter of them are whole numbers between -512 and
 * 511. The same on every machine.
 */
static void make_values(int64_t *values, size_t count, uint8_t kind)
{
    uint64_t seed = CLR_TEST_SEED, bits;
    double real;
    size_t i;

    for (i = 0; i < count; i++) {
        bits = clr_test_random(&seed);
        if (i % 4 == 0) {
            values[i] = kind == CLR_TAG_REAL ? (int64_t)special_reals[bits >> 61]
                                             : special_integers[(bits >> 32) % 6];
        } else if (i % 4 == 1) {
            real = (double)((int64_t)(bits >> 54) - 512);
            memcpy(&values[i], &real, sizeof real);
            if (kind == CLR_TAG_INTEGER)
                values[i] = (int64_t)(bits >> 54) - 512;
        } else if (kind == CLR_TAG_REAL && (bits >> 52 & 0x7ff) == 0x7ff) {
            values[i] = (int64_t)(bits ^ (uint64_t)1 << 62); /* no NaN */
        } else {
            values[i] = (int64_t)bits;
        }
    }
}

bool clr_test_same_range(const struct clr_range *a, const struct clr_range *b)
{
    return a->seen == b->seen && (!a->seen || (a->least == b->least && a->greatest == b->greatest));
}

/* Returns a frame for a column of that kind, narrow or not, from the integer `least` on; decimals
   are thousandths. */
static struct clr_frame make_frame(uint8_t kind, int64_t least)
{
    return (struct clr_frame){.bytes = (uint8_t)clr_kind_narrow_bytes(kind),
                              .least = least,
                              .power = clr_kind_has_decimals(kind) ? 1e3 : 0.0};
}

/* Returns the value that a frame, narrow or not, has in the place of another one: of an INTEGER
   that it has, this one. */
static int64_t frame_value(const struct clr_frame *frame, int64_t value)
{
    const uint64_t mask = ((uint64_t)1 << 8 * frame->bytes) - 1, least = (uint64_t)frame->least;

    if (frame->bytes == 0 || (frame->power == 0.0 && (uint64_t)value - least <= mask))
        return value;
    return clr_frame_bits(frame, (int64_t)(least + ((uint64_t)value & mask)));
}

static void send(struct clr_device *device, struct clr_resident_column *column, const void *values,
                 const uint8_t *tags, struct clr_status *status)
{
    bool complete = false;

    while (!complete && status->code == CLR_OK)
        clr_resident_column_fill(device, column, values, tags, NULL, &complete, status);
}

/*
 * Returns a column of that kind, as of clr_column_device_kind(), with the values or codes on the
 * device, and the tags if it has any; or NULL with CLR_NOMEM or CLR_DEVICE in status. frame: if the
 * kind is narrow, one that has the values, in 8 bytes each here.
 */
static struct clr_resident_column *send_column(struct clr_device *device, uint8_t kind,
                                               const struct clr_frame *frame, const void *values,
                                               const uint8_t *tags, size_t count,
                                               struct clr_status *status)
{
    struct clr_resident_column *column = clr_resident_column_new(kind, count);
    const size_t bytes = clr_kind_narrow_bytes(kind);
    void *words = bytes == 0 ? NULL : clr_memory_alloc(count * bytes);

    if (column == NULL || (bytes > 0 && words == NULL))
        clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (status->code == CLR_OK && words != NULL) {
        clr_resident_column_set_frame(column, frame);
        clr_frame_keep(frame, values, count, words, 0);
    }
    if (status->code == CLR_OK)
        send(device, column, words != NULL ? words : values, tags, status);
    clr_memory_free(words);
    if (status->code != CLR_OK) {
        clr_resident_column_free(clr_device_unless_lost(device, status), column);
        column = NULL;
    }
    return column;
}

struct clr_resident_column *clr_test_column(struct clr_device *device, uint8_t kind,
                                            int64_t *values, size_t count,
                                            struct clr_status *status)
{
    const struct clr_frame frame = make_frame(kind, -100);
    size_t i;

    make_values(values, count, clr_kind_wide(kind));
    for (i = 0; i < count; i++)
        values[i] = frame_value(&frame, values[i]);
    return send_column(device, kind, &frame, values, NULL, count, status);
}

/* ---- Tables. */

void clr_trial_scan_init(struct clr_trial_scan *trial, const struct clr_scan *scan,
                         const uint8_t *kinds)
{
    int i;

    trial->scan = (struct clr_scan){.instruction_count = scan->instruction_count,
                                    .constant_count = scan->constant_count,
                                    .column_count = scan->column_count,
                                    .filter = scan->filter,
                                    .instructions = trial->instructions,
                                    .constants = trial->constants,
                                    .rows = CLR_TRIAL_ROWS,
                                    .lookup_count = scan->lookup_count,
                                    .lookups = trial->lookups};
    for (i = 0; i < scan->instruction_count; i++)
        trial->instructions[i] = scan->instructions[i];
    for (i = 0; i < scan->constant_count; i++)
        trial->constants[i] = scan->constants[i];
    for (i = 0; i < scan->lookup_count; i++)
        trial->lookups[i] = (struct clr_lookup){.kind = scan->lookups[i].kind,
                                                .types = scan->lookups[i].types,
                                                .is_short = scan->lookups[i].is_short};
    for (i = 0; i < scan->column_count; i++)
        trial->kinds[i] = kinds[i];
}

/* Returns a value of that type such as columns have, or one that the scan compares with. */
static int64_t common_value(const struct clr_trial_scan *trial, uint8_t tag, uint64_t *seed)
{
    const uint64_t random = clr_test_random(seed);
    const int64_t small = (int64_t)(random >> 32 & 0xff) - 100;

    if (trial->scan.constant_count > 0 && (random & 3) == 0) {
        const struct clr_scalar *constant =
            &trial->constants[(random >> 8) % (uint64_t)trial->scan.constant_count];
        if (constant->tag == tag)
            return constant->bits;
    }
    if (tag == CLR_TAG_INTEGER)
        return small;
    return clr_bits_of((double)small + (double)(random >> 40 & 7) / 8);
}

/* Values of a column or a lookup that are to be filled in. */
struct values {
    uint8_t kind, types;      /* which there may be, of several */
    bool is_lookup, is_short; /* see struct clr_lookup */
    size_t count;
    int64_t *bits;
    uint8_t *tags; /* a column's if it is CLR_TAG_MIXED */
    struct clr_trial_wanted wanted;
};

/* Whether the values of a round are those that a program is for. */
static bool is_wanted(const struct clr_trial_round *round)
{
    return round->kind == CLR_TRIAL_HARD || round->kind == CLR_TRIAL_COMMON;
}

/* Returns the types that values have, of several. */
static unsigned choose_types(const struct values *values, const struct clr_trial_round *round)
{
    const unsigned numbers = CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL);
    const unsigned fit =
        (values->is_short ? CLR_TYPE(CLR_TAG_INTEGER) : numbers) | CLR_TYPE(CLR_TAG_NULL);
    const unsigned types = round->types & fit, wanted = values->wanted.types & fit;

    if (!is_wanted(round) || wanted == 0)
        return types;
    return (types & wanted) != 0 ? types & wanted : wanted;
}

static bool may_be(const struct values *values, uint8_t tag)
{
    return (values->types & CLR_TYPE(tag)) != 0;
}

/* Returns the type of a value. */
static uint8_t choose_tag(const struct values *values, const struct clr_trial_round *round,
                          uint64_t *seed)
{
    const uint64_t random = clr_test_random(seed) >> 32;
    const unsigned types = choose_types(values, round);
    uint8_t tag = (uint8_t)(random / 64 % 3);

    if (values->kind != CLR_TAG_MIXED)
        return values->kind;
    if (round->kind == CLR_TRIAL_OTHERS && may_be(values, CLR_TAG_BYTES) && random % 64 == 0)
        return CLR_TAG_BYTES;
    if (round->kind == CLR_TRIAL_ERRORS && may_be(values, CLR_TAG_UNSURE) && random % 64 == 0)
        return CLR_TAG_UNSURE;
    while (types != 0 && !(types & CLR_TYPE(tag)))
        tag = (uint8_t)((tag + 1) % 3);
    return types != 0 ? tag : CLR_TAG_NULL;
}

/* Returns the bits of a value of that type. bits: one of the hard values. */
static int64_t choose_bits(const struct clr_trial_scan *trial, const struct values *values,
                           const struct clr_trial_round *round, uint8_t tag, int64_t bits,
                           uint64_t *seed)
{
    if (tag != CLR_TAG_INTEGER && tag != CLR_TAG_REAL)
        return 0;
    if (tag == CLR_TAG_INTEGER && is_wanted(round) && values->wanted.integers > 0)
        return CLR_TRIAL_LEAST +
               (int64_t)((clr_test_random(seed) >> 32) % (uint64_t)values->wanted.integers);
    if (values->is_short)
        return (int8_t)(round->kind == CLR_TRIAL_HARD ? clr_test_random(seed) >> 32
                                                      : (clr_test_random(seed) >> 32) % 3);
    if (round->kind != CLR_TRIAL_HARD)
        return common_value(trial, tag, seed);
    return values->kind == CLR_TAG_MIXED && tag == CLR_TAG_REAL ? bits & ~(INT64_C(1) << 62)
                                                                : bits; /* no NaN */
}

static void fill(const struct clr_trial_scan *trial, const struct clr_trial_round *round,
                 int number, const struct values *values)
{
    uint64_t seed = CLR_TEST_SEED + (uint64_t)number * 7919;
    size_t i;

    if (round->kind == CLR_TRIAL_HARD)
        make_values(values->bits, values->count,
                    values->kind == CLR_TAG_REAL ? CLR_TAG_REAL : CLR_TAG_INTEGER);
    for (i = 0; i < values->count; i++) {
        const uint8_t tag = choose_tag(values, round, &seed);

        if (values->is_lookup || values->kind == CLR_TAG_MIXED)
            values->tags[i] = tag;
        values->bits[i] = choose_bits(trial, values, round, tag, values->bits[i], &seed);
    }
    /* The hard values are the same in each column: no two have them in the same order. */
    for (i = 0; i < values->count && round->kind == CLR_TRIAL_HARD && values->kind != CLR_TAG_MIXED;
         i++) {
        const size_t other = clr_test_random(&seed) % values->count;
        const int64_t value = values->bits[i];

        values->bits[i] = values->bits[other];
        values->bits[other] = value;
    }
}

/* Returns how many entries a dictionary has whose codes take so many bytes: some need them all. */
static uint32_t entries_of(size_t code_bytes)
{
    return code_bytes == 1 ? UINT8_MAX + 1 : code_bytes == 2 ? 3 * UINT8_MAX : UINT16_MAX + 1000;
}

static void fill_codes(int number, struct clr_column *column)
{
    const uint32_t entries = entries_of(column->code_bytes);
    uint64_t seed = CLR_TEST_SEED + (uint64_t)number * 7919;
    size_t i;

    for (i = 0; i < CLR_TRIAL_ROWS; i++) {
        const uint32_t code = (uint32_t)(clr_test_random(&seed) >> 32) % entries;

        if (column->code_bytes == 1)
            ((uint8_t *)column->codes)[i] = (uint8_t)code;
        else if (column->code_bytes == 2)
            ((uint16_t *)column->codes)[i] = (uint16_t)code;
        else
            ((uint32_t *)column->codes)[i] = code;
    }
}

/* Returns the frame of a column, narrow or not: it begins with one of the ends of all that may be
   kept, or for others than hard values, or several types, such that it has small values, and 0. */
static struct clr_frame choose_frame(uint8_t kind, bool are_hard, int number)
{
    const size_t bits = 8 * clr_kind_narrow_bytes(kind);
    const bool decimals = clr_kind_has_decimals(kind);
    const int64_t greatest = decimals ? CLR_DECIMALS_MOST - 1 : INT64_MAX;

    if (bits == 0)
        return make_frame(kind, 0);
    if (!are_hard || clr_kind_wide(kind) != (decimals ? CLR_TAG_REAL : CLR_TAG_INTEGER))
        return make_frame(kind, -(INT64_C(1) << (bits - 1)));
    return make_frame(kind,
                      number % 2 == 0 ? -greatest - 1 : greatest - (INT64_MAX >> (63 - bits)));
}

/* Has the values of a column be such as the frame has; the bits of REALs no NaN's, and those of
   other types that are among decimals 0. */
static void fit(struct clr_column *column, const struct clr_frame *frame)
{
    const uint8_t whose = frame->power == 0.0 ? CLR_TAG_INTEGER : CLR_TAG_REAL;
    size_t i;

    for (i = 0; i < column->rows && frame->bytes > 0; i++) {
        const uint8_t tag = column->kind == CLR_TAG_MIXED ? column->tags[i] : column->kind;

        if (tag == whose)
            column->values[i] = frame_value(frame, column->values[i]);
        else
            column->values[i] &= frame->power == 0.0 ? INT8_MAX : 0;
    }
}

/* Has rows be the same as the ones before them, so many in each run. */
static void repeat_rows(struct clr_column *column)
{
    enum { RUN = 5 };
    const size_t width = column->code_bytes;
    char *codes = column->codes;
    size_t i, from;

    for (i = 0; i < column->rows; i++) {
        from = i - i % RUN;
        if (codes != NULL) {
            memmove(codes + i * width, codes + from * width, width);
            continue;
        }
        column->values[i] = column->values[from];
        if (column->kind == CLR_TAG_MIXED)
            column->tags[i] = column->tags[from];
    }
}

static enum clr_code make_column(struct clr_device *device, const struct clr_trial_scan *trial,
                                 const struct clr_trial_round *round, int i,
                                 struct clr_trial_table *table, struct clr_status *status)
{
    const uint8_t kind = trial->kinds[i];
    const size_t code_bytes = clr_kind_code_bytes(kind);
    const struct clr_trial_wanted *wanted = &trial->of_columns[i];
    const bool are_hard = round->kind == CLR_TRIAL_HARD && wanted->integers == 0;
    const struct clr_frame frame = choose_frame(kind, are_hard, i);
    struct clr_column *here = table->here[i] =
        code_bytes > 0 ? clr_column_new_codes(NULL, CLR_TRIAL_ROWS, (uint8_t)code_bytes)
                       : clr_column_new(CLR_TRIAL_ROWS);

    if (here == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    here->rows = CLR_TRIAL_ROWS;
    if (code_bytes > 0) {
        fill_codes(i, here);
    } else {
        here->kind = clr_kind_wide(kind);
        fill(trial, round, i,
             &(struct values){.kind = here->kind,
                              .types = CLR_TYPE(CLR_TAG_BYTES),
                              .count = CLR_TRIAL_ROWS,
                              .bits = here->values,
                              .tags = here->tags,
                              .wanted = *wanted});
        fit(here, &frame);
    }
    if (trial->repeats)
        repeat_rows(here);
    table->there[i] = send_column(device, kind, &frame, code_bytes > 0 ? here->codes : here->values,
                                  here->tags, CLR_TRIAL_ROWS, status);
    return status->code;
}

/* Makes the results of the lookup that an instruction is, unless it has them. */
static enum clr_code make_lookup(struct clr_trial_scan *trial, const struct clr_trial_round *round,
                                 const struct clr_instruction *instruction,
                                 struct clr_status *status)
{
    const uint32_t count = entries_of(clr_kind_code_bytes(trial->kinds[instruction->a]));
    struct clr_lookup *lookup = &trial->lookups[instruction->b];
    const struct clr_lookup kept = *lookup;
    struct clr_lookup_results *results;

    if (lookup->results != NULL)
        return CLR_OK;
    results = clr_lookup_results_new(count);
    if (results == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    fill(trial, round, CLR_MOST_COLUMNS + instruction->b,
         &(struct values){.kind = lookup->kind,
                          .types = lookup->types,
                          .is_lookup = true,
                          .is_short = lookup->is_short,
                          .count = count,
                          .bits = results->values,
                          .tags = results->tags,
                          .wanted = trial->of_lookups[instruction->b]});
    clr_lookup_set(lookup, results, count);
    lookup->kind = kept.kind;
    lookup->types = kept.types;
    lookup->is_short = kept.is_short;
    return CLR_OK;
}

static void drop_lookups(struct clr_trial_scan *trial)
{
    int i;

    for (i = 0; i < trial->scan.lookup_count; i++) {
        clr_lookup_results_release(trial->lookups[i].results);
        trial->lookups[i].results = NULL;
    }
}

enum clr_code clr_trial_table_make(struct clr_device *device, struct clr_trial_scan *trial,
                                   const struct clr_trial_round *round,
                                   struct clr_trial_table *table, struct clr_status *status)
{
    int i;

    memset(table, 0, sizeof *table);
    trial->scan.columns = table->here;
    for (i = 0; i < trial->scan.column_count && status->code == CLR_OK; i++)
        make_column(device, trial, round, i, table, status);
    for (i = 0; i < trial->scan.instruction_count && status->code == CLR_OK; i++) {
        if (trial->instructions[i].opcode == CLR_OP_LOOKUP)
            make_lookup(trial, round, &trial->instructions[i], status);
    }
    return status->code;
}

void clr_trial_table_free(struct clr_device *device, struct clr_trial_scan *trial,
                          struct clr_trial_table *table)
{
    int i;

    for (i = 0; i < trial->scan.column_count; i++) {
        clr_column_release(table->here[i]);
        clr_resident_column_free(device, table->there[i]);
    }
    drop_lookups(trial);
}
