#include "sqlite/view/groups.h"

#include "base/memory.h"
#include "numeric/scan/block.h"
#include "numeric/states/aggregate_table.h"
#include "sqlite/session/sql_value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* WORTH: groups that are worth a thread. WORTH_RESULTS: of fewer it is quicker to have SQLite
   compute results. AHEAD: how many rows ahead bytes are fetched, which lie anywhere. */
enum { WORTH = 2048, WORTH_RESULTS = 256, AHEAD = 8 };

struct clr_group_values *clr_group_values_retain(struct clr_group_values *values)
{
    values->references++;
    return values;
}

void clr_group_values_release(struct clr_group_values *values)
{
    if (values == NULL || --values->references > 0)
        return;
    clr_bytes_free(&values->bytes);
    clr_memory_free(values->bits);
    clr_memory_free(values);
}

/* SQLite keeps pointers to bytes that are said to be static in values of its own, for longer than
   the groups' values live. TEXT whose end it finds by itself it need not lengthen by a zero for a
   client, which takes as long as to copy it. */
void clr_group_values_set(const struct clr_group_values *values, size_t group, int column,
                          sqlite3_context *result)
{
    const size_t count = (size_t)values->column_count;
    const size_t place = group * count + (size_t)column, ahead = place + AHEAD * count;
    struct clr_scalar scalar;

    if ((size_t)column >= count)
        return;
    switch (values->tags[place]) {
    case CLR_TAG_INTEGER:
        sqlite3_result_int64(result, values->bits[place]);
        break;
    case CLR_TAG_REAL:
        sqlite3_result_double(result, clr_real_of(values->bits[place]));
        break;
    case CLR_GROUP_TEXT:
        if (group + AHEAD < values->rows && values->tags[ahead] == CLR_GROUP_TEXT)
            __builtin_prefetch((const void *)(uintptr_t)values->bits[ahead]);
        sqlite3_result_text(result, (const char *)(uintptr_t)values->bits[place], -1,
                            SQLITE_TRANSIENT);
        break;
    default:
        scalar = (struct clr_scalar){values->tags[place], values->bits[place]};
        clr_scalar_set(result, &scalar, SQLITE_UTF8, SQLITE_TRANSIENT);
    }
}

/* Returns how many columns so many groups have: with results, or without. */
static int count_columns(const struct clr_query *query, size_t rows)
{
    const int count = query->grouping.key_count + query->call_count;

    return query->results != NULL && query->plain_count > 0 && rows >= WORTH_RESULTS
               ? count + query->results->tally_count
               : count;
}

/* Makes room for the values: the tags behind all bits. Returns NULL without memory. */
static struct clr_group_values *new_values(const struct clr_query *query, size_t rows)
{
    const size_t count = (size_t)count_columns(query, rows) * rows;
    struct clr_group_values *values = clr_memory_alloc_zero(sizeof *values);

    if (values == NULL)
        return NULL;
    values->references = 1;
    values->rows = rows;
    values->key_count = query->grouping.key_count;
    values->call_count = query->call_count;
    values->column_count = count_columns(query, rows);
    if (query->results == NULL || clr_group_values_have_results(values))
        values->plain_count = query->plain_count;
    memcpy(values->plain_columns, query->plain_columns, sizeof values->plain_columns);
    values->bits = clr_memory_alloc(count * (sizeof *values->bits + 1) + 1);
    if (values->bits == NULL) {
        clr_group_values_release(values);
        return NULL;
    }
    values->tags = (uint8_t *)(values->bits + count);
    return values;
}

/* ---- Values. */

/* Copies TEXT or a BLOB, and keeps it: TEXT that a zero ends, and that SQLite takes as it is, as
   that. Returns false if it could not be. */
static bool keep_bytes(struct clr_bytes *bytes, const struct clr_value *value, bool is_utf8,
                       uint8_t *tag, int64_t *bits)
{
    const size_t size = value->as.size;
    const bool is_plain = value->kind == CLR_KIND_TEXT &&
                          (size == 0 || memchr(value->bytes, 0, size) == NULL) &&
                          (is_utf8 || clr_encoding_keeps_utf8(value->bytes, size));
    unsigned char *copy =
        size == INT32_MAX ? NULL : clr_bytes_add(bytes, value->kind, size + is_plain, bits);

    if (copy == NULL)
        return false;
    if (size > 0)
        memcpy(copy, value->bytes, size);
    *tag = CLR_TAG_BYTES;
    if (is_plain) {
        copy[size] = 0;
        *tag = CLR_GROUP_TEXT;
        *bits = (int64_t)(uintptr_t)copy;
    }
    return true;
}

/* What threads share: each takes some groups after the other. */
struct filling {
    struct clr_group_values *values;
    struct clr_query_run *run;
    const struct clr_groups *groups; /* NULL: the run's own tallies are those of one group */
    /* Of keys that are ranks, the values in their place; and the bits of copies, less than 0 those
       of CLR_TAG_BYTES; 0: there is none yet. */
    const struct clr_value *ranked[CLR_MOST_KEYS];
    atomic_int_least64_t *known[CLR_MOST_KEYS];
    atomic_int_least64_t left; /* bytes */
    atomic_size_t next;        /* group */
    atomic_bool is_unsure;     /* of a result: then SQLite computes all of them */
    /* Of the scan's columns, whether they may have a -0.0: 1 or 0, and 2 as well if that is known.
     */
    atomic_int negative_zeros[CLR_MOST_COLUMNS];
    enum clr_group_number numbers[CLR_MOST_CALLS]; /* what each call's value is */
    int worker_count;
    struct worker {
        struct clr_query_run *run;      /* with states of its own, unless there is one worker */
        size_t taken[CLR_MOST_TALLIES]; /* of which group + 1 each state is; 0: of none yet */
        struct clr_bytes bytes;
        struct results *results; /* NULL: there are none to be computed */
        enum clr_scan_outcome outcome;
        const struct clr_call *unsure; /* of CLR_SCAN_UNSURE */
    } workers[];
};

/* Sets the value at a place. Returns false without memory. */
static bool set_value(const struct filling *filling, struct worker *worker, size_t place,
                      const struct clr_value *value)
{
    uint8_t *tag = &filling->values->tags[place];
    int64_t *bits = &filling->values->bits[place];

    switch (value->kind) {
    case CLR_KIND_INTEGER:
        *tag = CLR_TAG_INTEGER;
        *bits = value->as.integer;
        return true;
    case CLR_KIND_REAL:
        *tag = CLR_TAG_REAL;
        memcpy(bits, &value->as.real, sizeof value->as.real);
        return true;
    case CLR_KIND_TEXT:
    case CLR_KIND_BLOB:
        return keep_bytes(&worker->bytes, value, worker->run->query->is_utf8, tag, bits);
    default:
        *tag = CLR_TAG_NULL;
        *bits = 0;
        return true;
    }
}

/* ---- Keys. */

/* Returns the lookup whose ranks an instruction gives, or NULL. */
static const struct clr_lookup *ranks_of(const struct clr_query_run *run, int instruction)
{
    const struct clr_instruction *x = &run->query->instructions[instruction];
    const struct clr_lookup *lookup = x->opcode == CLR_OP_LOOKUP ? &run->lookups[x->b] : NULL;

    return lookup != NULL && lookup->ranked != NULL ? lookup : NULL;
}

/* Finds the keys that are ranks. Returns false without memory. */
static bool find_ranks(struct filling *filling)
{
    const struct clr_query *query = filling->run->query;
    int key;

    for (key = 0; key < query->grouping.key_count; key++) {
        const struct clr_lookup *lookup = ranks_of(filling->run, query->grouping.keys[key]);

        if (lookup == NULL)
            continue;
        filling->ranked[key] = lookup->ranked;
        filling->known[key] =
            clr_memory_alloc_zero((lookup->ranked_count + 1) * sizeof *filling->known[key]);
        if (filling->known[key] == NULL)
            return false;
    }
    return true;
}

/* A value is copied where it is first needed; if two threads do so at the same time, twice. */
static bool set_rank(const struct filling *filling, struct worker *worker, int key, size_t place,
                     int64_t rank)
{
    atomic_int_least64_t *known = &filling->known[key][rank];
    uint8_t *tag = &filling->values->tags[place];
    int64_t *bits = &filling->values->bits[place];

    *bits = atomic_load_explicit(known, memory_order_relaxed);
    *tag = *bits < 0 ? CLR_TAG_BYTES : CLR_GROUP_TEXT;
    if (*bits == 0) {
        if (!set_value(filling, worker, place, &filling->ranked[key][rank]))
            return false;
        if (*tag == CLR_GROUP_TEXT || *tag == CLR_TAG_BYTES)
            atomic_store_explicit(known, *tag == CLR_TAG_BYTES ? -*bits : *bits,
                                  memory_order_relaxed);
    } else if (*bits < 0) {
        *bits = -*bits;
    }
    return true;
}

/* Returns the TEXT of a time, in room that the next one takes. */
static struct clr_value time_text(struct clr_query_run *run, clr_time_format format, int64_t count)
{
    const size_t size = clr_timestamp_write(format, count, run->time);

    return (struct clr_value){CLR_KIND_TEXT, {.size = size}, (const char *)run->time};
}

/* Returns the format of the times that an instruction gives, or 0. */
static clr_time_format format_of(const struct clr_query *query, int instruction)
{
    const struct clr_instruction *x = &query->instructions[instruction];

    return x->opcode == CLR_OP_COLUMN ? query->columns[x->a].times : 0;
}

/* Returns where the values of a column go, from a group on. */
static struct clr_group_cells cells_of(const struct clr_group_values *values, size_t group,
                                       int column)
{
    const size_t step = (size_t)values->column_count;
    const size_t place = group * step + (size_t)column;

    return (struct clr_group_cells){values->bits + place, values->tags + place, step};
}

/* Sets a key of a block of groups: of what has TEXT, in the place of its number. Returns false
   without memory. */
static bool set_keys(const struct filling *filling, struct worker *worker, int key, size_t first,
                     size_t count)
{
    const struct clr_query *query = filling->run->query;
    const clr_time_format format = format_of(query, query->grouping.keys[key]);
    const struct clr_group_values *values = filling->values;
    const struct clr_group_cells cells = cells_of(values, first, key);
    size_t place = first * cells.step + (size_t)key, i;
    bool fine = true;

    clr_groups_keys(filling->groups, key, first, count, &cells);
    if (format == 0 && filling->ranked[key] == NULL)
        return true;
    for (i = 0; i < count && fine; i++, place += cells.step) {
        const int64_t number = values->bits[place];
        struct clr_value text;

        if (values->tags[place] != CLR_TAG_INTEGER)
            continue;
        if (format != 0) {
            text = time_text(worker->run, format, number);
            fine = set_value(filling, worker, place, &text);
        } else {
            fine = set_rank(filling, worker, key, place, number);
        }
    }
    return fine;
}

/* ---- Calls. */

/* Below this, every partial sum of integers is exact in a double, whatever the order. */
#define EXACT_IN_DOUBLE ((int64_t)1 << 53)

/*
 * SQLite's own sum, total and avg add REALs with rounding errors, and integers exactly as long as
 * they stay small: then all agree.
 */
static bool sums_agree(const struct clr_state *state)
{
    clr_i128 least = state->integers.least, greatest = state->integers.greatest;

    if (state->count == 0)
        return true;
    if (state->non_integers != 0 || !state->integers.seen)
        return false;
    if (-least > greatest)
        greatest = -least;
    return greatest * state->count <= EXACT_IN_DOUBLE;
}

/* Whether a row of a column of values may be -0.0: false is certain. Reads the rows of a column
   that is not narrow. */
static bool column_may_have_negative_zero(const struct clr_column *column)
{
    enum { PIECE = 1024 }; /* rows that are compared at once */
    const int64_t negative_zero = clr_bits_of(-0.0);
    size_t row, end;
    bool found = false;

    if (column->words != NULL)
        return column->frame.power == 0.0 && column->frame.known_least == negative_zero;
    for (row = 0; row < column->rows && !found; row = end) {
        end = column->rows - row < PIECE ? column->rows : row + PIECE;
        for (; row < end; row++)
            found |= column->values[row] == negative_zero;
    }
    return found;
}

/* Whether a tally's values may have a -0.0 among them. Two threads may both find that out. */
static bool may_have_negative_zero(struct filling *filling, int tally)
{
    const struct clr_query_run *run = filling->run;
    const struct clr_instruction *x = &run->query->instructions[run->tallies[tally].x];
    atomic_int *known;

    if (x->opcode != CLR_OP_COLUMN || run->columns == NULL)
        return true;
    known = &filling->negative_zeros[x->a];
    if (atomic_load(known) == 0)
        atomic_store(known, 2 + column_may_have_negative_zero(run->columns[x->a]));
    return atomic_load(known) != 2;
}

/*
 * SQLite's min and max keep the first of equal values, in the order of the rows: 1 or 1.0, 0.0 or
 * -0.0. Here -0.0 is less than 0.0: where the least is 0.0, or the greatest -0.0, all zeros are.
 */
static bool extremes_agree(struct filling *filling, const struct clr_call *call,
                           const struct clr_state *state, const struct clr_value *value)
{
    const bool is_least = call->aggregate->finish < 0;

    if (state->integers.seen && state->reals.seen)
        return false;
    if (value->kind != CLR_KIND_REAL || value->as.real != 0.0)
        return true;
    if (signbit(value->as.real))
        return !is_least;
    return is_least || !may_have_negative_zero(filling, call->tally);
}

/* Makes the output of sums. Returns whether SQLite's own result, if it is one, would be the same.
 */
static bool finish_sums(struct clr_query_run *run, const struct clr_call *call,
                        struct clr_output *output)
{
    struct clr_tally *tallies = run->tallies;
    const struct clr_state *state = &tallies[call->tally].state;
    struct clr_sums sums = {.count = state->count, .non_integers = state->non_integers};
    int i;

    for (i = 0; i < CLR_MOST_TERMS; i++)
        sums.sums[i] = call->terms[i] < 0 ? NULL : &tallies[call->terms[i]].state.sum;
    clr_finish_sums(call->aggregate, call->form, &sums, output);
    return !call->builtin || call->is_exact || sums_agree(state);
}

/* Puts the value in the place of its rank, if the tally is of a lookup that has ranks, or of the
   count of a time. */
static void resolve_rank(struct clr_query_run *run, int tally, struct clr_value *value)
{
    const struct clr_lookup *lookup = ranks_of(run, run->tallies[tally].x);
    const clr_time_format format = format_of(run->query, run->tallies[tally].x);

    if (value->kind == CLR_KIND_INTEGER && format != 0)
        *value = time_text(run, format, value->as.integer);
    else if (value->kind == CLR_KIND_INTEGER && lookup != NULL)
        *value = lookup->ranked[value->as.integer];
}

static bool finish_extreme(struct filling *filling, struct clr_query_run *run,
                           const struct clr_call *call, const struct clr_state *state,
                           struct clr_output *output)
{
    struct clr_value value;

    clr_state_extreme(state, call->aggregate->finish, &value);
    resolve_rank(run, call->tally, &value);
    clr_finish_extreme(call->aggregate, call->form, &value, output);
    return !call->builtin || extremes_agree(filling, call, state, &value);
}

/* Adds bytes to a list, whose size so far it is; to: NULL where only that is asked for. */
static void add_bytes(char *to, size_t *size, const void *bytes, size_t count)
{
    if (to != NULL && count > 0)
        memcpy(to + *size, bytes, count);
    *size += count;
}

/* Whether JSON has the text as it is: no character is to be written in another way. */
static bool is_plain_json(const char *text, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == '"' || text[i] == '\\' || text[i] == '\x7f')
            return false;
    }
    return true;
}

/* Adds a value of a list. Returns false if SQLite writes it in a way that is its own. */
static bool add_listed(char *to, size_t *size, const struct clr_value *value, bool is_json)
{
    char digits[24];

    if (value->kind == CLR_KIND_INTEGER) {
        const int length = snprintf(digits, sizeof digits, "%" PRId64, value->as.integer);

        add_bytes(to, size, digits, (size_t)length);
        return true;
    }
    if (value->kind == CLR_KIND_TEXT && is_json && is_plain_json(value->bytes, value->as.size)) {
        add_bytes(to, size, "\"", 1);
        add_bytes(to, size, value->bytes, value->as.size);
        add_bytes(to, size, "\"", 1);
        return true;
    }
    /* SQLite before 3.39 ends a list at a zero byte. */
    if (is_json || (value->kind != CLR_KIND_TEXT && value->kind != CLR_KIND_BLOB) ||
        (value->as.size > 0 && memchr(value->bytes, 0, value->as.size) != NULL))
        return false;
    add_bytes(to, size, value->bytes, value->as.size);
    return true;
}

/* Stores the size of a list's text, and the text, unless to is NULL. Returns false if SQLite's may
   be another one. */
static bool write_list(struct clr_query_run *run, const struct clr_call *call, char *to,
                       size_t *size)
{
    const struct clr_question *question = &run->questions[call->question];
    const bool is_json = call->aggregate->finish == CLR_LIST_OF_JSON;
    size_t i;

    *size = 0;
    if (is_json)
        add_bytes(to, size, "[", 1);
    for (i = 0; i < question->count; i++) {
        struct clr_value value = {CLR_KIND_INTEGER, {.integer = question->values[i]}, NULL};

        resolve_rank(run, call->tally, &value);
        if (i > 0)
            add_bytes(to, size, call->separator, strlen(call->separator));
        if (!add_listed(to, size, &value, is_json))
            return false;
    }
    if (is_json)
        add_bytes(to, size, "]", 1);
    return true;
}

/* A list has no NULLs, unless it is JSON: then SQLite writes it where there is one, as it does
   where there is a REAL. */
static bool finish_list(struct clr_query_run *run, const struct clr_call *call,
                        struct clr_output *output)
{
    const struct clr_state *state = &run->tallies[call->tally].state;
    const int rows = call->terms[0];
    size_t size;
    char *text;

    if (state->non_integers != 0 || (rows >= 0 && run->tallies[rows].state.count != state->count) ||
        !write_list(run, call, NULL, &size))
        return false;
    if (rows < 0 && state->count == 0)
        return true;
    text = output->memory = clr_memory_alloc(size + 1);
    if (text == NULL) {
        output->code = CLR_NOMEM;
        return true;
    }
    write_list(run, call, text, &size);
    output->value = (struct clr_value){CLR_KIND_TEXT, {.size = size}, text};
    return true;
}

/* As finish_sums(), for any call. */
static bool finish(struct filling *filling, struct clr_query_run *run, const struct clr_call *call,
                   struct clr_output *output)
{
    const struct clr_tally *tally = &run->tallies[call->tally];
    const struct clr_question *question = &run->questions[call->question];

    switch (call->aggregate->needs) {
    case CLR_NEEDS_COUNT:
        output->value = (struct clr_value){CLR_KIND_INTEGER, {.integer = tally->state.count}, NULL};
        return true;
    case CLR_NEEDS_SUMS:
        return finish_sums(run, call, output);
    case CLR_NEEDS_EXTREME:
        return finish_extreme(filling, run, call, &tally->state, output);
    case CLR_NEEDS_BINS:
        clr_finish_bins(call->form, &question->bins, question->counts, output);
        return true;
    case CLR_NEEDS_VALUES:
        return finish_list(run, call, output);
    default:
        output->value = question->answer;
        if (call->aggregate->needs == CLR_NEEDS_FREQUENCIES && call->aggregate->finish == CLR_MODE)
            resolve_rank(run, call->tally, &output->value);
        return true;
    }
}

/* Puts what is known of a tally in a group in the place of what is known of all rows. */
static void take_tally(struct worker *worker, const struct clr_groups *groups, size_t group,
                       int tally)
{
    if (worker->taken[tally] == group + 1)
        return;
    worker->taken[tally] = group + 1;
    clr_groups_state(groups, group, tally, &worker->run->tallies[tally].state);
}

/* The same for a question. */
static void take_question(struct clr_query_run *run, const struct clr_groups *groups, size_t group,
                          int number)
{
    struct clr_question *question = &run->questions[number];
    const uint64_t *counts;

    if (question->kind == CLR_ASK_VALUES) {
        question->values = clr_groups_values(groups, group, number, &question->count);
        return;
    }
    question->answer = clr_groups_answer(groups, group, number, &counts);
    if (question->kind == CLR_ASK_BINS)
        memcpy(question->counts, counts,
               ((size_t)question->bins.count + 2) * sizeof *question->counts);
}

/* And for all that a call is made of. */
static void take_group(struct worker *worker, const struct clr_groups *groups, size_t group,
                       const struct clr_call *call)
{
    int i;

    take_tally(worker, groups, group, call->tally);
    for (i = 0; i < CLR_MOST_TERMS; i++)
        if (call->terms[i] >= 0)
            take_tally(worker, groups, group, call->terms[i]);
    if (clr_aggregate_asks(call->aggregate))
        take_question(worker->run, groups, group, call->question);
}

static enum clr_scan_outcome finish_call(struct filling *filling, struct worker *worker, int call,
                                         size_t group, size_t place)
{
    struct clr_output output;
    bool fine;

    worker->unsure = &worker->run->query->calls[call];
    if (filling->groups != NULL)
        take_group(worker, filling->groups, group, worker->unsure);
    clr_output_init(&output);
    if (!finish(filling, worker->run, worker->unsure, &output) || output.code == CLR_INVALID) {
        clr_memory_free(output.memory);
        return CLR_SCAN_UNSURE;
    }
    /* NaN is NULL, as where SQLite takes it for a value. */
    if (output.value.kind == CLR_KIND_REAL && output.value.as.real != output.value.as.real)
        output.value.kind = CLR_KIND_NONE;
    fine = output.code == CLR_OK && set_value(filling, worker, place, &output.value);
    clr_memory_free(output.memory);
    return fine ? CLR_SCAN_DONE : CLR_SCAN_FAILED;
}

/* ---- Calls whose values are numbers of the groups' records. */

/* Whether a tally's values are given as they are: see resolve_rank(). */
static bool has_plain_values(const struct clr_query_run *run, int tally)
{
    const int x = run->tallies[tally].x;

    return ranks_of(run, x) == NULL && format_of(run->query, x) == 0;
}

/* Returns the number that is a call's value, or CLR_GROUP_NOTHING. */
static enum clr_group_number number_of(const struct clr_query_run *run,
                                       const struct clr_groups *groups, const struct clr_call *call)
{
    const struct clr_aggregate *aggregate = call->aggregate;
    enum clr_group_number number = CLR_GROUP_NOTHING;

    if (call->form & CLR_FORM_STATE)
        return CLR_GROUP_NOTHING;
    if (aggregate->needs == CLR_NEEDS_COUNT)
        number = CLR_GROUP_COUNT;
    else if (aggregate->needs == CLR_NEEDS_SUMS && aggregate->operation < CLR_OPERATIONS &&
             aggregate->finish != CLR_TOTAL_TOTAL && call->terms[0] == call->tally &&
             (!call->builtin || call->is_exact ||
              clr_groups_sums_are_within(groups, call->tally, EXACT_IN_DOUBLE)))
        number = aggregate->finish == CLR_TOTAL_AVG ? CLR_GROUP_AVERAGE : CLR_GROUP_SUM;
    else if (aggregate->needs == CLR_NEEDS_EXTREME && has_plain_values(run, call->tally))
        number = aggregate->finish < 0 ? CLR_GROUP_LEAST : CLR_GROUP_GREATEST;
    return number != CLR_GROUP_NOTHING && clr_groups_may_read(groups, call->tally, number)
               ? number
               : CLR_GROUP_NOTHING;
}

/* Sets the values of a call that are numbers, of a block of groups. What is none is CLR_TAG_UNSURE,
   and so is a zero that SQLite may know with another sign: see extremes_agree(). Returns whether
   all are set. */
static bool set_numbers(const struct filling *filling, int number, size_t first, size_t count)
{
    const struct clr_call *call = &filling->run->query->calls[number];
    const enum clr_group_number kind = filling->numbers[number];
    const struct clr_group_cells cells =
        cells_of(filling->values, first, filling->values->key_count + number);
    bool has_all;
    size_t i;

    if (kind == CLR_GROUP_NOTHING) {
        for (i = 0; i < count; i++)
            cells.tags[i * cells.step] = CLR_TAG_UNSURE;
        return false;
    }
    has_all = clr_groups_read(filling->groups, call->tally, kind, first, count, &cells);
    for (i = 0; i < count && kind >= CLR_GROUP_LEAST && call->builtin; i++) {
        if (cells.tags[i * cells.step] == CLR_TAG_REAL &&
            clr_real_of(cells.bits[i * cells.step]) == 0.0) {
            cells.tags[i * cells.step] = CLR_TAG_UNSURE;
            has_all = false;
        }
    }
    return has_all;
}

/* ---- Results: a scan of a block of groups, whose columns are keys and calls. */

struct results {
    struct clr_query_run *run;
    struct clr_scan scan;
    struct clr_block *block;
    struct clr_column own[CLR_MOST_COLUMNS], *columns[CLR_MOST_COLUMNS];
    int64_t memory[]; /* the values of each column, and its tags */
};

/* What a column takes in the memory, in INTEGERs. */
enum { COLUMN_ROOM = CLR_BLOCK + CLR_BLOCK / sizeof(int64_t) };

static void free_results(struct results *results)
{
    if (results == NULL)
        return;
    clr_memory_free(results->block);
    clr_query_run_free(results->run);
    clr_memory_free(results);
}

/* Returns what computes the results of a query; NULL without memory. */
static struct results *new_results(const struct clr_query *query)
{
    const size_t room = (size_t)query->column_count * COLUMN_ROOM * sizeof(int64_t);
    struct results *results = clr_memory_alloc_zero(sizeof *results + room);
    struct clr_reason reason; /* there are no parameters, which would be refused */
    int i;

    for (i = 0; i < query->column_count && results != NULL; i++) {
        results->columns[i] = &results->own[i];
        results->own[i].kind = CLR_TAG_MIXED;
        results->own[i].values = results->memory + (size_t)i * COLUMN_ROOM;
        results->own[i].tags = (uint8_t *)(results->own[i].values + CLR_BLOCK);
    }
    if (results != NULL && clr_query_run_begin(query, NULL, &results->run, &reason) == CLR_OK) {
        results->scan = clr_query_run_scan(results->run);
        results->scan.columns = results->columns;
        results->scan.rows = CLR_BLOCK;
        results->block = clr_block_new(&results->scan);
    }
    if (results == NULL || results->block != NULL)
        return results;
    free_results(results);
    return NULL;
}

/* Takes a key or a call of groups as a column of the scan. */
static void take_column(const struct clr_group_values *values, size_t first, size_t count,
                        int number, struct clr_column *column)
{
    size_t place = first * (size_t)values->column_count + (size_t)number, i;

    for (i = 0; i < count; i++, place += (size_t)values->column_count) {
        const uint8_t tag = values->tags[place];

        column->values[i] = values->bits[place];
        column->tags[i] = tag == CLR_GROUP_TEXT ? CLR_TAG_BYTES : tag;
    }
}

/* Sets a result of groups. */
static void set_results(struct clr_group_values *values, size_t first, size_t count, int number,
                        const struct clr_register *result)
{
    size_t place = first * (size_t)values->column_count + (size_t)number, i;

    for (i = 0; i < count; i++, place += (size_t)values->column_count) {
        values->bits[place] = result->values[i];
        values->tags[place] = result->tags[i];
    }
}

/* Computes the results of groups whose keys and calls are there, a block at most. Returns whether
   all are numbers, or NULL, and sure. */
static bool fill_results(struct clr_group_values *values, struct results *results, size_t first,
                         size_t count)
{
    const struct clr_query *query = results->run->query;
    int number = values->key_count + values->call_count, i;

    for (i = 0; i < query->column_count; i++)
        take_column(values, first, count, query->columns[i].number, results->columns[i]);
    clr_block_set_rows(results->block, 0, count);
    clr_block_run(results->block, CLR_STAGE_TALLIES);
    for (i = 0; i < query->tally_count; i++) {
        const struct clr_register *result = &results->block->registers[query->tallies[i].x];

        if ((result->types & CLR_UNKNOWN_TYPES) != 0)
            return false;
        set_results(values, first, count, number++, result);
    }
    return true;
}

/* ---- All. */

/* Sets those of a group's calls that are no numbers. */
static enum clr_scan_outcome finish_group(struct filling *filling, struct worker *worker,
                                          size_t group)
{
    const struct clr_group_values *values = filling->values;
    size_t place = group * (size_t)values->column_count + (size_t)values->key_count;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    for (i = 0; i < values->call_count && outcome == CLR_SCAN_DONE; i++, place++)
        if (values->tags[place] == CLR_TAG_UNSURE)
            outcome = finish_call(filling, worker, i, group, place);
    return outcome;
}

static void fill_block(struct filling *filling, struct worker *worker, size_t first, size_t count)
{
    const struct clr_group_values *values = filling->values;
    bool has_all = true;
    size_t group;
    int i;

    if (filling->groups != NULL)
        clr_groups_fetch(filling->groups, first, count);
    for (i = 0; i < values->key_count && worker->outcome == CLR_SCAN_DONE; i++)
        if (!set_keys(filling, worker, i, first, count))
            worker->outcome = CLR_SCAN_FAILED;
    for (i = 0; i < values->call_count; i++)
        has_all &= set_numbers(filling, i, first, count);
    for (group = first; group < first + count && !has_all && worker->outcome == CLR_SCAN_DONE;
         group++)
        worker->outcome = finish_group(filling, worker, group);
    if (worker->outcome == CLR_SCAN_DONE && worker->results != NULL &&
        !atomic_load_explicit(&filling->is_unsure, memory_order_relaxed) &&
        !fill_results(filling->values, worker->results, first, count))
        atomic_store(&filling->is_unsure, true);
}

/* Returns a run that has states and answers of its own; NULL without memory. Of what is large only
   the part in use is copied. */
static struct clr_query_run *copy_run(const struct clr_query_run *run)
{
    struct clr_query_run *copy = clr_memory_alloc(sizeof *copy);

    if (copy == NULL)
        return NULL;
    copy->query = run->query;
    memcpy(copy->tallies, run->tallies, (size_t)run->query->tally_count * sizeof run->tallies[0]);
    copy->question_count = run->question_count;
    memcpy(copy->questions, run->questions, (size_t)run->question_count * sizeof run->questions[0]);
    copy->lookups = run->lookups;
    copy->columns = run->columns;
    return copy;
}

static void fill_some(void *argument, int number, const atomic_bool *stop)
{
    struct filling *filling = argument;
    struct worker *worker = &filling->workers[number];
    const struct clr_group_values *values = filling->values;
    const size_t rows = values->rows;
    size_t first;

    worker->run = filling->run;
    if (filling->worker_count > 1)
        worker->run = copy_run(filling->run);
    if (clr_group_values_have_results(values))
        worker->results = new_results(filling->run->query->results);
    if (worker->run == NULL || (clr_group_values_have_results(values) && worker->results == NULL))
        worker->outcome = CLR_SCAN_FAILED;
    while (worker->outcome == CLR_SCAN_DONE) {
        first = atomic_fetch_add(&filling->next, CLR_BLOCK);
        if (first >= rows || atomic_load_explicit(stop, memory_order_relaxed))
            break;
        fill_block(filling, worker, first, rows - first < CLR_BLOCK ? rows - first : CLR_BLOCK);
    }
    if (worker->outcome != CLR_SCAN_DONE)
        atomic_store(&filling->next, rows);
    if (worker->outcome == CLR_SCAN_FAILED && worker->bytes.code == CLR_LIMIT)
        worker->outcome = CLR_SCAN_LIMIT;
    if (worker->run != filling->run)
        clr_memory_free(worker->run);
    free_results(worker->results);
}

/* Bins are counted in the run's own memory. */
static int count_workers(const struct clr_query_run *run, size_t rows)
{
    const size_t most = rows / WORTH + 1;
    int i, size;

    for (i = 0; i < run->question_count; i++)
        if (run->questions[i].kind == CLR_ASK_BINS)
            return 1;
    size = most == 1 ? 1 : clr_team_size();
    return most < (size_t)size ? (int)most : size;
}

static enum clr_scan_outcome run_workers(struct filling *filling, const struct clr_watch *watch,
                                         const struct clr_call **unsure)
{
    struct clr_bytes *bytes = &filling->values->bytes;
    const atomic_bool never = false;
    enum clr_scan_outcome outcome = CLR_SCAN_DONE;
    int i;

    for (i = 0; i < filling->worker_count; i++) {
        filling->workers[i].outcome = CLR_SCAN_DONE;
        filling->workers[i].bytes.left = &filling->left;
    }
    if (filling->values->rows < WORTH)
        fill_some(filling, 0, &never);
    else if (!clr_team_run(filling->worker_count, fill_some, filling, watch))
        outcome = CLR_SCAN_STOPPED;
    for (i = 0; i < filling->worker_count; i++) {
        if (outcome == CLR_SCAN_DONE) {
            outcome = filling->workers[i].outcome;
            *unsure = filling->workers[i].unsure;
        }
        clr_bytes_append(bytes, &filling->workers[i].bytes);
        clr_bytes_free(&filling->workers[i].bytes);
    }
    bytes->left = NULL;
    if (atomic_load(&filling->is_unsure))
        filling->values->plain_count = 0;
    return outcome;
}

static enum clr_scan_outcome fill(struct clr_group_values *values, struct clr_query_run *run,
                                  const struct clr_groups *groups, uint64_t memory,
                                  const struct clr_watch *watch, const struct clr_call **unsure)
{
    const int workers = count_workers(run, values->rows);
    struct filling *filling =
        clr_memory_alloc_zero(sizeof *filling + (size_t)workers * sizeof *filling->workers);
    enum clr_scan_outcome outcome = CLR_SCAN_FAILED;
    int key, call;

    if (filling == NULL)
        return CLR_SCAN_FAILED;
    filling->worker_count = workers;
    filling->values = values;
    filling->run = run;
    filling->groups = groups;
    atomic_init(&filling->left, memory < INT64_MAX ? (int64_t)memory : INT64_MAX);
    for (call = 0; call < values->call_count && groups != NULL; call++)
        filling->numbers[call] = number_of(run, groups, &run->query->calls[call]);
    if (find_ranks(filling))
        outcome = run_workers(filling, watch, unsure);
    for (key = 0; key < values->key_count; key++)
        clr_memory_free(filling->known[key]);
    clr_memory_free(filling);
    return outcome;
}

enum clr_scan_outcome clr_group_values_make(struct clr_query_run *run,
                                            const struct clr_groups *groups, uint64_t memory,
                                            const struct clr_watch *watch,
                                            struct clr_group_values **result,
                                            const struct clr_call **unsure)
{
    const struct clr_query *query = run->query;
    const size_t rows = groups == NULL ? 1 : clr_groups_count(groups);
    const uint64_t row = (uint64_t)count_columns(query, rows) * 9;
    struct clr_group_values *values;
    enum clr_scan_outcome outcome;

    *result = NULL;
    if (rows > memory / row)
        return CLR_SCAN_LIMIT;
    values = new_values(query, rows);
    if (values == NULL)
        return CLR_SCAN_FAILED;
    outcome = fill(values, run, groups, memory - rows * row, watch, unsure);
    if (outcome == CLR_SCAN_DONE)
        *result = values;
    else
        clr_group_values_release(values);
    return outcome;
}
