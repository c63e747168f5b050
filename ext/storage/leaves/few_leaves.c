#include "storage/leaves/few_leaves.h"

#include "base/memory.h"

#include <string.h>

/* Returns a column for codes of a dictionary of its own, or NULL. */
static struct clr_column *new_codes(struct clr_few_leaves *few, size_t rows, uint64_t seed)
{
    struct clr_dictionary *dictionary = clr_dictionary_new(seed, &few->left);
    struct clr_column *column =
        dictionary == NULL ? NULL : clr_column_new_codes(dictionary, rows, sizeof(uint32_t));

    clr_dictionary_release(dictionary);
    return column;
}

static bool make_columns(struct clr_few_leaves *few, size_t rows, uint64_t seed)
{
    const struct clr_field *fields = few->reader.decoder.fields;
    size_t size = ((size_t)few->count + 1) * sizeof(struct clr_column *);
    int i;

    few->columns = clr_memory_alloc(size);
    if (few->columns == NULL)
        return false;
    memset((void *)few->columns, 0, size);
    for (i = 0; i < few->count; i++) {
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

enum clr_load_outcome clr_few_leaves_init(struct clr_few_leaves *few, struct clr_pages *pages,
                                          const struct clr_field *fields, int count, size_t room,
                                          size_t most_bytes, uint64_t seed)
{
    *few = (struct clr_few_leaves){.count = count, .room = room};
    atomic_init(&few->left,
                most_bytes == 0 || most_bytes > INT64_MAX ? INT64_MAX : (int64_t)most_bytes);
    few->leaves = clr_memory_alloc(room * sizeof *few->leaves);
    few->at = clr_memory_alloc(room * sizeof *few->at);
    if (few->leaves == NULL || few->at == NULL ||
        clr_leaf_reader_init(&few->reader, pages, fields, count, 1) != CLR_LOAD_DONE)
        return clr_pages_no_memory(pages);
    /* What no row touches costs addresses only. */
    return make_columns(few, room * clr_page_most_cells(pages->source), seed)
               ? CLR_LOAD_DONE
               : clr_pages_no_memory(pages);
}

void clr_few_leaves_free(struct clr_few_leaves *few)
{
    int i;

    for (i = 0; i < few->count && few->columns != NULL; i++)
        clr_column_release(few->columns[i]);
    clr_memory_free((void *)few->columns);
    clr_leaf_reader_free(&few->reader);
    clr_memory_free(few->leaves);
    clr_memory_free(few->at);
}

enum clr_load_outcome clr_few_leaves_add(struct clr_few_leaves *few, uint32_t number, bool is_only)
{
    struct clr_leaf_reader *reader = &few->reader;
    enum clr_load_outcome outcome;
    size_t rows;

    if (few->leaf_count == few->room)
        return CLR_LOAD_TOO_LARGE;
    outcome = clr_leaf_reader_read(reader, &number, 1, is_only, &rows);
    if (outcome != CLR_LOAD_DONE)
        return outcome;
    few->at[few->leaf_count] = reader->decoder.rows;
    outcome = clr_leaf_reader_decode(reader);
    few->leaves[few->leaf_count++] = reader->leaves[0];
    return outcome;
}

void clr_few_leaves_end(struct clr_few_leaves *few)
{
    clr_decoder_end_columns(&few->reader.decoder, few->columns);
}
