/* Numbers that the tests of orders draw. */
#ifndef CLR_TESTS_NUMERIC_FAMILIES_H
#define CLR_TESTS_NUMERIC_FAMILIES_H

#include <stdint.h>

/* Numbers to be put in order, and what they are like; those near limits lie where doubles are 1 to
 * 1,024 apart. */
enum order_family {
    ORDER_ANY,
    ORDER_FEW,
    ORDER_ALIKE,
    ORDER_SPREAD,
    ORDER_GREATEST,
    ORDER_NEAR_LIMITS,
    ORDER_CLUSTERS,
    ORDER_FAMILIES
};
int64_t order_integer(enum order_family family);
double order_real(enum order_family family);

#endif
