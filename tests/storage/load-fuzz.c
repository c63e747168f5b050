/*
 * Loads from whatever bytes there are: for libFuzzer (make fuzz), and for corpus-t, which
 * replays the files in tests/storage/corpus. Two bytes choose the form of the database and the
 * root; its pages follow.
 */
#include "image.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Looks at all bytes of a column's TEXT and BLOBs. */
static int add_up(const struct clr_column *column)
{
    int sum = 0;

    for (size_t row = 0; row < column->rows; row++) {
        struct clr_scalar scalar = image_value(column, row);
        struct clr_value value;

        if (scalar.tag != CLR_TAG_BYTES)
            continue;
        value = clr_bytes_value(scalar.bits);
        for (size_t i = 0; i < value.as.size; i++)
            sum += ((const unsigned char *)value.bytes)[i];
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct clr_source source = {.read = image_read};
    struct image_bytes bytes;
    struct image image = {0};
    volatile int sum = 0;

    if (size < 2)
        return 0;
    bytes.data = malloc(size);
    if (bytes.data == NULL)
        return 0;
    /* A copy without the two bytes, so that a read behind the end is behind the allocation's. */
    bytes.size = size - 2;
    memcpy(bytes.data, data + 2, bytes.size);
    source.context = &bytes;
    source.page_size = 512U << (data[0] & 7);
    source.usable_size = source.page_size - ((data[0] & 8) != 0 ? 32 : 0);
    source.page_count = (uint32_t)(bytes.size / source.page_size) + ((data[0] & 16) != 0);
    image_add(&image, "c", 2, true);
    image.fields[0].with_bytes = (data[0] & 64) != 0;
    image.fields[0].with_codes = (data[0] & 192) == 128;
    source.is_index = (data[1] & 128) != 0;
    if ((data[0] & 32) != 0) {
        if (!source.is_index)
            image_add(&image, "rowid", CLR_FIELD_ROWID, false);
        image_add(&image, "a", 0, false);
        image_add(&image, "e", 4, false);
    }
    if (image_load(&image, &source, data[1] & 127) == CLR_LOAD_DONE && (data[0] & 192) != 0)
        sum = add_up(image.columns[0]);
    image_free(&image);
    image_map(&source, &bytes);
    if (image_load(&image, &source, data[1] & 127) == CLR_LOAD_DONE && (data[0] & 192) != 0)
        sum = add_up(image.columns[0]);
    image_free(&image);
    free(bytes.data);
    (void)sum;
    return 0;
}
