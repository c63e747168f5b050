#include "sqlite/schema/comparison.h"

#include "sqlite/schema/program.h"

#include <string.h>

/* The bits of a comparison's p5 that are its affinity. */
enum { AFFINITY_BITS = 0x47 };

static char *write_query(const char *schema, const char *table, const char *const *names, int count)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s \"%w\" = ?%d", i == 0 ? "SELECT" : ",",
                            names[i] == NULL ? "" : names[i], i + 1);
    sqlite3_str_appendf(text, " FROM \"%w\".\"%w\"", schema, table);
    return sqlite3_str_finish(text);
}

/* A comparison, if it is with the register that has the variable of one of the columns. */
static void take_comparison(const struct clr_vdbe_op *operation, const int *registers, int count,
                            struct clr_comparison *list)
{
    int i;

    for (i = 0; i < count; i++) {
        if (registers[i] == 0 || (registers[i] != operation->p1 && registers[i] != operation->p3))
            continue;
        list[i].affinity =
            clr_vdbe_op_sequence(operation, list[i].collation) ? operation->p5 & AFFINITY_BITS : 0;
    }
}

/* Variables may come behind what reads them. */
static void read_code(const struct clr_program *program, int *registers, int count,
                      struct clr_comparison *list)
{
    int i;

    for (i = 0; i < program->count; i++) {
        const struct clr_vdbe_op *operation = &program->operations[i];

        if (clr_vdbe_op_is(operation, "Variable") && operation->p1 >= 1 && operation->p1 <= count)
            registers[operation->p1 - 1] = operation->p2;
    }
    for (i = 0; i < program->count; i++) {
        const struct clr_vdbe_op *operation = &program->operations[i];

        if (clr_vdbe_op_is(operation, "Eq") || clr_vdbe_op_is(operation, "Ne"))
            take_comparison(operation, registers, count, list);
    }
}

int clr_comparisons_read(sqlite3 *db, const char *schema, const char *table,
                         const char *const *names, int count, struct clr_comparison *list)
{
    int *registers = sqlite3_malloc64((sqlite3_uint64)count * sizeof *registers);
    char *sql = write_query(schema, table, names, count);
    struct clr_program program = {.count = 0};
    int rc = SQLITE_NOMEM;

    memset(list, 0, (size_t)count * sizeof *list);
    if (registers != NULL && sql != NULL) {
        memset(registers, 0, (size_t)count * sizeof *registers);
        rc = clr_program_read(db, &program, "%s", sql);
    }
    if (rc == SQLITE_OK)
        read_code(&program, registers, count, list);
    clr_program_free(&program);
    sqlite3_free(registers);
    sqlite3_free(sql);
    return rc;
}
