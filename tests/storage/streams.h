/* A table that is streamed. */
#ifndef CLR_TESTS_STREAMS_H
#define CLR_TESTS_STREAMS_H

#include "storage/image.h"

#include "numeric/scans.h"
#include "storage/stream/stream.h"

/*
 * Makes the table t. Its pages have rows of one kind and of several, and column c, which is mixed
 * as a whole, has stretches of each type, and TEXT in one row. Every ninth row has overflow pages.
 */
static inline sqlite3 *new_database(int page_size, int rows)
{
    sqlite3 *db = image_open("");
    char sql[1000];

    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; CREATE TABLE t(i INT, r REAL, c, d REAL, n, o);"
             "CREATE TABLE empty(i INT, r REAL, c, d REAL, n, o); CREATE INDEX x ON t(i);"
             "CREATE TABLE w(i PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES (1);"
             "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             "INSERT INTO t SELECT i * 7919 %% 2003 - 1000, i * 37 %% 1009 / 7.0 - 60,"
             "  CASE i / 700 %% 5 WHEN 0 THEN i %% 90 WHEN 1 THEN i %% 90 * 0.5 WHEN 2 THEN NULL"
             "    WHEN 3 THEN iif(i %% 3, i %% 90, i * 0.25) ELSE iif(i = 3333, 'x', i %% 9) END,"
             "  i %% 64 - 9, NULL, zeroblob(iif(i %% 9 = 0, i * 31 %% 2500, i %% 20)) FROM n;"
             "DELETE FROM t WHERE rowid %% 11 = 5",
             page_size, rows);
    image_sql(db, sql);
    return db;
}

/* The number of rows, and the sum of a column. */
struct plain {
    struct clr_instruction instructions[1];
    struct clr_tally tallies[2];
    struct clr_scan scan;
};

static inline void make_plain(struct plain *plain)
{
    memset(plain, 0, sizeof *plain);
    plain->instructions[0] = (struct clr_instruction){CLR_OP_COLUMN, 0, -1, -1};
    plain->tallies[0] = (struct clr_tally){.x = -1, .y = -1, .filter = -1};
    plain->tallies[1] =
        (struct clr_tally){.operations = 1u << CLR_SUM, .x = 0, .y = -1, .filter = -1};
    plain->scan = (struct clr_scan){.instruction_count = 1,
                                    .column_count = 1,
                                    .tally_count = 2,
                                    .filter = -1,
                                    .instructions = plain->instructions,
                                    .tallies = plain->tallies};
}

struct streamed {
    struct clr_load_report report;
    struct clr_status status;
    size_t rows;
};

static inline enum clr_load_outcome stream_plain(const struct clr_source *source, uint32_t root,
                                                 struct clr_field field,
                                                 const struct clr_watch *watch,
                                                 struct streamed *streamed)
{
    struct clr_groups *groups;
    struct plain plain;

    make_plain(&plain);
    clr_status_clear(&streamed->status);
    return clr_stream(source, root, &field, &plain.scan, 10000, &groups, &streamed->rows, watch,
                      &streamed->report, &streamed->status);
}

static const struct clr_field field_i = {.index = 0};

#endif
