#include "sqlite/schema/table_info.h"

#include "query/names/tables.h"
#include "sqlite/schema/functions.h"
#include "sqlite/schema/schema_entries.h"
#include "sqlite/session/statement.h"

#include <math.h>
#include <string.h>

/* ---- Types. */

enum clr_affinity clr_affinity_of(const char *type)
{
    static const enum clr_affinity affinities[] = {[CLR_CAST_TO_BLOB] = CLR_AFFINITY_BLOB,
                                                   [CLR_CAST_TO_TEXT] = CLR_AFFINITY_TEXT,
                                                   [CLR_CAST_TO_INTEGER] = CLR_AFFINITY_INTEGER,
                                                   [CLR_CAST_TO_REAL] = CLR_AFFINITY_REAL,
                                                   [CLR_CAST_TO_NUMERIC] = CLR_AFFINITY_NUMERIC};

    if (type == NULL)
        return CLR_AFFINITY_BLOB;
    if (sqlite3_stricmp(type, "ANY") == 0)
        return CLR_AFFINITY_ANY;
    return affinities[clr_cast_of(type, strlen(type))];
}

const char *clr_affinity_declaration(enum clr_affinity affinity)
{
    static const char *const types[] = {
        [CLR_AFFINITY_BLOB] = "",        [CLR_AFFINITY_TEXT] = " TEXT",
        [CLR_AFFINITY_ANY] = " NUM",     [CLR_AFFINITY_NUMERIC] = " NUM",
        [CLR_AFFINITY_INTEGER] = " INT", [CLR_AFFINITY_REAL] = " REAL"};

    return types[affinity];
}

/* ---- The code that reads a column. */

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
    "ZeroOrNull", NULL,
};

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
    struct clr_functions functions = {NULL, 0};
    char *name = sqlite3_mprintf("%.*s", end == NULL ? 0 : (int)(end - p4), p4);
    bool is_so = name != NULL && clr_functions_add(&functions, name) != NULL &&
                 clr_functions_read(db, &functions) && functions.list[0].is_builtin;

    clr_functions_free(&functions);
    sqlite3_free(name);
    return is_so;
}

/* Takes the opening of a b-tree. */
static void take_open(struct clr_column_code *code, const struct clr_vdbe_op *operation,
                      int *opened)
{
    if (*operation->p4 == 'k')
        code->without_rowid = true; /* a key's description, where tables have a number of columns */
    code->tree = ++*opened == 1 && operation->p2 > 0 ? clr_vdbe_op_tree(operation) : -1;
}

/* Takes an operation of the code; reads counts those that read, and opened the b-trees. */
static void take(sqlite3 *db, struct clr_column_code *code, const struct clr_vdbe_op *operation,
                 int *reads, int *opened)
{
    const bool is_column = clr_vdbe_op_is(operation, "Column");

    if (is_column || clr_vdbe_op_is(operation, "Rowid")) {
        code->index = is_column ? operation->p2 : (int)CLR_FIELD_ROWID;
        ++*reads;
    } else if (CLR_VDBE_OP_IN(operation, "Function", "Function0", "PureFunc", "PureFunc0")) {
        code->has_calls = true;
        code->is_settled = code->is_settled && is_builtin(db, operation->p4);
    } else if (CLR_VDBE_OP_IN(operation, "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "ElseEq", "ElseNotEq",
                              "CollSeq")) {
        code->is_settled = code->is_settled && is_binary(operation);
    } else if (!clr_text_in(operation->opcode, plain_opcodes)) {
        code->is_settled = false;
    } else if (clr_vdbe_op_is(operation, "OpenRead")) {
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
    *code = (struct clr_column_code){.tree = -1, .index = CLR_NO_INDEX, .is_settled = true};
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

/* ---- Tables. */

struct clr_scalar clr_scalar_of(sqlite3_value *value)
{
    struct clr_scalar scalar = {CLR_TAG_BYTES, 0};

    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        scalar.tag = CLR_TAG_INTEGER;
        scalar.bits = sqlite3_value_int64(value);
        break;
    case SQLITE_FLOAT:
        scalar.tag = CLR_TAG_REAL;
        scalar.bits = clr_bits_of(sqlite3_value_double(value));
        break;
    case SQLITE_NULL:
        scalar.tag = CLR_TAG_NULL;
        break;
    default:
        break;
    }
    return scalar;
}

/* Evaluates the text of a number as SQLite does, to be used as a literal. False: it is none. */
static bool read_literal(sqlite3 *db, const char *text, struct clr_scalar *value)
{
    const char *digits = text + (*text == '-' || *text == '+');
    char *sql;
    sqlite3_stmt *statement = NULL;
    bool found = false;

    if (!(*digits >= '0' && *digits <= '9') && *digits != '.')
        return false;
    sql = sqlite3_mprintf("SELECT %s", text);
    if (sql != NULL && strspn(digits, "0123456789.+-eExXabcdfABCDF") == strlen(digits) &&
        clr_statement_make(db, sql, 0, &statement) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        *value = clr_scalar_of(sqlite3_column_value(statement, 0));
        found = value->tag == CLR_TAG_INTEGER || value->tag == CLR_TAG_REAL;
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return found;
}

/*
 * Turns a REAL that is a whole number into that INTEGER. Returns false where doubles are too coarse
 * for that, or where versions of SQLite differ: since 3.46 a column without affinity keeps 5.0 and
 * -0.0 as they are. A column that may be without is taken for one.
 */
static bool make_whole(struct clr_scalar *value, enum clr_affinity affinity)
{
    const double real = clr_real_of(value->bits);

    if (real != floor(real))
        return true;
    if (fabs(real) >= 0x1p53 || affinity == CLR_AFFINITY_BLOB || affinity == CLR_AFFINITY_ANY ||
        (real == 0 && signbit(real)))
        return false;
    *value = (struct clr_scalar){CLR_TAG_INTEGER, (int64_t)real};
    return true;
}

/*
 * What a column is in records that are older than the column: its default, which SQLite keeps as
 * text and gives the column's affinity: for a NUMERIC one 5.0 is INTEGER 5. Of ALTER TABLE's
 * constant defaults those that are numbers or nothing are understood here.
 */
static struct clr_scalar missing_value(sqlite3 *db, const char *text, enum clr_affinity affinity)
{
    struct clr_scalar value = {CLR_TAG_NULL, 0};

    if (text == NULL || sqlite3_stricmp(text, "NULL") == 0)
        return value;
    /* Large hexadecimal ones are TEXT there. */
    if (strpbrk(text, "xX") != NULL || !read_literal(db, text, &value)) {
        bool is_string = text[0] == '\'' || text[0] == 'x' || text[0] == 'X';
        value.tag = is_string && affinity <= CLR_AFFINITY_TEXT ? CLR_TAG_BYTES : CLR_TAG_UNSURE;
        value.bits = 0;
    } else if (affinity == CLR_AFFINITY_TEXT) {
        value = (struct clr_scalar){CLR_TAG_BYTES, 0};
    } else if (value.tag == CLR_TAG_REAL && !make_whole(&value, affinity)) {
        value = (struct clr_scalar){CLR_TAG_UNSURE, 0};
    }
    return affinity == CLR_AFFINITY_REAL ? clr_scalar_to_real(value) : value;
}

/* The database that is asked, and whether it had no memory for an answer, or was locked, or
   interrupted. What it seems to have said since then is not to be believed: a table that is not
   found may be there. */
struct source {
    sqlite3 *db;
    bool nomem, failed;
};

/* Frees the text. NULL without memory for it; where that is an error, as an authorizer may say; or
   if the schema can't be read now. */
static sqlite3_stmt *prepare(struct source *source, char *sql)
{
    sqlite3_stmt *statement;
    const int rc = clr_statement_prepare_text(source->db, &statement, sql);

    if (rc == SQLITE_NOMEM)
        source->nomem = true;
    else if (rc != SQLITE_OK && rc != SQLITE_AUTH && (rc & 0xff) != SQLITE_ERROR)
        source->failed = true;
    return statement;
}

/* Takes note of how something has ended. */
static void finish(struct source *source, int rc)
{
    if (rc == SQLITE_NOMEM)
        source->nomem = true;
    else if (rc != SQLITE_OK)
        source->failed = true;
}

/* Finds a table or view by name in one schema. Returns whether it is there. */
static bool find_in(struct source *source, const char *schema, const char *name,
                    struct clr_table_info *info, struct clr_reason *reason)
{
    sqlite3_stmt *statement;
    bool found;

    if (clr_schema_entries(source->db, schema, &statement) == SQLITE_NOMEM)
        source->nomem = true;
    found =
        statement != NULL && clr_schema_entries_next(statement, CLR_SCHEMA_TABLE | CLR_SCHEMA_VIEW,
                                                     CLR_SCHEMA_NAME, name);
    if (found) {
        sqlite3_int64 root = sqlite3_column_int64(statement, CLR_SCHEMA_ROOT);
        if (clr_schema_entry_is_view(statement))
            clr_reason_set_name(reason, CLR_WHY_READS_VIEW, name, strlen(name));
        else if (root <= 0 || root > UINT32_MAX)
            clr_reason_set_name(reason, CLR_WHY_READS_VIRTUAL_TABLE, name, strlen(name));
        else
            info->root = (uint32_t)root;
        info->tree = -1;
        info->schema = sqlite3_mprintf("%s", schema);
        info->name = sqlite3_mprintf("%s", sqlite3_column_text(statement, CLR_SCHEMA_NAME));
        if (info->schema == NULL || info->name == NULL)
            source->nomem = true;
    }
    finish(source, sqlite3_finalize(statement));
    return found || source->nomem || source->failed;
}

/* Finds the index for the table's primary key: where there is one its one INTEGER column is no
   rowid. Returns whether there is, and stores its name, to be freed with sqlite3_free(). */
static bool find_key_index(struct source *source, const struct clr_table_info *info, char **name)
{
    sqlite3_stmt *statement = prepare(
        source, sqlite3_mprintf("PRAGMA \"%w\".index_list(\"%w\")", info->schema, info->name));
    bool found = statement == NULL;

    *name = NULL;
    while (!found && sqlite3_step(statement) == SQLITE_ROW) {
        const char *origin = (const char *)sqlite3_column_text(statement, 3);
        found = origin == NULL || strcmp(origin, "pk") == 0;
    }
    if (found && statement != NULL)
        *name = sqlite3_mprintf("%s", sqlite3_column_text(statement, 1));
    if (found && statement != NULL && *name == NULL)
        source->nomem = true;
    finish(source, sqlite3_finalize(statement));
    return found;
}

/* Whether code reads the b-tree that has the table's rows, which is noted then. */
static bool reads_rows(struct clr_table_info *info, const struct clr_column_code *code)
{
    if (code->tree < 0 || (uint32_t)code->tree != info->root)
        return false;
    info->tree = code->tree;
    return true;
}

/*
 * Finds out how a column can be read. From pages: if SQLite's own code reads just what we would,
 * that place in the record or the rowid, and not what an authorizer puts in its place. Else by
 * SQLite, if the value follows from the row. Where columns are in the records of a table WITHOUT
 * ROWID that code alone says, if it reads by the primary key.
 */
static void read_code(struct source *source, struct clr_table_info *info, const char *key_index,
                      struct clr_column_info *column)
{
    const char *schema = info->schema, *table = info->name;
    struct clr_column_code code, by_key;
    int rc = clr_column_code_read(source->db, schema, table, column->name, NULL, &code);

    column->loadable = code.is_settled;
    column->has_calls = code.has_calls;
    info->without_rowid = info->without_rowid || code.without_rowid;
    reads_rows(info, &code);
    if (code.without_rowid && column->is_stored && key_index != NULL) {
        rc = clr_column_code_read(source->db, schema, table, column->name, key_index, &by_key);
        column->readable = by_key.index >= 0 && reads_rows(info, &by_key);
        column->field.index = by_key.index;
    } else {
        column->readable =
            column->is_stored && !code.without_rowid && code.index == column->field.index;
    }
    if (rc == SQLITE_NOMEM)
        source->nomem = true;
}

/* Returns a column's declared type, or NULL. The pragma says "" where there is none, and also where
   the schema has "", which gives a column another affinity. */
static const char *find_type(struct source *source, const struct clr_table_info *info,
                             const char *column, const char *type)
{
    int rc;

    if (type == NULL || *type != '\0' || column == NULL)
        return type;
    rc = sqlite3_table_column_metadata(source->db, info->schema, info->name, column, &type, NULL,
                                       NULL, NULL, NULL);
    finish(source, rc);
    return rc == SQLITE_OK ? type : NULL;
}

/* PRAGMA table_xinfo: cid, name, type, notnull, dflt_value, pk, hidden. */
static void read_columns(struct source *source, struct clr_table_info *info)
{
    sqlite3_stmt *statement = prepare(
        source, sqlite3_mprintf("PRAGMA \"%w\".table_xinfo(\"%w\")", info->schema, info->name));
    int stored = 0, keys = 0, key = -1, i;
    char *key_index = NULL;

    while (statement != NULL && sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 1);
        const char *type =
            find_type(source, info, name, (const char *)sqlite3_column_text(statement, 2));
        enum clr_affinity affinity = clr_affinity_of(type);
        int hidden = sqlite3_column_int(statement, 6);
        struct clr_column_info *column;
        struct clr_column_info *columns = sqlite3_realloc64(
            info->columns, (sqlite3_uint64)(info->column_count + 2) * sizeof *info->columns);
        if (columns == NULL) {
            source->nomem = true;
            break;
        }
        info->columns = columns;
        column = &columns[info->column_count++];
        memset(column, 0, 2 * sizeof *column); /* and the rowid's, which comes last */
        column->name = sqlite3_mprintf("%s", name);
        column->is_text = affinity == CLR_AFFINITY_TEXT;
        column->field.is_real = affinity == CLR_AFFINITY_REAL;
        column->field.missing =
            missing_value(source->db, (const char *)sqlite3_column_text(statement, 4), affinity);
        column->field.never_null = sqlite3_column_int(statement, 3) != 0;
        column->is_stored = hidden != 2;
        column->field.index = hidden == 2 ? 0 : stored++;
        if (sqlite3_column_int(statement, 5) > 0) {
            keys++;
            key =
                type != NULL && sqlite3_stricmp(type, "INTEGER") == 0 ? info->column_count - 1 : -1;
        }
    }
    finish(source, sqlite3_finalize(statement));
    if (keys > 0 && !find_key_index(source, info, &key_index) && keys == 1 && key >= 0)
        info->columns[key].field.index = CLR_FIELD_ROWID;
    if (info->column_count == 0) {
        sqlite3_free(key_index);
        return;
    }
    info->columns[info->column_count].field.index = CLR_FIELD_ROWID;
    info->columns[info->column_count].name = sqlite3_mprintf("rowid");
    info->columns[info->column_count].is_stored = true;
    for (i = 0; i <= info->column_count && !source->nomem; i++) {
        struct clr_column_info *column = &info->columns[i];
        if (column->name == NULL)
            source->nomem = true;
        else
            read_code(source, info, key_index, column);
    }
    sqlite3_free(key_index);
    /* Its name may be another column's. */
    if (clr_table_info_find(info, "rowid") != info->column_count)
        info->columns[info->column_count].loadable = false;
}

int clr_table_info_read(sqlite3 *db, const char *schema, const char *name,
                        struct clr_table_info *info, struct clr_reason *reason)
{
    struct source source = {db, false, false};

    memset(info, 0, sizeof *info);
    clr_reason_set(reason, CLR_WHY_NONE);
    if (!find_in(&source, schema, name, info, reason))
        clr_reason_set_name(reason, CLR_WHY_NO_TABLE, name, strlen(name));
    if (reason->code == CLR_WHY_NONE && !source.nomem && !source.failed)
        read_columns(&source, info);
    if (source.failed)
        clr_reason_set(reason, CLR_WHY_SCHEMA_LOCKED);
    else if (reason->code == CLR_WHY_NONE && info->column_count == 0)
        clr_reason_set(reason, CLR_WHY_COLUMNS_UNREAD);
    if (reason->code == CLR_WHY_NONE && !source.nomem)
        return SQLITE_OK;
    clr_table_info_free(info);
    return source.nomem ? SQLITE_NOMEM : SQLITE_OK;
}

void clr_table_info_free(struct clr_table_info *info)
{
    int i;

    for (i = 0; info->columns != NULL && i <= info->column_count; i++)
        sqlite3_free(info->columns[i].name);
    sqlite3_free(info->columns);
    sqlite3_free(info->schema);
    sqlite3_free(info->name);
    memset(info, 0, sizeof *info);
}

int clr_table_info_find(const struct clr_table_info *info, const char *name)
{
    int i;

    for (i = 0; i < info->column_count; i++) {
        if (sqlite3_stricmp(info->columns[i].name, name) == 0)
            return i;
    }
    return clr_tables_name_rowid(name) ? info->column_count : -1;
}

sqlite3_int64 clr_last_rowid(sqlite3 *db, const char *schema, const char *name)
{
    sqlite3_stmt *statement;
    sqlite3_int64 last = 0;

    if (clr_statement_prepare(db, &statement, "SELECT max(rowid) FROM \"%w\".\"%w\"", schema,
                              name) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        last = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return last > 0 ? last : 0;
}

/* ---- Unique keys. */

/* The keys that are read so far. */
struct keys {
    struct clr_unique_key *list;
    int count;
};

/* Adds a key without columns. Returns NULL without memory. */
static struct clr_unique_key *add_key(struct keys *keys)
{
    struct clr_unique_key *list =
        sqlite3_realloc64(keys->list, ((sqlite3_uint64)keys->count + 1) * sizeof *list);

    if (list == NULL)
        return NULL;
    keys->list = list;
    memset(&list[keys->count], 0, sizeof *list);
    return &list[keys->count++];
}

static int add_rowid(const struct clr_table_info *table, struct keys *keys)
{
    int i;

    for (i = 0; i <= table->column_count && !table->without_rowid; i++) {
        struct clr_unique_key *key;

        if (i < table->column_count && table->columns[i].field.index != CLR_FIELD_ROWID)
            continue;
        key = add_key(keys);
        if (key == NULL)
            return SQLITE_NOMEM;
        key->count = 1;
        key->columns[0] = i;
        strcpy(key->collations[0], "BINARY");
    }
    return SQLITE_OK;
}

/* Adds the columns of an index, whose list PRAGMA index_xinfo gives. Returns whether it is a key
   that may be used. */
static bool take_columns(sqlite3_stmt *statement, const struct clr_table_info *table,
                         struct clr_unique_key *key)
{
    /* seqno, cid, name, desc, coll, key */
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(statement, 2);
        const char *collation = (const char *)sqlite3_column_text(statement, 4);

        if (sqlite3_column_int(statement, 5) == 0)
            continue;
        if (key->count == CLR_MOST_KEY_COLUMNS || name == NULL || collation == NULL ||
            strlen(collation) >= CLR_COLLATION_NAME)
            return false;
        key->columns[key->count] = clr_table_info_find(table, name);
        if (key->columns[key->count] < 0 || key->columns[key->count] >= table->column_count)
            return false;
        strcpy(key->collations[key->count++], collation);
    }
    return key->count > 0;
}

static int add_index(sqlite3 *db, const struct clr_table_info *table, const char *index,
                     struct keys *keys)
{
    struct clr_unique_key *key = add_key(keys);
    sqlite3_stmt *statement;
    int rc;

    if (key == NULL)
        return SQLITE_NOMEM;
    rc = clr_statement_prepare(db, &statement, "PRAGMA \"%w\".index_xinfo(\"%w\")", table->schema,
                               index);
    if (rc != SQLITE_OK || !take_columns(statement, table, key))
        keys->count--;
    return clr_statement_end(statement, rc);
}

int clr_unique_keys_read(sqlite3 *db, const struct clr_table_info *table,
                         struct clr_unique_key **list, int *count)
{
    struct keys keys = {.list = NULL};
    sqlite3_stmt *statement = NULL;
    int rc = add_rowid(table, &keys);

    if (rc == SQLITE_OK)
        rc = clr_statement_prepare(db, &statement, "PRAGMA \"%w\".index_list(\"%w\")",
                                   table->schema, table->name);
    /* seq, name, unique, origin, partial */
    while (rc == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        if (sqlite3_column_int(statement, 2) != 0 && sqlite3_column_int(statement, 4) == 0)
            rc = add_index(db, table, (const char *)sqlite3_column_text(statement, 1), &keys);
    }
    rc = clr_statement_end(statement, rc);
    if (rc != SQLITE_OK) {
        sqlite3_free(keys.list);
        keys = (struct keys){.list = NULL};
    }
    *list = keys.list;
    *count = keys.count;
    return rc;
}
