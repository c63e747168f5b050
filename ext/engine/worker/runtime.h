/*
 * The process-wide runtime: the catalog of devices and a worker for each device in use, shared by
 * all connections and threads. It starts on demand, once, in the background.
 */
#ifndef CLR_ENGINE_RUNTIME_H
#define CLR_ENGINE_RUNTIME_H

#include "base/settings.h"
#include "engine/worker/worker.h"
#include "opencl/core/catalog.h"

#include <stdbool.h>

enum clr_availability {
    CLR_AVAILABLE, /* *worker is that of the device; it may still be starting */
    CLR_COMING,    /* the devices are being discovered */
    CLR_NO_DEVICE, /* no device fits the setting, or none could be started */
    CLR_FORKED     /* a child after fork(): its parent's threads and drivers do not exist here */
};

/*
 * Finds the worker of the device that a setting selects (see clr_catalog_choose()), starting
 * discovery, as far as the setting needs it (see clr_catalog_reach()), and worker if need be. Never
 * waits for OpenCL.
 */
enum clr_availability clr_runtime_worker(const char *setting, struct clr_worker **worker);

/*
 * Returns the catalog, and waits for discovery as far as the setting of a device needs it. NULL if
 * there is none: in a child after fork(), or when no thread could be started. Valid for the rest of
 * the process; a later one that reaches further begins with the same devices.
 */
const struct clr_catalog *clr_runtime_catalog(const char *setting);

/* Returns the catalog if one is known already, else NULL. Never waits. */
const struct clr_catalog *clr_runtime_known_catalog(void);

/* Returns the worker of device number i of the catalog, or NULL if it was not started. */
struct clr_worker *clr_runtime_started_worker(size_t i);

/*
 * Makes sure, if the main thread calls it once, that the process's exit waits for threads that are
 * inside a driver. Cheap; starts nothing.
 */
void clr_runtime_guard_exit(void);

/*
 * Waits until no driver is being started, unless the exit is guarded anyway: to be called when a
 * connection closes, since the process may be about to exit.
 */
void clr_runtime_rest(void);

/* Returns whether anything has started the runtime yet. Takes no lock. */
bool clr_runtime_started(void);

/* Returns whether this is a child process after fork(), in which no device can serve. */
bool clr_runtime_forked(void);

/* ---- The choice between host and devices for work on many values at once. */

/* Devices that work together, of one kind. Infos live as long as the process, as workers do. */
struct clr_devices {
    int count;
    struct clr_chosen_device {
        struct clr_worker *worker;
        const struct clr_device_info *info;
    } list[CLR_DEVICES_LIMIT];
};

/* Returns whether so many values are worth other means than the usual: a hand-over to a device and
   its launches, or a count of all of them at the end. */
bool clr_choice_are_many(const struct clr_settings *settings, uint64_t values);

/*
 * Finds the devices that are worth asking about so many values under these settings, of a table
 * with so many rows: at most as many as the setting `devices` allows, the one that the setting
 * `device` chooses and others that are alike (clr_catalog_is_alike()), but none that has failed.
 * The rows alone decide how many they are: each is to have many for itself. A device that is the
 * processor itself is no quicker than the host's threads, and "auto" chooses none.
 * Starts whatever has to be started for the next time, and never waits. Returns whether there is
 * one.
 */
bool clr_choose_devices(const struct clr_settings *settings, uint64_t values, uint64_t rows,
                        struct clr_devices *devices);

/* Announces a scan to the device that the setting `device` chooses: see clr_worker_wake(). */
void clr_devices_wake(const struct clr_settings *settings);

/* Whether device number i of the catalog may be among these, for any number of rows. Starts
   nothing. */
bool clr_choice_uses(const struct clr_settings *settings, size_t i);

#endif
