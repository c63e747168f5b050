#include "engine/host/host_groups.h"

#include <string.h>

/* Less than this for each thread is not worth starting it; less than that, no watching either. */
enum { ROWS_PER_THREAD = 65536, ROWS_ALONE = 1 << 18 };

/* Plans that take into account what has been found out; then one does that doubts all. */
enum { DOUBTFUL = 4 };

struct team {
    bool alone;
    const struct clr_watch *watch;
};

static bool run_team(void *context, int count, clr_portion_work *work, void *argument)
{
    const struct team *team = context;
    const atomic_bool never = false;

    if (!team->alone || count > 1)
        return clr_team_run(count, work, argument, team->watch);
    work(argument, 0, &never);
    return true;
}

/* Has devices fill the parts. Returns whether they have, or know that the plan will not do; else
   threads are to do it. */
static bool group_on_device(struct clr_group_device *device, const struct clr_watch *watch,
                            struct clr_groups *groups)
{
    const struct clr_division *division = device->division;
    struct clr_group_part *const *parts = clr_groups_list_parts(groups);
    size_t ends[CLR_MOST_SHARDS];
    bool has_doubts = false;
    int i;

    for (i = 0; i < division->count; i++)
        ends[i] = division->shards[i].first + division->shards[i].rows;
    device->outcome = clr_groups_open(groups, division->count, ends);
    if (device->outcome != CLR_SCAN_DONE)
        return false;
    clr_status_clear(&device->status);
    device->outcome = clr_resident_group(division, device->copies, parts, device->timeout_ms, watch,
                                         &device->work, &device->status);
    for (i = 0; i < division->count; i++) {
        parts[i]->outcome = device->outcome;
        has_doubts = has_doubts || clr_group_part_has_doubts(parts[i]);
    }
    return device->outcome != CLR_SCAN_FAILED &&
           (device->outcome != CLR_SCAN_NOT_NOW || has_doubts);
}

/* Returns CLR_SCAN_NOT_NOW if the plan will not do. */
static enum clr_scan_outcome attempt(const struct clr_scan *scan,
                                     const struct clr_group_team *threads,
                                     const struct clr_watch *watch, struct clr_group_device *device,
                                     struct clr_group_doubts *doubts, struct clr_groups **groups)
{
    enum clr_scan_outcome outcome = clr_groups_plan(scan, device != NULL, doubts, groups);

    if (outcome == CLR_SCAN_DONE && (device == NULL || !group_on_device(device, watch, *groups)))
        outcome = clr_groups_run(*groups, threads);
    if (outcome == CLR_SCAN_DONE)
        outcome = clr_groups_end(*groups, threads, doubts);
    if (outcome != CLR_SCAN_DONE) {
        clr_groups_free(*groups);
        *groups = NULL;
    }
    return outcome;
}

enum clr_scan_outcome clr_group_scan(const struct clr_scan *scan,
                                     const struct clr_group_team *threads,
                                     const struct clr_watch *watch, struct clr_group_device *device,
                                     struct clr_groups **groups)
{
    enum clr_scan_outcome outcome = CLR_SCAN_NOT_NOW;
    struct clr_group_doubts doubts;
    int i;

    memset(&doubts, 0, sizeof doubts);
    if (device != NULL)
        device->outcome = CLR_SCAN_NOT_NOW;
    for (i = 0; i <= DOUBTFUL && outcome == CLR_SCAN_NOT_NOW; i++) {
        if (i == DOUBTFUL)
            clr_group_doubt_all(&doubts);
        outcome = attempt(scan, threads, watch, device, &doubts, groups);
    }
    return outcome;
}

enum clr_scan_outcome clr_host_group(const struct clr_scan *scan, const struct clr_watch *watch,
                                     struct clr_group_device *device, struct clr_groups **groups)
{
    const size_t most = scan->rows / ROWS_PER_THREAD + 1;
    const int size = clr_team_size();
    struct team team = {scan->rows < ROWS_ALONE, watch};
    const struct clr_group_team threads = {
        .size = most < (size_t)size ? (int)most : size, .run = run_team, .context = &team};

    return clr_group_scan(scan, &threads, watch, device, groups);
}

enum clr_scan_outcome clr_host_groups_end(struct clr_groups *groups, size_t rows,
                                          const struct clr_watch *watch,
                                          struct clr_group_doubts *doubts)
{
    struct team team = {rows < ROWS_ALONE, watch};
    const struct clr_group_team threads = {
        .size = clr_groups_parts(groups), .run = run_team, .context = &team};

    return clr_groups_end(groups, &threads, doubts);
}
