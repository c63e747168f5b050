#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

void clr_status_clear(struct clr_status *status)
{
    status->code = CLR_OK;
    status->error = 0;
    status->message[0] = '\0';
}

enum clr_code clr_status_set(struct clr_status *status, enum clr_code code, int error,
                             const char *format, ...)
{
    va_list arguments;

    status->code = code;
    status->error = error;
    va_start(arguments, format);
    vsnprintf(status->message, sizeof status->message, format, arguments);
    va_end(arguments);
    clr_utf8_repair(status->message);
    return code;
}

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
