/* The contract whose numbers are cited here is in aggregates.h. */
#include "sqlite/sums.h"

#include "sqlite/connection.h"

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
};

/* A row's argument as SQLite's sum() reads it. */
struct operand {
    bool is_integer;    /* its value is in integer, else in real */
    bool typed_integer; /* its SQL type is INTEGER: clauses 2 and 5 */
    int64_t integer;
    double real;
};

/* Returns false for NULL. */
static bool read_operand(sqlite3_value *value, struct operand *operand)
{
    int type = sqlite3_value_type(value);

    operand->typed_integer = type == SQLITE_INTEGER;
    if (type == SQLITE_TEXT)
        type = sqlite3_value_numeric_type(value);
    operand->is_integer = type == SQLITE_INTEGER;
    if (operand->is_integer)
        operand->integer = sqlite3_value_int64(value);
    else
        operand->real = sqlite3_value_double(value);
    return type != SQLITE_NULL;
}

/* Adds a row to the state, or with weight -1 takes it out again; y is NULL for sums. */
static void add_row(struct clr_state *state, const struct operand *x, const struct operand *y,
                    int weight)
{
    bool typed_integer = x->typed_integer && (y == NULL || y->typed_integer);

    state->count += weight;
    state->non_integers += typed_integer ? 0 : weight;
    if (y == NULL && x->is_integer)
        clr_sum_add_integer(&state->sum, x->integer, weight);
    else if (y == NULL)
        clr_sum_add(&state->sum, x->real, weight);
    else if (x->is_integer && y->is_integer)
        clr_sum_add_integer(&state->sum, (clr_i128)x->integer * y->integer, weight);
    else if (x->is_integer)
        clr_sum_add_mixed_product(&state->sum, x->integer, y->real, weight);
    else if (y->is_integer)
        clr_sum_add_mixed_product(&state->sum, y->integer, x->real, weight);
    else
        clr_sum_add_product(&state->sum, x->real, y->real, weight);
}

/* Returns whether the row could be appended to the chunk, in which both operands must be of one
   element type and count as what they are. */
static bool append_row(struct sum_context *sum, const struct operand *x, const struct operand *y)
{
    size_t pitch = sum->reduction->pitch;

    if (y == NULL && x->is_integer && x->typed_integer) {
        *sum->feed.integer++ = x->integer;
    } else if (y == NULL && !x->is_integer) {
        *sum->feed.real++ = x->real;
    } else if (y != NULL && x->is_integer && y->is_integer && x->typed_integer &&
               y->typed_integer) {
        sum->feed.integer[pitch] = y->integer;
        *sum->feed.integer++ = x->integer;
    } else if (y != NULL && !(x->is_integer && y->is_integer) &&
               !(x->is_integer && !clr_sum_fits_double(x->integer)) &&
               !(y->is_integer && !clr_sum_fits_double(y->integer))) {
        sum->feed.real[pitch] = y->is_integer ? (double)y->integer : y->real;
        *sum->feed.real++ = x->is_integer ? (double)x->integer : x->real;
    } else {
        return false;
    }
    return true;
}

/* Returns false, with the error set, without memory. */
static bool begin(sqlite3_context *context, struct sum_context *sum, enum clr_operation operation)
{
    struct clr_connection *connection = sqlite3_user_data(context);

    if (sum->reduction == NULL)
        sum->reduction = clr_reduction_begin(&connection->pool, operation);
    if (sum->reduction == NULL)
        sqlite3_result_error_nomem(context);
    return sum->reduction != NULL;
}

/* Makes room for a number in the chunk. CLR_INVALID: this is a window, which has no chunks.
   CLR_NOMEM: the error is set. */
static enum clr_code make_room(sqlite3_context *context, struct sum_context *sum,
                               enum clr_operation operation)
{
    if (sum->windowed)
        return CLR_INVALID;
    if (!begin(context, sum, operation))
        return CLR_NOMEM;
    if (clr_reduction_make_room(sum->reduction, &sum->feed) == CLR_OK)
        return CLR_OK;
    sqlite3_result_error_nomem(context);
    return CLR_NOMEM;
}

/* A step that is not just an append: unusual types, windows. */
static void step_slowly(sqlite3_context *context, struct sum_context *sum,
                        enum clr_operation operation, sqlite3_value **values)
{
    struct operand x, y, *second = NULL;

    if (sum == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    if (!read_operand(values[0], &x))
        return;
    if (operation == CLR_DOT) {
        second = &y;
        if (!read_operand(values[1], &y))
            return;
    }
    if (!sum->windowed) {
        if ((sum->feed.real == sum->feed.real_end || sum->feed.integer == sum->feed.integer_end) &&
            make_room(context, sum, operation) != CLR_OK)
            return;
        if (append_row(sum, &x, second))
            return;
    }
    sum->reduction->pool->stats->values_fed++;
    add_row(&sum->reduction->state, &x, second, 1);
}

void clr_sum_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct sum_context *sum;
    enum clr_code code = CLR_INVALID;
    int type = sqlite3_value_type(values[0]);

    (void)count;
    if (type == SQLITE_NULL) /* clause 1 */
        return;
    sum = sqlite3_aggregate_context(context, sizeof *sum);
    if (sum != NULL && type == SQLITE_FLOAT &&
        (sum->feed.real < sum->feed.real_end ||
         (code = make_room(context, sum, CLR_SUM)) == CLR_OK))
        *sum->feed.real++ = sqlite3_value_double(values[0]);
    else if (sum != NULL && type == SQLITE_INTEGER &&
             (sum->feed.integer < sum->feed.integer_end ||
              (code = make_room(context, sum, CLR_SUM)) == CLR_OK))
        *sum->feed.integer++ = sqlite3_value_int64(values[0]);
    else if (code != CLR_NOMEM)
        step_slowly(context, sum, CLR_SUM, values);
}

void clr_dot_step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct sum_context *sum;
    enum clr_code code = CLR_INVALID;
    int type = sqlite3_value_type(values[0]), second_type = sqlite3_value_type(values[1]);

    (void)count;
    if (type == SQLITE_NULL || second_type == SQLITE_NULL) /* clause 1 */
        return;
    sum = sqlite3_aggregate_context(context, sizeof *sum);
    if (sum != NULL && type == SQLITE_FLOAT && second_type == SQLITE_FLOAT &&
        (sum->feed.real < sum->feed.real_end ||
         (code = make_room(context, sum, CLR_DOT)) == CLR_OK)) {
        sum->feed.real[sum->reduction->pitch] = sqlite3_value_double(values[1]);
        *sum->feed.real++ = sqlite3_value_double(values[0]);
    } else if (sum != NULL && type == SQLITE_INTEGER && second_type == SQLITE_INTEGER &&
               (sum->feed.integer < sum->feed.integer_end ||
                (code = make_room(context, sum, CLR_DOT)) == CLR_OK)) {
        sum->feed.integer[sum->reduction->pitch] = sqlite3_value_int64(values[1]);
        *sum->feed.integer++ = sqlite3_value_int64(values[0]);
    } else if (code != CLR_NOMEM) {
        step_slowly(context, sum, CLR_DOT, values);
    }
}

static void settle(struct sum_context *sum)
{
    if (!sum->windowed)
        clr_reduction_settle(sum->reduction, &sum->feed);
}

static void inverse(sqlite3_context *context, enum clr_operation operation, sqlite3_value **values)
{
    struct sum_context *sum = sqlite3_aggregate_context(context, sizeof *sum);
    struct operand x, y;

    if (sum == NULL || sum->reduction == NULL) /* NULLs alone entered, so NULLs alone leave */
        return;
    settle(sum);
    sum->windowed = true;
    if (read_operand(values[0], &x) && (operation != CLR_DOT || read_operand(values[1], &y)))
        add_row(&sum->reduction->state, &x, operation == CLR_DOT ? &y : NULL, -1); /* clause 7 */
}

void clr_sum_inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    inverse(context, CLR_SUM, values);
}

void clr_dot_inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    inverse(context, CLR_DOT, values);
}

/* What each function makes of a state in which at least one row counts. */

static void result_sum(sqlite3_context *context, struct clr_state *state)
{
    int64_t integer;

    if (state->non_integers != 0)
        sqlite3_result_double(context, clr_sum_round(&state->sum, 1)); /* NaN becomes NULL */
    else if (clr_int192_to_int64(&state->sum.integer, &integer))
        sqlite3_result_int64(context, integer);
    else
        sqlite3_result_error(context, "integer overflow", -1); /* clause 2 */
}

static void result_total(sqlite3_context *context, struct clr_state *state)
{
    sqlite3_result_double(context, clr_sum_round(&state->sum, 1));
}

static void result_avg(sqlite3_context *context, struct clr_state *state)
{
    sqlite3_result_double(context, clr_sum_round(&state->sum, (uint64_t)state->count));
}

/* Clauses 1 and 7. Returns the context's reduction, complete, or NULL if no row counts. */
static struct clr_reduction *complete(sqlite3_context *context, struct sum_context **found)
{
    struct sum_context *sum = sqlite3_aggregate_context(context, 0);

    *found = sum;
    if (sum == NULL || sum->reduction == NULL)
        return NULL;
    settle(sum);
    return sum->reduction;
}

static void value(sqlite3_context *context, void (*result)(sqlite3_context *, struct clr_state *))
{
    struct sum_context *sum;
    struct clr_reduction *reduction = complete(context, &sum);

    if (sum != NULL)
        sum->windowed = sum->reduction != NULL;
    if (reduction != NULL && reduction->state.count > 0)
        result(context, &reduction->state);
    else if (result == result_total)
        sqlite3_result_double(context, 0.0);
}

/* Also runs when a statement is aborted: nothing is launched (clause 8). */
static void final(sqlite3_context *context, void (*result)(sqlite3_context *, struct clr_state *))
{
    struct sum_context *sum;
    struct clr_reduction *reduction = complete(context, &sum);

    if (reduction != NULL && reduction->state.count > 0)
        result(context, &reduction->state);
    else if (result == result_total)
        sqlite3_result_double(context, 0.0);
    if (reduction != NULL) {
        sum->reduction = NULL;
        clr_reduction_end(reduction);
    }
}

void clr_sum_value(sqlite3_context *context)
{
    value(context, result_sum);
}

void clr_sum_final(sqlite3_context *context)
{
    final(context, result_sum);
}

void clr_total_value(sqlite3_context *context)
{
    value(context, result_total);
}

void clr_total_final(sqlite3_context *context)
{
    final(context, result_total);
}

void clr_avg_value(sqlite3_context *context)
{
    value(context, result_avg);
}

void clr_avg_final(sqlite3_context *context)
{
    final(context, result_avg);
}
