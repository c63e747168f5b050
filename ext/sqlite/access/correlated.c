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
#include "query/syntax/print.h"
#include "sqlite/access/select_place.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/row_order.h"
#include "sqlite/schema/schema_entries.h"
#include "sqlite/schema/select_columns.h"
#include "sqlite/session/statement.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_JOINED = 8 };

/* empty: what its item is of no rows, as a literal, in memory of SQLite's. */
struct subquery {
    const struct clr_node *node;
    struct clr_syntax *syntax;
    char *empty;
};

struct joined {
    struct clr_connection *connection;
    struct clr_reason reason; /* why a SELECT can't be parsed */
    struct clr_syntax *outer;
    struct clr_names outer_columns, inner_columns;
    const struct clr_node *outer_key, *inner_key; /* the columns that are equal */
    char *rows;   /* of all subqueries: the table, and their condition behind ON */
    char *order;  /* of the rows of the table around them, before their key: terms, or NULL */
    bool is_bare; /* a subquery is printed as NULL */
    int count;
    struct subquery list[MOST_JOINED];
};

/* ---- Parts of the SELECTs as text. */

static bool is_column(const struct clr_names *columns, const struct clr_token *name)
{
    int i = 0;

    while (i < columns->count && !clr_name_equal(columns->list[i], name->name))
        i++;
    return i < columns->count;
}

/* Whether a node needs the name of its table before it: a column, which both tables may have, or a
   star. An item's name goes before that of a column in ORDER BY. */
static bool needs_table(const struct joined *joined, const struct clr_node *node)
{
    const bool is_outer = node->at == &joined->outer->select;

    if (node->kind == CLR_N_STAR)
        return node->names[0].kind == 0;
    return node->kind == CLR_N_COLUMN && node->name_count == 1 &&
           is_column(is_outer ? &joined->outer_columns : &joined->inner_columns, node->names) &&
           !(node->is_ordering && clr_syntax_find_item(joined->outer, node) != NULL);
}

/* Prints what comes in the place of a subquery. */
static void print_value(struct clr_printer *printer, const struct clr_node *node)
{
    const struct joined *joined = printer->context;
    const struct subquery *subquery = joined->list;
    const struct clr_select_tree *select;

    if (joined->is_bare) {
        clr_print_word(printer, "NULL");
        return;
    }
    while (subquery->node != node)
        subquery++;
    select = &subquery->syntax->select;
    clr_print_prefix(printer, "CASE WHEN count (", joined->inner_key);
    clr_print_prefix(printer, ") > 0 THEN", select->items.first->first);
    /* A group is there only where there is a row. */
    clr_print_word(printer, "ELSE");
    clr_print_word(printer, select->keys.first != NULL ? "NULL" : subquery->empty);
    clr_print_word(printer, "END");
}

static bool print_joined(struct clr_printer *printer, const struct clr_node *node)
{
    if (node->kind == CLR_N_SUBQUERY) {
        print_value(printer, node);
        return true;
    }
    if (!needs_table(printer->context, node))
        return false;
    clr_print_token(printer, clr_from_name(node->at->sources));
    clr_print_word(printer, ".");
    if (node->kind == CLR_N_STAR)
        clr_print_word(printer, "*");
    else
        clr_print_token(printer, node->names);
    return true;
}

static struct clr_printer begin_text(struct joined *joined)
{
    return (struct clr_printer){
        .syntax = joined->outer, .replace = print_joined, .context = joined};
}

static void print_table(struct clr_printer *printer, const struct clr_select_tree *select)
{
    const struct clr_from_table *source = &select->sources[0];

    clr_print_token(printer, &source->table);
    if (source->alias.kind != 0) {
        clr_print_word(printer, "AS");
        clr_print_token(printer, &source->alias);
    }
}

/* ---- The SELECTs. */

/* Prepares a text, which it frees; NULL: there was no memory for it. Returns SQLITE_OK,
   SQLITE_NOTFOUND if SQLite refuses it, or SQLITE_NOMEM. */
static int prepare(struct joined *joined, char *text, sqlite3_stmt **statement)
{
    int rc = SQLITE_NOMEM;

    *statement = NULL;
    if (text != NULL)
        rc = clr_statement_make(joined->connection->db, text, 0, statement);
    clr_memory_free(text);
    return rc == SQLITE_OK || rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}

/* Parses a SELECT of one table, and reads the names of its columns, unless they are there already.
   Returns as prepare(). */
static int take_select(struct joined *joined, const char *text, struct clr_syntax **syntax,
                       struct clr_names *columns)
{
    const enum clr_code code = clr_syntax_parse(text, syntax, &joined->reason);
    struct clr_printer printer = begin_text(joined);
    const struct clr_select_tree *select;
    sqlite3_stmt *statement;
    int rc;

    if (code != CLR_OK)
        return code == CLR_NOMEM ? SQLITE_NOMEM : SQLITE_NOTFOUND;
    select = &(*syntax)->select;
    if (select->source_count > 1 || select->sources[0].schema.kind != 0 ||
        (*syntax)->trees != NULL || select->distinct || select->having != NULL)
        return SQLITE_NOTFOUND;
    if (columns->count > 0)
        return SQLITE_OK;
    clr_print_word(&printer, "SELECT * FROM");
    print_table(&printer, select);
    rc = prepare(joined, clr_text_end(&printer.text), &statement);
    if (rc == SQLITE_OK)
        rc = clr_column_names_read(statement, columns);
    sqlite3_finalize(statement);
    return rc == SQLITE_OK || rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}

/* Whether a column is a subquery's own, and the other one that of the table around it. */
static bool is_link(const struct joined *joined, const struct clr_node *own,
                    const struct clr_node *other)
{
    const struct clr_token *outer = clr_from_name(joined->outer->select.sources);

    if (own->kind != CLR_N_COLUMN || other->kind != CLR_N_COLUMN || other->name_count != 2 ||
        !clr_name_equal(other->names[0].name, outer->name))
        return false;
    if (own->name_count == 1)
        return is_column(&joined->inner_columns, own->names);
    return own->name_count == 2 &&
           clr_name_equal(own->names[0].name, clr_from_name(own->at->sources)->name);
}

/* Finds the term of a condition by which a subquery follows from a row around it. */
static bool find_link(struct joined *joined, const struct clr_node *condition)
{
    const struct clr_node *left = condition->first, *right;

    if (clr_node_is_and(condition))
        return find_link(joined, left) || find_link(joined, left->next);
    if (condition->kind != CLR_N_FOLD || condition->opcode != CLR_OP_EQUAL)
        return false;
    right = left->next;
    joined->inner_key = is_link(joined, left, right) ? left : right;
    joined->outer_key = joined->inner_key == left ? right : left;
    return is_link(joined, joined->inner_key, joined->outer_key);
}

/* Whether a subquery has no groups but that of the rows of its condition. */
static bool has_one_group(const struct joined *joined, const struct clr_select_tree *select)
{
    const struct clr_node *term = select->keys.first, *key = joined->inner_key;

    return term == NULL || (term->next == NULL && term->first->kind == CLR_N_COLUMN &&
                            clr_name_equal(term->first->names[term->first->name_count - 1].name,
                                           key->names[key->name_count - 1].name));
}

/* Whether two texts have the same tokens. */
static bool are_alike(const char *a, const char *b)
{
    struct clr_token x, y;
    bool a_goes_on, b_goes_on;

    do {
        a_goes_on = clr_token_next(&a, &x);
        b_goes_on = clr_token_next(&b, &y);
    } while (a_goes_on && b_goes_on && clr_token_equal(&x, &y));
    return !a_goes_on && !b_goes_on;
}

/* Takes the rows of a subquery, which all of them have. Returns as prepare(). */
static int take_rows(struct joined *joined, const struct clr_select_tree *select)
{
    struct clr_printer printer = begin_text(joined);
    char *rows;
    int rc = SQLITE_OK;

    print_table(&printer, select);
    clr_print_prefix(&printer, "ON", select->where);
    rows = clr_text_end(&printer.text);
    if (rows == NULL)
        rc = SQLITE_NOMEM;
    else if (joined->rows != NULL && !are_alike(rows, joined->rows))
        rc = SQLITE_NOTFOUND;
    clr_memory_free(joined->rows);
    joined->rows = rows;
    return rc;
}

/* Whether a statement calls no functions of the application's: then it may run while another one is
   prepared. */
static bool is_quiet(const struct clr_connection *connection, sqlite3_stmt *statement)
{
    struct clr_bytecode program = {.count = 0};
    const bool is =
        clr_bytecode_read(connection->db, &program, "%s", sqlite3_sql(statement)) == SQLITE_OK &&
        clr_functions_are_sqlites(connection, NULL, &program);

    clr_bytecode_free(&program);
    return is;
}

/* Stores what a subquery's item is of no rows. Returns as prepare(): SQLITE_NOTFOUND also if it has
   no aggregate: of no rows it is in none; if it has an affinity, or a collating sequence, which it
   has not within CASE; or if it asks for the time, which is not the same in a copy of it. */
static int find_empty(struct joined *joined, struct subquery *subquery)
{
    const struct clr_select_tree *select = &subquery->syntax->select;
    const struct clr_node *item = select->items.first->first;
    struct clr_printer printer = begin_text(joined);
    struct clr_comparison *comparisons = NULL;
    sqlite3_stmt *statement;
    bool asks;
    char *text;
    int rc;

    clr_print_prefix(&printer, "SELECT", item);
    clr_print_prefix(&printer, ", quote (", item);
    clr_print_word(&printer, ") FROM");
    print_table(&printer, select);
    clr_print_word(&printer, "WHERE 0");
    text = clr_text_end(&printer.text);
    asks = text != NULL && clr_instants_count(text, strlen(text)) > 0;
    rc = prepare(joined, text, &statement);
    if (rc == SQLITE_OK)
        rc = clr_comparisons_read(statement, &comparisons);
    if (rc == SQLITE_OK && (asks || comparisons[0].affinity != CLR_LETTER_NONE ||
                            sqlite3_stricmp(comparisons[0].collation, "BINARY") != 0 ||
                            !is_quiet(joined->connection, statement)))
        rc = SQLITE_NOTFOUND;
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        subquery->empty = sqlite3_mprintf("%s", sqlite3_column_text(statement, 1));
    sqlite3_finalize(statement);
    sqlite3_free(comparisons);
    return subquery->empty != NULL                  ? SQLITE_OK
           : rc == SQLITE_ROW || rc == SQLITE_NOMEM ? SQLITE_NOMEM
                                                    : SQLITE_NOTFOUND;
}

/* Takes the subquery of a node. Returns as prepare(). */
static int take_subquery(struct joined *joined, const struct clr_node *node)
{
    const struct clr_token *written = &node->names[0];
    const struct clr_node *parameter;
    const struct clr_select_tree *select;
    struct subquery *subquery;
    char *text;
    int rc;

    if (joined->count == MOST_JOINED)
        return SQLITE_NOTFOUND;
    subquery = &joined->list[joined->count++];
    subquery->node = node;
    text = sqlite3_mprintf("%.*s", (int)written->length - 2, written->text + 1);
    rc = text == NULL ? SQLITE_NOMEM
                      : take_select(joined, text, &subquery->syntax, &joined->inner_columns);
    sqlite3_free(text);
    if (rc != SQLITE_OK)
        return rc;
    select = &subquery->syntax->select;
    parameter = subquery->syntax->parameters.first;
    if (clr_name_equal(clr_from_name(select->sources)->name,
                       clr_from_name(joined->outer->select.sources)->name) ||
        subquery->syntax->subqueries.first != NULL || select->items.first->next != NULL ||
        (parameter != NULL && parameter->names[0].text < select->sources[0].table.text) ||
        select->where == NULL || !find_link(joined, select->where) ||
        !has_one_group(joined, select) || select->terms.first != NULL || select->limit != NULL)
        return SQLITE_NOTFOUND;
    rc = take_rows(joined, select);
    return rc == SQLITE_OK ? find_empty(joined, subquery) : rc;
}

/* Whether a subquery is none of a value, but of IN or EXISTS. */
static bool is_tested(const struct clr_node *node)
{
    return node->kind == CLR_N_OPERATOR && node->names[0].kind == 0;
}

/* Whether all subqueries in a list of items or terms are values. */
static bool are_values(const struct clr_list *list)
{
    const struct clr_node *node = list->first;

    while (node != NULL && clr_node_find(node, is_tested) == NULL)
        node = node->next;
    return node == NULL;
}

/* Takes the statement, and all of its subqueries. Returns as prepare(). */
static int take_statement(struct joined *joined, const char *sql)
{
    const struct clr_node *node;
    const struct clr_select_tree *select;
    int rc = take_select(joined, sql, &joined->outer, &joined->outer_columns);

    if (rc != SQLITE_OK)
        return rc;
    select = &joined->outer->select;
    node = joined->outer->subqueries.first;
    if (node == NULL || select->keys.first != NULL || !are_values(&select->items) ||
        !are_values(&select->terms) ||
        (select->where != NULL && (select->where->has & CLR_HAS_SUBQUERY) != 0))
        return SQLITE_NOTFOUND;
    for (; node != NULL && rc == SQLITE_OK; node = node->listed)
        rc = take_subquery(joined, node);
    return rc;
}

/* ---- The join. */

static char *write_join(struct joined *joined)
{
    const struct clr_select_tree *select = &joined->outer->select;
    struct clr_printer printer = begin_text(joined);

    clr_print_clause(&printer, "SELECT", &select->items);
    clr_print_word(&printer, "FROM");
    print_table(&printer, select);
    clr_print_word(&printer, "LEFT JOIN");
    clr_print_word(&printer, joined->rows);
    if (select->where != NULL)
        clr_print_prefix(&printer, "WHERE", select->where);
    clr_print_prefix(&printer, "GROUP BY", joined->outer_key);
    clr_print_clause(&printer, "ORDER BY", &select->terms);
    if (joined->order != NULL) {
        clr_print_word(&printer, select->terms.first != NULL ? "," : "ORDER BY");
        clr_print_prefix(&printer, joined->order, joined->outer_key);
    }
    clr_print_limit(&printer, select);
    return clr_text_end(&printer.text);
}

/* Whether the query around the subqueries has no aggregates: their values are finished. */
static bool has_rows(struct joined *joined)
{
    struct clr_printer printer = begin_text(joined);
    struct clr_bytecode program = {.count = 0};
    char *select;
    bool has;

    joined->is_bare = true;
    clr_print_clause(&printer, "SELECT", &joined->outer->select.items);
    clr_print_word(&printer, "FROM");
    print_table(&printer, &joined->outer->select);
    clr_print_word(&printer, "WHERE 0");
    joined->is_bare = false;
    select = clr_text_end(&printer.text);
    has = select != NULL &&
          clr_bytecode_read(joined->connection->db, &program, "%s", select) == SQLITE_OK &&
          clr_bytecode_count(&program, "AggFinal") == 0;
    clr_bytecode_free(&program);
    clr_memory_free(select);
    return has;
}

/* Finds out in which order SQLite goes over all rows of the table of the SELECT. Returns SQLITE_OK,
   SQLITE_NOTFOUND if that is not known, or SQLite's code. */
static int find_order(struct joined *joined, const char *sql)
{
    const struct clr_from_table *source = &joined->outer->select.sources[0];
    sqlite3 *db = joined->connection->db;
    struct clr_bytecode program = {.count = 0};
    sqlite3_stmt *entries;
    uint32_t root = 0;
    int rc = SQLITE_NOTFOUND;

    if (clr_schema_entries(db, "main", &entries) == SQLITE_OK &&
        clr_schema_entries_next(entries, CLR_SCHEMA_TABLE, CLR_SCHEMA_NAME, source->table.name))
        root = (uint32_t)sqlite3_column_int64(entries, CLR_SCHEMA_ROOT);
    sqlite3_finalize(entries);
    if (root != 0 && clr_bytecode_read(db, &program, "%s", sql) == SQLITE_OK)
        rc = clr_row_order_find(db, &program, source->table.name, root, clr_from_name(source),
                                &joined->order);
    clr_bytecode_free(&program);
    return rc;
}

static void free_joined(struct joined *joined)
{
    int i;

    for (i = 0; i < joined->count; i++) {
        clr_syntax_free(joined->list[i].syntax);
        sqlite3_free(joined->list[i].empty);
    }
    clr_syntax_free(joined->outer);
    clr_names_free(&joined->outer_columns);
    clr_names_free(&joined->inner_columns);
    clr_memory_free(joined->rows);
    clr_memory_free(joined->order);
    sqlite3_free(joined);
}

int clr_correlated_join(struct clr_connection *connection, sqlite3_stmt *plain, const char *sql,
                        char **text)
{
    const struct clr_written written = {sql, strlen(sql)};
    struct joined *joined;
    sqlite3_str *named;
    char *numbered;
    int rc = SQLITE_NOMEM;

    *text = NULL;
    if (sqlite3_strlike("%select%select%", sql, 0) != 0 || clr_text_has_truth(sql))
        return SQLITE_NOTFOUND;
    joined = clr_sqlite_alloc_zero(sizeof *joined);
    if (joined == NULL)
        return SQLITE_NOMEM;
    joined->connection = connection;
    named = sqlite3_str_new(NULL);
    clr_text_append_names(named, &written, plain);
    numbered = sqlite3_str_finish(named);
    if (numbered != NULL)
        rc = take_statement(joined, numbered);
    if (rc == SQLITE_OK)
        rc = has_rows(joined) ? find_order(joined, numbered) : SQLITE_NOTFOUND;
    if (rc == SQLITE_OK) {
        *text = write_join(joined);
        rc = *text == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    free_joined(joined);
    sqlite3_free(numbered);
    return rc;
}
