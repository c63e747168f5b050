#include "engine/host/host_groups.h"

/* Less than this for each thread is not worth starting it; less than that, no watching either. */
enum { ROWS_PER_THREAD = 65536, ROWS_ALONE = 1 << 18 };

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

enum clr_scan_outcome clr_host_group(const struct clr_scan *scan, const struct clr_watch *watch,
                                     const struct clr_group_device *device,
                                     struct clr_groups **groups)
{
    const size_t most = scan->rows / ROWS_PER_THREAD + 1;
    const int size = clr_team_size();
    struct team team = {scan->rows < ROWS_ALONE, watch};
    const struct clr_group_team threads = {.size = most < (size_t)size ? (int)most : size,
                                           .run = run_team,
                                           .context = &team,
                                           .device = device == NULL ? NULL : device->run,
                                           .device_context =
                                               device == NULL ? NULL : device->context,
                                           .device_parts = device == NULL ? 0 : device->parts,
                                           .device_ends = device == NULL ? NULL : device->ends};

    return clr_group_scan(scan, &threads, groups);
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
