#include "base/system.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#endif

enum { LONGEST_PATH = 4096 };

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Stores the one or two numbers that a group's file begins with; UINT64_MAX for those that it has
   not, as in "max", and for -1. */
static void read_numbers(const char *folder, const char *name, uint64_t numbers[2])
{
    char path[3 * LONGEST_PATH];
    FILE *file;

    numbers[0] = numbers[1] = UINT64_MAX;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fscanf(file, "%" SCNu64 "%" SCNu64, &numbers[0], &numbers[1]) < 1)
        numbers[0] = UINT64_MAX;
    fclose(file);
}

static uint64_t read_memory(const char *folder, bool is_first)
{
    uint64_t bytes[2];

    read_numbers(folder, is_first ? "memory.limit_in_bytes" : "memory.max", bytes);
    return bytes[0];
}

/* A group's threads run for so many microseconds in each period of so many. */
static uint64_t read_processors(const char *folder, bool is_first)
{
    uint64_t quota[2], period[2];

    read_numbers(folder, is_first ? "cpu.cfs_quota_us" : "cpu.max", quota);
    if (is_first) {
        read_numbers(folder, "cpu.cfs_period_us", period);
        quota[1] = period[0];
    }
    if (quota[0] == UINT64_MAX || quota[1] == UINT64_MAX || quota[1] == 0)
        return UINT64_MAX;
    return quota[0] / quota[1] + (quota[0] % quota[1] != 0);
}

/* What a controller limits: its name, and the function that returns the limit of the group in a
   folder, UINT64_MAX if it has none. is_first: of the first version of control groups. */
struct controller {
    const char *name;
    uint64_t (*read)(const char *folder, bool is_first);
};

static const struct controller memory = {"memory", read_memory}, cpu = {"cpu", read_processors};

/* Returns the least limit of a group and of those around it. In a container the group's path may be
   one outside of it, and the hierarchy begins with the container's. */
static uint64_t find_least(const struct controller *controller, const char *root, bool is_first,
                           char *group)
{
    char folder[2 * LONGEST_PATH];
    const int length = snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s%s", root,
                                is_first ? "/" : "", is_first ? controller->name : "");
    uint64_t least = controller->read(folder, is_first), limit;
    char *end;

    while ((end = strrchr(group, '/')) != NULL) {
        snprintf(folder + length, sizeof folder - (size_t)length, "%s", group);
        limit = controller->read(folder, is_first);
        least = least_of(least, limit);
        *end = '\0';
    }
    return least;
}

/* Whether a list with commas between has a name. */
static int has_name(const char *list, const char *name)
{
    const size_t length = strlen(name);
    const char *at = list;

    while ((at = strstr(at, name)) != NULL) {
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return 1;
        at += length;
    }
    return 0;
}

/* Returns the least limit of the groups that the process is in. */
static uint64_t find_limit(const struct controller *controller, const char *root)
{
    char path[LONGEST_PATH], line[LONGEST_PATH], *controllers, *group;
    uint64_t least = UINT64_MAX, limit;
    FILE *file;

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    file = fopen(path, "re");
    /* "0::/group" of version 2; "9:memory:/group" of version 1 */
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        controllers = strchr(line, ':');
        group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        limit = UINT64_MAX;
        if (controllers[1] == '\0' || has_name(controllers + 1, controller->name))
            limit = find_least(controller, root, controllers[1] != '\0', group);
        least = least_of(least, limit);
    }
    if (file != NULL)
        fclose(file);
    return least;
}

uint64_t clr_control_groups_memory(const char *root)
{
    return find_limit(&memory, root);
}

uint64_t clr_control_groups_processors(const char *root)
{
    return find_limit(&cpu, root);
}

/* Returns the machine's memory in bytes; UINT64_MAX: the system does not tell. */
static uint64_t machine_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_size = sysconf(_SC_PAGE_SIZE);

    return pages > 0 && page_size > 0 ? (uint64_t)pages * (uint64_t)page_size : UINT64_MAX;
}

/* The machine and the groups are asked once: views ask for each run. */
uint64_t clr_system_memory(void)
{
    static _Atomic uint64_t known;
    uint64_t bytes = known;
    struct rlimit limit;

    if (bytes == 0)
        known = bytes = least_of(clr_control_groups_memory(""), machine_memory());
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = least_of(bytes, limit.rlim_cur);
    return bytes == UINT64_MAX ? 0 : bytes;
}

/* Returns on how many processors the threads of this process may run, however long. */
static uint64_t count_processors(void)
{
    long online;

#ifdef __linux__
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint64_t)CPU_COUNT(&set);
#endif
    online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (uint64_t)online;
}

int clr_system_processors(void)
{
    static _Atomic uint64_t known;
    uint64_t limit = known;

    if (limit == 0)
        known = limit = clr_control_groups_processors("");
    return (int)least_of(limit, count_processors());
}
