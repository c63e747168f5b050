/* SQLite's LIKE of TEXT in UTF-8, for patterns of a simple kind. */
#ifndef CLR_NUMERIC_LIKE_H
#define CLR_NUMERIC_LIKE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a pattern is one that clr_text_is_like() knows: of ASCII letters, without '_' and zeros,
   and no longer than is sensible. */
bool clr_like_knows(const char *pattern, size_t size);

/*
 * Whether a text is like such a pattern, as SQLite has it: case of ASCII letters does not matter,
 * '%' stands for any bytes, and a zero ends the text. No byte of a character beyond ASCII is an
 * ASCII letter, so characters need not be found.
 */
bool clr_text_is_like(const char *pattern, size_t size, const unsigned char *text,
                      size_t text_size);

#endif
