/*
 * The contract whose numbers are cited here is in aggregates.h.
 *
 * In a window values leave in the order in which they came, and SQLite does not say beforehand
 * whether some will. So numbers go to chunks, as those of sums do, and all values that may still
 * become the extreme when others have left go to a deque, in their order: numbers when a chunk is
 * full, or numbers of the other type or TEXT come. Once a value is asked for or a row leaves, all
 * values go straight to the deque, which knows the extreme.
 */
#include "sqlite/aggregates/extremes.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "numeric/order/deque.h"
#include "numeric/states/state_format.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/aggregates/merge.h"
#include "sqlite/aggregates/value_memory.h"
#include "sqlite/session/spares.h"
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
    struct clr_feed feed;        /* without room for the type that did not come last */
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
    clr_deque_push_reals(&extreme->deque, extreme->real,
                         (size_t)(context->feed.real - extreme->real));
    clr_deque_push_integers(&extreme->deque, extreme->integer,
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
        const struct clr_chunk *chunk = extreme->reduction->filling->chunk;
        connection->stats.values_fed +=
            (context->feed.real - chunk->real) + (context->feed.integer - chunk->integer);
    }
    memset(&context->feed, 0, sizeof context->feed);
    extreme->windowed = true;
}

/* Makes room in the chunk for a number, of the type that the numbers before it have not, or when
   there is no more. */
static enum clr_code make_room(struct extreme_context *context, enum clr_kind kind)
{
    struct clr_extreme *extreme = context->extreme;
    struct clr_reduction *reduction = extreme->reduction;
    struct clr_feed *feed = &context->feed;
    const struct clr_chunk *chunk = reduction->filling != NULL ? reduction->filling->chunk : NULL;
    enum clr_code code;

    catch_up(context);
    if (feed->real == NULL ||
        (kind == CLR_KIND_REAL ? feed->real == chunk->real + chunk->capacity
                               : feed->integer == chunk->integer + chunk->capacity)) {
        code = clr_reduction_make_room(reduction, feed);
        if (code != CLR_OK)
            return code;
        chunk = reduction->filling->chunk;
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

/* Returns false without memory. The sign of a function is in its row of the table. */
static bool begin(sqlite3_context *sql, struct extreme_context *context)
{
    const struct clr_function *function = clr_function_of(sql);

    if (context != NULL && context->extreme == NULL)
        context->extreme = take_extreme(function->connection, function->aggregate->which);
    return context != NULL && context->extreme != NULL;
}

/* Inlined, it would cost every row registers to save. */
static __attribute__((noinline)) void
step_slowly(sqlite3_context *sql, struct extreme_context *context, sqlite3_value **values)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    struct clr_value value;

    if (!begin(sql, context) || !clr_value_read(values[0], &value) ||
        take_value(clr_function_connection(sql), context, &value) != CLR_OK)
        sqlite3_result_error_nomem(sql);
    clr_float_environment_end(&before);
}

/* Each type has a way of its own, as in sums.c. */
void clr_extreme_step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    const int type = sqlite3_value_type(values[0]);
    struct extreme_context *context;

    (void)count;
    if (type == SQLITE_FLOAT) {
        context = sqlite3_aggregate_context(sql, sizeof *context);
        if (context != NULL && context->feed.real < context->feed.real_end)
            *context->feed.real++ = sqlite3_value_double(values[0]);
        else
            step_slowly(sql, context, values);
    } else if (type == SQLITE_INTEGER) {
        context = sqlite3_aggregate_context(sql, sizeof *context);
        if (context != NULL && context->feed.integer < context->feed.integer_end)
            *context->feed.integer++ = sqlite3_value_int64(values[0]);
        else
            step_slowly(sql, context, values);
    } else if (type != SQLITE_NULL) { /* clause 1 */
        step_slowly(sql, sqlite3_aggregate_context(sql, sizeof *context), values);
    }
}

/* Takes the oldest value out. */
static void shift(sqlite3_context *sql)
{
    struct extreme_context *context = sqlite3_aggregate_context(sql, sizeof *context);
    struct clr_connection *connection = clr_function_connection(sql);

    if (context == NULL || context->extreme == NULL)
        return;
    begin_window(connection, context);
    (void)clr_memory_granted_for(sql, clr_deque_shift(&context->extreme->deque), /* clause 7 */
                                 "the values that its window may come to",
                                 connection->extremes.limit);
}

void clr_extreme_inverse(sqlite3_context *sql, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        shift(sql);
}

/* Reads a state's value, kind CLR_KIND_NONE for one of no rows; returns false, with an error, if
   the argument is no state. */
static bool read_state(sqlite3_context *sql, sqlite3_value *argument, struct clr_value *value)
{
    const int sign = clr_function_of(sql)->aggregate->which;
    enum clr_state_fault fault = CLR_STATE_NOT_A_STATE;

    if (sqlite3_value_type(argument) == SQLITE_BLOB)
        fault = clr_state_decode_extreme(sqlite3_value_blob(argument),
                                         (size_t)sqlite3_value_bytes(argument),
                                         sign < 0 ? CLR_STATE_MIN : CLR_STATE_MAX, value);
    return clr_merge_argument(sql, argument, fault);
}

void clr_extreme_merge_step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct extreme_context *context;
    struct clr_value value;

    (void)count;
    if (sqlite3_value_type(values[0]) == SQLITE_NULL || !read_state(sql, values[0], &value) ||
        value.kind == CLR_KIND_NONE)
        return;
    context = sqlite3_aggregate_context(sql, sizeof *context);
    if (!begin(sql, context) || take_value(clr_function_connection(sql), context, &value) != CLR_OK)
        sqlite3_result_error_nomem(sql);
}

void clr_extreme_merge_inverse(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct clr_value value;

    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL && read_state(sql, values[0], &value) &&
        value.kind != CLR_KIND_NONE)
        shift(sql);
}

static void set_state(sqlite3_context *sql, const struct clr_value *value)
{
    const int sign = clr_function_of(sql)->aggregate->which;
    const size_t size = clr_state_extreme_size(value);
    unsigned char *bytes = sqlite3_malloc64(size);

    if (bytes == NULL) {
        sqlite3_result_error_nomem(sql);
        return;
    }
    clr_state_encode_extreme(sign < 0 ? CLR_STATE_MIN : CLR_STATE_MAX, value, bytes);
    sqlite3_result_blob64(sql, bytes, size, sqlite3_free);
}

static void set_result(sqlite3_context *sql, const struct clr_value *value)
{
    const enum clr_form form = clr_function_of(sql)->form;

    if (form == CLR_FORM_STATE || form == CLR_FORM_STATE_MERGE)
        set_state(sql, value);
    else
        clr_value_set_result(sql, value); /* clause 1: NULL for none */
}

/* What a function of no rows has. */
static const struct clr_value nothing = {.kind = CLR_KIND_NONE};

/* Sets the result to the better of what the deque and the chunks have: the deque has TEXT and BLOB,
   and of the numbers all but those that came last. */
static void show_better(sqlite3_context *sql, struct extreme_context *context)
{
    struct clr_extreme *extreme = context->extreme;
    const int sign = extreme->deque.sign;
    const struct clr_value *front = clr_deque_front(&extreme->deque);
    struct clr_value number;

    clr_reduction_settle(extreme->reduction, &context->feed);
    clr_state_extreme(&extreme->reduction->state, sign, &number);
    if (front != NULL &&
        (number.kind == CLR_KIND_NONE || clr_value_compare(front, &number, sign) * sign > 0))
        set_result(sql, front);
    else
        set_result(sql, &number);
}

static void show_front(sqlite3_context *sql, struct clr_deque *deque)
{
    const struct clr_value *front = clr_deque_front(deque);

    set_result(sql, front != NULL ? front : &nothing);
}

/* The context stays as it is: a frame that only grows is asked for its value after every row, and
   goes on. */
void clr_extreme_value(sqlite3_context *sql)
{
    struct extreme_context *context = sqlite3_aggregate_context(sql, 0);

    if (context == NULL || context->extreme == NULL) {
        set_result(sql, &nothing);
        return;
    }
    begin_window(clr_function_connection(sql), context);
    show_front(sql, &context->extreme->deque);
}

void clr_extreme_final(sqlite3_context *sql)
{
    struct extreme_context *context = sqlite3_aggregate_context(sql, 0);
    struct clr_extreme *extreme;

    if (context == NULL || context->extreme == NULL) {
        set_result(sql, &nothing);
        return;
    }
    extreme = context->extreme;
    if (extreme->windowed)
        show_front(sql, &extreme->deque);
    else
        show_better(sql, context);
    clr_reduction_end(extreme->reduction);
    context->extreme = NULL;
    return_extreme(clr_function_connection(sql), extreme);
}
