#include "sqlite/schema/column_code.h"

#include "numeric/values/field.h"
#include "sqlite/schema/bytecode.h"
#include "sqlite/session/statement.h"

#include <string.h>

/* Columns of PRAGMA function_list. */
enum { AT_NAME = 0, AT_BUILTIN = 1, LONGEST_NAME = 64 };

/* What a value that follows from the row alone is made of: the loop over the table, reading,
   constants, operators, and jumps between them. Functions and comparisons are looked at. */
static const char *const plain_opcodes[] = {
    "Abortable",  "Add",       "Affinity",  "And",      "BitAnd",    "BitNot",
    "BitOr",      "Blob",      "Cast",      "Concat",   "Copy",      "Divide",
    "Explain",    "Goto",      "Halt",      "If",       "IfNot",     "IfNullRow",
    "Init",       "Int64",     "Integer",   "IsNull",   "IsTrue",    "Last",
    "Move",       "Multiply",  "Next",      "Noop",     "Not",       "NotNull",
    "Null",       "OpenRead",  "Or",        "Prev",     "Real",      "RealAffinity",
    "ReleaseReg", "Remainder", "ResultRow", "Rewind",   "SCopy",     "ShiftLeft",
    "ShiftRight", "String",    "String8",   "Subtract", "TableLock", "Transaction",
    "ZeroOrNull",
};

static const char *const comparisons[] = {
    "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "ElseEq", "ElseNotEq", "CollSeq",
};

static const char *const functions[] = {"Function", "Function0", "PureFunc", "PureFunc0"};

static bool is_among(const char *opcode, const char *const *list, size_t count)
{
    size_t i;

    for (i = 0; i < count && strcmp(opcode, list[i]) != 0; i++)
        ;
    return i < count;
}

#define IS_AMONG(opcode, list) is_among((opcode), (list), sizeof(list) / sizeof(list)[0])

static bool is_binary(const struct clr_vdbe_op *operation)
{
    char name[CLR_SEQUENCE_NAME];

    return clr_vdbe_op_sequence(operation, name) && strcmp(name, "BINARY") == 0;
}

/* Whether p4, as "abs(1)", is a function of SQLite's own, and the application has none of that name
   whatever its arguments: which of them is called is a matter of their number. */
static bool is_builtin(sqlite3 *db, const char *p4)
{
    const char *end = strrchr(p4, '(');
    char name[LONGEST_NAME];
    sqlite3_stmt *list = NULL;
    bool found = false, replaced = false;

    if (end == NULL || end == p4 || end - p4 >= LONGEST_NAME ||
        clr_statement_make(db, "PRAGMA function_list", 0, &list) != SQLITE_OK)
        return false;
    memcpy(name, p4, (size_t)(end - p4));
    name[end - p4] = '\0';
    while (sqlite3_step(list) == SQLITE_ROW) {
        const char *listed = (const char *)sqlite3_column_text(list, AT_NAME);
        if (listed == NULL || sqlite3_stricmp(listed, name) != 0)
            continue;
        if (sqlite3_column_int(list, AT_BUILTIN) != 0)
            found = true;
        else
            replaced = true;
    }
    return sqlite3_finalize(list) == SQLITE_OK && found && !replaced;
}

/* Takes the opening of a b-tree. */
static void take_open(struct clr_column_code *code, const struct clr_vdbe_op *operation,
                      int *opened)
{
    if (*operation->p4 == 'k')
        code->without_rowid = true; /* a key's description, where tables have a number of columns */
    code->root = ++*opened == 1 && operation->p2 > 0 ? (uint32_t)operation->p2 : 0;
}

/* Takes an operation of the code; reads counts those that read, and opened the b-trees. */
static void take(sqlite3 *db, struct clr_column_code *code, const struct clr_vdbe_op *operation,
                 int *reads, int *opened)
{
    const char *opcode = operation->opcode;

    if (strcmp(opcode, "Column") == 0 || strcmp(opcode, "Rowid") == 0) {
        code->index = *opcode == 'C' ? operation->p2 : (int)CLR_FIELD_ROWID;
        ++*reads;
    } else if (IS_AMONG(opcode, functions)) {
        code->has_calls = true;
        code->is_settled = code->is_settled && is_builtin(db, operation->p4);
    } else if (IS_AMONG(opcode, comparisons)) {
        code->is_settled = code->is_settled && is_binary(operation);
    } else if (!IS_AMONG(opcode, plain_opcodes)) {
        code->is_settled = false;
    } else if (strcmp(opcode, "OpenRead") == 0) {
        take_open(code, operation, opened);
    }
}

int clr_column_code_read(sqlite3 *db, const char *schema, const char *table, const char *column,
                         const char *index, struct clr_column_code *code)
{
    struct clr_bytecode program;
    int reads = 0, opened = 0, rc, i;

    if (index == NULL)
        rc = clr_bytecode_read(db, &program, "SELECT \"%w\" FROM \"%w\".\"%w\" NOT INDEXED", column,
                               schema, table);
    else
        rc = clr_bytecode_read(db, &program, "SELECT \"%w\" FROM \"%w\".\"%w\" INDEXED BY \"%w\"",
                               column, schema, table, index);
    *code = (struct clr_column_code){.index = CLR_NO_INDEX, .is_settled = true};
    for (i = 0; i < program.count; i++)
        take(db, code, &program.operations[i], &reads, &opened);
    clr_bytecode_free(&program);
    if (rc != SQLITE_OK || reads != 1)
        code->index = CLR_NO_INDEX;
    /* Nothing is read where an authorizer hides the column, or where there is none. */
    if (rc != SQLITE_OK || reads == 0)
        code->is_settled = false;
    return rc;
}
