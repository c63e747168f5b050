#include "engine/choice.h"

#include "engine/runtime.h"

#include <strings.h>

/* Many values are so many times host_threshold. */
enum { MANY_FACTOR = 64 };

bool clr_choice_are_many(const struct clr_settings *settings, uint64_t values)
{
    return values / MANY_FACTOR >= (uint64_t)settings->host_threshold;
}

static bool is_automatic(const struct clr_settings *settings)
{
    return strcasecmp(settings->device, "auto") == 0;
}

static bool is_host(const struct clr_settings *settings)
{
    return strcasecmp(settings->device, "host") == 0 || clr_runtime_forked();
}

bool clr_choice_has_device(const struct clr_settings *settings)
{
    const struct clr_catalog *catalog = is_host(settings) ? NULL : clr_runtime_known_catalog();
    int chosen = catalog == NULL ? -1 : clr_catalog_choose(catalog, settings->device);
    struct clr_worker *worker;

    if (chosen < 0 || (is_automatic(settings) && catalog->devices[chosen].type == CLR_DEVICE_CPU))
        return false;
    worker = clr_runtime_started_worker((size_t)chosen);
    return worker != NULL && !clr_worker_has_failed(worker);
}

struct clr_worker *clr_choose_device(const struct clr_settings *settings, uint64_t values,
                                     const struct clr_device_info **info)
{
    const bool automatic = is_automatic(settings);
    const struct clr_catalog *catalog;
    struct clr_worker *worker;
    int chosen;

    if (is_host(settings) || !clr_choice_are_many(settings, values) ||
        (automatic && !clr_runtime_started() && values < (uint64_t)settings->start_after) ||
        clr_runtime_worker(settings->device, &worker) != CLR_AVAILABLE)
        return NULL;
    catalog = clr_runtime_known_catalog();
    chosen = catalog == NULL ? -1 : clr_catalog_choose(catalog, settings->device);
    if (chosen < 0)
        return NULL;
    *info = &catalog->devices[chosen];
    return automatic && (*info)->type == CLR_DEVICE_CPU ? NULL : worker;
}
