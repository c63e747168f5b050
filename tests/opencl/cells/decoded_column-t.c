/*
 * Columns that a device decodes: of one type and of several, that grow, without rows, and more than
 * there is room for; and what lies on the device brought back. Their pages are those of
 * cell_decoder-t.c.
 */
#include "opencl/decoding.h"

enum { ENOUGH = 1100000 }; /* rows: more than a transfer's 8 MiB have room for */

/* Columns of one type, and of all. */
static void test_kinds(void)
{
    enum leaf_family families[MOST_WANTS];
    struct leaf_writer writer = {.families = families, .columns = MOST_WANTS};
    int i, k;

    decoding.kinds_met = 0;
    batch_begin();
    for (i = 0; i < 10; i++) {
        for (k = 0; k < MOST_WANTS; k++)
            families[k] = (enum leaf_family)((i + k) % LEAF_FAMILIES);
        decoding_run(&writer, 2, 4, 30, false);
    }
    batch_end("columns of one type");
    tap_ok(decoding.kinds_met == 0x1f, "all kinds of columns were met (%x)", decoding.kinds_met);
}

/* Far more rows than a column has room for at first, and than a transfer has. */
static void test_growth(void)
{
    const enum leaf_family families[] = {LEAF_INTEGER, LEAF_OTHER};
    struct leaf_writer writer = {.families = families, .columns = 2};
    struct clr_status status;
    int i, k;

    batch_begin();
    decoding_draw(2);
    for (i = 0; decoding.rows < (tap_is_quick() ? ENOUGH / 4 : ENOUGH); i++) {
        if (i >= STAGES)
            decoding_receive(i % STAGES);
        decoding_make(&decoding.sent[i % STAGES], &writer, 4096U << random_below(5),
                      CLR_STAGE_LEAVES, 10000, i % 4 == 0);
        decoding_send(i % STAGES);
    }
    for (k = i > STAGES ? i - STAGES : 0; k < i; k++)
        decoding_receive(k % STAGES);
    for (k = 0; k < decoding.want_count; k++) {
        clr_status_clear(&status);
        batch_ok(clr_decoded_column_reserve(decoding.device, decoding.wants[k].column,
                                            (size_t)1 << 50, &status) == CLR_NOMEM,
                 "no device has room for so many rows");
        decoding_conclude(k);
    }
    batch_end("%zu rows", decoding.rows);
}

static void test_empty(void)
{
    struct clr_resident_column *column = clr_resident_column_new(CLR_TAG_MIXED, 0);
    struct clr_status status;
    bool complete = false;
    unsigned tags = 1;
    size_t done = 0;

    if (column == NULL)
        tap_bail("no memory");
    clr_status_clear(&status);
    clr_decoded_column_conclude(decoding.device, column, 0, &tags, &status);
    devices_bail_on(&status, "clr_decoded_column_conclude");
    clr_resident_column_fetch(decoding.device, column, NULL, NULL, &done, &complete, &status);
    tap_ok(status.code == CLR_OK && tags == 0 && column->kind == CLR_TAG_NULL && complete &&
               done == 0,
           "a column without rows");
    clr_resident_column_free(decoding.device, column);
}

static void test_device(const struct clr_device_info *info)
{
    decoding_open(info);
    test_kinds();
    test_growth();
    test_empty();
    clr_device_close(decoding.device);
}

int main(void)
{
    random_start();
    devices_each(test_device, false);
    return tap_done();
}
