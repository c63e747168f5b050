/* What every program here says: its messages, and texts as JSON. */
#ifndef CLR_BENCH_OUTPUT_H
#define CLR_BENCH_OUTPUT_H

#include <stdarg.h>

/* The program's name, which its messages begin with; defined beside main(). */
extern const char bench_program[];

/* Writes a message and a line's end to the standard error. */
void bench_complain(const char *format, va_list arguments);

/* Ends the program with a message and status 2; for whatever leaves nothing to measure. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes a JSON string, or null for NULL, to the standard output. */
void bench_print_text(const char *text);

#endif
