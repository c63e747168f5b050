#include "sqlite/columns/row_loader.h"

#include "sqlite/schema/table_info.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <string.h>

static void put(struct clr_column *column, size_t row, struct clr_scalar value)
{
    column->values[row] = value.bits;
    if (row == 0) {
        column->kind = value.tag;
    } else if (column->kind != CLR_TAG_MIXED && column->kind != value.tag) {
        memset(column->tags, column->kind, row);
        column->kind = CLR_TAG_MIXED;
    }
    if (column->kind == CLR_TAG_MIXED)
        column->tags[row] = value.tag;
}

/* Adds a TEXT or BLOB to the column, and stores its address. */
static enum clr_code add_bytes(struct clr_column *column, sqlite3_value *argument, int encoding,
                               int64_t *address)
{
    struct clr_value value;
    unsigned char *to;

    if (!clr_value_read_in(argument, encoding, &value))
        return CLR_NOMEM;
    to = clr_bytes_add(&column->bytes, value.kind, value.as.size, address);
    if (to != NULL && value.as.size > 0)
        memcpy(to, value.bytes, value.as.size);
    return column->bytes.code;
}

/* Puts a value's code into the column. */
static enum clr_code put_code(struct clr_column *column, size_t row, enum clr_time_unit unit,
                              sqlite3_value *argument, int encoding)
{
    uint32_t *code = (uint32_t *)column->codes + row;
    const struct clr_scalar number = clr_scalar_of(argument);
    unsigned char first[CLR_TIMESTAMP_MOST];
    struct clr_value value;

    if (number.tag != CLR_TAG_BYTES)
        return clr_dictionary_add(column->dictionary, clr_time_unit_of_number(unit, false, number),
                                  code);
    if (!clr_value_read_in(argument, encoding, &value))
        return CLR_NOMEM;
    if (unit != CLR_TIME_NONE && value.kind == CLR_KIND_TEXT &&
        clr_time_unit_of_text(unit, false, value.bytes, value.as.size, first))
        value.bytes = first;
    return clr_dictionary_add_bytes(column->dictionary, value.kind, value.bytes, value.as.size,
                                    code);
}

/* Puts a row into the column number i, of codes. */
static enum clr_code put_coded(struct clr_row_load *load, int i, sqlite3_value *argument)
{
    const struct clr_dictionary *dictionary = load->columns[i]->dictionary;
    enum clr_code code =
        put_code(load->columns[i], load->rows, load->fields[i].unit, argument, load->encoding);

    if ((code == CLR_OK &&
         clr_field_has_many_values(&load->fields[i], dictionary, load->rows + 1)) ||
        (code == CLR_LIMIT && dictionary->count == CLR_DICTIONARY_MOST)) {
        load->many_values = i;
        code = CLR_LIMIT;
    }
    return code;
}

/* Puts a row into the column number i, of times. */
static enum clr_code put_time(struct clr_row_load *load, int i, sqlite3_value *argument)
{
    const int type = sqlite3_value_type(argument);
    struct clr_scalar count = {.tag = type == SQLITE_NULL ? CLR_TAG_NULL : CLR_TAG_INTEGER};
    struct clr_value value;

    if (type == SQLITE_TEXT && !clr_value_read_in(argument, load->encoding, &value))
        return CLR_NOMEM;
    if (type != SQLITE_NULL &&
        (type != SQLITE_TEXT ||
         !clr_timestamp_count(load->fields[i].times, value.bytes, value.as.size, &count.bits))) {
        load->many_values = i;
        return CLR_LIMIT;
    }
    put(load->columns[i], load->rows, count);
    return CLR_OK;
}

/* Puts a row into the columns. */
static enum clr_code put_row(struct clr_row_load *load, sqlite3_value **values)
{
    enum clr_code code = CLR_OK;
    int i;

    for (i = 0; i < load->count && code == CLR_OK; i++) {
        struct clr_scalar value;

        if (load->columns[i]->codes != NULL) {
            code = put_coded(load, i, values[i]);
            continue;
        }
        if (load->fields[i].times != 0) {
            code = put_time(load, i, values[i]);
            continue;
        }
        value = clr_scalar_of(values[i]);
        /* A derived column of values is one of numbers: with others it is of no use. */
        if (value.tag == CLR_TAG_BYTES && load->fields[i].derived != NULL) {
            load->many_values = i;
            code = CLR_LIMIT;
            continue;
        }
        if (value.tag == CLR_TAG_BYTES && load->columns[i]->with_bytes)
            code = add_bytes(load->columns[i], values[i], load->encoding, &value.bits);
        put(load->columns[i], load->rows, value);
    }
    load->rows += code == CLR_OK;
    return code;
}

static const char pointer_type[] = "clreduce row load";

static void step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct clr_row_load *load = count > 0 ? sqlite3_value_pointer(values[0], pointer_type) : NULL;
    enum clr_code code = CLR_LIMIT;

    if (load == NULL || load->count != count - 1) {
        sqlite3_result_error(context, CLR_ROW_LOADER "() is for accelerated views alone", -1);
        return;
    }
    if (load->rows < load->most)
        code = put_row(load, values + 1);
    if (code == CLR_LIMIT) {
        load->is_full = load->many_values < 0;
        sqlite3_result_error_toobig(context);
    } else if (code != CLR_OK) {
        sqlite3_result_error_nomem(context);
    }
}

/* What it gives, NULL, nobody looks at. */
static void end_aggregate(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

const struct clr_sql_function clr_row_loader_functions[] = {
    {CLR_ROW_LOADER, -1, SQLITE_DIRECTONLY, step, end_aggregate},
    {.name = NULL},
};

/* Has the statement go over a range of rows, or over all that it is of. */
static int run_range(sqlite3_stmt *statement, const struct clr_rowid_range *range,
                     struct clr_row_load *load)
{
    const size_t before = load->rows;
    int rc = SQLITE_OK;

    if (range != NULL)
        rc = sqlite3_bind_int64(statement, 2, range->first);
    if (range != NULL && rc == SQLITE_OK)
        rc = sqlite3_bind_int64(statement, 3, range->last);
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        ;
    if (rc == SQLITE_OK)
        rc = sqlite3_reset(statement);
    if (rc == SQLITE_OK && range != NULL && load->rows - before != range->rows)
        rc = SQLITE_ERROR;
    return rc;
}

/* ---- Columns that are filled. */

/* Returns a column that is to be filled, with one reference, or NULL without memory. left: bytes
   that are left for TEXT, BLOBs and entries, until the column is finished. */
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

/* Completes a column that was filled: values and codes take no more bytes than they need,
   unless values stay wide. Returns false without memory. */
static bool finish(struct clr_column **column, bool stays_wide)
{
    struct clr_column *wide = *column, *narrow;
    struct clr_dictionary *dictionary = wide->dictionary;
    uint8_t code_bytes;

    wide->bytes.left = NULL;
    if (dictionary == NULL) {
        narrow = stays_wide ? NULL : clr_column_new_narrow(wide);
        if (narrow != NULL) {
            clr_column_release(wide);
            *column = narrow;
        }
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

/* Fills the columns, each with its rows and kind. */
static int fill(struct clr_connection *connection, const char *sql,
                const struct clr_rowid_range *ranges, size_t range_count, struct clr_row_load *load)
{
    sqlite3_stmt *statement = NULL;
    int rc = clr_statement_make(connection->db, sql, 0, &statement), i;
    size_t k;

    if (rc != SQLITE_OK)
        return rc;
    rc = sqlite3_bind_pointer(statement, 1, load, pointer_type, NULL);
    if (rc == SQLITE_OK && ranges == NULL)
        rc = run_range(statement, NULL, load);
    for (k = 0; k < range_count && rc == SQLITE_OK; k++)
        rc = run_range(statement, &ranges[k], load);
    for (i = 0; i < load->count; i++)
        load->columns[i]->rows = load->rows;
    return clr_statement_end(statement, rc);
}

int clr_row_load_run(struct clr_connection *connection, const char *sql,
                     const struct clr_rowid_range *ranges, size_t range_count,
                     struct clr_row_load *load)
{
    atomic_int_least64_t left;
    int made, rc, i;

    load->rows = 0;
    load->is_full = false;
    load->many_values = -1;
    atomic_init(&left, load->left);
    rc = clr_encoding_find(connection->db, &load->encoding);
    if (rc == SQLITE_OK && load->encoding == 0)
        rc = SQLITE_ERROR;
    for (made = 0; made < load->count && rc == SQLITE_OK; made++) {
        load->columns[made] = new_column(&load->fields[made], load->most, &left);
        rc = load->columns[made] == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    if (rc == SQLITE_OK)
        rc = fill(connection, sql, ranges, range_count, load);
    for (i = 0; i < made && rc == SQLITE_OK; i++)
        rc = finish(&load->columns[i], load->stays_wide) ? SQLITE_OK : SQLITE_NOMEM;
    for (i = 0; i < made && rc != SQLITE_OK; i++)
        clr_column_release(load->columns[i]);
    return rc;
}
