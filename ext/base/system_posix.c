#include "base/system.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#endif

/* ---- Memory. */

void *clr_system_map(size_t size)
{
    void *area = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (area == MAP_FAILED)
        return NULL;
#if defined(MADV_HUGEPAGE)
    /* Large pages take a five-hundredth of the page faults. Where they can't be had, no matter. */
    madvise(area, size, MADV_HUGEPAGE);
#endif
    return area;
}

void clr_system_unmap(void *area, size_t size)
{
    munmap(area, size);
}

void *clr_system_alloc_lines(size_t size)
{
    enum { LINE = 64 };
    void *block;

    return posix_memalign(&block, LINE, size) == 0 ? block : NULL;
}

void clr_system_populate(void *area, size_t size)
{
#if defined(MADV_POPULATE_WRITE)
    madvise(area, size, MADV_POPULATE_WRITE);
#else
    (void)area;
    (void)size;
#endif
}

/* ---- Threads and the process. */

int clr_system_start_thread(void *(*run)(void *), void *argument)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
    sigset_t all, before;
    pthread_t thread;
    size_t i;
    int error;

    /* A thread inherits them from the one that starts it. Signals that tell of what the thread
       itself does are for whoever reports crashes in the process: blocked, they would end it
       silently. SIGABRT may be blocked, since abort() unblocks it. */
    sigfillset(&all);
    for (i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    error = pthread_create(&thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_detach(thread);
    return error;
}

/* macOS has no pthread_condattr_setclock(). */
#ifdef __APPLE__
#define DEADLINE_CLOCK CLOCK_REALTIME
#else
#define DEADLINE_CLOCK CLOCK_MONOTONIC
#endif

void clr_system_cond_init(pthread_cond_t *condition)
{
#ifdef __APPLE__
    pthread_cond_init(condition, NULL);
#else
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, DEADLINE_CLOCK);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
#endif
}

struct timespec clr_system_now(void)
{
    struct timespec time;

    clock_gettime(DEADLINE_CLOCK, &time);
    return time;
}

void clr_system_at_exit(void (*function)(void))
{
    atexit(function);
}

#ifdef __linux__

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

bool clr_system_guard_exit(void (*function)(void))
{
    if (__cxa_thread_atexit_impl == NULL || syscall(SYS_gettid) != getpid())
        return false;
    guard = function;
    return __cxa_thread_atexit_impl(run_guard, NULL, &__dso_handle) == 0;
}

#else

bool clr_system_guard_exit(void (*function)(void))
{
    (void)function;
    return false;
}

#endif

/* ---- Libraries. */

#ifdef __APPLE__

const char *const clr_system_opencl[] = {"/System/Library/Frameworks/OpenCL.framework/OpenCL",
                                         NULL};

/* There OpenCL is a part of the system. */
bool clr_system_may_have_device(void)
{
    return true;
}

#else

const char *const clr_system_opencl[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};

/* What a GPU's kernel driver makes: NVIDIA's, those of the kernel (DRM), AMD's for computing, that
   of WSL 2, and ARM's. */
static const char *const traces[] = {"/dev/nvidia*", "/dev/dri/render*", "/dev/kfd", "/dev/dxg",
                                     "/dev/mali*"};

bool clr_system_may_have_device(void)
{
    bool found = false;
    size_t i;

    for (i = 0; i < sizeof traces / sizeof traces[0] && !found; i++) {
        glob_t paths;

        memset(&paths, 0, sizeof paths);
        found = glob(traces[i], GLOB_NOSORT, NULL, &paths) == 0;
        globfree(&paths);
    }
    return found;
}

#endif

const char clr_system_opencl_advice[] =
    "Install one (Debian, Ubuntu: ocl-icd-libopencl1; elsewhere mostly ocl-icd) and the OpenCL "
    "driver of your device";

void *clr_system_library(const char *name, const char **error)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL)
        *error = dlerror();
    return library;
}

void *clr_system_function(void *library, const char *name)
{
    return dlsym(library == NULL ? RTLD_DEFAULT : library, name);
}

/* ---- Files. */

#ifdef __APPLE__
#define st_mtim st_mtimespec
#define st_ctim st_ctimespec
#endif

static int64_t to_ns(struct timespec time)
{
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static bool take_facts(const struct stat *from, struct clr_file_facts *facts)
{
    *facts = (struct clr_file_facts){.identity = {(uint64_t)from->st_dev, (uint64_t)from->st_ino},
                                     .links = (uint64_t)from->st_nlink,
                                     .size = from->st_size,
                                     .written_ns = to_ns(from->st_mtim),
                                     .changed_ns = to_ns(from->st_ctim)};
    return true;
}

bool clr_file_facts_of(const char *name, struct clr_file_facts *facts)
{
    struct stat found;

    return stat(name, &found) == 0 && take_facts(&found, facts);
}

intptr_t clr_file_pin(const char *name, void *handle)
{
    (void)handle;
#ifdef O_PATH
    return open(name, O_PATH | O_CLOEXEC);
#else
    (void)name;
    return CLR_NO_PIN;
#endif
}

void clr_file_unpin(intptr_t pin)
{
    close((int)pin);
}

const bool clr_file_pins_stay = true;

bool clr_file_facts_of_pin(intptr_t pin, struct clr_file_facts *facts)
{
    struct stat found;

    return fstat((int)pin, &found) == 0 && take_facts(&found, facts);
}

int64_t clr_file_now(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_REALTIME, &now) == 0 ? to_ns(now) : 0;
}

/* Returns the position of one of this process's descriptors, or -1. */
static long long find_position(const char *descriptor)
{
    char path[64], line[128];
    long long position = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%.20s", descriptor);
    file = fopen(path, "r");
    if (file == NULL)
        return -1;
    if (fgets(line, sizeof line, file) == NULL || sscanf(line, "pos: %lld", &position) != 1)
        position = -1;
    fclose(file);
    return position;
}

bool clr_file_stands_still(const char *name)
{
    struct stat wanted, found;
    struct dirent *entry;
    char path[64];
    bool any = false, still = true;
    DIR *folder;

    if (stat(name, &wanted) != 0)
        return false;
    folder = opendir("/proc/self/fd");
    while (folder != NULL && still && (entry = readdir(folder)) != NULL) {
        snprintf(path, sizeof path, "/proc/self/fd/%.20s", entry->d_name);
        if (entry->d_name[0] == '.' || stat(path, &found) != 0 || found.st_dev != wanted.st_dev ||
            found.st_ino != wanted.st_ino)
            continue;
        any = true;
        still = find_position(entry->d_name) == 0;
    }
    if (folder != NULL)
        closedir(folder);
    return any && still;
}

uint64_t clr_file_most(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (uint64_t)limit.rlim_cur : UINT64_MAX;
}
