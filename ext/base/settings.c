#include "base/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A setting whose limits are both 0 is text; one that is 1 at most is off or on. */
struct setting {
    const char *name;
    size_t offset;
    int64_t initial, least, greatest;
    const char *meaning;
};

static const struct setting settings_table[] = {
    {"device", offsetof(struct clr_settings, device), 0, 0, 0,
     "auto (GPU, accelerator, CPU device, host), gpu, accelerator, cpu, host, or part of a "
     "device's or platform's name"},
    {"chunk_size", offsetof(struct clr_settings, chunk_size), 65536, 16, 16777216,
     "values of one type in a full chunk, the unit of work of a device"},
    {"host_threshold", offsetof(struct clr_settings, host_threshold), 4096, 1, INT64_MAX,
     "fewer values than this of one type in a full chunk are reduced on the host"},
    {"start_after", offsetof(struct clr_settings, start_after), 1048576, 0, INT64_MAX,
     "values that a connection feeds before auto starts a device, which takes longer than these"},
    {"chunks_in_flight", offsetof(struct clr_settings, chunks_in_flight), 4, 1,
     CLR_CHUNKS_IN_FLIGHT_LIMIT, "chunks of one aggregate that a device may hold at a time"},
    {"device_timeout", offsetof(struct clr_settings, device_timeout), 10000, 100, 86400000,
     "milliseconds to wait for a device's answer; without one the process uses it no more"},
    {"view_threshold", offsetof(struct clr_settings, view_threshold), 1000, 0, INT64_MAX,
     "rows of a table below which SQLite runs a view's SELECT itself"},
    {"column_memory", offsetof(struct clr_settings, column_memory), 0, 0, INT64_MAX,
     "bytes of decoded columns kept for views on the host, and as many on a device; larger tables "
     "stream; 0: a quarter of either's memory"},
    {"values_memory", offsetof(struct clr_settings, values_memory), 0, 0, INT64_MAX,
     "bytes that running aggregates may take for the values they keep; 0: a quarter of the memory"},
    {"override", offsetof(struct clr_settings, override), 0, 0, 1,
     "on: sum, total and avg are gpu_sum, gpu_total and gpu_avg, for as long as the connection is "
     "open"},
};

enum { SETTINGS = sizeof settings_table / sizeof settings_table[0] };

static int is_text(const struct setting *setting)
{
    return setting->least == 0 && setting->greatest == 0;
}

static int is_switch(const struct setting *setting)
{
    return setting->greatest == 1;
}

static void *place(struct clr_settings *settings, const struct setting *setting)
{
    return (char *)settings + setting->offset;
}

void clr_settings_init(struct clr_settings *settings)
{
    const char *device = getenv("CLREDUCE_DEVICE");
    size_t i;

    for (i = 0; i < SETTINGS; i++) {
        if (!is_text(&settings_table[i]))
            memcpy(place(settings, &settings_table[i]), &settings_table[i].initial,
                   sizeof settings_table[i].initial);
    }
    if (device == NULL || device[0] == '\0')
        device = "auto";
    snprintf(settings->device, sizeof settings->device, "%s", device);
}

static enum clr_code refuse_name(const char *name, struct clr_status *status)
{
    char names[256] = "";
    size_t i, used = 0;

    for (i = 0; i < SETTINGS; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ",
                                 settings_table[i].name);
    return clr_status_set(status, CLR_INVALID, 0, "no setting '%.60s'; there are: %s", name, names);
}

static enum clr_code set_integer(struct clr_settings *settings, const struct setting *setting,
                                 const char *value, struct clr_status *status)
{
    char *end;
    long long number;
    int64_t stored;

    errno = 0;
    number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < setting->least ||
        number > setting->greatest)
        return clr_status_set(status, CLR_INVALID, 0,
                              "%s must be an integer from %" PRId64 " to %" PRId64 ", not '%.60s'",
                              setting->name, setting->least, setting->greatest, value);
    stored = number;
    memcpy(place(settings, setting), &stored, sizeof stored);
    return CLR_OK;
}

static enum clr_code set_switch(struct clr_settings *settings, const struct setting *setting,
                                const char *value, struct clr_status *status)
{
    const int64_t stored = strcmp(value, "on") == 0;

    if (stored == 0 && strcmp(value, "off") != 0)
        return clr_status_set(status, CLR_INVALID, 0, "%s must be 'on' or 'off', not '%.60s'",
                              setting->name, value);
    memcpy(place(settings, setting), &stored, sizeof stored);
    return CLR_OK;
}

enum clr_code clr_settings_set(struct clr_settings *settings, const char *name, const char *value,
                               struct clr_status *status)
{
    size_t i;

    for (i = 0; i < SETTINGS; i++) {
        const struct setting *setting = &settings_table[i];
        if (strcmp(setting->name, name) != 0)
            continue;
        if (is_switch(setting))
            return set_switch(settings, setting, value, status);
        if (!is_text(setting))
            return set_integer(settings, setting, value, status);
        if (value[0] == '\0' || strlen(value) >= CLR_SETTING_TEXT_SIZE)
            return clr_status_set(status, CLR_INVALID, 0, "%s must have 1 to %d bytes, not %zu",
                                  name, CLR_SETTING_TEXT_SIZE - 1, strlen(value));
        memcpy(place(settings, setting), value, strlen(value) + 1);
        return CLR_OK;
    }
    return refuse_name(name, status);
}

static void show(struct clr_settings *settings, const struct setting *setting, char *text)
{
    int64_t number;

    if (is_text(setting)) {
        snprintf(text, CLR_SETTING_TEXT_SIZE, "%s", (char *)place(settings, setting));
        return;
    }
    memcpy(&number, place(settings, setting), sizeof number);
    if (is_switch(setting))
        snprintf(text, CLR_SETTING_TEXT_SIZE, "%s", number != 0 ? "on" : "off");
    else
        snprintf(text, CLR_SETTING_TEXT_SIZE, "%" PRId64, number);
}

int clr_settings_describe(const struct clr_settings *settings, size_t i,
                          struct clr_setting_description *description)
{
    struct clr_settings current = *settings, defaults;

    if (i >= SETTINGS)
        return 0;
    clr_settings_init(&defaults);
    description->name = settings_table[i].name;
    description->meaning = settings_table[i].meaning;
    show(&current, &settings_table[i], description->value);
    show(&defaults, &settings_table[i], description->default_value);
    return 1;
}
