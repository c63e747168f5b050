#include "base/memory.h"
#include "numeric/values/column.h"
#include "opencl/cells/cell_decoder_private.h"
#include "opencl/cells/decoded_column.h"
#include "opencl/cells/narrowed_column.h"
#include "opencl/memory/test_values.h"

#include <string.h>

/* Rows, and among them one that is unlike the others. */
enum { ROWS = 5000, ODD = 4321 };

struct room {
    int64_t values[ROWS], expected[ROWS], found[ROWS];
    uint8_t tags[ROWS];
};

/* What columns have: INTEGERs, prices, the same with an odd one of more decimals, with a neighbour
   of a price, and with NULLs; and any REALs. */
enum family { INTEGERS, PRICES, MORE_DECIMALS, NO_PRICE, NULLS, ANY, FAMILIES };

static void make_values(struct room *room, enum family family)
{
    size_t i;

    if (family == ANY)
        clr_test_values(room->values, ROWS, CLR_TAG_REAL);
    for (i = 0; i < ROWS && family != ANY; i++)
        room->values[i] = family == INTEGERS ? (int64_t)i * 13 - 3000
                                             : clr_decimal_bits((int64_t)i * 7 - 1999, 1e2);
    memset(room->tags, family == INTEGERS ? CLR_TAG_INTEGER : CLR_TAG_REAL, ROWS);
    if (family == MORE_DECIMALS)
        room->values[ODD] = clr_decimal_bits(12345, 1e3);
    if (family == NO_PRICE)
        room->values[ODD]++;
    for (i = 0; i < ROWS && family == NULLS; i += 3) {
        room->values[i] = 0;
        room->tags[i] = CLR_TAG_NULL;
    }
}

/* Whether the column, with that frame, has what the host would keep. */
static enum clr_code compare(struct clr_device *device, struct room *room,
                             const struct clr_resident_column *column, struct clr_status *status)
{
    const struct clr_frame bounds = clr_frame_find(NULL, room->values, ROWS);
    const struct clr_frame frame = clr_frame_choose(&bounds, 1);
    const struct clr_frame own = clr_resident_column_frame(column);
    const size_t size = ROWS * (frame.bytes == 0 ? sizeof(int64_t) : frame.bytes);
    bool complete = false, same = clr_frame_is_same(&frame, &own);
    size_t done = 0;

    memcpy(room->expected, room->values, sizeof room->values);
    if (frame.bytes != 0)
        clr_frame_keep(&frame, room->values, ROWS, room->expected, 0);
    while (same && !complete) {
        if (clr_resident_column_fetch(device, column, room->found, room->tags, &done, &complete,
                                      status) != CLR_OK)
            return status->code;
    }
    if (!same || memcmp(room->found, room->expected, size) != 0)
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's narrow values differ from the host's");
    return status->code;
}

static enum clr_code test_family(struct clr_device *device, struct room *room, enum family family,
                                 struct clr_status *status)
{
    struct clr_resident_column *column = clr_resident_column_new(CLR_TAG_MIXED, 0);
    unsigned tags;

    if (column == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    make_values(room, family);
    if (clr_decoded_column_reserve(device, column, ROWS, status) == CLR_OK &&
        clr_decoded_column_write(device, column, 0, room->values, room->tags, ROWS, status) ==
            CLR_OK &&
        clr_decoded_column_conclude(device, column, ROWS, &tags, status) == CLR_OK &&
        clr_decoded_column_narrow(device, column, status) == CLR_OK)
        compare(device, room, column, status);
    clr_resident_column_free(clr_device_unless_lost(device, status), column);
    return status->code;
}

enum clr_code clr_narrowed_column_test(struct clr_device *device, struct clr_status *status)
{
    struct room *room = clr_memory_alloc(sizeof *room);
    int family;

    if (room == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    for (family = 0; family < FAMILIES && status->code == CLR_OK; family++)
        test_family(device, room, (enum family)family, status);
    clr_memory_free(room);
    return status->code;
}
