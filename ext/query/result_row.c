#include "query/result_row.h"

#include "base/memory.h"
#include "query/binding/content.h"
#include "query/syntax/grammar.h"
#include "query/syntax/syntax.h"

#include <stdio.h>
#include <string.h>

/* Text that is measured first, while `text` is NULL, and written then. */
struct row {
    const struct clr_syntax *syntax;
    bool is_grouped, sorts_keys, has_subqueries;
    const struct clr_grouping *grouping; /* of groups */
    int parameter_count;
    const char *rowid;  /* its name, of rows; else NULL */
    bool is_verbatim;   /* the SELECT stays as it is, but for the numbers of its parameters */
    const char *schema; /* of the table, where the SELECT does not name it; else NULL */
    int call;           /* the number of the next one */
    struct clr_query *query;
    char *text;
    size_t length;
};

static void add(struct row *row, const char *part, size_t length)
{
    if (row->text != NULL)
        memcpy(row->text + row->length, part, length);
    row->length += length;
}

/* Whether a call gives JSON: it is bound as a state, of which the answer makes JSON. */
static bool is_json(const struct clr_node *node)
{
    return node->kind == CLR_N_AGGREGATE && node->aggregate->needs == CLR_NEEDS_BINS &&
           !(node->form & CLR_FORM_STATE);
}

/*
 * Writes a column of the table of groups that is none to SQLite: a unary plus takes its affinity
 * away, and CASE its collating sequence, too, which goes before that of a subquery's column that it
 * is compared with.
 */
static size_t write_plain(const struct row *row, const char *column, int number, char *to,
                          size_t size)
{
    char name[24];

    snprintf(name, sizeof name, column, number);
    return (size_t)snprintf(
        to, size, row->has_subqueries ? "(CASE WHEN 1 THEN \"%s\" END)" : "(+\"%s\")", name);
}

/* Writes what stands for a call: a parameter, or a column of the table of groups. */
static size_t write_call(struct row *row, const struct clr_node *node, char *to, size_t size)
{
    const int call = row->call++;

    if (!row->is_grouped)
        return (size_t)snprintf(to, size, is_json(node) ? "gpu_histogram_merge(?%d)" : "?%d",
                                row->parameter_count + 1 + call);
    if (is_json(node))
        return (size_t)snprintf(to, size, "json(\"" CLR_GROUP_CALL "\")", call);
    return write_plain(row, CLR_GROUP_CALL, call, to, size);
}

static size_t write_sequence(const struct clr_node *node, char *to, size_t size)
{
    return (size_t)snprintf(to, size, " COLLATE \"%s\"", node->collation);
}

/* Writes what a key is that has no affinity, or that CAST gives one: the expression's collating
   sequence, if it has one, is BINARY. */
static size_t write_bare(const struct row *row, const struct clr_node *node, char *to, size_t size)
{
    if (!clr_content_has_sequence(node))
        return write_plain(row, CLR_GROUP_KEY_BLOB, node->key - 1, to, size);
    return (size_t)snprintf(to, size, "(+\"" CLR_GROUP_KEY_BLOB "\")", node->key - 1);
}

/* A value that is of the type already stays as it is. No column may take the place of CAST: WHERE
   puts a constant in a column's place, once it is to be equal to it, but not in that of CAST. */
static size_t write_cast(const struct row *row, const struct clr_node *node, char *to, size_t size)
{
    static const char *const types[] = {[CLR_CAST_TO_BLOB] = "BLOB",
                                        [CLR_CAST_TO_TEXT] = "TEXT",
                                        [CLR_CAST_TO_INTEGER] = "INTEGER",
                                        [CLR_CAST_TO_REAL] = "REAL",
                                        [CLR_CAST_TO_NUMERIC] = "NUMERIC"};
    size_t length = (size_t)snprintf(to, size, "CAST(");

    length += write_bare(row, node, to + length, size - length);
    return length + (size_t)snprintf(to + length, size - length, " AS %s)", types[node->cast]);
}

/* Writes the column of the table of groups that a key is, with the affinity that the key's
   expression has (SQLite's sqlite3ExprAffinity()). */
static size_t write_key(const struct row *row, const struct clr_node *node, char *to, size_t size)
{
    const char *format = node->is_text      ? "\"" CLR_GROUP_KEY_TEXT "\""
                         : node->is_real    ? "\"" CLR_GROUP_KEY_REAL "\""
                         : node->is_numeric ? "\"" CLR_GROUP_KEY_NUMERIC "\""
                                            : "\"" CLR_GROUP_KEY_BLOB "\"";
    size_t length;

    if (node->kind == CLR_N_CAST)
        return write_cast(row, node, to, size);
    if (node->kind != CLR_N_COLUMN)
        return write_bare(row, node, to, size);
    length = (size_t)snprintf(to, size, format, node->key - 1);
    if (!node->is_binary && node->collation[0] != '\0')
        length += write_sequence(node, to + length, size - length);
    return length;
}

static void add_tokens(struct row *row, size_t begin, size_t end);

/* Adds what a subquery's column is. */
static void add_inner(struct row *row, const struct clr_node *node)
{
    add(row, "(", 1);
    add_tokens(row, node->begin, node->end);
    add(row, ")", 1);
}

/* Returns the parameter that a token is, or NULL. */
static const struct clr_node *find_parameter(const struct clr_syntax *syntax, size_t token)
{
    const struct clr_node *node = syntax->parameters.first;

    while (node != NULL && node->names[0].index != token)
        node = node->listed;
    return node;
}

/* Names the table's schema: the SELECT may be that of a view, and mean one of the view's own. */
static void add_schema(struct row *row)
{
    const char *at;

    add(row, "\"", 1);
    for (at = row->schema; *at != '\0'; at++)
        add(row, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    add(row, "\".", 2);
}

/* Adds the tokens from begin up to end, with spaces between them: no two run together, and comments
   are gone. */
static void add_tokens(struct row *row, size_t begin, size_t end)
{
    char part[96];
    size_t i;

    for (i = begin; i < end;) {
        const struct clr_token *token = &row->syntax->tokens[i];
        const struct clr_node *node = token->node;

        if (row->is_verbatim && node != NULL)
            node = find_parameter(row->syntax, i);
        add(row, " ", 1);
        if (row->schema != NULL && i == row->syntax->table.index)
            add_schema(row);
        if (node == NULL || (!row->is_verbatim && node->is_item)) {
            add(row, token->text, token->length);
            i++;
            continue;
        }
        if (node->key != 0 && !row->is_verbatim)
            add(row, part, write_key(row, node, part, sizeof part));
        else if (node->kind == CLR_N_AGGREGATE)
            add(row, part, write_call(row, node, part, sizeof part));
        else if (node->kind == CLR_N_PARAMETER)
            add(row, part, (size_t)snprintf(part, sizeof part, "?%d", node->number));
        else
            add_inner(row, node);
        i = row->is_verbatim ? i + 1 : node->name_end != 0 ? node->name_end : node->end;
    }
}

/* Whether rows of different groups may be the same one: groups differ in their keys, which the
   select list may not have all. */
static bool is_distinct(const struct row *row)
{
    return row->is_grouped && row->syntax->distinct && row->syntax->keys.first != NULL;
}

/* Notes which key or call an item is that begins here. Returns false if it is more than that. */
static bool note_plain(const struct row *row, const struct clr_node *item)
{
    const struct clr_node *node = row->syntax->tokens[item->begin].node;
    struct clr_query *query = row->query;

    if (node == NULL || node->is_item ||
        (node->name_end != 0 ? node->name_end : node->end) != item->end ||
        query->plain_count == CLR_MOST_KEYS + CLR_MOST_CALLS ||
        (node->key == 0 && (node->kind != CLR_N_AGGREGATE || is_json(node))))
        return false;
    query->plain_columns[query->plain_count++] =
        (uint16_t)(node->key != 0 ? node->key - 1 : row->grouping->key_count + row->call);
    return true;
}

static void add_items(struct row *row)
{
    const struct clr_node *item;
    const struct clr_syntax *syntax = row->syntax;
    bool is_plain = row->is_grouped && !row->sorts_keys && !is_distinct(row) &&
                    syntax->having == NULL && syntax->terms.first == NULL &&
                    syntax->limit_begin == syntax->limit_end;

    for (item = syntax->items.first; item != NULL; item = item->next) {
        is_plain = is_plain && note_plain(row, item);
        add_tokens(row, item->begin, item->end);
        if (row->is_grouped && item->names[0].kind != 0) {
            add(row, " AS ", 4);
            add(row, item->names[0].text, item->names[0].length);
        }
        if (item->next != NULL)
            add(row, ",", 1);
    }
    if (!is_plain)
        row->query->plain_count = 0;
}

/* Has SQLite bring the groups into their order: BINARY is the order of bytes in the database's
   encoding, and ranks are those of UTF-8. */
static void add_keys(struct row *row)
{
    const bool is_ordered = row->syntax->terms.first != NULL;
    const struct clr_node *term;
    char part[96];
    int i = 0;

    for (term = row->syntax->keys.first; term != NULL; term = term->next) {
        if (term->is_constant)
            continue;
        add(row, part,
            (size_t)snprintf(part, sizeof part, "%s \"" CLR_GROUP_KEY_BLOB "\"",
                             i > 0 || is_ordered ? "," : " ORDER BY", i));
        if (term->collation[0] != '\0')
            add(row, part, write_sequence(term, part, sizeof part));
        add(row, " DESC", row->grouping->descending[i++] ? 5 : 0);
    }
}

/* Returns nothing of use. */
static size_t write_different(struct row *row)
{
    const struct clr_node *term;
    char part[96];
    int i = 0;

    row->length = 0;
    for (term = row->syntax->keys.first; term != NULL; term = term->next) {
        if (term->is_constant || term->collation[0] == '\0') {
            i += !term->is_constant;
            continue;
        }
        add(row, part,
            (size_t)snprintf(part, sizeof part,
                             "%s count(DISTINCT \"" CLR_GROUP_KEY_BLOB
                             "\") = count(DISTINCT \"" CLR_GROUP_KEY_BLOB "\"",
                             row->length == 0 ? "SELECT" : " AND", i, i));
        add(row, part, write_sequence(term, part, sizeof part));
        add(row, ")", 1);
        i++;
    }
    if (row->length > 0)
        add(row, " FROM \"" CLR_GROUP_TABLE "\"(?1)", sizeof " FROM \"" CLR_GROUP_TABLE "\"(?1)");
    return 0;
}

/* The rest of a SELECT of groups. HAVING is a condition of their table's rows. */
static void add_groups(struct row *row)
{
    const struct clr_syntax *syntax = row->syntax;
    static const char late[] = ") OR +rowid < 0";
    char source[64];

    add(row, source,
        (size_t)snprintf(source, sizeof source, " FROM \"" CLR_GROUP_TABLE "\"(?%d)",
                         row->parameter_count + 1));
    if (syntax->having != NULL) {
        const bool is_late = (syntax->having->has & CLR_HAS_SUBQUERY) != 0;

        add(row, is_late ? " WHERE (" : " WHERE", is_late ? 8 : 6);
        add_tokens(row, syntax->having->outer_begin, syntax->having->outer_end);
        /* No condition of rows would be evaluated without rows, or out of its order. */
        if (is_late)
            add(row, late, sizeof late - 1);
    }
    add_tokens(row, syntax->order_begin, syntax->order_end);
    if (row->sorts_keys)
        add_keys(row);
}

/* Adds the rest of the SELECT. The last token is the end of the text, and there may be a semicolon
   before it. */
static void add_rest(struct row *row, size_t begin)
{
    const struct clr_syntax *syntax = row->syntax;
    const struct clr_token *last = &syntax->tokens[syntax->token_count - 2];

    add_tokens(row, begin, syntax->token_count - (last->kind == CLR_T_SEMI ? 2 : 1));
    add(row, "", 1);
}

/* The SELECT itself, of the rows that the scan has found. Its own condition stays: what is found by
   the rowid is asked whether it is what was looked for. */
static void write_rows(struct row *row)
{
    const struct clr_syntax *syntax = row->syntax;
    const struct clr_token *name = syntax->alias.kind != 0 ? &syntax->alias : &syntax->table;
    char part[96];

    row->length = 0;
    add_tokens(row, 0, syntax->where->outer_begin);
    add(row, " (", 2);
    add_tokens(row, syntax->where->outer_begin, syntax->where->outer_end);
    add(row, ") AND ", 6);
    add(row, name->text, name->length);
    add(row, part,
        (size_t)snprintf(part, sizeof part,
                         ".%s IN (SELECT \"" CLR_GROUP_KEY_BLOB "\" FROM \"" CLR_GROUP_TABLE
                         "\"(?%d))",
                         row->rowid, 0, row->parameter_count + 1));
    add_rest(row, syntax->where->outer_end);
}

/* The SELECT itself, with a term before those of WHERE that counts the rows which SQLite looks at.
   Returns nothing of use. */
static size_t write_counted(struct row *row)
{
    const struct clr_syntax *syntax = row->syntax;
    const struct clr_node *where = syntax->where;
    const struct clr_token *name = syntax->alias.kind != 0 ? &syntax->alias : &syntax->table;
    const size_t begin = where != NULL ? where->outer_begin : name->index + 1;
    char part[64];

    row->length = 0;
    add_tokens(row, 0, begin);
    add(row, " WHERE", where == NULL ? 6 : 0);
    add(row, part,
        (size_t)snprintf(part, sizeof part, " " CLR_ROW_COUNTER "(?%d)", row->parameter_count + 1));
    if (where != NULL) {
        add(row, " AND (", 6);
        add_tokens(row, begin, where->outer_end);
        add(row, ")", 1);
    }
    add_rest(row, where != NULL ? where->outer_end : begin);
    return 0;
}

/* Returns nothing of use. */
static size_t write_select(struct row *row)
{
    row->length = 0;
    add_rest(row, 0);
    return 0;
}

/* Returns where the select list ends. */
static size_t write(struct row *row)
{
    size_t items;

    row->query->plain_count = 0;
    if (row->rowid != NULL) {
        write_rows(row);
        return 0;
    }
    row->length = 0;
    row->call = 0;
    add(row, "SELECT", 6);
    if (is_distinct(row))
        add(row, " DISTINCT", 9);
    add_items(row);
    items = row->length;
    if (row->is_grouped)
        add_groups(row);
    add_tokens(row, row->syntax->limit_begin, row->syntax->limit_end);
    add(row, "", 1);
    return items;
}

/* Returns nothing of use. */
static size_t write_subqueries(struct row *row)
{
    const struct clr_node *node;
    char part[32];

    row->length = 0;
    for (node = row->syntax->subqueries.first; node != NULL; node = node->listed) {
        add(row, row->length == 0 ? "SELECT" : ",", row->length == 0 ? 6 : 1);
        if (node->number == 0)
            add(row, " EXISTS", 7);
        else
            add(row, part,
                (size_t)snprintf(part, sizeof part, " ?%d IN",
                                 row->parameter_count + node->number));
        add_tokens(row, node->begin, node->end);
    }
    add(row, "", 1);
    return 0;
}

/* Measures a text, makes room for it and writes it, to be freed with clr_memory_free(). Returns
   NULL without memory. */
static char *make(struct row *row, size_t (*write_text)(struct row *row), size_t *items)
{
    row->text = NULL;
    write_text(row);
    row->text = clr_memory_alloc(row->length);
    if (row->text != NULL)
        *items = write_text(row);
    return row->text;
}

/* Whether a key is compared by another collating sequence than BINARY. */
static bool has_collations(const struct clr_syntax *syntax)
{
    const struct clr_node *term = syntax->keys.first;

    while (term != NULL && (term->is_constant || term->collation[0] == '\0'))
        term = term->next;
    return term != NULL;
}

static struct row begin(struct clr_query *query, const struct clr_environment *environment)
{
    return (struct row){.query = query,
                        .syntax = query->syntax,
                        .is_grouped = query->is_grouped,
                        .has_subqueries = query->syntax->subqueries.first != NULL,
                        .grouping = &query->grouping,
                        .parameter_count = environment->parameter_count,
                        .schema = query->schema == NULL ? environment->schema : NULL};
}

enum clr_code clr_result_row_write(struct clr_query *query,
                                   const struct clr_environment *environment, const char *rowid)
{
    const bool collates = has_collations(query->syntax);
    struct row row = begin(query, environment);
    size_t none;
    bool complete;

    row.sorts_keys = query->is_grouped && query->syntax->keys.first != NULL &&
                     (!environment->is_utf8 || collates);
    row.rowid = rowid;
    row.is_verbatim = rowid != NULL;
    query->answer = make(&row, write, &query->items_end);
    complete = query->answer != NULL;
    if (row.has_subqueries && rowid == NULL)
        complete = (query->subqueries = make(&row, write_subqueries, &none)) != NULL && complete;
    if (collates && rowid == NULL)
        complete = (query->different = make(&row, write_different, &none)) != NULL && complete;
    row.is_verbatim = true;
    if (!row.has_subqueries && query->syntax->inner_begin == 0 && rowid == NULL)
        complete = (query->counted = make(&row, write_counted, &none)) != NULL && complete;
    return complete ? CLR_OK : CLR_NOMEM;
}

char *clr_query_write_select(struct clr_query *query, const struct clr_environment *environment)
{
    struct row row = begin(query, environment);
    size_t none;

    row.is_verbatim = true;
    return make(&row, write_select, &none);
}
