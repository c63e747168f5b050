/* What a user is told of a view: how it answers, and what it has read. */
#include "sqlite/view/acceleration.h"

#include "base/status.h"
#include "query/query.h"
#include "sqlite/cache/cache.h"

enum { DEVICES_TEXT = 32 };

/* Says how many devices there are, if not one. */
static void add_devices(int count, char text[DEVICES_TEXT])
{
    text[0] = '\0';
    if (count > 1)
        sqlite3_snprintf(DEVICES_TEXT, text, " (%d devices)", count);
}

/* Returns the newest image of a table that a connection may see, or NULL; one that the calling
   thread is changing is none. */
static struct clr_image *look_up_image(const struct clr_connection *connection, const char *schema,
                                       const char *name, bool is_filled)
{
    const struct clr_cached_table *table;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        const char *known = clr_cache_schema(connection, table);

        if (table->is_filled == is_filled && known != NULL && sqlite3_stricmp(known, schema) == 0 &&
            sqlite3_stricmp(table->name, name) == 0 && table->images != NULL &&
            !table->images->is_changing)
            return table->images;
    }
    return NULL;
}

/* With the cache's lock. */
static struct clr_image *find_image(const struct clr_acceleration *acceleration)
{
    const struct clr_table_info *table = &acceleration->plan->table;

    return look_up_image(acceleration->connection, table->schema, table->name,
                         acceleration->last.is_filled);
}

/* What happened, or will. */
static void describe_way(struct clr_acceleration *acceleration, char line[CLR_REASON_TEXT])
{
    const struct clr_last_run *last = &acceleration->last;
    char text[CLR_REASON_TEXT], devices[DEVICES_TEXT];

    if (last->reason.code != CLR_WHY_NONE) {
        clr_reason_print(&last->reason, text);
        sqlite3_snprintf(CLR_REASON_TEXT, line, "row by row: %s", text);
    } else {
        add_devices(last->device_count, devices);
        sqlite3_snprintf(CLR_REASON_TEXT, line, "accelerated: %s%s%s",
                         !last->was_asked                          ? "not run yet"
                         : last->is_kept                           ? "answer kept"
                         : last->reading.kind == CLR_READ_STREAMED ? "host, streaming the table"
                         : last->device == NULL                    ? "host"
                                                                   : "device ",
                         last->device == NULL ? "" : last->device, devices);
    }
}

static void describe_table(struct clr_acceleration *acceleration, char line[CLR_REASON_TEXT])
{
    const struct clr_table_info *table = &acceleration->plan->table;
    const struct clr_image *image;

    clr_cache_lock_unchanging(acceleration->connection);
    image = find_image(acceleration);
    sqlite3_snprintf(CLR_REASON_TEXT, line, "table %s.%s, %lld rows when last read", table->schema,
                     table->name,
                     image == NULL ? 0LL : (long long)atomic_load(&image->table->rows));
    clr_cache_unlock();
}

/* Says how many devices have a column's copy. */
static void name_devices(const struct clr_image_column *column, char text[DEVICES_TEXT])
{
    const int count = clr_division_devices(clr_sharded_division(column->copy));

    if (count > 1)
        sqlite3_snprintf(DEVICES_TEXT, text, "%d devices", count);
    else
        sqlite3_snprintf(DEVICES_TEXT, text, "the device");
}

/* Where a column is besides. */
static void describe_copy(const struct clr_image_column *column, char text[CLR_REASON_TEXT])
{
    const enum clr_residence state =
        column->copy == NULL ? CLR_RESIDENT_FAILED : clr_sharded_state(column->copy);
    const char *where = "also on";
    char devices[DEVICES_TEXT];

    text[0] = '\0';
    if (state == CLR_RESIDENT_FAILED)
        return;
    name_devices(column, devices);
    if (state == CLR_RESIDENT_COMING)
        where = "on its way to";
    else if (clr_sharded_is_shared(column->copy))
        where = "shared with";
    sqlite3_snprintf(CLR_REASON_TEXT, text, ", %s %s", where, devices);
}

static void describe_column(struct clr_acceleration *acceleration, int i,
                            char line[CLR_REASON_TEXT])
{
    const struct clr_plan *plan = acceleration->plan;
    const char *name = clr_column_name(plan->query, &plan->table, i);
    const struct clr_image_column *column = NULL;
    struct clr_image *image;
    struct clr_field field;
    char copy[CLR_REASON_TEXT];

    clr_cache_lock_unchanging(acceleration->connection);
    image = find_image(acceleration);
    if (image != NULL) {
        field = clr_column_field(plan->query, &plan->table, &acceleration->deriving,
                                 image->table->is_filled, i);
        column = clr_image_find(image, &field);
    }
    if (column == NULL)
        sqlite3_snprintf(CLR_REASON_TEXT, line, "column %s: not resident", name);
    else {
        describe_copy(column, copy);
        sqlite3_snprintf(CLR_REASON_TEXT, line, "column %s: %s, %lld bytes%s", name,
                         clr_image_column_type(column, "of several types"),
                         (long long)clr_column_size(column->column), copy);
    }
    clr_cache_unlock();
}

static void describe_reading(const struct clr_reading *reading, char line[CLR_REASON_TEXT])
{
    const long long amount = (long long)reading->amount;
    struct clr_reason cause = {.code = reading->cause};
    const char *why = "";
    char text[CLR_REASON_TEXT];

    clr_reason_print(&cause, text);
    switch (reading->kind) {
    case CLR_READ_NOTHING:
        sqlite3_snprintf(CLR_REASON_TEXT, line, "read the last time: nothing");
        return;
    case CLR_READ_RESIDENT:
        sqlite3_snprintf(CLR_REASON_TEXT, line,
                         "read the last time: 0 bytes: all columns are resident");
        return;
    case CLR_READ_RESIDENT_ROWS:
        sqlite3_snprintf(CLR_REASON_TEXT, line,
                         "read the last time: 0 rows: all columns are resident, filled through "
                         "SQLite, since %s",
                         text);
        return;
    case CLR_READ_FILLED:
        sqlite3_snprintf(CLR_REASON_TEXT, line, "read the last time: %lld rows through SQLite: %s",
                         amount, text);
        return;
    case CLR_READ_REFRESHED:
        sqlite3_snprintf(CLR_REASON_TEXT, line,
                         "read the last time: %lld bytes: %llu of %llu leaf pages have changed",
                         amount, (unsigned long long)reading->leaves_read,
                         (unsigned long long)reading->leaves);
        return;
    case CLR_READ_ABSENT:
        why = "the columns were not resident";
        break;
    case CLR_READ_CHANGED:
        why = "the database has changed";
        break;
    case CLR_READ_STREAMED:
        why = "the columns take more than column_memory";
        break;
    }
    sqlite3_snprintf(CLR_REASON_TEXT, line, "read the last time: %lld bytes: %s", amount, why);
}

bool clr_acceleration_describe(struct clr_acceleration *acceleration, int i)
{
    const struct clr_plan *plan = acceleration->plan;
    char *line = acceleration->line;

    if (i == 0)
        describe_way(acceleration, line);
    else if (plan == NULL || i > 2 + plan->query->column_count)
        return false;
    else if (i == 1)
        describe_table(acceleration, line);
    else if (i < 2 + plan->query->column_count)
        describe_column(acceleration, i - 2, line);
    else
        describe_reading(&acceleration->last.reading, line);
    clr_utf8_repair(line);
    return true;
}
