/*
 * Cells that a device decodes against what was put into the pages, and against the host's decoder:
 * the device takes a page if and only if that takes all of its cells, and has the same values then.
 * Pages of all sizes, sound ones and ones in which bytes have been changed, with up to 20 columns
 * in any order; several stages on their way at a time. CPU devices run the code for GPUs as well.
 */
#include "opencl/cells/cell_decoder.h"
#include "opencl/decoding.h"

static void test_pages(bool changes)
{
    struct clr_cell_decoder *decoder = clr_cell_decoder_of(decoding.device);
    const size_t usual = decoder->group_size, room = decoder->copy_room;
    struct leaf_writer writer = {0};
    int i;

    decoding.pages_met[0] = decoding.pages_met[1] = 0;
    batch_begin();
    for (i = 0; i < (tap_is_quick() ? 10 : 60); i++) {
        decoder->group_size = i % 2 ? usual : 1 + (size_t)random_below(usual);
        decoder->copy_room = i % 5 < 3 ? room : (size_t)random_below(room + 1);
        decoding_run(&writer, random_between(1, 7), MOST_PAGES, i % 3 ? 100 : 20, changes);
    }
    decoder->group_size = usual;
    decoder->copy_room = room;
    batch_end("pages %s", changes ? "in which bytes were changed" : "of rows of all sorts");
    tap_ok(decoding.pages_met[0] > 0 && decoding.pages_met[1] > 0,
           "%ld pages are taken, and %ld left to the host", decoding.pages_met[0],
           decoding.pages_met[1]);
}

/* Pages that are sound but for one thing, each after one that is sound; usable_size is EDGE. */
enum { EDGE = 1024, EDGES = 7 };

static void make_edges(struct sent *stage)
{
    /* A payload of 1123 bytes: the page has 103 of them, and the number of the next one's page. */
    static const unsigned char spilled[] = {0x88, 0x63, 1, 4, 1, 0x91, 0x48, 5};
    /* Two numbers, and a record of one byte. */
    static const unsigned char small[] = {3, 1, 2, 1, 7}, next[] = {3, 2, 2, 1, 7};
    static const unsigned char third[] = {3, 3, 2, 1, 7}, late[] = {0x80, 0x80, 0x80, 0x80, 3};
    const struct {
        unsigned cells, pointers[4];
    } edges[EDGES] = {
        {3, {0x305, 0x201, 0x380, 0}}, /* the pointers are a cell that begins at 8 */
        {4, {0x305, 0x201, 0x380, 8}}, /* but no cell can be there */
        {1, {EDGE - 5}},
        {1, {EDGE - 4}}, /* a number that ends in the next page, as does all that follows */
        {0, {0}},
        {1, {EDGE - 110}},
        {1, {EDGE - 106}}, /* no room for the page's number */
    };
    size_t i, k;

    memset(decoding.pages, 0, EDGES * EDGE);
    stage->page_size = EDGE;
    stage->content = (struct clr_stage_content){EDGES * EDGE, EDGE, stage->places, 0};
    for (i = 0; i < EDGES; i++) {
        unsigned char *page = decoding.pages + i * EDGE;

        page[0] = 13;
        page[4] = (unsigned char)edges[i].cells;
        for (k = 0; k < edges[i].cells; k++)
            leaf_put_u16(page + 8 + 2 * k, edges[i].pointers[k]);
        memcpy(page + 0x305, small, sizeof small);
        memcpy(page + 0x201, next, sizeof next);
        memcpy(page + 0x380, third, sizeof third);
        if (edges[i].cells == 0)
            continue;
        stage->places[stage->content.count++] = (struct clr_leaf_place){
            .row = decoding.rows, .at = (uint32_t)i * EDGE, .pointers = 8, .cells = edges[i].cells};
        decoding.rows += edges[i].cells;
    }
    memcpy(decoding.pages + 2 * EDGE + EDGE - 5, small, sizeof small);
    memcpy(decoding.pages + 3 * EDGE + EDGE - 4, late, sizeof late);
    memcpy(decoding.pages + 4 * EDGE + 1, small + 1, sizeof small - 1);
    memcpy(decoding.pages + 5 * EDGE + EDGE - 110, spilled, sizeof spilled);
    memcpy(decoding.pages + 6 * EDGE + EDGE - 106, spilled, sizeof spilled);
}

static void test_edges(void)
{
    struct sent *stage = &decoding.sent[0];
    size_t i;

    batch_begin();
    decoding_draw(1);
    make_edges(stage);
    for (i = 0; i < stage->content.count; i++) {
        decoding_read(stage, i);
        batch_ok(stage->skipped[i] == i % 2, "page %zu is %s", i, i % 2 ? "skipped" : "sound");
    }
    decoding_send(0);
    decoding_receive(0);
    decoding_conclude(0);
    batch_end("pages that are sound but for one thing");
}

static void test_open(const struct clr_device_info *info)
{
    struct clr_status status;
    char *log = NULL;
    long fails;

    clr_status_clear(&status);
    clr_device_open(info, &decoding.device, &status);
    devices_bail_on(&status, "clr_device_open");
    for (fails = 0; fails < 7; fails++) {
        clr_memory_fail_after(fails);
        clr_status_clear(&status);
        if (clr_cell_decoder_open(decoding.device, STAGES, &log, &status) != CLR_NOMEM)
            tap_bail("allocation %ld: %s", fails, status.message);
    }
    clr_memory_fail_after(-1);
    tap_ok(clr_module_state(decoding.device, &clr_cell_decoder_kind, &status) == CLR_NOMEM,
           "without memory there is no decoder, but later there can be");
    clr_status_clear(&status);
    if (clr_cell_decoder_open(decoding.device, STAGES, &log, &status) != CLR_OK)
        tap_bail("clr_cell_decoder_open: %s\n%s", status.message, log != NULL ? log : "");
    tap_ok(clr_cell_decoder_open(decoding.device, STAGES, &log, &status) == CLR_OK &&
               clr_module_state(decoding.device, &clr_cell_decoder_kind, &status) == CLR_OK &&
               clr_cell_decoder_stages(decoding.device) == STAGES,
           "a decoder is made once");
    clr_device_close(decoding.device);
}

static void test_device(const struct clr_device_info *info)
{
    test_open(info);
    decoding_open(info);
    test_pages(false);
    test_pages(true);
    test_edges();
    clr_device_close(decoding.device);
}

int main(void)
{
    random_start();
    devices_each(test_device, false);
    return tap_done();
}
