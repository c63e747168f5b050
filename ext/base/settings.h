/* The settings of a connection, and those of the process: names, defaults, ranges and meanings. */
#ifndef CLR_BASE_SETTINGS_H
#define CLR_BASE_SETTINGS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { CLR_SETTING_TEXT_SIZE = 128, CLR_CHUNKS_IN_FLIGHT_LIMIT = 64, CLR_DEVICES_LIMIT = 16 };

struct clr_settings {
    char device[CLR_SETTING_TEXT_SIZE]; /* auto, a type, host, or part of a name */
    int64_t devices;                    /* of a kind that work together, at most; 0: see there */
    int64_t chunk_size;                 /* values in a full chunk */
    int64_t host_threshold;             /* values; fewer of one type stay on the host */
    int64_t start_after;                /* values fed before "auto" starts a device */
    int64_t chunks_in_flight;           /* chunks of one aggregate handed to a device at a time */
    int64_t device_timeout;             /* milliseconds to wait for a device's answer */
    int64_t view_threshold;             /* rows; views of smaller tables are run by SQLite */
    int64_t values_memory;              /* bytes of values kept by aggregates; 0: a quarter */
    int64_t keep_answers;               /* whether views keep their last answers */
    int64_t override;                   /* whether sum, total and avg are the exact ones */
};

/* Those that all connections of the process share: whichever sets one sets it for all. */
enum clr_process_setting {
    CLR_NOT_OF_PROCESS,
    CLR_COLUMN_MEMORY,    /* bytes of columns kept for views; 0: a quarter of all */
    CLR_DEVICE_MEMORY,    /* bytes of each device that columns may take; 0: as the one above says */
    CLR_COLUMN_RETENTION, /* milliseconds that a file's columns stay after its last connection */
    CLR_DEVICE_ARITHMETIC, /* of enum clr_arithmetic */
    CLR_DEVICE_COLUMNS,    /* of enum clr_device_columns */
    CLR_PROCESS_SETTINGS
};

/* How devices compute with REALs: by doubles where they have them, or by integers. */
enum clr_arithmetic { CLR_ARITHMETIC_AUTO, CLR_ARITHMETIC_INTEGER, CLR_ARITHMETIC_FP64 };

/* How devices whose memory is the host's have columns: in the host's own arrays, or copied. */
enum clr_device_columns { CLR_DEVICE_COLUMNS_AUTO, CLR_DEVICE_COLUMNS_COPIED };

/* Returns one of them. Any thread may call this. */
int64_t clr_process_setting(enum clr_process_setting wanted);

/* One setting, for listing. */
struct clr_setting_description {
    const char *name, *meaning;
    char value[CLR_SETTING_TEXT_SIZE], default_value[CLR_SETTING_TEXT_SIZE];
};

/* Fills in the defaults; the environment variable CLREDUCE_DEVICE, if set, is that of device, as
   CLREDUCE_DEVICE_ARITHMETIC and CLREDUCE_DEVICE_COLUMNS are those of device_arithmetic and
   device_columns, if they are words of theirs. */
void clr_settings_init(struct clr_settings *settings);

/*
 * Sets the named setting from text. On an unknown name or a value out of range returns
 * CLR_INVALID with a message that lists what is valid, and changes nothing. Whether a device of
 * that name exists is not checked here.
 */
enum clr_code clr_settings_set(struct clr_settings *settings, const char *name, const char *value,
                               struct clr_status *status);

/* Describes setting number i, from 0; returns 0 past the last one, else 1. */
int clr_settings_describe(const struct clr_settings *settings, size_t i,
                          struct clr_setting_description *description);

#endif
