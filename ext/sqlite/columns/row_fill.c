#include "sqlite/columns/row_fill.h"

#include "sqlite/columns/row_load.h"
#include "sqlite/session/encoding.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* What to fill: names and fields side by side. */
struct wanted {
    int count;
    const char *names[CLR_MOST_COLUMNS];
    struct clr_field fields[CLR_MOST_COLUMNS];
    struct clr_column *columns[CLR_MOST_COLUMNS];
};

/* Returns the text of a query over the table, with the columns where it says so, or NULL. */
static char *write_select(const struct clr_column_request *request, const char *head,
                          const struct wanted *wanted, const char *tail)
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

static void want(struct wanted *wanted, const char *name, const struct clr_field *field)
{
    wanted->names[wanted->count] = name;
    wanted->fields[wanted->count++] = *field;
}

/* Whether one column serves both fields, which is with bytes if one of them is. */
static bool is_same(const struct clr_field *a, const struct clr_field *b)
{
    return a->index == b->index && a->with_codes == b->with_codes;
}

/*
 * What the query needs, and what the image has: SQLite need not read the rows in the same order the
 * next time (PRAGMA reverse_unordered_selects), so all columns are filled at once. Names are the
 * table's, as images do not outlive its schema.
 */
static void collect(const struct clr_column_request *request, struct wanted *wanted)
{
    const struct clr_table_info *table = request->table;
    const struct clr_image_column *column;
    int i;

    wanted->count = 0;
    for (i = 0; i < request->query->column_count; i++) {
        const struct clr_field field = clr_column_field(request->query, table, true, i);
        want(wanted, clr_column_request_info(request, i)->name, &field);
    }
    for (column = request->image->columns; column != NULL && wanted->count < CLR_MOST_COLUMNS;
         column = column->next) {
        for (i = 0; i < wanted->count && !is_same(&wanted->fields[i], &column->field); i++)
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
    if (column->dictionary != NULL)
        return column->dictionary->has_null;
    return column->rows > 0 && (column->kind == CLR_TAG_NULL ||
                                (column->kind == CLR_TAG_MIXED &&
                                 memchr(column->tags, CLR_TAG_NULL, column->rows) != NULL));
}

/* Returns a column that is to be filled, or NULL. */
static struct clr_column *new_column(const struct clr_field *field, size_t rows,
                                     atomic_int_least64_t *left)
{
    struct clr_dictionary *dictionary;
    struct clr_column *column;
    uint64_t seed;

    if (!field->with_codes) {
        column = clr_column_new(rows);
        if (column == NULL)
            return NULL;
        column->with_bytes = field->with_bytes;
        column->bytes.left = left;
        return column;
    }
    sqlite3_randomness(sizeof seed, &seed);
    dictionary = clr_dictionary_new(seed, left);
    column = dictionary == NULL ? NULL : clr_column_new_codes(dictionary, rows, sizeof(uint32_t));
    clr_dictionary_release(dictionary);
    return column;
}

/* Has a column's values take no more bytes than they need. */
static void narrow_values(struct clr_column **column)
{
    struct clr_column *wide = *column, *narrow;
    const struct clr_frame bounds = clr_frame_find(NULL, wide->values, wide->rows);

    narrow = clr_column_begin_narrow(wide, &bounds);
    if (narrow == NULL)
        return;
    clr_column_narrow_rows(narrow, wide, 0, wide->rows);
    clr_column_release(wide);
    *column = narrow;
}

/* Completes a column that was filled: values and codes take no more bytes than they need. */
static bool finish(struct clr_column **column)
{
    struct clr_column *wide = *column, *narrow;
    struct clr_dictionary *dictionary = wide->dictionary;
    uint8_t code_bytes;

    wide->bytes.left = NULL;
    if (dictionary == NULL) {
        narrow_values(column);
        return true;
    }
    dictionary->bytes.left = NULL;
    wide->entries_read = dictionary->count;
    code_bytes = clr_column_code_bytes(dictionary->count);
    if (code_bytes == wide->code_bytes)
        return true;
    narrow = clr_column_new_codes(dictionary, wide->rows, code_bytes);
    if (narrow == NULL)
        return false;
    clr_column_map_codes(narrow, 0, wide, 0, wide->rows, NULL);
    narrow->rows = wide->rows;
    narrow->entries_read = wide->entries_read;
    clr_column_release(wide);
    *column = narrow;
    return true;
}

/* Makes room for so many rows, and has SQLite fill it. Returns SQLite's code. */
static int fill(const struct clr_column_request *request, struct wanted *wanted,
                struct clr_row_load *load)
{
    const int64_t rows = (int64_t)load->most * CLR_ROW_BYTES * (wanted->count + 1);
    atomic_int_least64_t left;
    char *sql;
    int i, rc;

    for (i = 0; i < wanted->count; i++)
        wanted->columns[i] = NULL;
    atomic_init(&left, clr_column_memory() - rows);
    for (i = 0; i < wanted->count; i++) {
        wanted->columns[i] = new_column(&wanted->fields[i], load->most, &left);
        if (wanted->columns[i] == NULL)
            return SQLITE_NOMEM;
    }
    sql = write_select(request, "SELECT " CLR_ROW_LOADER "(?1", wanted, ")");
    if (sql == NULL)
        return SQLITE_NOMEM;
    load->columns = wanted->columns;
    load->count = wanted->count;
    rc = clr_row_load(request->connection, sql, load);
    sqlite3_free(sql);
    for (i = 0; i < wanted->count; i++) {
        if (rc == SQLITE_OK && !finish(&wanted->columns[i]))
            rc = SQLITE_NOMEM;
        if (rc == SQLITE_OK && wanted->fields[i].never_null && has_null(wanted->columns[i]))
            rc = SQLITE_ERROR;
    }
    return rc;
}

/* Puts the columns into the image, which has none. */
static int keep(struct clr_column_request *request, struct wanted *wanted, size_t rows)
{
    struct clr_image *image = request->image;
    struct clr_cached_table *table = image->table;
    int i, rc = SQLITE_OK;

    atomic_store(&table->rows, rows);
    clr_cache_lock();
    image->layout.known = true;
    image->layout.rows = rows;
    for (i = 0; i < wanted->count; i++) {
        if (clr_image_add(image, wanted->names[i], &wanted->fields[i], wanted->columns[i]) == NULL)
            rc = SQLITE_NOMEM;
        table->attempts.filled |= clr_image_bit(&wanted->fields[i]);
        if (wanted->fields[i].with_codes)
            clr_many_values_forget(&table->many_values, wanted->fields[i].index);
    }
    clr_image_measure(image);
    clr_cache_unlock();
    if (wanted->count > 0)
        request->connection->stats.rows_loaded += (int64_t)rows;
    request->reading = (struct clr_reading){
        .kind = CLR_READ_FILLED, .amount = (int64_t)rows, .cause = request->no_pages};
    return rc;
}

/* Makes the image one without columns, which nobody else looks at: another one if a query that
   calls this one is in it. */
static bool drop_columns(struct clr_column_request *request)
{
    if (!clr_cache_begin_change(&request->image, request->watch, false))
        return false;
    clr_image_drop(request->image, false);
    clr_layout_free(&request->image->layout);
    return true;
}

int clr_row_fill(struct clr_column_request *request)
{
    const int columns = request->query->column_count;
    struct clr_cached_table *table = request->image->table;
    struct clr_row_load load = {.many_values = -1};
    struct wanted wanted;
    int rc;

    /* To count rows is to read them all: not if there were far too many the last time. */
    request->is_too_large = columns > 0 && !have_room(atomic_load(&table->rows) / 2, columns);
    if (request->is_too_large)
        return SQLITE_OK;
    rc = count_rows(request, &load.most);
    if (rc == SQLITE_OK)
        rc = clr_encoding_find(request->connection->db, &load.encoding);
    if (rc != SQLITE_OK || load.encoding == 0)
        return rc == SQLITE_OK ? SQLITE_ERROR : rc;
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
    release(&wanted);
    request->is_too_large = load.is_full;
    if (load.many_values < 0 || rc != SQLITE_TOOBIG)
        return rc;
    clr_column_request_has_many_values(request, wanted.names[load.many_values],
                                       &wanted.fields[load.many_values]);
    return SQLITE_OK;
}
