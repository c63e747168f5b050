/*
 * The process-wide runtime: the catalog of devices and a worker for each device in use, shared by
 * all connections and threads. It starts on demand, once, in the background.
 */
#ifndef CLR_ENGINE_RUNTIME_H
#define CLR_ENGINE_RUNTIME_H

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

/* Returns the worker of device number i of the catalog, which is started if need be; NULL: it can't
   be, or devices are not known yet. */
struct clr_worker *clr_runtime_start_worker(size_t i);

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

#endif
