#include "sqlite/cache/image.h"

#include "base/memory.h"

static void free_column(struct clr_image_column *column)
{
    clr_sharded_release(column->copy);
    clr_column_release(column->column);
    clr_page_set_free(column->unvalued);
    sqlite3_free(column->name);
    sqlite3_free(column);
}

struct clr_image *clr_image_new(struct clr_cached_table *table, uint32_t root,
                                const struct clr_database_version *token)
{
    struct clr_image *image = clr_memory_alloc_zero(sizeof *image);

    if (image == NULL)
        return NULL;
    image->table = table;
    image->references = 1;
    image->root = root;
    image->token = *token;
    return image;
}

/* Has the field of a derived column have the text that is the column's own: its name. */
static void own_expression(struct clr_image_column *column)
{
    if (column->field.derived != NULL)
        column->field.derived = column->name;
}

/* Returns another column of the same content, or NULL. */
static struct clr_image_column *clone_column(const struct clr_image_column *column)
{
    struct clr_image_column *clone = sqlite3_malloc(sizeof *clone);

    if (clone == NULL)
        return NULL;
    *clone = *column;
    clone->next = NULL;
    clone->pins = 0;
    clone->column = clr_column_retain(column->column);
    clone->copy = clr_sharded_retain(column->copy);
    clone->unvalued = column->unvalued == NULL ? NULL : clr_page_set_copy(column->unvalued);
    clone->name = sqlite3_mprintf("%s", column->name);
    if (clone->name == NULL || (clone->unvalued == NULL) != (column->unvalued == NULL)) {
        free_column(clone);
        return NULL;
    }
    own_expression(clone);
    return clone;
}

void clr_image_free(struct clr_image *image)
{
    clr_image_drop(image, false, 0);
    clr_layout_free(&image->layout);
    clr_memory_free(image);
}

struct clr_image *clr_image_clone(const struct clr_image *image)
{
    struct clr_image *clone = clr_image_new(image->table, image->root, &image->token);
    const struct clr_image_column *column;
    struct clr_image_column **link;

    if (clone == NULL)
        return NULL;
    link = &clone->columns;
    for (column = image->columns; column != NULL; column = column->next) {
        *link = clone_column(column);
        if (*link == NULL)
            break;
        link = &(*link)->next;
    }
    if (column != NULL || !clr_layout_copy(&clone->layout, &image->layout)) {
        clr_image_free(clone);
        return NULL;
    }
    return clone;
}

int64_t clr_image_drop(struct clr_image *image, bool if_unpinned, uint64_t age)
{
    struct clr_image_column **link = &image->columns;
    int64_t bytes = 0;

    while (*link != NULL) {
        if ((if_unpinned && (*link)->pins > 0) || (age != 0 && (*link)->field.age != age)) {
            link = &(*link)->next;
            continue;
        }
        bytes += (int64_t)(*link)->size;
        if ((*link)->copy != NULL)
            bytes += (int64_t)clr_sharded_size((*link)->copy, NULL);
        clr_image_remove(link);
    }
    return bytes;
}

void clr_image_replace(struct clr_image_column *column, struct clr_column *content,
                       const struct clr_row_ranges *fresh)
{
    struct clr_sharded *before = column->copy;

    column->copy =
        before == NULL || fresh == NULL ? NULL : clr_sharded_change(before, content, fresh);
    column->column = content;
    clr_sharded_release(before);
}

/* Finds a column, with bytes or without. */
static struct clr_image_column *find_any(const struct clr_image *image,
                                         const struct clr_field *field)
{
    struct clr_image_column *column = image->columns;

    while (column != NULL && !clr_field_is_same(&column->field, field))
        column = column->next;
    return column;
}

/* Whether what is TEXT or a BLOB in the column is there with its bytes: also if nothing is, and
   with codes, by whose dictionary it is. */
static bool has_bytes(const struct clr_column *column)
{
    return column->with_bytes || column->rows == 0 || !clr_column_has_text(column);
}

struct clr_image_column *clr_image_find(const struct clr_image *image,
                                        const struct clr_field *field)
{
    struct clr_image_column *column = find_any(image, field);

    return column != NULL && column->unvalued == NULL &&
                   (!field->with_bytes || has_bytes(column->column))
               ? column
               : NULL;
}

struct clr_image_column *clr_image_find_unvalued(const struct clr_image *image,
                                                 const struct clr_field *field)
{
    struct clr_image_column *column = find_any(image, field);

    return column != NULL && column->unvalued != NULL ? column : NULL;
}

struct clr_image_column *clr_image_add(struct clr_image *image, const char *name,
                                       const struct clr_field *field, struct clr_column *column)
{
    struct clr_image_column *added = find_any(image, field);

    if (added != NULL) {
        clr_column_release(added->column);
        clr_image_replace(added, column, NULL);
        clr_page_set_free(added->unvalued);
        added->unvalued = NULL;
        added->field = *field;
        own_expression(added);
        return added;
    }
    added = clr_sqlite_alloc_zero(sizeof *added);
    if (added == NULL) {
        clr_column_release(column);
        return NULL;
    }
    added->column = column;
    added->field = *field;
    added->name = sqlite3_mprintf("%s", name);
    if (added->name == NULL) {
        free_column(added);
        return NULL;
    }
    own_expression(added);
    added->next = image->columns;
    image->columns = added;
    return added;
}

void clr_image_remove(struct clr_image_column **link)
{
    struct clr_image_column *column = *link;

    *link = column->next;
    free_column(column);
}

void clr_image_measure(struct clr_image *image)
{
    struct clr_image_column *column;

    image->is_known = image->layout.known;
    image->size = clr_layout_size(&image->layout);
    for (column = image->columns; column != NULL; column = column->next) {
        column->size = 0;
        clr_image_measure_column(image, column);
    }
}

void clr_image_measure_column(struct clr_image *image, struct clr_image_column *column)
{
    image->size -= column->size;
    column->size = clr_column_size(column->column);
    image->size += column->size;
}

const char *clr_image_column_type(const struct clr_image_column *column, const char *mixed)
{
    static const char *const names[] = {"NULL", "INTEGER", "REAL", "TEXT or BLOB"};
    static const char *const units[] = {"codes",         "codes of minutes", "codes of hours",
                                        "codes of days", "codes of minutes", "codes of hours",
                                        "codes of days", "codes of days"};

    if (column->column->codes != NULL)
        return units[column->field.unit];
    if (column->field.times != 0)
        return "times";
    return column->column->kind == CLR_TAG_MIXED ? mixed : names[column->column->kind];
}
