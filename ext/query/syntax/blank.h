/* What SQLite passes over between the words of a statement. */
#ifndef CLR_QUERY_BLANK_H
#define CLR_QUERY_BLANK_H

#include <string.h>

/* Returns the text behind spaces, comments and the marks of byte order that SQLite passes over
   (sqlite3GetToken() in its tokenize.c). */
static inline const char *clr_blank_skip(const char *text)
{
    const char *end;

    for (;;) {
        text += strspn(text, " \t\n\f\r");
        if (strncmp(text, "--", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (strncmp(text, "/*", 2) == 0) {
            end = strstr(text + 2, "*/");
            text = end == NULL ? text + strlen(text) : end + 2;
        } else if (strncmp(text, "\xef\xbb\xbf", 3) == 0) {
            text += 3;
        } else {
            return text;
        }
    }
}

#endif
