/*
 * gpu_min and gpu_max. The contract whose numbers are cited here is in aggregates.h.
 *
 * In a window values leave in the order in which they came, and SQLite does not say beforehand
 * whether some will. So numbers go to chunks, as those of sums do, and all values that may still
 * become the extreme when others have left go to a deque, in their order: numbers when a chunk is
 * full, or numbers of the other type or TEXT come. Once a value is asked for or a row leaves, all
 * values go straight to the deque, which knows the extreme.
 */
#include "base/memory.h"
#include "numeric/order/deque.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/sql_value.h"

#include <string.h>

struct clr_extreme {
    struct clr_spare spare;
    bool windowed; /* a value was asked for or a row left: the deque has all values */
    struct clr_deque deque;
    struct clr_reduction *reduction;
    /* Where the numbers of the chunk begin that the deque does not have. They are of one type. */
    const double *real;
    const int64_t *integer;
};

/* As small as it can be: see sums.c. */
struct extreme_context {
    struct clr_feed feed;        /* open for the type of the last number only */
    struct clr_extreme *extreme; /* NULL before the first row that counts */
};

static void free_extreme(struct clr_spare *spare)
{
    struct clr_extreme *extreme = (struct clr_extreme *)(void *)spare;

    clr_deque_free(&extreme->deque);
    clr_memory_free(extreme);
}

static const struct clr_spares_kind spares_kind = CLR_SPARES_KIND(free_extreme);

static struct clr_extreme *take_extreme(struct clr_connection *connection, int sign)
{
    struct clr_extreme *extreme = clr_spares_take(connection, &spares_kind);

    if (extreme == NULL) {
        extreme = clr_memory_alloc(sizeof *extreme);
        if (extreme == NULL)
            return NULL;
        clr_deque_init(&extreme->deque, sign, &connection->extremes);
    }
    extreme->deque.sign = sign;
    extreme->windowed = false;
    extreme->reduction = clr_reduction_begin(&connection->pool, CLR_EXTREMES);
    if (extreme->reduction != NULL)
        return extreme;
    free_extreme(&extreme->spare);
    return NULL;
}

static void return_extreme(struct clr_connection *connection, struct clr_extreme *extreme)
{
    clr_deque_clear(&extreme->deque, extreme->deque.sign);
    clr_spares_give(connection, &spares_kind, &extreme->spare);
}

/* Brings the deque up to date with the chunk. */
static void catch_up(struct extreme_context *context)
{
    struct clr_extreme *extreme = context->extreme;

    if (context->feed.real == NULL)
        return;
    clr_deque_push_numbers(&extreme->deque, CLR_KIND_REAL, extreme->real,
                           (size_t)(context->feed.real - extreme->real));
    clr_deque_push_numbers(&extreme->deque, CLR_KIND_INTEGER, extreme->integer,
                           (size_t)(context->feed.integer - extreme->integer));
    extreme->real = context->feed.real;
    extreme->integer = context->feed.integer;
}

/* From here on values go straight to the deque. */
static void begin_window(struct clr_connection *connection, struct extreme_context *context)
{
    struct clr_extreme *extreme = context->extreme;

    if (extreme->windowed)
        return;
    catch_up(context);
    if (context->feed.real != NULL) {
        const struct clr_chunk *chunk = extreme->reduction->filling;
        connection->stats.values_fed +=
            (context->feed.real - chunk->real) + (context->feed.integer - chunk->integer);
    }
    memset(&context->feed, 0, sizeof context->feed);
    extreme->windowed = true;
}

/* Opens the feed for a number of the kind: the chunk is full, or the last number was of the other
   type. Only one type is open, so that the deque can have the numbers in the order of the rows. */
static enum clr_code make_room(struct extreme_context *context, enum clr_kind kind)
{
    struct clr_extreme *extreme = context->extreme;
    struct clr_reduction *reduction = extreme->reduction;
    struct clr_feed *feed = &context->feed;
    const struct clr_chunk *chunk = reduction->filling;
    enum clr_code code;

    catch_up(context);
    if (feed->real == NULL ||
        (kind == CLR_KIND_REAL ? feed->real == chunk->real + chunk->capacity
                               : feed->integer == chunk->integer + chunk->capacity)) {
        code = clr_reduction_make_room(reduction, feed);
        if (code != CLR_OK)
            return code;
        chunk = reduction->filling;
        extreme->real = feed->real;
        extreme->integer = feed->integer;
    }
    feed->real_end = kind == CLR_KIND_REAL ? chunk->real + chunk->capacity : feed->real;
    feed->integer_end = kind == CLR_KIND_INTEGER ? chunk->integer + chunk->capacity : feed->integer;
    return CLR_OK;
}

static enum clr_code take_value(struct clr_connection *connection, struct extreme_context *context,
                                const struct clr_value *value)
{
    struct clr_extreme *extreme = context->extreme;
    enum clr_code code;

    if (extreme->windowed || value->kind >= CLR_KIND_TEXT) {
        connection->stats.values_fed++;
        catch_up(context);
        return clr_deque_push(&extreme->deque, value);
    }
    code = make_room(context, value->kind);
    if (code == CLR_OK && value->kind == CLR_KIND_INTEGER)
        *context->feed.integer++ = value->as.integer;
    else if (code == CLR_OK)
        *context->feed.real++ = value->as.real;
    return code;
}

/* The function's finish, in the table of aggregates, is the sign. */
static enum clr_code begin(sqlite3_context *sql, struct extreme_context *context)
{
    const struct clr_function *function = clr_function_of(sql);

    if (context->extreme == NULL)
        context->extreme = take_extreme(function->connection, function->aggregate->finish);
    return context->extreme != NULL ? CLR_OK : CLR_NOMEM;
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
    begin_window(connection, context);
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

/* Stores the better of what the deque and the chunks have: the deque has TEXT and BLOB, and of the
   numbers all but those that came last. Its value stays the deque's. */
static void find_better(struct extreme_context *context, struct clr_value *value)
{
    struct clr_extreme *extreme = context->extreme;
    const int sign = extreme->deque.sign;
    const struct clr_value *front = clr_deque_front(&extreme->deque);

    clr_reduction_settle(extreme->reduction, &context->feed);
    clr_state_extreme(&extreme->reduction->state, sign, value);
    if (front != NULL &&
        (value->kind == CLR_KIND_NONE || clr_value_compare(front, value, sign) * sign > 0))
        *value = *front;
}

/* A frame that only grows is asked for its value after every row, and goes on. */
static void show(const struct clr_function *function, void *pointer, bool last,
                 struct clr_output *output)
{
    struct extreme_context *context = pointer;
    struct clr_value value = {.kind = CLR_KIND_NONE};
    const struct clr_value *front = NULL;

    if (context != NULL && context->extreme != NULL) {
        if (!last)
            begin_window(function->connection, context);
        if (context->extreme->windowed)
            front = clr_deque_front(&context->extreme->deque);
        else
            find_better(context, &value);
    }
    clr_finish_extreme(function->aggregate, function->form, front != NULL ? front : &value, output);
}

static void end(struct clr_connection *connection, void *pointer)
{
    struct extreme_context *context = pointer;

    if (context->extreme == NULL)
        return;
    clr_reduction_end(context->extreme->reduction);
    return_extreme(connection, context->extreme);
    context->extreme = NULL;
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
