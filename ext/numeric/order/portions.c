#include "numeric/order/portions.h"

bool clr_portions_run(const struct clr_portions *portions, clr_portion_work *work, void *argument)
{
    const atomic_bool never = false;
    int i;

    if (portions->run != NULL)
        return portions->run(portions->context, portions->count, work, argument);
    for (i = 0; i < portions->count; i++)
        work(argument, i, &never);
    return true;
}
