#include "engine/rows/choice.h"

#include "engine/worker/runtime.h"

#include <strings.h>

/* Many values are so many times host_threshold. A further device takes 10 to 30 us for a scan of
   its own, in which a GPU goes over millions of rows: each is to have so many times that. */
enum { MANY_FACTOR = 64, SHARD_FACTOR = 1024 };

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

/* Returns the number of the device that is worth asking, as far as devices are known, or -1. Stores
   its description. */
static int find_device(const struct clr_settings *settings, const struct clr_device_info **info)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    int chosen = catalog == NULL ? -1 : clr_catalog_choose(catalog, settings->device);

    if (chosen >= 0)
        *info = &catalog->devices[chosen];
    return chosen;
}

/* Whether so many values are worth a device at all: for few of them "auto" starts none. */
static bool are_worth_it(const struct clr_settings *settings, uint64_t values)
{
    return !is_host(settings) && clr_choice_are_many(settings, values) &&
           (!is_automatic(settings) || clr_runtime_started() ||
            values >= (uint64_t)settings->start_after);
}

/*
 * Returns the worker of the device that is worth asking about so many values, with the device's
 * description, which lives as long as the process; NULL: the host is to do it. A device that is the
 * processor itself is no quicker than the host's threads, and chosen only if the setting names it.
 */
static struct clr_worker *choose_device(const struct clr_settings *settings, uint64_t values,
                                        const struct clr_device_info **info)
{
    struct clr_worker *worker;

    if (!are_worth_it(settings, values) ||
        clr_runtime_worker(settings->device, &worker) != CLR_AVAILABLE)
        return NULL;
    return find_device(settings, info) < 0 ? NULL : worker;
}

/* Returns how many devices like that one may work together. */
static int count_allowed(const struct clr_settings *settings, const struct clr_device_info *info)
{
    if (settings->devices > 0)
        return (int)settings->devices;
    return info->type == CLR_DEVICE_CPU ? 1 : CLR_DEVICES_LIMIT;
}

bool clr_choose_devices(const struct clr_settings *settings, uint64_t values, uint64_t rows,
                        struct clr_devices *devices)
{
    const uint64_t worth = rows / SHARD_FACTOR / (uint64_t)settings->host_threshold;
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    const struct clr_device_info *info;
    size_t i;
    int most;

    devices->count = 0;
    if (choose_device(settings, values, &info) == NULL || catalog == NULL)
        return false;
    most = count_allowed(settings, info);
    if (worth < (uint64_t)most)
        most = worth > 1 ? (int)worth : 1;
    for (i = 0; i < catalog->count && devices->count < most; i++) {
        struct clr_worker *worker =
            clr_catalog_is_alike(info, &catalog->devices[i]) ? clr_runtime_start_worker(i) : NULL;

        if (worker != NULL && !clr_worker_has_failed(worker))
            devices->list[devices->count++] =
                (struct clr_chosen_device){worker, &catalog->devices[i]};
    }
    return devices->count > 0;
}

bool clr_choice_uses(const struct clr_settings *settings, size_t i)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    const int chosen = catalog == NULL ? -1 : clr_catalog_choose(catalog, settings->device);
    int left;
    size_t j;

    if (chosen < 0)
        return false;
    left = count_allowed(settings, &catalog->devices[chosen]);
    for (j = 0; j <= i && left > 0; j++) {
        struct clr_worker *worker = clr_runtime_started_worker(j);

        if (!clr_catalog_is_alike(&catalog->devices[chosen], &catalog->devices[j]) ||
            (worker != NULL && clr_worker_has_failed(worker)))
            continue;
        if (j == i)
            return true;
        left--;
    }
    return false;
}
