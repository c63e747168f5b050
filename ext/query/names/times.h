/* Expressions that are alike for all times of a day, an hour or a minute. */
#ifndef CLR_QUERY_TIMES_H
#define CLR_QUERY_TIMES_H

#include "numeric/values/timestamp.h"
#include "query/syntax/syntax.h"

#include <stdbool.h>

/*
 * Returns the unit of times of one column within each of which an expression that reads that column
 * alone has one value: date(ts) of a day's timestamps. CLR_TIME_NONE: no such unit is known. The
 * expression's names have been resolved.
 */
enum clr_time_unit clr_times_unit(const struct clr_node *node);

/* Whether a function of SQLite that calculates with times has that name. */
bool clr_times_is_function(const char *name);

/* Returns the first time among the arguments of a function of times: (time, modifiers...),
   strftime(format, time, modifiers...), timediff(time, time). NULL: it is the present one. */
const struct clr_node *clr_times_first(const struct clr_node *function);

/* Whether another argument behind the first time is a time, too, and does not change it. */
bool clr_times_takes_more(const struct clr_node *function);

/* Whether an expression is a column whose TEXT is taken for timestamps, and is compared byte by
   byte: its times will do in its place. */
bool clr_times_has_counts(const struct clr_node *node);

/* What a function of a column's timestamp, which clr_times_has_counts(), is as a number. */
enum clr_time_number {
    CLR_TIME_NO_NUMBER,    /* it is none that a scan computes from the count */
    CLR_TIME_SECONDS,      /* since 1970: unixepoch(ts) */
    CLR_TIME_SECONDS_TEXT, /* the same as TEXT, of which arithmetic makes a number: strftime('%s',
                              ts) */
    CLR_TIME_JULIAN        /* julianday(ts) */
};

enum clr_time_number clr_times_number(const struct clr_node *node);

#endif
