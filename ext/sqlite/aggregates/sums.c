/* The contract whose numbers are cited here is in aggregates.h. */
#include "sqlite/aggregates/sums.h"

#include "base/float_environment.h"
#include "numeric/states/finish.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/aggregates/merge.h"
#include "sqlite/session/sql_value.h"

#include <math.h>
#include <stdbool.h>

/*
 * What SQLite keeps, and zeroes, for every group: small. The feed is in here and not behind the
 * pointer, since every row goes through it.
 */
struct sum_context {
    struct clr_feed feed;
    struct clr_reduction *reduction; /* NULL before the first row that counts */
    bool windowed; /* a value was asked for or a row left: rows go straight to the state */
    /* Of one sum in a window: the state again, and whether its value is the sum itself. */
    struct clr_state *window;
    bool is_pair, is_total;
};

/* A row's argument as SQLite's sum() reads it: clause 5. */
struct operand {
    bool is_integer; /* its value is in integer, else in real */
    int64_t integer;
    double real;
};

/* Returns false for NULL. */
static bool read_operand(sqlite3_value *value, struct operand *operand)
{
    int type = sqlite3_value_type(value);

    if (type == SQLITE_TEXT)
        type = sqlite3_value_numeric_type(value);
    operand->is_integer = type == SQLITE_INTEGER;
    if (operand->is_integer)
        operand->integer = sqlite3_value_int64(value);
    else
        operand->real = sqlite3_value_double(value);
    return type != SQLITE_NULL;
}

static void add_value(struct clr_sum *sum, const struct operand *x, int weight)
{
    if (x->is_integer)
        clr_sum_add_integer(sum, x->integer, weight);
    else
        clr_sum_add(sum, x->real, weight);
}

static void add_product(struct clr_sum *sum, const struct operand *x, const struct operand *y,
                        int weight)
{
    if (x->is_integer && y->is_integer)
        clr_sum_add_integer(sum, (clr_i128)x->integer * y->integer, weight);
    else if (x->is_integer)
        clr_sum_add_mixed_product(sum, x->integer, y->real, weight);
    else if (y->is_integer)
        clr_sum_add_mixed_product(sum, y->integer, x->real, weight);
    else
        clr_sum_add_product(sum, x->real, y->real, weight);
}

static void add_term(struct clr_sum *sum, const struct clr_term *term,
                     const struct operand *operands, int weight)
{
    if (term->operation == CLR_SUM)
        add_value(sum, &operands[term->first], weight);
    else
        add_product(sum, &operands[term->first], &operands[term->second], weight);
}

/* Adds a row's operands, one or two, to the state, or with weight -1 takes them out again. */
static void add_row(struct clr_state *state, enum clr_operation operation,
                    const struct operand *operands, int weight)
{
    bool integers =
        operands[0].is_integer && (clr_operation_width(operation) == 1 || operands[1].is_integer);
    const struct clr_term *terms;
    int count, i;

    state->count += weight;
    state->non_integers += integers ? 0 : weight;
    terms = clr_operation_terms(operation, &count);
    for (i = 0; i < count; i++)
        add_term(clr_state_sum(state, i), &terms[i], operands, weight);
}

/* Returns whether the row could be appended to the chunk, in which both operands must be of one
   element type. */
static bool append_row(struct sum_context *sum, const struct operand *operands)
{
    const size_t pitch = sum->reduction->pitch;
    const struct operand *x = operands, *y = NULL;

    if (clr_operation_width(sum->reduction->operation) == 2)
        y = &operands[1];

    if (y == NULL && x->is_integer) {
        *sum->feed.integer++ = x->integer;
    } else if (y == NULL) {
        *sum->feed.real++ = x->real;
    } else if (x->is_integer && y->is_integer) {
        sum->feed.integer[pitch] = y->integer;
        *sum->feed.integer++ = x->integer;
    } else if (!(x->is_integer && !clr_sum_fits_double(x->integer)) &&
               !(y->is_integer && !clr_sum_fits_double(y->integer))) {
        sum->feed.real[pitch] = y->is_integer ? (double)y->integer : y->real;
        *sum->feed.real++ = x->is_integer ? (double)x->integer : x->real;
    } else {
        return false;
    }
    return true;
}

/* Returns false, with the error set, without memory. */
static bool begin(sqlite3_context *context, struct sum_context *sum)
{
    const struct clr_function *function = clr_function_of(context);

    if (sum->reduction == NULL)
        sum->reduction =
            clr_reduction_begin(&function->connection->pool, function->aggregate->operation);
    if (sum->reduction == NULL)
        sqlite3_result_error_nomem(context);
    return sum->reduction != NULL;
}

/* Makes room for a number of each element type in the chunk; likewise. */
static bool make_room(sqlite3_context *context, struct sum_context *sum)
{
    if (!begin(context, sum))
        return false;
    if (clr_reduction_make_room(sum->reduction, &sum->feed) == CLR_OK)
        return true;
    sqlite3_result_error_nomem(context);
    return false;
}

/* Reads a row's operands, one or two; returns false if one is NULL. */
static bool read_row(int count, sqlite3_value **values, struct operand *operands)
{
    return read_operand(values[0], &operands[0]) &&
           (count == 1 || read_operand(values[1], &operands[1]));
}

/* The usual rows in windows, numbers of one type: add_row() in short. Returns false for others. */
static bool add_plain(struct sum_context *sum, sqlite3_value **values, int weight)
{
    const int type = sqlite3_value_type(values[0]);
    struct clr_state *state = sum->window;

    if (sum->is_pair && sqlite3_value_type(values[1]) != type)
        return false;
    if (type == SQLITE_FLOAT) {
        const double x = sqlite3_value_double(values[0]);

        if (sum->is_pair)
            clr_sum_add_product(&state->sum, x, sqlite3_value_double(values[1]), weight);
        else
            clr_sum_add(&state->sum, x, weight);
        state->non_integers += weight;
    } else if (type == SQLITE_INTEGER) {
        const clr_i128 x = sqlite3_value_int64(values[0]);

        clr_sum_add_integer(&state->sum, sum->is_pair ? x * sqlite3_value_int64(values[1]) : x,
                            weight);
    } else {
        return false;
    }
    state->count += weight;
    return true;
}

static void take_row(sqlite3_context *context, struct sum_context *sum, sqlite3_value **values)
{
    struct operand operands[2];

    if (sum == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (sum->window != NULL && add_plain(sum, values, 1)) {
        sum->reduction->pool->stats->values_fed++;
        return;
    }
    if (!read_row(clr_function_of(context)->aggregate->arguments, values, operands))
        return;
    if (!sum->windowed) {
        if ((sum->feed.real == sum->feed.real_end || sum->feed.integer == sum->feed.integer_end) &&
            !make_room(context, sum))
            return;
        if (append_row(sum, operands))
            return;
    }
    sum->reduction->pool->stats->values_fed++;
    add_row(&sum->reduction->state, sum->reduction->operation, operands, 1);
}

/* A step that is not just an append: no room, unusual types, windows. Inlined, it would cost every
   row registers to save. */
static __attribute__((noinline)) void step_slowly(sqlite3_context *context, struct sum_context *sum,
                                                  sqlite3_value **values)
{
    const struct clr_float_environment before = clr_float_environment_begin();

    take_row(context, sum, values);
    clr_float_environment_end(&before);
}

/* Each type has a way of its own: then SQLite's answers need not be kept over the next call. */
void clr_single_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    const int type = sqlite3_value_type(values[0]);
    struct sum_context *sum;

    (void)count;
    if (type == SQLITE_FLOAT) {
        sum = sqlite3_aggregate_context(context, sizeof *sum);
        if (sum != NULL && sum->feed.real < sum->feed.real_end)
            *sum->feed.real++ = sqlite3_value_double(values[0]);
        else
            step_slowly(context, sum, values);
    } else if (type == SQLITE_INTEGER) {
        sum = sqlite3_aggregate_context(context, sizeof *sum);
        if (sum != NULL && sum->feed.integer < sum->feed.integer_end)
            *sum->feed.integer++ = sqlite3_value_int64(values[0]);
        else
            step_slowly(context, sum, values);
    } else if (type != SQLITE_NULL) { /* clause 1 */
        step_slowly(context, sqlite3_aggregate_context(context, sizeof *sum), values);
    }
}

void clr_pair_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    const int type = sqlite3_value_type(values[0]), second = sqlite3_value_type(values[1]);
    struct sum_context *sum;

    (void)count;
    if (type == SQLITE_FLOAT && second == SQLITE_FLOAT) {
        sum = sqlite3_aggregate_context(context, sizeof *sum);
        if (sum != NULL && sum->feed.real < sum->feed.real_end) {
            double *place = sum->feed.real++;
            place[sum->reduction->pitch] = sqlite3_value_double(values[1]);
            *place = sqlite3_value_double(values[0]);
        } else {
            step_slowly(context, sum, values);
        }
    } else if (type == SQLITE_INTEGER && second == SQLITE_INTEGER) {
        sum = sqlite3_aggregate_context(context, sizeof *sum);
        if (sum != NULL && sum->feed.integer < sum->feed.integer_end) {
            int64_t *place = sum->feed.integer++;
            place[sum->reduction->pitch] = sqlite3_value_int64(values[1]);
            *place = sqlite3_value_int64(values[0]);
        } else {
            step_slowly(context, sum, values);
        }
    } else if (type != SQLITE_NULL && second != SQLITE_NULL) { /* clause 1 */
        step_slowly(context, sqlite3_aggregate_context(context, sizeof *sum), values);
    }
}

static void settle(struct sum_context *sum)
{
    if (!sum->windowed)
        clr_reduction_settle(sum->reduction, &sum->feed);
}

/* From here on rows go straight to the state, which is complete. */
static void begin_window(sqlite3_context *context, struct sum_context *sum)
{
    const struct clr_function *function = clr_function_of(context);

    sum->windowed = true;
    if (sum->reduction->operation != CLR_SUM && sum->reduction->operation != CLR_DOT)
        return;
    sum->window = &sum->reduction->state;
    sum->is_pair = sum->reduction->operation == CLR_DOT;
    sum->is_total = function->form == CLR_FORM_VALUE && function->aggregate->which == CLR_TOTAL_SUM;
}

void clr_sums_inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct sum_context *sum = sqlite3_aggregate_context(context, sizeof *sum);
    struct operand operands[2];

    if (sum == NULL || sum->reduction == NULL) /* NULLs alone entered, so NULLs alone leave */
        return;
    if (sum->window != NULL && add_plain(sum, values, -1))
        return;
    settle(sum);
    if (!sum->windowed)
        begin_window(context, sum);
    if (read_row(count, values, operands)) /* clause 7 */
        add_row(&sum->reduction->state, sum->reduction->operation, operands, -1);
}

/* ---- States as BLOBs. */

/* Adds a state to the context's, or with weight -1 takes it away again. */
static void merge(sqlite3_context *context, struct sum_context *sum, sqlite3_value *argument,
                  int weight)
{
    const struct clr_function *function = clr_function_of(context);
    enum clr_state_fault fault = CLR_STATE_NOT_A_STATE;
    struct clr_state *state;
    struct clr_state_parts parts;
    struct clr_sums sums;

    if (sum == NULL || !begin(context, sum)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    sum->windowed = true; /* there are no rows, and so no chunk */
    state = &sum->reduction->state;
    clr_sums_of_state(&sums, state);
    clr_finish_parts(&sums, function->aggregate->operation, &parts);
    if (sqlite3_value_type(argument) == SQLITE_BLOB)
        fault = clr_state_decode(sqlite3_value_blob(argument),
                                 (size_t)sqlite3_value_bytes(argument), &parts, weight);
    if (!clr_merge_argument(context, argument, fault))
        return;
    state->count = parts.count;
    state->non_integers = parts.non_integers;
}

void clr_sums_merge_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        merge(context, sqlite3_aggregate_context(context, sizeof(struct sum_context)), values[0],
              1);
}

void clr_sums_merge_inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        merge(context, sqlite3_aggregate_context(context, sizeof(struct sum_context)), values[0],
              -1);
}

/* ---- Results. */

/* Of no row that counts, too: an empty state says so. */
static void set_state(sqlite3_context *context, const struct clr_sums *sums)
{
    unsigned char bytes[CLR_STATE_LIMIT];
    struct clr_state_parts parts;

    clr_finish_parts(sums, clr_function_of(context)->aggregate->operation, &parts);
    sqlite3_result_blob64(context, bytes, clr_state_encode(&parts, bytes), SQLITE_TRANSIENT);
}

static void set_value(sqlite3_context *context, const struct clr_sums *sums)
{
    const struct clr_aggregate *aggregate = clr_function_of(context)->aggregate;
    struct clr_value value;

    if (clr_finish(sums, aggregate->operation, aggregate->which, &value) != CLR_OK)
        sqlite3_result_error(context, "integer overflow", -1); /* clause 2 */
    else
        clr_value_set_result(context, &value); /* NaN becomes NULL */
}

static void set_result(sqlite3_context *context, const struct clr_sums *sums)
{
    const enum clr_form form = clr_function_of(context)->form;

    if (form == CLR_FORM_STATE || form == CLR_FORM_STATE_MERGE)
        set_state(context, sums);
    else
        set_value(context, sums);
}

static void show_nothing(sqlite3_context *context)
{
    struct clr_sum more[CLR_MOST_TERMS - 1];
    struct clr_state none;
    struct clr_sums sums;

    clr_state_clear(&none);
    clr_state_extend(&none, more, CLR_MOST_TERMS - 1);
    clr_sums_of_state(&sums, &none);
    set_result(context, &sums);
}

/* Clauses 1 and 7: completes the reduction, if there is one, and sets the result. */
static void show(sqlite3_context *context, struct sum_context *sum)
{
    struct clr_sums sums;

    if (sum == NULL || sum->reduction == NULL) {
        show_nothing(context);
        return;
    }
    settle(sum);
    clr_sums_of_state(&sums, &sum->reduction->state);
    set_result(context, &sums);
}

/* As show(), for a window whose value is the sum of what is in it. Returns false where that takes
   more. */
static bool show_total(sqlite3_context *context, struct clr_state *window)
{
    int64_t integer;

    if (window->non_integers != 0)
        sqlite3_result_double(context, clr_sum_round(&window->sum, 1));
    else if (window->count != 0 && clr_int192_to_int64(&window->sum.integer, &integer))
        sqlite3_result_int64(context, integer);
    else
        return false;
    return true;
}

void clr_sums_value(sqlite3_context *context)
{
    struct sum_context *sum = sqlite3_aggregate_context(context, 0);

    if (sum != NULL && sum->is_total && show_total(context, sum->window))
        return;
    show(context, sum);
    if (sum != NULL && sum->reduction != NULL && !sum->windowed)
        begin_window(context, sum);
}

/* As show(), for the small groups of which a GROUP BY may have millions. Returns false if this is
   none. */
static bool show_few(sqlite3_context *context, struct sum_context *sum)
{
    const struct clr_function *function = clr_function_of(context);
    double total;

    if (sum == NULL || sum->reduction == NULL || function->form != CLR_FORM_VALUE ||
        function->aggregate->which == CLR_TOTAL_AVG ||
        !clr_reduction_settle_few(sum->reduction, &sum->feed, &total))
        return false;
    sqlite3_result_double(context, total);
    return true;
}

/* Also runs when a statement is aborted: nothing is launched (clause 8). */
void clr_sums_final(sqlite3_context *context)
{
    struct sum_context *sum = sqlite3_aggregate_context(context, 0);

    if (!show_few(context, sum))
        show(context, sum);
    if (sum != NULL && sum->reduction != NULL) {
        clr_reduction_end(sum->reduction);
        sum->reduction = NULL;
    }
}
