#include "engine/host/host_skipping.h"

#include "numeric/filter/column_zones.h"
#include "numeric/filter/skipping.h"

/* Less than these for each thread is not worth starting it; so many are found between two looks at
   whether to stop. */
enum { ZONES_PER_THREAD = 256, ZONES_BETWEEN = 64 };

/* What threads work on: the zones of a column, in parts. */
struct work {
    struct clr_column *column;
    struct clr_zones *zones;
    int parts;
    bool failed[CLR_TEAM_MOST];
};

static size_t find_start(const struct work *work, int part)
{
    return work->zones->count * (size_t)part / (size_t)work->parts;
}

static void run_part(void *argument, int part, const atomic_bool *stop)
{
    struct work *work = argument;
    const size_t last = find_start(work, part + 1);
    size_t first = find_start(work, part), count;

    for (; first < last && !work->failed[part]; first += count) {
        count = last - first < ZONES_BETWEEN ? last - first : ZONES_BETWEEN;
        work->failed[part] = atomic_load_explicit(stop, memory_order_relaxed) ||
                             !clr_column_find_zones(work->column, first, count, work->zones);
    }
}

/* Makes the zones of a column, in threads. Returns whether it has them now. */
static bool make_zones(struct clr_column *column, const struct clr_watch *watch)
{
    struct work work = {.column = column, .zones = clr_zones_new(column->rows)};
    const int team = clr_team_size();
    const atomic_bool never = false;
    size_t most;
    bool complete = true;
    int i;

    if (work.zones == NULL)
        return false;
    most = work.zones->count / ZONES_PER_THREAD + 1;
    work.parts = most < (size_t)team ? (int)most : team;
    if (work.parts == 1)
        run_part(&work, 0, &never);
    else
        complete = clr_team_run(work.parts, run_part, &work, watch);
    for (i = 0; i < work.parts; i++)
        complete = complete && !work.failed[i];
    if (!complete) {
        clr_zones_free(work.zones);
        return false;
    }
    clr_zones_complete(work.zones);
    clr_column_set_zones(column, work.zones);
    return true;
}

/* Returns whether all the zones are there that the scan wants. */
static bool bring_zones(const struct clr_scan *scan, const struct clr_watch *watch, bool *made)
{
    bool wanted[CLR_MOST_COLUMNS], all = true;
    int i;

    if (!clr_skipping_find_columns(scan, wanted))
        return false;
    for (i = 0; i < scan->column_count; i++) {
        struct clr_column *column = scan->columns[i];

        if (!wanted[i] || clr_column_zones(column) != NULL)
            continue;
        if (!atomic_exchange(&column->wants_zones, true) || !make_zones(column, watch))
            all = false;
        else
            *made = true;
    }
    return all;
}

void clr_host_skip(struct clr_scan *scan, const struct clr_watch *watch, bool *made)
{
    *made = false;
    if (clr_zones_of(scan->rows) > 1 && bring_zones(scan, watch, made))
        clr_skipping_find_blocks(scan);
}
