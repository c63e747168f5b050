/*
 * Decoding on the device: how long the kernel takes for the pages of a stage, by how many of their
 * columns are wanted. Where pages are copied to local memory, also without that.
 */
#include "data.h"
#include "measure.h"
#include "opencl/cells/cell_decoder_private.h"
#include "opencl/cells/decoded_column.h"
#include "opencl/core/device_private.h"
#include "opencl/core/failures.h"
#include "options.h"
#include "output.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row has COLUMNS values, REALs and INTEGERs of two bytes in turn; its cell has two numbers
   before those of the record's header, and a pointer. */
enum { COLUMNS = 8, PAGE = 4096, PAGES = CLR_STAGE_BYTES / PAGE, POINTERS = 8 };
enum {
    RECORD = 1 + COLUMNS + COLUMNS / 2 * (8 + 2),
    CELL = 1 + 3 + RECORD,
    CELLS = (PAGE - POINTERS) / (CELL + 2),
    ROWS = CELLS * PAGES
};

enum { COUNTS = 3, CASES = 2 * COUNTS };
static const int counts[COUNTS] = {1, 3, COLUMNS};
static const char *const names[CASES] = {
    "one column",
    "three columns",
    "eight columns",
    "one column, pages not copied",
    "three columns, pages not copied",
    "eight columns, pages not copied",
};

struct decoding {
    struct clr_device *device;
    struct clr_cell_decoder *decoder;
    struct clr_leaf_place *places;
    struct clr_field fields[COLUMNS];
    struct clr_cell_want wants[COLUMNS];
};

/* One case. */
struct wanted {
    struct decoding *decoding;
    int count;        /* of columns, the first ones */
    size_t copy_room; /* as the decoder's */
};

static void check(const struct clr_status *status)
{
    if (status->code != CLR_OK)
        bench_die("%s", status->message);
}

/* ---- Pages. */

static bool is_real(int column)
{
    return column % 2 == 0;
}

static int64_t value_of(uint32_t row, int column)
{
    const uint32_t mixed = (row + 1) * 2654435761U + (uint32_t)column * 40503U;
    const double real = (double)mixed / 128;
    int64_t bits = (int16_t)(mixed >> 16);

    if (is_real(column))
        memcpy(&bits, &real, sizeof bits);
    return bits;
}

static unsigned char *put(unsigned char *to, uint64_t number, int bytes)
{
    while (bytes-- > 0)
        *to++ = (unsigned char)(number >> 8 * bytes);
    return to;
}

/* SQLite's file format, sections 1.6 and 2.1: serial type 2 has two bytes, and 7 is a REAL. */
static void make_cell(unsigned char *cell, uint32_t row)
{
    int k;

    cell = put(cell, RECORD, 1);
    cell = put(cell, 0x80 | row >> 14, 1);
    cell = put(cell, 0x80 | (row >> 7 & 0x7f), 1);
    cell = put(cell, row & 0x7f, 1);
    cell = put(cell, 1 + COLUMNS, 1);
    for (k = 0; k < COLUMNS; k++)
        cell = put(cell, is_real(k) ? 7 : 2, 1);
    for (k = 0; k < COLUMNS; k++)
        cell = put(cell, (uint64_t)value_of(row, k), is_real(k) ? 8 : 2);
}

static void make_pages(unsigned char *pages, struct clr_leaf_place *places)
{
    uint32_t number, i;

    memset(pages, 0, CLR_STAGE_BYTES);
    for (number = 0; number < PAGES; number++) {
        unsigned char *page = pages + (size_t)number * PAGE;

        for (i = 0; i < CELLS; i++) {
            put(page + POINTERS + 2 * (size_t)i, PAGE - CELL * (i + 1), 2);
            make_cell(page + PAGE - CELL * (size_t)(i + 1), number * CELLS + i);
        }
        places[number] = (struct clr_leaf_place){.row = (uint64_t)number * CELLS,
                                                 .at = number * PAGE,
                                                 .pointers = POINTERS,
                                                 .cells = CELLS,
                                                 .leaf = number};
    }
}

/* ---- Decoding. */

/* Sends the stage, and returns the nanoseconds of its launch. */
static int64_t run(void *argument)
{
    const struct wanted *wanted = argument;
    struct decoding *decoding = wanted->decoding;
    const struct clr_stage_content content = {CLR_STAGE_BYTES, PAGE, decoding->places, PAGES};
    struct clr_device_work work = {.kernels = 0};
    struct clr_stage *stage = &decoding->decoder->stages[0];
    struct clr_status status;
    bool complete;
    int64_t time;

    clr_status_clear(&status);
    decoding->decoder->copy_room = wanted->copy_room;
    clr_cell_decoder_send(decoding->device, 0, &content, decoding->wants, wanted->count, &status);
    check(&status);
    clr_cell_decoder_receive(decoding->device, 0, true, &complete, &work, &status);
    check(&status);
    time = bench_event_time(stage->decoded);
    stage->decoded = NULL;
    return time;
}

static void open_decoder(struct decoding *decoding, const struct bench_options *options)
{
    const struct clr_device_info info = bench_find_device(options);
    cl_command_queue *queue;
    struct clr_status status;
    char *log = NULL;
    cl_int error;

    clr_status_clear(&status);
    clr_device_open(&info, &decoding->device, &status);
    check(&status);
    if (clr_cell_decoder_open(decoding->device, 2, &log, &status) != CLR_OK)
        bench_die("%s\n%s", status.message, log != NULL ? log : "");
    decoding->decoder = clr_cell_decoder_of(decoding->device);
    /* With a queue that takes the time. */
    queue = &decoding->decoder->module.queues[CLR_CELL_DECODING];
    clReleaseCommandQueue(*queue);
    *queue =
        clCreateCommandQueue(decoding->device->context, info.id, CL_QUEUE_PROFILING_ENABLE, &error);
    bench_check(error, "clCreateCommandQueue");
    clr_cell_decoder_begin(decoding->device, PAGES, &status);
    check(&status);
}

static void make_columns(struct decoding *decoding)
{
    struct clr_status status;
    int k;

    clr_status_clear(&status);
    for (k = 0; k < COLUMNS; k++) {
        struct clr_resident_column *column = clr_resident_column_new(CLR_TAG_MIXED, 0);

        if (column == NULL)
            bench_die("no memory");
        clr_decoded_column_reserve(decoding->device, column, ROWS, &status);
        check(&status);
        decoding->fields[k] = (struct clr_field){.index = k, .is_real = is_real(k)};
        decoding->wants[k] = (struct clr_cell_want){&decoding->fields[k], column};
    }
}

/* Ends a column. Returns whether it has what the pages have. */
static bool has_values(struct decoding *decoding, int k, int64_t *found)
{
    struct clr_resident_column *column = decoding->wants[k].column;
    struct clr_status status;
    size_t done = 0;
    bool complete = false, same;
    unsigned tags;
    uint32_t row;

    clr_status_clear(&status);
    clr_decoded_column_conclude(decoding->device, column, ROWS, &tags, &status);
    check(&status);
    same = clr_resident_column_kind(column) == (is_real(k) ? CLR_TAG_REAL : CLR_TAG_INTEGER);
    while (same && !complete) {
        clr_resident_column_fetch(decoding->device, column, found, NULL, &done, &complete, &status);
        check(&status);
    }
    for (row = 0; row < ROWS && same; row++)
        same = found[row] == value_of(row, k);
    clr_resident_column_free(decoding->device, column);
    return same;
}

void bench_part_decoding(const struct bench_options *options)
{
    struct decoding decoding;
    struct wanted wanted[CASES];
    struct bench_case cases[CASES];
    int64_t *found = bench_memory(ROWS * sizeof *found);
    size_t room, count, i;
    bool right = true;
    int k;

    open_decoder(&decoding, options);
    decoding.places = bench_memory(PAGES * sizeof *decoding.places);
    make_pages(clr_cell_decoder_stage(decoding.device, 0), decoding.places);
    make_columns(&decoding);
    room = decoding.decoder->copy_room;
    count = room > 0 ? CASES : COUNTS;
    for (i = 0; i < count; i++) {
        wanted[i] = (struct wanted){&decoding, counts[i % COUNTS], i < COUNTS ? room : 0};
        cases[i] = (struct bench_case){.run = run, .argument = &wanted[i]};
    }
    bench_progress("decoding: %d pages", (int)PAGES);
    bench_measure(cases, count, BENCH_MOST_RUNS, options->seconds);
    for (k = 0; k < COLUMNS; k++)
        right = has_values(&decoding, k, found) && right;
    if (!right)
        bench_wrong("decoding on %s is wrong", decoding.device->info.name);
    for (i = 0; i < count; i++) {
        struct bench_line line = {.part = "decoding",
                                  .name = names[i],
                                  .device = decoding.device->info.name,
                                  .bytes = CLR_STAGE_BYTES,
                                  .times = &cases[i],
                                  .exact = right ? BENCH_EQUAL : BENCH_DIFFERENT,
                                  .ratio = bench_ratio(&cases[i], &cases[i / COUNTS * COUNTS])};

        snprintf(line.notes, sizeof line.notes,
                 "%d pages of %d rows, groups of %zu; speed against one column", PAGES, CELLS,
                 decoding.decoder->group_size);
        bench_print(&line);
    }
    free(decoding.places);
    free(found);
    clr_device_close(decoding.device);
}
