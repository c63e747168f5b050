#include "sqlite/access/forecast.h"

#include "query/syntax/blank.h"
#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "query/syntax/word.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/schema_entries.h"
#include "sqlite/schema/table_info.h"
#include "sqlite/schema/walk.h"

#include <string.h>

/* ---- Texts. */

/* Adds to an FNV-1a hash of 64 bits (Fowler, Noll and Vo). */
static uint64_t hash_add(uint64_t hash, char c)
{
    return (hash ^ (unsigned char)c) * (uint64_t)0x100000001b3u;
}

/* Takes note of what a word of a text says. */
static void note_word(const char *word, struct clr_statement_text *text)
{
    switch (*word | ' ') {
    case 's':
        text->selects += clr_word_is(word, "select");
        break;
    case 'w':
        text->finds |= clr_word_is(word, "where");
        break;
    case 'f':
        text->reads |= clr_word_is(word, "from");
        break;
    case 'd':
        text->computes |= clr_word_is(word, "distinct");
        break;
    case 'g':
        text->computes |= clr_word_is(word, "group");
        text->matches |= clr_word_is(word, "glob");
        break;
    case 'o':
        text->orders |= clr_word_is(word, "order");
        break;
    case 'l':
        text->finds |= text->orders && clr_word_is(word, "limit");
        text->matches |= clr_word_is(word, "like");
        break;
    default:
        break;
    }
}

/* Returns the statement that a text explains, or the text itself. */
static const char *skip_explain(const char *sql)
{
    sql = clr_blank_skip(sql);
    if (!clr_word_is(sql, "explain"))
        return sql;
    sql = clr_blank_skip(sql + strlen("EXPLAIN"));
    if (clr_word_is(sql, "query"))
        sql = clr_blank_skip(clr_blank_skip(sql + strlen("QUERY")) + strlen("PLAN"));
    return sql;
}

bool clr_statement_text_read(const char *sql, struct clr_statement_text *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    char c;

    sql = skip_explain(sql);
    *text = (struct clr_statement_text){.statement = sql};
    if (!clr_word_may_select(sql))
        return false;
    while ((c = *sql) != '\0') {
        if (clr_is_letter(c)) {
            note_word(sql, text);
            for (; clr_is_word(c); c = *++sql)
                hash = hash_add(hash, c);
            continue;
        }
        if (c == '\'') {
            sql = clr_string_end(sql);
            c = '?';
        } else if (clr_is_word(c)) {
            while (clr_is_word(*sql) || *sql == '.')
                sql++;
            c = '?';
        } else {
            text->computes = text->computes || c == '(';
            sql++;
        }
        hash = hash_add(hash, c);
    }
    text->fingerprint = hash;
    return text->selects > 0 && text->reads && (text->computes || text->finds);
}

/* ---- How long SQLite takes. */

/* What is worth beginning anew in another way. */
enum { LONG_NS = 20000000 };

/* From a row to the next SQLite usually takes so long. */
enum { USUAL_ROW_NS = 80 };

/* Names that are longer are not looked up. */
enum { LONGEST_NAME = 64 };

/* Goes on behind the first of these words, outside of parentheses or anywhere. Returns whether
   there is one. */
static bool pass_word(const char **sql, const char *word, bool is_outside)
{
    struct clr_token token = {.kind = 0};
    int depth = 0;

    while (clr_token_next(sql, &token)) {
        if (clr_token_is(&token, word) && (depth == 0 || !is_outside))
            return true;
        depth += (token.kind == CLR_T_LP) - (token.kind == CLR_T_RP);
    }
    return false;
}

/* Stores the name behind the first FROM of a text that has one, outside of parentheses or anywhere.
   Returns whether there is one: it may be another thing's than a table's. */
static bool find_table(const char *sql, bool is_outside, char name[LONGEST_NAME])
{
    struct clr_token token;
    const char *at;

    while (pass_word(&sql, "FROM", is_outside)) {
        at = sql;
        if (clr_token_next(&at, &token) && token.kind == CLR_T_ID && token.length < LONGEST_NAME) {
            clr_token_unquote(&token, name);
            return true;
        }
    }
    return false;
}

/* Whether SQLite goes over a table, or an index, from one end to the other, and calls nothing of
   the application's for its rows, which could tell that a run began twice. Where it goes over
   several in one statement of several SELECTs, one of these may be accelerated by itself. */
static bool is_whole(struct clr_connection *connection, const char *sql, bool has_several)
{
    struct clr_bytecode program = {.operations = NULL};
    struct clr_walk walk;
    bool is = false;

    if (clr_bytecode_read(connection->db, &program, "%s", sql) == SQLITE_OK) {
        walk = clr_bytecode_walk(&program);
        is = (walk.kind == CLR_WALK_UNKNOWN ? has_several
                                            : walk.kind == CLR_WALK_TREE && walk.is_whole) &&
             !walk.ends_early && clr_functions_are_sqlites(connection, NULL, &program);
    }
    clr_bytecode_free(&program);
    return is;
}

/* A view of a view is looked for, and so on, so many times. */
enum { MOST_VIEWS = 8 };

/* Returns about how many rows the table has that a SELECT begins with, outside of parentheses or
   anywhere, where it is a table of main, or a view of one. 0: that is not known. SQLite would go
   over all rows of a view to find the greatest of its rowids, which it has not. */
static int64_t count_rows(sqlite3 *db, const char *sql, bool is_outside)
{
    char name[LONGEST_NAME], *view = NULL, *next;
    int64_t rows = 0;
    int i;

    for (i = 0; i < MOST_VIEWS && sql != NULL && find_table(sql, is_outside, name); i++) {
        if (sqlite3_table_column_metadata(db, "main", name, NULL, NULL, NULL, NULL, NULL, NULL) ==
            SQLITE_OK) {
            rows = clr_last_rowid(db, "main", name);
            break;
        }
        clr_view_text_read(db, "main", name, NULL, &next);
        sqlite3_free(view);
        sql = view = next;
    }
    sqlite3_free(view);
    return rows;
}

int64_t clr_long_scan_rows(struct clr_connection *connection, const char *sql, bool writes,
                           bool has_several, int64_t walked, int64_t nanoseconds)
{
    int64_t rows;

    if (writes) {
        if (!pass_word(&sql, "SELECT", true))
            return 0;
        sql -= strlen("SELECT");
    }
    if (walked == 0) {
        walked = 1;
        nanoseconds = USUAL_ROW_NS;
    }
    /* A CTE's name is that of no table. */
    rows = count_rows(connection->db, sql, true);
    if (rows == 0)
        rows = count_rows(connection->db, sql, false);
    return (double)(rows - walked) * (double)nanoseconds >= (double)LONG_NS * (double)walked &&
                   is_whole(connection, sql, has_several)
               ? rows
               : 0;
}
