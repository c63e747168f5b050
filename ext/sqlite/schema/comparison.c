#include "sqlite/schema/comparison.h"

#include "sqlite/schema/explain_columns.h"

#include <stdlib.h>
#include <string.h>

/* The bits of a comparison's p5 that are its affinity. */
enum { AFFINITY_BITS = 0x47 };

static char *write_query(const char *schema, const char *table, const char *const *names, int count)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < count; i++)
        sqlite3_str_appendf(text, "%s \"%w\" = ?%d", i == 0 ? "EXPLAIN SELECT" : ",",
                            names[i] == NULL ? "" : names[i], i + 1);
    sqlite3_str_appendf(text, " FROM \"%w\".\"%w\"", schema, table);
    return sqlite3_str_finish(text);
}

/* Older versions show p5 as two hexadecimal digits. */
static int read_flags(sqlite3_stmt *statement)
{
    const char *text = (const char *)sqlite3_column_text(statement, CLR_EXPLAIN_P5);

    if (sqlite3_column_type(statement, CLR_EXPLAIN_P5) == SQLITE_INTEGER)
        return sqlite3_column_int(statement, CLR_EXPLAIN_P5);
    return text == NULL ? 0 : (int)strtol(text, NULL, 16);
}

/* SQLite shows a collating sequence as "NOCASE-8" or, before 3.37, as "(NOCASE)". */
static void read_collation(const char *p4, struct clr_comparison *comparison)
{
    size_t length;

    if (p4 == NULL || *p4 == '\0')
        p4 = "BINARY";
    p4 += *p4 == '(';
    length = strlen(p4);
    if (length > 0 && p4[length - 1] == ')')
        length--;
    if (length > 2 && strcmp(p4 + length - 2, "-8") == 0)
        length -= 2;
    else if (length > 5 && strncmp(p4 + length - 5, "-16", 3) == 0) /* -16LE, -16BE */
        length -= 5;
    if (length >= sizeof comparison->collation) {
        comparison->affinity = 0;
        return;
    }
    memcpy(comparison->collation, p4, length);
    comparison->collation[length] = '\0';
}

/* A comparison, if it is with the register that has the variable of one of the columns. */
static void take_comparison(sqlite3_stmt *statement, const int *registers, int count,
                            struct clr_comparison *list)
{
    const int left = sqlite3_column_int(statement, CLR_EXPLAIN_P1);
    const int right = sqlite3_column_int(statement, CLR_EXPLAIN_P3);
    int i;

    for (i = 0; i < count; i++) {
        if (registers[i] == 0 || (registers[i] != left && registers[i] != right))
            continue;
        list[i].affinity = read_flags(statement) & AFFINITY_BITS;
        read_collation((const char *)sqlite3_column_text(statement, CLR_EXPLAIN_P4), &list[i]);
    }
}

/* Variables may come behind what reads them, so the code is read twice. */
static int read_code(sqlite3_stmt *statement, int *registers, int count,
                     struct clr_comparison *list)
{
    int pass, rc = SQLITE_OK;

    for (pass = 0; pass < 2 && rc == SQLITE_OK; pass++) {
        while (sqlite3_step(statement) == SQLITE_ROW) {
            const char *opcode = (const char *)sqlite3_column_text(statement, CLR_EXPLAIN_OPCODE);
            const int number = sqlite3_column_int(statement, CLR_EXPLAIN_P1);

            if (opcode == NULL)
                continue;
            if (pass == 0 && strcmp(opcode, "Variable") == 0 && number >= 1 && number <= count)
                registers[number - 1] = sqlite3_column_int(statement, CLR_EXPLAIN_P2);
            if (pass == 1 && (strcmp(opcode, "Eq") == 0 || strcmp(opcode, "Ne") == 0))
                take_comparison(statement, registers, count, list);
        }
        rc = sqlite3_reset(statement);
    }
    return rc;
}

int clr_comparisons_read(sqlite3 *db, const char *schema, const char *table,
                         const char *const *names, int count, struct clr_comparison *list)
{
    int *registers = sqlite3_malloc64((sqlite3_uint64)count * sizeof *registers);
    char *sql = write_query(schema, table, names, count);
    sqlite3_stmt *statement = NULL;
    int rc = SQLITE_NOMEM;

    memset(list, 0, (size_t)count * sizeof *list);
    if (registers != NULL && sql != NULL) {
        memset(registers, 0, (size_t)count * sizeof *registers);
        rc = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    }
    if (rc == SQLITE_OK)
        rc = read_code(statement, registers, count, list);
    sqlite3_finalize(statement);
    sqlite3_free(registers);
    sqlite3_free(sql);
    return rc;
}
