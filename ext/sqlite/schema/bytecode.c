#include "sqlite/schema/bytecode.h"

#include "numeric/values/bytes.h"
#include "sqlite/session/sql_value.h"
#include "sqlite/session/statement.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Columns of EXPLAIN. */
enum { AT_OPCODE = 1, AT_P1, AT_P2, AT_P3, AT_P4, AT_P5 };

/* Of p5: p2 is a register with the root page, and not that (OPFLAG_P2ISREG). */
enum { ROOT_IN_REGISTER = 0x10 };

/* p2 of what ends a program with an error (OE_Fail). */
enum { FAILS_IN_PART = 3 };

/* SQLite shows so many characters of a collating sequence's name at most. */
enum { MOST_SHOWN = 18 };

/* Older versions show p5 as two hexadecimal digits. */
static int read_flags(sqlite3_stmt *statement)
{
    const char *text = (const char *)sqlite3_column_text(statement, AT_P5);

    if (sqlite3_column_type(statement, AT_P5) == SQLITE_INTEGER)
        return sqlite3_column_int(statement, AT_P5);
    return text == NULL ? 0 : (int)strtol(text, NULL, 16);
}

static int take_row(struct clr_bytecode *program, sqlite3_stmt *statement)
{
    const char *opcode = (const char *)sqlite3_column_text(statement, AT_OPCODE);
    const char *p4 = (const char *)sqlite3_column_text(statement, AT_P4);
    const size_t size = opcode == NULL ? 0 : strlen(opcode) + 1;
    const size_t p4_size = p4 == NULL ? 1 : strlen(p4) + 1;
    struct clr_vdbe_op *operation, *grown;
    char *text = opcode == NULL ? NULL : sqlite3_malloc64(size + p4_size);

    if (text == NULL)
        return SQLITE_NOMEM;
    grown = sqlite3_realloc64(program->operations,
                              ((sqlite3_uint64)program->count + 1) * sizeof *grown);
    if (grown == NULL) {
        sqlite3_free(text);
        return SQLITE_NOMEM;
    }
    program->operations = grown;
    operation = &grown[program->count++];
    memcpy(text, opcode, size);
    memcpy(text + size, p4 == NULL ? "" : p4, p4_size);
    *operation = (struct clr_vdbe_op){.opcode = text,
                                      .p1 = sqlite3_column_int(statement, AT_P1),
                                      .p2 = sqlite3_column_int(statement, AT_P2),
                                      .p3 = sqlite3_column_int(statement, AT_P3),
                                      .p5 = read_flags(statement),
                                      .p4 = text + size};
    return SQLITE_OK;
}

/* Marks what a Once jumps over when it is met again. */
static void mark_once(struct clr_bytecode *program)
{
    int i, end = 0;

    for (i = 0; i < program->count; i++) {
        struct clr_vdbe_op *operation = &program->operations[i];

        operation->runs_once = i < end;
        if (clr_vdbe_op_is(operation, "Once") && operation->p2 > end)
            end = operation->p2;
    }
}

/* Reads the code that SQLite makes once the parameters have these values. */
static int read_bound(sqlite3 *db, struct clr_bytecode *program, const char *sql,
                      sqlite3_value *const *values, int count)
{
    sqlite3_stmt *statement;
    int rc = clr_statement_prepare(db, &statement, "EXPLAIN %s", sql);

    *program = (struct clr_bytecode){.count = 0};
    if (rc == SQLITE_OK)
        rc = clr_values_bind(statement, values, count);
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW)
        rc = take_row(program, statement);
    rc = clr_statement_end(statement, rc);
    if (rc != SQLITE_OK)
        clr_bytecode_free(program);
    mark_once(program);
    return rc;
}

/* The same as clr_bytecode_read(), with a list of arguments. */
static int read_formatted(sqlite3 *db, struct clr_bytecode *program, const char *format,
                          va_list arguments)
{
    char *text = sqlite3_vmprintf(format, arguments);
    int rc = SQLITE_NOMEM;

    *program = (struct clr_bytecode){.count = 0};
    if (text != NULL)
        rc = read_bound(db, program, text, NULL, 0);
    sqlite3_free(text);
    return rc;
}

int clr_bytecode_read(sqlite3 *db, struct clr_bytecode *program, const char *format, ...)
{
    va_list arguments;
    int rc;

    va_start(arguments, format);
    rc = read_formatted(db, program, format, arguments);
    va_end(arguments);
    return rc;
}

void clr_bytecode_free(struct clr_bytecode *program)
{
    while (program->count > 0)
        sqlite3_free((char *)program->operations[--program->count].opcode);
    sqlite3_free(program->operations);
    program->operations = NULL;
}

int clr_bytecode_databases(sqlite3 *db, struct clr_databases_read *read, const char *format, ...)
{
    struct clr_bytecode program;
    const struct clr_vdbe_op *operation = NULL;
    va_list arguments;
    int rc;

    va_start(arguments, format);
    rc = read_formatted(db, &program, format, arguments);
    va_end(arguments);
    *read = (struct clr_databases_read){.last = -1};
    while ((operation = CLR_BYTECODE_NEXT(&program, operation, "Transaction")) != NULL) {
        read->has_main = read->has_main || operation->p1 == 0;
        read->attached += operation->p1 > 1;
        if (operation->p1 > read->last)
            read->last = operation->p1;
    }
    clr_bytecode_free(&program);
    return rc;
}

/* Adds an operation, with these for its p2 and p3. */
static uint64_t add_operation(uint64_t hash, const struct clr_vdbe_op *operation, int p2, int p3)
{
    const int numbers[] = {operation->p1, p2, p3, operation->p5};
    const char *const parts[] = {operation->opcode, operation->p4, (const char *)numbers};
    int k;

    for (k = 0; k < 3; k++) {
        const struct clr_value value = {.kind = CLR_KIND_TEXT,
                                        .as.size = k < 2 ? strlen(parts[k]) : sizeof numbers,
                                        .bytes = parts[k]};
        hash = clr_bytes_hash(&value, hash);
    }
    return hash;
}

/* Of a b-tree that is opened p2 is the root page; by p3 it names the database, which has another
   number in another connection, and so has a transaction. Of a virtual table p4 is an address. */
uint64_t clr_bytecode_hash_program(const struct clr_bytecode *program, bool with_databases)
{
    const struct clr_vdbe_op *operation;
    uint64_t hash = 1;

    for (operation = program->operations; operation < clr_bytecode_end(program); operation++) {
        const bool hides = !with_databases && clr_vdbe_op_is(operation, "OpenRead");
        struct clr_vdbe_op named = *operation;

        if (clr_vdbe_op_is(operation, "VOpen"))
            named.p4 = "";

        if (!clr_vdbe_op_is(operation, "Transaction"))
            hash = add_operation(hash, &named, operation->p2, hides ? 0 : operation->p3);
    }
    return hash;
}

uint64_t clr_bytecode_hash(sqlite3 *db, const char *sql, bool with_databases)
{
    struct clr_bytecode program;
    const bool is_read = clr_bytecode_read(db, &program, "%s", sql) == SQLITE_OK;
    const uint64_t hash = is_read ? clr_bytecode_hash_program(&program, with_databases) : 0;

    clr_bytecode_free(&program);
    return hash;
}

/* Of operations that open no b-tree p2 is an address, which may be another one. */
uint64_t clr_bytecode_hash_moves(sqlite3 *db, const char *sql, sqlite3_value *const *values,
                                 int count)
{
    struct clr_bytecode program;
    uint64_t hash = read_bound(db, &program, sql, values, count) == SQLITE_OK ? 1 : 0;
    const struct clr_vdbe_op *operation = NULL;

    while ((operation = CLR_BYTECODE_NEXT(&program, operation, CLR_VDBE_MOVES, CLR_VDBE_OPENS,
                                          "OpenEphemeral", "OpenDup", "VOpen", "IdxGE", "IdxGT",
                                          "IdxLE", "IdxLT", "VNext", "VFilter", "SorterNext")) !=
           NULL) {
        const bool opens = clr_vdbe_op_is(operation, "OpenRead");

        hash = add_operation(hash, operation, opens ? operation->p2 : 0, opens ? operation->p3 : 0);
    }
    clr_bytecode_free(&program);
    return hash;
}

bool clr_vdbe_op_is(const struct clr_vdbe_op *operation, const char *opcode)
{
    return strcmp(operation->opcode, opcode) == 0;
}

/* SQLite shows "NOCASE-8", with the encoding behind the name, or, before 3.37, "(NOCASE)". */
bool clr_vdbe_op_sequence(const struct clr_vdbe_op *operation, char name[CLR_SEQUENCE_NAME])
{
    static const char *const ends[] = {"-8", "-16LE", "-16BE", ")"};
    const char *p4 = *operation->p4 == '\0' ? "BINARY-8" : operation->p4;
    size_t length, i;

    p4 += *p4 == '(';
    length = strlen(p4);
    for (i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const size_t end = strlen(ends[i]);

        if (length <= end || strcmp(p4 + length - end, ends[i]) != 0)
            continue;
        length -= end;
        if (length >= MOST_SHOWN)
            return false;
        memcpy(name, p4, length);
        name[length] = '\0';
        return true;
    }
    return false;
}

/* Whether a program may name a sequence, in p4, which older versions cut short where it has a list.
 */
static bool may_name(const struct clr_bytecode *program, const char *sequence)
{
    const size_t length = strlen(sequence);
    const char *p4;
    int i;

    for (i = 0; i < program->count; i++) {
        for (p4 = program->operations[i].p4; *p4 != '\0'; p4++) {
            if (sqlite3_strnicmp(p4, sequence, length < MOST_SHOWN ? (int)length : MOST_SHOWN) == 0)
                return true;
        }
        if (strncmp(program->operations[i].p4, "k(", 2) == 0 && p4[-1] != ')')
            return true;
    }
    return false;
}

/* Whether BINARY is SQLite's, as far as a few comparisons tell: an application may have its own,
   which may mind no case, or the rules of a language. */
static bool has_binary(sqlite3 *db)
{
    static const char text[] = "SELECT min(column1 COLLATE BINARY < column2) FROM (VALUES ('a', "
                               "'b'), ('B', 'a'), ('Z', '_'),"
                               " ('10', '9'), ('a', 'a '), ('z', char(233)), ('A', 'a'))";
    sqlite3_stmt *statement;
    const int rc = clr_statement_make(db, text, 0, &statement);
    const bool has = rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW &&
                     sqlite3_column_int(statement, 0) == 1;

    return clr_statement_end(statement, rc) == SQLITE_OK && has;
}

/* Whether a program compares by a sequence. */
static bool has_sequence(const struct clr_bytecode *program)
{
    const struct clr_vdbe_op *operation = program->operations;

    while (operation < clr_bytecode_end(program) && strncmp(operation->p4, "k(", 2) != 0 &&
           !CLR_VDBE_OP_IN(operation, "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "CollSeq"))
        operation++;
    return operation < clr_bytecode_end(program);
}

bool clr_sequences_are_binary(sqlite3 *db, const struct clr_bytecode *program)
{
    sqlite3_stmt *list = NULL;
    bool are = true;
    int rc;

    if (!has_sequence(program))
        return true;
    rc = clr_statement_make(db, "PRAGMA collation_list", 0, &list);

    while (rc == SQLITE_OK && are && sqlite3_step(list) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(list, 1);

        are = name != NULL && (sqlite3_stricmp(name, "BINARY") == 0 || !may_name(program, name));
    }
    return clr_statement_end(list, rc) == SQLITE_OK && are && has_binary(db);
}

const struct clr_vdbe_op *clr_bytecode_next(const struct clr_bytecode *program,
                                            const struct clr_vdbe_op *behind,
                                            const char *const *opcodes)
{
    const struct clr_vdbe_op *next = behind == NULL ? program->operations : behind + 1;

    while (next < clr_bytecode_end(program) && !clr_text_in(next->opcode, opcodes))
        next++;
    return next < clr_bytecode_end(program) ? next : NULL;
}

int clr_bytecode_count(const struct clr_bytecode *program, const char *opcode)
{
    const struct clr_vdbe_op *operation = NULL;
    int count = 0;

    while ((operation = CLR_BYTECODE_NEXT(program, operation, opcode)) != NULL)
        count++;
    return count;
}

/* ---- What a statement that writes leaves alone. */

/* Whether a program writes to the b-tree with that root page in a database, by its number: to its
   rows, or by taking all of them away. */
static bool writes_to(const struct clr_bytecode *program, int database, uint32_t root)
{
    const struct clr_vdbe_op *operation = NULL;

    while ((operation = CLR_BYTECODE_NEXT(program, operation, "OpenWrite", "Clear")) != NULL) {
        const bool clears = clr_vdbe_op_is(operation, "Clear");

        if ((clears || (operation->p5 & ROOT_IN_REGISTER) == 0) &&
            (clears ? operation->p2 : operation->p3) == database &&
            (uint32_t)(clears ? operation->p1 : operation->p2) == root)
            return true;
    }
    return false;
}

/* Whether an operation runs a statement, unless that checks the table that has just been made, as
   CREATE TABLE has it in SQLite 3.45. */
static bool runs_statement(const struct clr_vdbe_op *operation)
{
    return clr_vdbe_op_is(operation, "SqlExec") &&
           (strncmp(operation->p4, "PRAGMA ", strlen("PRAGMA ")) != 0 ||
            strstr(operation->p4, ".integrity_check(") == NULL);
}

/* Whether a program writes but by cursors that it opens for that, or leaves rows behind where it
   fails (OR FAIL). */
static bool writes_otherwise(const struct clr_bytecode *program)
{
    const struct clr_vdbe_op *operation;
    bool makes = false;

    for (operation = program->operations; operation < clr_bytecode_end(program); operation++) {
        makes = makes || clr_vdbe_op_is(operation, "CreateBtree");
        if (CLR_VDBE_OP_IN(operation, "Halt", "HaltIfNull") && operation->p2 == FAILS_IN_PART)
            return true;
        if (CLR_VDBE_OP_IN(operation, "Destroy", "VUpdate", "VCreate", "VDestroy", "VRename",
                           "Vacuum", "IncrVacuum", "JournalMode", "Checkpoint", "AutoCommit",
                           "Savepoint") ||
            runs_statement(operation) ||
            (clr_vdbe_op_is(operation, "OpenWrite") && (operation->p5 & ROOT_IN_REGISTER) != 0 &&
             !makes))
            return true;
    }
    return false;
}

/*
 * Whether a program that writes leaves alone the b-trees that another one reads, and those of main
 * with these root pages, count of them: it may write rows of the b-trees that it opens, in its
 * triggers and by foreign keys too, and make a table. False for one that may write in other ways,
 * or leave rows behind where it fails, and if the other one reads a virtual table.
 */
static bool spares(const struct clr_bytecode *writing, const struct clr_bytecode *reading,
                   const uint32_t *roots, int count)
{
    const struct clr_vdbe_op *operation = NULL;
    int i;

    if (writes_otherwise(writing) || clr_bytecode_count(reading, "VOpen") > 0)
        return false;
    while ((operation = CLR_BYTECODE_NEXT(reading, operation, "OpenRead", "ReopenIdx")) != NULL) {
        if (writes_to(writing, operation->p3, (uint32_t)operation->p2))
            return false;
    }
    for (i = 0; i < count; i++) {
        if (writes_to(writing, 0, roots[i]))
            return false;
    }
    return true;
}

/* What a connection was promised. */
struct promise {
    struct clr_attachment attachment;
    char *sql;   /* NULL: nothing */
    int changes; /* sqlite3_total_changes() then */
};

static void free_promise(struct clr_connection *connection, void *promise)
{
    (void)connection;
    sqlite3_free(((struct promise *)promise)->sql);
}

static const struct clr_attachment_kind promise_kind = {sizeof(struct promise), free_promise};

/* Whether the transaction had written nothing before the statement of that text, which runs. */
static bool is_first(const struct clr_connection *connection, const char *sql)
{
    const struct promise *promise = clr_connection_find(connection, &promise_kind);

    if (promise == NULL || promise->sql == NULL || strcmp(promise->sql, sql) != 0)
        return sqlite3_get_autocommit(connection->db);
    return promise->changes == sqlite3_total_changes(connection->db);
}

/* Returns the text of the statement that writes, if it is all that the transaction has written by;
   NULL if that is not known. */
static const char *find_writer(const struct clr_connection *connection)
{
    sqlite3 *db = connection->db;
    sqlite3_stmt *writer = clr_next_writing(db, NULL);
    /* A blob handle is a statement without a text. */
    const char *sql = writer == NULL ? NULL : sqlite3_sql(writer);

    if (sql == NULL || sqlite3_column_count(writer) > 0 || clr_next_writing(db, writer) != NULL)
        return NULL;
    return is_first(connection, sql) ? sql : NULL;
}

bool clr_sole_writer_spares(struct clr_connection *connection, const char *select,
                            const uint32_t *roots, int count)
{
    struct clr_bytecode writing = {.count = 0}, reading = {.count = 0};
    const char *writer = find_writer(connection);
    bool spared = writer != NULL &&
                  clr_bytecode_read(connection->db, &writing, "%s", writer) == SQLITE_OK &&
                  clr_bytecode_read(connection->db, &reading, "%s", select) == SQLITE_OK &&
                  spares(&writing, &reading, roots, count);

    clr_bytecode_free(&writing);
    clr_bytecode_free(&reading);
    return spared;
}

void clr_sole_writer_promise(struct clr_connection *connection, const char *sql)
{
    struct promise *promise = clr_connection_attach(connection, &promise_kind);

    if (promise == NULL)
        return;
    sqlite3_free(promise->sql);
    promise->sql = sql == NULL ? NULL : sqlite3_mprintf("%s", sql);
    promise->changes = sqlite3_total_changes(connection->db);
}

/* ---- Whether rows stay in their order when SELECTs are read from elsewhere. */

/* Whether an operation moves a cursor, or has a subquery give its next row. */
static bool moves(const struct clr_vdbe_op *operation)
{
    return CLR_VDBE_OP_IN(operation, CLR_VDBE_MOVES, "Yield", "NullRow");
}

/* Lists the operations that move cursors but for those in subqueries, whose code runs once, or as a
   coroutine. An index that is made of one runs once, too, and tells which source it stands for.
   list has room for the program's count. Returns how many there are. */
static int list_moves(const struct clr_bytecode *program, const struct clr_vdbe_op **list)
{
    int count = 0, end = 0, index_end = 0, i;

    for (i = 0; i < program->count; i++) {
        const struct clr_vdbe_op *operation = &program->operations[i];

        if (clr_vdbe_op_is(operation, "InitCoroutine") && operation->p2 > end)
            end = operation->p2;
        if (i > 0 && clr_vdbe_op_is(operation, "OpenAutoindex") &&
            clr_vdbe_op_is(operation - 1, "Once"))
            index_end = operation[-1].p2;
        if (i >= end && (!operation->runs_once || i < index_end) && moves(operation))
            list[count++] = operation;
    }
    return count;
}

/* Returns how many operations of a list have a cursor with a lower number, which is that of a
   source further ahead in FROM; subqueries have registers, which are numbered alike. */
static int count_lower(const struct clr_vdbe_op *const *list, int count,
                       const struct clr_vdbe_op *operation)
{
    const bool yields = clr_vdbe_op_is(operation, "Yield");
    int lower = 0, i;

    for (i = 0; i < count; i++)
        lower += clr_vdbe_op_is(list[i], "Yield") == yields && list[i]->p1 < operation->p1;
    return lower;
}

/*
 * Whether two programs go over the rows of FROM's tables and subqueries in the same loops: each
 * subquery counts as one source in both, however it comes by its rows. False without memory.
 */
static bool join_alike(const struct clr_bytecode *a, const struct clr_bytecode *b)
{
    const sqlite3_uint64 most = (sqlite3_uint64)(a->count > b->count ? a->count : b->count) + 1;
    const struct clr_vdbe_op **x = sqlite3_malloc64(2 * most * sizeof *x), **y;
    int count, i;
    bool are = x != NULL;

    if (are) {
        y = x + most;
        count = list_moves(a, x);
        are = list_moves(b, y) == count;
        for (i = 0; i < count && are; i++)
            are = strcmp(x[i]->opcode, y[i]->opcode) == 0 &&
                  count_lower(x, count, x[i]) == count_lower(y, count, y[i]);
    }
    sqlite3_free(x);
    return are;
}

/*
 * Whether a program compares the rows of compounds by the collating sequence BINARY alone. p4 is
 * "k(2,-B,)": BINARY is B, and without a name where keys need not be told apart. Compounds compare
 * rows in a table of their own, or as they leave sorters.
 */
static bool sets_are_binary(const struct clr_bytecode *program)
{
    const struct clr_vdbe_op *operation = NULL;

    while ((operation = CLR_BYTECODE_NEXT(program, operation, "OpenEphemeral", "Compare")) !=
           NULL) {
        if (operation->p4[0] == 'k' &&
            operation->p4[strspn(operation->p4, "k(0123456789,-N.B)")] != '\0')
            return false;
    }
    return true;
}

/* The b-trees that programs open. What sorts has none: sorters, and ephemeral tables of keys, are
   0, and indexes for a run -1. */
struct trees {
    int count;
    int64_t *list;
};

static int compare_trees(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

/* Adds the b-trees of a program. Returns SQLITE_OK or SQLITE_NOMEM. */
static int add_trees(const struct clr_bytecode *program, struct trees *trees)
{
    const struct clr_vdbe_op *operation = program->operations;
    int64_t *grown;

    grown = sqlite3_realloc64(trees->list,
                              (sqlite3_uint64)(trees->count + program->count + 1) * sizeof *grown);
    for (; operation < clr_bytecode_end(program) && grown != NULL; operation++) {
        if (CLR_VDBE_OP_IN(operation, "OpenRead", "ReopenIdx"))
            grown[trees->count++] = clr_vdbe_op_tree(operation);
        else if (clr_vdbe_op_is(operation, "OpenAutoindex"))
            grown[trees->count++] = -1;
        else if (clr_vdbe_op_is(operation, "SorterOpen") ||
                 (clr_vdbe_op_is(operation, "OpenEphemeral") && operation->p4[0] == 'k'))
            grown[trees->count++] = 0;
    }
    if (grown != NULL)
        trees->list = grown;
    return grown == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static bool are_equal(struct trees *a, struct trees *b)
{
    if (a->count != b->count)
        return false;
    qsort(a->list, (size_t)a->count, sizeof *a->list, compare_trees);
    qsort(b->list, (size_t)b->count, sizeof *b->list, compare_trees);
    return memcmp(a->list, b->list, (size_t)a->count * sizeof *a->list) == 0;
}

/* Whether the names in compounds' ORDER BY are those of the same columns: a name that is none of an
   arm's columns may be a column of its table. By permutations a compound's rows are compared: they
   say which columns the terms are. */
static bool are_ordered_alike(const struct clr_bytecode *a, const struct clr_bytecode *b)
{
    const struct clr_vdbe_op *x = NULL, *y = NULL;

    do {
        x = CLR_BYTECODE_NEXT(a, x, "Permutation");
        y = CLR_BYTECODE_NEXT(b, y, "Permutation");
    } while (x != NULL && y != NULL && strcmp(x->p4, y->p4) == 0);
    return x == NULL && y == NULL;
}

/* Whether a program reads all columns of the virtual tables, and those that the statement's own
   does: from 3.39 on SQLite has NULLs in the place of a subquery's columns that nothing reads,
   unless that groups, and an automatic index is in the order of such a column, too. */
static bool are_all_read(int columns, const struct clr_bytecode *plain,
                         const struct clr_bytecode *other)
{
    return clr_bytecode_count(other, "VColumn") >= clr_bytecode_count(plain, "VColumn") + columns;
}

/* Returns the next text that is the definition of a new table, as CLR_BYTECODE_NEXT() does. */
static const struct clr_vdbe_op *next_definition(const struct clr_bytecode *program,
                                                 const struct clr_vdbe_op *behind)
{
    static const char begin[] = "CREATE TABLE ";

    do
        behind = CLR_BYTECODE_NEXT(program, behind, "String8");
    while (behind != NULL && strncmp(behind->p4, begin, sizeof begin - 1) != 0);
    return behind;
}

/* Whether two programs that write find the rows which they change in the same way, and make the
   same table: SQLite writes the definition of one that a SELECT fills. */
static bool write_alike(const struct clr_bytecode *a, const struct clr_bytecode *b)
{
    const struct clr_vdbe_op *x = NULL, *y = NULL;

    do {
        x = next_definition(a, x);
        y = next_definition(b, y);
    } while (x != NULL && y != NULL && strcmp(x->p4, y->p4) == 0);
    return x == NULL && y == NULL && join_alike(a, b);
}

int clr_same_order(sqlite3 *db, const char *plain, const char *changed,
                   const struct clr_replaced *replaced)
{
    struct trees before = {.list = NULL}, after = {.list = NULL};
    struct clr_bytecode program = {.count = 0}, other = {.count = 0}, own;
    int rc = clr_bytecode_read(db, &program, "%s", plain), i;

    if (rc == SQLITE_OK)
        rc = clr_bytecode_read(db, &other, "%s", changed);
    if (rc == SQLITE_OK)
        rc = add_trees(&program, &before);
    if (rc == SQLITE_OK)
        rc = add_trees(&other, &after);
    for (i = 0; i < replaced->count && rc == SQLITE_OK; i++) {
        rc = clr_bytecode_read(db, &own, "%s", replaced->selects[i]);
        if (rc == SQLITE_OK && replaced->are_written && !spares(&other, &own, NULL, 0))
            rc = SQLITE_NOTFOUND;
        if (rc == SQLITE_OK)
            rc = add_trees(&own, &after);
        clr_bytecode_free(&own);
    }
    if (rc == SQLITE_OK &&
        (!are_equal(&before, &after) ||
         (replaced->are_joined &&
          !(are_all_read(replaced->columns, &program, &other) && join_alike(&program, &other))) ||
         (replaced->are_written && !write_alike(&program, &other)) ||
         (replaced->are_named && !are_ordered_alike(&program, &other)) ||
         (replaced->are_sets && !sets_are_binary(&program))))
        rc = SQLITE_NOTFOUND;
    clr_bytecode_free(&program);
    clr_bytecode_free(&other);
    sqlite3_free(before.list);
    sqlite3_free(after.list);
    return rc == SQLITE_OK || rc == SQLITE_NOMEM ? rc : SQLITE_NOTFOUND;
}
