/*
 * What a statement's text, and SQLite's code for it, tell before it has run: whether another way
 * may be worth a try, and whether it will take SQLite long. That is a guess, from words and from
 * one table's rows.
 */
#ifndef CLR_SQLITE_FORECAST_H
#define CLR_SQLITE_FORECAST_H

#include "sqlite/session/connection.h"

#include <stdbool.h>
#include <stdint.h>

/* What a text is about. */
struct clr_statement_text {
    const char *statement; /* where it begins, behind EXPLAIN */
    uint64_t fingerprint;  /* of all texts that differ in numbers and strings alone */
    bool computes;         /* it has a call, or DISTINCT or GROUP BY */
    bool finds;            /* it has a condition, or ORDER BY and LIMIT */
    bool orders;           /* it has ORDER BY */
    bool matches;          /* it has LIKE or GLOB */
    bool reads;            /* it has FROM */
    int selects;           /* so many */
};

/* Reads a text once. Returns false for that of a statement for which SQLite is always the quicker
   way: it has no SELECT, or none from a table that computes or finds something. */
bool clr_statement_text_read(const char *sql, struct clr_statement_text *text);

/*
 * Whether a SELECT, or that whose rows a statement writes, goes over all of a table of main from
 * one end to the other, by its text and by SQLite's code for it, and will take SQLite long for the
 * rows that are left, if it has walked over some in so many nanoseconds, or 0: over none yet; and
 * whether nobody could tell that it was begun twice. has_several: SELECTs. Stores about how many
 * rows the table has, if that is so. The caller has the connection's mutex, and may be amid a step
 * of the SELECT.
 */
bool clr_scan_is_long(struct clr_connection *connection, const char *sql, bool writes,
                      bool has_several, int64_t walked, int64_t nanoseconds, int64_t *rows);

#endif
