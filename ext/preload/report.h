/*
 * What people are told on stderr when the program ends. CLREDUCE_RUN, which clreduce-run sets, says
 * what: "PROCESS WORD ...", the number of the process that it started, and the words explain,
 * report and quiet.
 */
#ifndef CLR_PRELOAD_REPORT_H
#define CLR_PRELOAD_REPORT_H

#include <stdbool.h>

/* Whether there will be a table of what was done. */
bool clr_report_is_wanted(void);

/* Takes note of the bytes that the columns of a connection take when it is closed. */
void clr_report_note_memory(long long bytes);

/* Takes note that the program opens a connection through this library. */
void clr_report_note_call(void);

#endif
