/* The statements that finish a query, and its SELECT, as text. */
#include "query/query.h"

#include "base/memory.h"
#include "query/names/names.h"
#include "query/names/times.h"
#include "query/syntax/print.h"
#include "query/syntax/syntax.h"

#include <stdio.h>

/* ---- Clauses of a SELECT. */

/* The table, with the schema that it is written with, or, if it is to have one, found in. */
static void print_table(struct clr_printer *printer, const struct clr_from_table *source,
                        bool with_schema)
{
    if (source->schema.kind != 0) {
        clr_print_token(printer, &source->schema);
        clr_print_word(printer, ".");
    } else if (with_schema && source->found != NULL) {
        clr_print_name(printer, source->found);
        clr_print_word(printer, ".");
    }
    clr_print_token(printer, &source->table);
}

/*
 * Adds a SELECT as it was written: also where it has names that mean columns of its subquery in
 * FROM, or items. Tables may get the schemas that they are found in, where it does not name them.
 * Its WHERE gets one more term as the first one; or as the last one, which goes into a subquery
 * that is all of FROM. Each of the two may be NULL.
 */
static void print_select(struct clr_printer *printer, const struct clr_select_tree *select,
                         bool with_schemas, const char *first, const char *last);

/* A table as it is joined to those before it. last: as below, of a subquery. */
static void print_source(struct clr_printer *printer, const struct clr_select_tree *select,
                         const struct clr_from_table *source, bool with_schemas, const char *last)
{
    if (source != select->sources)
        clr_print_token(printer, &source->join);
    if (source->inner != NULL) {
        clr_print_word(printer, "(");
        print_select(printer, source->inner, with_schemas, NULL, last);
        clr_print_word(printer, ")");
    } else {
        print_table(printer, source, with_schemas);
    }
    if (source->alias.kind != 0 || (source->inner != NULL && source->table.kind != 0)) {
        clr_print_word(printer, "AS");
        clr_print_token(printer, clr_from_name(source));
    }
    if (source->on != NULL)
        clr_print_prefix(printer, "ON", source->on);
    if (source->common.first == NULL || source->is_natural)
        return;
    clr_print_clause(printer, "USING (", &source->common);
    clr_print_word(printer, ")");
}

/* Adds the first tables of FROM, with what joins them, and with their schemas. */
static void print_tables(struct clr_printer *printer, const struct clr_select_tree *select,
                         int count)
{
    int i;

    for (i = 0; i < count; i++)
        print_source(printer, select, &select->sources[i], true, NULL);
}

static void print_where(struct clr_printer *printer, const struct clr_node *where,
                        const char *first, const char *last)
{
    if (where == NULL && first == NULL && last == NULL)
        return;
    clr_print_word(printer, "WHERE");
    if (first != NULL)
        clr_print_word(printer, first);
    if (where != NULL && (first != NULL || last != NULL)) {
        clr_print_word(printer, first != NULL ? "AND (" : "(");
        clr_print_inside(printer, where);
        clr_print_word(printer, last != NULL ? ") AND" : ")");
    } else if (where != NULL) {
        clr_print_node(printer, where);
    }
    if (last != NULL)
        clr_print_word(printer, last);
}

/* Prints what was replaced by its meaning as it was written. */
static bool print_written(struct clr_printer *printer, const struct clr_node *node)
{
    if (node->written == NULL)
        return false;
    clr_print_node(printer, node->written);
    return true;
}

static void print_select(struct clr_printer *printer, const struct clr_select_tree *select,
                         bool with_schemas, const char *first, const char *last)
{
    const bool reads_inner = select->source_count == 1 && select->sources[0].inner != NULL;
    int i;

    printer->replace = print_written;
    clr_print_clause(printer, select->distinct ? "SELECT DISTINCT" : "SELECT", &select->items);
    clr_print_word(printer, "FROM");
    for (i = 0; i < select->source_count; i++)
        print_source(printer, select, &select->sources[i], with_schemas, reads_inner ? last : NULL);
    print_where(printer, select->where, first, reads_inner ? NULL : last);
    clr_print_clause(printer, "GROUP BY", &select->keys);
    if (select->having != NULL)
        clr_print_prefix(printer, "HAVING", select->having);
    clr_print_clause(printer, "ORDER BY", &select->terms);
    clr_print_limit(printer, select);
}

/* ---- The statements that finish a query: of the tree with what stands for keys and calls. */

/* Whether a call gives JSON: a column has no subtype, so that the answer makes JSON of it. */
static bool is_json(const struct clr_node *node)
{
    return node->kind == CLR_N_AGGREGATE && clr_aggregate_gives_json(node->aggregate, node->form);
}

/*
 * Adds a column of the table of groups that is none to SQLite: a unary plus takes its affinity
 * away, and CASE its collating sequence, too, which goes before that of a subquery's column that it
 * is compared with.
 */
static void add_plain(struct clr_printer *printer, const char *column, int number)
{
    const struct clr_query *query = printer->context;
    char name[24];

    snprintf(name, sizeof name, column, number);
    clr_text_add(&printer->text,
                 query->has_subqueries ? "(CASE WHEN 1 THEN \"%s\" END)" : "(+\"%s\")", name);
}

/* Adds the column of the table of groups that stands for a call. */
static void add_call(struct clr_printer *printer, const struct clr_node *node)
{
    if (is_json(node))
        clr_text_add(&printer->text, "json(\"" CLR_GROUP_CALL "\")", node->number);
    else
        add_plain(printer, CLR_GROUP_CALL, node->number);
}

static void add_sequence(struct clr_text *text, const struct clr_node *node)
{
    if (node->collation[0] != '\0')
        clr_text_add(text, " COLLATE \"%s\"", node->collation);
}

/* Whether an expression has a collating sequence of its own, which goes before the one that its
   other operand in a comparison has: a column's, or that of a subquery's column. */
static bool has_sequence(const struct clr_node *node)
{
    while (node->written == NULL && (node->kind == CLR_N_PLUS || node->kind == CLR_N_CAST))
        node = node->first;
    return node->kind == CLR_N_COLUMN || node->written != NULL;
}

/* Adds what a key is that has no affinity, or that CAST gives one: the expression's collating
   sequence, if it has one, is BINARY. */
static void add_bare(struct clr_printer *printer, const struct clr_node *node)
{
    if (!has_sequence(node))
        add_plain(printer, CLR_GROUP_KEY_BLOB, node->key - 1);
    else
        clr_text_add(&printer->text, "(+\"" CLR_GROUP_KEY_BLOB "\")", node->key - 1);
}

/* Adds the column of the table of groups that a key is, with the affinity that the key's
   expression has (SQLite's sqlite3ExprAffinity()). */
static void add_key(struct clr_printer *printer, const struct clr_node *node)
{
    static const char *const types[] = {[CLR_CAST_TO_BLOB] = "BLOB",
                                        [CLR_CAST_TO_TEXT] = "TEXT",
                                        [CLR_CAST_TO_INTEGER] = "INTEGER",
                                        [CLR_CAST_TO_REAL] = "REAL",
                                        [CLR_CAST_TO_NUMERIC] = "NUMERIC"};
    const char *format = node->column.is_text      ? "\"" CLR_GROUP_KEY_TEXT "\""
                         : node->column.is_real    ? "\"" CLR_GROUP_KEY_REAL "\""
                         : node->column.is_numeric ? "\"" CLR_GROUP_KEY_NUMERIC "\""
                                                   : "\"" CLR_GROUP_KEY_BLOB "\"";

    if (node->kind == CLR_N_CAST) {
        /* A value that is of the type already stays as it is. No column may take the place of CAST:
           WHERE puts a constant in a column's place, once it is to be equal to it, but not in that
           of CAST. */
        clr_text_add(&printer->text, "CAST(");
        add_bare(printer, node);
        clr_text_add(&printer->text, " AS %s)", types[node->cast]);
    } else if (node->kind != CLR_N_COLUMN) {
        add_bare(printer, node);
    } else {
        clr_text_add(&printer->text, format, node->key - 1);
        if (!node->column.is_binary)
            add_sequence(&printer->text, node);
    }
}

/* Whether a term of ORDER BY is a subquery's column that is a number there: if that were written,
   it would be the number of an item. */
static bool is_hidden_number(const struct clr_node *term)
{
    const struct clr_node *node = term->first;
    bool is_hidden = node->written != NULL;

    while (node->item == NULL && (node->kind == CLR_N_PLUS || node->kind == CLR_N_MINUS ||
                                  node->kind == CLR_N_HINT || node->kind == CLR_N_COLLATE)) {
        node = node->first;
        is_hidden = is_hidden || node->written != NULL;
    }
    return is_hidden && node->item == NULL && node->kind == CLR_N_LITERAL;
}

/* Returns the column that a subquery names, or EXISTS of one; else NULL. */
static const struct clr_node *find_named(const struct clr_node *node)
{
    if (node->kind == CLR_N_OPERATOR && node->names[0].kind == 0 && node->first->next == NULL)
        node = node->first;
    return node->kind == CLR_N_SUBQUERY ? node->first : NULL;
}

/* Prints a subquery, or EXISTS of one, that names a key, as a subquery around it that has the key
   by the name of its column. */
static void print_around(struct clr_printer *printer, const struct clr_node *node,
                         const struct clr_node *named)
{
    struct clr_printer inside = {.syntax = printer->syntax, .text = printer->text};

    clr_print_word(&inside, "(SELECT");
    clr_print_node(&inside, node);
    printer->text = inside.text;
    clr_print_word(printer, "FROM (SELECT ");
    add_key(printer, named);
    clr_print_scope_end(printer, named, "");
    clr_print_word(printer, ")");
}

/* Prints what stands for keys and calls, and the names of items. */
static bool print_finished(struct clr_printer *printer, const struct clr_node *node)
{
    const bool is_call = node->kind == CLR_N_AGGREGATE;
    const struct clr_node *named = node->key == 0 ? find_named(node) : NULL;

    if (node->kind == CLR_N_TERM && is_hidden_number(node)) {
        clr_print_word(printer, "NULL");
        return true;
    }
    if (node->item != NULL) {
        if (node->written != NULL)
            clr_print_node(printer, node->written);
        return node->written != NULL;
    }
    if (named != NULL)
        print_around(printer, node, named);
    if (node->key == 0 && !is_call)
        return named != NULL;
    clr_print_word(printer, "");
    if (is_call)
        add_call(printer, node);
    else
        add_key(printer, node);
    return true;
}

/* Whether rows of different groups may be the same one: groups differ in their keys, which the
   select list may not have all. */
static bool is_distinct(const struct clr_query *query)
{
    const struct clr_select_tree *select = &query->syntax->select;

    return select->distinct && select->keys.first != NULL;
}

bool clr_query_gives_groups(const struct clr_query *query)
{
    const struct clr_select_tree *select = &query->syntax->select;

    return !is_distinct(query) && select->having == NULL && select->terms.first == NULL &&
           select->limit == NULL;
}

/* Notes which keys, calls or results the items are, if they are no more than that. */
static void note_plain(struct clr_query *query, bool sorts_keys)
{
    const struct clr_node *item = query->syntax->select.items.first;
    const bool is_plain = !sorts_keys && clr_query_gives_groups(query);

    query->plain_count = 0;
    for (; item != NULL && is_plain; item = item->next) {
        int column = clr_names_group_column(query, item->first);

        if (column < 0 && query->results != NULL)
            column = query->grouping.key_count + query->call_count + item->number - 1;
        if (column < 0 || item->first->item != NULL ||
            query->plain_count == CLR_MOST_KEYS + CLR_MOST_CALLS)
            break;
        query->plain_columns[query->plain_count++] = (uint16_t)column;
    }
    if (item != NULL)
        query->plain_count = 0;
}

/* Has SQLite bring the groups into their order: BINARY is the order of bytes in the database's
   encoding, and ranks are those of UTF-8. */
static void add_keys(struct clr_printer *printer, const struct clr_query *query)
{
    const char *words = query->syntax->select.terms.first != NULL ? "," : " ORDER BY";
    const struct clr_node *term;
    int i = 0;

    for (term = query->syntax->select.keys.first; term != NULL; term = term->next) {
        if (term->is_constant)
            continue;
        clr_text_add(&printer->text, "%s \"" CLR_GROUP_KEY_BLOB "\"", words, i);
        add_sequence(&printer->text, term);
        clr_text_add(&printer->text, query->grouping.descending[i++] ? " DESC" : "");
        words = ",";
    }
}

/* The rest of a SELECT of groups. HAVING is a condition of their table's rows. One row is in no
   order. */
static void add_groups(struct clr_printer *printer, const struct clr_query *query, bool sorts_keys)
{
    const struct clr_select_tree *select = &query->syntax->select;

    clr_text_add(&printer->text, " FROM \"" CLR_GROUP_TABLE "\"(?%d)", query->parameter_count + 1);
    if (select->having != NULL) {
        /* No condition of rows would be evaluated without rows, or out of its order. */
        const bool is_late = (select->having->has & CLR_HAS_SUBQUERY) != 0;

        clr_print_word(printer, is_late ? "WHERE (" : "WHERE");
        clr_print_node(printer, select->having);
        clr_text_add(&printer->text, is_late ? ") OR +rowid < 0" : "");
    }
    if (query->is_grouped)
        clr_print_clause(printer, "ORDER BY", &select->terms);
    if (sorts_keys)
        add_keys(printer, query);
}

/* Writes the statement that makes the rows of groups. */
static char *write_answer(struct clr_query *query, bool sorts_keys)
{
    const struct clr_select_tree *select = &query->syntax->select;
    struct clr_printer printer = {
        .syntax = query->syntax, .replace = print_finished, .context = query};
    const struct clr_node *item;

    note_plain(query, sorts_keys);
    clr_print_word(&printer, is_distinct(query) ? "SELECT DISTINCT" : "SELECT");
    for (item = select->items.first; item != NULL; item = item->next) {
        clr_print_node(&printer, item);
        clr_text_add(&printer.text, item->next != NULL ? "," : "");
    }
    add_groups(&printer, query, sorts_keys);
    clr_print_limit(&printer, select);
    return clr_text_end(&printer.text);
}

/* ---- The statement that joins groups with the rows of another table. */

/* The groups there, and what they are joined by. */
#define GROUPS "\"clreduce:groups\""
#define GROUPS_KEY GROUPS ".\"" CLR_GROUP_FIRST_KEY "\""

/* Prints an aggregate as the call of its group, or what it is of the one row of NULLs that LEFT
   JOIN gives where there is no group. */
static bool print_of_groups(struct clr_printer *printer, const struct clr_node *node)
{
    const struct clr_query *query = printer->context;
    struct clr_printer inside = {.syntax = printer->syntax};

    if (node->kind != CLR_N_AGGREGATE)
        return false;
    inside.text = printer->text;
    clr_print_word(&inside, "CASE WHEN " GROUPS_KEY " IS NULL THEN (SELECT");
    clr_print_inside(&inside, node);
    clr_print_word(&inside, "FROM (SELECT 1) LEFT JOIN");
    print_tables(&inside, &query->syntax->select, 1);
    clr_text_add(&inside.text, " ON 0) ELSE " GROUPS ".\"" CLR_GROUP_CALL "\" END", node->number);
    printer->text = inside.text;
    return true;
}

static void print_condition(struct clr_printer *printer, const char *word,
                            const struct clr_node *condition)
{
    clr_print_word(printer, word);
    clr_print_inside(printer, condition);
    clr_print_word(printer, ")");
}

/* Groups that ORDER BY leaves equal are in the order of an index, or of the key alone. */
static char *write_joined(const struct clr_query *query)
{
    const struct clr_eager *eager = query->eager;
    const struct clr_select_tree *whole = eager->whole;
    struct clr_printer printer = {
        .syntax = query->syntax, .replace = print_of_groups, .context = (void *)query};
    int i;

    clr_print_clause(&printer, "SELECT", &whole->items);
    clr_print_word(&printer, "FROM");
    print_tables(&printer, whole, whole->source_count - 1);
    clr_text_add(&printer.text,
                 " LEFT JOIN \"" CLR_GROUP_TABLE "\"(?%d) AS " GROUPS " ON " GROUPS_KEY " =",
                 query->parameter_count + 1);
    clr_print_node(&printer, eager->key);
    for (i = 0; i < eager->term_count; i++)
        print_condition(&printer, "AND (", eager->terms[i]);
    if (whole->where != NULL)
        print_condition(&printer, "WHERE (", whole->where);
    if (whole->having != NULL)
        print_condition(&printer, whole->where != NULL ? "AND (" : "WHERE (", whole->having);
    clr_print_clause(&printer, "ORDER BY", &whole->terms);
    if (!eager->is_ordered) {
        clr_print_word(&printer, whole->terms.first == NULL ? "ORDER BY" : ",");
        clr_print_word(&printer, eager->order == NULL ? "" : eager->order);
        clr_print_node(&printer, eager->key);
    }
    clr_print_limit(&printer, whole);
    return clr_text_end(&printer.text);
}

/* Writes the SELECT itself, of the rows that the scan has found. Its own condition stays: what is
   found by the rowid is asked whether it is what was looked for. */
static char *write_rows(const struct clr_query *query)
{
    const struct clr_select_tree *select = &query->syntax->select;
    const struct clr_from_table *source = clr_from_leaf(&select->sources[query->fact]);
    const struct clr_token *name = clr_from_name(source);
    struct clr_printer printer = {.syntax = query->syntax};
    struct clr_text found = {.text = NULL};
    char *term;

    clr_text_add(&found,
                 "%.*s.%s IN (SELECT \"" CLR_GROUP_KEY_BLOB "\" FROM \"" CLR_GROUP_TABLE "\"(?%d))",
                 (int)name->length, name->text, query->rowid, 0, query->parameter_count + 1);
    term = clr_text_end(&found);
    if (term == NULL)
        return NULL;
    print_select(&printer, select, true, NULL, term);
    clr_memory_free(term);
    return clr_text_end(&printer.text);
}

/* Writes the SELECT itself, with a term before those of WHERE that counts the rows which SQLite
   looks at. */
static char *write_counted(const struct clr_query *query)
{
    struct clr_printer printer = {.syntax = query->syntax};
    char term[64];

    snprintf(term, sizeof term, CLR_ROW_COUNTER "(?%d)", query->parameter_count + 1);
    /* Without the schema that the name means now: a table of temp may hide it by the next run. */
    print_select(&printer, &query->syntax->select, false, term, NULL);
    return clr_text_end(&printer.text);
}

static char *write_different(const struct clr_query *query)
{
    struct clr_text text = {.text = NULL};
    const struct clr_node *term;
    int i = -1;

    for (term = query->syntax->select.keys.first; term != NULL; term = term->next) {
        i += !term->is_constant;
        if (term->is_constant || term->collation[0] == '\0')
            continue;
        clr_text_add(&text,
                     "%s count(DISTINCT \"" CLR_GROUP_KEY_BLOB
                     "\") = count(DISTINCT \"" CLR_GROUP_KEY_BLOB "\"",
                     text.length == 0 ? "SELECT" : " AND", i, i);
        add_sequence(&text, term);
        clr_text_add(&text, ")");
    }
    clr_text_add(&text, " FROM \"" CLR_GROUP_TABLE "\"(?1)");
    return clr_text_end(&text);
}

/* Whether there are subqueries, evaluated as the query is finished, that name a key, or none. */
static bool has_asked(const struct clr_query *query, bool name_key)
{
    const struct clr_node *node = query->syntax->subqueries.first;

    while (node != NULL && (node->is_looked_up || (node->first != NULL) != name_key))
        node = node->listed;
    return node != NULL && !query->has_rows;
}

static char *write_subqueries(const struct clr_query *query)
{
    struct clr_printer printer = {.syntax = query->syntax};
    const struct clr_node *node;

    for (node = query->syntax->subqueries.first; node != NULL; node = node->listed) {
        if (node->is_looked_up || node->first != NULL)
            continue;
        clr_text_add(&printer.text, printer.text.length == 0 ? "SELECT" : ",");
        if (node->number == 0)
            clr_text_add(&printer.text, " EXISTS");
        else
            clr_text_add(&printer.text, " ?%d IN", query->parameter_count + node->number);
        clr_print_node(&printer, node);
    }
    return clr_text_end(&printer.text);
}

/* Where they stand here SQLite takes no aggregate of the key alone, which would be one of the query
   around the subquery. */
static char *write_asked(const struct clr_query *query)
{
    struct clr_printer printer = {.syntax = query->syntax};
    const struct clr_node *node;
    char from[64];

    snprintf(from, sizeof from, " FROM \"" CLR_GROUP_TABLE "\"(?%d)", query->parameter_count + 1);
    for (node = query->syntax->subqueries.first; node != NULL; node = node->listed) {
        if (node->is_looked_up || node->first == NULL)
            continue;
        clr_text_add(&printer.text, printer.text.length == 0 ? "SELECT 1" : " UNION ALL SELECT 1");
        clr_print_word(&printer, "FROM (SELECT ");
        add_key(&printer, node->first);
        clr_print_scope_end(&printer, node->first, from);
        clr_print_word(&printer, node->is_exists ? "WHERE EXISTS" : "WHERE +");
        clr_print_node(&printer, node);
    }
    return clr_text_end(&printer.text);
}

/* ---- Probes: a SELECT over a table of groups whose one row is all 7. */

/* A function, and what is 7 by two calls of it, but not where both give the same. */
struct probed {
    const char *function, *calls;
};

static const struct probed scalars[] = {
    {"abs", "abs(-9) - abs(2)"},
    {"min", "min(9, 12) - min(5, 2)"},
    {"min", "min(12, 9, 10) - min(2, 3, 4)"},
    {"max", "max(9, 5) - max(1, 2)"},
    {"max", "max(5, 9, 6) - max(2, 1, 0)"},
    {"coalesce", "coalesce(9, 1) - coalesce(NULL, 2)"},
    {"coalesce", "coalesce(NULL, 9, 1) - coalesce(2, NULL, 1)"},
    {"ifnull", "ifnull(9, 1) - ifnull(NULL, 2)"},
    {"round", "round(8.5) - round(2.4)"},
    {"round", "round(9.96, 1) - round(2.6, 0)"},
    {"floor", "floor(9.5) - floor(2.5)"},
    {"ceil", "ceil(8.5) - ceil(1.5)"},
    {"ceiling", "ceiling(8.5) - ceiling(1.5)"},
    {"trunc", "trunc(9.5) - trunc(2.5)"},
    {"sign", "5 + sign(3) - sign(-4)"},
    {"iif", "iif(0, 1, 9) - iif(1, 2, 3)"},
    {"nullif", "nullif(9, 1) - nullif(2, 1) + (nullif(3, 3) IS NOT NULL)"},
    {"likely", "likely(9) - likely(2)"},
    {"unlikely", "unlikely(9) - unlikely(2)"},
    {"likelihood", "likelihood(9, 0.5) - likelihood(2, 0.5)"},
};

enum { SCALARS = sizeof scalars / sizeof scalars[0] };

/* Of times, whose numbers a scan counts. */
static const struct probed times[] = {
    {"julianday", "julianday('2000-01-10') - julianday('2000-01-03')"},
    {"unixepoch", "unixepoch('1970-01-01 00:00:09') - unixepoch('1970-01-01 00:00:02')"},
    {"strftime", "strftime('%s', '1970-01-01 00:00:09') - strftime('%s', '1970-01-01 00:00:02')"},
};

enum { TIMES = sizeof times / sizeof times[0] };

/* Rows of which every aggregate of numbers gives something: two, for the variance of samples. */
#define ROWS "(SELECT 7 AS v UNION ALL SELECT 8)"

/* Returns how much more than 7 an aggregate of these rows is. */
static const char *more_than_seven(const struct clr_aggregate *aggregate)
{
    switch (aggregate->operation) {
    case CLR_SUM:
        return aggregate->finish == CLR_TOTAL_AVG ? "0.5" : "8";
    case CLR_DOT:
        return "106";
    default:
        return aggregate->finish < 0 ? "0" : "1";
    }
}

/* Each probe gives 7: less what the rows have it give more, or with nothing added for what it has
   to be, or, where that is not said, for what is not NULL. */
static void add_probe(struct clr_text *text, const struct clr_call *call)
{
    const struct clr_aggregate *aggregate = call->aggregate;
    const char *name = clr_call_name(call);
    const int length = 3 * aggregate->arguments - 2; /* of the arguments, below */

    if (aggregate->needs == CLR_NEEDS_COUNT)
        clr_text_add(text, ", count(v) + 5, count(*) + 5");
    else if (aggregate->needs == CLR_NEEDS_FREQUENCIES && aggregate->finish == CLR_COUNT_DISTINCT)
        clr_text_add(text, ", count(DISTINCT v) + 5, %s(v) + 5", name);
    else if (clr_aggregate_gives_json(aggregate, call->form) && aggregate->arguments == 1)
        clr_text_add(text, ", 7 + (%s(v) IS NOT '[7,8]')", name);
    else if (aggregate->needs == CLR_NEEDS_VALUES)
        clr_text_add(text, ", 7 + (%s(v%s) IS NOT '7,8')", name,
                     aggregate->arguments == 2 ? ", ','" : "");
    else if (clr_aggregate_asks(aggregate))
        clr_text_add(text, ", 7 + (%s%s(%.*s) IS NULL)", name, clr_form_suffix(call->form), length,
                     "v, 0, 9, 1");
    else if (call->form == CLR_FORM_VALUE && aggregate->operation < CLR_OPERATIONS)
        clr_text_add(text, ", %s(v%s) - %s", name, aggregate->arguments == 2 ? ", v" : "",
                     more_than_seven(aggregate));
    else
        clr_text_add(text, ", 7 + (%s%s(%.*s) IS NULL)", name, clr_form_suffix(call->form), length,
                     "v, v");
}

/* Whether a call before this one has the same probe. */
static bool is_probed(const struct clr_query *query, int number)
{
    const struct clr_call *call = &query->calls[number], *other;

    for (other = query->calls; other < call; other++) {
        if (other->aggregate == call->aggregate && other->form == call->form &&
            other->builtin == call->builtin)
            return true;
    }
    return false;
}

/* Whether a scan counts what a function of times gives for the column. */
static bool counts_times(const struct clr_query *query, const char *function)
{
    const struct clr_node *node = query->syntax->nodes;

    while (node != NULL && !(clr_times_number(node) != CLR_TIME_NO_NUMBER &&
                             strcmp(node->names[0].name, function) == 0))
        node = node->allocated;
    return node != NULL;
}

/* The columns of the table of groups that the query reads are probed, too: an authorizer may hide
   them. Aggregates have the columns of the table's one row beside them. */
static char *write_probes(const struct clr_query *query)
{
    struct clr_text text = {.text = NULL};
    int i;

    clr_text_add(&text, "SELECT 7");
    for (i = 0; i < query->call_count; i++) {
        if (!is_probed(query, i))
            add_probe(&text, &query->calls[i]);
    }
    for (i = 0; i < SCALARS; i++) {
        if (clr_query_calls(query, scalars[i].function))
            clr_text_add(&text, ", %s", scalars[i].calls);
    }
    for (i = 0; i < TIMES; i++) {
        if (counts_times(query, times[i].function))
            clr_text_add(&text, ", %s", times[i].calls);
    }
    for (i = 0; i < query->grouping.key_count; i++)
        clr_text_add(&text,
                     ", \"" CLR_GROUP_KEY_TEXT "\", \"" CLR_GROUP_KEY_NUMERIC
                     "\", \"" CLR_GROUP_KEY_REAL "\", \"" CLR_GROUP_KEY_BLOB "\"",
                     i, i, i, i);
    for (i = 0; i < query->call_count; i++)
        clr_text_add(&text, ", \"" CLR_GROUP_CALL "\"", i);
    clr_text_add(&text, " FROM \"" CLR_GROUP_TABLE "\"(?1), " ROWS);
    return clr_text_end(&text);
}

/* ---- All of them. */

/* Whether a key is compared by another collating sequence than BINARY. */
static bool has_collations(const struct clr_query *query)
{
    const struct clr_node *term = query->syntax->select.keys.first;

    while (term != NULL && (term->is_constant || term->collation[0] == '\0'))
        term = term->next;
    return term != NULL && !query->has_rows;
}

static void free_statements(struct clr_query *query)
{
    clr_memory_free(query->answer);
    clr_memory_free(query->subqueries);
    clr_memory_free(query->asked_of_keys);
    clr_memory_free(query->different);
    clr_memory_free(query->counted);
    clr_memory_free(query->probes);
    query->answer = query->subqueries = query->asked_of_keys = NULL;
    query->different = query->counted = query->probes = NULL;
}

/* Keeps a text. Returns false without memory for it. */
static bool keep(char **place, char *text)
{
    *place = text;
    return text != NULL;
}

enum clr_code clr_query_write(struct clr_query *query)
{
    const bool is_written = query->has_rows || query->has_subqueries || query->eager != NULL ||
                            clr_select_has_inner(&query->syntax->select) ||
                            query->dimension_count > 0;
    const bool collates = has_collations(query);
    const bool sorts_keys = query->is_grouped && query->syntax->select.keys.first != NULL &&
                            (!query->is_utf8 || collates);

    free_statements(query);
    return keep(&query->answer, query->eager != NULL ? write_joined(query)
                                : query->has_rows    ? write_rows(query)
                                                     : write_answer(query, sorts_keys)) &&
                   (!has_asked(query, false) ||
                    keep(&query->subqueries, write_subqueries(query))) &&
                   (!has_asked(query, true) || keep(&query->asked_of_keys, write_asked(query))) &&
                   (!collates || keep(&query->different, write_different(query))) &&
                   (is_written || keep(&query->counted, write_counted(query))) &&
                   keep(&query->probes, write_probes(query))
               ? CLR_OK
               : CLR_NOMEM;
}

char *clr_query_write_select(const struct clr_query *query)
{
    struct clr_printer printer = {.syntax = query->syntax};

    print_select(&printer, query->eager != NULL ? query->eager->whole : &query->syntax->select,
                 true, NULL, NULL);
    return clr_text_end(&printer.text);
}
