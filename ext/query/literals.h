/*
 * Parameters in whose places a plan has their values, as literals. Programs bind all constants, as
 * ORMs do: the format of strftime(?, ts), the path of json_extract(doc, ?), the texts of CASE WHEN
 * x > ? THEN ? ELSE ? END. While they may be anything, nothing that follows from a column by such
 * an expression can be kept, or looked up by days.
 */
#ifndef CLR_QUERY_LITERALS_H
#define CLR_QUERY_LITERALS_H

#include "base/status.h"

#include <stdbool.h>

/* What stands for a parameter. */
struct clr_literal {
    char *text;   /* of SQL; NULL: there is none, and the parameter stays */
    bool is_text; /* it is TEXT */
};

/* Where a SELECT's text has parameters, and which of them want literals. */
struct clr_literal_places;

/* Finds the places of a SELECT's parameters. Returns CLR_OK with *places, to be freed with
   clr_memory_free(), or NULL if none wants a literal, as in a text that is not in the grammar; or
   CLR_NOMEM. */
enum clr_code clr_literal_places_find(const char *sql, struct clr_literal_places **places);

/* Returns the SELECT's text with literals, by the parameters' numbers from 0, where they are
   wanted, and the numbers of all other parameters. To be freed with clr_memory_free(); NULL without
   memory. */
char *clr_literals_write(const struct clr_literal_places *places, const char *sql,
                         const struct clr_literal *literals);

#endif
