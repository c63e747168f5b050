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
 * Returns about how many rows the table has that a SELECT, or that whose rows a statement writes,
 * goes over from one end to the other, by its text and by SQLite's code for it. 0: that is not
 * known; or for the rows that are left SQLite will not take long, if it has walked over some in so
 * many nanoseconds, or 0: over none yet; or somebody could tell that it was begun twice.
 * has_several: SELECTs. The caller has the connection's mutex, and may be amid a step of it.
 */
int64_t clr_long_scan_rows(struct clr_connection *connection, const char *sql, bool writes,
                           bool has_several, int64_t walked, int64_t nanoseconds);

#endif
