/*
 * Stages of random leaf pages, and of such in which bytes have been changed, decoded by a device
 * and compared with what the host's decoder has of them, cell by cell, and with what was put in.
 * Comparisons are those of a batch. One device at a time.
 */
#ifndef CLR_TESTS_DECODING_H
#define CLR_TESTS_DECODING_H

#include "base/memory.h"
#include "batch.h"
#include "opencl/cells/cell_decoder_private.h"
#include "opencl/cells/decoded_column.h"
#include "opencl/core/device_private.h"
#include "opencl/devices.h"
#include "opencl/leaf_pages.h"
#include "opencl/memory/resident_column_private.h"
#include "random.h"
#include "storage/format/record.h"

#include "tap.h"

/* MOST_WANTS: more than two launches decode. */
enum { STAGES = 4, MOST_WANTS = 20, MOST_PAGES = 40, MOST_LEAVES = 5000, MOST_ROWS = 1500000 };

/* A column of the test's: what it has to have. */
struct expected {
    int64_t values[MOST_ROWS];
    uint8_t tags[MOST_ROWS];
};

/* What has to be in a row by what was put into its page. */
struct made {
    int64_t values[MOST_WANTS];
    uint8_t tags[MOST_WANTS];
};

/* What a stage was sent with, and which of its pages the host's decoder does not take. */
struct sent {
    struct clr_leaf_place places[CLR_STAGE_LEAVES];
    struct clr_stage_content content;
    uint32_t page_size;
    uint8_t skipped[CLR_STAGE_LEAVES];
};

static struct {
    struct clr_device *device;
    struct clr_device_work work;
    struct clr_field fields[MOST_WANTS];
    struct clr_cell_want wants[MOST_WANTS];
    int want_count;
    size_t rows, leaves; /* so far, of all pages */
    size_t skipped;      /* of these */
    struct sent sent[STAGES];
    unsigned char pages[CLR_STAGE_BYTES + CLR_PAGE_SLACK]; /* of the stage that is made */
    struct made made[65536 / 6];                           /* in the page that is made */
    struct expected expected[MOST_WANTS];
    int64_t found[MOST_ROWS];
    uint8_t found_tags[MOST_ROWS];
    /* What was met: kinds of columns (CLR_TAG_MIXED as CLR_TAG_UNSURE), sound and skipped pages. */
    unsigned kinds_met;
    long pages_met[2];
} decoding;

/* ---- The device. */

/* Opens a device and its decoder. */
static inline void decoding_open(const struct clr_device_info *info)
{
    struct clr_status status;
    char *log = NULL;

    tap_diag("%s, as a device of type %s", info->name, clr_device_type_name(info->type));
    clr_status_clear(&status);
    clr_device_open(info, &decoding.device, &status);
    devices_bail_on(&status, "clr_device_open");
    clr_cell_decoder_open(decoding.device, STAGES, &log, &status);
    devices_bail_on(&status, log != NULL ? log : "clr_cell_decoder_open");
}

/* ---- What is wanted. */

/* The default of a column: any number, NULL, something else, or none that is known. */
static inline struct clr_scalar draw_missing(void)
{
    static const double number = 2.5;
    struct clr_scalar value = {(uint8_t)random_below(5), 0};

    if (value.tag == CLR_TAG_INTEGER)
        value.bits = random_integer();
    if (value.tag == CLR_TAG_REAL)
        memcpy(&value.bits, &number, sizeof number);
    /* Not too many skipped pages. */
    if (value.tag == CLR_TAG_UNSURE && random_below(8) != 0)
        value.tag = CLR_TAG_NULL;
    return value;
}

static inline void shuffle_fields(void)
{
    struct clr_field field;
    size_t other;
    int i;

    for (i = decoding.want_count - 1; i > 0; i--) {
        other = (size_t)random_below((uint64_t)i + 1);
        field = decoding.fields[i];
        decoding.fields[i] = decoding.fields[other];
        decoding.fields[other] = field;
    }
}

/* Wants in any order; `columns` of them are there, of 0: some of the first are likely to be. */
static inline void decoding_draw(int columns)
{
    int index = random_below(2) ? -1 : (int)random_below(3), i;
    int most = columns > 0 ? columns : random_below(3) > 0 ? 5 : MOST_WANTS;
    struct clr_status status;

    clr_status_clear(&status);
    clr_cell_decoder_begin(decoding.device, MOST_LEAVES, &status);
    devices_bail_on(&status, "clr_cell_decoder_begin");
    decoding.want_count = random_between(1, most);
    if (columns > 0)
        index = 0;
    for (i = 0; i < decoding.want_count; i++) {
        decoding.fields[i].index = index;
        decoding.fields[i].is_real = index >= 0 && columns == 0 && random_below(2);
        decoding.fields[i].missing = draw_missing();
        decoding.wants[i].field = &decoding.fields[i];
        decoding.wants[i].column = clr_resident_column_new(CLR_TAG_MIXED, 0);
        if (decoding.wants[i].column == NULL)
            tap_bail("no memory");
        index += columns > 0 ? 1 : random_between(index < 0, 2);
    }
    shuffle_fields();
    decoding.rows = decoding.leaves = decoding.skipped = 0;
}

/* ---- The host's decoder. */

static inline int fail_to_read(void *context, enum clr_file file, void *buffer, size_t size,
                               int64_t offset)
{
    (void)context, (void)file, (void)buffer, (void)size, (void)offset;
    return 10; /* SQLITE_IOERR: no overflow page is to be read */
}

/* Reads a page's cells by the host's decoder, one column at a time. Returns whether it takes them;
   of a column that it takes the values are expected. */
static inline bool read_column(struct clr_record_reader *reader, const struct clr_page *page,
                               uint32_t number, int k, size_t row)
{
    struct clr_scalar value;
    int64_t rowid, last = 0;
    uint32_t i;

    for (i = 0; i < page->cells; i++) {
        uint32_t offset = clr_page_cell(page, i);

        if (offset == 0 || clr_record_read(reader, number, page->data, offset, &decoding.fields[k],
                                           1, &rowid, &value) != CLR_LOAD_DONE)
            return false;
        if (i > 0 && rowid <= last)
            return false;
        last = rowid;
        decoding.expected[k].values[row + i] = value.bits;
        decoding.expected[k].tags[row + i] = value.tag;
    }
    return true;
}

/* Rows that the host writes, of a column whose values it has by other means. */
static inline void invent(int k, size_t row, size_t count)
{
    size_t i;

    for (i = row; i < row + count; i++) {
        decoding.expected[k].tags[i] = (uint8_t)random_below(4);
        decoding.expected[k].values[i] = random_integer();
    }
}

/* Finds what the host's decoder has of a page of a stage, of which other pages may be made yet. */
static inline void decoding_read(struct sent *stage, size_t number)
{
    const struct clr_leaf_place *place = &stage->places[number];
    const uint32_t page_number = place->pointers == 108 ? 1 : 2;
    const struct clr_source source = {.read = fail_to_read,
                                      .page_size = stage->page_size,
                                      .usable_size = stage->content.usable_size,
                                      .page_count =
                                          (uint32_t)(stage->content.bytes / stage->page_size)};
    struct clr_pages reading = {.source = &source, .visited = clr_pages_new_visits(&source)};
    struct clr_record_reader reader;
    struct clr_page page;
    int k;

    if (reading.visited == NULL)
        tap_bail("no memory");
    if (clr_page_open(&reading, page_number, decoding.pages + place->at, CLR_PAGE_TABLE_LEAF, false,
                      &page) != CLR_LOAD_DONE)
        tap_bail("a page that was made is none");
    clr_record_reader_init(&reader, &reading);
    stage->skipped[number] = 0;
    for (k = 0; k < decoding.want_count; k++) {
        if (!read_column(&reader, &page, page_number, k, place->row)) {
            stage->skipped[number] = 1;
            invent(k, place->row, place->cells);
        }
    }
    clr_record_reader_free(&reader);
    clr_memory_free(reading.visited);
}

/* ---- Stages. */

/* Changes bytes of a page: its pointers, and mostly those that its cells begin with. */
static inline void change(const struct leaf_writer *writer)
{
    int changes = random_between(0, 3);

    while (changes-- > 0) {
        unsigned char *pointers = writer->page + writer->header + 8;
        unsigned char *pointer = pointers + 2 * random_below(writer->cells);
        size_t at = clr_get_u16(pointer);

        at = random_below(8) == 0 ? (size_t)(pointer - writer->page) + random_below(2)
                                  : at + random_below(random_below(4) == 0 ? 60 : 10);
        if (at >= writer->usable)
            continue;
        switch (random_below(4)) {
        case 0:
            writer->page[at] = (unsigned char)random_bits();
            break;
        case 1:
            writer->page[at] ^= (unsigned char)(1U << random_below(8));
            break;
        default:
            writer->page[at] = (unsigned char)(writer->page[at] + random_between(-1, 1));
        }
    }
}

/* Makes a page with up to `most` rows. Returns whether it is skipped for a want. */
static inline bool make_page(struct leaf_writer *writer, size_t most, uint64_t limit)
{
    const int64_t step = (int64_t)1 << random_below(random_below(8) == 0 ? 50 : 8);
    int64_t rowid = random_below(3) ? random_integer() / 2 : (int64_t)random_below(300);
    struct clr_scalar value = {0, 0};
    struct leaf_row row;
    bool skipped = false;
    int k;

    while (writer->cells < most && leaf_add(writer, rowid, &row)) {
        for (k = 0; k < decoding.want_count; k++) {
            if (!leaf_value(&row, decoding.fields[k].index, decoding.fields[k].is_real,
                            decoding.fields[k].missing, &value))
                skipped = true;
            decoding.made[writer->cells - 1].values[k] = value.bits;
            decoding.made[writer->cells - 1].tags[k] = value.tag;
        }
        skipped = skipped || row.size > limit;
        rowid += 1 + (int64_t)random_below((uint64_t)step);
        if (rowid > INT64_MAX - ((int64_t)1 << 51))
            break;
    }
    return skipped;
}

/* Compares what was put into the page with what the host's decoder has found. */
static inline void compare_made(const struct sent *stage, size_t number, bool skipped)
{
    const struct clr_leaf_place *place = &stage->places[number];
    uint32_t i;
    int k;

    if (!batch_ok((stage->skipped[number] != 0) == skipped, "a page of %u rows is %s", place->cells,
                  skipped ? "skipped" : "sound"))
        return;
    for (k = 0; k < decoding.want_count && !skipped; k++) {
        for (i = 0; i < place->cells; i++)
            batch_ok(decoding.expected[k].tags[place->row + i] == decoding.made[i].tags[k] &&
                         decoding.expected[k].values[place->row + i] == decoding.made[i].values[k],
                     "the host's value of row %u, column %d", i, (int)decoding.fields[k].index);
    }
}

/* Makes a page's place, after its cells. */
static inline void add_page(struct sent *stage, struct leaf_writer *writer, bool skipped,
                            bool changes)
{
    const size_t number = stage->content.count++;

    stage->places[number] = (struct clr_leaf_place){.row = decoding.rows,
                                                    .at = (uint32_t)(writer->page - decoding.pages),
                                                    .pointers = writer->header + 8,
                                                    .cells = writer->cells};
    if (decoding.rows + writer->cells > MOST_ROWS)
        tap_bail("the test has too many rows");
    decoding.rows += writer->cells;
    if (changes)
        change(writer);
    decoding_read(stage, number);
    if (!changes)
        compare_made(stage, number, skipped);
}

/* Makes a stage of up to so many pages, with up to so many rows; other bytes, which are no leaves,
   are between them. */
static inline void decoding_make(struct sent *stage, struct leaf_writer *writer, uint32_t page_size,
                                 size_t page_count, size_t most_rows, bool changes)
{
    const bool is_first = random_below(4) == 0;
    size_t i;

    if (page_count > CLR_STAGE_BYTES / page_size)
        page_count = CLR_STAGE_BYTES / page_size;
    writer->usable = page_size - (random_below(2) ? (uint32_t)random_below(33) : 0);
    stage->page_size = page_size;
    stage->content =
        (struct clr_stage_content){page_count * page_size, writer->usable, stage->places, 0};
    for (i = 0; i < page_count || stage->content.count == 0; i = (i + 1) % (page_count + 1)) {
        bool skipped;

        if (i == page_count)
            continue;
        leaf_begin(writer, decoding.pages + i * page_size, page_size, i == 0 && is_first);
        if (i > 0 && random_below(5) == 0)
            continue;
        skipped = make_page(writer, most_rows, stage->content.bytes);
        if (writer->cells > 0)
            add_page(stage, writer, skipped, changes);
    }
}

/* Sends the stage that has just been made. */
static inline void decoding_send(int number)
{
    struct sent *stage = &decoding.sent[number];
    struct clr_status status;
    size_t i;
    int k;

    for (i = 0; i < stage->content.count; i++)
        stage->places[i].leaf = (uint32_t)decoding.leaves++;
    if (decoding.leaves > MOST_LEAVES)
        tap_bail("too many leaves");
    clr_status_clear(&status);
    for (k = 0; k < decoding.want_count; k++) {
        clr_decoded_column_reserve(decoding.device, decoding.wants[k].column, decoding.rows,
                                   &status);
        devices_bail_on(&status, "clr_decoded_column_reserve");
    }
    memcpy(clr_cell_decoder_stage(decoding.device, number), decoding.pages, stage->content.bytes);
    clr_cell_decoder_send(decoding.device, number, &stage->content, decoding.wants,
                          decoding.want_count, &status);
    devices_bail_on(&status, "clr_cell_decoder_send");
}

/* Writes the rows of a page that the device has left to the host. */
static inline void write_page(const struct clr_leaf_place *place)
{
    struct clr_status status;
    int k;

    clr_status_clear(&status);
    for (k = 0; k < decoding.want_count; k++) {
        clr_decoded_column_write(decoding.device, decoding.wants[k].column, place->row,
                                 decoding.expected[k].values + place->row,
                                 decoding.expected[k].tags + place->row, place->cells, &status);
        devices_bail_on(&status, "clr_decoded_column_write");
    }
}

static inline void decoding_receive(int number)
{
    bool wait = random_below(2);
    const size_t count = decoding.sent[number].content.count;
    bool complete = false;
    static uint8_t skipped[CLR_STAGE_LEAVES];
    const int64_t bytes = decoding.work.bytes;
    struct clr_status status;
    size_t i;

    clr_status_clear(&status);
    while (!complete) {
        clr_cell_decoder_receive(decoding.device, number, wait, &complete, &decoding.work, &status);
        devices_bail_on(&status, "clr_cell_decoder_receive");
        if (wait)
            batch_ok(complete, "a stage that is waited for is complete");
        wait = true;
    }
    clr_cell_decoder_skipped(decoding.device, decoding.sent[number].places[0].leaf, count, skipped,
                             &status);
    devices_bail_on(&status, "clr_cell_decoder_skipped");
    batch_ok(decoding.work.bytes - bytes >= (int64_t)decoding.sent[number].content.bytes,
             "bytes are counted");
    for (i = 0; i < count; i++) {
        bool is_skipped = skipped[i] != 0;

        batch_ok(is_skipped == (decoding.sent[number].skipped[i] != 0),
                 "page %zu of %zu rows, %u bytes: %s", i,
                 (size_t)decoding.sent[number].places[i].cells, decoding.sent[number].page_size,
                 is_skipped ? "skipped" : "taken");
        decoding.pages_met[is_skipped]++;
        decoding.skipped += is_skipped;
        if (is_skipped)
            write_page(&decoding.sent[number].places[i]);
    }
}

/* ---- Columns. */

static inline void fetch(const struct clr_resident_column *column)
{
    struct clr_status status;
    size_t done = 0, before;
    bool complete = false;

    clr_status_clear(&status);
    while (!complete) {
        before = done;
        clr_resident_column_fetch(decoding.device, column, decoding.found, decoding.found_tags,
                                  &done, &complete, &status);
        devices_bail_on(&status, "clr_resident_column_fetch");
        batch_ok(done > before || complete, "every piece has bytes");
    }
    batch_ok(done == clr_resident_column_size(column->kind, decoding.rows),
             "all bytes are fetched");
}

/* Ends a column, and compares it with what it has to have. */
static inline void decoding_conclude(int k)
{
    struct clr_resident_column *column = decoding.wants[k].column;
    unsigned tags = 0, expected_tags = 0;
    struct clr_status status;
    size_t i, differ = 0;
    uint8_t kind;

    for (i = 0; i < decoding.rows; i++)
        expected_tags |= 1U << decoding.expected[k].tags[i];
    clr_status_clear(&status);
    clr_decoded_column_conclude(decoding.device, column, decoding.rows, &tags, &status);
    devices_bail_on(&status, "clr_decoded_column_conclude");
    kind = (tags & (tags - 1)) != 0 ? CLR_TAG_MIXED : decoding.expected[k].tags[0];
    batch_ok(tags == expected_tags && column->kind == kind,
             "column %d: tags %x, expected %x, of kind %d", k, tags, expected_tags, column->kind);
    batch_ok(clr_resident_column_rows(column) == decoding.rows &&
                 column->copied == clr_resident_column_size(kind, decoding.rows),
             "the column is complete");
    memset(decoding.found, 0, decoding.rows * sizeof *decoding.found);
    memset(decoding.found_tags, kind, decoding.rows);
    fetch(column);
    /* The bits of a default that is no number are of no concern where all rows have such. */
    for (i = 0; i < decoding.rows; i++)
        differ += decoding.found_tags[i] != decoding.expected[k].tags[i] ||
                  (decoding.found[i] != decoding.expected[k].values[i] && kind != CLR_TAG_NULL &&
                   kind != CLR_TAG_BYTES);
    batch_ok(differ == 0, "%zu of %zu values differ, column %d", differ, decoding.rows, k);
    decoding.kinds_met |= 1U << (kind == CLR_TAG_MIXED ? CLR_TAG_UNSURE : kind);
    clr_resident_column_free(decoding.device, column);
}

/* Decodes `stages` stages into columns; as many as there are are under way at a time. */
static inline void decoding_run(struct leaf_writer *writer, int stages, size_t page_count,
                                size_t most_rows, bool changes)
{
    int i, k;

    decoding_draw(writer->columns);
    for (i = 0; i < stages; i++) {
        if (i >= STAGES)
            decoding_receive(i % STAGES);
        decoding_make(&decoding.sent[i % STAGES], writer, 512U << random_below(8),
                      1 + (size_t)random_below(page_count), most_rows, changes);
        decoding_send(i % STAGES);
    }
    for (i = stages > STAGES ? stages - STAGES : 0; i < stages; i++)
        decoding_receive(i % STAGES);
    /* Of stages that are not received yet some may be counted. */
    batch_ok(clr_cell_decoder_skipped_count(decoding.device) <= decoding.skipped,
             "no more pages are counted than are skipped");
    for (k = 0; k < decoding.want_count; k++)
        decoding_conclude(k);
}

#endif
