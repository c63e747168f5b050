/*
 * gpu_median, gpu_percentile, gpu_percentile_cont and gpu_percentile_disc.
 *
 * The values are kept as they come, and the ranks that are sought selected from them. In a window
 * rows leave and a value is asked for after every row: once a second one is, the values go to a
 * structure that keeps them in order.
 */
#include "base/memory.h"
#include "engine/worker/team.h"
#include "numeric/order/kept.h"
#include "numeric/order/keys.h"
#include "numeric/order/selection.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/statement.h"

#include <string.h>

/*
 * Numbers kept in order while they come and go. The places (see keys.h) lie in order in blocks of
 * some hundred, so that one comes or goes by a binary search and a move within a block. A rank is
 * looked for from where the last one was found: in a window it is never far.
 */

/* Places in a full block, and blocks that the first list of them has room for. */
enum { BLOCK_CAPACITY = 256, FIRST_BLOCKS = 16 };

struct block {
    size_t count;
    clr_u128 place[BLOCK_CAPACITY];
};

struct ordered {
    struct clr_budget *budget;
    struct block **blocks; /* in order; none is empty */
    size_t block_count, block_capacity;
    uint64_t count;
    size_t near_block;   /* where a rank was found last */
    uint64_t near_start; /* how many numbers come before that block */
};

/* Sets up an empty structure without memory, which will take it from the budget. */
static void ordered_init(struct ordered *ordered, struct clr_budget *budget)
{
    *ordered = (struct ordered){.budget = budget};
}

/* Frees its memory; it is empty then. */
static void ordered_clear(struct ordered *ordered)
{
    size_t i;

    for (i = 0; i < ordered->block_count; i++)
        clr_budget_free(ordered->budget, ordered->blocks[i], sizeof *ordered->blocks[i]);
    clr_budget_free(ordered->budget, ordered->blocks,
                    ordered->block_capacity * sizeof *ordered->blocks);
    ordered_init(ordered, ordered->budget);
}

/* Returns the first block whose last place is not less, or block_count. */
static size_t find_block(const struct ordered *ordered, clr_u128 place)
{
    size_t low = 0, high = ordered->block_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct block *block = ordered->blocks[middle];
        if (block->place[block->count - 1] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the first position in the block whose place is not less, or its count. */
static size_t find_position(const struct block *block, clr_u128 place)
{
    size_t low = 0, high = block->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (block->place[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum clr_code grow_list(struct ordered *ordered)
{
    size_t capacity = ordered->block_capacity != 0 ? 2 * ordered->block_capacity : FIRST_BLOCKS;
    void *blocks;
    enum clr_code code =
        clr_budget_alloc(ordered->budget, capacity * sizeof *ordered->blocks, &blocks);

    if (code != CLR_OK)
        return code;
    if (ordered->block_count != 0)
        memcpy(blocks, ordered->blocks, ordered->block_count * sizeof *ordered->blocks);
    clr_budget_free(ordered->budget, ordered->blocks,
                    ordered->block_capacity * sizeof *ordered->blocks);
    ordered->blocks = blocks;
    ordered->block_capacity = capacity;
    return CLR_OK;
}

/* Puts a new, empty block at an index of the list. */
static enum clr_code insert_block(struct ordered *ordered, size_t index)
{
    struct block **blocks;
    enum clr_code code = CLR_OK;
    void *block;

    if (ordered->block_count == ordered->block_capacity)
        code = grow_list(ordered);
    if (code == CLR_OK)
        code = clr_budget_alloc(ordered->budget, sizeof(struct block), &block);
    if (code != CLR_OK)
        return code;
    blocks = &ordered->blocks[index];
    memmove(blocks + 1, blocks, (ordered->block_count - index) * sizeof(struct block *));
    *blocks = block;
    (*blocks)->count = 0;
    ordered->block_count++;
    return CLR_OK;
}

/* Makes the upper half of a full block a block of its own; the upper tenth of the last one, since
   values often come in their order. */
static enum clr_code split(struct ordered *ordered, size_t index)
{
    size_t kept = index + 1 == ordered->block_count ? BLOCK_CAPACITY - BLOCK_CAPACITY / 10
                                                    : BLOCK_CAPACITY / 2;
    struct block *lower, *upper;
    enum clr_code code = insert_block(ordered, index + 1);

    if (code != CLR_OK)
        return code;
    lower = ordered->blocks[index];
    upper = ordered->blocks[index + 1];
    upper->count = lower->count - kept;
    memcpy(upper->place, &lower->place[kept], upper->count * sizeof upper->place[0]);
    lower->count = kept;
    if (ordered->near_block > index)
        ordered->near_block++;
    return CLR_OK;
}

/* Takes in a number. Returns CLR_OK, or CLR_NOMEM or CLR_LIMIT and has not taken it. */
static enum clr_code ordered_insert(struct ordered *ordered, clr_u128 place)
{
    struct block *block;
    enum clr_code code = CLR_OK;
    size_t index, position;

    if (ordered->block_count == 0)
        code = insert_block(ordered, 0);
    if (code != CLR_OK)
        return code;
    index = ordered->count == 0 ? 0 : find_block(ordered, place);
    if (index == ordered->block_count)
        index--;
    if (ordered->blocks[index]->count == BLOCK_CAPACITY) {
        code = split(ordered, index);
        if (code != CLR_OK)
            return code;
        block = ordered->blocks[index];
        if (block->place[block->count - 1] < place)
            index++;
    }
    block = ordered->blocks[index];
    position = find_position(block, place);
    memmove(&block->place[position + 1], &block->place[position],
            (block->count - position) * sizeof place);
    block->place[position] = place;
    block->count++;
    ordered->count++;
    if (index < ordered->near_block)
        ordered->near_start++;
    return CLR_OK;
}

static void remove_block(struct ordered *ordered, size_t index)
{
    struct block **blocks = &ordered->blocks[index];

    clr_budget_free(ordered->budget, *blocks, sizeof **blocks);
    ordered->block_count--;
    memmove(blocks, blocks + 1, (ordered->block_count - index) * sizeof(struct block *));
    ordered->near_block = 0;
    ordered->near_start = 0;
}

/* Removes a block that has become empty, or few of whose places go to its neighbour. */
static void merge_blocks(struct ordered *ordered, size_t index)
{
    struct block *block = ordered->blocks[index], *next;

    if (block->count == 0) {
        remove_block(ordered, index);
    } else if (index + 1 < ordered->block_count &&
               block->count + ordered->blocks[index + 1]->count <= BLOCK_CAPACITY / 2) {
        next = ordered->blocks[index + 1];
        memcpy(&block->place[block->count], next->place, next->count * sizeof next->place[0]);
        block->count += next->count;
        remove_block(ordered, index + 1);
    }
}

/* Takes out a number; one that is not there changes nothing. */
static void ordered_remove(struct ordered *ordered, clr_u128 place)
{
    size_t index = find_block(ordered, place), position;
    struct block *block;

    if (index == ordered->block_count)
        return;
    block = ordered->blocks[index];
    position = find_position(block, place);
    if (block->place[position] != place)
        return;
    block->count--;
    memmove(&block->place[position], &block->place[position + 1],
            (block->count - position) * sizeof place);
    ordered->count--;
    if (index < ordered->near_block)
        ordered->near_start--;
    if (block->count < BLOCK_CAPACITY / 4)
        merge_blocks(ordered, index);
}

/* Returns the place of the given rank, 0 for the least; rank is less than ordered->count. */
static clr_u128 ordered_at(struct ordered *ordered, uint64_t rank)
{
    struct block **blocks = ordered->blocks;

    while (rank < ordered->near_start)
        ordered->near_start -= blocks[--ordered->near_block]->count;
    while (rank - ordered->near_start >= blocks[ordered->near_block]->count)
        ordered->near_start += blocks[ordered->near_block++]->count;
    return blocks[ordered->near_block]->place[rank - ordered->near_start];
}

/* ---- The aggregates. */

/* Fractions of two rows that differ by no more are the same, as in SQLite's percentile functions.
 */
#define SAME_FRACTION 0.001

/* Numbers that are inserted before the watch is asked. */
enum { PORTION = 32768 };

/* Inserts numbers of one kind, few enough to be sorted first: then most go to where the last one
   went. keys has room for twice as many. */
static enum clr_code insert_portion(struct ordered *ordered, enum clr_kind kind,
                                    const void *numbers, size_t count, uint64_t *keys)
{
    const int64_t *integers = numbers;
    const double *reals = numbers;
    enum clr_code code = CLR_OK;
    size_t i;

    for (i = 0; i < count; i++)
        keys[i] = kind == CLR_KIND_INTEGER ? clr_integer_to_key(integers[i])
                                           : clr_double_to_key(reals[i]);
    clr_radix_sort(keys, keys + count, count);
    for (i = 0; i < count && code == CLR_OK; i++)
        code = ordered_insert(ordered, kind == CLR_KIND_INTEGER
                                           ? clr_integer_to_place(clr_key_to_integer(keys[i]))
                                           : (clr_u128)keys[i] << 64);
    return code;
}

/*
 * Inserts the numbers of a list of runs, which may be NULL, unless the watch wants a stop. Returns
 * CLR_OK; CLR_STOPPED; or, as ordered_insert(), CLR_NOMEM or CLR_LIMIT. Unless it is CLR_OK,
 * part of them is there.
 */
static enum clr_code insert_runs(struct ordered *ordered, const struct clr_run *run,
                                 const struct clr_watch *watch)
{
    uint64_t *keys = clr_memory_alloc(2 * PORTION * sizeof *keys);
    enum clr_code code = keys != NULL ? CLR_OK : CLR_NOMEM;
    size_t from, count;

    for (; run != NULL && code == CLR_OK; run = run->next) {
        for (from = 0; from < run->count && code == CLR_OK; from += count) {
            count = run->count - from < PORTION ? run->count - from : PORTION;
            code = insert_portion(ordered, run->kind,
                                  (const char *)run->values + from * sizeof(int64_t), count, keys);
            if (code == CLR_OK && count == PORTION && watch->wants_stop(watch->context))
                code = CLR_STOPPED;
        }
    }
    clr_memory_free(keys);
    return code;
}

/*
 * KEPT: all values are in the store. ASKED: they are, and the value was asked for, which is result.
 * ORDERED: they are in order.
 */
enum stage { KEPT, ASKED, ORDERED };

struct percentile {
    enum stage stage;
    bool empty; /* ASKED: there is no result */
    double result;
    struct clr_kept kept;
    struct ordered ordered;
};

/* What SQLite keeps, and zeroes, for every group: small. */
struct percentile_context {
    struct clr_feed feed;      /* open in the stage KEPT only */
    struct percentile *values; /* NULL before the first value */
    double argument;           /* the first row's fraction, as it was given */
    double fraction;           /* from 0 to 1 */
    bool has_fraction;
};

static struct percentile *new_percentile(struct clr_connection *connection)
{
    struct percentile *values = clr_memory_alloc(sizeof *values);

    if (values == NULL)
        return NULL;
    values->stage = KEPT;
    clr_kept_init(&values->kept, &connection->values);
    ordered_init(&values->ordered, &connection->values);
    return values;
}

static void end(struct clr_connection *connection, void *pointer)
{
    struct percentile_context *context = pointer;
    struct percentile *values = context->values;

    (void)connection;
    if (values == NULL)
        return;
    clr_kept_clear(&values->kept);
    ordered_clear(&values->ordered);
    clr_memory_free(values);
    context->values = NULL;
    memset(&context->feed, 0, sizeof context->feed);
}

/* ---- The aggregates: values come and go. */

static clr_u128 place_of(sqlite3_value *argument)
{
    if (sqlite3_value_type(argument) == SQLITE_INTEGER)
        return clr_integer_to_place(sqlite3_value_int64(argument));
    return clr_double_to_place(sqlite3_value_double(argument));
}

/* From the store to the structure that keeps them in order. */
static enum clr_code put_in_order(struct clr_connection *connection,
                                  struct percentile_context *context)
{
    struct clr_interruption interruption = {connection->db, NULL};
    struct clr_watch watch = {clr_interruption_is_wanted, &interruption};
    struct percentile *values = context->values;
    const struct clr_run *runs = clr_kept_runs(&values->kept, &context->feed);
    enum clr_code code;

    connection->stats.values_fed += values->stage == KEPT ? (int64_t)clr_runs_count(runs) : 0;
    code = insert_runs(&values->ordered, runs, &watch);
    clr_interruption_end(&interruption);
    clr_kept_clear(&values->kept);
    memset(&context->feed, 0, sizeof context->feed);
    values->stage = ORDERED;
    return code;
}

/* A number that does not just go to the feed. */
static enum clr_code take_number(struct clr_connection *connection,
                                 struct percentile_context *context, sqlite3_value *argument)
{
    const bool real = sqlite3_value_type(argument) == SQLITE_FLOAT;
    enum clr_code code = CLR_OK;

    if (context->values == NULL)
        context->values = new_percentile(connection);
    if (context->values == NULL)
        return CLR_NOMEM;
    if (context->values->stage == ASKED)
        code = put_in_order(connection, context);
    if (code == CLR_OK && context->values->stage == ORDERED) {
        connection->stats.values_fed++;
        return ordered_insert(&context->values->ordered, place_of(argument));
    }
    if (code == CLR_OK && (real ? context->feed.real == context->feed.real_end
                                : context->feed.integer == context->feed.integer_end))
        code = clr_kept_make_room(&context->values->kept, &context->feed,
                                  real ? CLR_KIND_REAL : CLR_KIND_INTEGER);
    if (code == CLR_OK && real)
        *context->feed.real++ = sqlite3_value_double(argument);
    else if (code == CLR_OK)
        *context->feed.integer++ = sqlite3_value_int64(argument);
    return code;
}

/* Checks a fraction, which has to be a valid one and that of the rows before. */
static enum clr_code take_fraction(sqlite3_context *sql, struct percentile_context *context,
                                   sqlite3_value *argument)
{
    const bool of_100 = clr_function_of(sql)->aggregate->finish == CLR_PERCENTILE;
    int type = sqlite3_value_numeric_type(argument);
    double fraction = sqlite3_value_double(argument) / (of_100 ? 100.0 : 1.0);

    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) || !(fraction >= 0.0 && fraction <= 1.0))
        return clr_function_refuse_argument(sql,
                                            of_100 ? "p must be a number from 0.0 to 100.0"
                                                   : "f must be a number from 0.0 to 1.0",
                                            argument);
    if (!context->has_fraction) {
        context->has_fraction = true;
        context->argument = sqlite3_value_double(argument);
        context->fraction = fraction;
    }
    if (!(fabs(fraction - context->fraction) <= SAME_FRACTION))
        return clr_function_refuse_argument(
            sql, of_100 ? "p must be the same on every row" : "f must be the same on every row",
            argument);
    return CLR_OK;
}

static enum clr_code take(sqlite3_context *sql, void *context, sqlite3_value **values)
{
    const int type = sqlite3_value_type(values[0]);
    enum clr_code code = CLR_OK;

    if (clr_function_of(sql)->aggregate->arguments == 2)
        code = take_fraction(sql, context, values[1]);
    if (code != CLR_OK || type == SQLITE_NULL)
        return code;
    if ((type != SQLITE_INTEGER && type != SQLITE_FLOAT) ||
        !isfinite(sqlite3_value_double(values[0])))
        return clr_function_refuse_argument(sql, "x must be a finite number", values[0]);
    return take_number(clr_function_connection(sql), context, values[0]);
}

static void step_median(sqlite3_context *sql, int count, sqlite3_value **values)
{
    (void)count;
    clr_function_step(sql, NULL, sizeof(struct percentile_context), true, values);
}

static void step(sqlite3_context *sql, int count, sqlite3_value **values)
{
    struct percentile_context *context = sqlite3_aggregate_context(sql, sizeof *context);
    const int type = sqlite3_value_type(values[1]);

    (void)count;
    if (context != NULL && context->has_fraction &&
        (type == SQLITE_INTEGER || type == SQLITE_FLOAT) &&
        sqlite3_value_double(values[1]) == context->argument)
        clr_function_step(sql, &context->feed, 0, true, values);
    else
        clr_function_take(sql, context, values);
}

static enum clr_code leave(sqlite3_context *sql, void *pointer, sqlite3_value **values)
{
    struct percentile_context *context = pointer;
    enum clr_code code = CLR_OK;

    if (context->values == NULL || sqlite3_value_type(values[0]) == SQLITE_NULL)
        return CLR_OK;
    if (context->values->stage != ORDERED)
        code = put_in_order(clr_function_connection(sql), context);
    if (code == CLR_OK)
        ordered_remove(&context->values->ordered, place_of(values[0]));
    return code;
}

/* ---- The aggregates: results. */

static double result_of(int percentile, const struct clr_value value[2], double beyond)
{
    return clr_percentile_at(value, beyond, percentile != CLR_PERCENTILE_DISC);
}

/* The number of a rank, and the next one. */
static enum clr_code find_rank(struct clr_connection *connection, const struct clr_run *runs,
                               uint64_t rank, struct clr_value found[1][2])
{
    struct clr_interruption interruption = {connection->db, NULL};
    struct clr_watch watch = {clr_interruption_is_wanted, &interruption};
    struct clr_team_portions team;
    enum clr_code code;

    clr_team_portions_divide(&team, runs, &watch);
    code = clr_portions_select(&team.portions, &rank, 1, found);
    clr_interruption_end(&interruption);
    return code;
}

/* From the store: values->result, unless there is nothing. */
static enum clr_code select_result(struct clr_connection *connection, int percentile,
                                   double fraction, struct percentile_context *context)
{
    struct percentile *values = context->values;
    const struct clr_run *runs = clr_kept_runs(&values->kept, &context->feed);
    const uint64_t count = clr_runs_count(runs);
    struct clr_position position;
    struct clr_value found[1][2];
    enum clr_code code;

    values->stage = ASKED;
    values->empty = count == 0;
    context->feed.real_end = context->feed.real; /* closed: what comes next is for take_number() */
    context->feed.integer_end = context->feed.integer;
    connection->stats.values_fed += (int64_t)count;
    if (count == 0)
        return CLR_OK;
    position = clr_percentile_position(fraction, count);
    code = find_rank(connection, runs, position.rank, found);
    if (code == CLR_OK)
        values->result = result_of(percentile, found[0], position.beyond);
    return code;
}

/* From the structure that keeps them in order. */
static double ordered_result(int percentile, double fraction, struct ordered *ordered)
{
    struct clr_position position = clr_percentile_position(fraction, ordered->count);
    struct clr_value value[2];

    value[0] = value[1] = clr_place_to_value(ordered_at(ordered, position.rank));
    if (position.rank + 1 < ordered->count)
        value[1] = clr_place_to_value(ordered_at(ordered, position.rank + 1));
    return result_of(percentile, value, position.beyond);
}

static void show(const struct clr_aggregate_function *function, void *pointer, bool last,
                 struct clr_output *output)
{
    const int percentile = function->aggregate->finish;
    struct percentile_context *context = pointer;
    struct percentile *values = context != NULL ? context->values : NULL;
    double fraction;

    (void)last;
    if (values == NULL)
        return;
    fraction = context->has_fraction ? context->fraction : 0.5;
    if (values->stage == KEPT)
        output->code = select_result(function->connection, percentile, fraction, context);
    if (output->code != CLR_OK)
        return;
    if (values->stage == ASKED ? values->empty : values->ordered.count == 0)
        return;
    output->value.kind = CLR_KIND_REAL;
    output->value.as.real = values->stage == ASKED
                                ? values->result
                                : ordered_result(percentile, fraction, &values->ordered);
}

const struct clr_aggregate_callbacks clr_percentile_callbacks = {
    .size = sizeof(struct percentile_context),
    .steps = {step_median, step},
    .take = take,
    .leave = leave,
    .show = show,
    .end = end,
};
