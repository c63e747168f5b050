#include "numeric/values/like.h"

#include <string.h>

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
