#include "sqlite/access/long_scan.h"

#include "base/clock.h"
#include "base/fnv.h"
#include "base/lock.h"
#include "query/syntax/blank.h"
#include "query/syntax/word.h"
#include "sqlite/api.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* A table of MANY_ROWS takes SQLite milliseconds, and the file that has one more bytes than this.
 */
enum { MANY_ROWS = 250000, SMALL_BYTES = 8 * MANY_ROWS };

/* What is remembered of a table is true for a minute. */
#define REMEMBERED_NS ((int64_t)60000000000)

/* ---- The names that keys of a table begin with, by their hashes. */

enum { MOST_KEYS = 24 };

struct keys {
    int count; /* more than MOST_KEYS: any name may be one */
    uint32_t hashes[MOST_KEYS];
};

static uint32_t hash_name(const char *name, size_t length)
{
    uint64_t hash = CLR_FNV_OFFSET;
    size_t i;

    for (i = 0; i < length; i++)
        hash = clr_fnv_add(hash, (char)(name[i] | ' '));
    return (uint32_t)(hash >> 32);
}

/* Adds a name; NULL: of an expression, or it is not known. */
static void add_key(struct keys *keys, const char *name)
{
    if (name == NULL)
        keys->count = MOST_KEYS + 1;
    else if (keys->count++ < MOST_KEYS)
        keys->hashes[keys->count - 1] = hash_name(name, strlen(name));
}

static bool has_key(const struct keys *keys, const char *name, size_t length)
{
    const uint32_t hash = hash_name(name, length);
    int i;

    for (i = 0; i < keys->count && i < MOST_KEYS; i++) {
        if (keys->hashes[i] == hash)
            return true;
    }
    return keys->count > MOST_KEYS;
}

static void read_keys(sqlite3 *db, const char *table, struct keys *keys)
{
    sqlite3_stmt *names;
    int rc =
        clr_statement_prepare(db, &names,
                              "SELECT x.name FROM pragma_index_list(%Q, 'main') AS l, "
                              "pragma_index_xinfo(l.name, 'main') AS x WHERE x.seqno = 0 "
                              "UNION ALL SELECT name FROM pragma_table_xinfo(%Q, 'main') WHERE pk",
                              table, table);

    add_key(keys, "rowid");
    add_key(keys, "oid");
    add_key(keys, "_rowid_");
    while (rc == SQLITE_OK && sqlite3_step(names) == SQLITE_ROW)
        add_key(keys, (const char *)sqlite3_column_text(names, 0));
    if (clr_statement_end(names, rc) != SQLITE_OK)
        add_key(keys, NULL);
}

/* ---- What is remembered of tables, by all connections of the process. */

struct table {
    uint64_t hash; /* of the file and the name; 0: nothing */
    int64_t rows, end;
    struct keys keys; /* none: they are not known */
};

enum { TABLES = 128 };

static struct table tables[TABLES];
CLR_LOCK(lock)

static struct table recall(uint64_t hash)
{
    struct table table;

    take_lock();
    table = tables[(hash >> 32) % TABLES];
    give_lock();
    return table.hash == hash && clr_clock_ns() < table.end ? table : (struct table){.hash = 0};
}

static void remember(const struct table *table)
{
    take_lock();
    tables[(table->hash >> 32) % TABLES] = *table;
    give_lock();
}

/* ---- Texts. */

/* Names that are longer are not looked up. */
enum { LONGEST_NAME = 64 };

/* Stores the name behind the first FROM of a text that has one, without quotes. Returns whether
   there is one: it may be another thing's than a table's. */
static bool find_table(const char *sql, char name[LONGEST_NAME])
{
    size_t length;
    char quote;

    while ((sql = clr_word_find(sql)) != NULL) {
        if (!clr_word_is(sql, "from")) {
            sql = clr_word_end(sql);
            continue;
        }
        sql = clr_blank_skip(clr_word_end(sql));
        quote = *sql == '"' || *sql == '`' ? *sql : '\0';
        sql += quote != '\0';
        for (length = 0; quote == '\0' ? clr_is_word(sql[length]) : sql[length] != quote;
             length++) {
            if (sql[length] == '\0' || length == LONGEST_NAME - 1)
                return false;
        }
        memcpy(name, sql, length);
        name[length] = '\0';
        if (length > 0)
            return true;
    }
    return false;
}

/* Whether a SELECT may find its rows by a key: its WHERE names one; or, as min() and max() are the
   first and the last of a key, anything does. */
static bool names_key(const char *sql, const struct keys *keys)
{
    bool is_named = false, has_where = false, has_extreme = false, has_groups = false;
    bool is_condition = false, is_key;
    const char *end;

    for (; (sql = clr_word_find(sql)) != NULL; sql = end) {
        end = clr_word_end(sql);
        is_key = has_key(keys, sql, (size_t)(end - sql));
        if (is_key && is_condition)
            return true;
        is_named = is_named || is_key;
        has_extreme = has_extreme || clr_word_is(sql, "min") || clr_word_is(sql, "max");
        if (clr_word_is(sql, "where") || clr_word_is(sql, "on")) {
            has_where = is_condition = true;
        } else if (clr_word_is(sql, "group") || clr_word_is(sql, "order")) {
            has_groups = has_groups || clr_word_is(sql, "group");
            is_condition = false;
        }
    }
    return is_named && has_extreme && !has_where && !has_groups;
}

/* ---- Databases. */

/* Whether main is too small for a large table. One in memory may be large. */
static bool is_small(sqlite3 *db)
{
    sqlite3_file *file;
    sqlite3_int64 size = 0, logged = 0;

    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
        file->pMethods == NULL || file->pMethods->xFileSize(file, &size) != SQLITE_OK)
        return false;
    if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK &&
        file->pMethods != NULL)
        file->pMethods->xFileSize(file, &logged);
    return size + logged < SMALL_BYTES;
}

/* Whether SQLite goes over a table, or an index, from one end to the other. */
static bool is_whole(sqlite3 *db, const char *sql)
{
    struct clr_bytecode program = {.operations = NULL};
    struct clr_walk walk;
    bool is = false;

    if (clr_bytecode_read(db, &program, "%s", sql) == SQLITE_OK) {
        walk = clr_bytecode_walk(&program);
        is = walk.kind == CLR_WALK_TREE && walk.is_whole && !walk.ends_early;
    }
    clr_bytecode_free(&program);
    return is;
}

bool clr_long_scan_is_sure(sqlite3 *db, const char *sql, int64_t *rows)
{
    char name[LONGEST_NAME];
    struct table table;
    uint64_t hash;

    *rows = 0;
    if (!find_table(sql, name))
        return false;
    hash = clr_fnv_add_text(CLR_FNV_OFFSET, name);
    hash = clr_fnv_add_text(hash, sqlite3_db_filename(db, "main")) | 1;
    table = recall(hash);
    if (table.hash == 0) {
        table = (struct table){.hash = hash, .end = clr_clock_ns() + REMEMBERED_NS};
        table.rows = is_small(db) ? 0 : clr_last_rowid(db, "main", name);
        remember(&table);
    }
    *rows = table.rows;
    if (table.rows < MANY_ROWS)
        return false;
    if (table.keys.count == 0) {
        read_keys(db, name, &table.keys);
        remember(&table);
    }
    return !names_key(sql, &table.keys) && is_whole(db, sql);
}
