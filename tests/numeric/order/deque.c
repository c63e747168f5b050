/* The sliding window's extreme: its room and its ends. tests/sqlite/aggregates/windows-t.py has
 * what it answers. */
#include "numeric/order/deque.h"

#include "base/memory.h"
#include "batch.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

static struct clr_budget budget = {.limit = UINT64_MAX};

/* Frees a deque, and sets it up again. */
static void begin_anew(struct clr_deque *deque, int sign)
{
    clr_deque_free(deque);
    clr_deque_init(deque, sign, &budget);
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
TAP_TEST(test_size)
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
TAP_TEST(test_budget)
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
TAP_TEST(test_large_value)
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

TAP_TEST(test_empty_text)
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
TAP_TEST(test_memory)
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
