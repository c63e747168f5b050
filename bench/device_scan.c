#include "device_scan.h"

#include "opencl/reduction/scan_plan.h"
#include "opencl/scan/scanner.h"
#include "output.h"

void bench_die_on(const struct clr_status *status, const char *call)
{
    if (status->code != CLR_OK)
        bench_die("%s: %s", call, status->message);
}

void bench_build(struct clr_device *device)
{
    struct clr_status status;
    char *log;

    clr_status_clear(&status);
    while (clr_device_build(device, &log, &status))
        ;
    bench_die_on(&status, "clr_device_build");
}

void bench_fill_column(struct clr_device *device, struct clr_resident_column *column,
                       const void *rows)
{
    struct clr_status status;
    bool complete = false;

    clr_status_clear(&status);
    while (!complete) {
        clr_resident_column_fill(device, column, rows, NULL, NULL, &complete, &status);
        bench_die_on(&status, "clr_resident_column_fill");
    }
}

int64_t bench_scan(struct clr_device *device, const struct clr_scan *scan, const uint8_t *kinds,
                   struct clr_resident_column *const *columns)
{
    static struct clr_scan_plan plan;
    enum clr_scan_outcome outcome;
    struct clr_device_work work;
    struct clr_scan_slot *slot;
    struct clr_status status;
    bool requested;

    clr_status_clear(&status);
    do {
        work = (struct clr_device_work){0};
        clr_scan_plan(scan, kinds, &plan);
        clr_scanner_begin(device, &plan, columns, &slot, &outcome, &requested, &work, &status);
        if (slot != NULL)
            clr_scanner_end(device, slot, &plan, columns, &outcome, &work, &status);
        bench_die_on(&status, "a scan");
        if (requested)
            bench_build(device);
    } while (requested);
    if (outcome != CLR_SCAN_DONE)
        bench_die("a device can't do a scan");
    return work.kernel_time;
}
