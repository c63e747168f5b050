/* Sound databases, and damage done to them. For tests. */
#ifndef CLR_TESTS_STORAGE_DAMAGE_H
#define CLR_TESTS_STORAGE_DAMAGE_H

#include "image.h"

#include "random.h"

/* A sound database, small enough for each of its bytes to be hit often. */
static inline struct image_bytes damage_new_database(int page_size, int auto_vacuum, int rows,
                                                     uint32_t *root)
{
    struct image_bytes bytes;
    sqlite3 *db;
    char sql[1000];

    if (sqlite3_open(":memory:", &db) != SQLITE_OK)
        tap_bail("no database");
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; PRAGMA auto_vacuum = %d;"
             "CREATE TABLE t(a INT, b REAL, c, d REAL, e INT, f, g, h, i, j);"
             "CREATE TABLE other(x);"
             "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO t SELECT i * i * i, i / 3.0,"
             "  iif(i %% 2, zeroblob(w), printf('%%.*c', w, char(65 + i %% 26))), i, i %% 3,"
             "  2, NULL, 'h', i %% 2, iif(i %% 4, NULL, printf('%%.*c', 40 + i %% 80, 'j'))"
             "  FROM (SELECT i, iif(i %% 9 = 0, i * 31 %% 2500, i %% 60) AS w FROM n);"
             "INSERT INTO other SELECT a FROM t; DELETE FROM t WHERE rowid %% 11 = 5",
             page_size, auto_vacuum, rows);
    image_sql(db, sql);
    *root = image_root(db, "t");
    bytes = image_serialize(db);
    sqlite3_close(db);
    return bytes;
}

/* A place in a page where damage is worth most: its header, its pointers, a cell's first bytes. */
static inline size_t damage_choose_place(const unsigned char *page, size_t page_size)
{
    size_t cells = clr_get_u16(page + 3), cell;

    switch (random_below(6)) {
    case 0:
        return random_below(12);
    case 1:
        return (8 + random_below(2 * cells + 5)) % page_size;
    case 2:
    case 3:
        cell = clr_get_u16(page + (8 + 2 * random_below(cells + 1)) % (page_size - 1));
        return (cell + random_below(14)) % page_size;
    default:
        return random_below(page_size);
    }
}

/* Damages one page, never the first: it has the schema, which SQLite reads and a load does not. */
static inline void damage_page(struct image_bytes *bytes, size_t page_size)
{
    size_t count = bytes->size / page_size, place;
    unsigned char *page = bytes->data + (1 + random_below(count - 1)) * page_size;
    const unsigned char *other = bytes->data + random_below(count) * page_size;

    place = damage_choose_place(page, page_size);
    switch (random_below(10)) {
    case 0:
    case 1:
    case 2:
        page[place] ^= (unsigned char)(1U << random_below(8));
        break;
    case 3:
    case 4:
        page[place] = (unsigned char)random_bits();
        break;
    case 5: /* the extremes, as numbers that seem to go on */
        memset(page + place, random_below(2) == 0 ? 0xff : 0x80,
               page_size - place < 9 ? page_size - place : 1 + random_below(9));
        break;
    case 6: /* a page number, of some page: cycles, and children of two parents */
        if (place + 4 <= page_size) {
            memset(page + place, 0, 3);
            page[place + 3] = (unsigned char)random_below(count + 2);
        }
        break;
    case 7: /* a pointer for another one */
        memcpy(page + 8 + 2 * random_below(10), page + 8 + 2 * random_below(10), 2);
        break;
    case 8:
        page[place] = (unsigned char)(page[place] + (random_below(2) == 0 ? 1 : -1));
        break;
    default:
        if (random_below(20) == 0)
            memcpy(page, other, page_size);
        else
            memmove(page + place, other + place, page_size - place < 8 ? page_size - place : 8);
        break;
    }
}

#endif
