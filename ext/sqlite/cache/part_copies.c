#include "sqlite/cache/part_copies.h"

#include "numeric/scan/loops.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/copy_room.h"

/* The columns of a scan that have no whole copy. */
struct lacking {
    struct clr_image_column *columns[CLR_MOST_COLUMNS];
    int count;
    size_t image_rows;
    const struct clr_devices *devices;
};

static bool is_useful(const struct lacking *lacking, size_t rows)
{
    return rows > 0 && rows >= lacking->image_rows / CLR_LEAST_PART;
}

/* Whether a copy in one shard is ready on the only device: a scan may go over its first rows. */
static bool is_whole(const struct clr_image_column *column, const struct clr_devices *devices)
{
    const struct clr_division *division;

    /* One that has failed is not asked about, which might try it again: clr_cache_copies() does. */
    if (column->copy == NULL || devices->count != 1 || clr_sharded_has_failed(column->copy))
        return false;
    division = clr_sharded_division(column->copy);
    return division->count == 1 && division->shards[0].device.worker == devices->list[0].worker &&
           clr_sharded_state(column->copy) == CLR_RESIDENT_READY;
}

/* Whether a part is divided among these devices, as parts are. */
static bool is_on(const struct clr_sharded *part, const struct clr_devices *devices)
{
    struct clr_division division;

    return clr_division_make(devices, clr_sharded_rows(part), &division) &&
           clr_division_is_same(clr_sharded_division(part), &division);
}

/* Finds the columns without whole copies. A part that does not suit goes. Returns whether all may
   have parts. */
static bool find_lacking(struct clr_image_column *const *found, int count, struct lacking *lacking)
{
    const bool is_over = clr_copy_is_over(lacking->devices);
    int i;

    for (i = 0; i < count; i++) {
        struct clr_image_column *column = found[i];

        if (is_whole(column, lacking->devices))
            continue;
        if (column->copy != NULL)
            return false;
        if (column->part != NULL && !is_on(column->part, lacking->devices)) {
            if (clr_image_column_users(column) > 1 && !clr_sharded_is_lost(column->part))
                return false;
            clr_image_column_drop_part(column);
        } else if (column->part != NULL &&
                   (is_over || !is_useful(lacking, clr_sharded_rows(column->part)))) {
            clr_image_column_drop_part(column);
        }
        lacking->columns[lacking->count++] = column;
    }
    return lacking->count > 0;
}

/* Returns the part with the fewest rows, or NULL. */
static struct clr_sharded *find_least(const struct lacking *lacking)
{
    struct clr_sharded *least = NULL;
    int i;

    for (i = 0; i < lacking->count; i++) {
        struct clr_sharded *part = lacking->columns[i]->part;

        if (part != NULL && (least == NULL || clr_sharded_rows(part) < clr_sharded_rows(least)))
            least = part;
    }
    return least;
}

/* Whether a scan can go over the first rows of all that there is: of the same shards, or of one. */
static bool go_together(const struct lacking *lacking, const struct clr_sharded *least)
{
    int i;

    for (i = 0; i < lacking->count; i++) {
        const struct clr_sharded *part = lacking->columns[i]->part;

        if (part != NULL && least != NULL && clr_sharded_division(part)->count > 1 &&
            !clr_division_is_same(clr_sharded_division(part), clr_sharded_division(least)))
            return false;
    }
    return true;
}

/* Makes parts where there are none. */
static void make_parts(const struct lacking *lacking, size_t rows)
{
    struct clr_division division;
    int i;

    if (!clr_division_make(lacking->devices, rows, &division))
        return;
    for (i = 0; i < lacking->count; i++) {
        struct clr_image_column *column = lacking->columns[i];

        if (column->part == NULL)
            column->part = clr_sharded_new(&division, column->column);
    }
}

/* Leaves out what is more than all rows in whole blocks, as many for each device. */
static size_t cap(const struct lacking *lacking, size_t rows)
{
    const size_t step = (size_t)lacking->devices->count * CLR_BLOCK;
    const size_t most = lacking->image_rows / step * step;

    return rows < most ? rows : most;
}

/* Returns how many rows parts could have at once, with those that there are: `missing` has the
   columns without. 0: none, or they do not go together. */
static size_t find_rows_now(const struct lacking *lacking, const struct lacking *missing)
{
    const struct clr_sharded *least = find_least(lacking);
    const size_t there = least == NULL ? SIZE_MAX : clr_sharded_rows(least);
    size_t room;

    if (!go_together(lacking, least))
        return 0;
    if (missing->count == 0)
        return there;
    room = cap(lacking, clr_copy_room(missing->columns, missing->count, lacking->devices, NULL));
    if (least != NULL && clr_sharded_division(least)->count > 1 && room < there)
        return 0;
    return room < there ? room : there;
}

/* Drops what these columns have, and what nobody has used since that scan, as far as it is in the
   way of so many rows. */
static void drop_unused(const struct lacking *lacking, size_t rows, int64_t since)
{
    int i, d;

    for (i = 0; i < lacking->count; i++)
        clr_image_column_drop_part(lacking->columns[i]);
    for (d = 0; d < lacking->devices->count; d++) {
        const struct clr_worker *worker = lacking->devices->list[d].worker;

        while (clr_copy_room(lacking->columns, lacking->count, lacking->devices, NULL) < rows &&
               ((clr_copy_measure(CLR_COPY_PART, worker, &since) > 0 &&
                 clr_copy_drop_oldest(CLR_COPY_PART, worker) > 0) ||
                (clr_copy_measure(CLR_COPY_WHOLE, worker, &since) > 0 &&
                 clr_copy_drop_oldest(CLR_COPY_WHOLE, worker) > 0)))
            ;
    }
}

/* Counts an asking of these columns, which would have more rows in the place of others. Returns
   whether it has been asked for often enough; *rows and *since are those of that. */
static bool is_due(const struct lacking *lacking, const struct lacking *asking, size_t now,
                   size_t *rows, int64_t *since)
{
    bool due = true, begins = false;
    int i;

    *since = INT64_MAX;
    for (i = 0; i < asking->count; i++) {
        struct clr_copy_wait *wait = &asking->columns[i]->part_wait;

        begins = begins || wait->since == 0;
        wait->left -= wait->left > 0;
        due = due && wait->left == 0;
        if (wait->since < *since)
            *since = wait->since;
    }
    if (begins)
        *since = asking->columns[0]->used;
    *rows = cap(lacking, clr_copy_room(lacking->columns, lacking->count, lacking->devices, since));
    if (is_useful(lacking, *rows) && *rows >= now + now / 2 && !begins)
        return due;
    begins = begins && is_useful(lacking, *rows) && *rows >= now + now / 2;
    for (i = 0; i < asking->count; i++)
        asking->columns[i]->part_wait = begins
                                            ? (struct clr_copy_wait){CLR_COPY_ASKINGS - 1, *since}
                                            : (struct clr_copy_wait){0, 0};
    return false;
}

/* Sees to it that there are parts, if there may be any. */
static void see_to_parts(const struct lacking *lacking)
{
    struct lacking missing = {.count = 0};
    int64_t since = 0;
    size_t now, rows;
    int i;

    /* Whole copies fit, and are to come: it is not for want of room that there are none. */
    if (clr_copy_room(lacking->columns, lacking->count, lacking->devices, &since) >=
        lacking->image_rows)
        return;
    for (i = 0; i < lacking->count; i++) {
        if (lacking->columns[i]->part == NULL)
            missing.columns[missing.count++] = lacking->columns[i];
    }
    now = find_rows_now(lacking, &missing);
    if (!is_useful(lacking, now))
        now = 0;
    if (now > 0 && missing.count > 0) {
        make_parts(lacking, now);
        return;
    }
    if (!is_due(lacking, missing.count > 0 ? &missing : lacking, now, &rows, &since))
        return;
    drop_unused(lacking, rows, since);
    make_parts(lacking, rows);
    for (i = 0; i < lacking->count; i++)
        lacking->columns[i]->part_wait = (struct clr_copy_wait){0, 0};
}

/* Finds the division of what all columns have, if it is the same for all, or one shard is. */
static bool find_division(struct clr_image_column *const *found, int count,
                          const struct lacking *lacking, struct clr_division *division)
{
    const struct clr_sharded *least = find_least(lacking);
    int i;

    if (least == NULL || !go_together(lacking, least))
        return false;
    *division = *clr_sharded_division(least);
    for (i = 0; i < count; i++) {
        if (found[i]->copy == NULL && found[i]->part == NULL)
            return false;
        if (found[i]->copy != NULL && division->count > 1)
            return false;
    }
    return true;
}

bool clr_cache_parts(struct clr_image_column *const *found, int count, size_t image_rows,
                     const struct clr_devices *devices, struct clr_division *division,
                     struct clr_sharded **copies, size_t *rows)
{
    struct lacking lacking = {.count = 0, .image_rows = image_rows, .devices = devices};
    bool ready;
    int taken = 0, i;

    clr_cache_lock();
    ready = find_lacking(found, count, &lacking);
    if (ready)
        see_to_parts(&lacking);
    ready = ready && find_division(found, count, &lacking, division);
    for (; ready && taken < count; taken++) {
        struct clr_image_column *column = found[taken];

        copies[taken] = clr_sharded_retain(column->copy != NULL ? column->copy : column->part);
    }
    for (i = 0; i < taken; i++)
        ready = clr_sharded_state(copies[i]) == CLR_RESIDENT_READY && ready;
    if (ready)
        *rows = clr_sharded_rows(find_least(&lacking));
    clr_cache_unlock();
    for (i = 0; i < taken && !ready; i++)
        clr_sharded_release(copies[i]);
    return ready;
}
