/* A function that runs before every handler of the process's exit. */
#ifndef CLR_ENGINE_EXIT_GUARD_H
#define CLR_ENGINE_EXIT_GUARD_H

#include <stdbool.h>

/*
 * Has the function called when the main thread calls exit() or returns from main(), before the
 * handlers of atexit() and the destructors of globals, whenever those were registered. Returns
 * false, and does nothing, if the calling thread is not the main thread or the C library has no
 * such means.
 *
 * Source: the destructors of C++11's thread_local objects, which glibc's exit() runs first.
 */
bool clr_exit_guard(void (*function)(void));

#endif
