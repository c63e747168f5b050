#include "sqlite/inspect/device_table.h"

#include "engine/rows/choice.h"
#include "engine/worker/runtime.h"
#include "opencl/core/catalog.h"
#include "sqlite/cache/cache_memory.h"

#include <strings.h>

/* In the order of the declaration below. */
enum {
    COLUMN_PLATFORM,
    COLUMN_NAME,
    COLUMN_TYPE,
    COLUMN_VERSION,
    COLUMN_COMPUTE_UNITS,
    COLUMN_MEMORY,
    COLUMN_FP64,
    COLUMN_ARITHMETIC,
    COLUMN_IN_USE,
    COLUMN_REASON,
    COLUMN_COLUMN_BYTES
};

/* The devices are followed by a row with only a reason, if discovery failed, and by one if it left
   something out. */
static sqlite3_int64 count(struct clr_connection *connection)
{
    const struct clr_catalog *catalog = clr_runtime_catalog(connection->settings.device);

    if (catalog == NULL)
        return 0;
    return (sqlite3_int64)catalog->count + (catalog->status.code != CLR_OK) +
           (catalog->left_out[0] != '\0');
}

/* What the device's worker says, if it has been started; else all 0. */
static struct clr_worker_report report_of(size_t row)
{
    struct clr_worker *worker = clr_runtime_started_worker(row);
    struct clr_worker_report report = {0};

    if (worker != NULL)
        clr_worker_report(worker, &report);
    return report;
}

/* Sets the reason why a device is not in use. */
static void result_reason(const struct clr_catalog *catalog, size_t row,
                          const struct clr_settings *settings, sqlite3_context *result)
{
    const struct clr_device_info *device = &catalog->devices[row];
    const struct clr_worker_report report = report_of(row);
    const char *setting = settings->device;
    int chosen = clr_catalog_choose(catalog, setting);
    char *text;

    if (device->unusable[0] != '\0')
        text = sqlite3_mprintf("%s", device->unusable);
    else if (report.failed)
        text = sqlite3_mprintf("failed: %s", report.status.message);
    else if (clr_choice_uses(settings, row))
        return;
    else if (!clr_catalog_matches(device, setting))
        text = sqlite3_mprintf("the setting device is '%s'%s", setting,
                               device->type == CLR_DEVICE_CPU && strcasecmp(setting, "auto") == 0
                                   ? ": it uses no CPU device, as the host's threads are as quick"
                                   : "");
    else if (clr_catalog_is_alike(device, &catalog->devices[chosen]))
        text = sqlite3_mprintf("the setting devices is %lld%s", (long long)settings->devices,
                               settings->devices > 0 ? "" : ": of CPU devices one is used");
    else
        text = sqlite3_mprintf("%s is preferred", catalog->devices[chosen].name);
    if (text == NULL)
        sqlite3_result_error_nomem(result);
    else
        sqlite3_result_text(result, text, -1, sqlite3_free);
}

static void column(struct clr_connection *connection, size_t row, int column,
                   sqlite3_context *result)
{
    const struct clr_catalog *catalog = clr_runtime_catalog(connection->settings.device);
    const struct clr_device_info *device;
    struct clr_worker *worker;

    if (catalog == NULL)
        return;
    if (row >= catalog->count) {
        if (column == COLUMN_IN_USE)
            sqlite3_result_int(result, 0);
        else if (column == COLUMN_REASON)
            clr_result_text(result, row == catalog->count && catalog->status.code != CLR_OK
                                        ? catalog->status.message
                                        : catalog->left_out);
        return;
    }
    device = &catalog->devices[row];
    switch (column) {
    case COLUMN_PLATFORM:
        clr_result_text(result, device->platform);
        break;
    case COLUMN_NAME:
        clr_result_text(result, device->name);
        break;
    case COLUMN_TYPE:
        clr_result_text(result, clr_device_type_name(device->type));
        break;
    case COLUMN_VERSION:
        clr_result_text(result, device->version);
        break;
    case COLUMN_COMPUTE_UNITS:
        sqlite3_result_int64(result, device->compute_units);
        break;
    case COLUMN_MEMORY:
        sqlite3_result_int64(result, (sqlite3_int64)device->memory);
        break;
    case COLUMN_FP64:
        sqlite3_result_int(result, device->fp64);
        break;
    case COLUMN_ARITHMETIC:
        clr_result_text(result, device->doubles && !report_of(row).integers ? "fp64" : "integer");
        break;
    case COLUMN_IN_USE:
        sqlite3_result_int(result, clr_choice_uses(&connection->settings, row));
        break;
    case COLUMN_REASON:
        result_reason(catalog, row, &connection->settings, result);
        break;
    case COLUMN_COLUMN_BYTES:
        worker = clr_runtime_started_worker(row);
        sqlite3_result_int64(result, worker == NULL ? 0 : clr_column_device_bytes(worker));
        break;
    default:
        break;
    }
}

const struct clr_table clr_device_table = {
    .name = "clreduce_devices",
    .declaration =
        "CREATE TABLE clreduce_devices(platform TEXT, name TEXT, type TEXT, version TEXT, "
        "compute_units INTEGER, memory_bytes INTEGER, fp64 INTEGER, arithmetic TEXT, in_use "
        "INTEGER, reason TEXT, column_bytes INTEGER)",
    .innocuous = false,
    .count = count,
    .column = column,
};
