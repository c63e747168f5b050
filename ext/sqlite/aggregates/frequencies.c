/*
 * gpu_mode and gpu_count_distinct.
 *
 * Numbers go to a batch first, TEXT and BLOB straight to the collection. The batch goes to the
 * collection, or is kept to be counted with others, when it is full, when a row leaves and when a
 * result is asked for. SQLite does not say beforehand whether rows will leave, so it is always
 * known how often each value is there.
 */
#include "base/memory.h"
#include "engine/rows/fed_distinct.h"
#include "numeric/distinct/distinct.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

/*
 * Numbers of each type in a batch; different values of which the heap takes in so many at a time,
 * and from which on looking at all of them takes long enough to ask first whether a statement is
 * interrupted.
 */
enum { BATCH = 512, MANY = 16384 };

struct collection {
    struct clr_distinct distinct;
    struct clr_fed_distinct numbers;
    struct clr_mode_heap heap;
    bool windowed; /* a row has left, or a result was asked for and more may come */
    double reals[BATCH];
    int64_t integers[BATCH];
};

/* What SQLite keeps, and zeroes, for every group: small. */
struct distinct_context {
    struct clr_feed feed;          /* into the collection's batch */
    struct collection *collection; /* NULL before the first row that counts */
};

static struct collection *new_collection(struct clr_connection *connection, bool typed)
{
    struct collection *collection = clr_memory_alloc(sizeof *collection);
    uint64_t seed;

    if (collection == NULL)
        return NULL;
    sqlite3_randomness(sizeof seed, &seed);
    clr_distinct_init(&collection->distinct, &connection->values, typed, seed);
    clr_fed_distinct_init(&collection->numbers, &collection->distinct, &connection->values,
                          &connection->settings);
    clr_mode_heap_init(&collection->heap, &collection->distinct, &connection->values);
    return collection;
}

static enum clr_code begin(sqlite3_context *sql, struct distinct_context *context)
{
    const struct clr_aggregate_function *function = clr_function_of(sql);
    const bool typed = function->aggregate->finish == CLR_MODE;
    struct collection *collection = context->collection;

    if (collection != NULL)
        return CLR_OK;
    collection = new_collection(function->connection, typed);
    if (collection == NULL)
        return CLR_NOMEM;
    collection->windowed = false;
    context->collection = collection;
    context->feed = (struct clr_feed){collection->reals, collection->reals + BATCH,
                                      collection->integers, collection->integers + BATCH};
    return CLR_OK;
}

static void end(struct clr_connection *connection, void *pointer)
{
    struct distinct_context *context = pointer;
    struct collection *collection = context->collection;

    (void)connection;
    if (collection == NULL)
        return;
    clr_mode_heap_free(&collection->heap);
    clr_fed_distinct_end(&collection->numbers);
    clr_distinct_free(&collection->distinct);
    clr_memory_free(collection);
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
    const size_t real_count = (size_t)(context->feed.real - reals);
    const size_t integer_count = (size_t)(context->feed.integer - integers);
    enum clr_code code =
        clr_fed_distinct_add(&collection->numbers, CLR_KIND_INTEGER, integers, integer_count);

    if (code == CLR_OK)
        code = clr_fed_distinct_add(&collection->numbers, CLR_KIND_REAL, reals, real_count);
    if (code == CLR_OK)
        code = tell_heap(collection, CLR_KIND_INTEGER, integers, NULL, integer_count);
    if (code == CLR_OK)
        code = tell_heap(collection, CLR_KIND_REAL, NULL, reals, real_count);
    connection->stats.values_fed += (int64_t)(real_count + integer_count);
    context->feed.real = collection->reals;
    context->feed.integer = collection->integers;
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
static enum clr_code gather(struct collection *collection, const struct clr_watch *watch)
{
    return collection->numbers.keeping ? clr_fed_distinct_fold(&collection->numbers, watch)
                                       : CLR_OK;
}

/* The same, watching whether a statement of the connection is interrupted. */
static enum clr_code gather_watching(struct clr_connection *connection,
                                     struct collection *collection)
{
    struct clr_interruption interruption = {connection->db, NULL};
    struct clr_watch watch = {clr_interruption_is_wanted, &interruption};
    enum clr_code code = gather(collection, &watch);

    clr_interruption_end(&interruption);
    return code;
}

static enum clr_code take_value(struct clr_connection *connection, struct distinct_context *context,
                                const struct clr_value *value)
{
    enum clr_code code = CLR_OK;

    if (value->kind >= CLR_KIND_TEXT) {
        connection->stats.values_fed++;
        code = gather_watching(connection, context->collection);
        if (code == CLR_OK)
            code = clr_distinct_add_bytes(&context->collection->distinct, value);
        return code != CLR_OK ? code : clr_mode_heap_change(&context->collection->heap, value, 1);
    }
    if (value->kind == CLR_KIND_REAL) {
        if (context->feed.real == context->feed.real_end)
            code = make_room(connection, context);
        if (code == CLR_OK)
            *context->feed.real++ = value->as.real;
        return code;
    }
    if (context->feed.integer == context->feed.integer_end)
        code = make_room(connection, context);
    if (code == CLR_OK)
        *context->feed.integer++ = value->as.integer;
    return code;
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
    clr_function_step(sql, NULL, sizeof(struct distinct_context), false, values);
}

static enum clr_code leave(sqlite3_context *sql, void *pointer, sqlite3_value **values)
{
    struct clr_connection *connection = clr_function_connection(sql);
    struct distinct_context *context = pointer;
    struct collection *collection = context->collection;
    struct clr_value value;
    enum clr_code code;

    if (collection == NULL || sqlite3_value_type(values[0]) == SQLITE_NULL)
        return CLR_OK;
    collection->windowed = true;
    if (!clr_value_read(values[0], &value))
        return CLR_NOMEM;
    code = flush(connection, context);
    if (code == CLR_OK)
        code = gather_watching(connection, collection);
    if (code == CLR_OK)
        code = clr_mode_heap_change(&collection->heap, &value, -1);
    if (code == CLR_OK)
        clr_distinct_remove(&collection->distinct, &value);
    return code;
}

static struct clr_value count_of(uint64_t count)
{
    return (struct clr_value){CLR_KIND_INTEGER, {.integer = (int64_t)count}, NULL};
}

/* Makes the output from numbers that are kept, once all have come. Returns CLR_NOMEM or CLR_LIMIT
   if they have to be gathered. */
static enum clr_code show_kept(const struct clr_aggregate_function *function,
                               struct collection *collection, const struct clr_watch *watch,
                               struct clr_output *output)
{
    const bool with_mode = function->aggregate->finish == CLR_MODE;
    struct clr_distinct_result result;
    enum clr_code code = clr_fed_distinct_count(&collection->numbers, with_mode, watch, &result);

    if (code != CLR_OK)
        return code;
    output->value = with_mode ? result.mode : count_of(result.size);
    return CLR_OK;
}

/* Finds the mode by the heap, which takes in all values first if it has to. */
static enum clr_code find_in_heap(struct clr_mode_heap *heap, const struct clr_watch *watch,
                                  struct clr_value *mode)
{
    enum clr_code code;

    while ((code = clr_mode_heap_fill(heap, MANY)) == CLR_OK && !heap->begun) {
        if (watch->wants_stop(watch->context))
            return CLR_STOPPED;
    }
    if (code == CLR_OK)
        clr_mode_heap_find(heap, mode);
    return code;
}

/* Makes the output from the collection. */
static enum clr_code show_gathered(const struct clr_aggregate_function *function,
                                   struct collection *collection, bool last,
                                   const struct clr_watch *watch, struct clr_output *output)
{
    if (function->aggregate->finish == CLR_COUNT_DISTINCT)
        output->value = count_of(clr_distinct_size(&collection->distinct));
    else if (last && !collection->heap.begun)
        clr_mode_find(&collection->distinct, &output->value);
    else
        return find_in_heap(&collection->heap, watch, &output->value);
    return CLR_OK;
}

/* Makes the output of what is in the collection; of many values not for a statement that is
   interrupted (clause 8). */
static enum clr_code show_collection(const struct clr_aggregate_function *function,
                                     struct collection *collection, bool last,
                                     const struct clr_watch *watch, struct clr_output *output)
{
    const bool is_kept = collection->numbers.keeping;
    enum clr_code code;

    if (last && (is_kept || clr_distinct_size(&collection->distinct) >= MANY) &&
        watch->wants_stop(watch->context))
        return CLR_STOPPED;
    if (last && is_kept) {
        code = show_kept(function, collection, watch, output);
        if (code != CLR_NOMEM && code != CLR_LIMIT)
            return code;
    }
    code = gather(collection, watch);
    return code == CLR_OK ? show_gathered(function, collection, last, watch, output) : code;
}

static void show(const struct clr_aggregate_function *function, void *pointer, bool last,
                 struct clr_output *output)
{
    struct clr_interruption interruption = {function->connection->db, NULL};
    struct clr_watch watch = {clr_interruption_is_wanted, &interruption};
    struct distinct_context *context = pointer;
    struct collection *collection = context != NULL ? context->collection : NULL;

    if (collection == NULL) {
        if (function->aggregate->finish == CLR_COUNT_DISTINCT)
            output->value = count_of(0);
        return;
    }
    collection->windowed = collection->windowed || !last;
    output->code = flush(function->connection, context);
    if (output->code == CLR_OK)
        output->code = show_collection(function, collection, last, &watch, output);
    clr_interruption_end(&interruption);
}

const struct clr_aggregate_callbacks clr_frequency_callbacks = {
    .size = sizeof(struct distinct_context),
    .steps = {step},
    .take = take,
    .leave = leave,
    .show = show,
    .end = end,
};
