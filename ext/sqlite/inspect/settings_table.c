#include "sqlite/inspect/settings_table.h"

static sqlite3_int64 count(struct clr_connection *connection)
{
    struct clr_setting_description description;
    size_t rows = 0;

    while (clr_settings_describe(&connection->settings, rows, &description))
        rows++;
    return (sqlite3_int64)rows;
}

static void column(struct clr_connection *connection, size_t row, int column,
                   sqlite3_context *result)
{
    struct clr_setting_description description;

    if (!clr_settings_describe(&connection->settings, row, &description))
        return;
    switch (column) {
    case 0:
        clr_result_text(result, description.name);
        break;
    case 1:
        clr_result_text(result, description.value);
        break;
    case 2:
        clr_result_text(result, description.default_value);
        break;
    default:
        clr_result_text(result, description.meaning);
        break;
    }
}

const struct clr_table clr_settings_table = {
    .name = "clreduce_settings",
    .declaration =
        "CREATE TABLE clreduce_settings(name TEXT, value TEXT, \"default\" TEXT, meaning TEXT)",
    .innocuous = true,
    .count = count,
    .column = column,
};
