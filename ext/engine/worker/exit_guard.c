#include "engine/worker/exit_guard.h"

#ifdef __linux__

#include <sys/syscall.h>
#include <unistd.h>

/* The C++ ABI's registration of a thread_local object's destructor; musl has none. */
extern int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void (*guard)(void);

static void run_guard(void *unused)
{
    (void)unused;
    guard();
}

bool clr_exit_guard(void (*function)(void))
{
    if (__cxa_thread_atexit_impl == NULL || syscall(SYS_gettid) != getpid())
        return false;
    guard = function;
    return __cxa_thread_atexit_impl(run_guard, NULL, &__dso_handle) == 0;
}

#else

bool clr_exit_guard(void (*function)(void))
{
    (void)function;
    return false;
}

#endif
