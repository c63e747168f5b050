/* States as hexadecimal digits, for the tests of their bytes. */
#ifndef CLR_TESTS_STATE_TEXT_H
#define CLR_TESTS_STATE_TEXT_H

#include "numeric/states/state_format.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

struct bytes {
    size_t size;
    unsigned char data[CLR_STATE_LIMIT];
};

/* From hexadecimal digits, with spaces between bytes anywhere. */
static inline struct bytes from_hex(const char *text)
{
    struct bytes bytes = {.size = 0};
    unsigned byte;
    int used;

    while (sscanf(text, " %2x%n", &byte, &used) == 1) {
        bytes.data[bytes.size++] = (unsigned char)byte;
        text += used;
    }
    return bytes;
}

static inline bool same(const struct bytes *a, const struct bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static inline void show(const char *what, const struct bytes *bytes)
{
    char text[3 * 64 + 1];
    size_t i;

    for (i = 0; i < bytes->size && i < 64; i++)
        snprintf(text + 3 * i, 4, "%02x ", bytes->data[i]);
    tap_diag("%s %s", what, bytes->size == 0 ? "nothing" : text);
}

#endif
