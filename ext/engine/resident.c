#include "engine/resident.h"

struct clr_resident *clr_resident_new(struct clr_worker *worker, struct clr_column *column)
{
    (void)worker, (void)column;
    return NULL;
}

enum clr_residence clr_resident_state(struct clr_resident *resident)
{
    (void)resident;
    return CLR_RESIDENT_FAILED;
}

size_t clr_resident_size(const struct clr_resident *resident)
{
    (void)resident;
    return 0;
}

void clr_resident_free(struct clr_resident *resident)
{
    (void)resident;
}

enum clr_scan_outcome clr_resident_scan(struct clr_worker *worker, struct clr_scan *scan,
                                        struct clr_resident *const *residents, int64_t timeout_ms,
                                        struct clr_device_work *work, struct clr_status *status)
{
    (void)worker, (void)scan, (void)residents, (void)timeout_ms, (void)work, (void)status;
    return CLR_SCAN_NOT_NOW;
}
