/*
 * Times as SQLite's users write them: TEXT such as '2024-01-05 12:30:00', and numbers of seconds
 * since 1970 or of days. SQLite, "Date And Time Functions", section 2.
 */
#ifndef CLR_NUMERIC_TIMESTAMP_H
#define CLR_NUMERIC_TIMESTAMP_H

#include "numeric/values/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A canonical timestamp is TEXT in UTF-8 of one of 24 formats: YYYY-MM-DD, a space or T, and HH:MM,
 * HH:MM:SS, HH:MM:SS.SSS or HH:MM:SS.SSSSSS, with nothing, Z or +00:00 behind it. Its date is one
 * of the years 0000 to 9999, its hours go up to 23, its seconds up to 59. Timestamps of one format
 * are in the order of their times, compared byte by byte.
 */

/* Bytes that one has. */
enum { CLR_TIMESTAMP_LEAST = 16, CLR_TIMESTAMP_MOST = 32 };

/* A format's number, from 1 on; 0: none. */
typedef uint8_t clr_time_format;

/* How many steps of a format's last unit a day has; and so many seconds. */
enum { CLR_DAY_SECONDS = 86400 };
int64_t clr_timestamp_steps(clr_time_format format);

/* Returns the format of TEXT, or 0 if it is not canonical. *count: how many steps of the format's
   last unit (minutes, seconds, milliseconds or microseconds) after 0000-01-01 00:00 it is. */
clr_time_format clr_timestamp_read(const unsigned char *text, size_t size, int64_t *count);

/* The count of empty TEXT, which often stands for a time that is not known, and is less than any
   timestamp; and one that nothing has. */
enum { CLR_TIMESTAMP_EMPTY = -1, CLR_TIMESTAMP_NEVER = -2 };

/* Whether TEXT is a timestamp of that format, or empty; then stores its count. */
bool clr_timestamp_count(clr_time_format format, const unsigned char *text, size_t size,
                         int64_t *count);

/* The date of a timestamp that was read: the next one is often of the same. Zeros: there is none.
 */
struct clr_timestamp_date {
    uint64_t words[2]; /* its first eight bytes, and the eight that end behind its space or T */
    int64_t number;    /* days since 0000-01-01, plus 1 */
};

/* The same as clr_timestamp_count(), but sooner if it is of that date, which afterwards is the one
   of the timestamp. All that a date is used for are of one format. */
bool clr_timestamp_next(clr_time_format format, const unsigned char *text, size_t size,
                        struct clr_timestamp_date *date, int64_t *count);

/* Returns the size of a format's timestamps, in bytes. */
size_t clr_timestamp_size(clr_time_format format);

/* The same as clr_timestamp_next() for so many TEXTs of the format's size. Returns whether all are
   timestamps. */
bool clr_timestamps_read(clr_time_format format, const unsigned char *const *texts, size_t count,
                         struct clr_timestamp_date *date, int64_t *counts);

/* Writes the timestamp of that format and count, which some TEXT has, and returns its size. */
size_t clr_timestamp_write(clr_time_format format, int64_t count,
                           unsigned char text[CLR_TIMESTAMP_MOST]);

/* Returns how many timestamps of a format there are. */
int64_t clr_timestamp_all(clr_time_format format);

/* Returns the least count of a format's timestamps, or of empty TEXT, that is not less than TEXT of
   any kind, compared byte by byte: clr_timestamp_all() if all are. */
int64_t clr_timestamp_below(clr_time_format format, const unsigned char *text, size_t size);

/*
 * A unit of time, of which all times are alike to an expression: date(ts) is the same for each
 * timestamp of a day. The first of them stands for all. A value that is no time of the unit's kind
 * stands for itself alone; so does a time that SQLite may round up to the next unit.
 */
enum clr_time_unit {
    CLR_TIME_NONE, /* each value by itself */
    /* Of canonical timestamps. */
    CLR_TIME_MINUTE,
    CLR_TIME_HOUR,
    CLR_TIME_DAY,
    /* Of numbers of seconds since 1970, in the years 0000 to 9999. */
    CLR_TIME_UNIX_MINUTE,
    CLR_TIME_UNIX_HOUR,
    CLR_TIME_UNIX_DAY,
    /* Of REALs that are Julian days. */
    CLR_TIME_JULIAN_DAY
};

/* Writes the first, or the last, timestamp of the unit that TEXT is in, in the same format and so
   of the same size. Returns false, with nothing written, if the TEXT stands for itself. */
bool clr_time_unit_of_text(enum clr_time_unit unit, bool is_last, const unsigned char *text,
                           size_t size, unsigned char to[CLR_TIMESTAMP_MOST]);

/* Returns the first, or the last, number of the unit that a number is in; or the value itself. */
struct clr_scalar clr_time_unit_of_number(enum clr_time_unit unit, bool is_last,
                                          struct clr_scalar value);

#endif
