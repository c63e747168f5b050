/* Dictionaries of random values against a list that is searched from its beginning. */
#include "numeric/dictionary/dictionary.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_VALUES = 600, LONGEST = 200000 };

/* What the dictionary should have: a value's bytes are so many times one byte, and then another. */
struct plain {
    uint8_t tag;
    int64_t bits;
    enum clr_kind kind;
    size_t size;
    unsigned char fill, last;
};

static struct plain plain[MOST_VALUES];
static uint32_t plain_count;
static unsigned char room[LONGEST];

/* Most values are INTEGERs near this one, as keys are, if there are any such. */
static bool has_keys;
static int64_t first_key;

static void choose_keys(void)
{
    static const int64_t first[] = {1, -300, INT64_MIN, INT64_MAX - 2 * MOST_VALUES, 20240101};

    has_keys = random_below(2) == 0;
    first_key = first[random_below(sizeof first / sizeof *first)];
}

static struct plain random_plain(void)
{
    static const int64_t numbers[] = {0, 1, -1, INT64_MIN, INT64_MAX, 0x3ff0000000000000};
    static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33, 1000};
    struct plain value = {.tag = (uint8_t)random_below(4)};

    if (has_keys && random_below(8) != 0) {
        value.tag = CLR_TAG_INTEGER;
        value.bits = first_key + (int64_t)random_below(1 + random_below(2 * MOST_VALUES));
    } else if (value.tag == CLR_TAG_BYTES) {
        value.kind = random_below(2) == 0 ? CLR_KIND_TEXT : CLR_KIND_BLOB;
        value.size = sizes[random_below(sizeof sizes / sizeof *sizes)];
        if (random_below(500) == 0)
            value.size = random_below(LONGEST);
        if (value.size > 0)
            value.last = (unsigned char)random_below(3);
        if (value.size > 1)
            value.fill = (unsigned char)random_below(2);
    } else if (value.tag != CLR_TAG_NULL) {
        value.bits = random_below(2) == 0 ? (int64_t)random_below(40)
                                          : numbers[random_below(sizeof numbers / sizeof *numbers)];
    }
    return value;
}

static bool are_same(const struct plain *a, const struct plain *b)
{
    return a->tag == b->tag && a->bits == b->bits && a->kind == b->kind && a->size == b->size &&
           a->fill == b->fill && a->last == b->last;
}

/* Returns the code that a value should have, or the next one. */
static uint32_t find_plain(const struct plain *value)
{
    uint32_t i = 0;

    while (i < plain_count && !are_same(&plain[i], value))
        i++;
    return i;
}

static void write_bytes(const struct plain *value)
{
    memset(room, value->fill, value->size);
    if (value->size > 0)
        room[value->size - 1] = value->last;
}

static enum clr_code add(struct clr_dictionary *dictionary, const struct plain *value,
                         uint32_t *code)
{
    if (value->tag != CLR_TAG_BYTES)
        return clr_dictionary_add(
            dictionary, (struct clr_scalar){.tag = value->tag, .bits = value->bits}, code);
    write_bytes(value);
    return clr_dictionary_add_bytes(dictionary, value->kind, value->size == 0 ? NULL : room,
                                    value->size, code);
}

/* Whether an entry is the value. */
static bool is_entry(const struct clr_dictionary *dictionary, uint32_t code,
                     const struct plain *value)
{
    const struct clr_scalar entry = dictionary->entries[code];
    struct clr_value bytes;

    if (entry.tag != value->tag || value->tag != CLR_TAG_BYTES)
        return entry.tag == value->tag && entry.bits == value->bits;
    bytes = clr_bytes_value(entry.bits);
    write_bytes(value);
    return bytes.kind == value->kind && bytes.as.size == value->size &&
           memcmp(bytes.bytes, room, value->size) == 0;
}

static bool has_all(const struct clr_dictionary *dictionary)
{
    uint32_t i;
    bool same = dictionary->count == plain_count, has_null = false;

    for (i = 0; i < plain_count && same; i++) {
        same = is_entry(dictionary, i, &plain[i]);
        has_null = has_null || plain[i].tag == CLR_TAG_NULL;
    }
    return same && dictionary->has_null == has_null;
}

/* Adds random values. With fails, an allocation fails now and then. Returns how many did. */
static int add_random(struct clr_dictionary *dictionary, int values, bool fails)
{
    int failures = 0, i;

    plain_count = 0;
    choose_keys();
    for (i = 0; i < values; i++) {
        const struct plain value = random_plain();
        uint32_t want = find_plain(&value), got = UINT32_MAX;
        enum clr_code code;

        if (want == MOST_VALUES)
            continue;
        if (fails)
            clr_memory_fail_after((long)random_below(2));
        code = add(dictionary, &value, &got);
        if (clr_memory_fail_after(-1) != 0) {
            failures++;
            batch_ok(code == CLR_NOMEM && want == plain_count, "value %d: no memory", i);
            batch_ok(has_all(dictionary), "value %d: all that was there before", i);
            continue;
        }
        if (want == plain_count)
            plain[plain_count++] = value;
        batch_ok(code == CLR_OK && got == want, "value %d: code %u, not %u", i, (unsigned)got,
                 (unsigned)want);
    }
    batch_ok(has_all(dictionary), "all values");
    return failures;
}

TAP_TEST(test_random)
{
    int round, failures = 0;

    batch_begin();
    for (round = 0; round < 100; round++) {
        struct clr_dictionary *dictionary = clr_dictionary_new(random_bits(), NULL);

        failures += add_random(dictionary, (int)random_below(4 * MOST_VALUES), round % 2 == 1);
        clr_dictionary_release(dictionary);
    }
    batch_end("random values");
    tap_ok(failures > 100, "%d times without memory", failures);
}

/* Part of the values in one dictionary, part in another, and then all in the first. */
TAP_TEST(test_merge)
{
    static uint32_t map[MOST_VALUES];
    static struct plain others[MOST_VALUES];
    uint32_t count, i;
    int round;

    batch_begin();
    for (round = 0; round < 100; round++) {
        struct clr_dictionary *one = clr_dictionary_new(random_bits(), NULL);
        struct clr_dictionary *other = clr_dictionary_new(random_bits(), NULL);
        enum clr_code code;

        add_random(other, (int)random_below(MOST_VALUES), false);
        count = plain_count;
        memcpy(others, plain, sizeof others);
        add_random(one, (int)random_below(MOST_VALUES), false);
        clr_memory_fail_after((long)random_below(2));
        code = clr_dictionary_merge(one, other, map);
        if (clr_memory_fail_after(-1) != 0)
            batch_ok(code == CLR_NOMEM, "merged without memory");
        code = clr_dictionary_merge(one, other, map);
        batch_ok(code == CLR_OK && other->count == count, "merged");
        for (i = 0; i < count; i++)
            batch_ok(is_entry(one, map[i], &others[i]), "value %u", (unsigned)i);
        for (i = 0; i < plain_count; i++)
            batch_ok(is_entry(one, i, &plain[i]), "value %u is where it was", (unsigned)i);
        clr_dictionary_release(one);
        clr_dictionary_release(other);
    }
    batch_end("merged dictionaries");
}

TAP_TEST(test_limits)
{
    atomic_int_least64_t left = 3000000;
    struct clr_dictionary *dictionary = clr_dictionary_new(1, &left);
    struct clr_scalar number = {.tag = CLR_TAG_INTEGER};
    enum clr_code code = CLR_OK;
    uint32_t got = 0;
    size_t size;

    while (code == CLR_OK) {
        number.bits++;
        code = clr_dictionary_add(dictionary, number, &got);
    }
    tap_is_int64(code, CLR_LIMIT, "too many for what is left");
    tap_ok(dictionary->count > 30000 && clr_dictionary_size(dictionary) <= 3100000,
           "%u entries in %zu bytes", (unsigned)dictionary->count, clr_dictionary_size(dictionary));
    number.bits = 5;
    tap_ok(clr_dictionary_add(dictionary, number, &got) == CLR_OK && got == 4,
           "those that are there are found");
    clr_dictionary_release(dictionary);

    atomic_store(&left, 3000000);
    dictionary = clr_dictionary_new(1, &left);
    for (size = LONGEST, code = CLR_OK; code == CLR_OK; size--)
        code = clr_dictionary_add_bytes(dictionary, CLR_KIND_TEXT, room, size, &got);
    tap_is_int64(code, CLR_LIMIT, "too large ones");
    tap_is_int64(dictionary->count, 3000000 / LONGEST - 1, "after as many as there is room for");
    tap_ok(clr_dictionary_add_bytes(dictionary, CLR_KIND_TEXT, room, LONGEST - 1, &got) == CLR_OK &&
               got == 1,
           "which are found as well");
    clr_dictionary_release(dictionary);

    dictionary = clr_dictionary_new(1, NULL);
    for (number.bits = 0; number.bits < CLR_DICTIONARY_MOST; number.bits++) {
        if (clr_dictionary_add(dictionary, number, &got) != CLR_OK || got != number.bits)
            break;
    }
    tap_is_int64(dictionary->count, CLR_DICTIONARY_MOST, "as many entries as there may be");
    tap_is_int64(clr_dictionary_add(dictionary, number, &got), CLR_LIMIT, "and no more");
    number.bits = 12345678;
    tap_ok(clr_dictionary_add(dictionary, number, &got) == CLR_OK && got == 12345678,
           "all of them are found");
    clr_dictionary_release(dictionary);
}

TAP_TEST(test_new)
{
    struct clr_dictionary *dictionary = NULL;
    int after;

    for (after = 0; after < 10 && dictionary == NULL; after++) {
        clr_memory_fail_after(after);
        dictionary = clr_dictionary_new(7, NULL);
        clr_memory_fail_after(-1);
    }
    tap_ok(dictionary != NULL && after > 1, "made with %d allocations", after - 1);
    tap_ok(clr_dictionary_retain(dictionary) == dictionary, "with two references");
    clr_dictionary_release(dictionary);
    tap_is_int64(dictionary->count, 0, "and one");
    clr_dictionary_release(dictionary);
    clr_dictionary_release(NULL);
}

/* A view, and values that are looked for in two steps. */
TAP_TEST(test_view)
{
    struct clr_dictionary *dictionary = clr_dictionary_new(random_below(1000), NULL), *view;
    const struct clr_scalar null = {.tag = CLR_TAG_NULL}, number = {CLR_TAG_INTEGER, 7};
    uint32_t code, hash, i;
    char text[20];
    int size;

    batch_begin();
    for (i = 0; i < 50000; i++) {
        size = snprintf(text, sizeof text, "%u", (unsigned)i);
        hash = clr_dictionary_hash(dictionary, CLR_KIND_TEXT, text, (size_t)size);
        batch_ok(clr_dictionary_find_hashed(dictionary, CLR_KIND_TEXT, text, (size_t)size, hash,
                                            &code) == CLR_OK &&
                     code == i,
                 "%s is new", text);
    }
    batch_ok(clr_dictionary_is_far(dictionary), "a large dictionary");
    batch_ok(clr_dictionary_add(dictionary, null, &code) == CLR_OK, "a NULL");
    clr_memory_fail_after(0);
    batch_ok(clr_dictionary_new_view(dictionary) == NULL, "no memory for a view");
    clr_memory_fail_after(-1);
    view = clr_dictionary_new_view(dictionary);
    clr_dictionary_release(dictionary);
    for (i = 0; i < 50000; i += 1 + (uint32_t)random_below(9)) {
        size = snprintf(text, sizeof text, "%u", (unsigned)i);
        hash = clr_dictionary_hash(view, CLR_KIND_TEXT, text, (size_t)size);
        clr_dictionary_fetch_slot(view, hash);
        clr_dictionary_fetch_entry(view, hash);
        clr_dictionary_fetch_bytes(view, hash);
        batch_ok(clr_dictionary_find_hashed(view, CLR_KIND_TEXT, text, (size_t)size, hash, &code) ==
                         CLR_OK &&
                     code == i,
                 "the view has %s", text);
    }
    batch_ok(clr_dictionary_add(view, null, &code) == CLR_OK && code == 50000, "and the NULL");
    batch_ok(view->has_null && view->count == 50001, "of %u", (unsigned)view->count);
    batch_ok(clr_dictionary_add(view, number, &code) == CLR_LIMIT, "it takes no number");
    batch_ok(clr_dictionary_add_bytes(view, CLR_KIND_BLOB, "7", 1, &code) == CLR_LIMIT,
             "it takes no BLOB");
    batch_end("a view");
    clr_dictionary_release(view);
}
