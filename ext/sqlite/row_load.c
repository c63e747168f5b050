#include "sqlite/row_load.h"

#include "sqlite/table_info.h"

#include <string.h>

static void put(struct clr_column *column, size_t row, struct clr_scalar value)
{
    column->values[row] = value.tag == CLR_TAG_OTHER ? 0 : value.bits;
    if (row == 0) {
        column->kind = value.tag;
    } else if (column->kind != CLR_TAG_MIXED && column->kind != value.tag) {
        memset(column->tags, column->kind, row);
        column->kind = CLR_TAG_MIXED;
    }
    if (column->kind == CLR_TAG_MIXED)
        column->tags[row] = value.tag;
}

static const char pointer_type[] = "clreduce row load";

static void step(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct clr_row_load *load = count > 0 ? sqlite3_value_pointer(values[0], pointer_type) : NULL;
    int i;

    if (load == NULL || load->count != count - 1) {
        sqlite3_result_error(context, CLR_ROW_LOADER "() is for accelerated views alone", -1);
    } else if (load->rows == load->most) {
        sqlite3_result_error_toobig(context);
    } else {
        for (i = 0; i < load->count; i++)
            put(load->columns[i], load->rows, clr_scalar_of(values[i + 1]));
        load->rows++;
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
    int rc = sqlite3_prepare_v2(connection->db, sql, -1, &statement, NULL), i;

    load->rows = 0;
    if (rc != SQLITE_OK)
        return rc;
    rc = sqlite3_bind_pointer(statement, 1, load, pointer_type, NULL);
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        ;
    for (i = 0; i < load->count; i++)
        load->columns[i]->rows = load->rows;
    if (rc != SQLITE_OK) {
        sqlite3_finalize(statement);
        return rc;
    }
    return sqlite3_finalize(statement);
}
