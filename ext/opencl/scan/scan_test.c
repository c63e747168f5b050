#include "opencl/scan/scan_test.h"

#include "base/memory.h"
#include "numeric/scan/evaluate.h"
#include "numeric/scan/lookup_results.h"
#include "opencl/core/device_private.h"
#include "opencl/memory/test_values.h"

#include <string.h>

/* More than a group of work-items takes at once, and no multiple of anything. */
enum { ROWS = 3001 };

/* HARD: of all sizes. COMMON: small, and those of the scan's constants. OTHERS: common ones, and
   where a column or a lookup has several types some values that are no numbers. ERRORS: common
   ones, and where a lookup has several types some that SQLite alone can tell. */
enum trial_round { HARD, COMMON, OTHERS, ERRORS, ROUNDS };

struct clr_scan_trial {
    struct clr_scan scan; /* its arrays are below, and its columns those of a round */
    struct clr_instruction instructions[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_scalar constants[CLR_MOST_SCAN_INSTRUCTIONS];
    struct clr_tally tallies[CLR_MOST_BUNDLE];   /* those of the steps, each once */
    struct clr_lookup lookups[CLR_MOST_LOOKUPS]; /* without results but in a round */
    struct clr_scan_plan plan;                   /* of the bundle's steps alone */
};

/* Returns the trial's number of the tally of the bundle's step number i, after adding it if need
   be. */
static int take_tally(struct clr_scan_trial *trial, const struct clr_scan_plan *plan,
                      const struct clr_scan_bundle *bundle, int i)
{
    const int tally = plan->steps[bundle->steps[i]].tally;
    int j;

    for (j = 0; j < i; j++) {
        if (plan->steps[bundle->steps[j]].tally == tally)
            return trial->plan.steps[j].tally;
    }
    trial->tallies[trial->scan.tally_count] = plan->scan->tallies[tally];
    return trial->scan.tally_count++;
}

struct clr_scan_trial *clr_scan_trial_new(const struct clr_scan_plan *plan,
                                          const struct clr_scan_bundle *bundle)
{
    const struct clr_scan *scan = plan->scan;
    struct clr_scan_trial *trial;
    int i;

    trial = clr_memory_alloc_zero(sizeof *trial);
    if (trial == NULL)
        return NULL;
    trial->scan = (struct clr_scan){.instruction_count = scan->instruction_count,
                                    .constant_count = scan->constant_count,
                                    .column_count = scan->column_count,
                                    .filter = scan->filter,
                                    .instructions = trial->instructions,
                                    .constants = trial->constants,
                                    .rows = ROWS,
                                    .lookup_count = scan->lookup_count,
                                    .lookups = trial->lookups,
                                    .tallies = trial->tallies};
    for (i = 0; i < scan->instruction_count; i++)
        trial->instructions[i] = scan->instructions[i];
    for (i = 0; i < scan->constant_count; i++)
        trial->constants[i] = scan->constants[i];
    for (i = 0; i < scan->lookup_count; i++)
        trial->lookups[i] = (struct clr_lookup){.kind = scan->lookups[i].kind,
                                                .is_short = scan->lookups[i].is_short};
    trial->plan.scan = &trial->scan;
    memcpy(trial->plan.kinds, plan->kinds, sizeof plan->kinds);
    trial->plan.count = bundle->count;
    for (i = 0; i < bundle->count; i++) {
        trial->plan.steps[i] = plan->steps[bundle->steps[i]];
        trial->plan.steps[i].if_reals = false;
        trial->plan.steps[i].tally = take_tally(trial, plan, bundle, i);
    }
    return trial;
}

void clr_scan_trial_free(struct clr_scan_trial *trial)
{
    clr_memory_free(trial);
}

/* ---- The columns and the lookups. */

/* Returns a value of that type such as columns have, or one that the scan compares with. */
static int64_t common_value(const struct clr_scan_trial *trial, uint8_t tag, uint64_t *seed)
{
    const uint64_t random = clr_test_random(seed);
    const int64_t small = (int64_t)(random >> 32 & 0xff) - 100;
    double real;
    int64_t bits;

    if (trial->scan.constant_count > 0 && (random & 3) == 0) {
        const struct clr_scalar *constant =
            &trial->constants[(random >> 8) % (uint64_t)trial->scan.constant_count];
        if (constant->tag == tag)
            return constant->bits;
    }
    if (tag == CLR_TAG_INTEGER)
        return small;
    real = (double)small + (double)(random >> 40 & 7) / 8;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Values of a column or a lookup that are to be filled in. */
struct values {
    uint8_t kind;
    bool is_lookup, is_short; /* see struct clr_lookup */
    size_t count;
    int64_t *bits;
    uint8_t *tags; /* a column's if it is CLR_TAG_MIXED */
};

/* Returns the type of a value. */
static uint8_t choose_tag(const struct values *values, enum trial_round round, uint64_t *seed)
{
    const uint64_t random = clr_test_random(seed) >> 32;

    if (values->kind != CLR_TAG_MIXED)
        return values->kind;
    if (round == OTHERS && random % 64 == 0)
        return CLR_TAG_BYTES;
    if (round == ERRORS && values->is_lookup && random % 64 == 0)
        return CLR_TAG_UNSURE;
    return (uint8_t)(random / 64 % (values->is_short ? 2 : 3)); /* NULL, INTEGER, REAL */
}

/* Returns the bits of a value of that type. bits: one of the hard values. */
static int64_t choose_bits(const struct clr_scan_trial *trial, const struct values *values,
                           enum trial_round round, uint8_t tag, int64_t bits, uint64_t *seed)
{
    if (tag != CLR_TAG_INTEGER && tag != CLR_TAG_REAL)
        return 0;
    if (values->is_short)
        return (int8_t)(round == HARD ? clr_test_random(seed) >> 32
                                      : (clr_test_random(seed) >> 32) % 3);
    if (round != HARD)
        return common_value(trial, tag, seed);
    return values->kind == CLR_TAG_MIXED && tag == CLR_TAG_REAL ? bits & ~(INT64_C(1) << 62)
                                                                : bits; /* no NaN */
}

static void fill(const struct clr_scan_trial *trial, enum trial_round round, int number,
                 const struct values *values)
{
    uint64_t seed = CLR_TEST_SEED + (uint64_t)number * 7919;
    size_t i;

    if (round == HARD)
        clr_test_values(values->bits, values->count,
                        values->kind == CLR_TAG_REAL ? CLR_TAG_REAL : CLR_TAG_INTEGER);
    for (i = 0; i < values->count; i++) {
        const uint8_t tag = choose_tag(values, round, &seed);

        if (values->is_lookup || values->kind == CLR_TAG_MIXED)
            values->tags[i] = tag;
        values->bits[i] = choose_bits(trial, values, round, tag, values->bits[i], &seed);
    }
    /* The hard values are the same in each column: no two have them in the same order. */
    for (i = 0; i < values->count && round == HARD && values->kind != CLR_TAG_MIXED; i++) {
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

    for (i = 0; i < ROWS; i++) {
        const uint32_t code = (uint32_t)(clr_test_random(&seed) >> 32) % entries;

        if (column->code_bytes == 1)
            ((uint8_t *)column->codes)[i] = (uint8_t)code;
        else if (column->code_bytes == 2)
            ((uint16_t *)column->codes)[i] = (uint16_t)code;
        else
            ((uint32_t *)column->codes)[i] = code;
    }
}

/* ---- The comparison. */

/* Whether what was added as doubles is the same. */
static bool same_reals(const struct clr_sum *a, const struct clr_sum *b)
{
    struct clr_sum sums[2] = {*a, *b};
    double rounded[2];
    int i;

    for (i = 0; i < 2; i++) {
        sums[i].integer = (struct clr_int192){0, 0, 0};
        rounded[i] = clr_sum_round(&sums[i], 1);
    }
    return memcmp(&rounded[0], &rounded[1], sizeof rounded[0]) == 0;
}

/* Whether a step found what the host did. */
static bool same_step(const struct clr_scan_step *step, const struct clr_state *found,
                      const struct clr_state *expected)
{
    if (found->count != expected->count || found->non_integers != expected->non_integers)
        return false;
    if (!step->takes)
        return true;
    if (step->operation == CLR_EXTREMES)
        return step->element == CLR_REAL
                   ? clr_test_same_range(&found->reals, &expected->reals)
                   : clr_test_same_range(&found->integers, &expected->integers);
    return step->element == CLR_REAL ? same_reals(&found->sum, &expected->sum)
                                     : memcmp(&found->sum.integer, &expected->sum.integer,
                                              sizeof found->sum.integer) == 0;
}

static bool same(const struct clr_scan_trial *trial, enum clr_scan_outcome outcome, bool unsure,
                 const struct clr_state *expected)
{
    int i;

    if (unsure || outcome == CLR_SCAN_UNSURE)
        return unsure == (outcome == CLR_SCAN_UNSURE);
    for (i = 0; i < trial->plan.count; i++) {
        const struct clr_scan_step *step = &trial->plan.steps[i];
        if (!same_step(step, &trial->tallies[step->tally].state, &expected[step->tally]))
            return false;
    }
    return true;
}

/* ---- The trial. */

/* Both are the scan's columns: those of the host and those of the device. */
struct table {
    struct clr_column *here[CLR_MOST_COLUMNS];
    struct clr_resident_column *there[CLR_MOST_COLUMNS];
};

static enum clr_code make_column(struct clr_device *device, const struct clr_scan_trial *trial,
                                 enum trial_round round, int i, struct table *table,
                                 struct clr_status *status)
{
    const uint8_t kind = trial->plan.kinds[i];
    const size_t code_bytes = clr_kind_code_bytes(kind);
    struct clr_column *here = table->here[i] =
        code_bytes > 0 ? clr_column_new_codes(NULL, ROWS, (uint8_t)code_bytes)
                       : clr_column_new(ROWS);

    if (here == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    here->rows = ROWS;
    if (code_bytes > 0) {
        fill_codes(i, here);
    } else {
        here->kind = kind;
        fill(trial, round, i,
             &(struct values){
                 .kind = kind, .count = ROWS, .bits = here->values, .tags = here->tags});
    }
    table->there[i] = clr_test_column(device, kind, code_bytes > 0 ? here->codes : here->values,
                                      here->tags, ROWS, status);
    return status->code;
}

/* Makes the results of the lookup that an instruction is, unless it has them. */
static enum clr_code make_lookup(struct clr_scan_trial *trial, enum trial_round round,
                                 const struct clr_instruction *instruction,
                                 struct clr_status *status)
{
    const uint32_t count = entries_of(clr_kind_code_bytes(trial->plan.kinds[instruction->a]));
    struct clr_lookup *lookup = &trial->lookups[instruction->b];
    struct clr_lookup_results *results;

    if (lookup->results != NULL)
        return CLR_OK;
    results = clr_lookup_results_new(count);
    if (results == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    fill(trial, round, CLR_MOST_COLUMNS + instruction->b,
         &(struct values){.kind = lookup->kind,
                          .is_lookup = true,
                          .is_short = lookup->is_short,
                          .count = count,
                          .bits = results->values,
                          .tags = results->tags});
    lookup->count = count;
    lookup->values = results->values;
    lookup->tags = results->tags;
    lookup->results = results;
    return CLR_OK;
}

static void drop_lookups(struct clr_scan_trial *trial)
{
    int i;

    for (i = 0; i < trial->scan.lookup_count; i++) {
        clr_lookup_results_release(trial->lookups[i].results);
        trial->lookups[i].results = NULL;
    }
}

static enum clr_code compare(struct clr_scan_trial *trial, const struct clr_scan_run *run,
                             const struct table *table, struct clr_status *status)
{
    struct clr_state expected[CLR_MOST_BUNDLE];
    enum clr_scan_outcome outcome;
    bool unsure = false, inexact = false;
    atomic_bool stop = false;
    int i;

    trial->scan.columns = table->here;
    for (i = 0; i < trial->scan.tally_count; i++)
        clr_state_clear(&trial->tallies[i].state);
    outcome = clr_evaluate(&trial->scan, 0, ROWS, expected, NULL, &stop);
    if (outcome == CLR_SCAN_FAILED)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    if (run->run(run->context, &trial->plan, table->there, &unsure, &inexact, status) == CLR_OK &&
        !inexact && !same(trial, outcome, unsure, expected))
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's result of a scan differs from the host's");
    return status->code;
}

static enum clr_code run_round(struct clr_device *device, struct clr_scan_trial *trial,
                               enum trial_round round, const struct clr_scan_run *run,
                               struct clr_status *status)
{
    struct table table = {{NULL}, {NULL}};
    int i;

    for (i = 0; i < trial->scan.column_count && status->code == CLR_OK; i++)
        make_column(device, trial, round, i, &table, status);
    for (i = 0; i < trial->scan.instruction_count && status->code == CLR_OK; i++) {
        if (trial->instructions[i].opcode == CLR_OP_LOOKUP)
            make_lookup(trial, round, &trial->instructions[i], status);
    }
    if (status->code == CLR_OK)
        compare(trial, run, &table, status);
    device = clr_device_unless_lost(device, status);
    for (i = 0; i < trial->scan.column_count; i++) {
        clr_column_release(table.here[i]);
        clr_resident_column_free(device, table.there[i]);
    }
    drop_lookups(trial);
    return status->code;
}

enum clr_code clr_scan_test(struct clr_device *device, struct clr_scan_trial *trial,
                            const struct clr_scan_run *run, struct clr_status *status)
{
    int rounds = OTHERS, round, i;

    for (i = 0; i < trial->scan.column_count; i++) {
        if (trial->plan.kinds[i] == CLR_TAG_MIXED)
            rounds = ERRORS;
    }
    for (i = 0; i < trial->scan.lookup_count; i++) {
        if (trial->lookups[i].kind == CLR_TAG_MIXED)
            rounds = ROUNDS;
    }
    for (round = 0; round < rounds && status->code == CLR_OK; round++)
        run_round(device, trial, (enum trial_round)round, run, status);
    return status->code;
}
