/* The sliding window's extreme against a window that is searched from end to end. */
#include "numeric/order/deque.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST_WINDOW = 3000, LONGEST_BYTES = 3000, MOST_AT_ONCE = 2500 };

static struct clr_budget budget = {.limit = UINT64_MAX};

/* The naive window, with its own copies of all bytes. */
static struct {
    struct clr_value value;
    unsigned char *bytes;
} window[LONGEST_WINDOW];
static size_t window_first, window_end;

static void window_clear(void)
{
    for (; window_first < window_end; window_first++)
        free(window[window_first].bytes);
    window_first = window_end = 0;
}

static void window_push(const struct clr_value *value)
{
    size_t size = value->kind >= CLR_KIND_TEXT ? value->as.size : 0;

    window[window_end].value = *value;
    window[window_end].bytes = malloc(size + 1);
    if (window[window_end].bytes == NULL)
        tap_bail("no memory");
    if (size > 0)
        memcpy(window[window_end].bytes, value->bytes, size);
    window[window_end].value.bytes = window[window_end].bytes;
    window_end++;
}

static void window_shift(void)
{
    free(window[window_first++].bytes);
}

/* Any value; few different ones, so that equal values meet. */
static struct clr_value any_value(int kinds, unsigned char *bytes)
{
    struct clr_value value = {.kind = CLR_KIND_INTEGER};
    size_t i;

    switch (random_below((uint64_t)kinds)) {
    case 0:
        value.as.integer = random_between(-50, 50);
        break;
    case 1:
        value.kind = CLR_KIND_REAL;
        value.as.real = random_between(-100, 100) * 0.5;
        if (value.as.real == 0.0 && random_bits() & 1)
            value.as.real = -0.0;
        break;
    default:
        value.kind = random_bits() & 1 ? CLR_KIND_TEXT : CLR_KIND_BLOB;
        value.as.size = random_below(20) == 0 ? random_below(LONGEST_BYTES) : random_below(6);
        for (i = 0; i < value.as.size; i++)
            bytes[i] = (unsigned char)(random_below(3) * 127);
        value.bytes = value.as.size == 0 && value.kind == CLR_KIND_BLOB ? NULL : bytes;
        break;
    }
    return value;
}

static void check_front(struct clr_deque *deque)
{
    const struct clr_value *front = clr_deque_front(deque), *best = NULL;
    size_t i;

    for (i = window_first; i < window_end; i++) {
        const struct clr_value *value = &window[i].value;
        if (best == NULL || clr_value_compare(value, best, deque->sign) * deque->sign > 0)
            best = value;
    }
    batch_ok((front == NULL) == (best == NULL) &&
                 (front == NULL ||
                  (front->kind == best->kind && clr_value_compare(front, best, deque->sign) == 0)),
             "a window of %zu values", window_end - window_first);
}

/* Shifts until nothing is left. */
static void empty(struct clr_deque *deque)
{
    while (window_first < window_end) {
        clr_deque_shift(deque);
        window_shift();
        check_front(deque);
    }
}

/* Pushes numbers of one type together. */
static void push_many(struct clr_deque *deque, int shape)
{
    static int64_t integers[MOST_AT_ONCE];
    static double reals[MOST_AT_ONCE];
    size_t count = random_below(shape % 3 == 0 ? MOST_AT_ONCE : 20), i;
    bool real = random_bits() & 1;

    for (i = 0; i < count && window_end < LONGEST_WINDOW; i++) {
        struct clr_value value = {.kind = real ? CLR_KIND_REAL : CLR_KIND_INTEGER};
        int number = shape % 3 == 0   ? (int)i * (shape & 1 ? 1 : -1)
                     : shape % 3 == 1 ? random_between(-1, 1)
                                      : random_between(-1000, 1000);
        integers[i] = value.as.integer = number;
        reals[i] = number == 0 && random_bits() & 1 ? -0.0 : number * 0.5;
        if (real)
            value.as.real = reals[i];
        window_push(&value);
    }
    if (real)
        clr_deque_push_numbers(deque, CLR_KIND_REAL, reals, i);
    else
        clr_deque_push_numbers(deque, CLR_KIND_INTEGER, integers, i);
}

/* Frees a deque, and sets it up again. */
static void begin_anew(struct clr_deque *deque, int sign)
{
    clr_deque_free(deque);
    clr_deque_init(deque, sign, &budget);
}

/* Numbers that enter by the hundred, between single values of any kind. */
static void test_many(void)
{
    unsigned char bytes[LONGEST_BYTES];
    struct clr_deque deque;
    int round;

    clr_deque_init(&deque, 1, &budget);
    batch_begin();
    for (round = 0; round < 400; round++) {
        begin_anew(&deque, round & 1 ? 1 : -1);
        window_clear();
        while (window_end < LONGEST_WINDOW) {
            uint64_t leaving = random_below(window_end - window_first + 1);
            push_many(&deque, round / 2);
            check_front(&deque);
            if (window_end < LONGEST_WINDOW && random_below(4) == 0) {
                struct clr_value value = any_value(5, bytes);
                batch_ok(clr_deque_push(&deque, &value) == CLR_OK, "push");
                window_push(&value);
            }
            for (; leaving > 0; leaving--) {
                batch_ok(clr_deque_shift(&deque) == CLR_OK, "shift");
                window_shift();
            }
            check_front(&deque);
        }
        empty(&deque);
    }
    clr_deque_free(&deque);
    window_clear();
    batch_end("numbers that enter together");
    tap_is_uint64(budget.used, 0, "no memory is left over");
}

/*
 * Pushes and shifts in proportions that let the window grow, stay and shrink. The bytes given to
 * the deque are overwritten after each push: it must have its own.
 */
static void test_windows(int kinds, const char *name)
{
    unsigned char bytes[LONGEST_BYTES];
    struct clr_deque deque;
    int round;

    clr_deque_init(&deque, 1, &budget);
    batch_begin();
    for (round = 0; round < 30; round++) {
        int steps = random_between(1, round % 10 == 0 ? LONGEST_WINDOW - 1 : 200);
        uint64_t pushes = random_below(10) + 1;

        begin_anew(&deque, round & 1 ? 1 : -1);
        window_clear();
        check_front(&deque);
        while (steps-- > 0) {
            if (random_below(12) < pushes || window_first == window_end) {
                struct clr_value value = any_value(kinds, bytes);
                /* Descending, now and then, so that all of the window stays. */
                if (round % 10 == 0 && value.kind == CLR_KIND_INTEGER)
                    value.as.integer = deque.sign * steps;
                batch_ok(clr_deque_push(&deque, &value) == CLR_OK, "push");
                window_push(&value);
                memset(bytes, 'z', sizeof bytes);
            } else {
                clr_deque_shift(&deque);
                window_shift();
            }
            check_front(&deque);
        }
        empty(&deque);
    }
    clr_deque_free(&deque);
    window_clear();
    batch_end("windows over %s", name);
}

static void push_integer(struct clr_deque *deque, int64_t integer)
{
    struct clr_value value = {.kind = CLR_KIND_INTEGER, .as.integer = integer};
    clr_deque_push(deque, &value);
}

static void push_text(struct clr_deque *deque, const char *text)
{
    struct clr_value value = {.kind = CLR_KIND_TEXT, .as.size = strlen(text), .bytes = text};
    clr_deque_push(deque, &value);
}

/* What a row costs must not grow with the frame: values that can't win any more are dropped. */
static void test_size(void)
{
    struct clr_deque deque;
    int i;

    clr_deque_init(&deque, 1, &budget);
    for (i = 0; i < 1000000; i++)
        push_integer(&deque, i);
    tap_ok(deque.count == 1 && deque.capacity <= 16, "ascending values take the room of one");
    tap_ok(clr_deque_front(&deque)->as.integer == 999999, "the last one");
    for (i = 0; i < 1000000; i++)
        clr_deque_shift(&deque);
    tap_ok(clr_deque_front(&deque) == NULL, "until all have left");

    begin_anew(&deque, 1);
    for (i = 0; i < 1000; i++)
        push_integer(&deque, 7);
    tap_is_int64((int64_t)deque.count, 1, "so do equal values");
    for (i = 0; i < 999; i++)
        clr_deque_shift(&deque);
    tap_ok(clr_deque_front(&deque) != NULL, "of which the last to come stays longest");

    begin_anew(&deque, 1);
    for (i = 0; i < 100000; i++)
        push_integer(&deque, -i);
    tap_is_int64((int64_t)deque.count, 100000, "descending values must all be kept");
    clr_deque_free(&deque);
    tap_ok(budget.used == 0, "a freed deque gives its ring back");
}

/* Beyond the budget the extreme of all values is known still, but none may leave. */
static void test_budget(void)
{
    struct clr_budget small = {.limit = 10000};
    int64_t integers[1000];
    struct clr_deque deque;
    int i, turn;

    for (i = 0; i < 1000; i++)
        integers[i] = -i;
    for (turn = 0; turn < 3; turn++) {
        clr_deque_init(&deque, 1, &small);
        push_integer(&deque, 7);
        tap_ok(clr_deque_shift(&deque) == CLR_OK, "a value leaves");
        if (turn == 0)
            clr_deque_push_numbers(&deque, CLR_KIND_INTEGER, integers, 1000);
        for (i = 0; turn == 1 && i < 1000; i++)
            push_integer(&deque, -i);
        for (i = 0; turn == 2 && i < 1000; i++) {
            char text[100];
            snprintf(text, sizeof text, "%090d", 1000 - i);
            push_text(&deque, text);
        }
        tap_ok(small.used <= small.limit && deque.count == 1, "the front alone is kept");
        tap_ok(clr_deque_front(&deque)->kind == (turn == 2 ? CLR_KIND_TEXT : CLR_KIND_INTEGER) &&
                   (turn == 2 || clr_deque_front(&deque)->as.integer == 0),
               "which is the extreme");
        tap_ok(clr_deque_shift(&deque) == CLR_LIMIT, "no value leaves any more");
        integers[0] = 5;
        clr_deque_push_numbers(&deque, CLR_KIND_INTEGER, integers, turn == 2 ? 0 : 1000);
        push_text(&deque, "d");
        push_text(&deque, "c");
        tap_ok(memcmp(clr_deque_front(&deque)->bytes, "d", 1) == 0, "a better value comes");
        clr_deque_free(&deque);
        tap_is_uint64(small.used, 0, "no memory is left over");
    }
}

/* One value that is larger than the budget. */
static void test_large_value(void)
{
    static char text[10000];
    struct clr_budget small = {.limit = 100};
    struct clr_value value = {.kind = CLR_KIND_TEXT, .as.size = sizeof text, .bytes = text};
    struct clr_deque deque;

    clr_deque_init(&deque, 1, &small);
    memset(text, 'x', sizeof text);
    push_text(&deque, "xx");
    push_text(&deque, "xw");
    tap_ok(clr_deque_push(&deque, &value) == CLR_OK &&
               clr_deque_front(&deque)->as.size == sizeof text,
           "the extreme is kept, whatever the budget");
    text[0] = 'y';
    tap_ok(clr_deque_push(&deque, &value) == CLR_OK &&
               ((const char *)clr_deque_front(&deque)->bytes)[0] == 'y',
           "and the next");
    clr_deque_free(&deque);
    tap_is_uint64(small.used, 0, "no memory is left over");
}

static void test_empty_text(void)
{
    struct clr_deque deque;
    const struct clr_value *front;

    clr_deque_init(&deque, 1, &budget);
    push_text(&deque, "");
    front = clr_deque_front(&deque);
    tap_ok(front != NULL && front->kind == CLR_KIND_TEXT && front->as.size == 0, "an empty TEXT");
    tap_ok(front != NULL && front->bytes != NULL,
           "has an address: without one SQLite would take it for NULL");
    clr_deque_free(&deque);
}

/* Each allocation fails once: the deque goes on with the front alone, or the push says so; and it
   can be cleared and used again. */
static void test_memory(void)
{
    static const char *const texts[] = {"dddd", "ccccc", "bbbbbb", "aaaaaaa"};
    struct clr_deque deque;
    long after;
    bool failed = true;

    batch_begin();
    for (after = 0; failed; after++) {
        int i, refused = 0;
        clr_deque_init(&deque, 1, &budget);
        clr_memory_fail_after(after);
        for (i = 0; i < 40; i++) {
            struct clr_value value = {.kind = CLR_KIND_TEXT};
            char text[30];
            value.as.size = (size_t)snprintf(text, sizeof text, "%s%d", texts[i / 10], 99 - i);
            value.bytes = text;
            refused += clr_deque_push(&deque, &value) == CLR_NOMEM;
        }
        failed = clr_memory_fail_after(-1);
        batch_ok(refused == 0 || failed, "allocation %ld: %d refused", after, refused);
        batch_ok(refused > 0 || memcmp(clr_deque_front(&deque)->bytes, "dddd99", 6) == 0,
                 "allocation %ld: the extreme", after);
        batch_ok(clr_deque_shift(&deque) == (failed && refused == 0 ? CLR_NOMEM : CLR_OK) ||
                     refused > 0,
                 "allocation %ld: no value leaves", after);
        clr_deque_free(&deque);
        batch_ok(budget.used == 0, "no memory is left over");
    }
    batch_end("pushes without memory");
    tap_ok(after > 20, "every allocation of %ld has failed once", after - 1);
}

TAP_TEST(test_deque)
{
    test_windows(1, "integers");
    test_windows(2, "numbers");
    test_windows(5, "values of all types");
    test_size();
    test_many();
    test_budget();
    test_large_value();
    test_empty_text();
    test_memory();
}
