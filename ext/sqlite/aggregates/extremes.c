/*
 * gpu_min and gpu_max. The contract whose numbers are cited here is in aggregates.h.
 *
 * In a window values leave in the order in which they came, and SQLite does not say beforehand
 * whether some will. So all values that may still become the extreme when others have left go to a
 * deque, in their order, which knows the extreme: TEXT and BLOB at once, and numbers in batches,
 * when one is full, when numbers of the other type or TEXT come, when a row leaves and when a value
 * is asked for.
 */
#include "base/memory.h"
#include "numeric/order/deque.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/sql_value.h"

/* Numbers in a batch. */
enum { BATCH = 512 };

struct clr_extreme {
    struct clr_deque deque;
    double reals[BATCH];
    int64_t integers[BATCH];
};

/* As small as it can be: see sums.c. */
struct extreme_context {
    struct clr_feed feed;        /* into the batches, open for the type of the last number only */
    struct clr_extreme *extreme; /* NULL before the first row that counts */
};

/* Brings the deque up to date with the batches, of which one has numbers at most. */
static void catch_up(struct clr_connection *connection, struct extreme_context *context)
{
    struct clr_extreme *extreme = context->extreme;
    const size_t reals = (size_t)(context->feed.real - extreme->reals);
    const size_t integers = (size_t)(context->feed.integer - extreme->integers);

    clr_deque_push_numbers(&extreme->deque, CLR_KIND_REAL, extreme->reals, reals);
    clr_deque_push_numbers(&extreme->deque, CLR_KIND_INTEGER, extreme->integers, integers);
    connection->stats.values_fed += (int64_t)(reals + integers);
    context->feed.real = extreme->reals;
    context->feed.integer = extreme->integers;
}

/* A number opens its batch, which is full, or closed as the last number was of the other type. */
static enum clr_code take_value(struct clr_connection *connection, struct extreme_context *context,
                                const struct clr_value *value)
{
    struct clr_extreme *extreme = context->extreme;
    struct clr_feed *feed = &context->feed;

    catch_up(connection, context);
    if (value->kind >= CLR_KIND_TEXT) {
        connection->stats.values_fed++;
        return clr_deque_push(&extreme->deque, value);
    }
    feed->real_end = extreme->reals + (value->kind == CLR_KIND_REAL ? BATCH : 0);
    feed->integer_end = extreme->integers + (value->kind == CLR_KIND_INTEGER ? BATCH : 0);
    if (value->kind == CLR_KIND_INTEGER)
        *feed->integer++ = value->as.integer;
    else
        *feed->real++ = value->as.real;
    return CLR_OK;
}

/* The function's finish, in the table of aggregates, is the sign. */
static enum clr_code begin(sqlite3_context *sql, struct extreme_context *context)
{
    const struct clr_function *function = clr_function_of(sql);

    if (context->extreme != NULL)
        return CLR_OK;
    context->extreme = clr_memory_alloc(sizeof *context->extreme);
    if (context->extreme == NULL)
        return CLR_NOMEM;
    clr_deque_init(&context->extreme->deque, function->aggregate->finish,
                   &function->connection->extremes);
    context->feed = (struct clr_feed){context->extreme->reals, context->extreme->reals,
                                      context->extreme->integers, context->extreme->integers};
    return CLR_OK;
}

static enum clr_code take(sqlite3_context *sql, void *context, sqlite3_value **values)
{
    enum clr_code code = begin(sql, context);
    struct clr_value value;

    if (code != CLR_OK || !clr_value_read(values[0], &value))
        return CLR_NOMEM;
    return take_value(clr_function_connection(sql), context, &value);
}

static void step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    (void)count;
    clr_function_step(sql, NULL, sizeof(struct extreme_context), false, values);
}

/* Takes the oldest value out. */
static enum clr_code shift(sqlite3_context *sql, struct extreme_context *context)
{
    struct clr_connection *connection = clr_function_connection(sql);
    enum clr_code code;

    if (context->extreme == NULL)
        return CLR_OK;
    catch_up(connection, context);
    code = clr_deque_shift(&context->extreme->deque);
    return code != CLR_LIMIT
               ? code
               : clr_function_refuse_memory(sql, "the values that its window may come to",
                                            connection->extremes.limit);
}

static enum clr_code leave(sqlite3_context *sql, void *context, sqlite3_value **values)
{
    return sqlite3_value_type(values[0]) != SQLITE_NULL ? shift(sql, context) : CLR_OK;
}

/* A state is one value, and leaves as one does; one of no rows is none. */
static enum clr_code merge(sqlite3_context *sql, void *context, const struct clr_value *state,
                           int weight, enum clr_state_fault *fault)
{
    struct clr_value value = {.kind = CLR_KIND_NONE};
    enum clr_code code;

    *fault = clr_state_decode_extreme(state->bytes, state->as.size,
                                      clr_function_of(sql)->aggregate->state, &value);
    if (value.kind == CLR_KIND_NONE)
        return CLR_OK;
    if (weight < 0)
        return shift(sql, context);
    code = begin(sql, context);
    return code == CLR_OK ? take_value(clr_function_connection(sql), context, &value) : code;
}

static void show(const struct clr_function *function, void *pointer, bool last,
                 struct clr_output *output)
{
    const struct clr_value none = {.kind = CLR_KIND_NONE}, *front = NULL;
    struct extreme_context *context = pointer;

    (void)last;
    if (context != NULL && context->extreme != NULL) {
        catch_up(function->connection, context);
        front = clr_deque_front(&context->extreme->deque);
    }
    clr_finish_extreme(function->aggregate, function->form, front != NULL ? front : &none, output);
}

static void end(struct clr_connection *connection, void *pointer)
{
    struct extreme_context *context = pointer;

    (void)connection;
    if (context->extreme == NULL)
        return;
    clr_deque_free(&context->extreme->deque);
    clr_memory_free(context->extreme);
    *context = (struct extreme_context){.extreme = NULL};
}

const struct clr_callbacks clr_extreme_callbacks = {
    .size = sizeof(struct extreme_context),
    .steps = {step},
    .take = take,
    .leave = leave,
    .merge = merge,
    .show = show,
    .end = end,
};
