/* Commands of the program exact-lines, which is in two files: see exact-lines.c. */
#ifndef CLR_TESTS_EXACT_LINES_H
#define CLR_TESTS_EXACT_LINES_H

#include "numeric/values/value.h"

#include <stdbool.h>

/* Ends the program: a line is not understood. */
void lines_refuse(const char *what);

/* Returns the next word of the line, or NULL. */
char *lines_word(void);

/* Reads a number behind the letter of its type: i or r. */
struct clr_value lines_number(const char *word);

/* Runs a command of sum-lines.c. Returns false if it is none. */
bool lines_run_sums(const char *command);

#endif
