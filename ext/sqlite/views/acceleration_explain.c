#include "base/utf8.h"
#include "sqlite/views/acceleration_private.h"

static struct clr_image *find_image(const struct clr_acceleration *acceleration)
{
    return clr_image_look_up(acceleration->connection, acceleration->table.schema,
                             acceleration->table.name, acceleration->by_rows);
}

static void describe_column(struct clr_acceleration *acceleration, int i)
{
    const struct clr_column_info *info = clr_acceleration_column(acceleration, i);
    struct clr_image *image = find_image(acceleration);
    struct clr_image_column *column =
        image == NULL ? NULL : clr_acceleration_find(acceleration, image, i);

    if (column == NULL)
        sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->line, "column %s: not resident", info->name);
    else if (column->column->is_away)
        sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->line,
                         "column %s: %s, %lld bytes on the device", info->name,
                         clr_image_column_type(column, "of several types"),
                         (long long)clr_resident_size(column->resident));
    else
        sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->line, "column %s: %s, %lld bytes%s",
                         info->name, clr_image_column_type(column, "of several types"),
                         (long long)clr_column_size(column->column),
                         clr_image_column_on_device(column) ? ", also on the device" : "");
}

const char *clr_acceleration_explain(struct clr_acceleration *acceleration, int i)
{
    const struct clr_image *image;
    int columns;

    if (!acceleration->planned)
        clr_acceleration_plan(acceleration);
    if (i == 0)
        return acceleration->verdict;
    if (acceleration->query == NULL)
        return NULL;
    columns = acceleration->query->column_count;
    if (i == 1) {
        image = find_image(acceleration);
        sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->line, "table %s.%s, %lld rows when last read",
                         acceleration->table.schema, acceleration->table.name,
                         image == NULL ? 0LL : (long long)image->rows);
    } else if (i < 2 + columns) {
        describe_column(acceleration, i - 2);
    } else if (i == 2 + columns) {
        sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->line, "read the last time: %s",
                         acceleration->reading[0] == '\0' ? "nothing" : acceleration->reading);
    } else {
        return NULL;
    }
    clr_utf8_repair(acceleration->line);
    return acceleration->line;
}
