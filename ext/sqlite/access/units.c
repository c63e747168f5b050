#include "sqlite/access/units.h"

#include "query/query.h"
#include "query/syntax/blank.h"
#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "query/syntax/syntax.h"
#include "query/syntax/word.h"
#include "sqlite/access/select_place.h"
#include "sqlite/schema/select_columns.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/module.h"

#include <stdlib.h>
#include <string.h>

/* A unit that is read from a view. */
struct unit {
    struct clr_written text; /* that it stands for, within the statement's */
    char *itself;            /* as a statement */
    char *select;            /* the same, as the view has it: perhaps DISTINCT */
    char *replacement;       /* a SELECT from the view */
    char view[CLR_MADE_NAME];
    int columns;
    bool is_typed;    /* its first column has an affinity, or a collating sequence */
    bool is_distinct; /* the SELECT has DISTINCT, and is none to SQLite in its place */
};

struct units {
    struct clr_connection *connection;
    const char *sql;
    struct clr_selects selects;
    bool are_joined; /* so may be a unit that was added */
    bool are_named;  /* a unit that was added is an arm in an order of names */
    bool are_sets;   /* a unit that was added is an arm, and distinct */
    int instants;    /* how often the statement may ask for the time */
    int count;
    struct unit list[CLR_MOST_SELECTS];
    char why[CLR_REASON_TEXT]; /* of the last SELECT that is no unit */
};

/* Takes note of why a SELECT is no unit. Returns SQLITE_NOTFOUND. */
static int refuse(struct units *units, const char *why)
{
    sqlite3_snprintf(sizeof units->why, units->why, "%s", why == NULL ? "" : why);
    return SQLITE_NOTFOUND;
}

/* ---- Views. */

/* Whether a parameter with a name has it by its number too: ?1 may be :a in a unit by itself. */
static bool is_own_name(sqlite3_stmt *select, const struct clr_token *variable)
{
    char *name = sqlite3_mprintf("%.*s", (int)variable->length, variable->text);
    const char *known = NULL;
    bool is;

    if (name != NULL)
        known = sqlite3_bind_parameter_name(select, sqlite3_bind_parameter_index(select, name));
    is = known != NULL && strcmp(known, name) == 0;
    sqlite3_free(name);
    return is;
}

/* Whether the statement's text makes the parameters that a unit has by itself, in their order, if
   they are written once each: all have names of their own, or are each a ? of its own. A ? of the
   CTEs before the unit itself is also where they are defined. */
static bool has_plain_parameters(sqlite3_stmt *select, const char *text, size_t ctes_length)
{
    const char *const unit = text + ctes_length;
    const int count = sqlite3_bind_parameter_count(select);
    struct clr_token token;
    int unnamed = 0, i;

    while (clr_token_next(&text, &token)) {
        if (token.kind != CLR_T_VARIABLE)
            continue;
        if (token.length > 1 ? !is_own_name(select, &token) : token.text < unit)
            return false;
        unnamed += token.length == 1;
    }
    for (i = 1; i <= count; i++)
        unnamed -= sqlite3_bind_parameter_name(select, i) == NULL;
    return unnamed == 0 && count <= CLR_MOST_NULLS;
}

/* What a view has in a unit's place. */
struct columns {
    struct clr_names own;               /* the view's */
    struct clr_names names;             /* as the query around knows them */
    struct clr_comparison *comparisons; /* likewise how they compare */
};

/* Whether SQLite takes an arm of UNION ALL in FROM for a part of the query around it, if all arms
   are such: see flattenSubquery() in SQLite's select.c. */
static bool is_simple(const struct clr_query *query)
{
    return query->has_rows && query->syntax->aggregates.first == NULL &&
           query->syntax->select.keys.first == NULL && !query->syntax->select.distinct;
}

/* Writes the SELECT from the view. A column without an affinity is an expression: by a plus sign,
   or without a collating sequence as well where a compound would compare by it. */
static char *write_replacement(sqlite3_stmt *select, const struct columns *columns,
                               const struct clr_view *read, const struct clr_stood *stood)
{
    static const char typed[] = "%s %s.\"%w\" AS \"%w\"", plain[] = "%s +%s.\"%w\" AS \"%w\"",
                      bare[] = "%s CASE WHEN 1 THEN %s.\"%w\" END AS \"%w\"";
    const int count = sqlite3_bind_parameter_count(select);
    const char *view = read->name, *name;
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < columns->own.count; i++)
        sqlite3_str_appendf(text,
                            columns->comparisons[i].affinity != CLR_LETTER_NONE ? typed
                            : stood->compound < 0                               ? plain
                                                                                : bare,
                            i == 0 ? "SELECT" : ",", view, columns->own.list[i],
                            columns->names.list[i]);
    sqlite3_str_appendf(text, " FROM temp.\"%w\"", view);
    for (i = 1; i <= count; i++) {
        name = sqlite3_bind_parameter_name(select, i);
        sqlite3_str_appendf(text, "%s%s", i == 1 ? "(" : ", ", name == NULL ? "?" : name);
    }
    sqlite3_str_appendall(text, count > 0 ? ")" : "");
    /* Behind FROM alone ON CONFLICT would be a join's ON. */
    if (stood->place == CLR_PLACE_WRITTEN)
        sqlite3_str_appendall(text, " WHERE 1");
    /* With LIMIT the view is no table of the query around it, as an aggregate would be none. With
       an arm without FROM that query has no part of the others, whose columns may have affinities
       of their own. */
    if (stood->compound < 0 && clr_stood_is_table(stood)) {
        sqlite3_str_appendall(text, " LIMIT -1");
    } else if (clr_stood_is_table(stood) && !stood->is_set &&
               !is_simple(read->acceleration->plan->query)) {
        for (i = 0; i < columns->own.count; i++)
            sqlite3_str_appendall(text, i == 0 ? " UNION ALL SELECT NULL" : ", NULL");
        sqlite3_str_appendall(text, " WHERE 0");
    }
    return sqlite3_str_finish(text);
}

/* Reads the names of the columns that a unit has in its place, and finds out whether they differ
   where ORDER BY of a compound may look for them. Returns SQLite's code, or SQLITE_NOTFOUND. */
static int read_names(sqlite3 *db, const char *text, const struct clr_stood *stood,
                      struct clr_names *names)
{
    const bool is_first = stood->place == CLR_PLACE_STATEMENT || stood->place == CLR_PLACE_WRITTEN;
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, is_first ? "%s" : "SELECT * FROM (%s\n)", text);
    int i, k;

    if (rc == SQLITE_OK)
        rc = clr_column_names_read(statement, names);
    for (i = 0; i < names->count && rc == SQLITE_OK && stood->compound >= 0; i++) {
        for (k = 0; k < i && rc == SQLITE_OK; k++) {
            if (sqlite3_stricmp(sqlite3_column_name(statement, i),
                                sqlite3_column_name(statement, k)) == 0)
                rc = SQLITE_NOTFOUND;
        }
    }
    sqlite3_finalize(statement);
    return rc;
}

/* Reads how the columns of a unit compare, to be freed with sqlite3_free() in any case. Returns
   SQLITE_OK, SQLITE_NOTFOUND if that is not known of all, or SQLite's code. */
static int read_comparisons(sqlite3_stmt *select, struct clr_comparison **list)
{
    int rc = clr_comparisons_read(select, list), i;

    for (i = 0; i < sqlite3_column_count(select) && rc == SQLITE_OK; i++) {
        if ((*list)[i].affinity == 0)
            rc = SQLITE_NOTFOUND;
    }
    return rc;
}

/*
 * Whether a view's plan is one whose SELECT is no part of the query around it to SQLite either. The
 * groups of a compound's arm come in the order of its ORDER BY, as sqlite3Select() in SQLite's
 * select.c has it, if there are as many keys as terms; there are more terms where arms are sets. A
 * plan of rows may be one of groups that SQLite makes of them. Conditions go into the arms of a
 * compound, where columns have affinities of their own, unless an arm has a window, as
 * pushDownWhereTerms() there has it.
 */
static bool is_apart(const struct clr_view *view, const struct clr_stood *stood)
{
    const struct clr_query *query;

    if (view == NULL || view->acceleration->plan == NULL)
        return false;
    query = view->acceleration->plan->query;
    if (stood->compound >= 0 && stood->descends &&
        (query->has_rows ||
         (query->is_grouped && (stood->is_set || query->grouping.key_count == stood->order_count))))
        return false;
    if (stood->compound >= 0 && clr_stood_is_table(stood) && clr_syntax_has_window(query->syntax))
        return false;
    /* EXISTS ends at the first row, before which SQLite may not have gone over all of them. */
    if (stood->place == CLR_PLACE_EXISTS && query->is_grouped &&
        !view->acceleration->plan->walk.has_sorter)
        return false;
    return !query->has_rows || stood->place == CLR_PLACE_IN || stood->place == CLR_PLACE_WRITTEN ||
           stood->compound >= 0;
}

/* Whether the item of a column is an aggregate alone. */
static bool is_aggregate(const struct clr_query *query, int column)
{
    const struct clr_node *item = query->syntax->select.items.first;
    int i;

    for (i = 0; item != NULL && i < column && item->kind == CLR_N_ITEM; i++)
        item = item->next;
    return item != NULL && item->kind == CLR_N_ITEM && item->first->kind == CLR_N_AGGREGATE;
}

/* Finds out whether columns of an arm have affinities where those of a unit in another arm have
   none, and are no aggregates. Returns as read_comparisons(). */
static int compare_arm(const struct units *units, const struct clr_stood *arm,
                       const struct columns *columns, const struct clr_query *query)
{
    struct clr_comparison *comparisons = NULL;
    bool reads[CLR_MOST_CTES];
    sqlite3_stmt *statement;
    char *text;
    int rc, i;

    if (!clr_stood_find_ctes(&units->selects, arm, reads))
        return SQLITE_NOTFOUND;
    text = clr_stood_write(&units->selects, arm, reads, true, false);
    rc = clr_statement_prepare_text(units->connection->db, &statement, text);
    if (rc == SQLITE_OK && sqlite3_column_count(statement) != columns->own.count)
        rc = SQLITE_NOTFOUND;
    if (rc == SQLITE_OK)
        rc = read_comparisons(statement, &comparisons);
    for (i = 0; i < columns->own.count && rc == SQLITE_OK; i++) {
        if (comparisons[i].affinity != CLR_LETTER_NONE &&
            columns->comparisons[i].affinity == CLR_LETTER_NONE && !is_aggregate(query, i))
            rc = SQLITE_NOTFOUND;
    }
    sqlite3_free(comparisons);
    sqlite3_finalize(statement);
    return rc;
}

/*
 * Finds out whether a compound's columns compare with a view in an arm as they did. The affinities
 * of the arms' columns tell how, and where they differ the kinds of the expressions, as
 * sqlite3SubqueryColumnTypes() in SQLite's select.c has it: a view's column without an affinity is
 * to it what an aggregate is. Returns SQLITE_OK, SQLITE_NOTFOUND if not, or SQLite's code.
 */
static int compare_arms(const struct units *units, const struct clr_stood *stood,
                        const struct columns *columns, const struct clr_query *query)
{
    int rc = SQLITE_OK, i;

    if (stood->compound < 0 || !clr_stood_is_table(stood))
        return SQLITE_OK;
    for (i = 0; i < units->selects.count && rc == SQLITE_OK; i++) {
        const struct clr_stood *arm = &units->selects.list[i];

        if (arm != stood && arm->compound == stood->compound)
            rc = compare_arm(units, arm, columns, query);
    }
    return rc;
}

/* Has a view made for the unit, whose text as it is is given. Returns SQLITE_OK with its
   replacement, SQLITE_NOTFOUND, or SQLite's code. */
static int make_view(struct units *units, const struct clr_stood *stood, const char *text,
                     struct unit *unit)
{
    sqlite3 *db = units->connection->db;
    struct columns columns = {.comparisons = NULL};
    sqlite3_stmt *statement = NULL, *all = NULL;
    struct clr_view *view = NULL;
    char *message = NULL;
    int rc = clr_statement_prepare(db, &statement, "%s", unit->select);

    if (rc == SQLITE_OK &&
        !has_plain_parameters(statement, text, strlen(text) - stood->text.length))
        rc = refuse(units, "its parameters would have other numbers by itself");
    else if (rc != SQLITE_OK)
        refuse(units, "it names a column of a query around it");
    if (rc == SQLITE_OK) {
        rc = clr_made_view_get(units->connection, unit->select, true, unit->view, &message);
        refuse(units, message);
    }
    if (rc == SQLITE_OK)
        view = clr_view_find(units->connection, unit->view);
    if (view != NULL && units->selects.list[0].writes)
        view->is_written_from = true;
    if (rc == SQLITE_OK && !is_apart(view, stood))
        rc = refuse(units, stood->place == CLR_PLACE_EXISTS
                               ? "EXISTS ends at its first row"
                               : "SQLite may join it with the query around it");
    if (rc == SQLITE_OK)
        rc = clr_statement_prepare(db, &all, "SELECT * FROM temp.\"%w\"", unit->view);
    if (rc == SQLITE_OK)
        rc = clr_column_names_read(all, &columns.own);
    if (rc == SQLITE_OK)
        rc = read_names(db, text, stood, &columns.names);
    if (rc == SQLITE_OK && columns.names.count != columns.own.count)
        rc = SQLITE_NOTFOUND;
    if (rc == SQLITE_OK)
        rc = read_comparisons(statement, &columns.comparisons);
    if (rc == SQLITE_OK)
        rc = compare_arms(units, stood, &columns, view->acceleration->plan->query);
    if (rc == SQLITE_OK) {
        unit->columns = columns.own.count;
        unit->is_typed = columns.comparisons[0].affinity != CLR_LETTER_NONE ||
                         sqlite3_stricmp(columns.comparisons[0].collation, "BINARY") != 0;
        unit->replacement = write_replacement(statement, &columns, view, stood);
        rc = unit->replacement == NULL ? SQLITE_NOMEM : SQLITE_OK;
    } else if (rc != SQLITE_NOMEM && units->why[0] == '\0') {
        rc = refuse(units, "its columns' names, or how they compare, might be others");
    }
    sqlite3_finalize(all);
    sqlite3_finalize(statement);
    sqlite3_free(message);
    clr_names_free(&columns.own);
    clr_names_free(&columns.names);
    sqlite3_free(columns.comparisons);
    return rc;
}

int clr_select_look(const char *text, bool *has_rows, char why[CLR_REASON_TEXT])
{
    struct clr_query *query = NULL;
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    const bool is_promising = clr_query_parse(text, &query, &reason) == CLR_OK;

    *has_rows = is_promising && query->has_rows;
    clr_query_free(query);
    if (!is_promising && reason.code == CLR_WHY_NONE)
        return SQLITE_NOMEM;
    clr_reason_print(&reason, why);
    return is_promising ? SQLITE_OK : SQLITE_NOTFOUND;
}

/*
 * Whether values of each column of a SELECT that are equal are the same, also as another column
 * or value would have them: so they are not as both 1 and 1.0, or in another order than the binary
 * one.
 */
static bool are_equals_same(sqlite3 *db, const char *select)
{
    struct clr_comparison *comparisons = NULL;
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, "%s", select), i;
    bool are = false;

    if (rc == SQLITE_OK)
        are = read_comparisons(statement, &comparisons) == SQLITE_OK;
    for (i = 0; are && i < sqlite3_column_count(statement); i++)
        are = comparisons[i].affinity >= CLR_LETTER_TEXT &&
              sqlite3_stricmp(comparisons[i].collation, "BINARY") == 0;
    sqlite3_free(comparisons);
    sqlite3_finalize(statement);
    return are;
}

/* Whether an arm begins with SELECT DISTINCT. SQLite leaves that DISTINCT out of sets. */
static bool has_distinct(const struct clr_stood *stood)
{
    return clr_name_begins(stood->text.text, stood->text.length, "SELECT") &&
           clr_word_is(clr_blank_skip(stood->text.text + strlen("SELECT")), "distinct");
}

/* Writes a unit as statements. Returns SQLITE_OK, SQLITE_NOTFOUND if it is not promising, or
   SQLITE_NOMEM. Of rows of a table that are values all different ones are quicker found. */
static int write_unit(struct units *units, const struct clr_stood *stood,
                      const bool reads[CLR_MOST_CTES], struct unit *unit)
{
    const bool leaves_out = stood->compound >= 0 && stood->is_values && has_distinct(stood);
    bool has_rows, gets_distinct;
    int rc;

    unit->itself = clr_stood_write(&units->selects, stood, reads, true, false);
    rc = unit->itself == NULL ? SQLITE_NOMEM : clr_select_look(unit->itself, &has_rows, units->why);
    if (rc != SQLITE_OK)
        return rc;
    unit->is_distinct =
        (leaves_out || (has_rows && stood->is_values &&
                        clr_name_begins(stood->text.text, stood->text.length, "SELECT"))) &&
        are_equals_same(units->connection->db, unit->itself);
    if (leaves_out && !unit->is_distinct)
        return refuse(units, "SQLite leaves out its DISTINCT");
    gets_distinct = unit->is_distinct && !leaves_out;
    unit->select = clr_stood_write(&units->selects, stood, reads, true, gets_distinct);
    if (unit->select == NULL)
        return SQLITE_NOMEM;
    return gets_distinct ? clr_select_look(unit->select, &has_rows, units->why) : SQLITE_OK;
}

/*
 * Whether a statement may read an ordinary view that may ask for the time, perhaps by way of
 * others: its text has a view's name, or there is one that has quotes, which may be written in
 * several ways; and some view asks. True also where that can't be found out.
 */
static bool may_views_ask(sqlite3 *db, const char *sql)
{
    /* A look at temp's schema would make that database, where there is none yet. */
    const bool has_temp = sqlite3_db_readonly(db, "temp") >= 0;
    sqlite3_stmt *views;
    const char *definition;
    bool is_named = false, asks = false;
    int rc = clr_statement_prepare(
        db, &views,
        "SELECT sql, instr(lower(%Q), lower(name)) > 0 OR name GLOB '*[]\"''`[]*' FROM"
        " (SELECT * FROM main.sqlite_master%s) WHERE type = 'view'",
        sql, has_temp ? " UNION ALL SELECT * FROM temp.sqlite_master" : "");

    while (rc == SQLITE_OK && (rc = sqlite3_step(views)) == SQLITE_ROW) {
        definition = (const char *)sqlite3_column_text(views, 0);
        is_named = is_named || sqlite3_column_int(views, 1) != 0;
        asks = asks || definition == NULL || clr_instants_count(definition, strlen(definition)) > 0;
        rc = SQLITE_OK;
    }
    sqlite3_finalize(views);
    return rc != SQLITE_DONE || (is_named && asks);
}

static void free_unit(struct unit *unit)
{
    sqlite3_free(unit->itself);
    sqlite3_free(unit->select);
    sqlite3_free(unit->replacement);
}

/* Adds a SELECT of the statement if it is a unit that is accelerated. Returns SQLITE_OK,
   SQLITE_NOTFOUND if it is not, or SQLITE_NOMEM. */
static int try_unit(struct units *units, const struct clr_stood *stood)
{
    struct unit *unit = &units->list[units->count];
    bool reads[CLR_MOST_CTES];
    char *text;
    int rc;

    if (!clr_stood_may_be_view(&units->selects, stood))
        return refuse(units, "SQLite reads a view in its place in another way");
    if (!clr_stood_find_ctes(&units->selects, stood, reads))
        return refuse(units, "it is recursive, or reads what several WITHs around it define");
    *unit = (struct unit){.text = stood->text};
    text = clr_stood_write(&units->selects, stood, reads, false, false);
    rc = text == NULL ? SQLITE_NOMEM : write_unit(units, stood, reads, unit);
    if (rc == SQLITE_OK && (((units->instants > 1 || strlen(text) != stood->text.length) &&
                             clr_instants_count(text, strlen(text)) > 0) ||
                            may_views_ask(units->connection->db, units->sql)))
        rc = refuse(units, "it and the rest have to be of one instant");
    else if (rc == SQLITE_OK && clr_stood_may_see_columns(&units->selects, stood) &&
             clr_text_has_truth(text))
        rc = refuse(units, "TRUE or FALSE in it may be a column's name around it");
    else if (rc == SQLITE_OK &&
             clr_stood_may_lose_subtype(units->connection->db, units->sql, stood))
        rc = refuse(units, "its values may have subtypes, as of JSON");
    if (rc == SQLITE_OK)
        rc = make_view(units, stood, text, unit);
    sqlite3_free(text);
    if (rc == SQLITE_OK) {
        units->are_joined = units->are_joined || clr_stood_joins(&units->selects, stood);
        units->are_named = units->are_named || (stood->compound >= 0 && stood->is_named);
        units->are_sets = units->are_sets || (stood->compound >= 0 && unit->is_distinct);
        units->count++;
    } else {
        free_unit(unit);
    }
    return rc == SQLITE_OK || rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}

/* Whether a SELECT stands in a unit that was added. */
static bool is_within_unit(const struct units *units, const struct clr_stood *stood)
{
    int i;

    for (i = 0; i < units->count; i++) {
        const struct clr_written *text = &units->list[i].text;

        if (stood->text.text >= text->text && stood->text.text < text->text + text->length)
            return true;
    }
    return false;
}

static int compare_places(const void *a, const void *b)
{
    const char *x = ((const struct unit *)a)->text.text, *y = ((const struct unit *)b)->text.text;

    return x < y ? -1 : x > y;
}

/* Whether a SELECT is the statement. */
static bool is_all(const struct clr_stood *stood)
{
    return stood->place == CLR_PLACE_STATEMENT && stood->compound < 0;
}

static const char *explain_last(const struct units *units)
{
    const struct unit *last = &units->list[units->count - 1];

    return clr_acceleration_explain(clr_view_find(units->connection, last->view)->acceleration, 0);
}

/* Adds the line of a SELECT, behind two spaces for each one around it within the statement. */
static void tell(const struct units *units, const struct clr_stood *stood, bool is_unit,
                 sqlite3_str *lines)
{
    enum { MOST_CHARACTERS = 60 };
    const struct clr_stood *around = stood;
    const char *c = stood->text.text, *end = c + stood->text.length;
    bool is_space = false;
    int i;

    while (around->around >= 0) {
        around = &units->selects.list[around->around];
        sqlite3_str_appendall(lines, is_all(around) ? "" : "  ");
    }
    for (i = 0; c < end && i < MOST_CHARACTERS; c++) {
        const bool was_space = is_space;

        is_space = *c == ' ' || (*c >= '\t' && *c <= '\r');
        if (is_space && was_space)
            continue;
        sqlite3_str_appendchar(lines, 1, is_space ? ' ' : *c);
        i += ((unsigned char)*c & 0xc0) != 0x80;
    }
    sqlite3_str_appendf(lines, "%s: %s\n", c < end ? "..." : "",
                        is_unit ? explain_last(units) : units->why);
}

/* Adds the units of the statement that are accelerated, the outermost ones, in the order of the
   text. */
static int find_units(struct units *units, sqlite3_str *lines)
{
    int i, rc = SQLITE_OK;

    for (i = 0; i < units->selects.count && rc != SQLITE_NOMEM; i++) {
        const struct clr_stood *stood = &units->selects.list[i];

        if (is_all(stood) || is_within_unit(units, stood))
            continue;
        rc = try_unit(units, stood);
        if (lines != NULL && rc != SQLITE_NOMEM)
            tell(units, stood, rc == SQLITE_OK, lines);
    }
    qsort(units->list, (size_t)units->count, sizeof *units->list, compare_places);
    return rc == SQLITE_NOMEM ? rc : units->count == 0 ? SQLITE_NOTFOUND : SQLITE_OK;
}

/* ---- The statement. */

/* Finds out whether the rows of the statement stay in their order. Returns as clr_same_order(). */
static int check_order(const struct units *units, const char *text)
{
    struct clr_replaced replaced = {.count = units->count,
                                    .are_joined = units->are_joined,
                                    .are_named = units->are_named,
                                    .are_sets = units->are_sets,
                                    .are_written = units->selects.list[0].writes};
    int i;

    for (i = 0; i < units->count; i++) {
        replaced.selects[i] = units->list[i].itself;
        replaced.columns += units->list[i].columns;
    }
    return clr_same_order(units->connection->db, units->sql, text, &replaced);
}

/* What stands in the place of each unit. */
enum place_taker { A_VIEW, A_PARAMETER, A_CONSTANT };

static char *write_statement(const struct units *units, enum place_taker taker)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    const char *at = units->sql;
    int i;

    for (i = 0; i < units->count; i++) {
        sqlite3_str_append(text, at, (int)(units->list[i].text.text - at));
        /* A comment may have ended the unit. */
        if (taker == A_VIEW)
            sqlite3_str_appendf(text, "%s\n", units->list[i].replacement);
        else if (taker == A_PARAMETER)
            sqlite3_str_appendf(text, CLR_LIFTED_NAME "%d ", i + 1);
        else
            sqlite3_str_appendall(text, "SELECT 1 ");
        at = units->list[i].text.text + units->list[i].text.length;
    }
    sqlite3_str_appendall(text, at);
    return sqlite3_str_finish(text);
}

/* Begins with a statement; NULL without memory. Where it can't be read it has no SELECTs. */
static struct units *begin_units(struct clr_connection *connection, const char *sql)
{
    struct units *units = clr_sqlite_alloc_zero(sizeof *units);

    if (units == NULL)
        return NULL;
    units->connection = connection;
    units->sql = sql;
    units->instants = clr_instants_count(sql, strlen(sql));
    if (!clr_selects_find(sql, &units->selects))
        units->selects.count = 0;
    return units;
}

static void free_units(struct units *units)
{
    int i;

    for (i = 0; i < units->count; i++)
        free_unit(&units->list[i]);
    sqlite3_free(units);
}

int clr_units_write(struct clr_connection *connection, const char *sql, sqlite3_str *lines,
                    char **text)
{
    struct units *units = begin_units(connection, sql);
    int rc;

    *text = NULL;
    if (units == NULL)
        return SQLITE_NOMEM;
    rc = find_units(units, lines);
    if (rc == SQLITE_OK) {
        *text = write_statement(units, A_VIEW);
        rc = *text == NULL ? SQLITE_NOMEM : check_order(units, *text);
        if (rc == SQLITE_NOTFOUND && lines != NULL)
            sqlite3_str_appendf(lines,
                                "not accelerated: %sSQLite goes over other b-trees with views in "
                                "the place of these SELECTs\n",
                                units->selects.list[0].writes
                                    ? "it writes to what they read, or is OR FAIL, or "
                                    : "");
    }
    if (rc != SQLITE_OK) {
        sqlite3_free(*text);
        *text = NULL;
    }
    free_units(units);
    return rc;
}

/* ---- Scalar subqueries as parameters. */

/* Whether a parameter has its number by name, which may be that of another one once parameters are
   added. */
static bool has_numbers(const char *sql)
{
    struct clr_token token;

    while (clr_token_next(&sql, &token)) {
        if (token.kind == CLR_T_VARIABLE && *token.text == '?' && token.length > 1)
            return true;
    }
    return false;
}

/* Adds those of the outermost SELECT. */
static int find_values(struct units *units, sqlite3_str *lines)
{
    int i, rc = SQLITE_OK;

    for (i = 1; i < units->selects.count && units->count < CLR_MOST_NULLS && rc != SQLITE_NOMEM;
         i++) {
        const struct clr_stood *stood = &units->selects.list[i];

        if (stood->place != CLR_PLACE_VALUE || stood->around != 0 || stood->compound >= 0)
            continue;
        rc = try_unit(units, stood);
        if (rc == SQLITE_OK &&
            (units->list[units->count - 1].columns > 1 || units->list[units->count - 1].is_typed))
            free_unit(&units->list[--units->count]);
        else if (rc == SQLITE_OK && lines != NULL)
            tell(units, stood, true, lines);
    }
    return rc == SQLITE_NOMEM ? rc : units->count == 0 ? SQLITE_NOTFOUND : SQLITE_OK;
}

/* Whether SQLite goes over the same rows in the same way with the parameters. */
static bool moves_alike(const struct units *units, const char *lifted)
{
    char *text = write_statement(units, A_CONSTANT);
    sqlite3 *db = units->connection->db;
    const uint64_t moves = text == NULL ? 0 : clr_bytecode_hash_moves(db, text, NULL, 0);

    sqlite3_free(text);
    return moves != 0 && moves == clr_bytecode_hash_moves(db, lifted, NULL, 0);
}

int clr_units_lift(struct clr_connection *connection, const char *sql, sqlite3_str *lines,
                   struct clr_lifted *lifted)
{
    struct units *units = begin_units(connection, sql);
    int rc = SQLITE_NOTFOUND, i;

    *lifted = (struct clr_lifted){.text = NULL};
    if (units == NULL)
        return SQLITE_NOMEM;
    if (units->selects.count > 1 && is_all(&units->selects.list[0]) &&
        strstr(sql, CLR_LIFTED_NAME) == NULL && !has_numbers(sql))
        rc = find_values(units, lines);
    if (rc == SQLITE_OK) {
        lifted->text = write_statement(units, A_PARAMETER);
        rc = lifted->text == NULL               ? SQLITE_NOMEM
             : moves_alike(units, lifted->text) ? SQLITE_OK
                                                : SQLITE_NOTFOUND;
    }
    for (i = 0; i < units->count && rc == SQLITE_OK; i++) {
        lifted->values[lifted->count++] = units->list[i].replacement;
        units->list[i].replacement = NULL;
    }
    free_units(units);
    return rc;
}
