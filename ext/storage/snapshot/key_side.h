/* Rows that are wanted by their keys, and on which side of them a key of an interior page is. */
#ifndef CLR_STORAGE_KEY_SIDE_H
#define CLR_STORAGE_KEY_SIDE_H

#include "numeric/values/value_range.h"
#include "storage/format/record.h"

/*
 * Of a table one column, the rowid; of an index its first ones, whose orders are known. A row is
 * wanted if each of them has a value in its range: one value alone, and what is equal to it, but
 * for the last column's, which is any range that is bounded. None is without values.
 */
struct clr_wanted {
    int count;
    struct {
        struct clr_value_range range;
        bool is_real; /* of an index: as struct clr_field has it */
    } columns[CLR_KEY_COLUMNS];
};

/* The keys of a b-tree, in their order. Zeros, but for what is wanted: none so far. */
struct clr_key_sides {
    const struct clr_wanted *wanted;
    bool has_first;
    int first, last; /* sides of keys, as far as they are known */
};

/* Returns on which side of the wanted rowids one is: -1, 0 or 1. */
int clr_key_side_of_rowid(const struct clr_wanted *wanted, int64_t rowid);

/*
 * Stores on which side of the wanted rows the key of an index's page is, by the order of the index:
 * 0 if it may be one of them. The key is that at an offset, of its payload's size. Returns false if
 * it is not sound, or follows one that is on a side behind it: of other keys the order is not
 * asked.
 */
bool clr_key_side_find(struct clr_key_sides *sides, struct clr_record_reader *reader,
                       uint32_t number, const unsigned char *page, uint32_t offset, int *side);

/* Appends keys that follow. Returns false as above. */
bool clr_key_sides_append(struct clr_key_sides *sides, const struct clr_key_sides *next);

#endif
