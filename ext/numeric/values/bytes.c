#include "numeric/values/bytes.h"

#include "base/memory.h"

#include <string.h>

/* Blocks double from the first to the largest. A record larger than LARGE has a block of its own,
   and so has every one when not much is left. Blocks larger than that are not kept for reuse. */
enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 1 << 20, LARGE = LARGEST_BLOCK / 8 };

struct clr_bytes_block {
    struct clr_bytes_block *next;
    size_t size; /* all of it */
    unsigned char data[];
};

/* Takes the bytes of a block from what is left; once that is too little, it stays so. */
static bool grant(struct clr_bytes *bytes, size_t size)
{
    return bytes->left == NULL || atomic_fetch_sub(bytes->left, (int64_t)size) >= (int64_t)size;
}

static struct clr_bytes_block *new_block(struct clr_bytes *bytes, size_t size)
{
    struct clr_bytes_block *block = NULL;

    if (!grant(bytes, size))
        bytes->code = CLR_LIMIT;
    else if ((block = clr_memory_alloc(size)) == NULL)
        bytes->code = CLR_NOMEM;
    if (block == NULL)
        return NULL;
    block->size = size;
    bytes->size += size;
    return block;
}

/* Returns the size of the next block that is to be filled, beginning with a record. */
static size_t next_step(const struct clr_bytes *bytes, size_t size)
{
    size_t step = bytes->step == 0 ? FIRST_BLOCK : 2 * bytes->step;

    while (step < sizeof(struct clr_bytes_block) + size)
        step *= 2;
    return step < LARGEST_BLOCK ? step : LARGEST_BLOCK;
}

/* Makes room for a record that the block which is being filled does not have. */
static unsigned char *make_room(struct clr_bytes *bytes, size_t size)
{
    const size_t step = next_step(bytes, size);
    struct clr_bytes_block *block;

    if (size > LARGE || (bytes->left != NULL && atomic_load(bytes->left) < (int64_t)step)) {
        block = new_block(bytes, sizeof *block + size);
        if (block == NULL)
            return NULL;
        /* Behind the first one, which stays the one that is being filled. */
        block->next = bytes->blocks == NULL ? NULL : bytes->blocks->next;
        if (bytes->blocks == NULL)
            bytes->blocks = block;
        else
            bytes->blocks->next = block;
        return block->data;
    }
    block = new_block(bytes, step);
    if (block == NULL)
        return NULL;
    block->next = bytes->blocks;
    bytes->blocks = block;
    bytes->step = step;
    bytes->next = block->data + size;
    bytes->end = (unsigned char *)block + step;
    return block->data;
}

unsigned char *clr_bytes_add(struct clr_bytes *bytes, enum clr_kind kind, size_t size,
                             int64_t *address)
{
    const uint32_t head = (uint32_t)size << 1 | (kind == CLR_KIND_BLOB);
    const size_t needed = sizeof head + size;
    unsigned char *record = bytes->next;

    *address = 0;
    if (bytes->code != CLR_OK)
        return NULL;
    if ((size_t)(bytes->end - bytes->next) >= needed)
        bytes->next += needed;
    else
        record = make_room(bytes, needed);
    if (record == NULL)
        return NULL;
    if (size > bytes->longest)
        bytes->longest = size;
    memcpy(record, &head, sizeof head);
    *address = (int64_t)(uintptr_t)record;
    return record + sizeof head;
}

void clr_bytes_append(struct clr_bytes *to, struct clr_bytes *from)
{
    struct clr_bytes_block **last = &to->blocks;

    if (from->blocks == NULL)
        return;
    while (*last != NULL)
        last = &(*last)->next;
    if (to->blocks == NULL) {
        to->next = from->next;
        to->end = from->end;
        to->step = from->step;
    }
    *last = from->blocks;
    to->size += from->size;
    if (from->longest > to->longest)
        to->longest = from->longest;
    *from = (struct clr_bytes){.left = from->left, .code = from->code};
}

void clr_bytes_free(struct clr_bytes *bytes)
{
    struct clr_bytes_block *block;

    while ((block = bytes->blocks) != NULL) {
        bytes->blocks = block->next;
        clr_memory_free(block);
    }
    *bytes = (struct clr_bytes){.left = bytes->left};
}

void clr_bytes_clear(struct clr_bytes *bytes)
{
    struct clr_bytes_block *kept = bytes->next == NULL ? NULL : bytes->blocks;
    size_t size = bytes->size;

    if (kept != NULL && kept->size > LARGE)
        kept = NULL;
    if (kept != NULL) {
        bytes->blocks = kept->next;
        size -= kept->size;
    }
    clr_bytes_free(bytes);
    if (bytes->left != NULL)
        atomic_fetch_add(bytes->left, (int64_t)size);
    if (kept == NULL)
        return;
    kept->next = NULL;
    bytes->blocks = kept;
    bytes->next = kept->data;
    bytes->end = (unsigned char *)kept + kept->size;
    bytes->step = bytes->size = kept->size;
}

/* ---- SQLite's LIKE. */

enum { LONGEST_PATTERN = 255 };

bool clr_like_knows(const char *pattern, size_t size)
{
    size_t i;

    for (i = 0; i < size; i++) {
        if (pattern[i] == '_' || pattern[i] == '\0' || (unsigned char)pattern[i] >= 0x80)
            return false;
    }
    return size > 0 && size <= LONGEST_PATTERN;
}

static inline unsigned char fold(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* Whether so many bytes are the same, letters' case aside. */
static inline bool are_equal(const char *part, size_t size, const unsigned char *text)
{
    size_t i;

    for (i = 0; i < size && fold((unsigned char)part[i]) == fold(text[i]); i++)
        ;
    return i == size;
}

/* Returns the first place in a text where a part of a pattern is, or NULL. */
static const unsigned char *find_part(const char *part, size_t size, const unsigned char *text,
                                      const unsigned char *end)
{
    const unsigned char first = size == 0 ? 0 : fold((unsigned char)*part);

    if (size == 0)
        return text;
    for (; (size_t)(end - text) >= size; text++) {
        if (fold(*text) == first && are_equal(part, size, text))
            return text;
    }
    return NULL;
}

bool clr_text_is_like(const char *pattern, size_t size, const unsigned char *text, size_t text_size)
{
    const unsigned char *zero = memchr(text, 0, text_size);
    const unsigned char *end = zero == NULL ? text + text_size : zero;
    const char *pattern_end = pattern + size, *all = memchr(pattern, '%', size);

    if (all == NULL)
        return (size_t)(end - text) == size && are_equal(pattern, size, text);
    if ((size_t)(end - text) < (size_t)(all - pattern) ||
        !are_equal(pattern, (size_t)(all - pattern), text))
        return false;
    text += all - pattern;
    /* What stands between two '%' is best found as early as can be. */
    for (;;) {
        pattern = all + 1;
        size = (size_t)(pattern_end - pattern);
        all = memchr(pattern, '%', size);
        if (all == NULL)
            return (size_t)(end - text) >= size && are_equal(pattern, size, end - size);
        text = find_part(pattern, (size_t)(all - pattern), text, end);
        if (text == NULL)
            return false;
        text += all - pattern;
    }
}
