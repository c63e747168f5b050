/*
 * Columns that a device has decoded and narrows: their frames and what is kept of their values are
 * those that the host would have for the same values, of random INTEGERs and REALs at the borders
 * of frames and of decimals, among NULLs and others.
 */
#include "numeric/values/column.h"
#include "opencl/cells/cell_decoder_private.h"
#include "opencl/cells/decoded_column.h"
#include "opencl/cells/narrowed_column.h"
#include "opencl/core/device_private.h"
#include "opencl/devices.h"
#include "opencl/memory/resident_column_private.h"
#include "random.h"

#include "batch.h"
#include "tap.h"

#include <math.h>

enum { STAGES = 1, MOST_ROWS = 20000 };

static struct clr_device *device;
static int64_t values[MOST_ROWS], expected[MOST_ROWS], found[MOST_ROWS];
static uint8_t tags[MOST_ROWS], found_tags[MOST_ROWS];
static int met[5]; /* by bytes */
static int decimals_met;

static int64_t bits_of(double real)
{
    int64_t bits;

    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static int64_t draw_integer(int64_t least, uint64_t distance)
{
    return (int64_t)((uint64_t)least + random_below(distance + 1));
}

/* A distance at the border of a width, or any. */
static uint64_t draw_distance(void)
{
    static const int widths[] = {8, 16, 32};
    const uint64_t border = (uint64_t)1 << widths[random_below(3)];

    return random_below(3) == 0 ? random_below((uint64_t)1 << 33) : border - 2 + random_below(4);
}

/* Makes INTEGERs that lie so far apart, the ends among them. */
static void make_integers(size_t rows, int64_t least, uint64_t distance)
{
    size_t i;

    for (i = 0; i < rows; i++)
        values[i] = draw_integer(least, distance);
    values[random_below(rows)] = least;
    values[random_below(rows)] = (int64_t)((uint64_t)least + distance);
    memset(tags, CLR_TAG_INTEGER, rows);
}

/* Makes REALs of those integers: decimals, of which some have fewer. */
static void make_decimals(size_t rows, double power)
{
    size_t i;

    for (i = 0; i < rows; i++)
        values[i] = clr_decimal_bits(values[i], power);
    memset(tags, CLR_TAG_REAL, rows);
}

/* Puts something odd in one of the rows, or a few. */
static void spoil(size_t rows)
{
    const int64_t odd[] = {
        bits_of(-0.0),     bits_of(INFINITY), bits_of(-INFINITY), 1,
        bits_of(0x1p52),   bits_of(0x1p-70),  bits_of(0.1 + 0.2), bits_of(0.5),
        bits_of(-1e-9),    bits_of(1e9),      bits_of(0x1p50),    bits_of(-0x1p50),
        bits_of(1.0 / 3.0)};
    size_t row = (size_t)random_below(rows);

    switch (random_below(4)) {
    case 0: /* a neighbour */
        values[row] += random_below(2) ? 1 : -1;
        break;
    case 1:
        values[row] = odd[random_below(sizeof odd / sizeof odd[0])];
        break;
    case 2:
        values[row] = random_integer();
        tags[row] = CLR_TAG_INTEGER;
        break;
    default:
        for (; row < rows; row += 1 + (size_t)random_below(10)) {
            values[row] = 0;
            tags[row] = random_below(2) ? CLR_TAG_NULL : CLR_TAG_BYTES;
        }
    }
}

static void make(size_t rows)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    const uint64_t distance = draw_distance();
    int64_t least = -(int64_t)random_below(distance + 1);

    if (random_below(3) == 0) {
        least = random_integer() >> random_below(64);
        if (least > 0 && distance > (uint64_t)(INT64_MAX - least))
            least -= (int64_t)distance;
        make_integers(rows, least, distance);
    } else {
        if (random_below(3) == 0)
            least = draw_integer(-(CLR_DECIMALS_MOST - 2), 2 * CLR_DECIMALS_MOST - 4 - distance);
        if (random_below(8) == 0) /* next to a power of two */
            least = ((int64_t)1 << random_below(50)) - 3;
        make_integers(rows, least, random_below(4) == 0 ? random_below(8) : distance);
        make_decimals(rows, powers[random_below(10)]);
    }
    if (random_below(2))
        spoil(rows);
}

static uint8_t kind_of_tags(size_t rows)
{
    size_t i;

    for (i = 1; i < rows; i++) {
        if (tags[i] != tags[0])
            return CLR_TAG_MIXED;
    }
    return tags[0];
}

static void compare(const struct clr_resident_column *column, size_t rows)
{
    const struct clr_frame bounds = clr_frame_find(NULL, values, rows);
    const struct clr_frame frame = clr_frame_choose(&bounds, 1);
    const struct clr_frame own = clr_resident_column_frame(column);
    const uint8_t kind = kind_of_tags(rows);
    struct clr_status status;
    bool complete = false;
    size_t done = 0;

    if (!clr_kind_has_values(kind))
        return;
    if (!batch_ok(column->kind == clr_kind_framed(kind, &frame), "kind %d, expected %d",
                  column->kind, clr_kind_framed(kind, &frame)) ||
        !batch_ok(clr_frame_is_same(&frame, &own) &&
                      (frame.bytes == 0 || (own.known_least == frame.known_least &&
                                            own.known_greatest == frame.known_greatest)),
                  "%d bytes from %lld by %g, expected %d from %lld by %g", own.bytes,
                  (long long)own.least, own.power, frame.bytes, (long long)frame.least,
                  frame.power))
        return;
    memcpy(expected, values, rows * sizeof *values);
    if (frame.bytes != 0)
        clr_frame_keep(&frame, values, rows, expected, 0);
    clr_status_clear(&status);
    memcpy(found_tags, tags, rows);
    while (!complete) {
        clr_resident_column_fetch(device, column, found, found_tags, &done, &complete, &status);
        devices_bail_on(&status, "clr_resident_column_fetch");
    }
    batch_ok(memcmp(found, expected, rows * (frame.bytes == 0 ? 8 : frame.bytes)) == 0 &&
                 memcmp(found_tags, tags, rows) == 0,
             "the values of %zu rows", rows);
    met[frame.bytes]++;
    decimals_met += frame.power != 0.0;
}

static void test_column(void)
{
    const size_t rows = 1 + (size_t)random_below(random_below(4) ? 300 : MOST_ROWS);
    struct clr_resident_column *column = clr_resident_column_new(CLR_TAG_MIXED, 0);
    struct clr_status status;
    unsigned set;

    if (column == NULL)
        tap_bail("no memory");
    make(rows);
    clr_status_clear(&status);
    clr_decoded_column_reserve(device, column, rows, &status);
    devices_bail_on(&status, "clr_decoded_column_reserve");
    clr_decoded_column_write(device, column, 0, values, tags, rows, &status);
    devices_bail_on(&status, "clr_decoded_column_write");
    clr_decoded_column_conclude(device, column, rows, &set, &status);
    devices_bail_on(&status, "clr_decoded_column_conclude");
    clr_decoded_column_narrow(device, column, &status);
    devices_bail_on(&status, "clr_decoded_column_narrow");
    compare(column, rows);
    clr_resident_column_free(device, column);
}

static void test_device(const struct clr_device_info *info)
{
    struct clr_status status;
    char *log = NULL;
    int i;

    tap_diag("%s, as a device of type %s", info->name, clr_device_type_name(info->type));
    clr_status_clear(&status);
    clr_device_open(info, &device, &status);
    devices_bail_on(&status, "clr_device_open");
    clr_cell_decoder_open(device, STAGES, &log, &status);
    devices_bail_on(&status, log != NULL ? log : "clr_cell_decoder_open");
    memset(met, 0, sizeof met);
    decimals_met = 0;
    batch_begin();
    for (i = 0; i < (tap_is_quick() ? 300 : 3000); i++)
        test_column();
    batch_end("frames and values");
    tap_ok(met[0] > 0 && met[1] > 0 && met[2] > 0 && met[4] > 0 && decimals_met > 0,
           "all widths were met: %d of 8 bytes, %d, %d and %d of fewer, %d of decimals", met[0],
           met[1], met[2], met[4], decimals_met);
    clr_device_close(device);
}

int main(void)
{
    random_start();
    devices_each(test_device, false);
    return tap_done();
}
