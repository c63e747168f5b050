/*
 * gpu_min and gpu_max.
 *
 * In a window values leave in the order in which they came, and SQLite does not say beforehand
 * whether some will. So all values that may still become the extreme when others have left go to a
 * deque, in their order, which knows the extreme: TEXT and BLOB at once, and numbers in batches,
 * when one is full, when numbers of the other type or TEXT come, when a row leaves and when a value
 * is asked for.
 */
#include "base/memory.h"
#include "sqlite/aggregates/function.h"
#include "sqlite/session/connection.h"
#include "sqlite/session/sql_value.h"

#include <string.h>

/*
 * A monotonic deque: the extreme of a sliding window. It keeps the values that may still become
 * the window's extreme, the present one in front; each value is pushed once and dropped once, so
 * that a row costs O(1) on average whatever the frame's length.
 *
 * Of values in random order there are about ln n; of values that get ever worse all are kept, 16
 * bytes each and those of TEXT and BLOB. They count towards a budget. When it is used up, the deque
 * goes on with the front alone: it knows the extreme of all values still, but none may leave any
 * more.
 *
 * Source: the ascending minima algorithm (Harter 2001), known as the sliding window minimum.
 */

/* Entries that a deque has room for without memory of its own, and numbers that enter at a time. */
enum { FIRST_ENTRIES = 16, BATCH = 512 };

/* A number is in bits; of TEXT and BLOB that is the address of their bytes. */
struct entry {
    int64_t bits;
    uint64_t number_and_kind; /* how many values had arrived before this one, by 8, and its kind */
};

struct bytes {
    size_t size;
    unsigned char byte[];
};

struct deque {
    int sign;                  /* 1: the greatest value, -1: the least */
    enum clr_code lost;        /* why the deque has the front alone, or CLR_OK */
    size_t first, count;       /* the entries in use, in a ring of capacity entries */
    size_t capacity;           /* a power of two */
    uint64_t arrived, left;    /* values pushed, and values that have left, so far */
    struct entry *ring;        /* few, or memory of its own */
    struct clr_budget *budget; /* the connection's */
    struct clr_budget last;    /* of the front alone: without a limit */
    struct entry few[FIRST_ENTRIES];
};

/* Sets up an empty deque without memory, which will take it from the budget. It must not move. */
static void deque_init(struct deque *deque, int sign, struct clr_budget *budget)
{
    deque->sign = sign;
    deque->lost = CLR_OK;
    deque->first = deque->count = 0;
    deque->capacity = FIRST_ENTRIES;
    deque->arrived = deque->left = 0;
    deque->ring = deque->few;
    deque->budget = budget;
    deque->last = (struct clr_budget){.limit = UINT64_MAX};
}

/* ---- The deque: entries. */

static struct entry *entry_at(const struct deque *deque, size_t i)
{
    return &deque->ring[(deque->first + i) & (deque->capacity - 1)];
}

static enum clr_kind kind_of(const struct entry *entry)
{
    return (enum clr_kind)(entry->number_and_kind & 7);
}

static struct bytes *bytes_of(const struct entry *entry)
{
    return kind_of(entry) >= CLR_KIND_TEXT ? (struct bytes *)(intptr_t)entry->bits : NULL;
}

static struct clr_value value_of(const struct entry *entry)
{
    const struct bytes *bytes = bytes_of(entry);
    struct clr_value value = {.kind = kind_of(entry), .as.integer = entry->bits};

    /* An empty value, too, has an address: SQLite takes TEXT without one for NULL. */
    if (bytes != NULL) {
        value.as.size = bytes->size;
        value.bytes = bytes->byte;
    }
    return value;
}

/* Returns the budget that bytes count towards. */
static struct clr_budget *budget_of(struct deque *deque)
{
    return deque->lost == CLR_OK ? deque->budget : &deque->last;
}

static size_t bytes_size(size_t size)
{
    return sizeof(struct bytes) + size;
}

static void free_bytes(struct deque *deque, struct bytes *bytes)
{
    if (bytes != NULL)
        clr_budget_free(budget_of(deque), bytes, bytes_size(bytes->size));
}

static void drop_last(struct deque *deque)
{
    free_bytes(deque, bytes_of(entry_at(deque, --deque->count)));
}

static void free_ring(struct deque *deque)
{
    if (deque->ring != deque->few)
        clr_budget_free(deque->budget, deque->ring, deque->capacity * sizeof *deque->ring);
    deque->ring = deque->few;
    deque->capacity = FIRST_ENTRIES;
    deque->first = 0;
}

static void deque_free(struct deque *deque)
{
    while (deque->count > 0)
        drop_last(deque);
    free_ring(deque);
}

/* ---- The deque: values come. */

/* Goes on with the front alone, whose bytes are out of the budget from here on. */
static void lose(struct deque *deque, enum clr_code why)
{
    struct bytes *bytes;
    struct entry front;

    while (deque->count > 1)
        drop_last(deque);
    deque->lost = why;
    if (deque->count == 0) {
        free_ring(deque);
        return;
    }
    front = *entry_at(deque, 0);
    free_ring(deque);
    deque->few[0] = front;
    bytes = bytes_of(&front);
    if (bytes != NULL) {
        clr_budget_hand_over(deque->budget, bytes_size(bytes->size));
        deque->last.used += bytes_size(bytes->size);
    }
}

static enum clr_code grow(struct deque *deque)
{
    size_t i, capacity = 2 * deque->capacity;
    struct entry *ring;
    void *memory;
    enum clr_code code = clr_budget_alloc(deque->budget, capacity * sizeof *ring, &memory);

    if (code != CLR_OK)
        return code;
    ring = memory;
    for (i = 0; i < deque->count; i++)
        ring[i] = *entry_at(deque, i);
    free_ring(deque);
    deque->ring = ring;
    deque->capacity = capacity;
    return CLR_OK;
}

/* Stores a copy of the value's bytes. */
static enum clr_code copy_bytes(struct deque *deque, const struct clr_value *value,
                                struct bytes **copy)
{
    struct bytes *bytes;
    const size_t size = value->as.size;
    void *memory;
    const enum clr_code code = clr_budget_alloc(budget_of(deque), bytes_size(size), &memory);

    if (code != CLR_OK)
        return code;
    bytes = memory;
    bytes->size = size;
    if (size != 0)
        memcpy(bytes->byte, value->bytes, size);
    *copy = bytes;
    return CLR_OK;
}

/* What is no better than the newcomer leaves before it, and so will never be the extreme. */
static void drop_worse(struct deque *deque, const struct clr_value *value)
{
    const int sign = deque->sign;

    while (deque->count > 0) {
        struct clr_value last = value_of(entry_at(deque, deque->count - 1));
        if (clr_value_compare(&last, value, sign) * sign > 0)
            break;
        drop_last(deque);
    }
}

/* Adds a value that is worse than all entries, and so is not needed where only the front is. */
static enum clr_code append(struct deque *deque, const struct clr_value *value, uint64_t number)
{
    struct entry entry = {value->as.integer, number << 3 | (uint64_t)value->kind};
    struct bytes *bytes;
    enum clr_code code = CLR_OK;

    if (deque->lost != CLR_OK && deque->count > 0)
        return CLR_OK;
    if (deque->count == deque->capacity)
        code = grow(deque);
    if (code == CLR_OK && value->kind >= CLR_KIND_TEXT) {
        code = copy_bytes(deque, value, &bytes);
        if (code == CLR_OK)
            entry.bits = (int64_t)(intptr_t)bytes;
    }
    if (code == CLR_OK)
        *entry_at(deque, deque->count++) = entry;
    return code;
}

/* The same, whatever the budget allows. */
static enum clr_code enter(struct deque *deque, const struct clr_value *value, uint64_t number)
{
    enum clr_code code = append(deque, value, number);

    if (code == CLR_OK || deque->lost != CLR_OK)
        return code;
    lose(deque, code);
    return append(deque, value, number);
}

/* A value enters the window at its end; TEXT and BLOB are copied. Returns CLR_OK, or CLR_NOMEM if
   there is no memory for the extreme itself. */
static enum clr_code deque_push(struct deque *deque, const struct clr_value *value)
{
    drop_worse(deque, value);
    return enter(deque, value, deque->arrived++);
}

/* Returns a number's bits, of int64_t or of doubles. */
static inline int64_t bits_at(const void *numbers, size_t i)
{
    int64_t bits;

    memcpy(&bits, (const char *)numbers + i * sizeof bits, sizeof bits);
    return bits;
}

/* Stores the places of the numbers that are better than all that follow, the last one first, and
   returns how many they are; is_real and sign are constants where this is inlined. */
static inline size_t find_better(const void *numbers, size_t count, bool is_real, int sign,
                                 uint16_t *found)
{
    int64_t best = bits_at(numbers, count - 1), bits, key;
    double best_real = clr_real_of(best);
    size_t i, many = 1;

    best = is_real ? clr_real_to_key(best) : best;
    found[0] = (uint16_t)(count - 1);
    for (i = count - 1; i-- > 0;) {
        bits = bits_at(numbers, i);
        /* Keys cost more to compare; but of equal zeros they alone differ. */
        if (is_real &&
            !(sign > 0 ? clr_real_of(bits) >= best_real : clr_real_of(bits) <= best_real))
            continue;
        key = is_real ? clr_real_to_key(bits) : bits;
        if (sign > 0 ? key > best : key < best) {
            best = key;
            best_real = clr_real_of(bits);
            found[many++] = (uint16_t)i;
        }
    }
    return many;
}

/* Pushes those of a portion's numbers, bits of the kind, that were found; a number needs no memory
   for its bytes, and so cannot fail. */
static void push_found(struct deque *deque, enum clr_kind kind, const void *numbers, size_t count,
                       const uint16_t *found, size_t many)
{
    struct clr_value value = {.kind = kind, .as.integer = bits_at(numbers, found[many - 1])};
    size_t at;

    drop_worse(deque, &value);
    (void)enter(deque, &value, deque->arrived + found[--many]);
    while (deque->lost == CLR_OK && many > deque->capacity - deque->count) {
        enum clr_code code = grow(deque);
        if (code != CLR_OK)
            lose(deque, code);
    }
    if (deque->lost == CLR_OK) {
        at = deque->first + deque->count;
        deque->count += many;
        while (many-- > 0)
            deque->ring[at++ & (deque->capacity - 1)] =
                (struct entry){bits_at(numbers, found[many]),
                               (deque->arrived + found[many]) << 3 | (uint64_t)kind};
    }
    deque->arrived += count;
}

/* As many numbers enter, 1 to BATCH, the first one first: int64_t, or doubles without NaN. That is
   quicker than one by one. */
static void deque_push_numbers(struct deque *deque, enum clr_kind kind, const void *numbers,
                               size_t count)
{
    uint16_t found[BATCH];
    size_t many;

    if (kind == CLR_KIND_REAL)
        many = deque->sign > 0 ? find_better(numbers, count, true, 1, found)
                               : find_better(numbers, count, true, -1, found);
    else
        many = deque->sign > 0 ? find_better(numbers, count, false, 1, found)
                               : find_better(numbers, count, false, -1, found);
    push_found(deque, kind, numbers, count, found, many);
}

/* ---- The deque: values leave. */

/* The oldest value in the window leaves it. Returns CLR_OK; or CLR_LIMIT, if the budget has not
   allowed to keep what this takes, or CLR_NOMEM: then nothing is known of the window. */
static enum clr_code deque_shift(struct deque *deque)
{
    if (deque->lost != CLR_OK)
        return deque->lost;
    if (deque->count > 0 && entry_at(deque, 0)->number_and_kind >> 3 == deque->left) {
        free_bytes(deque, bytes_of(entry_at(deque, 0)));
        deque->first = (deque->first + 1) & (deque->capacity - 1);
        deque->count--;
    }
    deque->left++;
    return CLR_OK;
}

/* Returns the window's extreme, valid until the next call; kind CLR_KIND_NONE of no values. */
static struct clr_value deque_front(const struct deque *deque)
{
    return deque->count > 0 ? value_of(entry_at(deque, 0))
                            : (struct clr_value){.kind = CLR_KIND_NONE};
}

/* ---- The aggregates. */

struct clr_extreme {
    struct deque deque;
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
    const size_t count = reals + (size_t)(context->feed.integer - extreme->integers);

    if (count == 0)
        return;
    deque_push_numbers(&extreme->deque, reals > 0 ? CLR_KIND_REAL : CLR_KIND_INTEGER,
                       reals > 0 ? (void *)extreme->reals : extreme->integers, count);
    connection->stats.values_fed += (int64_t)count;
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
        return deque_push(&extreme->deque, value);
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
    const struct clr_aggregate_function *function = clr_function_of(sql);

    if (context->extreme != NULL)
        return CLR_OK;
    context->extreme = clr_memory_alloc(sizeof *context->extreme);
    if (context->extreme == NULL)
        return CLR_NOMEM;
    deque_init(&context->extreme->deque, function->aggregate->finish,
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
    code = deque_shift(&context->extreme->deque);
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

static void show(const struct clr_aggregate_function *function, void *pointer, bool last,
                 struct clr_output *output)
{
    struct clr_value front = {.kind = CLR_KIND_NONE};
    struct extreme_context *context = pointer;

    (void)last;
    if (context != NULL && context->extreme != NULL) {
        catch_up(function->connection, context);
        front = deque_front(&context->extreme->deque);
    }
    clr_finish_extreme(function->aggregate, function->form, &front, output);
}

static void end(struct clr_connection *connection, void *pointer)
{
    struct extreme_context *context = pointer;

    (void)connection;
    if (context->extreme == NULL)
        return;
    deque_free(&context->extreme->deque);
    clr_memory_free(context->extreme);
    *context = (struct extreme_context){.extreme = NULL};
}

const struct clr_aggregate_callbacks clr_extreme_callbacks = {
    .size = sizeof(struct extreme_context),
    .steps = {step},
    .take = take,
    .leave = leave,
    .merge = merge,
    .show = show,
    .end = end,
};
