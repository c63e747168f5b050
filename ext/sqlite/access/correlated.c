/*
 * Rows with aggregates of another table in subqueries, as a join:
 *
 *     SELECT u.*, (SELECT count(*) FROM orders AS o WHERE o.user_id = u.id) FROM users AS u
 *
 * goes to the orders of each user. As a join, which has the same rows, its groups are made before
 * it: see clr_eager_find().
 */
#include "sqlite/access/units.h"

#include "base/memory.h"
#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "query/syntax/selects.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/row_order.h"
#include "sqlite/schema/schema_entries.h"
#include "sqlite/schema/select_columns.h"
#include "sqlite/session/statement.h"

#include <stdbool.h>
#include <string.h>

/* ---- Tokens of a part of a text. */

struct reader {
    const char *at, *end;
    struct clr_token token, before; /* the one that was read, and the one before it */
    int depth;                      /* of the parentheses and CASEs around it */
};

static struct reader read_part(struct clr_written part)
{
    return (struct reader){.at = part.text, .end = part.text + part.length};
}

/* Reads a token. Returns false at the end, or where the text can't be read. */
static bool next(struct reader *reader)
{
    const struct clr_token *token = &reader->token;

    reader->depth += token->kind == CLR_T_LP || clr_token_is(token, "CASE");
    reader->before = *token;
    if (reader->at >= reader->end || !clr_token_next(&reader->at, &reader->token) ||
        token->text >= reader->end)
        return false;
    reader->depth -= token->kind == CLR_T_RP || clr_token_is(token, "END");
    return true;
}

static struct clr_written between(const char *from, const char *to)
{
    return (struct clr_written){from, (size_t)(to - from)};
}

static const char *end_of(const struct clr_token *token)
{
    return token->text + token->length;
}

static const char *end_of_part(struct clr_written part)
{
    return part.text + part.length;
}

/* ---- Names. */

/* table: of kind 0 if the name is a column's alone. */
struct name {
    struct clr_token table, column;
};

/* Reads a name, perhaps in parentheses, behind the token that was read. The one that follows it is
   read, too; *ends: there is none. */
static bool take_name(struct reader *reader, struct name *name, bool *ends)
{
    int enclosing = 0;

    *name = (struct name){.table = {.kind = 0}};
    while (next(reader) && reader->token.kind == CLR_T_LP)
        enclosing++;
    name->column = reader->token;
    if (reader->token.kind != CLR_T_ID)
        return false;
    *ends = !next(reader);
    if (!*ends && reader->token.kind == CLR_T_DOT) {
        name->table = name->column;
        if (!next(reader) || reader->token.kind != CLR_T_ID)
            return false;
        name->column = reader->token;
        *ends = !next(reader);
    }
    for (; enclosing > 0 && !*ends && reader->token.kind == CLR_T_RP; enclosing--)
        *ends = !next(reader);
    return enclosing == 0;
}

/* ---- The clauses of a SELECT from one table. */

struct clauses {
    struct clr_written items, from, where, rest; /* rest: from GROUP BY or ORDER BY on */
    struct clr_token table;                      /* what its columns are named by */
};

/* Takes FROM: the name of one table, and perhaps an alias. */
static bool take_from(struct clauses *clauses)
{
    struct reader reader = read_part(clauses->from);
    int count = 0;

    while (next(&reader)) {
        const bool is_as = clr_token_is(&reader.token, "AS");

        if (reader.token.kind != CLR_T_ID || (is_as && count != 1) || count == 2)
            return false;
        clauses->table = reader.token;
        count += !is_as;
    }
    return count > 0;
}

static bool take_clauses(struct clr_written select, struct clauses *clauses)
{
    struct reader reader = read_part(select);
    const char *end = select.text + select.length, *begin;
    struct clr_written *clause = &clauses->items;

    memset(clauses, 0, sizeof *clauses);
    if (!next(&reader) || !clr_token_is(&reader.token, "SELECT"))
        return false;
    begin = end_of(&reader.token);
    while (next(&reader)) {
        struct clr_written *other = NULL;

        if (reader.depth > 0 || reader.token.kind != CLR_T_ID)
            continue;
        if (CLR_TOKEN_IN(&reader.token, "DISTINCT", "ALL", "UNION", "INTERSECT", "EXCEPT"))
            return false;
        if (clause == &clauses->items && clr_token_is(&reader.token, "FROM"))
            other = &clauses->from;
        else if (clause == &clauses->from && clr_token_is(&reader.token, "WHERE"))
            other = &clauses->where;
        else if (clause != &clauses->items && clause != &clauses->rest &&
                 CLR_TOKEN_IN(&reader.token, "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT"))
            other = &clauses->rest;
        if (other == NULL)
            continue;
        *clause = between(begin, reader.token.text);
        clause = other;
        begin = clause == &clauses->rest ? reader.token.text : end_of(&reader.token);
    }
    *clause = between(begin, end);
    return reader.at >= end && clauses->from.length > 0 && take_from(clauses);
}

/* ---- The condition by which a subquery follows from a row around it. */

struct link {
    struct name inner, outer;
};

/* Whether a term says that a column of the table is equal to one of the table around it. */
static bool take_link(struct clr_written term, const struct clauses *inner,
                      const struct clauses *outer, struct link *link)
{
    struct reader reader = read_part(term);
    struct name names[2];
    bool ends;
    int i;

    if (!take_name(&reader, &names[0], &ends) || ends || reader.token.kind != CLR_T_EQ ||
        !take_name(&reader, &names[1], &ends) || !ends)
        return false;
    for (i = 0; i < 2; i++) {
        const struct name *own = &names[i], *other = &names[1 - i];

        if ((own->table.kind == 0 || clr_token_is_same_name(&own->table, &inner->table)) &&
            other->table.kind != 0 && clr_token_is_same_name(&other->table, &outer->table)) {
            *link = (struct link){*own, *other};
            return true;
        }
    }
    return false;
}

/* Takes the parentheses off that a part is in as a whole. */
static struct clr_written strip(struct clr_written part)
{
    struct reader reader = read_part(part);
    const char *begin, *end;

    if (!next(&reader) || reader.token.kind != CLR_T_LP)
        return part;
    begin = end_of(&reader.token);
    while (next(&reader) && reader.depth > 0)
        ;
    end = reader.token.text;
    return next(&reader) ? part : strip(between(begin, end));
}

/* Finds such a term between the ANDs of a condition. */
static bool find_link(struct clr_written condition, const struct clauses *inner,
                      const struct clauses *outer, struct link *link)
{
    const struct clr_written all = strip(condition);
    struct reader reader = read_part(all);
    const char *begin = all.text;
    bool is_found = false, is_between = false;

    while (next(&reader)) {
        const bool is_and = clr_token_is(&reader.token, "AND");

        if (reader.depth > 0)
            continue;
        if (clr_token_is(&reader.token, "OR"))
            return false;
        if (is_and && !is_between) {
            is_found = is_found || take_link(between(begin, reader.token.text), inner, outer, link);
            begin = end_of(&reader.token);
        }
        is_between = clr_token_is(&reader.token, "BETWEEN") || (is_between && !is_and);
    }
    return is_found || take_link(between(begin, end_of_part(all)), inner, outer, link);
}

/* ---- The subqueries. */

enum { MOST_JOINED = 8 };

/* One, and what comes in its place. */
struct replaced {
    struct clr_written text; /* with its parentheses */
    const char *value;
};

struct joined {
    struct clr_connection *connection;
    struct clauses outer, inner; /* inner: the first subquery's */
    struct clr_names outer_columns, inner_columns;
    char *order; /* of the rows of the table around them, before their key: terms, or NULL */
    struct link link;
    int count;
    struct replaced list[MOST_JOINED];
};

/* Whether two parts of a text have the same tokens. */
static bool are_alike(struct clr_written a, struct clr_written b)
{
    struct reader x = read_part(a), y = read_part(b);
    bool x_goes_on = next(&x), y_goes_on = next(&y);

    while (x_goes_on && y_goes_on && clr_token_equal(&x.token, &y.token)) {
        x_goes_on = next(&x);
        y_goes_on = next(&y);
    }
    return !x_goes_on && !y_goes_on;
}

/* Whether the rest of a subquery is GROUP BY of its own column of the link: then it has no value
   where there is no row. */
static bool groups_by(struct clr_written rest, const struct link *link, bool *is_fine)
{
    struct reader reader = read_part(rest);
    struct name name;
    bool ends;

    *is_fine = !next(&reader);
    if (*is_fine)
        return false;
    *is_fine = clr_token_is(&reader.token, "GROUP") && next(&reader) &&
               clr_token_is(&reader.token, "BY") && take_name(&reader, &name, &ends) && ends &&
               clr_token_is_same_name(&name.column, &link->inner.column);
    return *is_fine;
}

/* Takes the expression of a SELECT's one item, without its alias: behind AS, or the last word, if
   that is no operator. Returns false if there are several items, or it has what is not the same in
   a copy of it. */
static bool take_item(struct clr_written *item)
{
    struct reader reader = read_part(*item), behind;
    const char *end = end_of_part(*item);

    while (next(&reader)) {
        if (reader.depth > 0 && reader.token.kind != CLR_T_VARIABLE)
            continue;
        if (reader.token.kind == CLR_T_COMMA || reader.token.kind == CLR_T_VARIABLE)
            return false;
        behind = reader;
        if (clr_token_is(&reader.token, "AS") ||
            (reader.token.kind == CLR_T_ID && reader.before.kind == CLR_T_RP &&
             !CLR_TOKEN_IN(&reader.token, "END", "ISNULL", "NOTNULL") && !next(&behind))) {
            end = reader.token.text;
            break;
        }
    }
    *item = between(item->text, end);
    return item->length > 0 && clr_instants_count(item->text, item->length) == 0;
}

/* Reads the names of a table's columns. Returns SQLITE_OK, SQLITE_NOTFOUND or SQLITE_NOMEM. */
static int read_columns(sqlite3 *db, struct clr_written from, struct clr_names *columns)
{
    sqlite3_stmt *statement;
    int rc =
        clr_statement_prepare(db, &statement, "SELECT * FROM%.*s", (int)from.length, from.text);

    if (rc == SQLITE_OK)
        rc = clr_column_names_read(statement, columns);
    sqlite3_finalize(statement);
    return rc == SQLITE_OK || rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}

/* Whether the token that was read is the name of a column, with no table before it, and no alias
   behind AS. */
static bool is_column(const struct reader *reader, const struct clr_names *columns)
{
    struct reader behind = *reader;
    int i;

    if (reader->token.kind != CLR_T_ID || reader->before.kind == CLR_T_DOT ||
        clr_token_is(&reader->before, "AS") ||
        (next(&behind) && (behind.token.kind == CLR_T_DOT || behind.token.kind == CLR_T_LP)))
        return false;
    for (i = 0; i < columns->count; i++) {
        const struct clr_token column = {.text = columns->list[i],
                                         .length = strlen(columns->list[i])};

        if (clr_token_is_same_name(&column, &reader->token))
            return true;
    }
    return false;
}

/* Whether a name in ORDER BY can't be an item's that is something else: where it stands in the
   items, the column is one. */
static bool is_no_alias(const struct joined *joined, const struct clr_token *name)
{
    struct reader reader = read_part(joined->outer.items), behind;

    while (next(&reader)) {
        if (reader.token.kind != CLR_T_ID || !clr_token_is_same_name(&reader.token, name))
            continue;
        behind = reader;
        if ((reader.before.kind != 0 && reader.before.kind != CLR_T_COMMA &&
             reader.before.kind != CLR_T_DOT) ||
            (next(&behind) && behind.token.kind != CLR_T_COMMA))
            return false;
    }
    return true;
}

/* Appends a part of the text with what comes in the place of subqueries; and with the table's name
   before columns, which both tables may have, and before a star. */
static void append_part(const struct joined *joined, struct clr_written part,
                        const struct clr_token *table, const struct clr_names *columns,
                        sqlite3_str *text)
{
    const bool orders = part.text == joined->outer.rest.text;
    struct reader reader = read_part(part);
    const char *at = part.text;
    int i = 0;

    while (next(&reader)) {
        const bool begins = reader.before.kind == 0 || reader.before.kind == CLR_T_COMMA;

        while (i < joined->count && joined->list[i].text.text < reader.token.text)
            i++;
        if (i < joined->count && joined->list[i].text.text == reader.token.text) {
            sqlite3_str_append(text, at, (int)(reader.token.text - at));
            sqlite3_str_appendall(text, joined->list[i].value);
            at = reader.at = end_of_part(joined->list[i].text);
            reader.token.kind = CLR_T_RP;
        } else if ((reader.token.kind == CLR_T_STAR && begins) ||
                   (is_column(&reader, columns) &&
                    !(orders && !is_no_alias(joined, &reader.token)))) {
            sqlite3_str_append(text, at, (int)(reader.token.text - at));
            sqlite3_str_appendf(text, "%.*s.", (int)table->length, table->text);
            at = reader.token.text;
        }
    }
    sqlite3_str_append(text, at, (int)(end_of_part(part) - at));
}

/* Whether a statement calls no functions of the application's: then it may run while another one is
   prepared. */
static bool is_quiet(const struct clr_connection *connection, sqlite3_stmt *statement)
{
    struct clr_bytecode program = {.count = 0};
    const bool is =
        clr_bytecode_read(connection->db, &program, "%s", sqlite3_sql(statement)) == SQLITE_OK &&
        clr_functions_are_sqlites(connection, &program);

    clr_bytecode_free(&program);
    return is;
}

/* Stores what an expression is of no rows, as a literal, to be freed with sqlite3_free(). Returns
   SQLITE_NOTFOUND if it has no aggregate: of no rows it is in none; or if it has an affinity, or a
   collating sequence, which it has not within CASE. */
static int find_empty(const struct clr_connection *connection, struct clr_written item,
                      struct clr_written from, char **empty)
{
    struct clr_comparison *comparisons = NULL;
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(
        connection->db, &statement, "SELECT %.*s, quote(%.*s) FROM %.*s WHERE 0", (int)item.length,
        item.text, (int)item.length, item.text, (int)from.length, from.text);

    *empty = NULL;
    if (rc == SQLITE_OK)
        rc = clr_comparisons_read(statement, &comparisons);
    if (rc == SQLITE_OK && (comparisons[0].affinity != CLR_LETTER_NONE ||
                            sqlite3_stricmp(comparisons[0].collation, "BINARY") != 0 ||
                            !is_quiet(connection, statement)))
        rc = SQLITE_NOTFOUND;
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *empty = sqlite3_mprintf("%s", sqlite3_column_text(statement, 1));
    sqlite3_finalize(statement);
    sqlite3_free(comparisons);
    return *empty != NULL                           ? SQLITE_OK
           : rc == SQLITE_ROW || rc == SQLITE_NOMEM ? SQLITE_NOMEM
                                                    : SQLITE_NOTFOUND;
}

/* Whether a SELECT is that of a value in the select list or ORDER BY. Stores its text with the
   parentheses. */
static bool find_value(const struct joined *joined, const struct clr_stood *stood,
                       struct clr_written *text)
{
    const char *open = stood->text.text - 1, *close = end_of_part(stood->text);
    const struct clr_written *rest = &joined->outer.rest;

    while (open > joined->outer.items.text && strchr(" \t\n\f\r", *open) != NULL)
        open--;
    close += strspn(close, " \t\n\f\r");
    *text = between(open, close + 1);
    return stood->place == CLR_PLACE_VALUE && stood->around == 0 && stood->compound < 0 &&
           *open == '(' && *close == ')' &&
           (open < joined->outer.from.text || (rest->length > 0 && open >= rest->text));
}

/* Takes a subquery whose SELECT stands there. Returns SQLITE_OK, SQLITE_NOTFOUND if it is none, or
   SQLITE_NOMEM. */
static int take_subquery(struct joined *joined, const struct clr_stood *stood)
{
    struct replaced *replaced = &joined->list[joined->count];
    bool is_fine, is_null;
    struct clauses inner;
    struct link link;
    sqlite3_str *value;
    char *empty;
    int rc = SQLITE_OK;

    if (joined->count == MOST_JOINED || !find_value(joined, stood, &replaced->text) ||
        !take_clauses(stood->text, &inner) ||
        clr_token_is_same_name(&inner.table, &joined->outer.table) ||
        !find_link(inner.where, &inner, &joined->outer, &link))
        return SQLITE_NOTFOUND;
    is_null = groups_by(inner.rest, &link, &is_fine);
    if (joined->count == 0) {
        joined->inner = inner;
        joined->link = link;
    }
    if (!is_fine || !are_alike(inner.from, joined->inner.from) ||
        !are_alike(inner.where, joined->inner.where) || !take_item(&inner.items))
        return SQLITE_NOTFOUND;
    if (joined->count == 0)
        rc = read_columns(joined->connection->db, inner.from, &joined->inner_columns);
    if (rc == SQLITE_OK)
        rc = find_empty(joined->connection, inner.items, inner.from, &empty);
    if (rc != SQLITE_OK)
        return rc;
    value = sqlite3_str_new(NULL);
    sqlite3_str_appendf(value, "CASE WHEN count(%.*s.%.*s) > 0 THEN ", (int)inner.table.length,
                        inner.table.text, (int)link.inner.column.length, link.inner.column.text);
    append_part(joined, inner.items, &inner.table, &joined->inner_columns, value);
    sqlite3_str_appendf(value, " ELSE %s END", is_null ? "NULL" : empty);
    sqlite3_free(empty);
    replaced->value = sqlite3_str_finish(value);
    joined->count++;
    return replaced->value == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* ---- The join. */

/* Returns where LIMIT begins behind ORDER BY, or the end. */
static const char *find_limit(struct clr_written rest)
{
    struct reader reader = read_part(rest);

    while (next(&reader)) {
        if (reader.depth == 0 && clr_token_is(&reader.token, "LIMIT"))
            return reader.token.text;
    }
    return end_of_part(rest);
}

static char *write_join(const struct joined *joined)
{
    const struct clauses *outer = &joined->outer, *inner = &joined->inner;
    const struct name *key = &joined->link.outer;
    const char *limit = find_limit(outer->rest);
    sqlite3_str *text = sqlite3_str_new(NULL);

    sqlite3_str_appendall(text, "SELECT");
    append_part(joined, outer->items, &outer->table, &joined->outer_columns, text);
    sqlite3_str_appendf(text, "\nFROM%.*s\nLEFT JOIN%.*s\nON", (int)outer->from.length,
                        outer->from.text, (int)inner->from.length, inner->from.text);
    append_part(joined, inner->where, &inner->table, &joined->inner_columns, text);
    if (outer->where.length > 0) {
        sqlite3_str_appendall(text, "\nWHERE");
        append_part(joined, outer->where, &outer->table, &joined->outer_columns, text);
    }
    sqlite3_str_appendf(text, "\nGROUP BY %.*s.%.*s\n", (int)key->table.length, key->table.text,
                        (int)key->column.length, key->column.text);
    append_part(joined, between(outer->rest.text, limit), &outer->table, &joined->outer_columns,
                text);
    if (joined->order != NULL)
        sqlite3_str_appendf(text, "%s %s %.*s.%.*s\n", limit > outer->rest.text ? "," : "ORDER BY",
                            joined->order, (int)key->table.length, key->table.text,
                            (int)key->column.length, key->column.text);
    append_part(joined, between(limit, end_of_part(outer->rest)), &outer->table,
                &joined->outer_columns, text);
    return sqlite3_str_finish(text);
}

/* Whether the query around the subqueries has no aggregates: their values are finished. */
static bool has_rows(const struct joined *joined)
{
    const struct clauses *outer = &joined->outer;
    struct joined bare = *joined;
    struct clr_bytecode program = {.count = 0};
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *select;
    bool has;
    int i;

    for (i = 0; i < bare.count; i++)
        bare.list[i].value = "NULL";
    sqlite3_str_appendall(text, "SELECT");
    append_part(&bare, outer->items, &outer->table, &bare.outer_columns, text);
    sqlite3_str_appendf(text, " FROM%.*s WHERE 0", (int)outer->from.length, outer->from.text);
    select = sqlite3_str_finish(text);
    has = select != NULL &&
          clr_bytecode_read(joined->connection->db, &program, "%s", select) == SQLITE_OK &&
          clr_bytecode_count(&program, "AggFinal") == 0;
    clr_bytecode_free(&program);
    sqlite3_free(select);
    return has;
}

/* Finds out in which order SQLite goes over all rows of the table of the SELECT. Returns SQLITE_OK,
   SQLITE_NOTFOUND if that is not known, or SQLite's code. */
static int find_order(struct joined *joined, const char *sql, const struct clr_token *table)
{
    sqlite3 *db = joined->connection->db;
    char *name = sqlite3_malloc64(table->length + 1);
    struct clr_bytecode program = {.count = 0};
    sqlite3_stmt *entries;
    uint32_t root = 0;
    int rc = SQLITE_NOTFOUND;

    if (name == NULL)
        return rc;
    clr_token_unquote(table, name);
    if (clr_schema_entries(db, "main", &entries) == SQLITE_OK &&
        clr_schema_entries_next(entries, CLR_SCHEMA_TABLE, CLR_SCHEMA_NAME, name))
        root = (uint32_t)sqlite3_column_int64(entries, CLR_SCHEMA_ROOT);
    sqlite3_finalize(entries);
    if (root != 0 && clr_bytecode_read(db, &program, "%s", sql) == SQLITE_OK)
        rc = clr_row_order_find(db, &program, name, root, &joined->outer.table, &joined->order);
    clr_bytecode_free(&program);
    sqlite3_free(name);
    return rc;
}

/* Takes all subqueries of a statement. Returns as take_subquery(). */
static int take_subqueries(struct joined *joined, const struct clr_selects *selects)
{
    const struct clr_stood *statement = &selects->list[0];
    int rc, i;

    if (selects->count < 2 || selects->cte_count > 0 || statement->compound >= 0 ||
        statement->sources != 1 || !take_clauses(statement->text, &joined->outer) ||
        (joined->outer.rest.length > 0 &&
         !clr_name_begins(joined->outer.rest.text, joined->outer.rest.length, "ORDER") &&
         !clr_name_begins(joined->outer.rest.text, joined->outer.rest.length, "LIMIT")))
        return SQLITE_NOTFOUND;
    rc = read_columns(joined->connection->db, joined->outer.from, &joined->outer_columns);
    for (i = 1; i < selects->count && rc == SQLITE_OK; i++)
        rc = take_subquery(joined, &selects->list[i]);
    return rc;
}

int clr_correlated_join(struct clr_connection *connection, sqlite3_stmt *plain, const char *sql,
                        char **text)
{
    const struct clr_written written = {sql, strlen(sql)};
    struct joined *joined;
    struct clr_selects *selects;
    struct reader table;
    sqlite3_str *named;
    char *numbered;
    int rc = SQLITE_NOTFOUND, i;

    *text = NULL;
    if (sqlite3_strlike("%select%select%", sql, 0) != 0 || clr_text_has_truth(sql))
        return SQLITE_NOTFOUND;
    joined = clr_sqlite_alloc_zero(sizeof *joined);
    selects = sqlite3_malloc64(sizeof *selects);
    named = sqlite3_str_new(NULL);
    clr_text_append_names(named, &written, plain);
    numbered = sqlite3_str_finish(named);
    if (joined == NULL || selects == NULL || numbered == NULL) {
        rc = SQLITE_NOMEM;
    } else {
        joined->connection = connection;
        if (clr_selects_find(numbered, selects))
            rc = take_subqueries(joined, selects);
        table = read_part(joined->outer.from);
        if (rc == SQLITE_OK)
            rc = has_rows(joined) && next(&table) ? find_order(joined, numbered, &table.token)
                                                  : SQLITE_NOTFOUND;
        if (rc == SQLITE_OK) {
            *text = write_join(joined);
            rc = *text == NULL ? SQLITE_NOMEM : SQLITE_OK;
        }
        for (i = 0; i < joined->count; i++)
            sqlite3_free((void *)joined->list[i].value);
        clr_memory_free(joined->order);
        clr_names_free(&joined->outer_columns);
        clr_names_free(&joined->inner_columns);
    }
    sqlite3_free(joined);
    sqlite3_free(selects);
    sqlite3_free(numbered);
    return rc;
}
