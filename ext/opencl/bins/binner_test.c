#include "base/memory.h"
#include "numeric/values/column.h"
#include "opencl/bins/binner_private.h"
#include "opencl/memory/test_values.h"

#include <string.h>

/* Several launches of several groups each; multiples of nothing. */
enum { VALUES = 30011, LAUNCH = 9001, MOST_BINS = 6007 };

/* What the test needs on the host. */
struct room {
    int64_t values[VALUES];
    uint64_t expected[MOST_BINS + 2], found[MOST_BINS + 2];
};

/* The ends of the last are so far apart that there is no guess. */
static const struct {
    struct clr_value low, high;
    int64_t count;
    size_t copies; /* of a group's counters: 0 for those in memory */
} tests[] = {
    {{CLR_KIND_REAL, {.real = -512.5}, NULL}, {CLR_KIND_REAL, {.real = 511.25}, NULL}, 37, 32},
    {{CLR_KIND_INTEGER, {.integer = -512}, NULL},
     {CLR_KIND_INTEGER, {.integer = 512}, NULL},
     MOST_BINS,
     0},
    {{CLR_KIND_REAL, {.real = -1.7e308}, NULL}, {CLR_KIND_REAL, {.real = 1.7e308}, NULL}, 19, 2},
};

static void expect(struct room *room, const struct clr_bins *bins, enum clr_kind kind)
{
    size_t i;

    memset(room->expected, 0, sizeof room->expected);
    for (i = 0; i < VALUES; i++) {
        struct clr_value value = {.kind = kind};
        memcpy(&value.as, &room->values[i], sizeof room->values[i]);
        room->expected[clr_bins_find(bins, &value) + 1]++;
    }
}

/* One of the tests, on a column. */
static enum clr_code test_bins(struct clr_device *device, struct room *room, size_t number,
                               const struct clr_resident_column *column, enum clr_kind kind,
                               struct clr_status *status)
{
    struct clr_device_work work = {0, 0, 0, 0, 0};
    struct clr_bin_bounds bounds;
    struct clr_bins bins;

    clr_bins_init(&bins, &tests[number].low, &tests[number].high, tests[number].count);
    if (!clr_bin_bounds_init(&bounds, &bins, kind))
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    expect(room, &bins, kind);
    memset(room->found, 0, sizeof room->found);
    clr_binner_of(device)->most_copies = tests[number].copies;
    if (clr_binner_count(device, column, &bounds, room->found, &work, status) == CLR_OK &&
        memcmp(room->found, room->expected, sizeof room->found) != 0)
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's bins differ from the host's");
    clr_bin_bounds_clear(&bounds);
    return status->code;
}

/* device_kind: as of clr_column_device_kind(). */
static enum clr_code test_kind(struct clr_device *device, struct room *room, uint8_t device_kind,
                               struct clr_status *status)
{
    const uint8_t tag = clr_kind_wide(device_kind);
    const enum clr_kind kind = tag == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER;
    const struct clr_frame frame = clr_test_frame(device_kind, -100);
    struct clr_resident_column *column;
    size_t i;

    clr_test_values(room->values, VALUES, tag);
    for (i = 0; i < VALUES; i++)
        room->values[i] = clr_test_frame_value(&frame, room->values[i]);
    column = clr_test_column(device, device_kind, &frame, room->values, NULL, VALUES, status);
    for (i = 0; i < sizeof tests / sizeof tests[0] && status->code == CLR_OK; i++)
        test_bins(device, room, i, column, kind, status);
    clr_resident_column_free(clr_device_unless_lost(device, status), column);
    return status->code;
}

enum clr_code clr_binner_test(struct clr_device *device, struct clr_status *status)
{
    const size_t copies = clr_binner_of(device)->most_copies;
    const uint64_t values = clr_binner_of(device)->most_values;
    static const uint8_t kinds[] = {CLR_TAG_INTEGER,
                                    CLR_TAG_REAL,
                                    CLR_TAG_NARROW + 1,
                                    CLR_TAG_NARROW + 2,
                                    CLR_TAG_NARROW + 4,
                                    CLR_TAG_NARROW_REAL + CLR_TAG_DECIMALS + 1,
                                    CLR_TAG_NARROW_REAL + CLR_TAG_DECIMALS + 2,
                                    CLR_TAG_NARROW_REAL + CLR_TAG_DECIMALS + 4};
    struct room *room = clr_memory_alloc(sizeof *room);
    size_t i;

    if (room == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    clr_binner_of(device)->most_values = LAUNCH;
    for (i = 0; i < sizeof kinds && status->code == CLR_OK; i++)
        test_kind(device, room, kinds[i], status);
    clr_binner_of(device)->most_values = values;
    clr_binner_of(device)->most_copies = copies;
    clr_memory_free(room);
    return status->code;
}
