/* From a SELECT's text to its tree, and from the tree to the statements that finish a query. */
#include "query/query.h"

#include "base/memory.h"
#include "query/syntax/print.h"
#include "query/syntax/syntax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- What kind of query a SELECT is. */

static unsigned items_have(const struct clr_syntax *syntax)
{
    const struct clr_node *item;
    unsigned has = 0;

    for (item = syntax->select.items.first; item != NULL; item = item->next)
        has |= item->has;
    return has;
}

/* Whether the SELECT has a row for each group: for keys, or for the values that DISTINCT leaves. */
static bool is_grouped(const struct clr_syntax *syntax)
{
    return syntax->select.keys.first != NULL ||
           (syntax->select.distinct && (items_have(syntax) & CLR_HAS_AGGREGATE) == 0);
}

/* Whether there are aggregates, and all are calls of min(), or all of max(): columns beside one
   are those of the first row that has the extreme. */
static bool finds_extreme(const struct clr_syntax *syntax)
{
    const struct clr_node *first = syntax->aggregates.first, *call = first;

    while (call != NULL && call->builtin && !call->is_distinct && call->filter == NULL &&
           call->aggregate->needs == CLR_NEEDS_EXTREME && call->aggregate == first->aggregate)
        call = call->listed;
    return first != NULL && call == NULL && (items_have(syntax) & CLR_HAS_SURE_AGGREGATE) != 0;
}

/* Whether the SELECT has rows of the table as they are: those that WHERE lets pass, or the first
   ones in an order. */
static bool has_rows(const struct clr_syntax *syntax)
{
    const struct clr_select_tree *select = &syntax->select;

    if (is_grouped(syntax))
        return false;
    if (syntax->aggregates.first != NULL)
        return finds_extreme(syntax) && (items_have(syntax) & CLR_HAS_COLUMN) != 0;
    return select->where != NULL || (select->terms.first != NULL && select->limit != NULL);
}

/* Whether a scan may find the rows for a part of WHERE: SQLite needs all rows that it lets pass. */
static bool may_find_rows(const struct clr_syntax *syntax)
{
    const struct clr_select_tree *select = &syntax->select;
    const bool ends_early = select->limit != NULL && select->terms.first == NULL &&
                            syntax->aggregates.first == NULL && select->keys.first == NULL;

    return select->where != NULL && (select->where->has & CLR_HAS_SUBQUERY) == 0 && !ends_early;
}

/* Refuses an expression with a column of the table outside of aggregates; if a function has the
   column, as one that is none of the aggregates that there are; and without any aggregate, as one
   of rows. */
static void refuse_column(struct clr_syntax *syntax, const struct clr_node *node)
{
    while (node->kind != CLR_N_FUNCTION && node->first != NULL) {
        for (node = node->first; !(node->has & CLR_HAS_COLUMN); node = node->next)
            ;
    }
    if (node->kind == CLR_N_FUNCTION)
        clr_refuse_token(syntax, CLR_WHY_FUNCTION, &node->names[0]);
    else if (syntax->aggregates.first != NULL)
        clr_refuse(syntax, CLR_WHY_BARE_COLUMN);
    else
        clr_refuse(syntax, clr_select_has_inner(&syntax->select) ? CLR_WHY_ROWS_OF_SUBQUERY
                                                                 : CLR_WHY_NO_AGGREGATE);
}

/* Refuses what has no meaning here in a SELECT of one row: columns outside of aggregates, in the
   select list and in ORDER BY. */
static void check_row(struct clr_syntax *syntax)
{
    const struct clr_node *node;

    for (node = syntax->select.items.first; node != NULL; node = node->next) {
        if (node->has & CLR_HAS_COLUMN)
            refuse_column(syntax, node->first);
    }
    for (node = syntax->select.terms.first; node != NULL; node = node->next) {
        /* SQLite evaluates no subquery there. The name of an item goes before that of a column. */
        if (node->has & CLR_HAS_SUBQUERY ||
            (node->has & CLR_HAS_COLUMN && clr_syntax_find_item(syntax, node->first) == NULL))
            clr_refuse(syntax, CLR_WHY_ORDER_BY);
    }
    /* Without an aggregate SQLite makes a row for every row of the table. */
    if (!(items_have(syntax) & CLR_HAS_SURE_AGGREGATE))
        clr_refuse(syntax, CLR_WHY_NO_AGGREGATE);
}

static enum clr_code parse(struct clr_query *query)
{
    struct clr_syntax *syntax = query->syntax;

    if (clr_syntax_parse(syntax) != CLR_OK)
        return syntax->code;
    query->is_grouped = is_grouped(syntax);
    query->has_rows = has_rows(syntax);
    query->has_subqueries = syntax->subqueries.first != NULL;
    query->may_find_rows = may_find_rows(syntax);
    query->may_find_extremes = syntax->select.keys.first != NULL && finds_extreme(syntax);
    if (!query->is_grouped && !query->has_rows)
        check_row(syntax);
    return syntax->code;
}

enum clr_code clr_query_parse(const char *sql, struct clr_query **result, struct clr_reason *reason)
{
    struct clr_query *query = clr_memory_alloc(sizeof *query);
    struct clr_syntax *syntax = clr_memory_alloc(sizeof *syntax);
    const size_t size = strlen(sql) + 1;
    enum clr_code code = CLR_NOMEM;

    *result = NULL;
    if (query == NULL || syntax == NULL) {
        clr_memory_free(query);
        clr_memory_free(syntax);
        return CLR_NOMEM;
    }
    memset(query, 0, sizeof *query);
    memset(syntax, 0, sizeof *syntax);
    query->syntax = syntax;
    query->filter = query->first.key = -1;
    syntax->reason = reason;
    syntax->sql = clr_memory_alloc(size);
    if (syntax->sql != NULL) {
        memcpy(syntax->sql, sql, size);
        code = parse(query);
    }
    if (code != CLR_OK)
        clr_query_free(query);
    else
        *result = query;
    return code;
}

bool clr_query_calls(const struct clr_query *query, const char *function)
{
    const struct clr_node *node;

    for (node = query->syntax->nodes; node != NULL; node = node->allocated) {
        if (node->function != NULL && (node->has & CLR_HAS_AGGREGATE) == 0 &&
            strcmp(node->function, function) == 0)
            return true;
    }
    return false;
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

/* Notes which keys or calls the items are, if they are no more than that. */
static void note_plain(struct clr_query *query, bool sorts_keys)
{
    const struct clr_select_tree *select = &query->syntax->select;
    const struct clr_node *item = select->items.first;
    const bool is_plain = !sorts_keys && !is_distinct(query) && select->having == NULL &&
                          select->terms.first == NULL && select->limit == NULL;

    query->plain_count = 0;
    for (; item != NULL && is_plain; item = item->next) {
        const struct clr_node *node = item->first;

        if (node->item != NULL || query->plain_count == CLR_MOST_KEYS + CLR_MOST_CALLS ||
            (node->key == 0 && (node->kind != CLR_N_AGGREGATE || is_json(node))))
            break;
        query->plain_columns[query->plain_count++] =
            (uint16_t)(node->key != 0 ? node->key - 1 : query->grouping.key_count + node->number);
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
    clr_print_tables(&inside, &query->syntax->select, query->source_schema, 1);
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
    clr_print_tables(&printer, whole, query->source_schema, whole->source_count - 1);
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
    clr_print_select(&printer, select, query->source_schema, NULL, term);
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
    clr_print_select(&printer, &query->syntax->select, NULL, term, NULL);
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
    query->answer = query->subqueries = query->asked_of_keys = NULL;
    query->different = query->counted = NULL;
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
                   (is_written || keep(&query->counted, write_counted(query)))
               ? CLR_OK
               : CLR_NOMEM;
}

char *clr_query_write_select(const struct clr_query *query)
{
    struct clr_printer printer = {.syntax = query->syntax};

    clr_print_select(&printer, query->eager != NULL ? query->eager->whole : &query->syntax->select,
                     query->source_schema, NULL, NULL);
    return clr_text_end(&printer.text);
}

void clr_lookup_plan_free(struct clr_lookup_plan *plan)
{
    clr_memory_free(plan->text);
    clr_memory_free(plan->joins);
    plan->text = plan->joins = NULL;
}

static void free_syntax(struct clr_syntax *syntax)
{
    struct clr_select_tree *tree;
    struct clr_text_block *block;
    struct clr_node *node;

    while ((node = syntax->nodes) != NULL) {
        syntax->nodes = node->allocated;
        clr_memory_free(node);
    }
    while ((tree = syntax->trees) != NULL) {
        syntax->trees = tree->allocated;
        clr_memory_free(tree);
    }
    while ((block = syntax->blocks) != NULL) {
        syntax->blocks = block->next;
        clr_memory_free(block);
    }
    clr_memory_free(syntax->sql);
    clr_memory_free(syntax);
}

void clr_query_free(struct clr_query *query)
{
    int i;

    if (query == NULL)
        return;
    for (i = 0; i < query->lookup_count; i++)
        clr_lookup_plan_free(&query->lookups[i]);
    for (i = 0; i < query->operand_count; i++)
        clr_memory_free(query->operands[i]);
    for (i = 0; i < query->column_count; i++)
        clr_memory_free(query->columns[i].derived);
    for (i = 0; i < query->dimension_count; i++)
        clr_memory_free(query->dimensions[i].key);
    if (query->eager != NULL) {
        clr_memory_free(query->eager->order);
        clr_memory_free(query->eager->whole);
    }
    clr_memory_free(query->eager);
    free_syntax(query->syntax);
    clr_memory_free(query->probes);
    free_statements(query);
    clr_memory_free(query);
}

/* ---- A run. */

static double real_of(const struct clr_value *value)
{
    return value->kind == CLR_KIND_INTEGER ? (double)value->as.integer : value->as.real;
}

/* Stores the fraction. Returns whether it is a valid one. */
static bool ask_position(int percentile, const struct clr_value *argument,
                         struct clr_question *question)
{
    question->kind = percentile == CLR_PERCENTILE_DISC ? CLR_ASK_AT : CLR_ASK_BETWEEN;
    if (percentile == CLR_MEDIAN) {
        question->fraction = 0.5;
        return true;
    }
    if (argument->kind == CLR_KIND_NONE)
        return false;
    question->fraction = real_of(argument) / (percentile == CLR_PERCENTILE ? 100.0 : 1.0);
    return question->fraction >= 0.0 && question->fraction <= 1.0;
}

static enum clr_code ask_bins(const struct clr_value arguments[CLR_MOST_ARGUMENTS],
                              struct clr_question *question)
{
    int wrong;

    question->kind = CLR_ASK_BINS;
    if (clr_bins_prepare(&question->bins, arguments, &wrong) != NULL)
        return CLR_INVALID;
    question->counts =
        clr_memory_alloc(((size_t)question->bins.count + 2) * sizeof *question->counts);
    return question->counts == NULL ? CLR_NOMEM : CLR_OK;
}

static enum clr_code ask(const struct clr_query_run *run, const struct clr_asked *asked,
                         struct clr_question *question)
{
    struct clr_value arguments[CLR_MOST_ARGUMENTS];
    int i;

    for (i = 0; i < CLR_MOST_ARGUMENTS && asked->arguments[i] >= 0; i++)
        arguments[i] = clr_number_value(run->constants[asked->arguments[i]]);
    *question = (struct clr_question){.tally = asked->tally};
    switch (asked->aggregate->needs) {
    case CLR_NEEDS_FREQUENCIES:
        question->kind = asked->aggregate->finish == CLR_MODE ? CLR_ASK_MODE : CLR_ASK_DISTINCT;
        return CLR_OK;
    case CLR_NEEDS_BINS:
        return ask_bins(arguments, question);
    case CLR_NEEDS_VALUES:
        question->kind = CLR_ASK_VALUES;
        question->order = asked->order;
        question->is_distinct = asked->is_distinct;
        return CLR_OK;
    default:
        return ask_position(asked->aggregate->finish, &arguments[0], question) ? CLR_OK
                                                                               : CLR_INVALID;
    }
}

/* Whether a scan can have that value of a parameter. */
static bool is_fine(const struct clr_scalar *value, bool is_bounded)
{
    const struct clr_value number = clr_number_value(*value);

    return value->tag != CLR_TAG_BYTES && !clr_scalar_is_past_integers(value) &&
           !(is_bounded && number.kind != CLR_KIND_NONE &&
             !(fabs(real_of(&number)) <= (double)CLR_MOST_OF_A_PARAMETER));
}

/* Sets the constants. A parameter that is too large is refused: see lower_compared(). */
static enum clr_code take_constants(struct clr_query_run *run, const struct clr_scalar *values,
                                    struct clr_reason *reason)
{
    const struct clr_query *query = run->query;
    int i;

    for (i = 0; i < query->constant_count; i++) {
        struct clr_scalar *constant = &run->constants[i];
        const int number = query->parameters[i];

        *constant = number == 0 ? query->constants[i] : values[i];
        if (number != 0 && !is_fine(constant, query->is_bounded[i])) {
            if (number > query->parameter_count)
                clr_reason_set(reason, CLR_WHY_OPERAND_VALUE);
            else
                clr_reason_set_numbers(reason, CLR_WHY_PARAMETER_VALUE, number, 0);
            return CLR_INVALID;
        }
    }
    return CLR_OK;
}

static void begin_tallies(struct clr_query_run *run)
{
    const struct clr_query *query = run->query;
    int i;

    for (i = 0; i < query->tally_count; i++) {
        const struct clr_tally_plan *plan = &query->tallies[i];

        run->tallies[i] = (struct clr_tally){
            .operations = plan->operations, .x = plan->x, .y = plan->y, .filter = plan->filter};
    }
}

enum clr_code clr_query_run_begin(const struct clr_query *query, const struct clr_scalar *values,
                                  struct clr_query_run **result, struct clr_reason *reason)
{
    struct clr_query_run *run = clr_memory_alloc(sizeof *run);
    enum clr_code code;

    *result = NULL;
    if (run == NULL)
        return CLR_NOMEM;
    run->query = query;
    run->question_count = 0;
    run->lookups = NULL;
    run->columns = NULL;
    begin_tallies(run);
    code = take_constants(run, values, reason);
    while (code == CLR_OK && run->question_count < query->question_count) {
        code = ask(run, &query->asked[run->question_count], &run->questions[run->question_count]);
        run->question_count++;
        if (code == CLR_INVALID)
            clr_reason_set(reason, CLR_WHY_ARGUMENTS);
    }
    if (code == CLR_OK)
        *result = run;
    else
        clr_query_run_free(run);
    return code;
}

struct clr_scan clr_query_run_scan(struct clr_query_run *run)
{
    const struct clr_query *query = run->query;

    return (struct clr_scan){
        .instruction_count = query->instruction_count,
        .constant_count = query->constant_count,
        .column_count = query->column_count,
        .tally_count = query->tally_count,
        .filter = query->filter,
        .instructions = query->instructions,
        .constants = run->constants,
        .tallies = run->tallies,
        .question_count = query->question_count,
        .questions = run->questions,
        .lookup_count = query->lookup_count,
        .grouping = clr_query_has_groups(query) ? &query->grouping : NULL,
    };
}

void clr_query_run_free(struct clr_query_run *run)
{
    int i;

    if (run == NULL)
        return;
    for (i = 0; i < run->question_count; i++)
        clr_memory_free(run->questions[i].counts);
    clr_memory_free(run);
}
