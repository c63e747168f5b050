#include "sqlite/view/plan.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "numeric/filter/filter_terms.h"
#include "query/names/tables.h"
#include "query/syntax/syntax.h"
#include "sqlite/columns/column_source.h"
#include "sqlite/lookups/entries.h"
#include "sqlite/lookups/subqueries.h"
#include "sqlite/schema/row_order.h"
#include "sqlite/schema/schema_entries.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"
#include "sqlite/view/finish.h"

#include <stdbool.h>
#include <string.h>

/* ---- The plan. */

static void free_statement(struct clr_lookup_statement *statement)
{
    int i;

    for (i = 0; i < statement->count; i++)
        sqlite3_free(statement->parts[i].sql);
    clr_memory_free(statement->parts);
    sqlite3_free(statement->type.collation);
    sqlite3_free(statement->sql);
    sqlite3_free(statement->probe);
    *statement = (struct clr_lookup_statement){.sql = NULL};
}

void clr_plan_free(struct clr_plan *plan)
{
    int i;

    if (plan == NULL)
        return;
    for (i = 0; i < plan->statement_count; i++)
        free_statement(&plan->statements[i]);
    clr_functions_free(&plan->functions);
    clr_query_free(plan->query);
    clr_table_info_free(&plan->table);
    clr_table_names_free(&plan->names);
    sqlite3_free(plan);
}

/* ---- What is known of what the SELECT names. */

/* Whether the table is STRICT: before 3.37 none is, and no pragma tells. */
static int find_strict(sqlite3 *db, const struct clr_table_info *table, bool *is_strict)
{
    sqlite3_stmt *statement;
    int rc;

    *is_strict = false;
    if (sqlite3_libversion_number() < 3037000)
        return SQLITE_OK;
    rc = clr_statement_prepare(db, &statement, "PRAGMA \"%w\".table_list(\"%w\")", table->schema,
                               table->name);
    /* schema, name, type, ncol, wr, strict */
    if (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        *is_strict = sqlite3_column_int(statement, 5) != 0;
    return clr_statement_end(statement, rc);
}

/* Finds the type of a table's column, by its number, or of the rowid. Its collation is to be freed
   in any case. Returns SQLITE_OK, SQLite's code if the schema does not tell, or SQLITE_NOMEM. */
static int find_type(sqlite3 *db, const struct clr_table_info *table, int number,
                     struct clr_column_type *type)
{
    const char *declared = "INTEGER", *collation = "BINARY";
    bool is_strict;
    int rc = SQLITE_OK;

    *type = (struct clr_column_type){.affinity = CLR_AFFINITY_INTEGER};
    if (number < table->column_count)
        rc = sqlite3_table_column_metadata(db, table->schema, table->name,
                                           table->columns[number].name, &declared, &collation, NULL,
                                           NULL, NULL);
    if (rc != SQLITE_OK)
        return rc;
    type->affinity = clr_affinity_of(declared);
    type->collation = sqlite3_mprintf("%s", collation);
    if (type->collation == NULL)
        return SQLITE_NOMEM;
    if (type->affinity == CLR_AFFINITY_ANY) {
        rc = find_strict(db, table, &is_strict);
        type->affinity = is_strict ? CLR_AFFINITY_BLOB : CLR_AFFINITY_NUMERIC;
    }
    return rc;
}

/* The tables in FROM. */
struct tables {
    int count;
    struct clr_table_info infos[CLR_MOST_SOURCES];
    struct clr_known_table known[CLR_MOST_SOURCES];
};

static void free_tables(struct tables *tables)
{
    int i;

    for (i = 0; i < tables->count; i++) {
        clr_table_info_free(&tables->infos[i]);
        sqlite3_free((void *)tables->known[i].columns);
        sqlite3_free((void *)tables->known[i].keys);
    }
}

/* Takes note of a value among a column's first ones: *times is the format of all TEXT so far, or 0
   if it has none or several. */
static void take_sample(sqlite3_stmt *statement, struct clr_known_column *known, bool *is_first)
{
    const int type = sqlite3_column_type(statement, 0);
    clr_time_format format;
    int64_t count;

    known->seems_text = known->seems_text || type == SQLITE_TEXT || type == SQLITE_BLOB;
    if (type != SQLITE_TEXT || sqlite3_column_bytes(statement, 0) == 0)
        return;
    format = clr_timestamp_read(sqlite3_column_text(statement, 0),
                                (size_t)sqlite3_column_bytes(statement, 0), &count);
    known->times = *is_first || format == known->times ? format : 0;
    *is_first = false;
}

/*
 * Guesses whether a column has TEXT or BLOBs, by its first rows: a date in a column of type
 * TIMESTAMP, whose affinity is NUMERIC; and whether that is timestamps. If they cannot be read it
 * seems to have none.
 */
static void guess_types(sqlite3 *db, const struct clr_plan *plan,
                        const struct clr_table_info *table, const struct clr_column_info *column,
                        struct clr_known_column *known)
{
    sqlite3_stmt *statement;
    bool is_first = true;

    /* A generated column may call functions of the application. */
    if (!known->readable || !column->is_stored || column->field.is_real ||
        column->field.index == CLR_FIELD_ROWID)
        return;
    if (clr_statement_prepare(db, &statement, "SELECT \"%w\" FROM \"%w\".\"%w\" LIMIT 8",
                              column->name, table->schema, table->name) == SQLITE_OK) {
        while (sqlite3_step(statement) == SQLITE_ROW)
            take_sample(statement, known, &is_first);
    }
    sqlite3_finalize(statement);
    known->seems_text = known->seems_text && !column->is_text;
    if (plan->encoding != SQLITE_UTF8)
        known->times = 0;
}

/* Finds out how a column is compared. What the schema does not tell is taken for what is not
   accelerated. */
static void find_comparison(sqlite3 *db, const struct clr_table_info *table,
                            struct clr_known_column *known)
{
    struct clr_column_type type;

    if (find_type(db, table, known->number, &type) == SQLITE_OK) {
        known->is_binary = sqlite3_stricmp(type.collation, "BINARY") == 0;
        if (!known->is_binary && strlen(type.collation) < sizeof known->collation &&
            strchr(type.collation, '"') == NULL)
            strcpy(known->collation, type.collation);
        known->is_numeric = type.affinity >= CLR_AFFINITY_NUMERIC;
        known->is_real = type.affinity == CLR_AFFINITY_REAL;
    }
    sqlite3_free(type.collation);
}

/* Takes what runs have found of the columns of the table that they scanned, which may have been
   another one of a join then. */
static void take_varied(const struct clr_plan *plan, int column_count,
                        struct clr_known_column *columns)
{
    struct clr_known_column *known;
    int i;

    for (i = 0; i < plan->varied->count; i++) {
        const struct clr_varied_column *varied = &plan->varied->list[i];

        if (varied->number > column_count)
            continue;
        known = &columns[varied->number];
        known->has_no_counts = known->has_no_counts || varied->times != 0;
        known->has_no_units = known->has_no_units || varied->unit != CLR_TIME_NONE;
        known->has_text = known->has_text || varied->has_text;
        known->seems_text = known->seems_text || varied->has_text;
        known->is_varied = known->is_varied || (varied->times == 0 &&
                                                varied->unit == CLR_TIME_NONE && !varied->has_text);
    }
}

/* Returns what is known of a table's columns and its rowid, more of those that the SELECT names;
   to be freed with sqlite3_free(). NULL without memory. */
static struct clr_known_column *know_columns(sqlite3 *db, const struct clr_plan *plan,
                                             const struct clr_table_info *table, bool was_scanned)
{
    const size_t size = ((size_t)table->column_count + 1) * sizeof(struct clr_known_column);
    struct clr_known_column *columns = clr_sqlite_alloc_zero(size);
    const struct clr_node *node;
    int i;

    if (columns == NULL)
        return NULL;
    for (i = 0; i <= table->column_count; i++) {
        columns[i].name = table->columns[i].name;
        columns[i].number = i;
        columns[i].is_rowid = i == table->column_count;
        columns[i].is_text = table->columns[i].is_text;
        columns[i].is_stored = table->columns[i].readable;
        columns[i].readable = table->columns[i].readable || table->columns[i].loadable;
    }
    if (was_scanned)
        take_varied(plan, table->column_count, columns);
    for (node = plan->query->syntax->nodes; node != NULL; node = node->allocated) {
        if (node->kind != CLR_N_COLUMN)
            continue;
        i = clr_table_info_find(table, node->names[node->name_count - 1].name);
        if (i < 0 || columns[i].is_named)
            continue;
        columns[i].is_named = true;
        guess_types(db, plan, table, &table->columns[i], &columns[i]);
        find_comparison(db, table, &columns[i]);
    }
    return columns;
}

/* Returns the number of a table's INTEGER PRIMARY KEY, or else of its rowid; -1: it has none. */
static int find_rowid(const struct clr_table_info *table)
{
    int i = 0;

    while (i < table->column_count && table->columns[i].field.index != (int)CLR_FIELD_ROWID)
        i++;
    return table->without_rowid ? -1 : i;
}

/* Finds out what is known of the tables. Of several it is their unique keys, too. Returns SQLITE_OK
   or SQLITE_NOMEM. */
static int know_tables(sqlite3 *db, const struct clr_plan *plan, struct tables *tables)
{
    struct clr_unique_key *keys;
    int i, rc = SQLITE_OK;

    for (i = 0; i < tables->count && rc != SQLITE_NOMEM; i++) {
        const struct clr_table_info *info = &tables->infos[i];
        struct clr_known_table *known = &tables->known[i];

        known->schema = info->schema;
        known->name = info->name;
        known->column_count = info->column_count + !info->without_rowid;
        known->rowid = find_rowid(info);
        known->columns = know_columns(db, plan, info, i == plan->varied->fact);
        if (known->columns == NULL)
            return SQLITE_NOMEM;
        known->derives = clr_tables_rowid(known) != NULL;
        if (tables->count == 1)
            break;
        known->rows = clr_last_rowid(db, info->schema, info->name);
        rc = clr_unique_keys_read(db, info, &keys, &known->key_count);
        known->keys = keys;
    }
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Has SQLite evaluate the SELECT's numbers. One that it does not evaluate stays unknown. Returns
   SQLITE_OK or SQLITE_NOMEM. */
static int know_numbers(sqlite3 *db, const struct clr_syntax *syntax)
{
    struct clr_node *node = syntax->numbers.first;
    sqlite3_stmt *statement = NULL;
    sqlite3_str *text;
    int rc;

    if (node == NULL)
        return SQLITE_OK;
    text = sqlite3_str_new(NULL);
    for (; node != NULL; node = node->listed)
        sqlite3_str_appendf(text, "%s(%s%s)", sqlite3_str_length(text) == 0 ? "VALUES" : ",",
                            node->negative ? "-" : "", node->names[0].name);
    rc = clr_statement_prepare_text(db, &statement, sqlite3_str_finish(text));
    for (node = syntax->numbers.first;
         rc == SQLITE_OK && node != NULL && sqlite3_step(statement) == SQLITE_ROW;
         node = node->listed) {
        node->value = clr_scalar_of(sqlite3_column_value(statement, 0));
        node->is_known = node->value.tag == CLR_TAG_INTEGER || node->value.tag == CLR_TAG_REAL;
    }
    sqlite3_finalize(statement);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Finds out what the SELECT's functions do. Returns false without memory. */
static bool know_functions(sqlite3 *db, const struct clr_syntax *syntax,
                           struct clr_functions *functions)
{
    struct clr_node *const first = syntax->functions.first, *node;

    for (node = first; node != NULL; node = node->listed) {
        if (clr_functions_add(functions, node->names[0].name) == NULL)
            return false;
    }
    if (!clr_functions_read(db, functions))
        return false;
    for (node = first; node != NULL; node = node->listed) {
        const struct clr_function *function = clr_functions_add(functions, node->names[0].name);

        node->is_deterministic = function->is_deterministic;
        node->is_builtin = function->is_builtin;
        node->subtypes = function->subtypes;
    }
    return true;
}

/* Takes note of SQLite's code without values of the parameters, if it shows, and other code may
   come of them: a partial index may be for a value, and an index for a pattern. */
static void note_valueless(sqlite3 *db, const struct clr_select *select, sqlite3_stmt *statement,
                           struct clr_plan *plan)
{
    int i;

    for (i = 1; i <= select->parameter_count; i++)
        sqlite3_bind_null(statement, i);
    if (select->parameter_count > 0 && clr_statement_is_outdated(statement))
        plan->valueless = clr_bytecode_hash_moves(db, select->sql, NULL, 0);
}

/* Looks at SQLite's own code for the SELECT: how it goes over the rows, and so in which order it
   gives groups. program: of zeros. Returns SQLITE_OK or SQLITE_NOMEM. */
static int read_program(sqlite3 *db, const struct clr_select *select, struct clr_plan *plan,
                        const struct tables *tables, struct clr_bytecode *program,
                        struct clr_reason *reason)
{
    const struct clr_joined joined = {&plan->table, tables->infos};
    /* Of SELECT * FROM view SQLite's code may go over the rows that the view's SELECT has given. */
    char *held = select->view_name != NULL ? clr_query_write_select(plan->query) : NULL;
    int rc;

    if (select->view_name != NULL && held == NULL)
        return SQLITE_NOMEM;
    rc = clr_bytecode_read(db, program, "%s", held != NULL ? held : select->sql);
    clr_memory_free(held);
    if (rc == SQLITE_OK)
        plan->walk = clr_bytecode_walk(program);
    if (rc == SQLITE_OK && plan->query->looks_up_values &&
        clr_bytecode_count(program, "OpenAutoindex") > 0)
        clr_reason_set(reason, CLR_WHY_SUBQUERY_ROWS);
    if (rc == SQLITE_OK)
        rc = clr_row_order_check(db, program, &plan->walk, &joined, plan->query,
                                 &plan->rows_per_found, reason);
    plan->walk.sorter = NULL;
    if (rc == SQLITE_OK || rc == SQLITE_NOMEM)
        return rc;
    clr_statement_refuse(db, rc, reason);
    return SQLITE_OK;
}

static bool has_column(const struct clr_table_info *table, const char *name)
{
    const int number = clr_table_info_find(table, name);

    return number >= 0 && number < table->column_count;
}

/* Names the columns that NATURAL JOIN compares: those of a table that another one before it has,
   too. Returns false without memory. */
static bool name_common(struct clr_syntax *syntax, const struct tables *tables)
{
    struct clr_select_tree *from = clr_select_join(&syntax->select);
    bool is_fine = true;
    int i, k, c;

    for (i = 1; i < from->source_count && from->source_count == tables->count; i++) {
        for (c = 0; c < tables->infos[i].column_count && from->sources[i].is_natural; c++) {
            const char *name = tables->infos[i].columns[c].name;

            for (k = 0; k < i && !has_column(&tables->infos[k], name); k++)
                ;
            is_fine = is_fine && (k == i || clr_syntax_add_common(syntax, &from->sources[i], name));
        }
    }
    return is_fine;
}

/* Whether two tables are of one database. */
static bool is_beside(const struct clr_table_info *table, const struct clr_table_info *other)
{
    return sqlite3_stricmp(table->schema, other->schema) == 0;
}

/* Binds the query to what is known of what it names. Returns SQLITE_OK or SQLITE_NOMEM. */
static int bind_names(struct clr_connection *connection, const struct clr_select *select,
                      struct clr_plan *plan, struct tables *tables, struct clr_reason *reason)
{
    const struct clr_environment environment = {.tables = tables->known,
                                                .parameter_count = select->parameter_count,
                                                .takes_parts = true,
                                                .prefers_derived = plan->varied->finds_many,
                                                .is_utf8 = plan->encoding == SQLITE_UTF8,
                                                .is_exact = connection->settings.override != 0};
    int rc = clr_subqueries_find(connection->db, plan->query, tables->infos), i;

    if (rc == SQLITE_OK && !name_common(plan->query->syntax, tables))
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        rc = know_tables(connection->db, plan, tables);

    if (rc == SQLITE_OK)
        rc = know_numbers(connection->db, plan->query->syntax);

    if (rc == SQLITE_OK &&
        (!know_functions(connection->db, plan->query->syntax, &plan->functions) ||
         clr_query_bind(plan->query, &environment, reason) == CLR_NOMEM))
        rc = SQLITE_NOMEM;
    /* The query refers to names of the table. */
    plan->may_derive = tables->known[plan->query->scanned].derives;
    plan->table = tables->infos[plan->query->scanned];
    tables->infos[plan->query->scanned] = (struct clr_table_info){.schema = NULL};
    for (i = 0; i < plan->query->dimension_count; i++) {
        const struct clr_table_info *info = &tables->infos[plan->query->dimensions[i].source];

        if (is_beside(info, &plan->table))
            plan->dimensions[plan->dimension_count++] =
                (struct clr_table_root){info->root, info->without_rowid};
    }
    return rc;
}

/* Binds the query to the tables, and reads SQLite's code for the SELECT. Returns SQLITE_OK or
   SQLITE_NOMEM. */
static int bind_query(struct clr_connection *connection, const struct clr_select *select,
                      struct clr_plan *plan, struct tables *tables, struct clr_bytecode *program,
                      struct clr_reason *reason)
{
    sqlite3_stmt *statement = NULL;
    int rc = clr_encoding_find(connection->db, &plan->encoding);

    /* What SQLite refuses is refused with its message. */
    if (rc == SQLITE_OK)
        rc = clr_select_prepare(connection->db, select, &statement);
    if (rc != SQLITE_OK) {
        clr_statement_refuse(connection->db, rc, reason);
        return SQLITE_OK;
    }
    note_valueless(connection->db, select, statement, plan);
    if (select->view_name != NULL)
        rc = clr_select_check(select, statement);
    sqlite3_finalize(statement);
    if (rc == SQLITE_MISMATCH) {
        clr_reason_set_name(reason, CLR_WHY_VIEW_CHANGED, select->view_name,
                            strlen(select->view_name));
        return SQLITE_OK;
    }
    if (rc == SQLITE_OK)
        rc = bind_names(connection, select, plan, tables, reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        rc = read_program(connection->db, select, plan, tables, program, reason);
    if (!plan->query->has_rows && (!plan->query->is_grouped || plan->query->is_ordered))
        plan->valueless = 0;
    return rc;
}

/* Returns why the query's columns can't be decoded from pages. */
static enum clr_reason_code find_no_pages(const struct clr_query *query,
                                          const struct clr_table_info *table)
{
    int i;

    for (i = 0; i < query->column_count; i++) {
        if (query->columns[i].derived == NULL && !table->columns[query->columns[i].number].readable)
            return CLR_WHY_READS_GENERATED;
    }
    return CLR_WHY_NONE;
}

/* Whether two lookups of a query are evaluated by one statement. */
static bool go_together(const struct clr_lookup_plan *x, const struct clr_lookup_plan *y)
{
    return x->column == y->column && x->is_timed == y->is_timed &&
           x->has_subqueries == y->has_subqueries && (x->joins == NULL) == (y->joins == NULL) &&
           (x->joins == NULL || strcmp(x->joins, y->joins) == 0);
}

/* Whether an instruction reads a lookup. */
static bool reads(const struct clr_query *query, int instruction, int lookup)
{
    return query->instructions[instruction].opcode == CLR_OP_LOOKUP &&
           query->instructions[instruction].b == lookup;
}

/* Finds out which part the lookup of a part has in the query's filter. Of rows there is more than
   one filter. */
static void find_role(const struct clr_query *query, struct clr_lookup_part *part)
{
    static const struct clr_tally none = {.x = -1, .y = -1, .filter = -1};
    const struct clr_scan scan = {.instruction_count = query->instruction_count,
                                  .instructions = query->instructions,
                                  .filter = query->filter};
    int terms[CLR_MOST_TERMS_OF_FILTER], i;
    const int count = clr_terms_split(&scan, terms);
    bool used[CLR_MOST_INSTRUCTIONS];

    if (query->has_rows)
        return;
    for (i = 0; i < count; i++)
        part->is_term = part->is_term || (!part->is_ranked && reads(query, terms[i], part->number));
    clr_scan_find_used(&scan, &none, used);
    part->is_key =
        query->grouping.key_count == 1 && reads(query, query->grouping.keys[0], part->number);
    part->is_late = true;
    for (i = 0; i < query->instruction_count; i++)
        part->is_late = part->is_late && !(used[i] && reads(query, i, part->number));
}

/* Adds a part; list: the expressions of those before it. Returns the list with that of the part, or
   NULL without memory. */
static char *add_part(struct clr_lookup_statement *statement, const struct clr_query *query,
                      int number, const char *from, char *list)
{
    const struct clr_lookup_plan *plan = &query->lookups[number];
    struct clr_lookup_part *part = &statement->parts[statement->count];

    part->number = number;
    part->is_ranked = plan->is_ranked;
    find_role(query, part);
    part->sql = sqlite3_mprintf("SELECT (%s), " CLR_LOOKUP_ENTRY "%s", plan->text, from);
    if (part->sql != NULL)
        return sqlite3_mprintf("%z%s(%s)", list, statement->count++ == 0 ? "" : ", ", plan->text);
    sqlite3_free(list);
    return NULL;
}

/* Writes the texts of a statement whose type, column and source are known. from: behind the
   expressions, as is the one of the probe. Returns false without memory. */
static bool write_texts(const struct clr_query *query, int number, const char *from,
                        const char *probed, struct clr_lookup_statement *statement)
{
    char *list = sqlite3_mprintf("%s", "");
    int i;

    statement->parts =
        clr_memory_alloc_zero((size_t)query->lookup_count * sizeof *statement->parts);
    for (i = number; i < query->lookup_count && statement->parts != NULL && list != NULL; i++) {
        if (go_together(&query->lookups[number], &query->lookups[i]))
            list = add_part(statement, query, i, from, list);
    }
    if (statement->parts != NULL && list != NULL) {
        /* The entry itself comes along: an authorizer may put NULL in its place. */
        statement->sql = sqlite3_mprintf("SELECT %s, " CLR_LOOKUP_ENTRY "%s", list, from);
        if (query->lookups[number].has_subqueries)
            statement->probe = sqlite3_mprintf("SELECT %s%s", list, probed);
    }
    sqlite3_free(list);
    return statement->sql != NULL &&
           (statement->probe != NULL || !query->lookups[number].has_subqueries);
}

static bool add_field(struct clr_alike *alike, const struct clr_column_info *column)
{
    int i;

    for (i = 1; i < alike->count && alike->fields[i].index != column->field.index; i++)
        ;
    if (i > CLR_MOST_DECIDING || !column->is_stored || !column->readable)
        return false;
    alike->fields[i] = column->field;
    alike->fields[i].with_codes = true;
    alike->count += i == alike->count;
    return true;
}

/* Finds the columns of a dimension that decide on all parts of a statement. Its pages are read in
   the snapshot of the table that is scanned. */
static void find_alike(const struct clr_plan *whole, const struct tables *tables,
                       struct clr_lookup_statement *statement)
{
    const struct clr_query *query = whole->query;
    const int number = query->lookups[statement->parts[0].number].decided_by;
    const struct clr_table_info *info;
    struct clr_alike alike = {.count = 1, .fields = {{.index = CLR_FIELD_ROWID}}};
    bool do_decide = number > 0;
    int i, k;

    if (!do_decide)
        return;
    info = &tables->infos[query->dimensions[number - 1].source];
    do_decide = is_beside(info, &whole->table);
    alike.root = info->root;
    for (i = 0; i < statement->count && do_decide; i++) {
        const struct clr_lookup_plan *plan = &query->lookups[statement->parts[i].number];

        do_decide = plan->decided_by == number && !info->without_rowid;
        for (k = 0; k < plan->deciding_count && do_decide; k++)
            do_decide = add_field(&alike, &info->columns[plan->deciding[k]]);
    }
    if (do_decide)
        statement->alike = alike;
}

/* The type of an expression that is none of a column's. Returns SQLITE_OK or SQLITE_NOMEM. */
static int find_no_type(struct clr_column_type *type)
{
    *type = (struct clr_column_type){.affinity = CLR_AFFINITY_BLOB,
                                     .collation = sqlite3_mprintf("BINARY")};
    return type->collation == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

/* Writes the statement of the lookups that go with the one of that number, which is the first of
   them. Returns as write_statements(). */
static int write_statement(sqlite3 *db, const struct clr_plan *whole, const struct tables *tables,
                           int number, int source, struct clr_lookup_statement *statement)
{
    const struct clr_table_info *table = &whole->table;
    const struct clr_query *query = whole->query;
    static const char named[] = " AS \"" CLR_LOOKUP_TABLE "\"";
    const struct clr_lookup_plan *plan = &query->lookups[number];
    const struct clr_query_column *column = &query->columns[plan->column];
    const char *joins = plan->joins == NULL ? "" : plan->joins;
    char *name, *from, *probed;
    int rc;

    *statement = (struct clr_lookup_statement){.column = plan->column,
                                               .source = source,
                                               .is_timed = plan->is_timed,
                                               .joins = plan->joins != NULL || plan->has_subqueries,
                                               .names = &whole->names,
                                               .has_values = query->looks_up_values,
                                               .unit = column->unit};
    rc = column->derived != NULL ? find_no_type(&statement->type)
                                 : find_type(db, table, column->number, &statement->type);
    if (rc != SQLITE_OK)
        return rc;
    name = clr_entries_name(&statement->type);
    from = name == NULL ? NULL : sqlite3_mprintf(" FROM %s(?%d)%s%s", name, source, named, joins);
    probed = sqlite3_mprintf(" FROM (SELECT ?%d AS \"" CLR_LOOKUP_COLUMN "\")%s%s", source, named,
                             joins);
    rc = from != NULL && probed != NULL && write_texts(query, number, from, probed, statement)
             ? SQLITE_OK
             : SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        find_alike(whole, tables, statement);
    sqlite3_free(name);
    sqlite3_free(from);
    sqlite3_free(probed);
    return rc;
}

/* Writes the statements of the lookups of a plan's query, which clr_plan_free() frees.
   parameter_count: the largest number of parameters and operands. Returns SQLITE_OK; SQLITE_NOMEM;
   or SQLite's code if the schema does not tell a column's type. */
static int write_statements(sqlite3 *db, struct clr_plan *plan, const struct tables *tables,
                            int parameter_count)
{
    const struct clr_query *query = plan->query;
    int rc = SQLITE_OK, i, k;

    for (i = 0; i < query->lookup_count && rc == SQLITE_OK; i++) {
        for (k = 0; k < i && !go_together(&query->lookups[k], &query->lookups[i]); k++)
            ;
        if (k == i)
            rc = write_statement(db, plan, tables, i, parameter_count + 1,
                                 &plan->statements[plan->statement_count++]);
    }
    return rc;
}

/* Writes the statements of the query's lookups, and looks at what their subqueries read. Returns
   SQLITE_OK or SQLITE_NOMEM. */
static int write_lookups(struct clr_connection *connection, const struct clr_select *select,
                         struct clr_plan *plan, const struct tables *tables,
                         const struct clr_bytecode *program, struct clr_reason *reason)
{
    const struct clr_query *query = plan->query;
    sqlite3 *db = connection->db;
    bool walks;
    int rc, i;

    if (query->lookup_count > 0 && plan->encoding == 0) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_UNREAD);
        return SQLITE_OK;
    }
    rc = write_statements(db, plan, tables, select->parameter_count + query->operand_count);
    if (rc == SQLITE_OK && query->looks_up_subqueries)
        rc = clr_table_names_add(connection, program, &plan->names, reason);
    for (i = 0; i < plan->statement_count && rc == SQLITE_OK && reason->code == CLR_WHY_NONE; i++) {
        if (plan->statements[i].probe != NULL)
            rc = clr_subqueries_check(connection, plan->statements[i].probe, &plan->names,
                                      query->looks_up_values, &walks, reason);
    }
    if (rc == SQLITE_OK || rc == SQLITE_NOMEM)
        return rc;
    clr_statement_refuse(db, rc, reason);
    return SQLITE_OK;
}

/* With the tables, and SQLite's code for the SELECT, which is of zeros. */
static int bind_tables(struct clr_connection *connection, const struct clr_select *select,
                       struct clr_plan *plan, struct tables *tables, struct clr_bytecode *program,
                       struct clr_reason *reason)
{
    int rc = bind_query(connection, select, plan, tables, program, reason);

    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        rc = write_lookups(connection, select, plan, tables, program, reason);
    if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE)
        return rc;
    if (clr_functions_are_replaced(connection, plan->query)) {
        clr_reason_set(reason, CLR_WHY_REPLACED);
        return SQLITE_OK;
    }
    plan->database = clr_database_get(connection, plan->table.schema);
    if (plan->database == NULL) {
        clr_reason_set(reason, CLR_WHY_SCHEMA_UNREAD);
        return SQLITE_OK;
    }
    plan->generation = plan->database->generation;
    plan->no_pages = find_no_pages(plan->query, &plan->table);
    return clr_finish_subqueries_check(connection->db, plan->query, select->parameter_count,
                                       program, reason);
}

/* Reads the SELECT of the ordinary view that the SELECT reads; NULL if it reads none. */
static int read_view(sqlite3 *db, const struct clr_select *select, char **held)
{
    *held = NULL;
    return select->view_name == NULL
               ? SQLITE_OK
               : clr_view_text_read(db, select->view_schema, select->view_name, NULL, held);
}

/* Whether the ordinary view still holds that SELECT, now that the database is in a read
   transaction: another connection may have come between. */
static int check_view(sqlite3 *db, const struct clr_select *select, const char *held,
                      struct clr_reason *reason)
{
    char *now;
    int rc = read_view(db, select, &now);

    if (rc == SQLITE_OK && (now == NULL || strcmp(now, held) != 0))
        clr_reason_set(reason, CLR_WHY_SCHEMA_CHANGES);
    sqlite3_free(now);
    return rc;
}

/* Has a name in FROM mean the ordinary view that it was found to be; the reason goes on if it
   can't. Returns SQLITE_OK or SQLITE_NOMEM. */
static int add_view(struct clr_connection *connection, const struct clr_plan *plan,
                    struct clr_from_table *source, struct clr_reason *reason)
{
    const char *schema = clr_table_names_schema(&plan->names);
    struct clr_syntax *syntax = plan->query->syntax;
    char *columns, *select;
    int rc = clr_view_text_read(connection->db, schema, source->table.name, &columns, &select);

    if (rc == SQLITE_OK && select != NULL) {
        clr_reason_set(reason, CLR_WHY_NONE);
        syntax->reason = reason;
        if (clr_syntax_add_view(syntax, source, schema, columns, select) == CLR_NOMEM)
            rc = SQLITE_NOMEM;
    }
    sqlite3_free(columns);
    sqlite3_free(select);
    return rc;
}

/* Views over views go no deeper. */
enum { MOST_VIEWS = 16 };

/* Looks the table of a place in FROM up, by way of ordinary views. Returns as find_tables(). */
static int find_table(struct clr_connection *connection, const char *schema, struct clr_plan *plan,
                      struct clr_from_table *source, struct clr_table_info *info,
                      struct clr_reason *reason)
{
    int rc = SQLITE_OK, views = 0;
    bool goes_on = true;

    /* A SELECT that joins tables has several to be found. */
    while (goes_on) {
        while (source->inner != NULL && source->inner->source_count == 1)
            source = source->inner->sources;
        if (source->inner != NULL)
            break;
        rc = clr_table_names_find(connection,
                                  source->schema.kind != 0 ? source->schema.name : schema,
                                  source->table.name, &plan->names, info, reason);
        goes_on = rc == SQLITE_OK && reason->code == CLR_WHY_READS_VIEW && views++ < MOST_VIEWS;
        if (goes_on)
            rc = add_view(connection, plan, source, reason);
        goes_on = goes_on && rc == SQLITE_OK && reason->code == CLR_WHY_NONE;
    }
    return rc;
}

/* Looks the tables up; schema: that of names without one, or NULL. Returns SQLITE_OK or
   SQLITE_NOMEM. */
static int find_tables(struct clr_connection *connection, const char *schema, struct clr_plan *plan,
                       struct tables *tables, struct clr_reason *reason)
{
    struct clr_select_tree *select = &plan->query->syntax->select, *from = clr_select_join(select);
    int rc = SQLITE_OK, i;

    for (i = 0; i < from->source_count && rc == SQLITE_OK && reason->code == CLR_WHY_NONE; i++) {
        tables->count = i + 1;
        rc = find_table(connection, schema, plan, &from->sources[i], &tables->infos[i], reason);
        if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE && tables->infos[i].name == NULL &&
            clr_select_join(select) == from)
            clr_reason_set(reason, CLR_WHY_SUBQUERY);
    }
    /* An ordinary view may have turned out to be a join. */
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE && clr_select_join(select) != from) {
        *tables = (struct tables){.count = 0};
        return find_tables(connection, schema, plan, tables, reason);
    }
    return rc;
}

/* held: the SELECT of the ordinary view, or NULL. */
static int plan_query(struct clr_connection *connection, const struct clr_select *select,
                      const char *sql, const char *held, struct clr_plan *plan,
                      struct clr_reason *reason)
{
    struct tables tables = {.count = 0};
    struct clr_bytecode program = {.count = 0};
    enum clr_code code;
    int rc;

    if (select->view_name != NULL && held == NULL) {
        clr_reason_set_name(reason, CLR_WHY_NO_TABLE, select->view_name, strlen(select->view_name));
        return SQLITE_OK;
    }
    code = clr_query_parse(held == NULL ? sql : held, &plan->query, reason);
    if (code != CLR_OK)
        return code == CLR_NOMEM ? SQLITE_NOMEM : SQLITE_OK;
    if (held != NULL && plan->query->has_subqueries) {
        clr_reason_set(reason, CLR_WHY_VIEWS_SUBQUERY);
        return SQLITE_OK;
    }
    rc = find_tables(connection, held != NULL ? select->view_schema : NULL, plan, &tables, reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE && held != NULL)
        rc = check_view(connection->db, select, held, reason);
    if (rc == SQLITE_OK && reason->code == CLR_WHY_NONE)
        rc = bind_tables(connection, select, plan, &tables, &program, reason);
    clr_bytecode_free(&program);
    clr_table_names_release(&plan->names);
    free_tables(&tables);
    return rc;
}

static int make_plan(struct clr_connection *connection, const struct clr_select *select,
                     const char *sql, struct clr_plan *plan, struct clr_reason *reason)
{
    char *held;
    int rc = read_view(connection->db, select, &held);

    if (rc == SQLITE_OK)
        rc = plan_query(connection, select, sql, held, plan, reason);
    sqlite3_free(held);
    return rc;
}

int clr_plan_make(struct clr_connection *connection, const struct clr_select *select,
                  const char *sql, const struct clr_varied_columns *varied,
                  struct clr_plan **result, struct clr_reason *reason)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    struct clr_plan *plan = clr_sqlite_alloc_zero(sizeof *plan);
    int rc = SQLITE_NOMEM;

    clr_reason_set(reason, CLR_WHY_NONE);
    if (plan != NULL) {
        plan->varied = varied;
        rc = make_plan(connection, select, sql, plan, reason);
        plan->varied = NULL;
    }
    clr_float_environment_end(&before);
    if (sqlite3_errcode(connection->db) == SQLITE_NOMEM)
        rc = SQLITE_NOMEM;
    if (rc != SQLITE_OK)
        clr_reason_set(reason, CLR_WHY_NO_MEMORY);
    if (rc != SQLITE_OK || reason->code != CLR_WHY_NONE) {
        clr_plan_free(plan);
        plan = NULL;
    }
    *result = plan;
    return rc;
}
