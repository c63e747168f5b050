/* Where a statement asks for the present time, by its text. */
#ifndef CLR_QUERY_INSTANTS_H
#define CLR_QUERY_INSTANTS_H

#include <stddef.h>

/*
 * Counts the places of a text of so many bytes that may ask for the time: 'now', CURRENT_..., calls
 * without arguments, as of date(), or with a format alone, and what may be 'now' in calls. SQLite
 * has one instant for all of a statement; parts that are run as statements of their own have not.
 */
int clr_instants_count(const char *text, size_t length);

#endif
