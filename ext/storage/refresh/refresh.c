#include "storage/refresh/refresh.h"

#include "base/memory.h"
#include "numeric/filter/skipping.h"
#include "numeric/values/column.h"
#include "storage/format/page_set.h"
#include "storage/leaves/layout.h"
#include "storage/leaves/units.h"
#include "storage/snapshot/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Splices. */

/*
 * Gives rows of a column other places, and puts others between them: what is left of a table's
 * columns after some of its pages have changed. A column that nobody else refers to is changed in
 * place.
 */

/* A run of rows, from row `from` on, that belongs at row `to` of the new column. */
struct row_run {
    size_t from, to, rows;
};

/*
 * The new column's rows: each is in one run. Runs of old rows ascend, by from and by to; what is in
 * none is left out. So do runs of fresh rows, by to.
 */
struct splice {
    size_t rows;
    struct row_run *old, *fresh;
    size_t old_count, fresh_count;
};

enum { SPARE_PART = 4, LEAST_SPARE = 4096, PIECE = 1024 };

/* Returns how the result's values are kept: as they were, if what is fresh fits, else in as few
   bytes as hold all, where they were narrow before. */
static struct clr_frame choose_frame(const struct splice *splice, const struct clr_column *old,
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
static bool are_same(const struct row_run *run, const struct clr_column *old,
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

/*
 * Whether the result differs from the old column, whose rows are as many as the old layout's. It
 * may be told to where it does not, of values that are addresses. map: as for splice_finish().
 */
static bool splice_changes(const struct splice *splice, const struct clr_column *old,
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
static struct clr_column *splice_begin(const struct splice *splice, struct clr_column *old,
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
static void move_values(const struct row_run *run, const struct clr_column *from,
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

static void move(const struct row_run *run, const struct clr_column *from, const uint32_t *map,
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
static void move_old(const struct splice *splice, const struct clr_column *old,
                     struct clr_column *result, bool with_tags)
{
    const bool everything = result != old || (with_tags && old->kind != CLR_TAG_MIXED);
    const struct row_run *run;
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
static struct clr_zones *renew_zones(const struct splice *splice, const struct clr_zones *before,
                                     struct clr_column *result)
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
        const struct row_run *old;

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

/* Puts the rows of both columns into the result, whichever it is, and moves their bytes there: also
   those of old rows that are left out. map: of columns of codes, the code in the old one's
   dictionary of each entry of the fresh one's; else NULL. */
static void splice_finish(const struct splice *splice, struct clr_column *old,
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
    if (result == old)
        clr_zones_free(before);
}

/* ---- Fresh leaves. */

/*
 * A few leaves of a table, decoded one by one into columns of their own: those that a refresh finds
 * to be changed.
 */

struct few_leaves {
    int count;
    struct clr_column **columns; /* one for each field, at its position; those of SQLite follow */
    int decoded;                 /* so many are decoded */
    atomic_int_least64_t left;   /* bytes that TEXT, BLOBs and dictionaries may still take */
    size_t leaf_count;
    struct clr_leaf *leaves;
    size_t *at; /* where their rows begin */
    struct clr_leaf_reader reader;
};

/* Returns a column for codes of a dictionary of its own, or NULL. */
static struct clr_column *new_codes(struct few_leaves *few, size_t rows, uint64_t seed)
{
    struct clr_dictionary *dictionary = clr_dictionary_new(seed, &few->left);
    struct clr_column *column =
        dictionary == NULL ? NULL : clr_column_new_codes(dictionary, rows, sizeof(uint32_t));

    clr_dictionary_release(dictionary);
    return column;
}

static bool make_columns(struct few_leaves *few, size_t rows, uint64_t seed)
{
    const struct clr_field *fields = few->reader.decoder.fields;
    size_t size = ((size_t)few->count + 1) * sizeof(struct clr_column *);
    int i;

    few->columns = clr_memory_alloc(size);
    if (few->columns == NULL)
        return false;
    memset((void *)few->columns, 0, size);
    for (i = 0; i < few->decoded; i++) {
        struct clr_column *column =
            fields[i].with_codes ? new_codes(few, rows, seed) : clr_column_new(rows);

        if (column == NULL)
            return false;
        column->bytes.left = &few->left;
        few->columns[fields[i].position] = column;
    }
    few->reader.decoder.passing.left = &few->left;
    clr_decoder_begin_columns(&few->reader.decoder, few->columns);
    return true;
}

/*
 * Begins with columns for the fields, of which there are so many, and room for so many leaves, of
 * pages that are read by way of pages; fields and pages are as for clr_leaf_reader_init(). count
 * columns are wanted in all: few_leaves_end() makes the others. The bytes of TEXT and BLOBs, and
 * the dictionaries of the columns with codes, whose seed is given, may take most_bytes, 0: any.
 * Returns CLR_LOAD_DONE or CLR_LOAD_FAILED. Free in any case; it may be zeros then, and stays where
 * it is.
 */
static enum clr_load_outcome few_leaves_init(struct few_leaves *few, struct clr_pages *pages,
                                             const struct clr_field *fields, int decoded, int count,
                                             size_t room, size_t most_bytes, uint64_t seed)
{
    *few = (struct few_leaves){.count = count, .decoded = decoded};
    atomic_init(&few->left,
                most_bytes == 0 || most_bytes > INT64_MAX ? INT64_MAX : (int64_t)most_bytes);
    few->leaves = clr_memory_alloc(room * sizeof *few->leaves);
    few->at = clr_memory_alloc(room * sizeof *few->at);
    if (few->leaves == NULL || few->at == NULL ||
        clr_leaf_reader_init(&few->reader, pages, fields, decoded, 1) != CLR_LOAD_DONE)
        return clr_pages_no_memory(pages);
    /* What no row touches costs addresses only. */
    return make_columns(few, room * clr_page_most_cells(pages->source), seed)
               ? CLR_LOAD_DONE
               : clr_pages_no_memory(pages);
}

static void few_leaves_free(struct few_leaves *few)
{
    int i;

    for (i = 0; i < few->count && few->columns != NULL; i++)
        clr_column_release(few->columns[i]);
    clr_memory_free((void *)few->columns);
    clr_leaf_reader_free(&few->reader);
    clr_memory_free(few->leaves);
    clr_memory_free(few->at);
}

/* Decodes a leaf, in whatever order; only if it is the table's only one it may be empty. There is
   room for it. (If its first row has the least rowid of all that is taken for an error.) */
static enum clr_load_outcome few_leaves_add(struct few_leaves *few, uint32_t number, bool is_only)
{
    struct clr_leaf_reader *reader = &few->reader;
    enum clr_load_outcome outcome;
    size_t rows;

    outcome = clr_leaf_reader_read(reader, &number, 1, is_only, &rows);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    few->at[few->leaf_count] = reader->decoder.rows;
    clr_order_init(&reader->decoder.order);
    outcome = clr_leaf_reader_decode(reader);
    few->leaves[few->leaf_count++] = reader->leaves[0];
    return outcome;
}

/* Returns a column of so many rows, of values that the old column has, or, of codes, none. */
static struct clr_column *new_stand_in(struct few_leaves *few, const struct clr_column *old,
                                       size_t rows, uint64_t seed)
{
    struct clr_column *column =
        old->codes != NULL ? new_codes(few, rows, seed) : clr_column_new(rows);
    size_t i;

    if (column == NULL)
        return NULL;
    column->rows = rows;
    if (old->codes != NULL) {
        memset(column->codes, 0, rows * sizeof(uint32_t));
        return column;
    }
    column->kind = old->rows == 0 ? CLR_TAG_NULL : tag_of(old, 0);
    for (i = 0; i < rows; i++)
        column->values[i] = old->rows == 0 ? 0 : clr_column_value(old, 0);
    return column;
}

/* Completes the columns, which stay here, and makes those that are not decoded, with anything that
   those of the table may have for values. Returns false without memory. */
static bool few_leaves_end(struct few_leaves *few, struct clr_column *const *columns, uint64_t seed)
{
    int i;

    clr_decoder_end_columns(&few->reader.decoder, few->columns);
    for (i = few->decoded; i < few->count; i++) {
        few->columns[i] = new_stand_in(few, columns[i], few->reader.decoder.rows, seed);
        if (few->columns[i] == NULL)
            return false;
    }
    return true;
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
    const struct splice *splice;
    const struct few_leaves *fresh;
    struct clr_column **results;          /* one for each column */
    uint32_t **maps;                      /* the same, of columns of codes: see splice_finish() */
    struct clr_dictionary **dictionaries; /* theirs, with references */
};

static bool prepare_column(struct making *making)
{
    const size_t count = (size_t)making->fresh->count + 1; /* never none */

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
    if (clone != NULL && (map == NULL || clr_dictionary_merge(clone, dictionary, map) != CLR_OK)) {
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
    const struct few_leaves *fresh = making->fresh;
    enum clr_code code = CLR_OK;
    int i;

    for (i = 0; i < fresh->count && code == CLR_OK; i++) {
        const struct clr_dictionary *dictionary = fresh->columns[i]->dictionary;

        if (dictionary == NULL)
            continue;
        making->maps[i] =
            clr_memory_alloc(((size_t)dictionary->count + 1) * sizeof *making->maps[i]);
        if (making->maps[i] != NULL)
            making->maps[i][0] = 0; /* of a code without an entry */
        making->dictionaries[i] = take_dictionary(columns[i]);
        code = making->maps[i] == NULL || making->dictionaries[i] == NULL
                   ? CLR_NOMEM
                   : clr_dictionary_merge(making->dictionaries[i], dictionary, making->maps[i]);
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
    for (i = 0; i < making->fresh->count; i++) {
        const struct clr_column *column = columns[i];
        size_t bytes = column->bytes.size + making->fresh->columns[i]->bytes.size;

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
    const struct few_leaves *fresh = making->fresh;
    int i;

    for (i = 0; i < fresh->count; i++) {
        changed[i] = splice_changes(making->splice, columns[i], fresh->columns[i], making->maps[i]);
        making->results[i] = changed[i] ? splice_begin(making->splice, columns[i],
                                                       fresh->columns[i], making->dictionaries[i])
                                        : columns[i];
        if (making->results[i] != NULL)
            continue;
        while (i-- > 0) {
            if (making->results[i] != columns[i])
                clr_column_release(making->results[i]);
        }
        return false;
    }
    for (i = 0; i < fresh->count; i++) {
        if (!changed[i])
            continue;
        splice_finish(making->splice, columns[i], fresh->columns[i], making->maps[i],
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

    for (i = 0; i < making->fresh->count && making->maps != NULL; i++)
        clr_memory_free(making->maps[i]);
    for (i = 0; i < making->fresh->count && making->dictionaries != NULL; i++)
        clr_dictionary_release(making->dictionaries[i]);
    clr_memory_free((void *)making->maps);
    clr_memory_free((void *)making->dictionaries);
    clr_memory_free((void *)making->results);
}

/*
 * Gives the columns, as many as fresh has, the rows of the splice: those of theirs that stay, and
 * those of the fresh columns, whose bytes are moved. layout is the old one, with the limits of rows
 * and of memory. Stores in changed[i] whether a column's content is another one: it may then have
 * been changed in place, or be replaced, and its reference dropped.
 *
 * Returns CLR_LOAD_DONE, and else leaves the columns' rows as they are: what clr_pages_no_memory()
 * does of pages; or CLR_LOAD_TOO_LARGE if there would be too many rows, too much memory, or so much
 * that no row has any more that the table had better be loaded anew.
 */
static enum clr_load_outcome refreshed_columns_make(const struct splice *splice,
                                                    const struct clr_layout *layout,
                                                    struct clr_pages *pages,
                                                    const struct few_leaves *fresh,
                                                    struct clr_column **columns, bool *changed)
{
    struct making making = {.splice = splice, .fresh = fresh};
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

/* ---- Leaves. */

/*
 * A leaf is kept if the columns have its rows, its page has not changed, and neither has any
 * overflow page that was read for this table, unless its values came from the leaf alone. Then a
 * load would find in it just what it found before. Its rowids are known, so that those of all
 * leaves can be compared.
 *
 * More leaves than these, and than a part of all, are better loaded by several threads.
 */
enum { MOST_LEAVES = 64, MOST_PART = 8 };

struct numbers {
    uint32_t *list;
    size_t count, room;
};

struct refresh {
    const struct clr_source *source;
    const struct clr_page_set *changes;
    struct clr_layout *layout;
    struct clr_pages pages;
    struct clr_tree tree;        /* the table's now */
    bool is_renewed;             /* the tree shares branches with the layout's */
    struct clr_page_set *leaves; /* its pages that have rows */
    struct clr_page_set *inner;  /* of an index: its interior pages */
    size_t leaf_count;
    struct numbers gone;      /* places of leaves that are no more */
    struct numbers added;     /* pages that were no leaves */
    struct numbers changed;   /* pages that are to be decoded: these and changed ones, ascending */
    struct clr_field *fields; /* as clr_record_fields() has them */
    struct few_leaves fresh;  /* the leaves of those pages */
    struct clr_leaf_change *fates; /* of leaves that are not kept, ascending by their places */
    size_t fate_count;
    bool keeps_chains; /* no overflow page that was read has changed */
    struct clr_page_set *unvalued;
    struct splice splice;
    bool has_moved;
};

/* Allocates an array, never of no elements. */
static void *new_array(size_t count, size_t size)
{
    return clr_memory_alloc((count + 1) * size);
}

static bool add_number(struct numbers *numbers, uint32_t number)
{
    if (numbers->count == numbers->room) {
        const size_t room = 2 * numbers->room + MOST_LEAVES;
        uint32_t *list = clr_memory_realloc(numbers->list, room * sizeof *list);

        if (list == NULL)
            return false;
        numbers->list = list;
        numbers->room = room;
    }
    numbers->list[numbers->count++] = number;
    return true;
}

/* Takes note of a page that was a leaf: whether it is none any more. */
static bool note_before(struct refresh *refresh, uint32_t page)
{
    return clr_page_set_has(refresh->leaves, page) ||
           add_number(&refresh->gone, (uint32_t)clr_layout_find(refresh->layout, page) - 1);
}

/* Takes note of a page that is a leaf: whether it was none. */
static bool note_now(struct refresh *refresh, uint32_t page)
{
    return clr_layout_find(refresh->layout, page) > 0 || add_number(&refresh->added, page);
}

/* Walks through all interior pages. */
static enum clr_load_outcome walk_anew(struct refresh *refresh, uint32_t root)
{
    const struct clr_layout *layout = refresh->layout;
    struct clr_pages *pages = &refresh->pages;
    struct clr_page_list list;
    enum clr_load_outcome outcome = clr_tree_leaves(pages, root, &list);
    bool done = outcome == CLR_LOAD_DONE;
    size_t i;

    refresh->leaves = done ? clr_page_set_new(refresh->source->page_count) : NULL;
    done = refresh->leaves != NULL && clr_tree_make(&refresh->tree, &list, pages->visited);
    for (i = 0; i < list.count && done; i++)
        done = clr_page_set_add(refresh->leaves, list.numbers[i]) &&
               note_now(refresh, list.numbers[i]);
    for (i = 0; i < layout->leaf_count && done; i++)
        done = note_before(refresh, layout->leaves[i].number);
    clr_page_list_free(&list);
    return done || outcome != CLR_LOAD_DONE ? outcome : clr_pages_no_memory(pages);
}

/* Reads the branches that have changed. */
static enum clr_load_outcome renew_branches(struct refresh *refresh)
{
    const struct clr_tree *before = &refresh->layout->tree, *now = &refresh->tree;
    struct clr_pages *pages = &refresh->pages;
    enum clr_load_outcome outcome = clr_tree_renew(pages, before, refresh->changes, &refresh->tree);
    bool done;
    size_t i;
    uint32_t k;

    if (outcome != CLR_LOAD_DONE)
        return outcome;
    refresh->is_renewed = true;
    /* No interior page has a place among the leaves of a table. */
    refresh->leaves = clr_page_set_copy(now->pages);
    done = refresh->leaves != NULL;
    for (i = 0; i < now->branch_count && done; i++) {
        const struct clr_branch *old = before->branches[i], *branch = now->branches[i];

        for (k = 0; branch != old && k < old->leaf_count && done; k++)
            done = note_before(refresh, old->leaves[k]);
        for (k = 0; branch != old && k < branch->leaf_count && done; k++)
            done = note_now(refresh, branch->leaves[k]);
    }
    return done ? CLR_LOAD_DONE : clr_pages_no_memory(pages);
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

    return (first > second) - (first < second);
}

/* Whether the layout's leaf, which is still one, can't be kept. */
static bool has_changed(const struct refresh *refresh, const struct clr_leaf *leaf)
{
    return clr_page_set_has(refresh->leaves, leaf->number) &&
           (clr_page_set_has(refresh->changes, leaf->number) ||
            (leaf->is_chained && !refresh->keeps_chains));
}

/* Lists the pages that are to be decoded. */
static bool find_changed(struct refresh *refresh)
{
    const struct clr_layout *layout = refresh->layout;
    struct numbers *changed = &refresh->changed;
    bool done = true;
    uint32_t page;
    size_t i;

    for (i = 0; i < refresh->added.count && done; i++)
        done = add_number(changed, refresh->added.list[i]);
    if (refresh->keeps_chains) {
        for (page = 0; (page = clr_page_set_next(refresh->changes, page)) != 0 && done;) {
            const size_t place = clr_layout_find(layout, page);

            if (place > 0 && has_changed(refresh, &layout->leaves[place - 1]))
                done = add_number(changed, page);
        }
    } else {
        for (i = 0; i < layout->leaf_count && done; i++) {
            if (has_changed(refresh, &layout->leaves[i]))
                done = add_number(changed, layout->leaves[i].number);
        }
    }
    if (done && changed->count > 1)
        qsort(changed->list, changed->count, sizeof *changed->list, compare_numbers);
    return done;
}

/* Decodes the leaves that can't be kept. */
static enum clr_load_outcome decode(struct refresh *refresh, const struct clr_field *fields,
                                    int count, struct clr_column *const *columns)
{
    const struct clr_layout *layout = refresh->layout;
    const struct numbers *changed = &refresh->changed;
    struct few_leaves *fresh = &refresh->fresh;
    enum clr_load_outcome outcome;
    int decoded = 0;
    size_t i;

    if (changed->count > MOST_LEAVES && changed->count > refresh->leaf_count / MOST_PART)
        return CLR_LOAD_TOO_LARGE;
    while (decoded < count && !clr_field_is_evaluated(&fields[decoded]))
        decoded++;
    refresh->fields = clr_record_fields(fields, decoded);
    if (refresh->fields == NULL)
        return clr_pages_no_memory(&refresh->pages);
    outcome = few_leaves_init(fresh, &refresh->pages, refresh->fields, decoded, count,
                              changed->count + 1, layout->most_bytes, layout->seed);
    for (i = 0; i < changed->count && outcome == CLR_LOAD_DONE; i++)
        outcome = few_leaves_add(fresh, changed->list[i], refresh->leaf_count == 1);
    if (outcome == CLR_LOAD_DONE && !few_leaves_end(fresh, columns, layout->seed))
        outcome = clr_pages_no_memory(&refresh->pages);
    return outcome;
}

/* ---- Whether rowids ascend from leaf to leaf. */

/* Returns the table's leaf that a page is now. */
static const struct clr_leaf *find_leaf(const struct refresh *refresh, uint32_t page)
{
    const struct numbers *changed = &refresh->changed;
    const uint32_t *found = NULL;

    if (changed->count > 0)
        found =
            bsearch(&page, changed->list, changed->count, sizeof *changed->list, compare_numbers);
    return found != NULL ? &refresh->fresh.leaves[found - changed->list]
                         : &refresh->layout->leaves[clr_layout_find(refresh->layout, page) - 1];
}

static bool follows(const struct clr_leaf *leaf, const struct clr_leaf *before)
{
    return before == NULL || leaf->first > before->last;
}

static const struct clr_leaf *last_leaf(const struct refresh *refresh, size_t branch)
{
    const struct clr_branch *last = refresh->tree.branches[branch];

    return find_leaf(refresh, last->leaves[last->leaf_count - 1]);
}

/* Whether a branch is one that the table had before, with the same leaves. */
static bool is_shared(const struct refresh *refresh, size_t branch)
{
    return refresh->is_renewed &&
           refresh->tree.branches[branch] == refresh->layout->tree.branches[branch];
}

/* Checks the leaves of branches that have other ones than before, and those beside them. */
static enum clr_load_outcome check_branches(struct refresh *refresh)
{
    const struct clr_tree *tree = &refresh->tree;
    const struct clr_leaf *before = NULL, *leaf;
    size_t i;
    uint32_t k;

    for (i = 0; i < tree->branch_count; i++) {
        const struct clr_branch *branch = tree->branches[i];
        const bool shared = is_shared(refresh, i);

        if (shared && before == NULL)
            continue;
        if (before == NULL && i > 0)
            before = last_leaf(refresh, i - 1);
        for (k = 0; k < (shared ? 1 : branch->leaf_count); k++) {
            leaf = find_leaf(refresh, branch->leaves[k]);
            if (!follows(leaf, before))
                return clr_page_malformed(&refresh->pages, leaf->number);
            before = leaf;
        }
        if (shared)
            before = NULL;
    }
    return CLR_LOAD_DONE;
}

/* Checks a leaf that has changed, of a branch that has not. */
static enum clr_load_outcome check_leaf(struct refresh *refresh, const struct clr_leaf *leaf,
                                        size_t i)
{
    const struct clr_tree *tree = &refresh->tree;
    const struct clr_branch *branch = tree->branches[i];
    const struct clr_leaf *before = NULL, *after = NULL;
    uint32_t k = 0;

    while (branch->leaves[k] != leaf->number)
        k++;
    if (k > 0)
        before = find_leaf(refresh, branch->leaves[k - 1]);
    else if (i > 0)
        before = last_leaf(refresh, i - 1);
    if (k + 1 < branch->leaf_count)
        after = find_leaf(refresh, branch->leaves[k + 1]);
    else if (i + 1 < tree->branch_count)
        after = find_leaf(refresh, tree->branches[i + 1]->leaves[0]);
    return follows(leaf, before) && (after == NULL || follows(after, leaf))
               ? CLR_LOAD_DONE
               : clr_page_malformed(&refresh->pages, leaf->number);
}

/* Checks all leaves that have changed, or come beside other ones: if there are several leaves none
   is empty. */
static enum clr_load_outcome check_order(struct refresh *refresh)
{
    const struct clr_layout *layout = refresh->layout;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;

    if (refresh->source->is_index || refresh->leaf_count == 1)
        return CLR_LOAD_DONE;
    outcome = check_branches(refresh);
    for (i = 0; i < refresh->fresh.leaf_count && outcome == CLR_LOAD_DONE; i++) {
        const struct clr_leaf *leaf = &refresh->fresh.leaves[i];
        const size_t place = clr_layout_find(layout, leaf->number);
        const size_t branch = place == 0 ? 0 : layout->leaves[place - 1].branch;

        if (place > 0 && refresh->is_renewed && is_shared(refresh, branch))
            outcome = check_leaf(refresh, leaf, branch);
    }
    return outcome;
}

/* ---- Rows whose expressions have to be evaluated again. */

/* Whether pages have changed that are none of the tree's, and may be overflow pages. */
static bool has_other_changes(const struct refresh *refresh)
{
    uint32_t page = 1; /* which is none */

    do
        page = clr_page_set_next(refresh->changes, page);
    while (page != 0 && clr_page_set_has(refresh->tree.pages, page));
    return page != 0;
}

/* Finds the leaves whose rows may be other ones in whatever column: those that are decoded, and, as
   a page may be one of their overflow pages, those that have some. */
static enum clr_load_outcome find_unvalued(struct refresh *refresh)
{
    const struct clr_layout *layout = refresh->layout;
    const bool looks = layout->divided_count > 0 && has_other_changes(refresh);
    struct clr_page_set *set = clr_page_set_new(refresh->source->page_count);
    bool done = set != NULL;
    size_t i;

    refresh->unvalued = set;
    for (i = 0; i < refresh->changed.count && done; i++)
        done = clr_page_set_add(set, refresh->changed.list[i]);
    for (i = 0; i < layout->leaf_count && looks && done; i++) {
        const struct clr_leaf *leaf = &layout->leaves[i];

        if (leaf->is_divided && clr_page_set_has(refresh->leaves, leaf->number))
            done = clr_page_set_add(set, leaf->number);
    }
    return done ? CLR_LOAD_DONE : clr_pages_no_memory(&refresh->pages);
}

/* ---- Where the rows go. */

/* Leaves that were none before come last, in the order of their rowids. */
static int compare_fates(const void *a, const void *b)
{
    const struct clr_leaf_change *first = a, *second = b;

    if (first->place != second->place)
        return first->place < second->place ? -1 : 1;
    if (first->now->first != second->now->first)
        return first->now->first < second->now->first ? -1 : 1;
    return compare_numbers(&first->now->number, &second->now->number);
}

/* Says what becomes of leaves that are not kept. */
static bool find_fates(struct refresh *refresh)
{
    const struct numbers *gone = &refresh->gone;
    const struct few_leaves *fresh = &refresh->fresh;
    struct clr_leaf_change *fates = new_array(gone->count + fresh->leaf_count, sizeof *fates);
    size_t count = 0, i;

    refresh->fates = fates;
    if (fates == NULL)
        return false;
    for (i = 0; i < gone->count; i++)
        fates[count++] = (struct clr_leaf_change){.place = gone->list[i]};
    for (i = 0; i < fresh->leaf_count; i++) {
        const size_t place = clr_layout_find(refresh->layout, fresh->leaves[i].number);

        fates[count++] = (struct clr_leaf_change){.place = place == 0 ? SIZE_MAX : place - 1,
                                                  .now = &fresh->leaves[i]};
    }
    qsort(fates, count, sizeof *fates, compare_fates);
    refresh->fate_count = count;
    return true;
}

/* Rows that the columns have stay, from one on. */
static void add_old(struct splice *splice, size_t from, size_t rows)
{
    if (rows == 0)
        return;
    splice->old[splice->old_count++] =
        (struct row_run){.from = from, .to = splice->rows, .rows = rows};
    splice->rows += rows;
}

static void add_fresh(struct refresh *refresh, const struct clr_leaf *leaf)
{
    const size_t from = refresh->fresh.at[leaf - refresh->fresh.leaves];
    struct splice *splice = &refresh->splice;

    splice->fresh[splice->fresh_count++] =
        (struct row_run){.from = from, .to = splice->rows, .rows = leaf->rows};
    splice->rows += leaf->rows;
}

/* Says where all rows go: those of changed leaves where they were, those of new ones to the end. */
static bool plan_rows(struct refresh *refresh)
{
    const struct clr_layout *layout = refresh->layout;
    struct splice *splice = &refresh->splice;
    size_t from = 0, i;

    splice->old = new_array(refresh->fate_count, sizeof *splice->old);
    splice->fresh = new_array(refresh->fresh.leaf_count, sizeof *splice->fresh);
    if (splice->old == NULL || splice->fresh == NULL)
        return false;
    for (i = 0; i < refresh->fate_count && refresh->fates[i].place != SIZE_MAX; i++) {
        const struct clr_leaf *before = &layout->leaves[refresh->fates[i].place];

        add_old(splice, from, before->row - from);
        if (refresh->fates[i].now != NULL)
            add_fresh(refresh, refresh->fates[i].now);
        from = before->row + before->rows;
    }
    add_old(splice, from, layout->rows - from);
    for (; i < refresh->fate_count; i++)
        add_fresh(refresh, refresh->fates[i].now);
    return true;
}

/* Makes the columns those of the leaves that are kept and of those that were decoded. */
static enum clr_load_outcome change_columns(struct refresh *refresh, struct clr_column **columns,
                                            bool *changed)
{
    struct clr_layout *layout = refresh->layout;
    struct clr_pages *pages = &refresh->pages;
    enum clr_load_outcome outcome;

    if (!find_fates(refresh) || !plan_rows(refresh) ||
        !clr_layout_make_room(layout, refresh->added.list, refresh->added.count))
        return clr_pages_no_memory(pages);
    outcome =
        refreshed_columns_make(&refresh->splice, layout, pages, &refresh->fresh, columns, changed);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (!refresh->keeps_chains)
        clr_layout_drop_chains(layout);
    clr_layout_add_chains(layout, pages->visited, refresh->tree.pages);
    pages->visited = NULL;
    refresh->has_moved = true;
    return CLR_LOAD_DONE;
}

static enum clr_load_outcome refresh_table(struct refresh *refresh, uint32_t root,
                                           const struct clr_field *fields, int count,
                                           struct clr_column **columns, bool *changed)
{
    struct clr_pages *pages = &refresh->pages;
    struct clr_layout *layout = refresh->layout;
    enum clr_load_outcome outcome;
    bool changes_rows;

    pages->visited = clr_page_set_new(refresh->source->page_count);
    if (pages->visited == NULL)
        return clr_pages_no_memory(pages);
    outcome = clr_tree_is_renewable(&layout->tree, refresh->changes) ? renew_branches(refresh)
                                                                     : walk_anew(refresh, root);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    if (refresh->source->is_index)
        pages->inner = refresh->inner = clr_tree_inner(&refresh->tree);
    if (refresh->source->is_index && refresh->inner == NULL)
        return clr_pages_no_memory(pages);
    refresh->leaf_count = layout->leaf_count - refresh->gone.count + refresh->added.count;
    refresh->keeps_chains = !clr_page_set_meets(layout->chains, refresh->changes);
    if (!find_changed(refresh))
        return clr_pages_no_memory(pages);
    changes_rows = refresh->changed.count + refresh->gone.count > 0;
    if (changes_rows)
        outcome = decode(refresh, fields, count, columns);
    if (outcome == CLR_LOAD_DONE)
        outcome = check_order(refresh);
    if (outcome == CLR_LOAD_DONE && count > 0 && clr_field_is_evaluated(&fields[count - 1]))
        outcome = find_unvalued(refresh);
    if (outcome == CLR_LOAD_DONE && changes_rows)
        outcome = change_columns(refresh, columns, changed);
    if (outcome == CLR_LOAD_DONE)
        clr_layout_change(layout, refresh->fates, refresh->fate_count, &refresh->tree);
    return outcome;
}

/* Adds rows behind those that there are. If there would be too many ranges, the two with the fewest
   rows between them become one. */
static void add_range(struct clr_row_ranges *ranges, const struct row_run *run)
{
    struct clr_row_range all[CLR_MOST_ROW_RANGES + 1];
    size_t gap, least = SIZE_MAX;
    int i, at = 0;

    memcpy(all, ranges->ranges, sizeof ranges->ranges);
    all[ranges->count] = (struct clr_row_range){run->to, run->rows};
    for (i = 0; i < ranges->count; i++) {
        gap = all[i + 1].first - (all[i].first + all[i].rows);
        if (gap < least) {
            least = gap;
            at = i;
        }
    }
    if (ranges->count == CLR_MOST_ROW_RANGES || least == 0) {
        all[at].rows = all[at + 1].first + all[at + 1].rows - all[at].first;
        memmove(&all[at + 1], &all[at + 2], (size_t)(ranges->count - at - 1) * sizeof *all);
    } else {
        ranges->count++;
    }
    memcpy(ranges->ranges, all, sizeof ranges->ranges);
}

/* Reports which rows are fresh, if the others are where they were. */
static void report_rows(const struct splice *splice, struct clr_refresh_report *report)
{
    size_t i;

    report->rows_stay = true;
    for (i = 0; i < splice->old_count; i++)
        report->rows_stay = report->rows_stay && splice->old[i].from == splice->old[i].to;
    for (i = 0; i < splice->fresh_count; i++)
        add_range(&report->fresh, &splice->fresh[i]);
}

static void refresh_free(struct refresh *refresh)
{
    few_leaves_free(&refresh->fresh);
    clr_tree_free(&refresh->tree);
    clr_page_set_free(refresh->pages.visited);
    clr_page_set_free(refresh->leaves);
    clr_page_set_free(refresh->inner);
    clr_page_set_free(refresh->unvalued);
    clr_memory_free(refresh->gone.list);
    clr_memory_free(refresh->added.list);
    clr_memory_free(refresh->changed.list);
    clr_memory_free(refresh->fields);
    clr_memory_free(refresh->fates);
    clr_memory_free(refresh->splice.old);
    clr_memory_free(refresh->splice.fresh);
}

enum clr_load_outcome clr_refresh(const struct clr_source *source, uint32_t root,
                                  const struct clr_page_set *changes,
                                  const struct clr_field *fields, int count,
                                  struct clr_layout *layout, struct clr_column **columns,
                                  bool *changed, const struct clr_watch *watch,
                                  struct clr_refresh_report *report)
{
    struct refresh refresh = {.source = source, .changes = changes, .layout = layout};
    enum clr_load_outcome outcome;

    refresh.pages = (struct clr_pages){.source = source, .watch = watch};
    outcome = refresh_table(&refresh, root, fields, count, columns, changed);
    *report = (struct clr_refresh_report){.bytes_read = refresh.pages.bytes_read,
                                          .leaves_read = refresh.fresh.leaf_count,
                                          .leaves = refresh.leaf_count,
                                          .has_moved = refresh.has_moved};
    if (refresh.has_moved)
        report_rows(&refresh.splice, report);
    if (outcome == CLR_LOAD_DONE) {
        report->unvalued = refresh.unvalued;
        refresh.unvalued = NULL;
    }
    refresh_free(&refresh);
    return outcome;
}

enum clr_load_outcome clr_refresh_values(const struct clr_layout *layout, const size_t *places,
                                         size_t place_count, struct clr_column **fresh, int count,
                                         struct clr_column **columns, bool *changed,
                                         struct clr_refresh_report *report)
{
    const struct few_leaves few = {.count = count, .columns = fresh};
    struct splice splice = {.old = new_array(place_count, sizeof *splice.old),
                            .fresh = new_array(place_count, sizeof *splice.fresh)};
    struct clr_pages pages = {.source = NULL};
    enum clr_load_outcome outcome = CLR_LOAD_FAILED;
    size_t done = 0, i;

    for (i = 0; i < place_count && splice.old != NULL && splice.fresh != NULL; i++) {
        const struct clr_leaf *leaf = &layout->leaves[places[i]];

        add_old(&splice, splice.rows, leaf->row - splice.rows);
        splice.fresh[splice.fresh_count++] =
            (struct row_run){.from = done, .to = leaf->row, .rows = leaf->rows};
        splice.rows += leaf->rows;
        done += leaf->rows;
    }
    if (splice.old != NULL && splice.fresh != NULL) {
        add_old(&splice, splice.rows, layout->rows - splice.rows);
        outcome = refreshed_columns_make(&splice, layout, &pages, &few, columns, changed);
    }
    *report = (struct clr_refresh_report){.has_moved = outcome == CLR_LOAD_DONE};
    if (outcome == CLR_LOAD_DONE)
        report_rows(&splice, report);
    clr_memory_free(splice.old);
    clr_memory_free(splice.fresh);
    return outcome;
}
