#include "sqlite/schema/select_columns.h"

#include <string.h>

/* ---- Names. */

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
static int copy_names(sqlite3_stmt *select, char *table, struct clr_names *names)
{
    const int count = sqlite3_column_count(select);
    int rc = SQLITE_OK, i;

    for (i = 0; i < count && rc == SQLITE_OK; i++) {
        const char *name = sqlite3_column_name(select, i);
        char *inner;

        if (name != NULL && table != NULL) {
            table = take_name(table, &inner);
            name = *inner == '\0' ? name : choose(name, inner);
        }
        rc = clr_names_add(names, name);
    }
    return rc;
}

int clr_column_names_read(sqlite3_stmt *select, struct clr_names *names)
{
    char *table = NULL;
    bool is_default;
    int rc = find_default(sqlite3_db_handle(select), &is_default);

    *names = (struct clr_names){.list = NULL};
    if (rc == SQLITE_OK && !is_default)
        rc = read_table(select, &table);
    if (rc == SQLITE_OK)
        rc = copy_names(select, table, names);
    sqlite3_free(table);
    return rc;
}

static bool are_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool clr_have_equal_columns(sqlite3_stmt *a, sqlite3_stmt *b,
                            const char *(*tell)(sqlite3_stmt *, int))
{
    const int count = sqlite3_column_count(a);
    bool same = sqlite3_column_count(b) == count;
    int i;

    for (i = 0; i < count && same; i++)
        same = are_equal(tell(a, i), tell(b, i));
    return same;
}

bool clr_has_columns_of_now(sqlite3_stmt *statement)
{
    sqlite3_stmt *now;
    bool same = clr_statement_make(sqlite3_db_handle(statement), sqlite3_sql(statement), 0, &now) ==
                SQLITE_OK;

    same = same && clr_have_equal_columns(now, statement, sqlite3_column_name) &&
           clr_have_equal_columns(now, statement, sqlite3_column_decltype);
    sqlite3_finalize(now);
    return same;
}

/* ---- Comparisons. */

/* The bits of a comparison's p5 that are its affinity. */
enum { AFFINITY_BITS = 0x47 };

/* Compares each column of the SELECT, as of a view that held it, with a variable of its own: the
   first has the number first. */
static char *write_query(sqlite3_stmt *select, int first)
{
    const int count = sqlite3_column_count(select);
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s\"%d\"", i == 0 ? "WITH \"clreduce:view\"(" : ",", i);
    sqlite3_str_appendf(text, ") AS (%s\n)", sqlite3_sql(select));
    for (i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s \"%d\" = ?%d", i == 0 ? "SELECT" : ",", i, first + i);
    sqlite3_str_appendall(text, " FROM \"clreduce:view\"");
    return sqlite3_str_finish(text);
}

static bool is_comparison(const struct clr_vdbe_op *operation)
{
    return clr_vdbe_op_is(operation, "Eq") || clr_vdbe_op_is(operation, "Ne");
}

/* Whether the operation stores a variable, from number first on. */
static bool is_variable(const struct clr_vdbe_op *operation, int first)
{
    return operation->p1 >= first && operation->p2 >= 0 && clr_vdbe_op_is(operation, "Variable");
}

/* The variable that a register had last, on the way through a program; step 0: none. */
struct stored {
    int step, variable;
};

/* Goes through a program from one end to the other, and stores for each comparison that reads none
   yet which variable its registers had last. */
static void follow_variables(const struct clr_bytecode *program, int first, bool backwards,
                             struct stored *registers, int count, int *variables)
{
    int step;

    memset(registers, 0, (size_t)count * sizeof *registers);
    for (step = 1; step <= program->count; step++) {
        const int i = backwards ? program->count - step : step - 1;
        const struct clr_vdbe_op *operation = &program->operations[i];
        const int sides[] = {operation->p1, operation->p3};
        struct stored last = {0, 0};
        int k;

        if (is_variable(operation, first))
            registers[operation->p2] = (struct stored){step, operation->p1};
        if (variables[i] != 0 || !is_comparison(operation))
            continue;
        for (k = 0; k < 2; k++) {
            if (sides[k] >= 0 && sides[k] < count && registers[sides[k]].step > last.step)
                last = registers[sides[k]];
        }
        variables[i] = last.variable;
    }
}

/*
 * Finds the numbers of the variables that comparisons read, by their addresses, to be freed with
 * sqlite3_free(); 0: it reads none of them. Of what is the same for all rows the code comes last,
 * and runs first: so a variable stands behind the comparison of a column, in a register of its own.
 * That of a constant stands before it: registers are used again there, and the one that was stored
 * last counts. NULL without memory.
 */
static int *find_variables(const struct clr_bytecode *program, int first)
{
    const size_t size = (size_t)program->count * sizeof(int);
    int *variables = clr_sqlite_alloc_zero(size + 1), count = 0, i;
    struct stored *registers;

    for (i = 0; i < program->count; i++) {
        if (is_variable(&program->operations[i], first) && program->operations[i].p2 >= count)
            count = program->operations[i].p2 + 1;
    }
    registers = sqlite3_malloc64((sqlite3_uint64)count * sizeof *registers + 1);
    if (variables != NULL && registers != NULL) {
        follow_variables(program, first, false, registers, count, variables);
        follow_variables(program, first, true, registers, count, variables);
    } else {
        sqlite3_free(variables);
        variables = NULL;
    }
    sqlite3_free(registers);
    return variables;
}

/* Of the arms of a UNION ALL, which may each have a comparison, the first one's is taken. */
static void read_code(const struct clr_bytecode *program, const int *variables, int first,
                      int count, struct clr_comparison *list)
{
    int i;

    for (i = 0; i < program->count; i++) {
        const struct clr_vdbe_op *operation = &program->operations[i];
        struct clr_comparison *comparison;

        if (variables[i] < first || variables[i] >= first + count)
            continue;
        comparison = &list[variables[i] - first];
        if (comparison->affinity == 0 && clr_vdbe_op_sequence(operation, comparison->collation))
            comparison->affinity = operation->p5 & AFFINITY_BITS;
    }
}

int clr_comparisons_read(sqlite3_stmt *select, struct clr_comparison **list)
{
    const int count = sqlite3_column_count(select);
    const sqlite3_uint64 size = (sqlite3_uint64)count * sizeof **list;
    const int first = sqlite3_bind_parameter_count(select) + 1;
    char *sql = write_query(select, first);
    struct clr_bytecode program = {.count = 0};
    int *variables = NULL, rc = SQLITE_NOMEM;

    *list = clr_sqlite_alloc_zero(size);
    if (*list != NULL && sql != NULL)
        rc = clr_bytecode_read(sqlite3_db_handle(select), &program, "%s", sql);
    if (rc == SQLITE_OK && (variables = find_variables(&program, first)) == NULL)
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        read_code(&program, variables, first, count, *list);
    sqlite3_free(variables);
    clr_bytecode_free(&program);
    sqlite3_free(sql);
    return rc;
}
