#include "base/memory.h"
#include "numeric/values/column.h"
#include "numeric/values/value.h"
#include "opencl/memory/test_values.h"
#include "opencl/sort/sorted_column.h"
#include "opencl/sort/sorter_private.h"

#include <stdlib.h>
#include <string.h>

/* Several groups of several tiles each; a multiple of nothing. Groups that are small need fewer
   values for that. */
enum { VALUES = 30011, GROUPS = 5, TILES = 17 };

/* What the test needs on the host. */
struct room {
    size_t count;
    int64_t values[VALUES], expected[VALUES], found[VALUES];
};

static int compare_keys(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void expect(struct room *room, uint8_t kind, struct clr_runs *runs)
{
    const bool real = kind == CLR_TAG_REAL;
    int64_t key, previous = 0;
    uint64_t length = 0;
    size_t i;

    for (i = 0; i < room->count; i++)
        room->expected[i] = real ? clr_real_to_key(room->values[i]) : room->values[i];
    qsort(room->expected, room->count, sizeof room->expected[0], compare_keys);
    memset(runs, 0, sizeof *runs);
    for (i = 0; i < room->count; i++) {
        key = real && room->expected[i] == -1 ? 0 : room->expected[i];
        length = i > 0 && key == previous ? length + 1 : 1;
        runs->distinct += length == 1;
        if (length > runs->longest) {
            runs->longest = length;
            runs->mode = key;
        }
        previous = key;
    }
}

static enum clr_code sort_on_device(struct clr_device *device, struct room *room,
                                    struct clr_resident_column *column,
                                    struct clr_sorted_column *sorted, struct clr_status *status)
{
    const uint64_t ranks[] = {room->count - 1, 0, room->count / 2};
    struct clr_device_work work = {0, 0, 0, 0, 0};
    int64_t keys[3];
    bool complete = false;
    int i;

    while (!complete) {
        if (clr_sorted_column_step(device, sorted, column, &complete, status) != CLR_OK)
            return status->code;
    }
    if (clr_sorted_column_read(device, sorted, 0, room->count, room->found, &work, status) !=
            CLR_OK ||
        clr_sorted_column_find(device, sorted, ranks, 3, keys, &work, status) != CLR_OK)
        return status->code;
    for (i = 0; i < 3; i++)
        room->found[ranks[i]] = keys[i];
    return CLR_OK;
}

/* device_kind: as of clr_column_device_kind(). */
static enum clr_code test_kind(struct clr_device *device, struct room *room, uint8_t device_kind,
                               struct clr_status *status)
{
    const uint8_t kind = clr_kind_wide(device_kind);
    const struct clr_frame frame =
        clr_test_frame(device_kind, kind == CLR_TAG_INTEGER ? INT64_MIN : -500);
    struct clr_sorted_column *sorted = clr_sorted_column_new(kind, room->count);
    struct clr_resident_column *column = NULL;
    const struct clr_runs *found;
    struct clr_runs expected;
    size_t i;

    clr_test_values(room->values, room->count, kind);
    for (i = 0; i < room->count; i++)
        room->values[i] = clr_test_frame_value(&frame, room->values[i]);
    expect(room, kind, &expected);
    if (sorted == NULL)
        clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    else
        column =
            clr_test_column(device, device_kind, &frame, room->values, NULL, room->count, status);
    if (column != NULL && sort_on_device(device, room, column, sorted, status) == CLR_OK) {
        found = clr_sorted_column_runs(sorted);
        if (memcmp(room->found, room->expected, room->count * sizeof room->found[0]) != 0 ||
            found->distinct != expected.distinct || found->longest != expected.longest ||
            found->mode != expected.mode)
            clr_status_set(status, CLR_DEVICE, 0,
                           "self-test: the device's order differs from the host's");
    }
    device = clr_device_unless_lost(device, status);
    clr_sorted_column_free(device, sorted);
    clr_resident_column_free(device, column);
    return status->code;
}

enum clr_code clr_sorter_test(struct clr_device *device, struct clr_status *status)
{
    size_t groups = clr_sorter_of(device)->most_groups, least = clr_sorter_of(device)->least_span;
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
    room->count = TILES * clr_sorter_tile(clr_sorter_of(device)) + 11;
    if (clr_sorter_of(device)->group_size == 1 || room->count > VALUES)
        room->count = VALUES;
    clr_sorter_of(device)->most_groups = GROUPS;
    clr_sorter_of(device)->least_span = 1;
    for (i = 0; i < sizeof kinds && status->code == CLR_OK; i++)
        test_kind(device, room, kinds[i], status);
    clr_sorter_of(device)->most_groups = groups;
    clr_sorter_of(device)->least_span = least;
    clr_memory_free(room);
    return status->code;
}
