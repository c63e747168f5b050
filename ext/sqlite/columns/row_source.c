#include "sqlite/columns/column_source.h"

#include "sqlite/columns/row_loader.h"
#include "sqlite/schema/walk.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* ---- Filling an image with columns through SQLite. */

/* Returns the text of a query over the table, with the columns where it says so, or NULL. */
static char *write_select(const struct clr_column_request *request, const char *head,
                          const struct clr_new_columns *wanted, const char *tail)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    sqlite3_str_appendall(text, head);
    for (i = 0; wanted != NULL && i < wanted->count; i++)
        sqlite3_str_appendf(text, ", \"%w\"", wanted->names[i]);
    sqlite3_str_appendf(text, "%s FROM \"%w\".\"%w\" NOT INDEXED", tail, request->table->schema,
                        request->table->name);
    return sqlite3_str_finish(text);
}

/* Whether so many rows of so many columns fit into column_memory. */
static bool have_room(size_t rows, int columns)
{
    const int64_t budget = clr_column_memory();

    return rows <= (size_t)(budget / CLR_ROW_BYTES) / (size_t)(columns + 1);
}

static int count_rows(const struct clr_column_request *request, size_t *rows)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare_text(request->connection->db, &statement,
                                        write_select(request, "SELECT count(*)", NULL, ""));

    *rows = 0;
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *rows = (size_t)sqlite3_column_int64(statement, 0);
    return clr_statement_end(statement, rc);
}

static void want(struct clr_new_columns *wanted, const char *name, const struct clr_field *field)
{
    wanted->names[wanted->count] = name;
    wanted->fields[wanted->count++] = *field;
}

/*
 * What the query needs, and what the image has: SQLite need not read the rows in the same order the
 * next time (PRAGMA reverse_unordered_selects), so all columns are filled at once. Names are the
 * table's, as images do not outlive its schema.
 */
static void collect(const struct clr_column_request *request, struct clr_new_columns *wanted)
{
    const struct clr_table_info *table = request->table;
    const struct clr_image_column *column;
    int i;

    wanted->count = 0;
    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_request_field(request, i);
        want(wanted, clr_column_name(request->query, table, i), &field);
    }
    for (column = request->image->columns; column != NULL && wanted->count < CLR_MOST_COLUMNS;
         column = column->next) {
        for (i = 0; i < wanted->count && !clr_field_is_like(&wanted->fields[i], &column->field);
             i++)
            ;
        /* One column serves both fields, with bytes if one of them is. */
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

/* Whether a column that was filled has a NULL. */
static bool has_null(const struct clr_column *column)
{
    if (column->dictionary != NULL)
        return column->dictionary->has_null;
    return column->rows > 0 && (column->kind == CLR_TAG_NULL ||
                                (column->kind == CLR_TAG_MIXED &&
                                 memchr(column->tags, CLR_TAG_NULL, column->rows) != NULL));
}

/* Takes note of whether the statement begins with the last row (PRAGMA reverse_unordered_selects):
   DISTINCT does not, by itself. Returns SQLite's code. */
static int find_direction(const struct clr_column_request *request, const char *sql)
{
    struct clr_bytecode program;
    const int rc = clr_bytecode_read(request->connection->db, &program, "%s", sql);

    if (rc != SQLITE_OK)
        return rc;
    request->image->layout.descends = clr_bytecode_walk(&program).descends;
    clr_bytecode_free(&program);
    return SQLITE_OK;
}

/* Has SQLite fill columns of so many rows. Returns SQLite's code, which is SQLITE_OK with all
   columns, and else without any. */
static int fill(const struct clr_column_request *request, struct clr_new_columns *wanted,
                struct clr_row_load *load)
{
    char *sql = write_select(request, "SELECT " CLR_ROW_LOADER "(?1", wanted, ")");
    bool is_fine = true;
    int i, rc;

    if (sql == NULL)
        return SQLITE_NOMEM;
    load->columns = wanted->columns;
    load->fields = wanted->fields;
    load->count = wanted->count;
    load->left = clr_column_memory() - (int64_t)load->most * CLR_ROW_BYTES * (wanted->count + 1);
    rc = find_direction(request, sql);
    if (rc == SQLITE_OK)
        rc = clr_row_load_run(request->connection, sql, NULL, 0, load);
    sqlite3_free(sql);
    for (i = 0; i < wanted->count && rc == SQLITE_OK; i++)
        is_fine = is_fine && !(wanted->fields[i].never_null && has_null(wanted->columns[i]));
    if (is_fine)
        return rc;
    for (i = 0; i < wanted->count; i++)
        clr_column_release(wanted->columns[i]);
    return SQLITE_ERROR;
}

/* Puts the columns into the image, which has none. */
static int keep(struct clr_column_request *request, const struct clr_new_columns *wanted,
                size_t rows)
{
    struct clr_image *image = request->image;
    int i;

    atomic_store(&image->table->rows, rows);
    image->layout.known = true;
    image->layout.rows = rows;
    for (i = 0; i < wanted->count; i++)
        image->table->attempts.filled |= clr_image_bit(&wanted->fields[i]);
    if (wanted->count > 0)
        request->connection->stats.rows_loaded += (int64_t)rows;
    request->reading = (struct clr_reading){
        .kind = CLR_READ_FILLED, .amount = (int64_t)rows, .cause = request->no_pages};
    return clr_column_request_keep(request, wanted);
}

/* Makes the image one without columns, which nobody else looks at: another one if a query that
   calls this one is in it. */
static bool drop_columns(struct clr_column_request *request)
{
    if (!clr_cache_begin_change(&request->image, request->watch, false))
        return false;
    clr_image_drop(request->image, false, 0);
    clr_layout_free(&request->image->layout);
    return true;
}

/*
 * Has SQLite fill the request's image with the columns that the query needs and those that it has,
 * within the transaction of its version. The table is busy,
 * and the image is to be ended as one that is changed. The image then has the columns; or the
 * request is_too_large; or its
 * reason says that there are too few rows for a scan, or too many values for codes. Returns
 * SQLite's code: a code of SQLite's other than SQLITE_INTERRUPT and SQLITE_NOMEM says that a row's
 * value is an error.
 */
static int row_fill(struct clr_column_request *request)
{
    const int columns = request->query->column_count;
    struct clr_cached_table *table = request->image->table;
    struct clr_row_load load = {.many_values = -1};
    struct clr_new_columns wanted;
    int rc;

    /* To count rows is to read them all: not if there were far too many the last time. */
    request->is_too_large = columns > 0 && !have_room(atomic_load(&table->rows) / 2, columns);
    if (request->is_too_large)
        return SQLITE_OK;
    rc = count_rows(request, &load.most);
    if (rc != SQLITE_OK)
        return rc;
    load.rows = load.most;
    atomic_store(&table->rows, load.rows);
    if (!clr_column_request_check_rows(request, load.most))
        return SQLITE_OK;
    collect(request, &wanted);
    if (!have_room(load.most, wanted.count))
        wanted.count = columns; /* without what others needed */
    request->is_too_large = columns > 0 && !have_room(load.most, columns);
    if (request->is_too_large)
        return SQLITE_OK;
    if (!drop_columns(request))
        return SQLITE_NOMEM;
    rc = wanted.count == 0 ? SQLITE_OK : fill(request, &wanted, &load);
    if (rc == SQLITE_OK)
        return keep(request, &wanted, load.rows);
    request->is_too_large = load.is_full;
    if (load.many_values < 0 || rc != SQLITE_TOOBIG)
        return rc;
    clr_column_request_has_many_values(request, &wanted.fields[load.many_values]);
    if (request->reason.code == CLR_WHY_NONE) /* it was that of another query */
        clr_reason_set(&request->reason, CLR_WHY_ROWS_FAILED);
    return SQLITE_OK;
}

/* ---- The source. */

/*
 * When columns are filled. That takes about as long as the SELECT itself and serves only as long as
 * the database is the same: so the SELECT is run at first, and the columns are filled when it, or
 * another query of these columns, is asked again. Where columns that were filled went before they
 * served any other query, more queries are waited for the next time, twice as many each time, up to
 * CLR_BACKOFF_MOST.
 */

/* Why the columns could not be filled for this version. That is no reason for a query that does not
   lack all that was lacking then. */
static enum clr_reason_code find_refusal(const struct clr_column_request *request, uint64_t lacking)
{
    const struct clr_attempts *attempts = &request->image->table->attempts;

    return attempts->settings != request->connection->settings_changes ||
                   (attempts->refused & ~lacking) != 0
               ? CLR_WHY_NONE
               : attempts->refusal;
}

void clr_row_attempts_end(struct clr_cached_table *table)
{
    struct clr_backoff filling = table->attempts.filling;

    if (table->attempts.served)
        filling = (struct clr_backoff){.pause = 0};
    else if (table->attempts.filled != 0)
        clr_backoff_failed(&filling, 3);
    filling.left = filling.pause;
    table->attempts = (struct clr_attempts){.filling = filling};
}

/* Returns the bits of the columns that the image lacks. */
static uint64_t find_lacking(const struct clr_column_request *request)
{
    uint64_t lacking = 0;
    int i;

    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_request_field(request, i);
        if (clr_image_find(request->image, &field) == NULL)
            lacking |= clr_image_bit(&field);
    }
    return lacking;
}

/* Takes note of a query that lacks columns. Returns whether they are to be filled now. */
static bool are_due(struct clr_cached_table *table, uint64_t lacking)
{
    struct clr_attempts *attempts = &table->attempts;
    bool due;

    if ((attempts->filled & lacking) != 0) /* they had to make room for others */
        clr_row_attempts_end(table);
    due = !clr_backoff_skips(&attempts->filling) && (lacking & ~attempts->asked) == 0;
    attempts->asked |= lacking;
    return due;
}

/* Says that the columns will be filled later. */
static void put_off(struct clr_column_request *request)
{
    const int more = request->image->table->attempts.filling.left;

    clr_reason_set_numbers(&request->reason, more < 2 ? CLR_WHY_ASKED_ONCE : CLR_WHY_ASKED_SELDOM,
                           more, 0);
    request->reason.cause = request->no_pages;
}

int clr_row_columns_fill(struct clr_column_request *request)
{
    struct clr_attempts *attempts = &request->image->table->attempts;
    const uint64_t lacking = find_lacking(request);
    const enum clr_reason_code refusal = find_refusal(request, lacking);
    int rc;

    if (refusal != CLR_WHY_NONE) {
        clr_reason_set(&request->reason, refusal);
        return SQLITE_OK;
    }
    if (!are_due(request->image->table, lacking)) {
        put_off(request);
        return SQLITE_OK;
    }
    if (clr_column_request_expects_many_values(request))
        return SQLITE_OK;
    rc = row_fill(request);
    if (rc == SQLITE_INTERRUPT || rc == SQLITE_NOMEM)
        return rc;
    if (rc == SQLITE_OK && !request->is_too_large)
        return SQLITE_OK;
    attempts->refusal = request->is_too_large ? CLR_WHY_ROWS_TOO_LARGE : CLR_WHY_ROWS_FAILED;
    attempts->refused = lacking;
    attempts->settings = request->connection->settings_changes;
    clr_reason_set(&request->reason, attempts->refusal);
    return SQLITE_OK;
}
