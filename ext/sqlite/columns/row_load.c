#include "sqlite/columns/row_load.h"

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
static enum clr_code put_code(struct clr_column *column, size_t row, sqlite3_value *argument,
                              int encoding)
{
    uint32_t *code = (uint32_t *)column->codes + row;
    const struct clr_scalar number = clr_scalar_of(argument);
    struct clr_value value;

    if (number.tag != CLR_TAG_BYTES)
        return clr_dictionary_add(column->dictionary, number, code);
    if (!clr_value_read_in(argument, encoding, &value))
        return CLR_NOMEM;
    return clr_dictionary_add_bytes(column->dictionary, value.kind, value.bytes, value.as.size,
                                    code);
}

/* Puts a row into the column number i, of codes. */
static enum clr_code put_coded(struct clr_row_load *load, int i, sqlite3_value *argument)
{
    const struct clr_dictionary *dictionary = load->columns[i]->dictionary;
    enum clr_code code = put_code(load->columns[i], load->rows, argument, load->encoding);

    if ((code == CLR_OK && clr_dictionary_is_large(dictionary, load->rows + 1)) ||
        (code == CLR_LIMIT && dictionary->count == CLR_DICTIONARY_MOST)) {
        load->many_values = i;
        code = CLR_LIMIT;
    }
    return code;
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
        value = clr_scalar_of(values[i]);
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
static void finish(sqlite3_context *context)
{
    sqlite3_result_null(context);
}

int clr_row_loader_register(struct clr_connection *connection)
{
    return sqlite3_create_function_v2(
        connection->db, CLR_ROW_LOADER, -1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
        clr_connection_retain(connection), NULL, step, finish, clr_connection_release);
}

int clr_row_load(struct clr_connection *connection, const char *sql, struct clr_row_load *load)
{
    sqlite3_stmt *statement = NULL;
    int rc = clr_statement_make(connection->db, sql, 0, &statement), i;

    load->rows = 0;
    load->is_full = false;
    load->many_values = -1;
    if (rc != SQLITE_OK)
        return rc;
    rc = sqlite3_bind_pointer(statement, 1, load, pointer_type, NULL);
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        ;
    for (i = 0; i < load->count; i++)
        load->columns[i]->rows = load->rows;
    return clr_statement_end(statement, rc);
}
