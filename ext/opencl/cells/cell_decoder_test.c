#include "base/memory.h"
#include "numeric/values/column.h"
#include "opencl/cells/cell_decoder_private.h"
#include "opencl/cells/cell_test_pages.h"
#include "opencl/cells/decoded_column.h"

#include <string.h>

enum { PAGES = CLR_TEST_PAGES, ROWS = CLR_TEST_ROWS, WANTS = CLR_TEST_FIELDS };

/* What the test needs on the host. */
struct room {
    struct clr_test_pages pages;
    uint8_t skipped[CLR_TEST_PAGES];
    struct clr_resident_column *columns[WANTS];
    int64_t found[CLR_MOST_STAGES * ROWS];
    uint8_t found_tags[CLR_MOST_STAGES * ROWS];
};

/* GPUs copy the pages of every other stage, and read the others where they are, as they do pages
   that there is no room for. */
static enum clr_code send_stage(struct clr_device *device, struct room *room, int stage,
                                struct clr_status *status)
{
    struct clr_stage_content content = {sizeof room->pages.bytes, CLR_TEST_USABLE,
                                        room->pages.places, PAGES};
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(device);
    const size_t copy_room = decoder->copy_room;
    struct clr_cell_want to[WANTS];
    int i;

    for (i = 0; i < WANTS; i++) {
        to[i].field = &clr_test_fields[i];
        to[i].column = room->columns[i];
    }
    for (i = 0; i < PAGES; i++) {
        room->pages.places[i].row += stage > 0 ? ROWS : 0;
        room->pages.places[i].leaf = (uint32_t)(stage * PAGES + i);
    }
    memcpy(clr_cell_decoder_stage(device, stage), room->pages.bytes, sizeof room->pages.bytes);
    decoder->copy_room = stage % 2 == 0 ? copy_room : 0;
    clr_cell_decoder_send(device, stage, &content, to, WANTS, status);
    decoder->copy_room = copy_room;
    return status->code;
}

static enum clr_code receive_stage(struct clr_device *device, struct room *room, int stage,
                                   struct clr_status *status)
{
    const size_t first = CLR_TEST_SOUND_ROWS;
    struct clr_device_work work = {0, 0, 0, 0, 0};
    bool complete;
    int i;

    if (clr_cell_decoder_receive(device, stage, true, &complete, &work, status) != CLR_OK ||
        clr_cell_decoder_skipped(device, (size_t)stage * PAGES, PAGES, room->skipped, status) !=
            CLR_OK)
        return status->code;
    for (i = 0; i < PAGES; i++) {
        if ((room->skipped[i] != 0) != (i >= CLR_TEST_SOUND))
            return clr_status_set(
                status, CLR_DEVICE, 0,
                "self-test: the device's choice of pages differs from the host's");
    }
    for (i = 0; i < WANTS && status->code == CLR_OK; i++)
        clr_decoded_column_write(device, room->columns[i], (size_t)stage * ROWS + first,
                                 room->pages.values[i] + first, room->pages.tags[i] + first,
                                 ROWS - first, status);
    return status->code;
}

/* Sends all stages, and receives those that could be sent, whatever comes between. */
static enum clr_code decode(struct clr_device *device, struct room *room, struct clr_status *status)
{
    const int stages = clr_cell_decoder_stages(device);
    int sent = 0, i;

    while (sent < stages && send_stage(device, room, sent, status) == CLR_OK)
        sent++;
    for (i = 0; i < sent && status->error == 0; i++) {
        struct clr_status received = *status;

        clr_status_clear(&received);
        if (receive_stage(device, room, i, &received) != CLR_OK)
            *status = received;
    }
    return status->code;
}

/* Compares a column with what was put into the pages. */
static enum clr_code compare(struct clr_device *device, struct room *room, int number, int stages,
                             struct clr_status *status)
{
    const size_t rows = (size_t)stages * ROWS;
    const uint8_t kind = clr_test_fields[number].index < 0 ? CLR_TAG_INTEGER : CLR_TAG_MIXED;
    struct clr_resident_column *column = room->columns[number];
    size_t done = 0, i;
    bool complete = false, same;
    unsigned tags;

    if (clr_decoded_column_conclude(device, column, rows, &tags, status) != CLR_OK)
        return status->code;
    memset(room->found_tags, CLR_TAG_INTEGER, rows);
    while (!complete) {
        if (clr_resident_column_fetch(device, column, room->found, room->found_tags, &done,
                                      &complete, status) != CLR_OK)
            return status->code;
    }
    same = done == clr_resident_column_size(kind, rows);
    for (i = 0; i < rows && same; i += ROWS)
        same = memcmp(room->found + i, room->pages.values[number],
                      sizeof room->pages.values[number]) == 0 &&
               memcmp(room->found_tags + i, room->pages.tags[number],
                      sizeof room->pages.tags[number]) == 0;
    if (!same)
        clr_status_set(status, CLR_DEVICE, 0,
                       "self-test: the device's values of pages differ from the host's");
    return status->code;
}

static enum clr_code run(struct clr_device *device, struct room *room, struct clr_status *status)
{
    const int stages = clr_cell_decoder_stages(device);
    int i;

    for (i = 0; i < WANTS && status->code == CLR_OK; i++) {
        room->columns[i] = clr_resident_column_new(CLR_TAG_MIXED, 0);
        if (room->columns[i] == NULL)
            clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
        else
            clr_decoded_column_reserve(device, room->columns[i], (size_t)stages * ROWS, status);
    }
    if (status->code == CLR_OK)
        clr_cell_decoder_begin(device, (size_t)stages * PAGES, status);
    if (status->code == CLR_OK)
        decode(device, room, status);
    for (i = 0; i < WANTS && status->code == CLR_OK; i++)
        compare(device, room, i, stages, status);
    return status->code;
}

enum clr_code clr_cell_decoder_test(struct clr_device *device, struct clr_status *status)
{
    struct room *room = clr_memory_alloc_zero(sizeof *room);
    int i;

    if (room == NULL)
        return clr_status_set(status, CLR_NOMEM, 0, "no memory for the self-test");
    clr_test_pages_make(&room->pages);
    if (run(device, room, status) == CLR_OK)
        clr_narrowed_column_test(device, status);
    clr_cell_decoder_recover(device, status);
    device = clr_device_unless_lost(device, status);
    for (i = 0; i < WANTS; i++)
        clr_resident_column_free(device, room->columns[i]);
    clr_memory_free(room);
    return status->code;
}
