#include "sqlite/views/select.h"

#include "base/float_environment.h"
#include "sqlite/schema/affinity.h"

#include <string.h>

static const char spaces[] = " \t\n\f\r", byte_order_mark[] = "\xef\xbb\xbf";

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the text behind spaces, comments and the marks of byte order that SQLite passes over. */
static const char *skip_blank(const char *text)
{
    for (;;) {
        text += strspn(text, spaces);
        if (strncmp(text, "--", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (strncmp(text, "/*", 2) == 0) {
            const char *end = strstr(text + 2, "*/");
            text = end == NULL ? text + strlen(text) : end + 2;
        } else if (strncmp(text, byte_order_mark, 3) == 0) {
            text += 3;
        } else {
            return text;
        }
    }
}

/* Returns the text of the first statement that is not empty, or the text's end. */
static const char *skip_empty(const char *text)
{
    text = skip_blank(text);
    while (*text == ';')
        text = skip_blank(text + 1);
    return text;
}

static int starts_with(const char *text, const char *word)
{
    size_t length = strlen(word);
    return sqlite3_strnicmp(text, word, (int)length) == 0 && !is_letter(text[length]);
}

/* Copies what is between the parentheses. */
static int copy_inside(const char *argument, struct clr_select *select, char **error)
{
    const char *start = argument + strspn(argument, spaces);
    size_t length = strlen(start);

    while (length > 0 && strchr(spaces, start[length - 1]) != NULL)
        length--;
    if (length < 2 || start[0] != '(' || start[length - 1] != ')') {
        *error = sqlite3_mprintf("clreduce: the argument must be a SELECT in parentheses, as in "
                                 "USING clreduce((SELECT ...)), not '%!.60s'",
                                 argument);
        return SQLITE_ERROR;
    }
    /* The newline ends a comment that the parenthesis ended. */
    select->sql = sqlite3_mprintf("%.*s\n", (int)length - 2, start + 1);
    return select->sql == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static const char other_statement[] = "a view holds a SELECT, and this is another statement";

/* Returns why the text must not even be prepared, or NULL: some PRAGMAs take effect by that. */
static const char *refuse_text(const char *sql)
{
    const char *first = skip_empty(sql);

    return starts_with(first, "PRAGMA") || starts_with(first, "EXPLAIN") ? other_statement : NULL;
}

/* Returns why the statement is none that a view can hold, or NULL. */
static const char *refuse(sqlite3_stmt *statement, const char *sql, const char *tail)
{
    const char *first = skip_empty(sql);

    if (statement == NULL)
        return "there is no SELECT";
    if (*skip_empty(tail) != '\0')
        return "a view holds one statement, and these are several";
    if (!starts_with(first, "SELECT") && !starts_with(first, "WITH") &&
        !starts_with(first, "VALUES"))
        return other_statement;
    if (!sqlite3_stmt_readonly(statement) || sqlite3_column_count(statement) == 0)
        return "a view holds a SELECT, and this statement writes";
    return NULL;
}

/* Adds a column; one of the same name as an earlier one gets a number, as in SQLite's views. */
static void declare(sqlite3_str *declaration, char **names, int count, const char *name,
                    const char *type)
{
    char *unique = sqlite3_mprintf("%s", name);
    int i, number = 0;

    for (i = 0; i < count && unique != NULL; i++) {
        if (names[i] != NULL && sqlite3_stricmp(names[i], unique) == 0) {
            sqlite3_free(unique);
            unique = sqlite3_mprintf("%s:%d", name, ++number);
            i = -1;
        }
    }
    names[count] = unique;
    sqlite3_str_appendf(declaration, "%s\"%w\"%s", count == 0 ? "" : ", ",
                        unique == NULL ? "" : unique, type);
}

static int declare_all(struct clr_select *select, sqlite3_stmt *statement)
{
    sqlite3_str *declaration = sqlite3_str_new(sqlite3_db_handle(statement));
    int i, count = select->column_count + select->parameter_count;
    char **names = sqlite3_malloc64((sqlite3_uint64)count * sizeof *names), number[16];
    int complete = names != NULL;

    sqlite3_str_appendall(declaration, "CREATE TABLE clreduce(");
    for (i = 0; i < select->column_count && names != NULL; i++) {
        const char *name = sqlite3_column_name(statement, i);
        declare(declaration, names, i, name == NULL ? "" : name,
                clr_affinity_declaration(clr_affinity_of(sqlite3_column_decltype(statement, i))));
        complete = complete && name != NULL && names[i] != NULL;
    }
    for (; i < count && names != NULL; i++) {
        int parameter = i - select->column_count + 1;
        const char *name = sqlite3_bind_parameter_name(statement, parameter);
        sqlite3_snprintf(sizeof number, number, "?%d", parameter);
        if (name == NULL)
            name = number;
        declare(declaration, names, i, name[0] == '?' ? name : name + 1, " HIDDEN");
        complete = complete && names[i] != NULL;
    }
    sqlite3_str_appendall(declaration, ")");
    for (i = 0; i < count && names != NULL; i++)
        sqlite3_free(names[i]);
    sqlite3_free(names);
    select->declaration = sqlite3_str_finish(declaration);
    return complete && select->declaration != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

int clr_select_prepare(sqlite3 *db, const struct clr_select *select, sqlite3_stmt **statement)
{
    const struct clr_float_environment before = clr_float_environment_begin();
    int rc = sqlite3_prepare_v3(db, select->sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);

    clr_float_environment_end(&before);
    return rc;
}

int clr_select_read(sqlite3 *db, const char *argument, struct clr_select *select, char **error)
{
    sqlite3_stmt *statement = NULL;
    const char *tail, *refusal;
    int rc;

    memset(select, 0, sizeof *select);
    rc = copy_inside(argument, select, error);
    if (rc != SQLITE_OK)
        return rc;
    refusal = refuse_text(select->sql);
    if (refusal == NULL)
        rc = sqlite3_prepare_v2(db, select->sql, -1, &statement, &tail);
    if (rc == SQLITE_OK && refusal == NULL)
        refusal = refuse(statement, select->sql, tail);
    if (rc != SQLITE_OK) {
        *error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    } else if (refusal != NULL) {
        *error = sqlite3_mprintf("clreduce: %s: '%!.60s'", refusal, skip_blank(select->sql));
        rc = SQLITE_ERROR;
    } else {
        select->column_count = sqlite3_column_count(statement);
        select->parameter_count = sqlite3_bind_parameter_count(statement);
        rc = declare_all(select, statement);
    }
    sqlite3_finalize(statement);
    if (rc != SQLITE_OK)
        clr_select_free(select);
    return rc;
}

int clr_select_copy(const struct clr_select *from, struct clr_select *to)
{
    *to = *from;
    to->sql = sqlite3_mprintf("%s", from->sql);
    to->declaration = sqlite3_mprintf("%s", from->declaration);
    return to->sql == NULL || to->declaration == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

void clr_select_free(struct clr_select *select)
{
    sqlite3_free(select->sql);
    sqlite3_free(select->declaration);
    memset(select, 0, sizeof *select);
}
