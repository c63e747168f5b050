/* Cells that lie where others would be looked for, and pages that are in memory. */
#include "storage/image.h"

#include <stdatomic.h>

/* Loads column a of the table t, and compares it. */
static void test_load(sqlite3 *db, const struct clr_source *source, struct image *image,
                      const char *name)
{
    if (tap_is_int64(image_load(image, source, image_root(db, "t")), CLR_LOAD_DONE, "%s: loaded",
                     name))
        image_test(image, db, "t", name);
}

/*
 * Where a rowid is longer than those before, or a payload's size has a needless byte, what lies at
 * the place of the header before is the rowid's last byte, or the rowid. It looks like the header:
 * its size, 3 or 4, and the type of a, which is the size as well.
 */
static void test_misleading(int header_size, int bytes_of_b, bool is_rowid)
{
    const int rowid = header_size, bytes_of_a = header_size;
    struct image image = {0};
    struct image_bytes bytes;
    struct clr_source source;
    unsigned char *page, *pointer;
    uint32_t offset;
    char sql[400];
    sqlite3 *db;

    snprintf(sql, sizeof sql,
             "CREATE TABLE t(a INT, b); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
             "INSERT INTO t(rowid, a, b) SELECT iif(i <= %d, i, %d + i), (1 << %d) + i,"
             " zeroblob(%d) FROM n LIMIT 9",
             rowid, is_rowid ? 127 : 0, 8 * bytes_of_a - 3, bytes_of_b);
    db = image_open(sql);
    source = image_store(db, &bytes);
    image_add(&image, "a", 0, false);
    if (!is_rowid) {
        /* The row's cell goes to before all others. */
        page = bytes.data + (image_root(db, "t") - 1) * (size_t)source.page_size;
        pointer = page + 8 + 2 * (rowid - 1);
        offset = clr_get_u16(page + 5) - (uint32_t)(bytes_of_a + bytes_of_b) - 20;
        memcpy(page + offset + 1, page + clr_get_u16(pointer),
               (size_t)(bytes_of_a + bytes_of_b) + 10);
        page[offset] = 0x80;
        pointer[0] = page[5] = (unsigned char)(offset >> 8);
        pointer[1] = page[6] = (unsigned char)offset;
    }
    test_load(db, &source, &image, is_rowid ? "a misleading rowid" : "a misleading size");
    image_free(&image);
    image_close(db, &bytes);
}

/* Bytes of which it is counted how many are read. */
struct counted {
    struct image_bytes bytes;
    atomic_size_t read;
};

static int read_counted(void *context, enum clr_file file, void *buffer, size_t size,
                        int64_t offset)
{
    struct counted *counted = context;

    atomic_fetch_add(&counted->read, size);
    return image_read(&counted->bytes, file, buffer, size, offset);
}

/* Pages that are in memory are not read, but for some at their end that are read with others. */
static void test_mapped(int parts, bool parallel)
{
    enum { SOME = 400000 };
    struct image image = {0};
    struct counted counted;
    struct clr_source source;
    sqlite3 *db =
        image_open("CREATE TABLE t(a INT, b); WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1"
                   " FROM n) INSERT INTO t SELECT i, zeroblob(i % 300) FROM n LIMIT 20000");
    size_t left;
    int read;

    counted.bytes = image_serialize(db);
    atomic_init(&counted.read, 0);
    source = image_source(counted.bytes.data);
    source.context = &counted;
    source.read = read_counted;
    source.parallel = parallel;
    image_map(&source, &counted.bytes);
    source.mapped_pages /= (uint32_t)parts;
    left = counted.bytes.size - (size_t)source.mapped_pages * source.page_size;
    image_add(&image, "a", 0, false);
    test_load(db, &source, &image, "some pages in memory");
    read = (int)atomic_load(&counted.read);
    tap_ok(read >= (int)left - SOME / 4 && read <= (int)left + SOME,
           "%d bytes are not, and %d are read", (int)left, read);
    tap_ok(image.report.bytes_read > (int64_t)counted.bytes.size * 9 / 10, "and all are reported");
    image_free(&image);
    image_close(db, &counted.bytes);
}

TAP_TEST(test_places)
{
    for (int i = 0; i < 4; i++) {
        test_misleading(i / 2 == 0 ? 3 : 4, i / 2 == 0 ? 10 : 130, i % 2 == 0);
        test_mapped(i / 2 + 1, i % 2 == 0);
    }
}
