/*
 * A catalog made up for the engine's tests: three devices that ext/opencl/core/catalog.c would have
 * found, and a discovery that takes as long as the test wants. Included by one file of a program,
 * after fake_device.h; ext/opencl/core/catalog.c is part of it, but for the discovery.
 */
#ifndef CLR_TESTS_FAKE_CATALOG_H
#define CLR_TESTS_FAKE_CATALOG_H

#include "engine/fake_device.h"
#include "opencl/core/catalog.h"

/* What the discovery in there is called here. */
void fill_from_opencl(struct clr_catalog *catalog, const struct clr_catalog *known,
                      enum clr_reach reach);
#define clr_catalog_fill fill_from_opencl
#include "opencl/core/catalog.c"
#undef clr_catalog_fill

static struct {
    bool hold; /* while this is set, discovery does not end */
    bool empty;
    bool is_stepwise; /* the CPU device, which is then the last, is found only where all is looked
                         for */
    int discovered;
} fake_catalog;

static const struct clr_device_info fake_devices[] = {
    {.platform = "made up", .name = "slow", .type = CLR_DEVICE_CPU, .fp64 = true, .doubles = true},
    {.platform = "made up", .name = "fast", .type = CLR_DEVICE_GPU, .fp64 = true, .doubles = true},
    {.platform = "made up", .name = "odd", .type = CLR_DEVICE_GPU, .unusable = "it is odd"},
};

enum { FAKE_DEVICES = sizeof fake_devices / sizeof fake_devices[0] };

void clr_catalog_fill(struct clr_catalog *catalog, const struct clr_catalog *known,
                      enum clr_reach reach)
{
    (void)known;
    memset(catalog, 0, sizeof *catalog);
    catalog->reach = fake_catalog.is_stepwise ? reach : CLR_REACH_ALL;
    fake_arrive(&fake_catalog.discovered, &fake_catalog.hold);
    catalog->time = 1;
    if (fake_catalog.empty) {
        clr_status_set(&catalog->status, CLR_DEVICE, -1001, "there is no platform");
        return;
    }
    catalog->devices = clr_memory_alloc(sizeof fake_devices);
    if (catalog->devices == NULL) {
        clr_status_set(&catalog->status, CLR_NOMEM, 0, "no memory");
        return;
    }
    memcpy(catalog->devices, fake_devices, sizeof fake_devices);
    catalog->count = FAKE_DEVICES;
    if (fake_catalog.is_stepwise) {
        catalog->devices[0] = fake_devices[FAKE_DEVICES - 1];
        catalog->devices[FAKE_DEVICES - 1] = fake_devices[0];
        catalog->count -= reach < CLR_REACH_ALL;
    }
}

/* For tests: the discovery and the devices' calls go on, or wait. */
static inline void fake_catalog_hold(bool hold)
{
    pthread_mutex_lock(&fake.lock);
    fake_catalog.hold = hold;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
}

#endif
