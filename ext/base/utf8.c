#include "base/utf8.h"

/* Returns how many bytes the character at text has; 0 if there is no whole one. */
static int character_size(const unsigned char *text)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        int size;
    } forms[] = {{0x01, 0x7f, 1}, {0xc2, 0xdf, 2}, {0xe0, 0xef, 3}, {0xf0, 0xf4, 4}};
    int form, i;

    for (form = 0; form < 4; form++) {
        if (*text < forms[form].first || *text > forms[form].last)
            continue;
        for (i = 1; i < forms[form].size; i++)
            if ((text[i] & 0xc0) != 0x80)
                return 0;
        return forms[form].size;
    }
    return 0;
}

void clr_utf8_repair(char *text)
{
    const unsigned char *from = (const unsigned char *)text;
    int size;

    while (*from != '\0') {
        for (size = character_size(from); size > 0; size--)
            *text++ = (char)*from++;
        if (*from != '\0' && character_size(from) == 0)
            from++;
    }
    *text = '\0';
}
