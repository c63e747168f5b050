#include "sqlite/columns/row_load.h"
#include "sqlite/views/acceleration_private.h"

#include <string.h>

enum { ROW_BYTES = 9 /* a value and, maybe, a tag */ };

/* What to fill: names and fields side by side. */
struct wanted {
    int count;
    const char *names[CLR_MOST_COLUMNS];
    struct clr_field fields[CLR_MOST_COLUMNS];
    struct clr_column *columns[CLR_MOST_COLUMNS];
};

/* Returns the text of a query over the table, with the columns where it says so, or NULL. */
static char *write_select(const struct clr_acceleration *acceleration, const char *head,
                          const struct wanted *wanted, const char *tail)
{
    sqlite3_str *text = sqlite3_str_new(acceleration->connection->db);
    int i;

    sqlite3_str_appendall(text, head);
    for (i = 0; wanted != NULL && i < wanted->count; i++)
        sqlite3_str_appendf(text, ", \"%w\"", wanted->names[i]);
    sqlite3_str_appendf(text, "%s FROM \"%w\".\"%w\" NOT INDEXED", tail, acceleration->table.schema,
                        acceleration->table.name);
    return sqlite3_str_finish(text);
}

/* Whether so many rows of so many columns fit into column_memory. */
static bool have_room(const struct clr_acceleration *acceleration, size_t rows, int columns)
{
    const int64_t budget = clr_acceleration_budget(acceleration->connection);

    return rows <= (size_t)(budget / ROW_BYTES) / (size_t)(columns + 1);
}

static int count_rows(const struct clr_acceleration *acceleration, size_t *rows)
{
    char *sql = write_select(acceleration, "SELECT count(*)", NULL, "");
    sqlite3_stmt *statement = NULL;
    int rc = SQLITE_NOMEM;

    *rows = 0;
    if (sql != NULL)
        rc = sqlite3_prepare_v2(acceleration->connection->db, sql, -1, &statement, NULL);
    sqlite3_free(sql);
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *rows = (size_t)sqlite3_column_int64(statement, 0);
    return rc == SQLITE_OK ? sqlite3_finalize(statement) : rc;
}

static void want(struct wanted *wanted, const char *name, const struct clr_field *field)
{
    wanted->names[wanted->count] = name;
    wanted->fields[wanted->count++] = *field;
}

/*
 * What the query needs, and what the image has: SQLite need not read the rows in the same order the
 * next time (PRAGMA reverse_unordered_selects), so all columns are filled at once. Names are the
 * table's, as images do not outlive its schema.
 */
static void collect(const struct clr_acceleration *acceleration, struct clr_image *image,
                    struct wanted *wanted)
{
    const struct clr_table_info *table = &acceleration->table;
    const struct clr_image_column *column;
    int i;

    wanted->count = 0;
    for (i = 0; i < acceleration->query->column_count; i++) {
        const struct clr_field field = clr_acceleration_field(acceleration, image, i);
        want(wanted, clr_acceleration_column(acceleration, i)->name, &field);
    }
    for (column = image->columns; column != NULL && wanted->count < CLR_MOST_COLUMNS;
         column = column->next) {
        for (i = 0; i < wanted->count && wanted->fields[i].index != column->field.index; i++)
            ;
        if (i < wanted->count)
            wanted->fields[i].with_bytes |= column->field.with_bytes;
        else
            want(wanted,
                 table
                     ->columns[column->field.index == CLR_FIELD_ROWID ? table->column_count
                                                                      : column->field.index]
                     .name,
                 &column->field);
    }
}

static void release(struct wanted *wanted)
{
    int i;

    for (i = 0; i < wanted->count; i++) {
        clr_column_release(wanted->columns[i]);
        wanted->columns[i] = NULL;
    }
}

/* Whether a column that was filled has a NULL. */
static bool has_null(const struct clr_column *column)
{
    return column->rows > 0 && (column->kind == CLR_TAG_NULL ||
                                (column->kind == CLR_TAG_MIXED &&
                                 memchr(column->tags, CLR_TAG_NULL, column->rows) != NULL));
}

/* Makes room for so many rows, and has SQLite fill it. Returns SQLite's code. */
static int fill(const struct clr_acceleration *acceleration, struct wanted *wanted,
                struct clr_row_load *load)
{
    const int64_t rows = (int64_t)load->most * ROW_BYTES * (wanted->count + 1);
    atomic_int_least64_t left;
    char *sql;
    int i, rc;

    for (i = 0; i < wanted->count; i++)
        wanted->columns[i] = NULL;
    atomic_init(&left, clr_acceleration_budget(acceleration->connection) - rows);
    for (i = 0; i < wanted->count; i++) {
        wanted->columns[i] = clr_column_new(load->most);
        if (wanted->columns[i] == NULL)
            return SQLITE_NOMEM;
        wanted->columns[i]->with_bytes = wanted->fields[i].with_bytes;
        wanted->columns[i]->bytes.left = &left;
    }
    sql = write_select(acceleration, "SELECT " CLR_ROW_LOADER "(?1", wanted, ")");
    if (sql == NULL)
        return SQLITE_NOMEM;
    load->columns = wanted->columns;
    load->count = wanted->count;
    rc = clr_row_load(acceleration->connection, sql, load);
    sqlite3_free(sql);
    for (i = 0; i < wanted->count; i++) {
        wanted->columns[i]->bytes.left = NULL;
        if (rc == SQLITE_OK && wanted->fields[i].never_null && has_null(wanted->columns[i]))
            rc = SQLITE_ERROR;
    }
    return rc;
}

/* Puts the columns into the image, which has none. */
static int keep(struct clr_acceleration *acceleration, struct clr_image *image,
                struct wanted *wanted, size_t rows)
{
    int i, rc = SQLITE_ROW;

    image->layout.known = true;
    image->layout.rows = image->rows = rows;
    for (i = 0; i < wanted->count; i++) {
        if (clr_image_add(image, wanted->names[i], &wanted->fields[i], wanted->columns[i]) == NULL)
            rc = SQLITE_NOMEM;
        image->attempts.loaded |= clr_image_bit(&wanted->fields[i]);
    }
    if (wanted->count > 0)
        acceleration->connection->stats.rows_loaded += (int64_t)rows;
    return rc;
}

/* What is returned where SQLite could not fill the columns. */
static int fail(int rc)
{
    return rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM ? rc : SQLITE_ERROR;
}

int clr_acceleration_fill(struct clr_acceleration *acceleration, struct clr_image *image,
                          const char *why)
{
    const int columns = acceleration->query->column_count;
    struct clr_row_load load = {0};
    struct wanted wanted;
    int rc;

    /* To count rows is to read them all: not if there were far too many the last time. */
    if (columns > 0 && !have_room(acceleration, image->rows / 2, columns))
        return SQLITE_TOOBIG;
    rc = count_rows(acceleration, &load.most);
    if (rc != SQLITE_OK)
        return fail(rc);
    image->rows = load.rows = load.most;
    rc = clr_acceleration_check_rows(acceleration, load.most);
    if (rc != SQLITE_ROW)
        return rc;
    collect(acceleration, image, &wanted);
    if (!have_room(acceleration, load.most, wanted.count))
        wanted.count = columns; /* without what others needed */
    if (columns > 0 && !have_room(acceleration, load.most, columns))
        return SQLITE_TOOBIG;
    clr_image_drop(image);
    rc = wanted.count == 0 ? SQLITE_OK : fill(acceleration, &wanted, &load);
    if (rc != SQLITE_OK) {
        release(&wanted);
        return load.is_full ? SQLITE_TOOBIG : fail(rc);
    }
    sqlite3_snprintf(CLR_PLAN_TEXT, acceleration->reading, "%lld rows through SQLite: %s",
                     (long long)load.rows, why);
    return keep(acceleration, image, &wanted, load.rows);
}
