/* A column of a table, as it is found in the records of its rows. */
#ifndef CLR_NUMERIC_FIELD_H
#define CLR_NUMERIC_FIELD_H

#include "numeric/dictionary/dictionary.h"
#include "numeric/values/column.h"
#include "numeric/values/timestamp.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CLR_FIELD_ROWID = -1 };

struct clr_field {
    int index;    /* of the column in the records, from 0, or CLR_FIELD_ROWID */
    int position; /* set by clr_record_fields(): the field's number where it comes from */
    bool is_real; /* REAL affinity: an INTEGER in the record is a REAL that was stored short */
    /* The column is to have the bytes of TEXT and BLOBs. No two such fields have one index; of the
       rowid it means nothing. */
    bool with_bytes;
    /* The column is to have codes, and a dictionary of all its values. Not with_bytes as well; a
       field of the same index without codes may stand beside it. */
    bool with_codes;
    /* Of a field with codes: its values lead to rows of other tables, which SQLite looks up in no
       less time. So no number of them is too large for the rows. */
    bool is_joined;
    /* Of a field with codes: of which values the first of their unit has the code. A field of
       another unit is as one of another index. */
    enum clr_time_unit unit;
    /* Of one with values: TEXT of this format is its count (clr_timestamp_count()), an INTEGER. But
       for NULL, any other value ends the load with CLR_LOAD_MANY_VALUES. 0: not so. */
    clr_time_format times;
    /* The column is declared NOT NULL. A NULL in it ends the load with CLR_LOAD_UNSURE: SQLite may
       take tests for it to be settled, and then again not. */
    bool never_null;
    /* The value of rows whose record ends before this column. UNSURE: such a row ends the load with
       CLR_LOAD_UNSUPPORTED, and so does one of BYTES if bytes or codes are wanted. */
    struct clr_scalar missing;
    /*
     * It is no column of the table but derived: an expression over the table's columns, which
     * SQLite evaluates row by row. The text belongs to the query, or to the column that is kept;
     * NULL: it is not derived. Then nothing above is set but with_codes. program: a hash of what
     * SQLite makes of the text. age: of the connection whose functions it calls, in the program
     * too; 0: it is the same to all connections.
     */
    const char *derived;
    uint64_t program, age;
    /*
     * Or it is whether a column is LIKE a pattern, which clr_like_knows() and which stands in that
     * text, with so many bytes: then rows are decoded as those of that column, which is no rowid,
     * and whose index and missing are set. TEXT is made 1 or 0, and any other value but NULL ends
     * the load with CLR_LOAD_MANY_VALUES. 0: it is not.
     */
    uint16_t pattern_at, pattern_size;
};

/* Whether SQLite makes the column: it is derived, and not by a pattern. */
static inline bool clr_field_is_evaluated(const struct clr_field *field)
{
    return field->derived != NULL && field->pattern_size == 0;
}

/* Whether a number is made of TEXT: a time's count, or whether it is like a pattern. */
static inline bool clr_field_is_made(const struct clr_field *field)
{
    return field->times != 0 || field->pattern_size > 0;
}

/* Whether the bytes of TEXT and BLOBs are to be read: for the column, or for its dictionary. */
static inline bool clr_field_wants_bytes(const struct clr_field *field)
{
    return field->with_bytes || field->with_codes || clr_field_is_made(field);
}

/* Whether fields have one place, or expression, and the same made of it: codes of one unit, times
   or values. */
static inline bool clr_field_is_like(const struct clr_field *a, const struct clr_field *b)
{
    if (a->with_codes != b->with_codes || (a->derived == NULL) != (b->derived == NULL))
        return false;
    if (a->derived != NULL)
        return a->program == b->program && strcmp(a->derived, b->derived) == 0;
    return a->index == b->index && a->unit == b->unit && a->times == b->times;
}

/* The same, and one type; the value of short records follows from these. */
static inline bool clr_field_is_same(const struct clr_field *a, const struct clr_field *b)
{
    return clr_field_is_like(a, b) && a->is_real == b->is_real &&
           a->missing.tag == b->missing.tag && a->missing.bits == b->missing.bits;
}

/* Whether a dictionary has too many values for a column of the field, or a part of one, of so many
   rows. */
static inline bool clr_field_has_many_values(const struct clr_field *field,
                                             const struct clr_dictionary *dictionary, size_t rows)
{
    return !field->is_joined && clr_dictionary_is_large(dictionary, rows);
}

#endif
