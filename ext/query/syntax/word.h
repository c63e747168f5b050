/* Words of a statement's text, for who only looks at it. */
#ifndef CLR_QUERY_WORD_H
#define CLR_QUERY_WORD_H

#include <stdbool.h>

static inline bool clr_is_letter(char c)
{
    return (unsigned char)((c | ' ') - 'a') < 26 || c == '_';
}

/* Whether a character belongs to a word that begins with a letter. */
static inline bool clr_is_word(char c)
{
    return clr_is_letter(c) || (unsigned char)(c - '0') < 10;
}

/* Whether a text begins with that word, given in small letters, without regard to ASCII case. */
static inline bool clr_word_is(const char *text, const char *word)
{
    for (; *word != '\0'; text++, word++) {
        if ((*text | ' ') != *word || !clr_is_letter(*text))
            return false;
    }
    return !clr_is_word(*text);
}

/* Whether a text begins as a statement that writes rows, or makes something, and may have a SELECT
   in it. */
static inline bool clr_word_writes(const char *text)
{
    return clr_word_is(text, "insert") || clr_word_is(text, "replace") ||
           clr_word_is(text, "update") || clr_word_is(text, "delete") ||
           clr_word_is(text, "create");
}

/* Returns the text behind a word that it begins with. */
static inline const char *clr_word_end(const char *text)
{
    while (clr_is_word(*text))
        text++;
    return text;
}

/* Returns the text behind the string in single quotes that it begins with. */
static inline const char *clr_string_end(const char *text)
{
    for (text++; *text != '\0' && (*text != '\'' || *++text == '\''); text++)
        ;
    return text;
}

/* Whether a text, without blanks before it, begins as a SELECT does, or as a statement that writes
   and has one: that is not far, where what has none may be long. One that writes and calls
   changes() is none: SQLite forgets these when it explains a statement that writes. */
static inline bool clr_word_may_select(const char *text)
{
    enum { FIRST_CHARACTERS = 1000 };
    const char *const end = text + FIRST_CHARACTERS;
    bool selects = clr_word_is(text, "with"), writes = clr_word_writes(text), counts = false;

    if (!selects && !writes)
        return clr_word_is(text, "select");
    while ((selects || text < end) && *text != '\0' && *text != ';') {
        writes = writes || clr_word_writes(text);
        counts = counts || clr_word_is(text, "changes");
        selects = selects || clr_word_is(text, "select");
        text = *text == '\''        ? clr_string_end(text)
               : clr_is_word(*text) ? clr_word_end(text)
                                    : text + 1;
    }
    return selects && !(writes && counts);
}

#endif
