#include "storage/snapshot/key_side.h"

/* Whether a TEXT or BLOB of which so much is known may go on as another one does. */
static bool begins(const struct clr_value *value, const struct clr_value *other)
{
    return value->kind == other->kind && value->as.size <= other->as.size &&
           (value->as.size == 0 || memcmp(value->bytes, other->bytes, value->as.size) == 0);
}

/* Stores on which side of a range a value is. Returns false if what is cut of it decides: it is as
   much as the rest or more. */
static bool find_side(const struct clr_value_range *range, const struct clr_value *value,
                      bool is_cut, int *side)
{
    *side = 0;
    if (is_cut && value->kind == CLR_KIND_NONE)
        return false;
    *side = clr_value_range_side(range, value);
    return !is_cut || *side > 0 || (*side < 0 && !begins(value, &range->lower.value));
}

/* Takes note of a key's side, which is known. */
static bool append(struct clr_key_sides *sides, int side)
{
    if (!sides->has_first)
        sides->first = side;
    else if (side < sides->last)
        return false;
    sides->has_first = true;
    sides->last = side;
    return true;
}

int clr_key_side_of_rowid(const struct clr_wanted *wanted, int64_t rowid)
{
    const struct clr_value value = {.kind = CLR_KIND_INTEGER, .as.integer = rowid};

    return clr_value_range_side(&wanted->columns[0].range, &value);
}

bool clr_key_side_find(struct clr_key_sides *sides, struct clr_record_reader *reader,
                       uint32_t number, const unsigned char *page, uint32_t offset, int *side)
{
    const struct clr_wanted *wanted = sides->wanted;
    struct clr_record_start start;
    struct clr_value value;
    bool is_cut;
    int i;

    *side = 0;
    if (clr_record_start(reader, number, page, offset, &start) != CLR_LOAD_DONE)
        return false;
    for (i = 0; i < wanted->count && *side == 0; i++) {
        if (clr_record_next(reader, &start, wanted->columns[i].is_real, &value, &is_cut) !=
            CLR_LOAD_DONE)
            return false;
        if (!find_side(&wanted->columns[i].range, &value, is_cut, side)) {
            *side = 0;
            return true;
        }
        if (reader->pages->source->key_orders.of[i] == CLR_ORDER_DESCENDS)
            *side = -*side;
    }
    return append(sides, *side);
}

bool clr_key_sides_append(struct clr_key_sides *sides, const struct clr_key_sides *next)
{
    return !next->has_first || (append(sides, next->first) && append(sides, next->last));
}
