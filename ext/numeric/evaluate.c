#include "numeric/evaluate.h"

enum clr_scan_outcome clr_evaluate(const struct clr_scan *scan, size_t first, size_t last,
                                   struct clr_state *states, const atomic_bool *stop)
{
    (void)scan, (void)first, (void)last, (void)states, (void)stop;
    return CLR_SCAN_UNSURE;
}
