#include "sqlite/acceleration/select.h"

#include "base/float_environment.h"
#include "base/memory.h"
#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "sqlite/schema/affinity.h"
#include "sqlite/schema/comparison.h"
#include "sqlite/schema/view_text.h"

#include <string.h>

static const char spaces[] = " \t\n\f\r";

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the text of the first statement that is not empty, or the text's end. */
static const char *skip_empty(const char *text)
{
    text = clr_view_text_skip_blank(text);
    while (*text == ';')
        text = clr_view_text_skip_blank(text + 1);
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

/* Whether a type can be declared as it is: it is words with numbers behind them. A word HIDDEN
   would hide the column, and a keyword, which a type in quotes may have, begin a constraint. */
static bool is_plain_type(const char *type)
{
    const char *at, *end;

    if (type == NULL || *type == '\0')
        return false;
    for (at = type; *at != '\0'; at = end) {
        for (end = at; is_letter(*end); end++)
            ;
        if (sqlite3_strnicmp(at, "hidden", 6) == 0 || sqlite3_keyword_check(at, (int)(end - at)))
            return false;
        if (end == at && !(*at >= '0' && *at <= '9') && strchr(" (),", *at) == NULL)
            return false;
        end += end == at;
    }
    return true;
}

/* Declares a column of an ordinary view, which is to compare as it does there. */
static void declare_compared(sqlite3_str *declaration, const char *type,
                             const struct clr_comparison *comparison)
{
    static const char letters[] = {
        [CLR_AFFINITY_BLOB] = CLR_LETTER_BLOB,       [CLR_AFFINITY_TEXT] = CLR_LETTER_TEXT,
        [CLR_AFFINITY_ANY] = CLR_LETTER_NUMERIC,     [CLR_AFFINITY_NUMERIC] = CLR_LETTER_NUMERIC,
        [CLR_AFFINITY_INTEGER] = CLR_LETTER_INTEGER, [CLR_AFFINITY_REAL] = CLR_LETTER_REAL};
    static const char *const types[] = {" TEXT", " NUM", " INT", " REAL"};

    if (comparison->affinity == 0)
        sqlite3_str_appendall(declaration, clr_affinity_declaration(clr_affinity_of(type)));
    else if (is_plain_type(type) && letters[clr_affinity_of(type)] == comparison->affinity)
        sqlite3_str_appendf(declaration, " %s", type);
    else if (comparison->affinity >= CLR_LETTER_TEXT && comparison->affinity <= CLR_LETTER_REAL)
        sqlite3_str_appendall(declaration, types[comparison->affinity - CLR_LETTER_TEXT]);
    if (comparison->collation[0] != '\0' && sqlite3_stricmp(comparison->collation, "BINARY") != 0)
        sqlite3_str_appendf(declaration, " COLLATE \"%w\"", comparison->collation);
}

/* Declares the columns of the ordinary view that the SELECT reads. */
static int declare_view(const struct clr_select *select, sqlite3_stmt *statement,
                        sqlite3_str *declaration, char **names, int count)
{
    const sqlite3_uint64 size = (sqlite3_uint64)count * sizeof(struct clr_comparison);
    struct clr_comparison *list = sqlite3_malloc64(size);
    int rc = SQLITE_NOMEM, i;

    for (i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(statement, i);
        names[i] = name == NULL ? NULL : sqlite3_mprintf("%s", name);
    }
    if (list != NULL)
        rc = clr_comparisons_read(sqlite3_db_handle(statement), select->view_schema,
                                  select->view_name, (const char *const *)names, count, list);
    for (i = 0; i < count && rc != SQLITE_NOMEM; i++) {
        sqlite3_str_appendf(declaration, "%s\"%w\"", i == 0 ? "" : ", ",
                            names[i] == NULL ? "" : names[i]);
        declare_compared(declaration, sqlite3_column_decltype(statement, i), &list[i]);
    }
    sqlite3_free(list);
    return rc == SQLITE_NOMEM ? rc : SQLITE_OK;
}

/* Columns of tables keep their declared types, by which drivers convert values. */
static void declare_columns(sqlite3_stmt *statement, sqlite3_str *declaration, char **names,
                            int count)
{
    int i;

    for (i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(statement, i);
        const char *type = sqlite3_column_decltype(statement, i);
        char *own = is_plain_type(type) ? sqlite3_mprintf(" %s", type) : NULL;
        declare(declaration, names, i, name == NULL ? "" : name,
                own != NULL ? own : clr_affinity_declaration(clr_affinity_of(type)));
        sqlite3_free(own);
        if (name == NULL) {
            sqlite3_free(names[i]);
            names[i] = NULL;
        }
    }
}

static void declare_parameters(sqlite3_stmt *statement, sqlite3_str *declaration, char **names,
                               int columns)
{
    const int count = sqlite3_bind_parameter_count(statement);
    char number[16];
    int i;

    for (i = 1; i <= count; i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        sqlite3_snprintf(sizeof number, number, "?%d", i);
        if (name == NULL)
            name = number;
        declare(declaration, names, columns + i - 1, name[0] == '?' ? name : name + 1, " HIDDEN");
    }
}

/* Makes the declaration, to be freed with sqlite3_free(). Returns SQLITE_OK or SQLITE_NOMEM. */
static int declare_all(const struct clr_select *select, sqlite3_stmt *statement, char **result)
{
    const int columns = sqlite3_column_count(statement);
    const int count = columns + sqlite3_bind_parameter_count(statement);
    sqlite3_str *declaration = sqlite3_str_new(NULL);
    char **names = sqlite3_malloc64((sqlite3_uint64)count * sizeof *names);
    int rc = names == NULL ? SQLITE_NOMEM : SQLITE_OK, i;

    sqlite3_str_appendall(declaration, "CREATE TABLE clreduce(");
    if (names != NULL) {
        memset(names, 0, (size_t)count * sizeof *names);
        if (select->view_name != NULL)
            rc = declare_view(select, statement, declaration, names, columns);
        else
            declare_columns(statement, declaration, names, columns);
        declare_parameters(statement, declaration, names, columns);
    }
    sqlite3_str_appendall(declaration, ")");
    for (i = 0; i < count && names != NULL; i++) {
        if (names[i] == NULL)
            rc = SQLITE_NOMEM;
        sqlite3_free(names[i]);
    }
    sqlite3_free(names);
    *result = sqlite3_str_finish(declaration);
    return *result == NULL ? SQLITE_NOMEM : rc;
}

/* Returns a name without its quotes, to be freed with sqlite3_free(); NULL without memory. */
static char *copy_name(const struct clr_token *token)
{
    char *text = clr_token_name(token), *name = NULL;

    if (text != NULL)
        name = sqlite3_mprintf("%s", text);
    clr_memory_free(text);
    return name;
}

/* Finds out whether the SELECT is SELECT * FROM schema.view. Returns SQLITE_OK or SQLITE_NOMEM. */
static int find_view(sqlite3 *db, struct clr_select *select)
{
    static const int kinds[] = {CLR_T_SELECT, CLR_T_STAR, CLR_T_FROM, CLR_T_ID,
                                CLR_T_DOT,    CLR_T_ID,   0};
    enum { KINDS = sizeof kinds / sizeof kinds[0], SCHEMA = 3, NAME = 5 };
    struct clr_token tokens[KINDS];
    struct clr_reason reason;
    const char *at = select->sql;
    char *held = NULL;
    int rc = SQLITE_NOMEM, i;

    for (i = 0; i < KINDS; i++) {
        if (clr_lexer_next(&at, &tokens[i], &reason) != CLR_OK || tokens[i].kind != kinds[i])
            return SQLITE_OK;
    }
    select->view_schema = copy_name(&tokens[SCHEMA]);
    select->view_name = copy_name(&tokens[NAME]);
    if (select->view_schema != NULL && select->view_name != NULL)
        rc = clr_view_text_read(db, select->view_schema, select->view_name, &held);
    if (held == NULL) {
        sqlite3_free(select->view_schema);
        sqlite3_free(select->view_name);
        select->view_schema = select->view_name = NULL;
    }
    sqlite3_free(held);
    return rc;
}

int clr_select_check(const struct clr_select *select, sqlite3_stmt *statement)
{
    char *declaration = NULL;
    int rc = declare_all(select, statement, &declaration);

    if (rc == SQLITE_OK && strcmp(declaration, select->declaration) != 0)
        rc = SQLITE_MISMATCH;
    sqlite3_free(declaration);
    return rc;
}

int clr_select_check_now(sqlite3 *db, const struct clr_select *select)
{
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(db, select->sql, -1, &statement, NULL);

    if (rc == SQLITE_OK)
        rc = clr_select_check(select, statement);
    sqlite3_finalize(statement);
    return rc;
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
        const char *first = clr_view_text_skip_blank(select->sql);
        size_t length = strlen(first);
        while (length > 0 && strchr(spaces, first[length - 1]) != NULL)
            length--;
        *error = sqlite3_mprintf("clreduce: %s: '%!.*s'", refusal, length < 60 ? (int)length : 60,
                                 first);
        rc = SQLITE_ERROR;
    } else {
        select->column_count = sqlite3_column_count(statement);
        select->parameter_count = sqlite3_bind_parameter_count(statement);
        rc = find_view(db, select);
        if (rc == SQLITE_OK)
            rc = declare_all(select, statement, &select->declaration);
    }
    sqlite3_finalize(statement);
    if (rc != SQLITE_OK)
        clr_select_free(select);
    return rc;
}

int clr_select_read_unknown(const char *argument, struct clr_select *select, char **error)
{
    int rc;

    memset(select, 0, sizeof *select);
    rc = copy_inside(argument, select, error);
    if (rc == SQLITE_OK)
        select->declaration = sqlite3_mprintf("CREATE TABLE clreduce(unknown)");
    if (rc == SQLITE_OK && select->declaration == NULL)
        rc = SQLITE_NOMEM;
    if (rc != SQLITE_OK)
        clr_select_free(select);
    return rc;
}

int clr_select_copy(const struct clr_select *from, struct clr_select *to)
{
    *to = *from;
    to->sql = sqlite3_mprintf("%s", from->sql);
    to->declaration = sqlite3_mprintf("%s", from->declaration);
    to->view_schema = to->view_name = NULL;
    if (from->view_name != NULL) {
        to->view_schema = sqlite3_mprintf("%s", from->view_schema);
        to->view_name = sqlite3_mprintf("%s", from->view_name);
        if (to->view_schema == NULL || to->view_name == NULL)
            return SQLITE_NOMEM;
    }
    return to->sql == NULL || to->declaration == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

void clr_select_free(struct clr_select *select)
{
    sqlite3_free(select->sql);
    sqlite3_free(select->declaration);
    sqlite3_free(select->view_schema);
    sqlite3_free(select->view_name);
    memset(select, 0, sizeof *select);
}
