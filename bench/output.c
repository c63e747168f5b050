#include "output.h"

#include <stdio.h>
#include <stdlib.h>

void bench_complain(const char *format, va_list arguments)
{
    fprintf(stderr, "%s: ", bench_program);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void bench_die(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    bench_complain(format, arguments);
    va_end(arguments);
    exit(2);
}

void bench_print_text(const char *text)
{
    if (text == NULL) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < ' ')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}
