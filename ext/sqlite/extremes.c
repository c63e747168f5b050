/*
 * The contract whose numbers are cited here is in aggregates.h.
 *
 * A window function needs the values in their order, because they leave in that order, and a plain
 * aggregate must not keep them all; SQLite does not say which of the two a call belongs to. So the
 * first values are kept in their order: in a chunk as long as they are numbers of one type, else in
 * a monotonic deque. When they fill a chunk, the running statements tell whether rows can leave at
 * all; if not, order does not matter, and numbers go to chunks from then on.
 */
#include "sqlite/extremes.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "numeric/deque.h"
#include "numeric/state_format.h"
#include "sqlite/function.h"
#include "sqlite/merge.h"
#include "sqlite/sql_value.h"
#include "sqlite/window_use.h"

#include <string.h>

/* What a connection keeps for reuse, and how many values a deque takes before it asks, unless the
   chunk size is smaller. */
enum { KEPT_EXTREMES = 8, DEQUE_TRIAL = 65536 };

/*
 * ORDERED: all values are in the first chunk, numbers of one type. DEQUE: all are in the deque, or
 * were. CHUNKS: numbers are in chunks and the state; the deque has the best of all other values.
 */
enum stage { ORDERED, DEQUE, CHUNKS };

struct clr_extreme {
    struct clr_extreme *next; /* in the connection's list */
    enum stage stage;
    struct clr_deque deque;
    struct clr_reduction *reduction;
};

/* As small as it can be: see sums.c. */
struct extreme_context {
    struct clr_feed feed;        /* ORDERED: without room for the other type; DEQUE: all zeros */
    struct clr_extreme *extreme; /* NULL before the first row that counts */
    bool windowed;               /* a row has left, or may leave: the deque must stay */
};

static void free_extreme(struct clr_extreme *extreme)
{
    clr_deque_free(&extreme->deque);
    clr_memory_free(extreme);
}

/* How many values the deque takes before the running statements are asked. */
static uint64_t trial_length(const struct clr_connection *connection)
{
    uint64_t length = (uint64_t)connection->settings.chunk_size;
    return length < DEQUE_TRIAL ? length : DEQUE_TRIAL;
}

static struct clr_extreme *take_extreme(struct clr_connection *connection, int sign)
{
    struct clr_extreme *extreme = connection->free_extremes;

    if (extreme != NULL) {
        connection->free_extremes = extreme->next;
        connection->free_extreme_count--;
    } else {
        extreme = clr_memory_alloc(sizeof *extreme);
        if (extreme == NULL)
            return NULL;
        clr_deque_init(&extreme->deque, sign);
    }
    clr_deque_clear(&extreme->deque, sign);
    extreme->stage = ORDERED;
    extreme->reduction = clr_reduction_begin(&connection->pool, CLR_EXTREMES);
    if (extreme->reduction != NULL)
        return extreme;
    free_extreme(extreme);
    return NULL;
}

static void return_extreme(struct clr_connection *connection, struct clr_extreme *extreme)
{
    if (connection->free_extreme_count == KEPT_EXTREMES) {
        free_extreme(extreme);
        return;
    }
    extreme->next = connection->free_extremes;
    connection->free_extremes = extreme;
    connection->free_extreme_count++;
}

void clr_extremes_free(struct clr_connection *connection)
{
    while (connection->free_extremes != NULL) {
        struct clr_extreme *extreme = connection->free_extremes;
        connection->free_extremes = extreme->next;
        free_extreme(extreme);
    }
}

/* Returns whether the value is better than all before, as far as the deque knows. */
static bool is_better(const struct clr_deque *deque, const struct clr_value *value)
{
    const struct clr_value *front = clr_deque_front(deque);
    return front == NULL || clr_value_compare(value, front, deque->sign) * deque->sign > 0;
}

/* Without windows the deque holds the best value of those that did not go to chunks. */
static enum clr_code keep_best(struct clr_deque *deque, const struct clr_value *value)
{
    if (!is_better(deque, value))
        return CLR_OK;
    clr_deque_clear(deque, deque->sign);
    return clr_deque_push(deque, value);
}

/* Moves the values of the first chunk to the deque, in their order. */
static enum clr_code move_to_deque(struct clr_connection *connection,
                                   struct extreme_context *context)
{
    struct clr_extreme *extreme = context->extreme;
    const struct clr_chunk *chunk;
    struct clr_value value = {.bytes = NULL};
    const double *real;
    const int64_t *integer;

    extreme->stage = DEQUE;
    if (context->feed.real == NULL)
        return CLR_OK;
    chunk = extreme->reduction->filling->chunk;
    value.kind = CLR_KIND_REAL;
    for (real = chunk->real; real < context->feed.real; real++) {
        value.as.real = *real;
        if (clr_deque_push(&extreme->deque, &value) != CLR_OK)
            return CLR_NOMEM;
    }
    value.kind = CLR_KIND_INTEGER;
    for (integer = chunk->integer; integer < context->feed.integer; integer++) {
        value.as.integer = *integer;
        if (clr_deque_push(&extreme->deque, &value) != CLR_OK)
            return CLR_NOMEM;
    }
    connection->stats.values_fed += (int64_t)extreme->deque.arrived;
    memset(&context->feed, 0, sizeof context->feed);
    return CLR_OK;
}

/*
 * Makes room for a number in chunks, if the value is one and its order need not be kept, or is kept
 * by the chunk itself. Returns CLR_INVALID if the value must go to the deque.
 */
static enum clr_code make_room(struct clr_connection *connection, struct extreme_context *context,
                               enum clr_kind kind)
{
    struct clr_extreme *extreme = context->extreme;
    bool number = kind == CLR_KIND_REAL || kind == CLR_KIND_INTEGER;
    bool first = context->feed.real == NULL;
    enum clr_code code;

    if (extreme->stage == ORDERED && first && number) {
        code = clr_reduction_make_room(extreme->reduction, &context->feed);
        if (kind == CLR_KIND_REAL)
            context->feed.integer_end = context->feed.integer;
        else
            context->feed.real_end = context->feed.real;
        return code;
    }
    if (extreme->stage == ORDERED) {
        const struct clr_chunk *chunk = first ? NULL : extreme->reduction->filling->chunk;
        bool same =
            chunk != NULL && (kind == CLR_KIND_REAL ? context->feed.real != chunk->real
                                                    : context->feed.integer != chunk->integer);
        if (number && same && !clr_window_use(connection->db))
            extreme->stage = CHUNKS;
        else
            return move_to_deque(connection, context) == CLR_OK ? CLR_INVALID : CLR_NOMEM;
    }
    if (extreme->stage == DEQUE && !context->windowed &&
        extreme->deque.arrived >= trial_length(connection)) {
        context->windowed = clr_window_use(connection->db);
        if (!context->windowed) {
            extreme->stage = CHUNKS;
            clr_deque_keep_front(&extreme->deque);
        }
    }
    if (extreme->stage == DEQUE || !number)
        return CLR_INVALID;
    return clr_reduction_make_room(extreme->reduction, &context->feed);
}

static enum clr_code take_value(struct clr_connection *connection, struct extreme_context *context,
                                const struct clr_value *value)
{
    struct clr_extreme *extreme = context->extreme;
    enum clr_code code = make_room(connection, context, value->kind);

    if (code == CLR_INVALID) {
        connection->stats.values_fed++;
        return extreme->stage == DEQUE ? clr_deque_push(&extreme->deque, value)
                                       : keep_best(&extreme->deque, value);
    }
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

    if (context == NULL || context->extreme == NULL)
        return;
    context->windowed = true;
    if (context->extreme->stage == ORDERED &&
        move_to_deque(clr_function_connection(sql), context) != CLR_OK) {
        sqlite3_result_error_nomem(sql);
        return;
    }
    clr_deque_shift(&context->extreme->deque); /* clause 7 */
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

/*
 * Sets the result to the better of what the deque and the chunks hold. The context stays as it is:
 * a frame that only grows is asked for its value after every row, and goes on.
 */
static void show_extreme(sqlite3_context *sql, struct extreme_context *context)
{
    struct clr_extreme *extreme = context->extreme;
    const struct clr_value *front = clr_deque_front(&extreme->deque);
    struct clr_value number = {.kind = CLR_KIND_NONE};

    clr_reduction_settle(extreme->reduction, &context->feed);
    clr_state_extreme(&extreme->reduction->state, extreme->deque.sign, &number);
    if (front != NULL && (number.kind == CLR_KIND_NONE || !is_better(&extreme->deque, &number)))
        set_result(sql, front);
    else
        set_result(sql, &number);
}

void clr_extreme_value(sqlite3_context *sql)
{
    struct extreme_context *context = sqlite3_aggregate_context(sql, 0);

    if (context == NULL || context->extreme == NULL)
        set_result(sql, &nothing);
    else if (context->extreme->stage == ORDERED &&
             move_to_deque(clr_function_connection(sql), context) != CLR_OK)
        sqlite3_result_error_nomem(sql);
    else
        show_extreme(sql, context);
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
    show_extreme(sql, context);
    clr_reduction_end(extreme->reduction);
    context->extreme = NULL;
    return_extreme(clr_function_connection(sql), extreme);
}
