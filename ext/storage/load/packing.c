#include "storage/load/packing.h"

#include "base/memory.h"

/* Values that are moved from one frame to another at once. */
enum { PIECE = 1024 };

/* Returns where something of field k of a unit is, of as many as there are fields. */
static size_t place_of(const struct clr_packing *packing, size_t i, int k)
{
    return i * (size_t)packing->units->field_count + (size_t)k;
}

/* The same of a thread. Threads' places are apart by one that nobody uses, so that no two share a
   cache line. */
static size_t place_of_thread(const struct clr_packing *packing, int thread, int k)
{
    return (size_t)thread * ((size_t)packing->units->field_count + 1) + (size_t)k;
}

bool clr_packing_init(struct clr_packing *packing, const struct clr_units *units,
                      struct clr_column *const *columns)
{
    const size_t fields = (size_t)units->field_count;
    size_t i;
    int k;

    packing->units = units;
    pthread_mutex_init(&packing->lock, NULL);
    packing->fields = clr_memory_alloc_zero((fields + 1) * sizeof *packing->fields);
    packing->rooms =
        clr_memory_alloc_zero(place_of_thread(packing, units->threads, 0) * sizeof(void *));
    packing->bounds =
        clr_memory_alloc(place_of_thread(packing, units->threads, 0) * sizeof *packing->bounds);
    packing->levels = clr_memory_alloc(units->count * fields + 1);
    packing->kinds = clr_memory_alloc(units->count * fields + 1);
    if (packing->fields == NULL || packing->rooms == NULL || packing->bounds == NULL ||
        packing->levels == NULL || packing->kinds == NULL)
        return false;
    for (i = 0; i < place_of_thread(packing, units->threads, 0); i++)
        packing->bounds[i] = CLR_FRAME_OF_NONE;
    for (k = 0; k < units->field_count; k++) {
        atomic_init(&packing->fields[k].level, -1);
        packing->fields[k].columns[CLR_PACKING_LAST] = columns[units->fields[k].position];
    }
    return true;
}

void clr_packing_free(struct clr_packing *packing)
{
    int k, level, thread;

    if (packing->units == NULL)
        return;
    for (k = 0; k < packing->units->field_count; k++) {
        for (level = 0; level < CLR_PACKING_LAST && packing->fields != NULL; level++)
            clr_column_release(packing->fields[k].columns[level]);
        for (thread = 0; thread < packing->units->threads && packing->rooms != NULL; thread++)
            clr_column_release(packing->rooms[place_of_thread(packing, thread, k)]);
    }
    pthread_mutex_destroy(&packing->lock);
    clr_memory_free(packing->fields);
    clr_memory_free((void *)packing->rooms);
    clr_memory_free(packing->bounds);
    clr_memory_free(packing->levels);
    clr_memory_free(packing->kinds);
}

/* Returns the thread's room for the values of a unit, or NULL without memory. */
static struct clr_column *room_of(const struct clr_packing *packing, int thread, int k)
{
    struct clr_column **room = &packing->rooms[place_of_thread(packing, thread, k)];

    if (*room == NULL)
        *room = clr_column_new(packing->units->most_leaves *
                               clr_page_most_cells(packing->units->source));
    return *room;
}

void clr_packing_aim(const struct clr_packing *packing, int thread, size_t i,
                     struct clr_decoder *decoder)
{
    struct clr_column *room;
    int k;

    for (k = 0; k < decoder->count; k++) {
        struct clr_packed *packed = &packing->fields[k];
        struct clr_column *last = packed->columns[CLR_PACKING_LAST];

        room = last->codes == NULL && atomic_load(&packed->level) < CLR_PACKING_LAST
                   ? room_of(packing, thread, k)
                   : NULL;
        decoder->targets[k] = room != NULL ? clr_target_at(room, 0)
                                           : clr_target_at(last, packing->units->units[i].row);
    }
}

/* Whether the column of that level can have what is within the bounds. */
static bool has(const struct clr_packed *packed, int level, const struct clr_frame *bounds)
{
    return level == CLR_PACKING_LAST ||
           (level >= 0 && clr_frame_has(&packed->columns[level]->frame, bounds));
}

/* Returns the bounds of values, as the column of that level keeps them if it does. Where they have
   all bytes nobody asks. */
static struct clr_frame find_bounds(const struct clr_packed *packed, int level,
                                    const int64_t *values, size_t rows)
{
    if (level == CLR_PACKING_LAST)
        return CLR_FRAME_OF_NONE;
    return clr_frame_find(level < 0 ? NULL : &packed->columns[level]->frame, values, rows);
}

/* Goes on to the level that has values within the bounds, and returns it. What had no memory is
   left out. */
static int advance(struct clr_packing *packing, struct clr_packed *packed,
                   const struct clr_frame *bounds)
{
    const struct clr_column *last = packed->columns[CLR_PACKING_LAST];
    struct clr_frame frame = clr_frame_choose(bounds, 1);
    int level;

    pthread_mutex_lock(&packing->lock);
    level = atomic_load(&packed->level);
    while (!has(packed, level, bounds)) {
        level++;
        if (level == CLR_PACKING_LAST)
            continue;
        if (level > 0) {
            clr_frame_join(&frame, &packed->columns[0]->frame);
            frame = clr_frame_choose(&frame, 4);
        }
        packed->columns[level] =
            frame.bytes == 0 ? NULL : clr_column_new_framed(last->capacity, &frame);
        if (packed->columns[level] == NULL)
            level = CLR_PACKING_LAST;
    }
    atomic_store(&packed->level, level);
    pthread_mutex_unlock(&packing->lock);
    return level;
}

/* Puts values and tags of rows into a column. */
static void put(struct clr_column *to, size_t row, const int64_t *values, const uint8_t *tags,
                uint8_t kind, size_t rows)
{
    clr_column_put_values(to, row, values, rows);
    if (kind == CLR_TAG_MIXED)
        memcpy(to->tags + row, tags, rows);
}

void clr_packing_take(struct clr_packing *packing, int thread, size_t i,
                      const struct clr_decoder *decoder, size_t rows)
{
    const size_t row = packing->units->units[i].row;
    int k;

    for (k = 0; k < decoder->count; k++) {
        const struct clr_target *target = &decoder->targets[k];
        struct clr_packed *packed = &packing->fields[k];
        struct clr_column *last = packed->columns[CLR_PACKING_LAST];
        struct clr_frame bounds;
        int level = CLR_PACKING_LAST;

        packing->kinds[place_of(packing, i, k)] = target->kind;
        if (last->codes != NULL)
            continue;
        if (target->values != last->values + row) {
            level = atomic_load(&packed->level);
            bounds = find_bounds(packed, level, target->values, rows);
            clr_frame_join(&packing->bounds[place_of_thread(packing, thread, k)], &bounds);
            if (!has(packed, level, &bounds))
                level = advance(packing, packed, &bounds);
            put(packed->columns[level], row, target->values, target->tags, target->kind, rows);
        }
        packing->levels[place_of(packing, i, k)] = (uint8_t)level;
    }
}

struct clr_column *clr_packing_column(const struct clr_packing *packing, int k)
{
    const struct clr_packed *packed = &packing->fields[k];
    const int level = atomic_load(&packed->level);

    if (packed->columns[CLR_PACKING_LAST]->codes != NULL)
        return packed->columns[CLR_PACKING_LAST];
    return level < 0 ? NULL : packed->columns[level];
}

/* ---- The end. */

struct moving {
    const struct clr_packing *packing;
    int k;
    struct clr_column *to;
};

/* Moves the rows of a part of the units to the column, unless they are there. */
static void move_part(void *argument, int part, const atomic_bool *stop)
{
    const struct moving *moving = argument;
    const struct clr_units *units = moving->packing->units;
    const size_t parts = (size_t)units->threads, end = units->count * ((size_t)part + 1) / parts;
    size_t i, row, done, count;
    int64_t room[PIECE];

    (void)stop;
    for (i = units->count * (size_t)part / parts; i < end; i++) {
        const size_t place = place_of(moving->packing, i, moving->k);
        const struct clr_column *from =
            moving->packing->fields[moving->k].columns[moving->packing->levels[place]];

        for (done = 0; done < units->units[i].rows && from != moving->to; done += count) {
            row = units->units[i].row + done;
            count = units->units[i].rows - done < PIECE ? units->units[i].rows - done : PIECE;
            put(moving->to, row, clr_column_values(from, row, count, room), from->tags + row,
                moving->packing->kinds[place], count);
        }
    }
}

/* Returns the column that is to have all rows: one of those that have some, or a new one. */
static struct clr_column *choose(struct clr_packed *packed, const struct clr_frame *frame)
{
    struct clr_column *last = packed->columns[CLR_PACKING_LAST], *column;
    int level;

    for (level = 0; level < CLR_PACKING_LAST && frame->bytes != 0; level++) {
        column = packed->columns[level];
        if (column != NULL && column->frame.bytes == frame->bytes &&
            clr_frame_has(&column->frame, frame)) {
            clr_frame_join(&column->frame, frame);
            return clr_column_retain(column);
        }
    }
    column = frame->bytes == 0 ? NULL : clr_column_new_framed(last->capacity, frame);
    return column != NULL ? column : clr_column_retain(last);
}

/* Whether a unit has its rows in the column of all bytes: something did not fit, or there was no
   memory for a room, and then nobody knows their bounds. */
static bool needs_last(const struct clr_packing *packing, int k)
{
    size_t i;

    for (i = 0; i < packing->units->count; i++) {
        if (packing->levels[place_of(packing, i, k)] == CLR_PACKING_LAST)
            return true;
    }
    return false;
}

/* Gives the column the tag of all rows, or all their tags. */
static void finish_kind(const struct clr_packing *packing, int k, struct clr_column *column)
{
    const struct clr_units *units = packing->units;
    size_t i;

    column->kind = packing->kinds[place_of(packing, 0, k)];
    for (i = 1; i < units->count; i++) {
        if (packing->kinds[place_of(packing, i, k)] != column->kind)
            column->kind = CLR_TAG_MIXED;
    }
    for (i = 0; i < units->count && column->kind == CLR_TAG_MIXED; i++) {
        const uint8_t kind = packing->kinds[place_of(packing, i, k)];

        if (kind != CLR_TAG_MIXED)
            memset(column->tags + units->units[i].row, kind, units->units[i].rows);
    }
}

void clr_packing_finish(struct clr_packing *packing, int k, size_t rows, struct clr_column **column)
{
    struct clr_packed *packed = &packing->fields[k];
    struct clr_frame bounds = CLR_FRAME_OF_NONE;
    struct moving moving = {.packing = packing, .k = k};
    int thread;

    for (thread = 0; thread < packing->units->threads; thread++)
        clr_frame_join(&bounds, &packing->bounds[place_of_thread(packing, thread, k)]);
    bounds = clr_frame_choose(&bounds, 1);
    if (clr_column_has_addresses(*column) || needs_last(packing, k))
        bounds.bytes = 0;
    moving.to = choose(packed, &bounds);
    clr_team_run(packing->units->threads, move_part, &moving, NULL);
    moving.to->rows = rows;
    finish_kind(packing, k, moving.to);
    moving.to->with_bytes = (*column)->with_bytes;
    clr_column_release(*column);
    *column = moving.to;
}
