/*
 * Start-up: discovery, opening, building and self-test, each run in a process of its own, with the
 * drivers' caches of compiled kernels empty (cold) or filled by an earlier run (warm).
 */
#include "base/clock.h"
#include "base/memory.h"
#include "data.h"
#include "measure.h"
#include "opencl/core/device.h"
#include "opencl/reduction/reducer.h"
#include "options.h"
#include "output.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_STEPS = 2 + 2 * CLR_OPERATIONS * CLR_ELEMENTS, NAME_SIZE = 32, MOST_RUNS = 5 };

/* A step as the other process tells it: name, operation, element, nanoseconds; "-" is none. */
struct step {
    char name[NAME_SIZE], operation[NAME_SIZE], element[NAME_SIZE];
    struct bench_case times;
};

struct startup {
    char device[CLR_DEVICE_NAME_SIZE];
    struct step steps[MOST_STEPS];
    size_t count;
};

static void tell(const char *name, const char *operation, const char *element, int64_t start)
{
    printf("%s %s %s %lld\n", name, operation, element, (long long)(clr_clock_ns() - start));
}

/* In a process of its own: every step once. */
void bench_part_startup_once(const struct bench_options *options)
{
    int64_t start = clr_clock_ns();
    struct clr_device_info info = bench_find_device(options);
    struct clr_device *device;
    struct clr_status status;
    int operation, element;
    char *log;

    printf("%s\n", info.name);
    tell("discovery", "-", "-", start);
    clr_status_clear(&status);
    start = clr_clock_ns();
    if (clr_device_open(&info, &device, &status) != CLR_OK)
        bench_die("%s", status.message);
    tell("open", "-", "-", start);
    for (operation = 0; operation < CLR_OPERATIONS; operation++) {
        for (element = 0; element < CLR_ELEMENTS; element++) {
            const char *operation_name = bench_operation_names[operation];
            const char *element_name = bench_element_names[element];
            start = clr_clock_ns();
            if (clr_reducer_build(device, (enum clr_operation)operation, (enum clr_element)element,
                                  &log, &status) != CLR_OK)
                bench_die("%s", status.message);
            tell("build", operation_name, element_name, start);
            start = clr_clock_ns();
            if (clr_self_test(device, (enum clr_operation)operation, (enum clr_element)element,
                              &status) != CLR_OK)
                bench_die("%s", status.message);
            tell("self-test", operation_name, element_name, start);
        }
    }
    clr_device_close(device);
}

static _Noreturn void become_child(const struct bench_options *options, const char *cache,
                                   int output)
{
    const char *arguments[] = {options->program,
                               "startup-once",
                               "--device",
                               options->device,
                               options->type != NULL ? "--type" : NULL,
                               options->type,
                               NULL};

    dup2(output, STDOUT_FILENO);
    close(output);
    setenv("POCL_CACHE_DIR", cache, 1);
    setenv("CUDA_CACHE_PATH", cache, 1);
    unsetenv("CUDA_CACHE_DISABLE");
    execv("/proc/self/exe", (char **)(uintptr_t)arguments);
    execvp(options->program, (char **)(uintptr_t)arguments);
    _exit(127);
}

static void read_steps(struct startup *startup, FILE *file)
{
    char line[256], name[NAME_SIZE], operation[NAME_SIZE], element[NAME_SIZE];
    long long time;
    size_t i;

    if (fgets(line, sizeof line, file) == NULL)
        return;
    line[strcspn(line, "\n")] = '\0';
    snprintf(startup->device, sizeof startup->device, "%.*s", (int)sizeof startup->device - 1,
             line);
    for (i = 0; i < MOST_STEPS && fgets(line, sizeof line, file) != NULL; i++) {
        struct step *step = &startup->steps[i];
        if (sscanf(line, "%31s %31s %31s %lld", name, operation, element, &time) != 4)
            bench_die("start-up: unexpected output: %s", line);
        memcpy(step->name, name, sizeof name);
        memcpy(step->operation, operation, sizeof operation);
        memcpy(step->element, element, sizeof element);
        step->times.times[step->times.count++] = time;
        startup->count = i + 1;
    }
}

/* Runs every step in another process whose drivers keep their caches in the folder. */
static void run_once(const struct bench_options *options, const char *cache,
                     struct startup *startup)
{
    int ends[2], status;
    pid_t child;
    FILE *file;

    fflush(stdout);
    if (pipe(ends) != 0 || (child = fork()) < 0)
        bench_die("start-up: %s", strerror(errno));
    if (child == 0) {
        close(ends[0]);
        become_child(options, cache, ends[1]);
    }
    close(ends[1]);
    file = fdopen(ends[0], "r");
    if (file == NULL)
        bench_die("start-up: %s", strerror(errno));
    read_steps(startup, file);
    fclose(file);
    if (waitpid(child, &status, 0) != child || status != 0)
        bench_die("start-up: the other process failed");
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *position)
{
    (void)info;
    (void)type;
    (void)position;
    return remove(path);
}

static void make_folder(char path[NAME_SIZE])
{
    snprintf(path, NAME_SIZE, "/tmp/clreduce-bench-XXXXXX");
    if (mkdtemp(path) == NULL)
        bench_die("%s: %s", path, strerror(errno));
}

static void remove_folder(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void print_steps(const struct startup *startup, const char *temperature)
{
    size_t i;

    for (i = 0; i < startup->count; i++) {
        const struct step *step = &startup->steps[i];
        char name[2 * NAME_SIZE];
        struct bench_line line = {.part = "startup", .device = startup->device};
        snprintf(name, sizeof name, "%s, %s", step->name, temperature);
        line.name = name;
        line.operation = step->operation[0] != '-' ? step->operation : NULL;
        line.element = step->element[0] != '-' ? step->element : NULL;
        line.times = &step->times;
        snprintf(line.notes, sizeof line.notes, "driver's cache of compiled kernels: %s",
                 temperature);
        bench_print(&line);
    }
}

void bench_part_startup(const struct bench_options *options)
{
    static struct startup cold, warm;
    int64_t start = clr_clock_ns();
    char cache[NAME_SIZE];
    int run, runs = options->runs < MOST_RUNS ? options->runs : MOST_RUNS;

    for (run = 0; run < runs; run++) {
        if (run > 0 && (double)(clr_clock_ns() - start) > options->seconds * 1e9)
            break;
        bench_progress("startup: run %d of %d", run + 1, runs);
        make_folder(cache);
        run_once(options, cache, &cold);
        run_once(options, cache, &warm);
        remove_folder(cache);
    }
    print_steps(&cold, "cold");
    print_steps(&warm, "warm");
}
