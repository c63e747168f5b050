#include "sqlite/access/long_scan.h"

#include "query/syntax/blank.h"
#include "query/syntax/word.h"
#include "sqlite/api.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/table_info.h"

#include <string.h>

/* What is worth beginning anew in another way. */
enum { LONG_NS = 20000000 };

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

/* ---- Scans. */

/* Whether SQLite goes over a table, or an index, from one end to the other, and calls nothing of
   the application's for its rows, which could tell that a run began twice. */
static bool is_whole(struct clr_connection *connection, const char *sql)
{
    struct clr_bytecode program = {.operations = NULL};
    struct clr_walk walk;
    bool is = false;

    if (clr_bytecode_read(connection->db, &program, "%s", sql) == SQLITE_OK) {
        walk = clr_bytecode_walk(&program);
        is = walk.kind == CLR_WALK_TREE && walk.is_whole && !walk.ends_early &&
             clr_functions_are_sqlites(connection, &program);
    }
    clr_bytecode_free(&program);
    return is;
}

bool clr_long_scan_is_sure(struct clr_connection *connection, const char *sql, int64_t walked,
                           int64_t nanoseconds, int64_t *rows)
{
    char name[LONGEST_NAME];

    if (!find_table(sql, name))
        return false;
    *rows = clr_last_rowid(connection->db, "main", name);
    return (double)(*rows - walked) * (double)nanoseconds >= (double)LONG_NS * (double)walked &&
           is_whole(connection, sql);
}
