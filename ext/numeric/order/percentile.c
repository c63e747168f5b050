#include "numeric/order/percentile.h"

#include "numeric/exact/sum.h"

struct clr_position clr_percentile_position(double fraction, uint64_t count)
{
    double place = fraction * (double)(count - 1);
    struct clr_position position = {.rank = (uint64_t)place};

    /* Past 2^53 values the product may be rounded up to beyond the last one. */
    if (position.rank >= count - 1)
        position.rank = count - 1;
    else
        position.beyond = place - (double)position.rank;
    return position;
}

static void add_product(struct clr_sum *sum, const struct clr_value *value, double factor,
                        int weight)
{
    if (value->kind == CLR_KIND_INTEGER)
        clr_sum_add_mixed_product(sum, value->as.integer, factor, weight);
    else
        clr_sum_add_product(sum, value->as.real, factor, weight);
}

static double interpolate(const struct clr_value value[2], double beyond)
{
    struct clr_sum sum;

    clr_sum_clear(&sum);
    add_product(&sum, &value[0], 1.0, 1);
    if (beyond != 0.0) {
        add_product(&sum, &value[1], beyond, 1);
        add_product(&sum, &value[0], beyond, -1);
    }
    return clr_sum_round(&sum, 1);
}

double clr_percentile_at(const struct clr_value value[2], double beyond, bool interpolated)
{
    if (interpolated)
        return interpolate(value, beyond);
    return value->kind == CLR_KIND_INTEGER ? (double)value->as.integer : value->as.real;
}
