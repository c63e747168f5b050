/* The walk to a table's leaves, for rowids of all lengths, and through pages that are damaged; and
   the sets of pages that it adds to. */
#include "storage/image.h"

#include "base/memory.h"
#include "batch.h"
#include "random.h"
#include "storage/format/page_set.h"
#include "storage/snapshot/tree.h"

enum { PAGE = 512, MOST = 8000 };

/* A table, and its pages as they were before any damage, in the order of keys. */
struct table {
    struct image_bytes bytes;
    struct clr_source source;
    uint32_t root;
    uint32_t leaves[MOST], lowest[MOST]; /* lowest: the interior pages right above leaves */
    size_t leaf_count, lowest_count, interior_count;
};

/* What came of a walk. */
struct walk {
    enum clr_load_outcome outcome;
    struct clr_page_list leaves;
    uint32_t page;
    int64_t bytes_read;
    size_t visited;
};

static unsigned char *page_at(const struct table *table, uint32_t number)
{
    return table->bytes.data + (size_t)(number - 1) * PAGE;
}

/* The cell of an interior page: a child's number, and a key. */
static unsigned char *cell_at(const struct table *table, uint32_t number, uint32_t i)
{
    unsigned char *page = page_at(table, number);

    return page + clr_get_u16(page + (number == 1 ? 112 : 12) + (size_t)(2 * i));
}

static uint32_t cells_of(const struct table *table, uint32_t number)
{
    return clr_get_u16(page_at(table, number) + (number == 1 ? 103 : 3));
}

/* Finds the pages below one, and that. */
static void collect(struct table *table, uint32_t number)
{
    const unsigned char *header = page_at(table, number) + (number == 1 ? 100 : 0);
    size_t before = table->interior_count;

    if (header[0] == CLR_PAGE_TABLE_LEAF) {
        table->leaves[table->leaf_count++] = number;
        return;
    }
    for (uint32_t i = 0; i < cells_of(table, number); i++)
        collect(table, clr_get_u32(cell_at(table, number, i)));
    collect(table, clr_get_u32(header + 8));
    if (table->interior_count == before)
        table->lowest[table->lowest_count++] = number;
    table->interior_count++;
}

static struct table *new_table(const char *sql, const char *name)
{
    struct table *table = calloc(1, sizeof *table);
    sqlite3 *db;

    TAP_NEED(table != NULL && sqlite3_open(":memory:", &db) == SQLITE_OK, "no database");
    image_sql(db, "PRAGMA page_size = 512; CREATE TABLE t(a)");
    image_sql(db, sql);
    table->root = name == NULL ? 1 : image_root(db, name);
    table->bytes = image_serialize(db);
    table->source = image_bytes_source(&table->bytes);
    sqlite3_close(db);
    collect(table, table->root);
    return table;
}

static void free_table(struct table *table)
{
    sqlite3_free(table->bytes.data);
    free(table);
}

static void walk_down(struct walk *walk, const struct clr_source *source, uint32_t root)
{
    struct clr_pages pages = {.source = source, .visited = clr_page_set_new(source->page_count)};

    walk->outcome = clr_tree_leaves(&pages, root, &walk->leaves);
    walk->page = pages.page;
    walk->bytes_read = pages.bytes_read;
    walk->visited = 0;
    for (uint32_t page = 1; page <= source->page_count; page++)
        walk->visited += clr_page_set_has(pages.visited, page);
    clr_page_set_free(pages.visited);
}

static void test_sound(const struct table *table, const char *name)
{
    struct walk walk;

    walk_down(&walk, &table->source, table->root);
    tap_is_int64(walk.outcome, CLR_LOAD_DONE, "%s: %zu leaves below %zu pages", name,
                 table->leaf_count, table->interior_count);
    tap_ok(walk.leaves.count == table->leaf_count &&
               memcmp(walk.leaves.numbers, table->leaves,
                      table->leaf_count * sizeof *table->leaves) == 0,
           "all of them, in their order");
    tap_is_int64((int64_t)walk.visited, (int64_t)(table->leaf_count + table->interior_count),
                 "each visited, as those above");
    tap_is_int64(walk.bytes_read, (int64_t)(table->interior_count + 1) * PAGE,
                 "which were read, and one leaf");
    clr_page_list_free(&walk.leaves);
}

/* Walks a damaged table; page is what has to be named. */
static void test_refused(const struct table *table, uint32_t page, const char *name)
{
    struct walk walk;

    walk_down(&walk, &table->source, table->root);
    tap_is_int64(walk.outcome, CLR_LOAD_MALFORMED, "refused: %s", name);
    tap_is_int64(walk.page, page, "and page %u is named", (unsigned)page);
    clr_page_list_free(&walk.leaves);
}

static void put_u32(unsigned char *bytes, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(number >> (24 - 8 * i));
}

/* ---- Children that can't be: each is put where another one was. */

static void test_child(const struct table *table, uint32_t parent, uint32_t number,
                       const char *name)
{
    unsigned char *cell = cell_at(table, parent, 3);
    uint32_t before = clr_get_u32(cell);

    put_u32(cell, number);
    test_refused(table, number, name);
    put_u32(cell, before);
}

static void test_children(struct table *table)
{
    size_t middle = table->lowest_count / 2;
    uint32_t parent = table->lowest[middle], lock = clr_lock_page(&table->source);
    unsigned char *cell = cell_at(table, parent, 3);
    uint32_t sibling = clr_get_u32(cell_at(table, parent, 4)), before = clr_get_u32(cell);
    uint32_t page_count = table->source.page_count;
    struct walk walk;

    test_child(table, parent, sibling, "the next child");
    test_child(table, parent, clr_get_u32(page_at(table, parent) + 8), "the last child");
    test_child(table, parent, clr_get_u32(cell_at(table, table->lowest[0], 0)),
               "a child of the first page");
    test_child(table, table->lowest[0], clr_get_u32(cell_at(table, parent, 7)), "a child of one");
    test_child(table, parent, parent, "the page itself");
    test_child(table, parent, table->lowest[middle + 1], "a page beside it");
    test_child(table, parent, table->root, "the root");
    test_child(table, parent, 0, "no page");
    test_child(table, parent, page_count + 1, "a page behind the end");
    test_child(table, parent, UINT32_MAX, "a page far behind the end");
    table->source.page_count = lock + 1;
    test_child(table, parent, lock, "the page for locks");
    put_u32(cell, lock + 1);
    walk_down(&walk, &table->source, table->root);
    tap_is_int64(walk.outcome, CLR_LOAD_DONE, "but the page after that could be one");
    clr_page_list_free(&walk.leaves);
    put_u32(cell, before);
    table->source.page_count = page_count;
}

/* ---- Keys that don't ascend. */

static size_t key_size(const unsigned char *cell)
{
    uint64_t key;

    return (size_t)(clr_get_varint(cell + 4, &key) - (cell + 4));
}

/* Gives the cell another one's key, which is as long. */
static void test_key(const struct table *table, uint32_t page, unsigned char *cell,
                     const unsigned char *other, const char *name)
{
    unsigned char before[CLR_VARINT_MOST];
    size_t size = key_size(cell);

    TAP_NEED(key_size(other) == size, "keys of different sizes");
    memcpy(before, cell + 4, size);
    memcpy(cell + 4, other + 4, size);
    test_refused(table, page, name);
    memcpy(cell + 4, before, size);
}

static void test_keys(const struct table *table)
{
    size_t middle = table->lowest_count / 2;
    uint32_t page = table->lowest[middle], next = table->lowest[middle + 1], child;
    unsigned char *first = cell_at(table, page, 5), *second = cell_at(table, page, 6);
    unsigned char *last = cell_at(table, page, cells_of(table, page) - 1);

    test_key(table, page, second, first, "two keys that are equal");
    test_key(table, page, first, last, "a key after those that follow");
    test_key(table, next, cell_at(table, next, 0), last, "a page's last key, equal to the next's");
    test_key(table, next, cell_at(table, next, 0), first, "and one that is less");
    TAP_NEED(clr_get_u32(cell_at(table, table->root, 1)) == table->lowest[1],
             "not a table of three levels");
    first = cell_at(table, table->root, 1);
    second = cell_at(table, table->root, 2);
    child = clr_get_u32(first);
    memcpy(first, second, 4);
    put_u32(second, child);
    test_refused(table, child, "two pages exchanged");
    put_u32(second, clr_get_u32(first));
    put_u32(first, child);
}

/* A level that is so wide that several threads take parts of it, whichever those are. */
TAP_TEST(test_wide)
{
    struct table *table =
        new_table("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)"
                  "INSERT INTO t(rowid, a) SELECT i + 9000000, zeroblob(30) FROM n",
                  "t");

    tap_ok(table->lowest_count >= 96, "a wide table: %zu pages above the leaves",
           table->lowest_count);
    test_sound(table, "a wide table");
    test_children(table);
    for (size_t i = 0; i + 1 < table->lowest_count; i++) {
        uint32_t page = table->lowest[i], next = table->lowest[i + 1];

        test_key(table, next, cell_at(table, next, 0),
                 cell_at(table, page, cells_of(table, page) - 1), "a key of the page before");
    }
    test_sound(table, "all mended");
    free_table(table);
}

/* ---- Pages that are not what they have to be. */

static void test_pages(const struct table *table)
{
    uint32_t number = table->lowest[table->lowest_count / 2];
    unsigned char *page = page_at(table, number), before[PAGE];

    memcpy(before, page, PAGE);
    memcpy(page, page_at(table, table->leaves[0]), PAGE);
    test_refused(table, number, "a leaf among interior pages");
    memcpy(page, before, PAGE);
    memset(page + 3, 0, 2);
    test_refused(table, number, "a page without a cell");
    memcpy(page, before, PAGE);
    memset(page + 12, 0, 2);
    test_refused(table, number, "a cell in the page's header");
    memcpy(page, before, PAGE);
    /* Alone, and the last of all: nothing else is wrong with it. */
    number = table->lowest[table->lowest_count - 1];
    page = page_at(table, number);
    memcpy(before, page, PAGE);
    memmove(page + PAGE - 6, cell_at(table, number, 0), 4);
    memset(page + PAGE - 2, 0xff, 2);
    page[3] = 0;
    page[4] = 1;
    page[12] = (PAGE - 6) >> 8;
    page[13] = (PAGE - 6) & 0xff;
    test_refused(table, number, "a key that goes on behind the page");
    memcpy(page, before, PAGE);
}

/* The schema as it grows. Its root, page 1, comes to have a child and no cell. */
TAP_TEST(test_schema)
{
    char sql[2000] = "";
    bool has_empty = false, had_empty = false;

    for (int i = 1; i <= 60; i++) {
        struct table *table;

        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "CREATE TABLE t%d(a, b);", i);
        table = new_table(sql, NULL);
        has_empty = table->interior_count == 1 && cells_of(table, 1) == 0;
        if (has_empty && !had_empty)
            test_sound(table, "a schema whose root has no cell");
        if (i == 60)
            test_sound(table, "a larger one");
        had_empty = had_empty || has_empty;
        free_table(table);
    }
    tap_ok(had_empty, "both were met");
}

/* The b-tree of an index: all of its pages have rows, and each row is there once. */
TAP_TEST(test_index)
{
    enum { ROWS = 5000 };
    struct image_bytes bytes;
    struct clr_source source;
    size_t rows = 0, inner = 0;
    bool are_told = true;
    struct walk walk;
    uint32_t root;
    sqlite3 *db =
        image_open("PRAGMA page_size = 512; CREATE TABLE w(a PRIMARY KEY, b) WITHOUT ROWID;"
                   "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
                   "INSERT INTO w SELECT i * 7919 % 10007, zeroblob(i % 90) FROM n");

    root = image_root(db, "w");
    source = image_store(db, &bytes);
    sqlite3_close(db);
    walk_down(&walk, &source, root);
    tap_is_int64(walk.outcome, CLR_LOAD_UNSUPPORTED, "an index is no table");
    clr_page_list_free(&walk.leaves);
    source.is_index = true;
    walk_down(&walk, &source, root);
    tap_is_int64(walk.outcome, CLR_LOAD_DONE, "but an index");
    for (size_t i = 0; i < walk.leaves.count && walk.outcome == CLR_LOAD_DONE; i++) {
        const uint32_t number = walk.leaves.numbers[i];
        const unsigned char *page = bytes.data + (size_t)(number - 1) * source.page_size;
        const bool is_inner = clr_page_set_has(walk.leaves.inner, number);

        are_told =
            are_told && page[0] == (is_inner ? CLR_PAGE_INDEX_INTERIOR : CLR_PAGE_INDEX_LEAF);
        inner += is_inner;
        rows += clr_get_u16(page + 3);
    }
    tap_is_int64((int64_t)rows, ROWS, "%zu pages have all rows", walk.leaves.count);
    tap_ok(are_told && inner > 10, "%zu of them are interior, and told", inner);
    tap_is_int64((int64_t)walk.visited, (int64_t)walk.leaves.count, "each was visited");
    clr_page_list_free(&walk.leaves);
    sqlite3_free(bytes.data);
}

/* ---- Sets of pages. */

enum { MODEL_PAGES = 9000 };

/* Whether a set has the pages that the model has, and no other one. */
static bool same_set(const struct clr_page_set *set, const bool *model)
{
    for (uint32_t page = 0; page < MODEL_PAGES; page++) {
        if (clr_page_set_has(set, page) != model[page])
            return false;
    }
    return !clr_page_set_has(set, MODEL_PAGES) && !clr_page_set_has(set, UINT32_MAX);
}

static struct clr_page_set *random_set(bool *model, uint32_t last)
{
    struct clr_page_set *set = clr_page_set_new(last);
    uint64_t left = random_below(4) == 0 ? 0 : random_below(40);
    bool added = set != NULL;

    memset(model, 0, MODEL_PAGES);
    for (; left > 0 && added; left--) {
        const uint32_t page = (uint32_t)random_below(last + UINT64_C(1));

        added = clr_page_set_add(set, page);
        model[page] = true;
    }
    TAP_NEED(added, "no memory");
    return set;
}

/* What is done with sets, against arrays of truth values. */
TAP_TEST(test_sets)
{
    const int rounds = tap_is_quick() ? 300 : 3000;
    int met = 0;

    for (int i = 0; i < rounds; i++) {
        const uint32_t last = (uint32_t)random_below(MODEL_PAGES - 1),
                       least = (uint32_t)random_below(last + UINT64_C(1));
        bool a[MODEL_PAGES], b[MODEL_PAGES], meets = false;
        struct clr_page_set *set = random_set(a, last), *other = random_set(b, least), *copy;

        batch_ok(same_set(set, a) && same_set(other, b), "round %d: what was added", i);
        for (uint32_t page = 0; page <= last; page++)
            meets = meets || (a[page] && (b[page] || page > least));
        met += meets;
        batch_ok(clr_page_set_meets(set, other) == meets, "round %d: they meet: %d", i, meets);
        copy = clr_page_set_copy(set);
        TAP_NEED(copy != NULL, "no memory");
        for (uint32_t page = 0; page <= last; page++)
            a[page] = a[page] && !b[page];
        clr_page_set_remove(set, other);
        batch_ok(same_set(set, a), "round %d: without the other one", i);
        for (uint32_t page = 0; page <= last; page++)
            a[page] = clr_page_set_has(copy, page) || b[page];
        clr_page_set_take(copy, other);
        batch_ok(same_set(copy, a), "round %d: with the other one", i);
        clr_page_set_free(set);
        clr_page_set_free(copy);
    }
    batch_end("%d rounds of sets, %d that meet", rounds, met);
}

/* A file may say that it has any number of pages. */
TAP_TEST(test_large_set)
{
    enum { PAGES = 100, BYTES = 1 << 20 };
    struct clr_page_set *set = clr_page_set_new(UINT32_C(0xfffffffe)), *copy;
    size_t empty, i;
    bool added = set != NULL;

    TAP_NEED(set != NULL, "no memory");
    empty = clr_page_set_size(set);
    for (i = 0; i < PAGES && added; i++)
        added = clr_page_set_add(set, UINT32_C(0xfffffffe) - (uint32_t)(i << 24));
    tap_ok(added && clr_page_set_size(set) - empty < BYTES, "%zu bytes for %d pages far apart",
           clr_page_set_size(set) - empty, PAGES);
    copy = clr_page_set_copy(set);
    tap_ok(copy != NULL && clr_page_set_size(copy) == clr_page_set_size(set), "and for a copy");
    tap_ok(copy != NULL && clr_page_set_has(copy, UINT32_C(0xfffffffe)) &&
               !clr_page_set_has(copy, UINT32_MAX),
           "with the last page that there may be");
    clr_page_set_free(copy);
    for (i = 0; (clr_memory_fail_after((long)i), copy = clr_page_set_copy(set)) == NULL; i++)
        ;
    clr_memory_fail_after(-1);
    tap_ok(i > 1, "each of %zu allocations may fail", i);
    clr_page_set_free(copy);
    clr_memory_fail_after(0);
    tap_ok(!clr_page_set_add(set, 1) && !clr_page_set_has(set, 1), "no memory for a page");
    clr_memory_fail_after(-1);
    clr_page_set_free(set);
}

TAP_TEST(all_tests)
{
    static const char *const rowids[] = {"i", "-i", "i + (1 << 50)", "i * 1000"};
    static const char *const names[] = {"small rowids", "negative", "long", "apart"};
    struct table *table;
    uint64_t least;
    char sql[1000];

    for (int i = 0; i < 4; i++) {
        snprintf(sql, sizeof sql,
                 "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 8000)"
                 "INSERT INTO t(rowid, a) SELECT %s, zeroblob(30) FROM n ORDER BY 1",
                 rowids[i]);
        table = new_table(sql, "t");
        test_sound(table, names[i]);
        test_children(table);
        test_keys(table);
        test_pages(table);
        test_sound(table, "all mended");
        free_table(table);
    }
    table = new_table("INSERT INTO t(rowid, a) VALUES (-9223372036854775808, zeroblob(400));"
                      "WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
                      "INSERT OR IGNORE INTO t(rowid, a)"
                      "SELECT iif(i % 2, 1, -1) * ((1 << i % 63) + i), zeroblob(80) FROM n "
                      "ORDER BY 1",
                      "t");
    test_sound(table, "rowids of all lengths");
    clr_get_varint(cell_at(table, table->lowest[0], 0) + 4, &least);
    tap_ok((int64_t)least == INT64_MIN, "the least of which is a key");
    free_table(table);
    table = new_table("INSERT INTO t VALUES (1)", "t");
    test_sound(table, "a table of one page");
    free_table(table);
}
