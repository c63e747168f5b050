/* The aggregates that are exact sums: gpu_sum, gpu_total, gpu_avg, gpu_dot and the moments. */
#include "sqlite/aggregates/function.h"
#include "sqlite/session/sql_value.h"

/*
 * What SQLite keeps, and zeroes, for every group: small. The feed is in here and not behind the
 * pointer, since every row goes through it.
 */
struct sum_context {
    struct clr_feed feed;
    struct clr_reduction *reduction; /* NULL before the first row that counts */
    bool windowed; /* a value was asked for or a row left: rows go straight to the state */
};

/* A row's arguments are operands, which are INTEGERs or REALs. */
static bool is_integer(const struct clr_value *operand)
{
    return operand->kind == CLR_KIND_INTEGER;
}

static void add_value(struct clr_sum *sum, const struct clr_value *x, int weight)
{
    if (is_integer(x))
        clr_sum_add_integer(sum, x->as.integer, weight);
    else
        clr_sum_add(sum, x->as.real, weight);
}

static void add_product(struct clr_sum *sum, const struct clr_value *x, const struct clr_value *y,
                        int weight)
{
    if (is_integer(x) && is_integer(y))
        clr_sum_add_integer(sum, (clr_i128)x->as.integer * y->as.integer, weight);
    else if (is_integer(x))
        clr_sum_add_mixed_product(sum, x->as.integer, y->as.real, weight);
    else if (is_integer(y))
        clr_sum_add_mixed_product(sum, y->as.integer, x->as.real, weight);
    else
        clr_sum_add_product(sum, x->as.real, y->as.real, weight);
}

static void add_term(struct clr_sum *sum, const struct clr_term *term,
                     const struct clr_value *operands, int weight)
{
    if (term->operation == CLR_SUM)
        add_value(sum, &operands[term->first], weight);
    else
        add_product(sum, &operands[term->first], &operands[term->second], weight);
}

/* Adds a row's operands, one or two, to the state, or with weight -1 takes them out again. */
static void add_row(struct clr_state *state, enum clr_operation operation,
                    const struct clr_value *operands, int weight)
{
    bool integers = is_integer(&operands[0]) &&
                    (clr_operation_width(operation) == 1 || is_integer(&operands[1]));
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
static bool append_row(struct sum_context *sum, const struct clr_value *operands)
{
    const size_t pitch = sum->reduction->pitch;
    const struct clr_value *x = operands, *y = NULL;

    if (clr_operation_width(sum->reduction->operation) == 2)
        y = &operands[1];

    if (y == NULL && is_integer(x)) {
        *sum->feed.integer++ = x->as.integer;
    } else if (y == NULL) {
        *sum->feed.real++ = x->as.real;
    } else if (is_integer(x) && is_integer(y)) {
        sum->feed.integer[pitch] = y->as.integer;
        *sum->feed.integer++ = x->as.integer;
    } else if (!(is_integer(x) && !clr_sum_fits_double(x->as.integer)) &&
               !(is_integer(y) && !clr_sum_fits_double(y->as.integer))) {
        sum->feed.real[pitch] = is_integer(y) ? (double)y->as.integer : y->as.real;
        *sum->feed.real++ = is_integer(x) ? (double)x->as.integer : x->as.real;
    } else {
        return false;
    }
    return true;
}

static enum clr_code begin(const struct clr_aggregate_function *function, struct sum_context *sum)
{
    if (sum->reduction == NULL)
        sum->reduction =
            clr_reduction_begin(&function->connection->pool, function->aggregate->operation);
    return sum->reduction != NULL ? CLR_OK : CLR_NOMEM;
}

/* Makes room for a number of each element type in the chunk. */
static enum clr_code make_room(const struct clr_aggregate_function *function,
                               struct sum_context *sum)
{
    enum clr_code code = begin(function, sum);

    return code == CLR_OK ? clr_reduction_make_room(sum->reduction, &sum->feed) : code;
}

/* Reads a row's operands, one or two; returns false if one is NULL. */
static bool read_row(int count, sqlite3_value **values, struct clr_value *operands)
{
    return clr_value_read_number(values[0], &operands[0]) &&
           (count == 1 || clr_value_read_number(values[1], &operands[1]));
}

/* What is not just an append: no room, unusual types, windows. */
static enum clr_code take(sqlite3_context *context, void *pointer, sqlite3_value **values)
{
    const struct clr_aggregate_function *function = clr_function_of(context);
    struct sum_context *sum = pointer;
    struct clr_value operands[2];
    enum clr_code code = CLR_OK;

    if (!read_row(function->aggregate->arguments, values, operands))
        return CLR_OK;
    if (!sum->windowed) {
        if (sum->feed.real == sum->feed.real_end || sum->feed.integer == sum->feed.integer_end)
            code = make_room(function, sum);
        if (code != CLR_OK || append_row(sum, operands))
            return code;
    }
    sum->reduction->pool->stats->values_fed++;
    add_row(&sum->reduction->state, sum->reduction->operation, operands, 1);
    return CLR_OK;
}

static void step_single(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    clr_function_step(context, NULL, sizeof(struct sum_context), false, values);
}

/* As clr_function_step(), for two numbers. */
static void step_pair(sqlite3_context *context, int count, sqlite3_value **values)
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
            clr_function_take(context, sum, values);
        }
    } else if (type == SQLITE_INTEGER && second == SQLITE_INTEGER) {
        sum = sqlite3_aggregate_context(context, sizeof *sum);
        if (sum != NULL && sum->feed.integer < sum->feed.integer_end) {
            int64_t *place = sum->feed.integer++;
            place[sum->reduction->pitch] = sqlite3_value_int64(values[1]);
            *place = sqlite3_value_int64(values[0]);
        } else {
            clr_function_take(context, sum, values);
        }
    } else if (type != SQLITE_NULL && second != SQLITE_NULL) { /* clause 1 */
        clr_function_take(context, sqlite3_aggregate_context(context, sizeof *sum), values);
    }
}

static void settle(struct sum_context *sum)
{
    if (!sum->windowed)
        clr_reduction_settle(sum->reduction, &sum->feed);
}

static enum clr_code leave(sqlite3_context *context, void *pointer, sqlite3_value **values)
{
    struct sum_context *sum = pointer;
    struct clr_value operands[2];

    if (sum->reduction == NULL) /* NULLs alone entered, so NULLs alone leave */
        return CLR_OK;
    settle(sum);
    sum->windowed = true;
    if (read_row(clr_function_of(context)->aggregate->arguments, values, operands))
        add_row(&sum->reduction->state, sum->reduction->operation, operands, -1);
    return CLR_OK;
}

/* Sets the counts to those of a state, and points at its sums; further ones are NULL. */
static void sums_of(struct clr_sums *sums, struct clr_state *state)
{
    int i;

    *sums = (struct clr_sums){state->count, state->non_integers, {&state->sum}};
    for (i = 0; i < state->more_count; i++)
        sums->sums[i + 1] = &state->more[i];
}

static enum clr_code merge(sqlite3_context *context, void *pointer, const struct clr_value *value,
                           int weight, enum clr_state_fault *fault)
{
    const struct clr_aggregate_function *function = clr_function_of(context);
    struct sum_context *sum = pointer;
    enum clr_code code = begin(function, sum);
    struct clr_state *state;
    struct clr_sums sums;

    if (code != CLR_OK)
        return code;
    sum->windowed = true; /* there are no rows, and so no chunk */
    state = &sum->reduction->state;
    sums_of(&sums, state);
    *fault =
        clr_state_decode(value->bytes, value->as.size, function->aggregate->state, &sums, weight);
    if (*fault == CLR_STATE_SOUND) {
        state->count = sums.count;
        state->non_integers = sums.non_integers;
    }
    return CLR_OK;
}

/* ---- Results. */

/* Of no row that counts. */
static void show_nothing(const struct clr_aggregate_function *function, struct clr_output *output)
{
    struct clr_sum more[CLR_MOST_TERMS - 1];
    struct clr_state none;
    struct clr_sums sums;

    clr_state_clear(&none);
    clr_state_extend(&none, more, CLR_MOST_TERMS - 1);
    sums_of(&sums, &none);
    clr_finish_sums(function->aggregate, function->form, &sums, output);
}

static void show(const struct clr_aggregate_function *function, void *pointer, bool last,
                 struct clr_output *output)
{
    struct sum_context *sum = pointer;
    struct clr_sums sums;

    if (sum == NULL || sum->reduction == NULL) {
        show_nothing(function, output);
        return;
    }
    settle(sum);
    sums_of(&sums, &sum->reduction->state);
    clr_finish_sums(function->aggregate, function->form, &sums, output); /* clauses 1, 2 and 7 */
    sum->windowed = sum->windowed || !last;
}

static void end(struct clr_connection *connection, void *pointer)
{
    struct sum_context *sum = pointer;
    struct clr_reduction *reduction = sum->reduction;

    (void)connection;
    sum->reduction = NULL;
    if (reduction != NULL)
        clr_reduction_end(reduction);
}

const struct clr_aggregate_callbacks clr_sums_callbacks = {
    .size = sizeof(struct sum_context),
    .steps = {step_single, step_pair},
    .take = take,
    .leave = leave,
    .merge = merge,
    .show = show,
    .end = end,
};
