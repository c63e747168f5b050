#include "sqlite/schema/column_names.h"

#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"

#include <stdbool.h>
#include <string.h>

#define TABLE "clreduce:names"

/* Finds out whether names are those by default. */
static int find_default(sqlite3 *db, bool *is_default)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_make(db, "SELECT m.x FROM (SELECT 1 AS x) AS m", 0, &statement);
    const char *name = rc == SQLITE_OK ? sqlite3_column_name(statement, 0) : NULL;

    *is_default = rc != SQLITE_OK || (name != NULL && strcmp(name, "x") == 0);
    rc = rc == SQLITE_OK && name == NULL ? SQLITE_NOMEM : rc;
    return clr_statement_end(statement, rc) == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
}

/* The text of CREATE TABLE that SQLite would write into the schema for a table of the SELECT's
   rows, as EXPLAIN has it: the names are the same by all settings. NULL if it cannot be had. To be
   freed with sqlite3_free(). Returns SQLITE_OK or SQLITE_NOMEM. */
static int read_table(sqlite3_stmt *select, char **text)
{
    static const char head[] = "CREATE TABLE \"" TABLE "\"(";
    const char *sql = sqlite3_sql(select);
    const size_t length = strlen(sql);
    const bool has_end = length > 0 && sql[length - 1] == ';';
    struct clr_bytecode program;
    int rc =
        clr_bytecode_read(sqlite3_db_handle(select), &program,
                          "CREATE TEMP TABLE \"" TABLE "\" AS %.*s", (int)(length - has_end), sql);
    int i;

    *text = NULL;
    for (i = 0; i < program.count && *text == NULL && rc == SQLITE_OK; i++) {
        const char *p4 = program.operations[i].p4;

        if (strncmp(p4, head, sizeof head - 1) != 0)
            continue;
        *text = sqlite3_mprintf("%s", p4 + sizeof head - 1);
        rc = *text == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    clr_bytecode_free(&program);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Takes the first name of a list of columns: it is ended by a zero where it stands, without quotes.
   Returns the text behind the column, whose type is a word. */
static char *take_name(char *at, char **name)
{
    char *to;

    at += strspn(at, " \n");
    *name = to = at;
    if (*at == '"') {
        for (at++; *at != '\0' && (*at != '"' || at[1] == '"'); at++) {
            at += *at == '"';
            *to++ = *at;
        }
        at += *at == '"';
    } else {
        at += strcspn(at, " \n,)");
        to = at;
    }
    at += strcspn(at, ",)");
    if (*at != '\0')
        *at++ = '\0';
    *to = '\0';
    return at;
}

/* Returns the length of a name without the number that SQLite puts behind one of several. */
static size_t base_length(const char *name)
{
    size_t length = strlen(name), end = length;

    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return end > 1 && end < length && name[end - 1] == ':' ? end - 1 : length;
}

static bool has_base(const char *name, const char *base, size_t length)
{
    return base_length(name) == length && memcmp(name, base, length) == 0;
}

/*
 * Returns the name of a column by default, of the one that it has now, and of the one that it has
 * in a table: that is the same but for a number. Now it may also have a table's name in front, or
 * be the text that was written.
 */
static const char *choose(const char *now, const char *inner)
{
    const size_t length = base_length(inner);
    const char *name = now;

    while (name != NULL && !has_base(name, inner, length)) {
        name = strchr(name, '.');
        name = name == NULL ? NULL : name + 1;
    }
    return name != NULL ? name : inner;
}

/* Stores a copy of each name; table: NULL, or the columns of a table of the rows, which are taken
   apart. */
static int copy_names(sqlite3_stmt *select, char *table, struct clr_column_names *names)
{
    const int count = sqlite3_column_count(select);
    int i;

    names->list = sqlite3_malloc64(((sqlite3_uint64)count + 1) * sizeof *names->list);
    if (names->list == NULL)
        return SQLITE_NOMEM;
    for (i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(select, i);
        char *inner;

        if (name != NULL && table != NULL) {
            table = take_name(table, &inner);
            name = *inner == '\0' ? name : choose(name, inner);
        }
        names->list[i] = name == NULL ? NULL : sqlite3_mprintf("%s", name);
        if (names->list[i] == NULL)
            return SQLITE_NOMEM;
        names->count = i + 1;
    }
    return SQLITE_OK;
}

int clr_column_names_read(sqlite3_stmt *select, struct clr_column_names *names)
{
    char *table = NULL;
    bool is_default;
    int rc = find_default(sqlite3_db_handle(select), &is_default);

    *names = (struct clr_column_names){.list = NULL};
    if (rc == SQLITE_OK && !is_default)
        rc = read_table(select, &table);
    if (rc == SQLITE_OK)
        rc = copy_names(select, table, names);
    sqlite3_free(table);
    return rc;
}

void clr_column_names_free(struct clr_column_names *names)
{
    while (names->count > 0)
        sqlite3_free(names->list[--names->count]);
    sqlite3_free(names->list);
    *names = (struct clr_column_names){.list = NULL};
}
