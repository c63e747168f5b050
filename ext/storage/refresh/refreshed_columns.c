#include "storage/refresh/refreshed_columns.h"

#include "base/memory.h"

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
    const struct clr_few_leaves *fresh;
    struct clr_column **results; /* one for each column */
    uint32_t **maps;             /* the same, of columns of codes: see clr_splice_finish() */
    struct clr_dictionary **dictionaries; /* theirs, with references */
};

static bool prepare(struct making *making)
{
    const size_t count = (size_t)making->fresh->count + 1; /* never none */

    making->results = clr_memory_alloc_zero(count * sizeof(struct clr_column *));
    making->maps = clr_memory_alloc_zero(count * sizeof(uint32_t *));
    making->dictionaries = clr_memory_alloc_zero(count * sizeof(struct clr_dictionary *));
    return making->results != NULL && making->maps != NULL && making->dictionaries != NULL;
}

/* Returns the dictionary that a column's result is to have, with a reference: another one, if those
   who refer to the column may be reading its own. NULL without memory. */
static struct clr_dictionary *take_dictionary(const struct clr_column *column)
{
    return clr_column_is_free(column) ? clr_dictionary_retain(column->dictionary)
                                      : clr_dictionary_clone(column->dictionary);
}

/* Adds the fresh entries to the columns' dictionaries, where those that no row has do no harm.
   Returns CLR_OK, CLR_NOMEM or CLR_LIMIT. */
static enum clr_code merge_dictionaries(struct making *making, struct clr_column *const *columns)
{
    const struct clr_few_leaves *fresh = making->fresh;
    enum clr_code code = CLR_OK;
    int i;

    for (i = 0; i < fresh->count && code == CLR_OK; i++) {
        const struct clr_dictionary *dictionary = fresh->columns[i]->dictionary;

        if (dictionary == NULL)
            continue;
        making->maps[i] =
            clr_memory_alloc(((size_t)dictionary->count + 1) * sizeof *making->maps[i]);
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
    const struct clr_few_leaves *fresh = making->fresh;
    int i;

    for (i = 0; i < fresh->count; i++) {
        changed[i] =
            clr_splice_changes(making->splice, columns[i], fresh->columns[i], making->maps[i]);
        making->results[i] = changed[i]
                                 ? clr_splice_begin(making->splice, columns[i], fresh->columns[i],
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
    for (i = 0; i < fresh->count; i++) {
        if (!changed[i])
            continue;
        clr_splice_finish(making->splice, columns[i], fresh->columns[i], making->maps[i],
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

enum clr_load_outcome clr_refreshed_columns_make(const struct clr_splice *splice,
                                                 const struct clr_layout *layout,
                                                 struct clr_pages *pages,
                                                 const struct clr_few_leaves *fresh,
                                                 struct clr_column **columns, bool *changed)
{
    struct making making = {.splice = splice, .fresh = fresh};
    enum clr_code code = prepare(&making) ? merge_dictionaries(&making, columns) : CLR_NOMEM;

    if (code == CLR_OK && is_too_large(&making, layout, columns))
        code = CLR_LIMIT;
    if (code == CLR_OK && !splice_columns(&making, columns, changed))
        code = CLR_NOMEM;
    making_free(&making);
    if (code == CLR_NOMEM)
        return clr_pages_no_memory(pages);
    return code == CLR_OK ? CLR_LOAD_DONE : CLR_LOAD_TOO_LARGE;
}
