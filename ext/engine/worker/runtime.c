#include "engine/worker/runtime.h"

#include "base/memory.h"
#include "base/system.h"
#include "engine/worker/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* At exit, a worker that is building ends after that build; a driver that hangs, see clr_patience,
   is left behind. */
enum { EXIT_TIMEOUT_MS = 10000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool discovering, unable; /* no thread could be started for it */
    bool stopping;
    enum clr_reach reach;                     /* how far is looked while discovering */
    char first_setting[CLR_DEVICE_NAME_SIZE]; /* whose device is started right after discovery */
    /* The latest catalog is that with the longest reach; the others remain, as who has asked for
       one before refers to it. Each begins with the devices of those before it. */
    struct clr_catalog catalogs[CLR_REACH_ALL + 1];
    const struct clr_catalog *catalog; /* the latest, or NULL */
    struct clr_worker **workers;       /* one for each of its devices, or NULL */
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_bool started, guarded, stopped, forked;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* The parent may have held any lock: a child must not touch the runtime. */
static void mark_forked(void)
{
    atomic_store(&forked, true);
}

/* Waits, but not for ever. Needs the lock. */
static void locked_wait_for_discovery(void)
{
    struct clr_patience patience;

    clr_patience_begin(&patience, EXIT_TIMEOUT_MS);
    while (runtime.discovering && clr_patience_wait(&patience, &runtime.changed, &runtime.lock))
        ;
}

/* Returns how many devices there are, as far as is known. */
static size_t count_devices(void)
{
    size_t count;

    pthread_mutex_lock(&runtime.lock);
    count = runtime.catalog != NULL ? runtime.catalog->count : 0;
    pthread_mutex_unlock(&runtime.lock);
    return count;
}

/*
 * Drivers free their globals at exit, and crash or hang if a thread is inside them at that time:
 * the threads have to end first. The exit guard sees to that where the main thread has ever opened
 * a connection. Otherwise this is a handler of atexit(), and those run in the reverse order of
 * registration: the drivers' own may come first, so a connection that closes waits as well. Who
 * has not ended the first time is left behind, and not waited for again.
 */
static void stop_at_exit(void)
{
    struct clr_worker *worker;
    size_t i;

    if (atomic_load(&forked) || atomic_exchange(&stopped, true))
        return;
    pthread_mutex_lock(&runtime.lock);
    runtime.stopping = true;
    locked_wait_for_discovery();
    pthread_mutex_unlock(&runtime.lock);
    for (i = 0; i < count_devices(); i++) {
        worker = clr_runtime_started_worker(i);
        if (worker != NULL)
            clr_worker_stop(worker, EXIT_TIMEOUT_MS);
    }
}

static void prepare(void)
{
    clr_system_cond_init(&runtime.changed);
    pthread_atfork(NULL, NULL, mark_forked);
    clr_system_at_exit(stop_at_exit);
}

void clr_runtime_guard_exit(void)
{
    if (!atomic_load(&guarded) && clr_system_guard_exit(stop_at_exit))
        atomic_store(&guarded, true);
}

void clr_runtime_rest(void)
{
    size_t i;

    if (!clr_runtime_started() || clr_runtime_forked() || atomic_load(&guarded))
        return;
    pthread_mutex_lock(&runtime.lock);
    locked_wait_for_discovery();
    pthread_mutex_unlock(&runtime.lock);
    for (i = 0; i < count_devices(); i++) {
        struct clr_worker *worker = clr_runtime_started_worker(i);
        if (worker != NULL)
            clr_worker_rest(worker, EXIT_TIMEOUT_MS);
    }
}

/* Starts the worker of device i if it has none. Needs the lock. */
static struct clr_worker *locked_worker(size_t i)
{
    struct clr_status status;

    if (runtime.workers[i] == NULL && !runtime.stopping)
        runtime.workers[i] = clr_worker_start(&runtime.catalog->devices[i], &status);
    return runtime.workers[i];
}

/* Makes the next catalog. What is known does not change meanwhile: one thread at a time does this.
 */
static void *discover(void *unused)
{
    const struct clr_catalog *known = runtime.catalog;
    const size_t known_count = known != NULL ? known->count : 0;
    struct clr_catalog catalog;
    struct clr_worker **workers;
    int chosen;

    (void)unused;
    clr_catalog_fill(&catalog, known, runtime.reach);
    /* After the handlers that drivers registered when they were loaded. */
    clr_system_at_exit(stop_at_exit);
    workers = clr_memory_alloc((catalog.count + 1) * sizeof *workers);
    if (workers == NULL || catalog.count < known_count) {
        clr_memory_free(workers);
        clr_memory_free(catalog.devices);
        workers = NULL;
        catalog.devices = known != NULL ? known->devices : NULL;
        catalog.count = known_count;
        clr_status_set(&catalog.status, CLR_NOMEM, 0, "no memory for the devices' workers");
    } else {
        memset(workers, 0, (catalog.count + 1) * sizeof *workers);
    }

    pthread_mutex_lock(&runtime.lock);
    if (workers != NULL) {
        if (runtime.workers != NULL)
            memcpy(workers, runtime.workers, known_count * sizeof *workers);
        clr_memory_free(runtime.workers);
        runtime.workers = workers;
    }
    runtime.catalogs[catalog.reach] = catalog;
    runtime.catalog = &runtime.catalogs[catalog.reach];
    runtime.discovering = false;
    chosen = clr_catalog_choose(runtime.catalog, runtime.first_setting);
    if (chosen >= 0)
        locked_worker((size_t)chosen);
    pthread_cond_broadcast(&runtime.changed);
    pthread_mutex_unlock(&runtime.lock);
    return NULL;
}

/* Returns whether the devices that a setting can choose are known. Needs the lock. */
static bool locked_is_known(const char *setting)
{
    return runtime.catalog != NULL && runtime.catalog->reach >= clr_catalog_reach(setting);
}

/* Starts discovery, as far as a setting needs it, unless that has been done. The device of
   the first setting is started then. Needs the lock. */
static void locked_start(const char *setting, const char *first_setting)
{
    if (locked_is_known(setting) || runtime.discovering || runtime.unable || runtime.stopping)
        return;
    atomic_store(&started, true);
    runtime.reach = clr_catalog_reach(setting);
    snprintf(runtime.first_setting, sizeof runtime.first_setting, "%s", first_setting);
    runtime.discovering = true;
    if (clr_thread_start(discover, NULL) != 0) {
        runtime.discovering = false;
        runtime.unable = true;
    }
}

bool clr_runtime_started(void)
{
    return atomic_load(&started);
}

bool clr_runtime_forked(void)
{
    return atomic_load(&forked);
}

enum clr_availability clr_runtime_worker(const char *setting, struct clr_worker **worker)
{
    enum clr_availability availability = CLR_COMING;
    int chosen;

    if (clr_runtime_forked())
        return CLR_FORKED;
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&runtime.lock);
    locked_start(setting, setting);
    if (locked_is_known(setting)) {
        chosen = clr_catalog_choose(runtime.catalog, setting);
        *worker = chosen >= 0 ? locked_worker((size_t)chosen) : NULL;
        availability = *worker != NULL ? CLR_AVAILABLE : CLR_NO_DEVICE;
    } else if (runtime.unable || runtime.stopping) {
        availability = CLR_NO_DEVICE;
    }
    pthread_mutex_unlock(&runtime.lock);
    return availability;
}

const struct clr_catalog *clr_runtime_catalog(const char *setting)
{
    const struct clr_catalog *catalog;

    if (clr_runtime_forked())
        return NULL;
    pthread_once(&prepared, prepare);
    pthread_mutex_lock(&runtime.lock);
    /* A look at the list starts no worker. Others may be looking less far first. */
    for (;;) {
        locked_start(setting, "host");
        if (!runtime.discovering)
            break;
        clr_thread_wait(&runtime.changed, &runtime.lock, NULL);
    }
    catalog = runtime.catalog;
    pthread_mutex_unlock(&runtime.lock);
    return catalog;
}

const struct clr_catalog *clr_runtime_known_catalog(void)
{
    const struct clr_catalog *catalog;

    if (clr_runtime_forked())
        return NULL;
    pthread_mutex_lock(&runtime.lock);
    catalog = runtime.catalog;
    pthread_mutex_unlock(&runtime.lock);
    return catalog;
}

static struct clr_worker *find_worker(size_t i, bool starts)
{
    struct clr_worker *worker = NULL;

    if (clr_runtime_forked())
        return NULL;
    pthread_mutex_lock(&runtime.lock);
    if (runtime.catalog != NULL && i < runtime.catalog->count)
        worker = starts ? locked_worker(i) : runtime.workers[i];
    pthread_mutex_unlock(&runtime.lock);
    return worker;
}

struct clr_worker *clr_runtime_started_worker(size_t i)
{
    return find_worker(i, false);
}

/* ---- The choice between host and devices. */

/* Many values are so many times host_threshold. A further device takes 10 to 30 us for a scan of
   its own, in which a GPU goes over millions of rows: each is to have so many times that. */
enum { MANY_FACTOR = 64, SHARD_FACTOR = 1024 };

bool clr_choice_are_many(const struct clr_settings *settings, uint64_t values)
{
    return values / MANY_FACTOR >= (uint64_t)settings->host_threshold;
}

/* Returns the number of the device that the settings choose, as far as devices are known, or -1.
   Stores what is known, or NULL. */
static int find_chosen(const struct clr_settings *settings, const struct clr_catalog **catalog)
{
    *catalog = clr_runtime_known_catalog();
    return *catalog == NULL ? -1 : clr_catalog_choose(*catalog, settings->device);
}

/* Whether so many values are worth a device at all: for few of them "auto" starts none. */
static bool are_worth_it(const struct clr_settings *settings, uint64_t values)
{
    return strcasecmp(settings->device, "host") != 0 && clr_choice_are_many(settings, values) &&
           (strcasecmp(settings->device, "auto") != 0 || clr_runtime_started() ||
            values >= (uint64_t)settings->start_after);
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
    const struct clr_catalog *catalog;
    const struct clr_device_info *info;
    struct clr_worker *worker;
    size_t i;
    int chosen, most;

    devices->count = 0;
    if (!are_worth_it(settings, values) ||
        clr_runtime_worker(settings->device, &worker) != CLR_AVAILABLE ||
        (chosen = find_chosen(settings, &catalog)) < 0)
        return false;
    info = &catalog->devices[chosen];
    most = count_allowed(settings, info);
    if (worth < (uint64_t)most)
        most = worth > 1 ? (int)worth : 1;
    for (i = 0; i < catalog->count && devices->count < most; i++) {
        worker = clr_catalog_is_alike(info, &catalog->devices[i]) ? find_worker(i, true) : NULL;
        if (worker != NULL && !clr_worker_has_failed(worker))
            devices->list[devices->count++] =
                (struct clr_chosen_device){worker, &catalog->devices[i]};
    }
    return devices->count > 0;
}

void clr_devices_wake(const struct clr_settings *settings)
{
    struct clr_worker *worker;

    if (clr_runtime_worker(settings->device, &worker) == CLR_AVAILABLE)
        clr_worker_wake(worker);
}

bool clr_choice_uses(const struct clr_settings *settings, size_t i)
{
    const struct clr_catalog *catalog;
    const int chosen = find_chosen(settings, &catalog);
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
