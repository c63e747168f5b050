#include "query/reason.h"

#include "base/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const texts[CLR_REASONS] = {
    "",
#define CLR_WHY(name, text) text,
#include "query/reasons.h"
};

void clr_reason_set_name(struct clr_reason *reason, enum clr_reason_code code, const char *name,
                         size_t length)
{
    clr_reason_set(reason, code);
    if (length >= CLR_REASON_NAME)
        length = CLR_REASON_NAME - 1;
    memcpy(reason->name, name, length);
    reason->name[length] = '\0';
}

void clr_reason_print(const struct clr_reason *reason, char text[CLR_REASON_TEXT])
{
    const char *from;
    size_t length = 0;
    char number[24];

    for (from = texts[reason->code]; *from != '\0'; from++) {
        const char *part = from;
        size_t size = 1;

        if (*from == '%') {
            from++;
            snprintf(number, sizeof number, "%" PRId64, reason->numbers[*from == '2']);
            part = *from == 'n' ? reason->name : *from == 'c' ? texts[reason->cause] : number;
            size = strlen(part);
        }
        if (size > CLR_REASON_TEXT - 1 - length)
            size = CLR_REASON_TEXT - 1 - length;
        memcpy(text + length, part, size);
        length += size;
    }
    text[length] = '\0';
    clr_utf8_repair(text);
}
