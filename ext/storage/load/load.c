#include "storage/load/load.h"

#include "base/memory.h"
#include "base/system.h"
#include "storage/leaves/units.h"
#include "storage/load/coding.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* ---- Packing. */

/*
 * How a load keeps values in few bytes before it knows all of them. A unit is decoded into a
 * thread's own room, which stays in the processor's cache, and goes from there into a column whose
 * frame the first unit has chosen. What does not fit goes into one of four bytes, and if there is
 * something that does not fit there either the column has all bytes: further units are decoded into
 * that at once. In the end one column takes the rows of the others. Address space for three columns
 * costs nothing: memory is only what is touched.
 */

/* The columns that take a field's rows, one after the other: the last one has all bytes. */
enum { CLR_PACKING_LAST = 2, CLR_PACKING_LEVELS };

struct packed {
    struct clr_column *columns[CLR_PACKING_LEVELS]; /* the last one NULL: no rows are kept */
    atomic_int level;                               /* that is used now; -1: none has been chosen */
};

/* Zeros: there is nothing to be freed. */
struct packing {
    const struct clr_units *units;
    pthread_mutex_t lock;
    struct packed *fields;     /* in the order of the units' fields */
    struct clr_column **rooms; /* of each thread, likewise; NULL where there is none */
    struct clr_frame *bounds;  /* of each thread, likewise: of what came by its room */
    uint8_t *levels, *kinds;   /* of each unit, likewise: where its rows are, and what */
};

/* Values that are moved from one frame to another at once. */
enum { PIECE = 1024 };

/* Returns where something of field k of a unit is, of as many as there are fields. */
static size_t place_of(const struct packing *packing, size_t i, int k)
{
    return i * (size_t)packing->units->field_count + (size_t)k;
}

/* The same of a thread. Threads' places are apart by one that nobody uses, so that no two share a
   cache line. */
static size_t place_of_thread(const struct packing *packing, int thread, int k)
{
    return (size_t)thread * ((size_t)packing->units->field_count + 1) + (size_t)k;
}

/* Returns the thread's room for a unit: for values or, where no rows are kept, for codes. NULL
   without memory. */
static struct clr_column *room_of(const struct packing *packing, int thread, int k)
{
    struct clr_column **room = &packing->rooms[place_of_thread(packing, thread, k)];
    const size_t rows = packing->units->most_leaves * clr_page_most_cells(packing->units->source);

    if (*room == NULL)
        *room = packing->fields[k].columns[CLR_PACKING_LAST] == NULL
                    ? clr_column_new_codes(NULL, rows, sizeof(uint32_t))
                    : clr_column_new(rows);
    return *room;
}

/*
 * Begins, for units that have been found and whose fields stay as they are. columns: those of all
 * bytes by the fields' positions, the caller's still, with room for all rows; those of codes are
 * left alone. NULL: all fields are with codes, and no rows are kept. Returns false without memory.
 * Free in any case.
 */
static bool packing_init(struct packing *packing, const struct clr_units *units,
                         struct clr_column *const *columns)
{
    const size_t fields = (size_t)units->field_count;
    int k, thread;
    size_t i;

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
        if (columns != NULL)
            packing->fields[k].columns[CLR_PACKING_LAST] = columns[units->fields[k].position];
        for (thread = 0; thread < units->threads && columns == NULL; thread++) {
            if (room_of(packing, thread, k) == NULL)
                return false;
        }
    }
    return true;
}

static void packing_free(struct packing *packing)
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

/* Sets the targets of the decoder, which is the thread's, for the values of unit i. */
static void packing_aim(const struct packing *packing, int thread, size_t i,
                        struct clr_decoder *decoder)
{
    struct clr_column *room;
    int k;

    for (k = 0; k < decoder->count; k++) {
        struct packed *packed = &packing->fields[k];
        struct clr_column *last = packed->columns[CLR_PACKING_LAST];

        room =
            last == NULL || (last->codes == NULL && atomic_load(&packed->level) < CLR_PACKING_LAST)
                ? room_of(packing, thread, k)
                : NULL;
        decoder->targets[k] = room != NULL ? clr_target_at(room, 0)
                                           : clr_target_at(last, packing->units->units[i].row);
    }
}

/* Whether the column of that level can have what is within the bounds. */
static bool has(const struct packed *packed, int level, const struct clr_frame *bounds)
{
    return level == CLR_PACKING_LAST ||
           (level >= 0 && clr_frame_has(&packed->columns[level]->frame, bounds));
}

/* Returns the bounds of values, as the column of that level keeps them if it does. Where they have
   all bytes nobody asks. */
static struct clr_frame find_bounds(const struct packed *packed, int level, const int64_t *values,
                                    size_t rows)
{
    if (level == CLR_PACKING_LAST)
        return CLR_FRAME_OF_NONE;
    return clr_frame_find(level < 0 ? NULL : &packed->columns[level]->frame, values, rows);
}

/* Goes on to the level that has values within the bounds, and returns it. What had no memory is
   left out. */
static int advance(struct packing *packing, struct packed *packed, const struct clr_frame *bounds)
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

/* Keeps what was decoded of unit i, so many rows, by that thread. */
static void packing_take(struct packing *packing, int thread, size_t i,
                         const struct clr_decoder *decoder, size_t rows)
{
    const size_t row = packing->units->units[i].row;
    int k;

    for (k = 0; k < decoder->count; k++) {
        const struct clr_target *target = &decoder->targets[k];
        struct packed *packed = &packing->fields[k];
        struct clr_column *last = packed->columns[CLR_PACKING_LAST];
        struct clr_frame bounds;
        int level = CLR_PACKING_LAST;

        packing->kinds[place_of(packing, i, k)] = target->kind;
        if (last == NULL || last->codes != NULL)
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

/* Returns the column that takes the rows of field k just now, or NULL. */
static struct clr_column *packing_column(const struct packing *packing, int k)
{
    const struct packed *packed = &packing->fields[k];
    struct clr_column *last = packed->columns[CLR_PACKING_LAST];
    const int level = atomic_load(&packed->level);

    if (last == NULL || last->codes != NULL)
        return last;
    return level < 0 ? NULL : packed->columns[level];
}

struct moving {
    const struct packing *packing;
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
static struct clr_column *choose(struct packed *packed, const struct clr_frame *frame)
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
static bool needs_last(const struct packing *packing, int k)
{
    size_t i;

    for (i = 0; i < packing->units->count; i++) {
        if (packing->levels[place_of(packing, i, k)] == CLR_PACKING_LAST)
            return true;
    }
    return false;
}

/* Gives the column the tag of all rows, or all their tags. */
static void finish_kind(const struct packing *packing, int k, struct clr_column *column)
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

/* When all threads are done: *column, that of all bytes of field k, becomes the one that has all
   values, so many, in as few bytes as will do. It has its bytes of TEXT and BLOBs already. */
static void packing_finish(struct packing *packing, int k, size_t rows, struct clr_column **column)
{
    struct packed *packed = &packing->fields[k];
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

/* ---- Where the rows of a table's units go in columns, and what becomes known of the layout. */

/* What the threads of a load share. */
struct placement {
    struct clr_units *units;
    const struct clr_layout *layout; /* the caller's */
    atomic_int_least64_t left;       /* bytes that rows and their bytes may still take */
    struct clr_leaf *leaves;         /* of the units, at their places; NULL: no rows are kept */
    struct clr_page_set *before;     /* the pages that led to the leaves */
    pthread_mutex_t lock;
    pthread_cond_t taken; /* a unit has its place */
    bool is_given_up;     /* a unit will have no place: the load fails */
    /* What the units that have their places have taken. */
    size_t units_taken, rows;
    size_t places; /* in the layout, before the next unit's */
};

/* Returns how many rows there are, when all units have been taken. */
static size_t placement_rows(const struct placement *placement)
{
    return placement->layout->known ? placement->layout->rows : placement->rows;
}

/* A guess: so much of a table has been met, one in so many of its units, and all of it would have
   so many times the rows that there may be. */
enum { GUESS_PART = 16, GUESS_FACTOR = 2 };

/* Begins, for units that have been found and not run; keeps: placement_keep() may follow. Returns
   false without memory. Free in any case; it may be zeros then. */
static bool placement_init(struct placement *placement, struct clr_units *units,
                           const struct clr_layout *layout, bool keeps)
{
    int64_t left = INT64_MAX;

    if (layout->most_bytes > 0 && layout->most_bytes < INT64_MAX)
        left = (int64_t)layout->most_bytes;
    if (layout->known)
        left -= (int64_t)(layout->rows * layout->row_bytes);
    *placement = (struct placement){.units = units, .layout = layout};
    atomic_init(&placement->left, left);
    pthread_mutex_init(&placement->lock, NULL);
    pthread_cond_init(&placement->taken, NULL);
    if (!keeps)
        return true;
    placement->leaves = clr_memory_alloc(units->leaves.count * sizeof *placement->leaves);
    placement->before = clr_page_set_copy(units->visited);
    return placement->leaves != NULL && placement->before != NULL;
}

static void placement_free(struct placement *placement)
{
    if (placement->units == NULL)
        return;
    pthread_mutex_destroy(&placement->lock);
    pthread_cond_destroy(&placement->taken);
    clr_memory_free(placement->leaves);
    clr_page_set_free(placement->before);
}

/* Whether the table will have too many rows if the units that are still to come are like those that
   were taken, with so many rows. */
static bool seems_too_large(const struct placement *placement, size_t rows)
{
    size_t taken = atomic_load(&placement->units->next), count = placement->units->count;

    return placement->layout->may_guess && taken > count / GUESS_PART &&
           (double)rows * (double)count >
               (int)GUESS_FACTOR * (double)placement->layout->most_rows * (double)taken;
}

/* Waits, with the lock, until the units before unit i have their places. Each of them is a
   thread's, which waits for no later one: it gets its place, or gives up. */
static void wait_for_turn(struct placement *placement, size_t i)
{
    while (!placement->is_given_up && placement->units_taken != i)
        pthread_cond_wait(&placement->taken, &placement->lock);
}

/*
 * Gives unit i, of so many rows, its place, if the layout fits and has room. Returns CLR_LOAD_DONE,
 * CLR_LOAD_TOO_LARGE or CLR_LOAD_MALFORMED, with the page in pages. Any thread may call it, once
 * for each unit, and has to before it takes another one: this or placement_give_up(). It waits
 * for the units before, as rows keep the order of the units.
 */
static enum clr_load_outcome placement_take(struct placement *placement, struct clr_pages *pages,
                                            size_t i, size_t rows)
{
    const struct clr_layout *layout = placement->layout;
    struct clr_unit *unit = &placement->units->units[i];

    if (layout->known)
        return unit->rows == rows
                   ? CLR_LOAD_DONE
                   : clr_page_malformed(pages, placement->units->leaves.numbers[unit->first]);
    atomic_fetch_sub(&placement->left, (int64_t)(rows * layout->row_bytes));
    pthread_mutex_lock(&placement->lock);
    wait_for_turn(placement, i);
    unit->row = placement->rows;
    unit->place = placement->places;
    unit->rows = rows;
    placement->rows += rows;
    placement->places += unit->count;
    placement->units_taken++;
    rows = placement->rows;
    pthread_cond_broadcast(&placement->taken);
    pthread_mutex_unlock(&placement->lock);
    return layout->most_rows == 0 ||
                   (rows <= layout->most_rows && !seems_too_large(placement, rows))
               ? CLR_LOAD_DONE
               : CLR_LOAD_TOO_LARGE;
}

/* A thread's unit could not be read, and the load fails: nobody waits for its place any more. */
static void placement_give_up(struct placement *placement)
{
    pthread_mutex_lock(&placement->lock);
    placement->is_given_up = true;
    pthread_cond_broadcast(&placement->taken);
    pthread_mutex_unlock(&placement->lock);
}

/* Whether the leaves are those of the layout. If not, the page of the first other one is named. */
static bool is_same(const struct placement *placement)
{
    const struct clr_layout *layout = placement->layout;
    size_t i;

    for (i = 0; i < layout->leaf_count; i++) {
        const struct clr_leaf *leaf = &placement->leaves[i], *known = &layout->leaves[i];

        if (leaf->rows != known->rows || leaf->first != known->first || leaf->last != known->last) {
            clr_units_fail(placement->units, CLR_LOAD_MALFORMED, leaf->number, 0);
            return false;
        }
    }
    return true;
}

/* Hands the leaves over to the layout, which is not known. Returns false without memory. */
static bool keep_leaves(struct placement *placement, struct clr_layout *layout)
{
    const struct clr_units *units = placement->units;
    struct clr_tree tree;
    bool done = clr_tree_make(&tree, &units->leaves, placement->before) &&
                clr_layout_keep(layout, placement->leaves, units->leaves.count,
                                units->source->is_index, &tree);

    clr_tree_free(&tree);
    if (done)
        placement->leaves = NULL;
    return done;
}

/* When all leaves have been described: hands them over to the layout, which then is known.
   CLR_LOAD_MALFORMED if it was, and they are not as it has them; CLR_LOAD_FAILED without memory:
   nothing has changed then. */
static enum clr_load_outcome placement_keep(struct placement *placement, struct clr_layout *layout)
{
    struct clr_units *units = placement->units;
    size_t i;

    if (layout->known && !is_same(placement))
        return CLR_LOAD_MALFORMED;
    for (i = 0; layout->known && i < layout->leaf_count; i++)
        layout->leaves[i].is_chained |= placement->leaves[i].is_chained;
    if (!layout->known && !keep_leaves(placement, layout))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    clr_layout_add_chains(layout, units->visited, placement->before, true);
    units->visited = NULL;
    return CLR_LOAD_DONE;
}

/* ---- The load. */

/* Another thread is worth it where its dictionaries may take so many bytes. */
enum { THREAD_BYTES = 256 << 10 };

struct load {
    struct clr_units units;
    struct placement placement;
    int count;
    struct clr_column **columns; /* as the caller has them: fields have the position; or NULL, */
    struct clr_dictionary **dictionaries; /* and the dictionaries of the fields alone, likewise */
    int most_threads;
    struct clr_bytes *bytes; /* of each thread, in the order of fields */
    struct packing packing;
    struct clr_coding coding;
    atomic_int begun; /* threads */
};

/* Returns a thread's place for the bytes of each field. Threads' places are apart by one that
   nobody uses, so that no two share a cache line. */
static struct clr_bytes *bytes_of(const struct load *load, int thread)
{
    return load->bytes + (size_t)thread * ((size_t)load->count + 1);
}

enum { POPULATED_ROWS = 262144 };

/*
 * Makes the system provide the memory of a block of rows, where it can be asked to. Threads that
 * fill neighbouring rows for the first time otherwise wait for the same large pages, each clearing
 * one, of which the system keeps but one.
 */
static void provide_block(struct clr_column *column, size_t block)
{
    const size_t first = block * POPULATED_ROWS, rows = POPULATED_ROWS;
    const size_t size = clr_column_width(column);
    unsigned char *area = column->codes != NULL   ? column->codes
                          : column->words != NULL ? column->words
                                                  : (void *)column->values;

    if (first + rows <= column->capacity)
        clr_system_populate(area + first * size, rows * size);
}

/*
 * Has memory at hand by the time that it is needed: the thread whose unit reaches into a block of
 * rows provides for another block as far ahead as there are threads; their first units begin that.
 * But not before all threads run: to populate memory keeps the kernel from mapping any, such as the
 * stacks of threads to come, and whoever wants to populate more waits behind those. With 16 threads
 * the last one came 10 to 40 ms late.
 */
static void populate(struct load *load, size_t i)
{
    const struct clr_layout *layout = load->placement.layout;
    const struct clr_unit *unit = &load->units.units[i];
    size_t ahead = (size_t)load->units.threads, block = unit->row / POPULATED_ROWS;
    size_t rows = layout->known ? layout->rows : unit->rows * load->units.count;
    bool begins_block = (unit->row + unit->rows) / POPULATED_ROWS > block;
    int k;

    if (atomic_load(&load->begun) < load->units.threads)
        return;
    for (k = 0; k < load->count && ahead > 1; k++) {
        struct clr_column *column = packing_column(&load->packing, k);

        if (column != NULL && i < ahead && (i + 1) * POPULATED_ROWS <= rows)
            provide_block(column, i);
        if (column != NULL && begins_block && (block + ahead + 1) * POPULATED_ROWS <= rows)
            provide_block(column, block + ahead);
    }
}

static enum clr_load_outcome load_unit(struct load *load, int thread,
                                       struct clr_leaf_reader *reader, size_t i)
{
    struct clr_decoder *decoder = &reader->decoder;
    enum clr_load_outcome outcome;
    size_t rows;

    outcome = clr_unit_read(&load->units, i, reader, &rows);
    if (outcome == CLR_LOAD_DONE)
        outcome = placement_take(&load->placement, decoder->reader.pages, i, rows);
    else
        placement_give_up(&load->placement);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    populate(load, i);
    clr_decoder_begin(decoder);
    packing_aim(&load->packing, thread, i, decoder);
    clr_coding_aim(&load->coding, thread, decoder);
    load->units.units[i].thread = thread;
    outcome = clr_unit_decode(&load->units, i, reader);
    if (outcome == CLR_LOAD_DONE)
        packing_take(&load->packing, thread, i, decoder, rows);
    if (outcome == CLR_LOAD_MANY_VALUES)
        atomic_store(&load->coding.full, decoder->reader.pages->code);
    if (load->placement.leaves != NULL)
        memcpy(load->placement.leaves + load->units.units[i].place, reader->leaves,
               reader->count * sizeof *reader->leaves);
    return outcome;
}

static enum clr_load_outcome load_units(void *argument, int thread, struct clr_leaf_reader *reader)
{
    struct load *load = argument;
    enum clr_load_outcome outcome = CLR_LOAD_DONE;
    size_t i;
    int k;

    for (k = 0; k < load->count; k++) {
        if (load->units.fields[k].with_bytes)
            reader->decoder.bytes[k] = &bytes_of(load, thread)[k];
    }
    atomic_fetch_add(&load->begun, 1);
    while (outcome == CLR_LOAD_DONE && clr_units_take(&load->units, &i))
        outcome = load_unit(load, thread, reader, i);
    return outcome;
}

/* Gives a column its values, and the bytes that the threads have for it. */
static void finish_column(struct load *load, int k, size_t rows)
{
    struct clr_column **column = &load->columns[load->units.fields[k].position];
    int thread;

    (*column)->with_bytes = load->units.fields[k].with_bytes;
    for (thread = 0; thread < load->units.threads; thread++)
        clr_bytes_append(&(*column)->bytes, &bytes_of(load, thread)[k]);
    (*column)->bytes.left = NULL;
    (*column)->bytes_read = (*column)->bytes.size;
    packing_finish(&load->packing, k, rows, column);
}

/* Makes the threads' places for bytes. */
static bool prepare_bytes(struct load *load)
{
    size_t count = (size_t)load->units.threads * ((size_t)load->count + 1), i;

    load->bytes = clr_memory_alloc(count * sizeof *load->bytes);
    for (i = 0; i < count && load->bytes != NULL; i++)
        load->bytes[i] = (struct clr_bytes){.left = &load->placement.left};
    return load->bytes != NULL;
}

static void free_bytes(struct load *load)
{
    size_t count = (size_t)load->units.threads * ((size_t)load->count + 1), i;

    for (i = 0; i < count && load->bytes != NULL; i++)
        clr_bytes_free(&load->bytes[i]);
    clr_memory_free(load->bytes);
}

/* Makes what the threads fill in, once the units are known. */
static bool prepare(struct load *load)
{
    const struct clr_units *units = &load->units;
    const struct clr_layout *layout = load->placement.layout;
    /* What no row touches costs addresses only, or, where pages are large, a bit more. */
    size_t most = units->leaves.count * clr_page_most_cells(units->source), i;

    if (layout->known)
        most = layout->rows;
    else if (layout->most_rows > 0 && layout->most_rows < most)
        most = layout->most_rows;
    if (!prepare_bytes(load))
        return false;
    for (i = 0; i < (size_t)load->count && load->columns != NULL; i++) {
        const struct clr_field *field = &units->fields[i];

        load->columns[field->position] = field->with_codes
                                             ? clr_column_new_codes(NULL, most, sizeof(uint32_t))
                                             : clr_column_new(most);
        if (load->columns[field->position] == NULL)
            return false;
    }
    return packing_init(&load->packing, units, load->columns);
}

/* Decodes the units, which have been found, and stores how many rows they have. */
static enum clr_load_outcome decode(struct load *load, struct clr_layout *layout,
                                    const struct clr_watch *watch, size_t *rows)
{
    struct clr_units *units = &load->units;
    enum clr_load_outcome outcome;
    int k, position;

    if (units->threads > load->most_threads)
        units->threads = load->most_threads;
    if (!placement_init(&load->placement, units, layout, load->columns != NULL) || !prepare(load))
        return clr_units_fail(units, CLR_LOAD_FAILED, 0, 0);
    outcome = clr_coding_begin(&load->coding, units, layout, &load->placement.left, watch);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    outcome = clr_units_run(units, load_units, load, watch);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    *rows = placement_rows(&load->placement);
    for (k = 0; k < load->count && outcome == CLR_LOAD_DONE; k++) {
        position = units->fields[k].position;
        if (load->columns == NULL)
            outcome =
                clr_coding_finish(&load->coding, k, *rows, NULL, &load->dictionaries[position]);
        else if (units->fields[k].with_codes)
            outcome = clr_coding_finish(&load->coding, k, *rows, &load->columns[position], NULL);
        else
            finish_column(load, k, *rows);
    }
    if (outcome != CLR_LOAD_DONE)
        return clr_units_fail(units, outcome, 0, 0);
    return load->columns == NULL ? CLR_LOAD_DONE : placement_keep(&load->placement, layout);
}

/* Loads, for threads at most, into columns or dictionaries, and stores how many rows there are and
   how many threads have been at it. */
static enum clr_load_outcome run_load(struct load *load, const struct clr_source *source,
                                      uint32_t root, const struct clr_field *fields,
                                      struct clr_layout *layout, size_t *rows,
                                      const struct clr_watch *watch, struct clr_load_report *report,
                                      struct clr_status *status)
{
    enum clr_load_outcome outcome;
    int i;

    for (i = 0; i < load->count; i++) {
        if (load->columns != NULL)
            load->columns[i] = NULL;
        else
            load->dictionaries[i] = NULL;
    }
    atomic_init(&load->begun, 0);
    atomic_init(&load->coding.full, 0);
    outcome =
        clr_units_find(&load->units, source, root, fields, load->count, SIZE_MAX, layout, watch);
    if (outcome == CLR_LOAD_DONE)
        outcome = decode(load, layout, watch, rows);
    clr_units_report(&load->units, outcome, report, status);
    report->field = atomic_load(&load->coding.full);
    for (i = 0; i < load->count && outcome != CLR_LOAD_DONE; i++) {
        if (load->columns != NULL) {
            clr_column_release(load->columns[i]);
            load->columns[i] = NULL;
        } else {
            clr_dictionary_release(load->dictionaries[i]);
            load->dictionaries[i] = NULL;
        }
    }
    load->most_threads = load->units.threads;
    placement_free(&load->placement);
    packing_free(&load->packing);
    free_bytes(load);
    clr_coding_free(&load->coding);
    clr_units_free(&load->units);
    return outcome;
}

enum clr_load_outcome clr_load(const struct clr_source *source, uint32_t root,
                               const struct clr_field *fields, int count, struct clr_layout *layout,
                               struct clr_column **columns, const struct clr_watch *watch,
                               struct clr_load_report *report, struct clr_status *status)
{
    struct load load = {.count = count, .columns = columns, .most_threads = CLR_TEAM_MOST};
    size_t rows;

    return run_load(&load, source, root, fields, layout, &rows, watch, report, status);
}

enum clr_load_outcome clr_load_dictionaries(
    const struct clr_source *source, uint32_t root, const struct clr_field *fields, int count,
    size_t memory, uint64_t seed, struct clr_dictionary **dictionaries, size_t *rows,
    const struct clr_watch *watch, struct clr_load_report *report, struct clr_status *status)
{
    const size_t threads = memory / THREAD_BYTES + (memory < THREAD_BYTES);
    struct clr_layout limits = {.most_bytes = memory > 0 ? memory : 1, .seed = seed};
    struct load load = {.count = count,
                        .dictionaries = dictionaries,
                        .most_threads = (int)(threads < CLR_TEAM_MOST ? threads : CLR_TEAM_MOST)};
    enum clr_load_outcome outcome =
        run_load(&load, source, root, fields, &limits, rows, watch, report, status);
    int64_t bytes_read = 0;

    /* Threads may all have the same values. */
    if (outcome == CLR_LOAD_TOO_LARGE && load.most_threads > 1) {
        load = (struct load){.count = count, .dictionaries = dictionaries, .most_threads = 1};
        bytes_read = report->bytes_read;
        outcome = run_load(&load, source, root, fields, &limits, rows, watch, report, status);
    }
    report->bytes_read += bytes_read;
    return outcome;
}
