#include "base/status.h"

#include "base/utf8.h"

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
