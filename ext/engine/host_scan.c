#include "engine/host_scan.h"

enum clr_scan_outcome clr_host_scan(struct clr_scan *scan, const struct clr_watch *watch)
{
    (void)scan, (void)watch;
    return CLR_SCAN_UNSURE;
}
