#include "storage/refresh/spliced_columns.h"

#include "base/memory.h"
#include "numeric/filter/filter_terms.h"
#include "numeric/scan/evaluate.h"

#include <string.h>

/* ---- Rows that stay, and rows that come. */

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
    const bool tagged = old->kind != fresh->kind || old->kind == CLR_TAG_MIXED;
    int64_t room[PIECE];
    size_t done, count, i;

    for (i = 0; i < run->rows && (old->codes != NULL || tagged); i++) {
        const size_t to = run->to + i, from = run->from + i;

        if (old->codes != NULL ? clr_column_code(old, to) != map[clr_column_code(fresh, from)]
                               : tag_of(old, to) != tag_of(fresh, from))
            return false;
    }
    for (done = 0; done < run->rows && old->codes == NULL; done += count) {
        count = run->rows - done < PIECE ? run->rows - done : PIECE;
        if (memcmp(clr_column_values(old, run->to + done, count, room),
                   fresh->values + run->from + done, count * sizeof *room) != 0)
            return false;
    }
    return true;
}

/*
 * Whether the result differs from the old column, whose rows are as many as the old layout's. It
 * may be told to where it does not, of values that are addresses. map: as for splice_finish().
 */
static bool splice_changes(const struct clr_splice *splice, const struct clr_column *old,
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
static struct clr_column *splice_begin(const struct clr_splice *splice, struct clr_column *old,
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

/* The zones of a column's result, some of which are made anew. */
struct renewal {
    struct clr_column *result;
    struct clr_zones *zones;
    size_t next; /* the zones before that one are as they are to be */
    size_t left; /* so many more are made here */
};

/* Makes the zones of rows anew, to before which the others are as they are to be. Returns false if
   they are too many, or without memory. */
static bool renew_rows(struct renewal *renewal, size_t from, size_t to)
{
    const size_t first = from / CLR_ZONE_ROWS, end = clr_zones_of(to);
    const size_t next = first < renewal->next ? renewal->next : first;

    if (from >= to || next >= end)
        return true;
    if (end - next > renewal->left ||
        !clr_column_find_zones(renewal->result, next, end - next, renewal->zones))
        return false;
    clr_zones_join(renewal->zones, next, end - next);
    renewal->left -= end - next;
    renewal->next = end;
    return true;
}

/* The same of all rows that are in no run that is where it was, and of the last block if it has
   other rows than before. */
static bool renew_others(struct renewal *renewal, const struct clr_splice *splice, size_t before)
{
    size_t from = 0, i;

    for (i = 0; i < splice->old_count; i++) {
        const struct clr_row_run *run = &splice->old[i];

        if (run->from != run->to)
            continue;
        if (!renew_rows(renewal, from, run->to))
            return false;
        from = run->to + run->rows;
    }
    if (splice->rows < before && from == splice->rows && from > 0)
        from--;
    return renew_rows(renewal, from, splice->rows);
}

/* Returns zones for the result with those that there were: these themselves, if they were changed
   in place and are as many; or NULL without memory. */
static struct clr_zones *take_zones(const struct clr_splice *splice, struct clr_column *old,
                                    struct clr_column *result)
{
    struct clr_zones *const before = atomic_load(&old->zones);
    struct clr_zones *zones = before;
    size_t count;

    if (before == NULL)
        return NULL;
    if (result == old && clr_zones_of(splice->rows) == before->count) {
        atomic_store(&old->zones, NULL);
        zones->rows = splice->rows;
        return zones;
    }
    zones = clr_zones_new(result, splice->rows);
    if (zones == NULL)
        return NULL;
    count = zones->count < before->count ? zones->count : before->count;
    memcpy(zones->zones, before->zones, count * sizeof *zones->zones);
    if (zones->sums != NULL)
        memcpy(zones->sums, before->sums, count * sizeof *zones->sums);
    clr_zones_join(zones, 0, count);
    return zones;
}

/*
 * Gives a column's result its zones, of which those stay whose rows are where they were; or none: a
 * scan makes them. Where a column of many rows is changed in place nothing is done for the others,
 * as nobody else has the zones.
 */
static void renew_zones(const struct clr_splice *splice, struct clr_column *old,
                        struct clr_column *result)
{
    struct clr_zones *const before = atomic_load(&old->zones);
    const size_t rows = before == NULL ? 0 : before->rows;
    struct renewal renewal = {.result = result, .zones = take_zones(splice, old, result)};

    if (result == old)
        clr_memory_free(atomic_exchange(&old->zones, NULL));
    if (renewal.zones == NULL)
        return;
    renewal.left = renewal.zones->count / MOST_ZONES_PART;
    renewal.left = renewal.left < MOST_ZONES ? MOST_ZONES : renewal.left;
    if (renew_others(&renewal, splice, rows)) {
        clr_zones_complete(renewal.zones);
        atomic_store(&result->zones, renewal.zones);
    } else {
        clr_memory_free(renewal.zones);
    }
}

/* Returns how many of the first rows are where they were. */
static size_t count_same(const struct clr_splice *splice)
{
    size_t same = 0, i;

    for (i = 0; i < splice->old_count && splice->old[i].from == same && splice->old[i].to == same;
         i++)
        same += splice->old[i].rows;
    return same;
}

/* Puts the rows of both columns into the result, whichever it is, and moves their bytes there: also
   those of old rows that are left out. map: of columns of codes, the code in the old one's
   dictionary of each entry of the fresh one's; else NULL. */
static void splice_finish(const struct clr_splice *splice, struct clr_column *old,
                          struct clr_column *fresh, const uint32_t *map, struct clr_column *result)
{
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
    clr_column_renew_version(result, old->version, count_same(splice));
    renew_zones(splice, old, result);
}

/* ---- Columns: what becomes of each, with the rows of the leaves that were read. */

/*
 * The bytes of TEXT and BLOBs that are no more stay with the column; if those that were read since
 * it was loaded take as much as those that were there then, and this much more, it is time for a
 * new column.
 */
enum { SPARE_BYTES = 1 << 20 };

/* So it is with the entries of a dictionary: none goes when its rows do. */
enum { SPARE_ENTRIES = CLR_DICTIONARY_FEW };

struct making {
    const struct clr_splice *splice;
    struct clr_column *const *fresh; /* one for each column */
    int count;
    struct clr_column **results;          /* likewise */
    uint32_t **maps;                      /* the same, of columns of codes: see splice_finish() */
    struct clr_dictionary **dictionaries; /* theirs, with references */
};

static bool prepare_column(struct making *making)
{
    const size_t count = (size_t)making->count + 1; /* never none */

    making->results = clr_memory_alloc_zero(count * sizeof(struct clr_column *));
    making->maps = clr_memory_alloc_zero(count * sizeof(uint32_t *));
    making->dictionaries = clr_memory_alloc_zero(count * sizeof(struct clr_dictionary *));
    return making->results != NULL && making->maps != NULL && making->dictionaries != NULL;
}

/* Returns another dictionary of the same values and codes, which may grow by itself, with one
   reference, or NULL without memory. */
static struct clr_dictionary *clone_dictionary(const struct clr_dictionary *dictionary)
{
    struct clr_dictionary *clone = clr_dictionary_new(dictionary->seed, NULL);
    uint32_t *map = clr_memory_alloc(((size_t)dictionary->count + 1) * sizeof *map);

    /* Values that are added in the order of their codes have the same codes. */
    if (clone != NULL &&
        (map == NULL ||
         clr_dictionary_add_all(clone, dictionary->entries, dictionary->count, map) != CLR_OK)) {
        clr_dictionary_release(clone);
        clone = NULL;
    }
    clr_memory_free(map);
    return clone;
}

/* Returns the dictionary that a column's result is to have, with a reference: another one, if those
   who refer to the column may be reading its own. NULL without memory. */
static struct clr_dictionary *take_dictionary(const struct clr_column *column)
{
    return clr_column_is_free(column) ? clr_dictionary_retain(column->dictionary)
                                      : clone_dictionary(column->dictionary);
}

/* Adds the fresh entries to the columns' dictionaries, where those that no row has do no harm.
   Returns CLR_OK, CLR_NOMEM or CLR_LIMIT. */
static enum clr_code merge_dictionaries(struct making *making, struct clr_column *const *columns)
{
    enum clr_code code = CLR_OK;
    int i;

    for (i = 0; i < making->count && code == CLR_OK; i++) {
        const struct clr_dictionary *dictionary = making->fresh[i]->dictionary;

        if (dictionary == NULL)
            continue;
        making->maps[i] =
            clr_memory_alloc(((size_t)dictionary->count + 1) * sizeof *making->maps[i]);
        if (making->maps[i] != NULL)
            making->maps[i][0] = 0; /* of a code without an entry */
        making->dictionaries[i] = take_dictionary(columns[i]);
        code = making->maps[i] == NULL || making->dictionaries[i] == NULL
                   ? CLR_NOMEM
                   : clr_dictionary_add_all(making->dictionaries[i], dictionary->entries,
                                            dictionary->count, making->maps[i]);
    }
    return code;
}

/* Whether a dictionary has grown so much that it is time for a new one. */
static bool has_outgrown(const struct clr_column *column, const struct clr_dictionary *dictionary)
{
    const uint32_t more = dictionary->count - column->entries_read;

    return more > column->entries_read && more > SPARE_ENTRIES;
}

/* Whether the columns, with what is fresh, leave too little room. */
static bool is_too_large(const struct making *making, const struct clr_layout *layout,
                         struct clr_column *const *columns)
{
    size_t size = making->splice->rows * layout->row_bytes;
    int i;

    if (layout->most_rows > 0 && making->splice->rows > layout->most_rows)
        return true;
    for (i = 0; i < making->count; i++) {
        const struct clr_column *column = columns[i];
        size_t bytes = column->bytes.size + making->fresh[i]->bytes.size;

        if (bytes > 2 * column->bytes_read + SPARE_BYTES)
            return true;
        size += bytes;
        if (making->dictionaries[i] == NULL)
            continue;
        if (has_outgrown(column, making->dictionaries[i]))
            return true;
        size += clr_dictionary_size(making->dictionaries[i]);
    }
    return layout->most_bytes > 0 && size > layout->most_bytes;
}

/* Makes the columns' results, which can fail, and then fills them, which can't. A column whose
   values are those that it had stays with whatever has been made of it. */
static bool splice_columns(struct making *making, struct clr_column **columns, bool *changed)
{
    int i;

    for (i = 0; i < making->count; i++) {
        changed[i] = splice_changes(making->splice, columns[i], making->fresh[i], making->maps[i]);
        making->results[i] = changed[i] ? splice_begin(making->splice, columns[i], making->fresh[i],
                                                       making->dictionaries[i])
                                        : columns[i];
        if (making->results[i] != NULL)
            continue;
        while (i-- > 0) {
            if (making->results[i] != columns[i])
                clr_column_release(making->results[i]);
        }
        return false;
    }
    for (i = 0; i < making->count; i++) {
        if (!changed[i])
            continue;
        splice_finish(making->splice, columns[i], making->fresh[i], making->maps[i],
                      making->results[i]);
        if (making->results[i] != columns[i])
            clr_column_release(columns[i]);
        columns[i] = making->results[i];
    }
    return true;
}

static void making_free(struct making *making)
{
    int i;

    for (i = 0; i < making->count && making->maps != NULL; i++)
        clr_memory_free(making->maps[i]);
    for (i = 0; i < making->count && making->dictionaries != NULL; i++)
        clr_dictionary_release(making->dictionaries[i]);
    clr_memory_free((void *)making->maps);
    clr_memory_free((void *)making->dictionaries);
    clr_memory_free((void *)making->results);
}

enum clr_load_outcome clr_columns_splice(const struct clr_splice *splice,
                                         const struct clr_layout *layout, struct clr_pages *pages,
                                         struct clr_column *const *fresh, int count,
                                         struct clr_column **columns, bool *changed)
{
    struct making making = {.splice = splice, .fresh = fresh, .count = count};
    enum clr_code code = prepare_column(&making) ? merge_dictionaries(&making, columns) : CLR_NOMEM;

    if (code == CLR_OK && is_too_large(&making, layout, columns))
        code = CLR_LIMIT;
    if (code == CLR_OK && !splice_columns(&making, columns, changed))
        code = CLR_NOMEM;
    making_free(&making);
    if (code == CLR_NOMEM)
        return clr_pages_no_memory(pages);
    return code == CLR_OK ? CLR_LOAD_DONE : CLR_LOAD_TOO_LARGE;
}
