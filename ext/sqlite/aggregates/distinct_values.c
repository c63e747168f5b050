/*
 * The contract whose numbers are cited here is in aggregates.h.
 *
 * Numbers go to a batch first, TEXT and BLOB straight to the collection. The batch goes to the
 * collection, or is kept to be counted with others, when it is full, when a row leaves and when a
 * result is asked for. SQLite does not say beforehand whether rows will leave, so it is always
 * known how often each value is there.
 */
#include "sqlite/aggregates/distinct_values.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "engine/rows/fed_distinct.h"
#include "numeric/distinct/mode.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/aggregates/value_memory.h"
#include "sqlite/session/interruption.h"
#include "sqlite/session/spares.h"
#include "sqlite/session/sql_value.h"

/*
 * Numbers of each type in a batch; different values of which the heap takes in so many at a time,
 * and from which on looking at all of them takes long enough to ask first whether a statement is
 * interrupted.
 */
enum { BATCH = 512, MANY = 16384 };

struct collection {
    struct clr_spare spare;
    struct clr_distinct distinct;
    struct clr_fed_distinct numbers;
    struct clr_mode_heap heap;
    bool windowed; /* a row has left, or a result was asked for and more may come */
    double reals[BATCH];
    int64_t integers[BATCH];
};

/* What SQLite keeps, and zeroes, for every group: small. */
struct distinct_context {
    struct collection *collection; /* NULL before the first row that counts */
    double *real, *real_end;       /* where the next value goes in the collection's batch */
    int64_t *integer, *integer_end;
};

static void free_collection(struct clr_spare *spare)
{
    struct collection *collection = (struct collection *)(void *)spare;

    clr_mode_heap_free(&collection->heap);
    clr_fed_distinct_end(&collection->numbers);
    clr_distinct_free(&collection->distinct);
    clr_memory_free(collection);
}

static const struct clr_spares_kind spares_kind = CLR_SPARES_KIND(free_collection);

/* Returns whether the context has a collection; if not, the error is set. */
static bool begin(sqlite3_context *sql, struct distinct_context *context)
{
    const struct clr_function *function = clr_function_of(sql);
    const bool typed = function->aggregate->which == CLR_DISTINCT_MODE;
    struct clr_connection *connection = function->connection;
    struct collection *collection;
    uint64_t seed;

    if (context == NULL) {
        sqlite3_result_error_nomem(sql);
        return false;
    }
    if (context->collection != NULL)
        return true;
    collection = clr_spares_take(connection, &spares_kind);
    if (collection == NULL) {
        collection = clr_memory_alloc(sizeof *collection);
        if (collection == NULL) {
            sqlite3_result_error_nomem(sql);
            return false;
        }
        sqlite3_randomness(sizeof seed, &seed);
        clr_distinct_init(&collection->distinct, &connection->values, typed, seed);
        clr_fed_distinct_init(&collection->numbers, &collection->distinct, &connection->values,
                              &connection->settings);
        clr_mode_heap_init(&collection->heap, &collection->distinct, &connection->values);
    }
    collection->distinct.typed = typed;
    collection->windowed = false;
    context->collection = collection;
    context->real = collection->reals;
    context->real_end = collection->reals + BATCH;
    context->integer = collection->integers;
    context->integer_end = collection->integers + BATCH;
    return true;
}

/* Frees what the values take, and keeps the rest for reuse. */
static void end(struct clr_connection *connection, struct distinct_context *context)
{
    struct collection *collection = context->collection;

    clr_mode_heap_free(&collection->heap);
    clr_fed_distinct_end(&collection->numbers);
    clr_distinct_clear(&collection->distinct, collection->distinct.typed);
    clr_spares_give(connection, &spares_kind, &collection->spare);
    *context = (struct distinct_context){.collection = NULL};
}

/* Tells the heap of numbers that have come, if it wants to know. */
static enum clr_code tell_heap(struct collection *collection, enum clr_kind kind,
                               const int64_t *integers, const double *reals, size_t count)
{
    struct clr_value value = {.kind = kind};
    enum clr_code code = CLR_OK;
    size_t i;

    for (i = 0; i < count && code == CLR_OK && collection->heap.begun; i++) {
        if (kind == CLR_KIND_INTEGER)
            value.as.integer = integers[i];
        else
            value.as.real = reals[i];
        code = clr_mode_heap_change(&collection->heap, &value, 1);
    }
    return code;
}

/* From the batch to the collection. */
static enum clr_code flush(struct clr_connection *connection, struct distinct_context *context)
{
    struct collection *collection = context->collection;
    const double *reals = collection->reals;
    const int64_t *integers = collection->integers;
    const size_t real_count = (size_t)(context->real - reals);
    const size_t integer_count = (size_t)(context->integer - integers);
    enum clr_code code =
        clr_fed_distinct_add(&collection->numbers, CLR_KIND_INTEGER, integers, integer_count);

    if (code == CLR_OK)
        code = clr_fed_distinct_add(&collection->numbers, CLR_KIND_REAL, reals, real_count);
    if (code == CLR_OK)
        code = tell_heap(collection, CLR_KIND_INTEGER, integers, NULL, integer_count);
    if (code == CLR_OK)
        code = tell_heap(collection, CLR_KIND_REAL, NULL, reals, real_count);
    connection->stats.values_fed += (int64_t)(real_count + integer_count);
    context->real = collection->reals;
    context->integer = collection->integers;
    return code;
}

/* A batch is full. */
static enum clr_code make_room(struct clr_connection *connection, struct distinct_context *context)
{
    struct collection *collection = context->collection;
    struct clr_interruption interruption = {connection->db, NULL};
    struct clr_watch watch = {clr_interruption_is_wanted, &interruption};
    enum clr_code code = flush(connection, context);

    if (code == CLR_OK && !collection->windowed)
        code = clr_fed_distinct_consider(&collection->numbers, &watch);
    clr_interruption_end(&interruption);
    return code;
}

/* From where they are kept, if they are, to the collection. */
static enum clr_code gather(struct clr_connection *connection, struct collection *collection)
{
    struct clr_interruption interruption = {connection->db, NULL};
    struct clr_watch watch = {clr_interruption_is_wanted, &interruption};
    enum clr_code code = CLR_OK;

    if (collection->numbers.keeping)
        code = clr_fed_distinct_fold(&collection->numbers, &watch);
    clr_interruption_end(&interruption);
    return code;
}

static enum clr_code take_value(struct clr_connection *connection, struct distinct_context *context,
                                const struct clr_value *value)
{
    enum clr_code code = CLR_OK;

    if (value->kind >= CLR_KIND_TEXT) {
        connection->stats.values_fed++;
        code = gather(connection, context->collection);
        if (code == CLR_OK)
            code = clr_distinct_add_bytes(&context->collection->distinct, value);
        return code != CLR_OK ? code : clr_mode_heap_change(&context->collection->heap, value, 1);
    }
    if (value->kind == CLR_KIND_REAL) {
        if (context->real == context->real_end)
            code = make_room(connection, context);
        if (code == CLR_OK)
            *context->real++ = value->as.real;
        return code;
    }
    if (context->integer == context->integer_end)
        code = make_room(connection, context);
    if (code == CLR_OK)
        *context->integer++ = value->as.integer;
    return code;
}

static void take_row(sqlite3_context *sql, struct distinct_context *context,
                     sqlite3_value *argument)
{
    struct clr_connection *connection = clr_function_connection(sql);
    struct clr_value value;
    enum clr_code code = CLR_NOMEM;

    if (!begin(sql, context))
        return;
    if (clr_value_read(argument, &value))
        code = take_value(connection, context, &value);
    if (!clr_memory_granted(sql, code))
        end(connection, context);
}

/* A step that is not just an append. */
static void step_slowly(sqlite3_context *sql, struct distinct_context *context,
                        sqlite3_value *argument)
{
    const struct clr_float_environment before = clr_float_environment_begin();

    take_row(sql, context, argument);
    clr_float_environment_end(&before);
}

void clr_distinct_step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct distinct_context *context;
    int type = sqlite3_value_type(values[0]);

    (void)count;
    if (type == SQLITE_NULL) /* clause 1 */
        return;
    context = sqlite3_aggregate_context(sql, sizeof *context);
    if (context != NULL && type == SQLITE_FLOAT && context->real < context->real_end)
        *context->real++ = sqlite3_value_double(values[0]);
    else if (context != NULL && type == SQLITE_INTEGER && context->integer < context->integer_end)
        *context->integer++ = sqlite3_value_int64(values[0]);
    else
        step_slowly(sql, context, values[0]);
}

void clr_distinct_inverse(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct distinct_context *context = sqlite3_aggregate_context(sql, sizeof *context);
    struct clr_connection *connection = clr_function_connection(sql);
    struct clr_value value;
    enum clr_code code = CLR_NOMEM;

    (void)count;
    if (context == NULL || context->collection == NULL ||
        sqlite3_value_type(values[0]) == SQLITE_NULL)
        return;
    context->collection->windowed = true;
    if (clr_value_read(values[0], &value))
        code = flush(connection, context);
    if (code == CLR_OK)
        code = gather(connection, context->collection);
    if (code == CLR_OK)
        code = clr_mode_heap_change(&context->collection->heap, &value, -1);
    if (code == CLR_OK)
        clr_distinct_remove(&context->collection->distinct, &value); /* clause 7 */
    if (!clr_memory_granted(sql, code))
        end(connection, context);
}

/* Sets the result, or an error, from numbers that are kept, once all have come. Returns false if
   they have to be gathered. */
static bool show_kept(sqlite3_context *sql, struct collection *collection)
{
    const struct clr_function *function = clr_function_of(sql);
    const bool with_mode = function->aggregate->which == CLR_DISTINCT_MODE;
    struct clr_connection *connection = function->connection;
    struct clr_interruption interruption = {connection->db, NULL};
    struct clr_watch watch = {clr_interruption_is_wanted, &interruption};
    struct clr_distinct_result result;
    enum clr_code code;

    if (!collection->numbers.keeping)
        return false;
    code = clr_fed_distinct_count(&collection->numbers, with_mode,
                                  collection->numbers.order.ordering != NULL, &watch,
                                  &connection->stats, &result);
    clr_interruption_end(&interruption);
    if (code == CLR_NOMEM || code == CLR_LIMIT)
        return false;
    if (!clr_memory_granted(sql, code))
        return true;
    if (with_mode)
        clr_value_set_result(sql, &result.mode);
    else
        sqlite3_result_int64(sql, (sqlite3_int64)result.size);
    return true;
}

/* Returns CLR_STOPPED if there are many values and the statement is interrupted (clause 8). */
static enum clr_code check_interruption(struct clr_connection *connection,
                                        const struct collection *collection)
{
    struct clr_interruption interruption = {connection->db, NULL};
    bool stop = false;

    if (collection->numbers.keeping || clr_distinct_size(&collection->distinct) >= MANY)
        stop = clr_interruption_is_wanted(&interruption);
    clr_interruption_end(&interruption);
    return stop ? CLR_STOPPED : CLR_OK;
}

/* Finds the mode by the heap, which takes in all values first if it has to. */
static enum clr_code find_in_heap(struct clr_connection *connection, struct clr_mode_heap *heap,
                                  struct clr_value *mode)
{
    struct clr_interruption interruption = {connection->db, NULL};
    enum clr_code code;

    while ((code = clr_mode_heap_fill(heap, MANY)) == CLR_OK && !heap->begun) {
        if (clr_interruption_is_wanted(&interruption)) {
            code = CLR_STOPPED;
            break;
        }
    }
    clr_interruption_end(&interruption);
    if (code == CLR_OK)
        clr_mode_heap_find(heap, mode);
    return code;
}

/* Sets the result of what has come and not left; more may come if it is not the last one. */
static void show(sqlite3_context *sql, struct distinct_context *context, bool last)
{
    const struct clr_function *function = clr_function_of(sql);
    struct collection *collection = context != NULL ? context->collection : NULL;
    struct clr_connection *connection = function->connection;
    struct clr_value mode = {.kind = CLR_KIND_NONE};

    if (collection != NULL) {
        collection->windowed = collection->windowed || !last;
        if (!clr_memory_granted(sql, flush(connection, context)) ||
            (last && !clr_memory_granted(sql, check_interruption(connection, collection))) ||
            (last && show_kept(sql, collection)) ||
            !clr_memory_granted(sql, gather(connection, collection)))
            return;
    }
    if (function->aggregate->which == CLR_DISTINCT_COUNT) {
        sqlite3_result_int64(
            sql, collection != NULL ? (sqlite3_int64)clr_distinct_size(&collection->distinct) : 0);
        return;
    }
    if (collection == NULL)
        return;
    if (last && !collection->heap.begun)
        clr_mode_find(&collection->distinct, &mode);
    else if (!clr_memory_granted(sql, find_in_heap(connection, &collection->heap, &mode)))
        return;
    clr_value_set_result(sql, &mode);
}

void clr_distinct_value(sqlite3_context *sql)
{
    show(sql, sqlite3_aggregate_context(sql, 0), false);
}

/* Also runs when a statement is aborted (clause 8). */
void clr_distinct_final(sqlite3_context *sql)
{
    struct distinct_context *context = sqlite3_aggregate_context(sql, 0);

    show(sql, context, true);
    if (context != NULL && context->collection != NULL)
        end(clr_function_connection(sql), context);
}
