#include "base/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A setting whose limits are both 0 is text. */
struct setting {
    const char *name;
    size_t offset; /* in the connection's settings, if it is one of them */
    enum clr_process_setting of_process;
    int64_t initial, least, greatest;
    const char *meaning;
    const char *const *words; /* for 0 up to the greatest, if it is one of some words */
    const char *variable;     /* of the environment, with its word until it is set, or NULL */
};

#define OF_CONNECTION(setting)                                                                     \
    .name = #setting, .offset = offsetof(struct clr_settings, setting),                            \
    .of_process = CLR_NOT_OF_PROCESS
#define OF_PROCESS(setting, number) .name = #setting, .of_process = (number)

enum { NOT_SET = -1 };

static atomic_int_least64_t of_process[CLR_PROCESS_SETTINGS] = {[CLR_COLUMN_RETENTION] = NOT_SET,
                                                                [CLR_DEVICE_ARITHMETIC] = NOT_SET,
                                                                [CLR_DEVICE_COLUMNS] = NOT_SET};

static const char *const switches[] = {"off", "on"},
                         *const arithmetic[] = {"auto", "integer", "fp64"},
                         *const columns[] = {"auto", "copied"};

static const struct setting settings_table[] = {
    {OF_CONNECTION(device), 0, 0, 0,
     "auto (GPU, accelerator, host), gpu, accelerator, cpu, host, or part of a "
     "device's or platform's name"},
    {OF_CONNECTION(chunk_size), 16384, 16, 16777216,
     "values of one type in a full chunk, the unit of work of a device"},
    {OF_CONNECTION(host_threshold), 4096, 1, INT64_MAX,
     "fewer values than this of one type in a full chunk are reduced on the host"},
    {OF_CONNECTION(start_after), 1048576, 0, INT64_MAX,
     "values that a connection feeds before auto starts a device, which takes longer than these"},
    {OF_CONNECTION(chunks_in_flight), 2, 1, CLR_CHUNKS_IN_FLIGHT_LIMIT,
     "chunks of one aggregate that a device may hold at a time"},
    {OF_CONNECTION(device_timeout), 10000, 100, 86400000,
     "milliseconds to wait for a device's answer; without one the process uses it no more"},
    {OF_CONNECTION(view_threshold), 1000, 0, INT64_MAX,
     "rows of a table below which SQLite runs a view's SELECT itself"},
    {OF_PROCESS(column_memory, CLR_COLUMN_MEMORY), 0, 0, INT64_MAX,
     "bytes of decoded columns that the process keeps for views on the host, and as many on each "
     "device; larger tables stream; 0: a quarter of either's memory"},
    {OF_PROCESS(device_memory, CLR_DEVICE_MEMORY), 0, 0, INT64_MAX,
     "bytes of each device's memory that columns may take; what of a column does not fit there is "
     "scanned by the host; 0: as column_memory says"},
    {OF_PROCESS(column_retention, CLR_COLUMN_RETENTION), 10000, 0, 86400000,
     "milliseconds that the process keeps columns of a file after its last connection has closed"},
    {OF_CONNECTION(values_memory), 0, 0, INT64_MAX,
     "bytes that running aggregates may take for the values they keep; 0: a quarter of the memory"},
    {OF_CONNECTION(keep_answers), 1, 0, 1,
     "on: a view keeps its last answer, if it is small, until the database changes", switches},
    {OF_CONNECTION(override), 0, 0, 1,
     "on: sum, total and avg are gpu_sum, gpu_total and gpu_avg, for as long as the connection is "
     "open",
     switches},
    {OF_PROCESS(device_arithmetic, CLR_DEVICE_ARITHMETIC), CLR_ARITHMETIC_AUTO, 0,
     CLR_ARITHMETIC_FP64,
     "auto: devices compute REALs in doubles if they have fp64 and are not slower so, else by "
     "integers; integer: by integers, on all devices; fp64: in doubles, on all that have them; to "
     "be set before devices are looked for",
     arithmetic, "CLREDUCE_DEVICE_ARITHMETIC"},
    {OF_PROCESS(device_columns, CLR_DEVICE_COLUMNS), CLR_DEVICE_COLUMNS_AUTO, 0,
     CLR_DEVICE_COLUMNS_COPIED,
     "auto: devices whose memory is the host's use its columns where they lie; copied: they get "
     "copies, as all others do; to be set before devices are looked for",
     columns, "CLREDUCE_DEVICE_COLUMNS"},
    {OF_CONNECTION(devices), 0, 0, CLR_DEVICES_LIMIT,
     "devices of one name that views' columns are divided among, at most; 0: all, and of CPU "
     "devices one"},
};

enum { SETTINGS = sizeof settings_table / sizeof settings_table[0] };

static int is_text(const struct setting *setting)
{
    return setting->least == 0 && setting->greatest == 0;
}

/* Returns the number of the setting's word, or -1 if it is none. */
static int64_t number_of(const struct setting *setting, const char *word)
{
    int64_t i;

    for (i = setting->greatest; i >= 0 && strcmp(setting->words[i], word) != 0; i--)
        ;
    return i;
}

/* Returns what holds until a setting is set. */
static int64_t default_of(const struct setting *setting)
{
    const char *word = setting->variable == NULL ? NULL : getenv(setting->variable);
    const int64_t number = word == NULL ? -1 : number_of(setting, word);

    return number < 0 ? setting->initial : number;
}

int64_t clr_process_setting(enum clr_process_setting wanted)
{
    const int64_t value = atomic_load(&of_process[wanted]);
    const struct setting *setting = settings_table;

    if (value != NOT_SET)
        return value;
    while (setting->of_process != wanted)
        setting++;
    return default_of(setting);
}

static void *place(struct clr_settings *settings, const struct setting *setting)
{
    return (char *)settings + setting->offset;
}

static void store(struct clr_settings *settings, const struct setting *setting, int64_t number)
{
    if (setting->of_process != CLR_NOT_OF_PROCESS)
        atomic_store(&of_process[setting->of_process], number);
    else
        memcpy(place(settings, setting), &number, sizeof number);
}

void clr_settings_init(struct clr_settings *settings)
{
    const char *device = getenv("CLREDUCE_DEVICE");
    size_t i;

    for (i = 0; i < SETTINGS; i++) {
        if (!is_text(&settings_table[i]) && settings_table[i].of_process == CLR_NOT_OF_PROCESS)
            store(settings, &settings_table[i], settings_table[i].initial);
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

    errno = 0;
    number = strtoll(value, &end, 10);
    if (end == value || *end != '\0' || errno != 0 || number < setting->least ||
        number > setting->greatest)
        return clr_status_set(status, CLR_INVALID, 0,
                              "%s must be an integer from %" PRId64 " to %" PRId64 ", not '%.60s'",
                              setting->name, setting->least, setting->greatest, value);
    store(settings, setting, number);
    return CLR_OK;
}

static enum clr_code set_word(struct clr_settings *settings, const struct setting *setting,
                              const char *value, struct clr_status *status)
{
    const char *const *words = setting->words;
    const int64_t number = number_of(setting, value);
    const bool three = setting->greatest > 1;

    if (number < 0)
        return clr_status_set(status, CLR_INVALID, 0, "%s must be %s%s%s'%s' or '%s', not '%.60s'",
                              setting->name, three ? "'" : "", three ? words[2] : "",
                              three ? "', " : "", words[1], words[0], value);
    store(settings, setting, number);
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
        if (setting->words != NULL)
            return set_word(settings, setting, value, status);
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

/* Returns the value of a setting that is no text. */
static int64_t load(struct clr_settings *settings, const struct setting *setting)
{
    int64_t number;

    if (setting->of_process != CLR_NOT_OF_PROCESS)
        return clr_process_setting(setting->of_process);
    memcpy(&number, place(settings, setting), sizeof number);
    return number;
}

static void show(const struct setting *setting, int64_t number, char *text)
{
    if (setting->words != NULL)
        snprintf(text, CLR_SETTING_TEXT_SIZE, "%s", setting->words[number]);
    else
        snprintf(text, CLR_SETTING_TEXT_SIZE, "%" PRId64, number);
}

int clr_settings_describe(const struct clr_settings *settings, size_t i,
                          struct clr_setting_description *description)
{
    const struct setting *setting = &settings_table[i];
    struct clr_settings current = *settings, defaults;

    if (i >= SETTINGS)
        return 0;
    description->name = setting->name;
    description->meaning = setting->meaning;
    if (is_text(setting)) {
        clr_settings_init(&defaults);
        memcpy(description->value, place(&current, setting), CLR_SETTING_TEXT_SIZE);
        memcpy(description->default_value, place(&defaults, setting), CLR_SETTING_TEXT_SIZE);
        return 1;
    }
    show(setting, load(&current, setting), description->value);
    show(setting, default_of(setting), description->default_value);
    return 1;
}
