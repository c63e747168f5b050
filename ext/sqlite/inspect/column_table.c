#include "sqlite/inspect/column_table.h"

#include "sqlite/columns/image.h"

/* Finds column number row, over all images. */
static const struct clr_image_column *find(struct clr_connection *connection, size_t row,
                                           const struct clr_image **image)
{
    const struct clr_image_column *column;

    for (*image = clr_images_first(connection); *image != NULL; *image = (*image)->next) {
        for (column = (*image)->columns; column != NULL; column = column->next) {
            if (row-- == 0)
                return column;
        }
    }
    return NULL;
}

static sqlite3_int64 count(struct clr_connection *connection)
{
    const struct clr_image *image;
    const struct clr_image_column *column;
    sqlite3_int64 columns = 0;

    for (image = clr_images_first(connection); image != NULL; image = image->next) {
        for (column = image->columns; column != NULL; column = column->next)
            columns++;
    }
    return columns;
}

static void column(struct clr_connection *connection, size_t row, int number,
                   sqlite3_context *result)
{
    const struct clr_image *image;
    const struct clr_image_column *found = find(connection, row, &image);

    if (found == NULL) /* dropped while the table was read */
        return;
    switch (number) {
    case 0:
        clr_result_text(result, image->schema);
        break;
    case 1:
        clr_result_text(result, image->table);
        break;
    case 2:
        clr_result_text(result, found->name);
        break;
    case 3:
        clr_result_text(result, clr_image_column_type(found, "mixed"));
        break;
    case 4:
        sqlite3_result_int64(result, (sqlite3_int64)found->column->rows);
        break;
    case 5:
        sqlite3_result_int64(result, (sqlite3_int64)clr_column_size(found->column));
        break;
    case 6:
        if (clr_image_column_on_device(found))
            sqlite3_result_int64(result, (sqlite3_int64)clr_resident_size(found->resident));
        break;
    default:
        sqlite3_result_int64(result, found->hits);
        break;
    }
}

const struct clr_table clr_column_table = {
    .name = "clreduce_columns",
    .declaration =
        "CREATE TABLE clreduce_columns(database TEXT, \"table\" TEXT, \"column\" TEXT, type TEXT, "
        "rows INT, bytes INT, device_bytes INT, hits INT)",
    .innocuous = true,
    .count = count,
    .column = column,
};
