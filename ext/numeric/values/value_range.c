#include "numeric/values/value_range.h"

/* As clr_value_compare(), with NULL, and zeros equal. */
static int compare(const struct clr_value *a, const struct clr_value *b)
{
    if (a->kind == CLR_KIND_NONE || b->kind == CLR_KIND_NONE)
        return (b->kind == CLR_KIND_NONE) - (a->kind == CLR_KIND_NONE);
    if (a->kind == CLR_KIND_REAL && b->kind == CLR_KIND_REAL && a->as.real == b->as.real)
        return 0;
    return clr_value_compare(a, b, 0);
}

/* Returns the end that leaves fewer values if sign is 1, or more if it is -1. is_lower: both are
   lower ends. */
static struct clr_value_end choose(const struct clr_value_end *a, const struct clr_value_end *b,
                                   bool is_lower, int sign)
{
    int order; /* of what they leave: positive if a leaves less */

    if (!a->is_there || !b->is_there)
        return a->is_there == (sign > 0) ? *a : *b;
    order = compare(&a->value, &b->value);
    if (!is_lower)
        order = -order;
    if (order == 0)
        order = a->is_open - b->is_open;
    return order * sign >= 0 ? *a : *b;
}

struct clr_value_range clr_value_range_at(const struct clr_value *value)
{
    const struct clr_value_end end = {.value = *value, .is_there = true};

    return (struct clr_value_range){end, end};
}

struct clr_value_range clr_value_range_none(void)
{
    struct clr_value_range range = clr_value_range_at(&(struct clr_value){.kind = CLR_KIND_NONE});

    range.lower.is_open = true;
    return range;
}

bool clr_value_range_is_none(const struct clr_value_range *range)
{
    int order;

    if (!range->lower.is_there || !range->upper.is_there)
        return false;
    order = compare(&range->lower.value, &range->upper.value);
    return order > 0 || (order == 0 && (range->lower.is_open || range->upper.is_open));
}

bool clr_value_range_is_one(const struct clr_value_range *range)
{
    return range->lower.is_there && range->upper.is_there && !range->lower.is_open &&
           !range->upper.is_open && compare(&range->lower.value, &range->upper.value) == 0;
}

struct clr_value_range clr_value_range_intersect(const struct clr_value_range *a,
                                                 const struct clr_value_range *b)
{
    return (struct clr_value_range){choose(&a->lower, &b->lower, true, 1),
                                    choose(&a->upper, &b->upper, false, 1)};
}

struct clr_value_range clr_value_range_unite(const struct clr_value_range *a,
                                             const struct clr_value_range *b)
{
    if (clr_value_range_is_none(a) || clr_value_range_is_none(b))
        return clr_value_range_is_none(a) ? *b : *a;
    return (struct clr_value_range){choose(&a->lower, &b->lower, true, -1),
                                    choose(&a->upper, &b->upper, false, -1)};
}

int clr_value_range_side(const struct clr_value_range *range, const struct clr_value *value)
{
    if (range->lower.is_there && compare(value, &range->lower.value) < range->lower.is_open)
        return -1;
    return range->upper.is_there && compare(value, &range->upper.value) > -range->upper.is_open;
}
