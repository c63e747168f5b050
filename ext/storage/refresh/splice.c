#include "storage/refresh/splice.h"

#include "numeric/filter/column_zones.h"

#include <string.h>

enum { SPARE_PART = 4, LEAST_SPARE = 4096, PIECE = 1024 };

/* Returns how the result's values are kept: as they were, if what is fresh fits, else in as few
   bytes as hold all, where they were narrow before. */
static struct clr_frame choose_frame(const struct clr_splice *splice, const struct clr_column *old,
                                     const struct clr_column *fresh)
{
    struct clr_frame bounds = CLR_FRAME_OF_NONE, more;
    size_t i;

    if (old->words == NULL || clr_column_has_addresses(fresh))
        return (struct clr_frame){.bytes = 0};
    for (i = 0; i < splice->fresh_count; i++) {
        more = clr_frame_find(&old->frame, fresh->values + splice->fresh[i].from,
                              splice->fresh[i].rows);
        clr_frame_join(&bounds, &more);
    }
    if (!clr_frame_has(&old->frame, &bounds)) {
        clr_frame_join(&bounds, &old->frame);
        return clr_frame_choose(&bounds, 1);
    }
    more = old->frame;
    clr_frame_join(&more, &bounds);
    return more;
}

static uint8_t tag_of(const struct clr_column *column, size_t row)
{
    return column->kind == CLR_TAG_MIXED ? column->tags[row] : column->kind;
}

/* Whether rows of the fresh column are what those of the old one are, at their places. */
static bool are_same(const struct clr_row_run *run, const struct clr_column *old,
                     const struct clr_column *fresh, const uint32_t *map)
{
    size_t i;

    for (i = 0; i < run->rows; i++) {
        const size_t to = run->to + i, from = run->from + i;

        if (old->codes != NULL ? clr_column_code(old, to) != map[clr_column_code(fresh, from)]
                               : clr_column_value(old, to) != clr_column_value(fresh, from) ||
                                     tag_of(old, to) != tag_of(fresh, from))
            return false;
    }
    return true;
}

bool clr_splice_changes(const struct clr_splice *splice, const struct clr_column *old,
                        const struct clr_column *fresh, const uint32_t *map)
{
    size_t i;

    if (splice->rows != old->rows || clr_column_has_addresses(old) ||
        clr_column_has_addresses(fresh) || (old->with_bytes && !fresh->with_bytes))
        return true;
    for (i = 0; i < splice->old_count; i++) {
        if (splice->old[i].from != splice->old[i].to)
            return true;
    }
    for (i = 0; i < splice->fresh_count; i++) {
        if (!are_same(&splice->fresh[i], old, fresh, map))
            return true;
    }
    return false;
}

/* Who else could get a reference gets it from its holder, who is busy here. */
struct clr_column *clr_splice_begin(const struct clr_splice *splice, struct clr_column *old,
                                    const struct clr_column *fresh,
                                    struct clr_dictionary *dictionary)
{
    const size_t capacity = splice->rows + splice->rows / SPARE_PART + LEAST_SPARE;
    const uint8_t code_bytes = old->codes == NULL ? 0 : clr_column_code_bytes(dictionary->count);
    struct clr_frame frame = {.bytes = 0};

    if (old->codes == NULL)
        frame = choose_frame(splice, old, fresh);
    /* Of a column that shrinks much the memory would stay. */
    if (dictionary == old->dictionary && clr_column_is_free(old) && old->capacity >= splice->rows &&
        splice->rows >= old->rows / 2 && old->code_bytes >= code_bytes &&
        clr_frame_is_same(&frame, &old->frame)) {
        old->frame = frame;
        return old;
    }
    return old->codes == NULL ? clr_column_new_framed(capacity, &frame)
                              : clr_column_new_codes(dictionary, capacity, code_bytes);
}

/* Moves the values of a run, as they are kept or anew; the former also within a column. */
static void move_values(const struct clr_row_run *run, const struct clr_column *from,
                        struct clr_column *to)
{
    const size_t width = clr_column_width(to);
    int64_t room[PIECE];
    size_t done, count;

    if (clr_frame_is_same(&from->frame, &to->frame)) {
        memmove((char *)(to->words != NULL ? to->words : to->values) + run->to * width,
                (const char *)(from->words != NULL ? from->words : from->values) +
                    run->from * width,
                run->rows * width);
        return;
    }
    for (done = 0; done < run->rows; done += count) {
        count = run->rows - done < PIECE ? run->rows - done : PIECE;
        clr_column_put_values(to, run->to + done,
                              clr_column_values(from, run->from + done, count, room), count);
    }
}

static void move(const struct clr_row_run *run, const struct clr_column *from, const uint32_t *map,
                 struct clr_column *to, bool with_tags)
{
    if (to->codes != NULL) {
        clr_column_map_codes(to, run->to, from, run->from, run->rows, map);
        return;
    }
    move_values(run, from, to);
    if (!with_tags)
        return;
    if (from->kind == CLR_TAG_MIXED)
        memmove(to->tags + run->to, from->tags + run->from, run->rows);
    else
        memset(to->tags + run->to, from->kind, run->rows);
}

/*
 * In place, rows that go down are moved from the first run on, and then those that go up from the
 * last run on: since runs stay in order, none comes to lie on one that has yet to be moved.
 */
static void move_old(const struct clr_splice *splice, const struct clr_column *old,
                     struct clr_column *result, bool with_tags)
{
    const bool everything = result != old || (with_tags && old->kind != CLR_TAG_MIXED);
    const struct clr_row_run *run;
    size_t i;

    for (i = 0; i < splice->old_count; i++) {
        run = &splice->old[i];
        if (run->to < run->from || (run->to == run->from && everything))
            move(run, old, NULL, result, with_tags);
    }
    for (i = splice->old_count; i-- > 0;) {
        run = &splice->old[i];
        if (run->to > run->from)
            move(run, old, NULL, result, with_tags);
    }
}

/* More new zones than these, and than a part of all, are better made by a scan's threads. */
enum { MOST_ZONES = 64, MOST_ZONES_PART = 8 };

/* Returns the zones of a column's result, of which those stay whose rows are where they were; or
   NULL: a scan makes them. */
static struct clr_zones *renew_zones(const struct clr_splice *splice,
                                     const struct clr_zones *before, struct clr_column *result)
{
    struct clr_zones *zones = before == NULL ? NULL : clr_zones_new(splice->rows);
    size_t left, run = 0, i;

    if (zones == NULL)
        return NULL;
    left = zones->count / MOST_ZONES_PART;
    left = left < MOST_ZONES ? MOST_ZONES : left;
    for (i = 0; i < zones->count; i++) {
        const size_t first = i * CLR_ZONE_ROWS, rest = splice->rows - first;
        const size_t rows = rest < CLR_ZONE_ROWS ? rest : CLR_ZONE_ROWS;
        const struct clr_row_run *old;

        while (run < splice->old_count && splice->old[run].to + splice->old[run].rows <= first)
            run++;
        old = &splice->old[run];
        if (run < splice->old_count && old->to == old->from && old->to <= first &&
            old->to + old->rows >= first + rows) {
            zones->zones[i] = before->zones[i];
        } else if (left-- == 0 || !clr_column_find_zones(result, i, 1, zones)) {
            clr_zones_free(zones);
            return NULL;
        }
    }
    clr_zones_complete(zones);
    return zones;
}

void clr_splice_finish(const struct clr_splice *splice, struct clr_column *old,
                       struct clr_column *fresh, const uint32_t *map, struct clr_column *result)
{
    struct clr_zones *const before = atomic_load(&old->zones);
    uint8_t kind = CLR_TAG_MIXED;
    bool with_tags;
    size_t i;

    /* The kind of no rows means nothing. */
    if (splice->fresh_count == 0 || (splice->old_count > 0 && old->kind == fresh->kind))
        kind = old->kind;
    else if (splice->old_count == 0)
        kind = fresh->kind;
    with_tags = kind == CLR_TAG_MIXED;
    move_old(splice, old, result, with_tags);
    for (i = 0; i < splice->fresh_count; i++)
        move(&splice->fresh[i], fresh, map, result, with_tags);
    if (result != old) {
        clr_bytes_append(&result->bytes, &old->bytes);
        result->bytes_read = old->bytes_read;
        result->entries_read = old->entries_read;
    }
    clr_bytes_append(&result->bytes, &fresh->bytes);
    result->with_bytes = old->with_bytes && fresh->with_bytes;
    result->kind = kind;
    result->rows = splice->rows;
    atomic_store(&result->zones, renew_zones(splice, before, result));
    atomic_store(&result->wants_zones, atomic_load(&old->wants_zones));
    if (result == old)
        clr_zones_free(before);
}
