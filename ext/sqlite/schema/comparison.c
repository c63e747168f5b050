#include "sqlite/schema/comparison.h"

#include "sqlite/schema/bytecode.h"

#include <string.h>

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

/* Whether the operation stores a variable, from number first on, in a register of the comparison.
 */
static bool is_operand(const struct clr_vdbe_op *operation, const struct clr_vdbe_op *comparison,
                       int first)
{
    /* The numbers first: of two thousand columns millions of operations are looked at. */
    return (operation->p2 == comparison->p1 || operation->p2 == comparison->p3) &&
           operation->p1 >= first && clr_vdbe_op_is(operation, "Variable");
}

/*
 * Returns the number of the variable that a comparison reads; 0: it reads none of them. Of what is
 * the same for all rows the code comes last, and runs first: so a variable stands behind the
 * comparison of a column, in a register of its own. That of a constant stands before it: registers
 * are used again there, and the one that was stored last counts.
 */
static int find_variable(const struct clr_bytecode *program, int comparison, int first)
{
    const struct clr_vdbe_op *operations = program->operations;
    int i;

    for (i = comparison - 1; i >= 0; i--) {
        if (is_operand(&operations[i], &operations[comparison], first))
            return operations[i].p1;
    }
    for (i = comparison + 1; i < program->count; i++) {
        if (is_operand(&operations[i], &operations[comparison], first))
            return operations[i].p1;
    }
    return 0;
}

/* Of the arms of a UNION ALL, which may each have a comparison, the first one's is taken. */
static void read_code(const struct clr_bytecode *program, int first, int count,
                      struct clr_comparison *list)
{
    int i, variable;

    for (i = 0; i < program->count; i++) {
        const struct clr_vdbe_op *operation = &program->operations[i];
        struct clr_comparison *comparison;

        if (!clr_vdbe_op_is(operation, "Eq") && !clr_vdbe_op_is(operation, "Ne"))
            continue;
        variable = find_variable(program, i, first);
        if (variable < first || variable >= first + count)
            continue;
        comparison = &list[variable - first];
        if (comparison->affinity == 0 && clr_vdbe_op_sequence(operation, comparison->collation))
            comparison->affinity = operation->p5 & AFFINITY_BITS;
    }
}

int clr_comparisons_read(sqlite3_stmt *select, struct clr_comparison *list)
{
    const int count = sqlite3_column_count(select);
    const int first = sqlite3_bind_parameter_count(select) + 1;
    char *sql = write_query(select, first);
    struct clr_bytecode program = {.count = 0};
    int rc = SQLITE_NOMEM;

    memset(list, 0, (size_t)count * sizeof *list);
    if (sql != NULL)
        rc = clr_bytecode_read(sqlite3_db_handle(select), &program, "%s", sql);
    if (rc == SQLITE_OK)
        read_code(&program, first, count, list);
    clr_bytecode_free(&program);
    sqlite3_free(sql);
    return rc;
}
