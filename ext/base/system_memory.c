#include "base/system.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LONGEST_PATH = 4096 };

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the number that a file begins with; UINT64_MAX if it has none, as "max". */
static uint64_t read_limit(const char *root, const char *hierarchy, const char *group,
                           const char *name)
{
    char path[2 * LONGEST_PATH];
    uint64_t limit = UINT64_MAX;
    FILE *file;

    snprintf(path, sizeof path, "%s/sys/fs/cgroup%s%s/%s", root, hierarchy, group, name);
    file = fopen(path, "re");
    if (file == NULL)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &limit) != 1)
        limit = UINT64_MAX;
    fclose(file);
    return limit;
}

/* The same, the least of a group's and of those around it. In a container the group's path may be
   one outside of it, and the hierarchy begins with the container's. */
static uint64_t find_least(const char *root, const char *hierarchy, char *group, const char *name)
{
    uint64_t least = read_limit(root, hierarchy, "", name), limit;
    char *end;

    while ((end = strrchr(group, '/')) != NULL) {
        limit = read_limit(root, hierarchy, group, name);
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

uint64_t clr_control_groups_memory(const char *root)
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
        if (controllers[1] == '\0')
            limit = find_least(root, "", group, "memory.max");
        else if (has_name(controllers + 1, "memory"))
            limit = find_least(root, "/memory", group, "memory.limit_in_bytes");
        least = least_of(least, limit);
    }
    if (file != NULL)
        fclose(file);
    return least;
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
    uint64_t memory = known;
    struct rlimit limit;

    if (memory == 0)
        known = memory = least_of(clr_control_groups_memory(""), machine_memory());
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        memory = least_of(memory, limit.rlim_cur);
    return memory == UINT64_MAX ? 0 : memory;
}
