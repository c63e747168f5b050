/* Dictionaries: as large as they may be, and views of them. tests/storage/load/load-t.c has what is
 * in them. */
#include "numeric/dictionary/dictionary.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"

#include <stdio.h>

enum { LONGEST = 200000 };

static unsigned char room[LONGEST];

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
    uint32_t code, hash;
    char text[20];
    int size;

    for (uint32_t i = 0; i < 50000; i++) {
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
    for (uint32_t i = 0; i < 50000; i += 1 + (uint32_t)random_below(9)) {
        size = snprintf(text, sizeof text, "%u", (unsigned)i);
        hash = clr_dictionary_hash(view, CLR_KIND_TEXT, text, (size_t)size);
        clr_dictionary_fetch_slot(view, hash);
        clr_dictionary_fetch_entries(view, &hash, 1);
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
