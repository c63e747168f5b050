/*
 * The system, as far as POSIX threads do not hide which one it is: system_posix.c is for Linux and
 * macOS, system_windows.c for Windows, whose library of threads has pthread_atfork() as a macro
 * that does nothing.
 */
#ifndef CLR_BASE_SYSTEM_H
#define CLR_BASE_SYSTEM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* ---- Memory. */

/* Returns the memory, in bytes, that the machine has, or that a container, a service or a shell
   leaves the process of it; 0: the system does not tell. */
uint64_t clr_system_memory(void);

/* Of POSIX: each returns the least limit, of memory in bytes and of processors, of the control
   groups of Linux that the process is in ("Control Group v2" and "Memory Resource Controller" in
   the kernel's Documentation/admin-guide, "CFS Bandwidth Control" in its Documentation/scheduler);
   UINT64_MAX: there is none, or it can't be read. root: what is in front of /proc and /sys. */
uint64_t clr_control_groups_memory(const char *root);
uint64_t clr_control_groups_processors(const char *root);

/* Returns size bytes, all zero, which take no memory until they are touched, and are to be given
   back with the same size; or NULL. */
void *clr_system_map(size_t size);
void clr_system_unmap(void *area, size_t size);

/* As malloc(), whose blocks free() takes, for blocks of a page and more: where the library has a
   way, they begin with a line of the processor's caches. */
void *clr_system_alloc_lines(size_t size);

/* Makes the system provide the memory of a part of such an area now, where it can be asked to. */
void clr_system_populate(void *area, size_t size);

/* ---- Processors, threads and the process. */

/* Returns on how many processors this process may run, by those that its threads are bound to and
   by the time that its control groups give it: 1 or more. */
int clr_system_processors(void);

/* Starts a detached thread. Signals are blocked in it, so that an application's handlers run in its
   own threads, except those of the thread's own faults. Returns 0 or an errno value. */
int clr_system_start_thread(void *(*run)(void *), void *argument);

/* Sets up a condition variable whose deadlines are times of clr_system_now(), which setting the
   time leaves alone on Linux. */
void clr_system_cond_init(pthread_cond_t *condition);
struct timespec clr_system_now(void);

/*
 * Has the function called at the end of the process, after handlers that are registered later, and
 * while all threads run. On Windows nothing is: libraries hear of the end when the system has ended
 * their threads, and whoever then waits for one waits for ever.
 */
void clr_system_at_exit(void (*function)(void));

/*
 * Has the function called when the main thread calls exit() or returns from main(), before the
 * handlers of atexit() and the destructors of globals, whenever those were registered. Returns
 * false, and does nothing, if the calling thread is not the main thread or the C library has no
 * such means.
 *
 * Source: the destructors of C++11's thread_local objects, which glibc's exit() runs first.
 */
bool clr_system_guard_exit(void (*function)(void));

/* ---- Libraries. */

/* The names of OpenCL's library, the best one first, up to a NULL; and how to get it. */
extern const char *const clr_system_opencl[];
extern const char clr_system_opencl_advice[];

/* Whether the machine may have an OpenCL device beside the processor, as far as can be seen without
   asking a driver. */
bool clr_system_may_have_device(void);

/* Opens a library, for good. Returns NULL if that fails, and then sets *error to the reason, which
   is true until the thread calls this again. */
void *clr_system_library(const char *name, const char **error);

/* Returns the address of a function of the library, or, if that is NULL, of one that the process
   has anyway; or NULL. */
void *clr_system_function(void *library, const char *name);

/* ---- Files. */

/* What a file is known by, and what its latest change was. */
struct clr_file_facts {
    uint64_t identity[4]; /* no two files have the same, while one of them exists */
    uint64_t links;       /* names */
    int64_t size;
    int64_t written_ns, changed_ns; /* when its bytes, and when anything of it; since some epoch */
};

/* Stores the facts of the file of that name. Returns false if they can't be had. */
bool clr_file_facts_of(const char *name, struct clr_file_facts *facts);

/*
 * Returns a pin: it keeps the file's number from being given to another one, and takes part in no
 * lock. handle is the system's own, by which SQLite has the file open, or NULL where SQLite does
 * not tell it; the pin is of the file of that name then. CLR_NO_PIN if there is no such means.
 */
intptr_t clr_file_pin(const char *name, void *handle);
void clr_file_unpin(intptr_t pin);
enum { CLR_NO_PIN = -1 };

/* Whether a pin may stay when nobody has the file open any more. On Windows nobody could make a
   file of that name before the pin is gone. */
extern const bool clr_file_pins_stay;

/* Stores the facts of a pinned file. Returns false if they can't be had. */
bool clr_file_facts_of_pin(intptr_t pin, struct clr_file_facts *facts);

/* Returns the time now as the times of clr_file_facts are, or 0 if it can't be had. */
int64_t clr_file_now(void);

/* Whether all descriptors that this process has of the file, and there are some, stand at its
   beginning: nobody seeks before reading. False if that can't be found out. */
bool clr_file_stands_still(const char *name);

/* Returns how many files this process may have open. */
uint64_t clr_file_most(void);

#endif
