#include "sqlite/lookups/alike.h"

#include "base/memory.h"

#include <string.h>

/* WORTH: entries that SQLite evaluates in the time in which threads begin to load. MOST_ROWS: to
   load so many rows takes about as long as to evaluate an entry. MOST_CLASSES: of rows with other
   values than all others have. */
enum { WORTH = 1024, MOST_ROWS = 8, MOST_CLASSES = 1 << 20 };

/* No entry, and no row. */
#define NONE UINT32_MAX
#define NO_ROW SIZE_MAX

/* The dimension's columns, as its fields have them. */
struct rows {
    int count;
    struct clr_column *columns[1 + CLR_MOST_DECIDING];
};

static void release(struct rows *rows)
{
    int i;

    for (i = 0; i < rows->count; i++)
        clr_column_release(rows->columns[i]);
    rows->count = 0;
}

/* Loads the columns. Returns whether all are there, and release() is due. */
static bool load(const struct clr_alike *alike, struct clr_alike_input *input, uint64_t seed,
                 size_t most_rows, struct rows *rows)
{
    const size_t row_bytes = sizeof(int64_t) + (size_t)alike->count * sizeof(uint32_t);
    struct clr_layout layout = {.may_guess = true,
                                .most_rows = most_rows,
                                .most_bytes = 2 * most_rows * row_bytes,
                                .row_bytes = row_bytes,
                                .seed = seed};
    struct clr_load_report report = {.bytes_read = 0};
    struct clr_status status;
    enum clr_load_outcome outcome;

    if (clr_snapshot_open(input->database, input->snapshot, input->watch) != CLR_WHY_NONE)
        return false;
    clr_status_clear(&status);
    outcome = clr_load(&input->snapshot->source, alike->root, alike->fields, alike->count, &layout,
                       rows->columns, input->watch, &report, &status);
    input->bytes_read += report.bytes_read;
    clr_layout_free(&layout);
    rows->count = outcome == CLR_LOAD_DONE ? alike->count : 0;
    return rows->count > 0;
}

/* Returns the row with a rowid, or NO_ROW. They ascend, and mostly none is missing. */
static size_t find_row(const struct clr_column *rowids, int64_t rowid)
{
    size_t low = 0, high = rowids->rows;

    if (high == 0 || rowid < clr_column_value(rowids, 0) ||
        rowid > clr_column_value(rowids, high - 1))
        return NO_ROW;
    low = (size_t)((uint64_t)rowid - (uint64_t)clr_column_value(rowids, 0));
    if (low < high && clr_column_value(rowids, low) == rowid)
        return low;
    for (low = 0; low < high;) {
        const size_t middle = low + (high - low) / 2;

        if (clr_column_value(rowids, middle) < rowid)
            low = middle + 1;
        else
            high = middle;
    }
    return clr_column_value(rowids, low) == rowid ? low : NO_ROW;
}

/* Returns how many classes the rows' values make, with the one of no row; 0: too many. */
static size_t count_classes(const struct rows *rows)
{
    size_t classes = 1;
    int i;

    for (i = 1; i < rows->count && classes <= MOST_CLASSES; i++)
        classes *= rows->columns[i]->dictionary->count + (size_t)1;
    return classes <= MOST_CLASSES ? classes + 1 : 0;
}

/* Returns the class of the row that an INTEGER leads to; 0: of no row. */
static size_t class_of(const struct rows *rows, int64_t rowid)
{
    const size_t row = find_row(rows->columns[0], rowid);
    size_t class = 0;
    int i;

    for (i = 1; i < rows->count && row != NO_ROW; i++)
        class = class * (rows->columns[i]->dictionary->count + (size_t)1) +
                clr_column_code(rows->columns[i], row);
    return row == NO_ROW ? 0 : class + 1;
}

/* Stores the first entry of each one's class, and returns how many entries are the first ones. What
   is no INTEGER is alike to nothing: SQLite converts some of it for the comparison. */
static size_t find_models(const struct rows *rows, const struct clr_dictionary *dictionary,
                          uint32_t first, uint32_t count, uint32_t *first_of, uint32_t *models)
{
    size_t found = 0;
    uint32_t i;

    for (i = first; i < count; i++) {
        const struct clr_scalar *entry = &dictionary->entries[i];
        uint32_t *model;

        models[i] = i;
        if (entry->tag == CLR_TAG_INTEGER) {
            model = &first_of[class_of(rows, entry->bits)];
            if (*model == NONE)
                *model = i;
            models[i] = *model;
        }
        found += models[i] == i;
    }
    return found;
}

uint32_t *clr_alike_find(const struct clr_alike *alike, struct clr_alike_input *input,
                         const struct clr_dictionary *dictionary, uint32_t first, uint32_t count)
{
    const size_t entries = count - first;
    uint32_t *models = NULL, *first_of = NULL;
    struct rows rows;
    size_t classes;

    if (alike->count == 0 || input->snapshot == NULL || entries < WORTH ||
        !load(alike, input, dictionary->seed, MOST_ROWS * entries, &rows))
        return NULL;
    classes = count_classes(&rows);
    if (classes > 0)
        first_of = clr_memory_alloc(classes * sizeof *first_of);
    if (first_of != NULL)
        models = clr_memory_alloc(count * sizeof *models);
    if (models != NULL) {
        memset(first_of, 0xff, classes * sizeof *first_of);
        if (find_models(&rows, dictionary, first, count, first_of, models) > entries / 2) {
            clr_memory_free(models);
            models = NULL;
        }
    }
    clr_memory_free(first_of);
    release(&rows);
    return models;
}
