#include "sqlite/view/select.h"

#include "base/float_environment.h"
#include "numeric/dictionary/dictionary.h"
#include "query/syntax/blank.h"
#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "query/syntax/word.h"
#include "sqlite/schema/schema_entries.h"
#include "sqlite/schema/select_columns.h"
#include "sqlite/schema/table_info.h"

#include <string.h>

static const char spaces[] = " \t\n\f\r";

/* Returns the text of the first statement that is not empty, or the text's end. */
static const char *skip_empty(const char *text)
{
    text = clr_blank_skip(text);
    while (*text == ';')
        text = clr_blank_skip(text + 1);
    return text;
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

    return clr_word_is(first, "pragma") || clr_word_is(first, "explain") ? other_statement : NULL;
}

/* Returns why the statement is none that a view can hold, or NULL. */
static const char *refuse(sqlite3_stmt *statement, const char *sql, const char *tail)
{
    const char *first = skip_empty(sql);

    if (statement == NULL)
        return "there is no SELECT";
    if (*skip_empty(tail) != '\0')
        return "a view holds one statement, and these are several";
    if (!clr_word_is(first, "select") && !clr_word_is(first, "with") &&
        !clr_word_is(first, "values"))
        return other_statement;
    if (!sqlite3_stmt_readonly(statement) || sqlite3_column_count(statement) == 0)
        return "a view holds a SELECT, and this statement writes";
    return NULL;
}

/* CREATE TABLE with the columns so far. Names and types of a schema stand in quotes there: unquoted
   they could end the column that they are of, and begin another one. */
struct declaration {
    sqlite3_str *text;
    struct clr_dictionary *names; /* in small letters: names differ by more than these */
    int *numbers;                 /* by code: the last one that was put behind the name */
};

/* Finds a name's code. Returns SQLITE_OK, with *is_new if no column had the name, or SQLITE_NOMEM.
 */
static int find_name(const struct declaration *declaration, const char *name, uint32_t *code,
                     bool *is_new)
{
    const uint32_t count = declaration->names->count;
    char *folded = sqlite3_mprintf("%s", name), *at;
    enum clr_code found = CLR_NOMEM;

    for (at = folded; at != NULL && *at != '\0'; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at + ('a' - 'A'));
    }
    if (folded != NULL)
        found = clr_dictionary_add_bytes(declaration->names, CLR_KIND_TEXT, folded, strlen(folded),
                                         code);
    sqlite3_free(folded);
    *is_new = declaration->names->count > count;
    return found == CLR_OK ? SQLITE_OK : SQLITE_NOMEM;
}

/* Adds a column; one of the same name as an earlier one gets a number, as in SQLite's views. */
static int declare(struct declaration *declaration, const char *name)
{
    const char *separator = declaration->names->count == 0 ? "" : ", ";
    char *numbered = NULL;
    uint32_t code, first;
    bool is_new;
    int rc = name == NULL ? SQLITE_NOMEM : find_name(declaration, name, &first, &is_new);

    while (rc == SQLITE_OK && !is_new) {
        sqlite3_free(numbered);
        numbered = sqlite3_mprintf("%s:%d", name, ++declaration->numbers[first]);
        rc = numbered == NULL ? SQLITE_NOMEM : find_name(declaration, numbered, &code, &is_new);
    }
    if (rc == SQLITE_OK)
        sqlite3_str_appendf(declaration->text, "%s\"%w\"", separator,
                            numbered == NULL ? name : numbered);
    sqlite3_free(numbered);
    return rc;
}

/*
 * Gives a column its declared type, or none. To SQLite a type in quotes is its text, by which it
 * chooses the affinity. The word HIDDEN alone would hide the column of a virtual table: such a type
 * becomes a name of its affinity.
 */
static void declare_type(struct declaration *declaration, const char *type)
{
    if (type != NULL && sqlite3_strlike("%hidden%", type, 0) == 0)
        sqlite3_str_appendall(declaration->text, clr_affinity_declaration(clr_affinity_of(type)));
    else if (type != NULL)
        sqlite3_str_appendf(declaration->text, " \"%w\"", type);
}

/* Lets a column compare as it would in an ordinary view of the SELECT, by another type if it must
   be. One without affinity is a column without a type. */
static void declare_comparison(struct declaration *declaration, const char *type,
                               const struct clr_comparison *comparison)
{
    static const char letters[] = {
        [CLR_AFFINITY_BLOB] = CLR_LETTER_BLOB,       [CLR_AFFINITY_TEXT] = CLR_LETTER_TEXT,
        [CLR_AFFINITY_ANY] = CLR_LETTER_NUMERIC,     [CLR_AFFINITY_NUMERIC] = CLR_LETTER_NUMERIC,
        [CLR_AFFINITY_INTEGER] = CLR_LETTER_INTEGER, [CLR_AFFINITY_REAL] = CLR_LETTER_REAL};
    static const char *const types[] = {" TEXT", " NUM", " INT", " REAL"};

    if (comparison->affinity == 0 || letters[clr_affinity_of(type)] == comparison->affinity)
        declare_type(declaration, type);
    else if (comparison->affinity >= CLR_LETTER_TEXT && comparison->affinity <= CLR_LETTER_REAL)
        sqlite3_str_appendall(declaration->text, types[comparison->affinity - CLR_LETTER_TEXT]);
    if (comparison->collation[0] != '\0' && sqlite3_stricmp(comparison->collation, "BINARY") != 0)
        sqlite3_str_appendf(declaration->text, " COLLATE \"%w\"", comparison->collation);
}

/* Columns of tables keep their declared types, by which drivers convert values. */
static int declare_columns(const struct clr_select *select, sqlite3_stmt *statement,
                           const struct clr_names *names, struct declaration *declaration)
{
    static const struct clr_comparison unknown = {.affinity = 0};
    struct clr_comparison *list = NULL;
    int rc = SQLITE_OK, i;

    if ((select->compares || select->view_name != NULL) &&
        clr_comparisons_read(statement, &list) == SQLITE_NOMEM)
        rc = SQLITE_NOMEM;
    for (i = 0; i < names->count && rc == SQLITE_OK; i++) {
        rc = declare(declaration, names->list[i]);
        declare_comparison(declaration, sqlite3_column_decltype(statement, i),
                           list == NULL ? &unknown : &list[i]);
    }
    sqlite3_free(list);
    return rc;
}

static int declare_parameters(sqlite3_stmt *statement, struct declaration *declaration)
{
    const int count = sqlite3_bind_parameter_count(statement);
    char number[16];
    int rc = SQLITE_OK, i;

    for (i = 1; i <= count && rc == SQLITE_OK; i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        sqlite3_snprintf(sizeof number, number, "?%d", i);
        if (name == NULL)
            name = number;
        rc = declare(declaration, name[0] == '?' ? name : name + 1);
        sqlite3_str_appendall(declaration->text, " HIDDEN");
    }
    return rc;
}

/* Makes the declaration, to be freed with sqlite3_free(). Returns SQLITE_OK or SQLITE_NOMEM. */
static int declare_all(const struct clr_select *select, sqlite3_stmt *statement, char **result)
{
    const sqlite3_uint64 size = (sqlite3_uint64)(sqlite3_column_count(statement) +
                                                 sqlite3_bind_parameter_count(statement)) *
                                sizeof(int);
    struct declaration declaration = {.text = sqlite3_str_new(NULL)};
    struct clr_names names;
    sqlite3_uint64 seed;
    int rc = clr_column_names_read(statement, &names);

    sqlite3_randomness(sizeof seed, &seed);
    declaration.names = clr_dictionary_new(seed, NULL);
    declaration.numbers = clr_sqlite_alloc_zero(size);
    sqlite3_str_appendall(declaration.text, "CREATE TABLE clreduce(");
    if (declaration.names == NULL || declaration.numbers == NULL)
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        rc = declare_columns(select, statement, &names, &declaration);
    if (rc == SQLITE_OK)
        rc = declare_parameters(statement, &declaration);
    sqlite3_str_appendall(declaration.text, ")");
    sqlite3_free(declaration.numbers);
    clr_dictionary_release(declaration.names);
    clr_names_free(&names);
    *result = sqlite3_str_finish(declaration.text);
    return *result == NULL ? SQLITE_NOMEM : rc;
}

/* Returns a name without its quotes, to be freed with sqlite3_free(); NULL without memory. */
static char *copy_name(const struct clr_token *token)
{
    char *name = sqlite3_malloc64(token->length + 1);

    if (name != NULL)
        clr_token_unquote(token, name);
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
        rc = clr_view_text_read(db, select->view_schema, select->view_name, NULL, &held);
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

/* A number of a parameter can be large in a short text: nothing is made by it that no table has. */
static int check_count(sqlite3 *db, const struct clr_select *select, char **error)
{
    const int most = sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1);

    if (select->column_count + select->parameter_count <= most)
        return SQLITE_OK;
    *error = sqlite3_mprintf("clreduce: a view has %d columns at most, one for each of the "
                             "SELECT's %d columns and one for each parameter up to ?%d: use fewer, "
                             "and number the parameters from ?1 on",
                             most, select->column_count, select->parameter_count);
    return *error == NULL ? SQLITE_NOMEM : SQLITE_ERROR;
}

int clr_select_read(sqlite3 *db, const char *argument, bool compares, struct clr_select *select,
                    char **error)
{
    sqlite3_stmt *statement = NULL;
    const char *tail, *refusal;
    int rc;

    memset(select, 0, sizeof *select);
    select->compares = compares;
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
        const char *first = clr_blank_skip(select->sql);
        size_t length = strlen(first);
        while (length > 0 && strchr(spaces, first[length - 1]) != NULL)
            length--;
        *error = sqlite3_mprintf("clreduce: %s: '%!.*s'", refusal, length < 60 ? (int)length : 60,
                                 first);
        rc = SQLITE_ERROR;
    } else {
        select->column_count = sqlite3_column_count(statement);
        select->parameter_count = sqlite3_bind_parameter_count(statement);
        rc = check_count(db, select, error);
        if (rc == SQLITE_OK)
            rc = find_view(db, select);
        if (rc == SQLITE_OK)
            rc = declare_all(select, statement, &select->declaration);
    }
    sqlite3_finalize(statement);
    if (rc != SQLITE_OK)
        clr_select_free(select);
    return rc;
}

/* Takes the SELECT alone, and one column that stands for its columns, of which nothing is known. */
static int read_unknown(const char *argument, struct clr_select *select, char **error)
{
    int rc;

    memset(select, 0, sizeof *select);
    rc = copy_inside(argument, select, error);
    if (rc == SQLITE_OK)
        select->declaration = sqlite3_mprintf("CREATE TABLE clreduce(unknown)");
    return rc == SQLITE_OK && select->declaration == NULL ? SQLITE_NOMEM : rc;
}

static int copy(const struct clr_select *from, struct clr_select *to)
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

int clr_select_keep(const char *argument, const struct clr_select *known, struct clr_select *select,
                    char **error)
{
    int rc;

    sqlite3_free(*error);
    *error = NULL;
    rc = known != NULL ? copy(known, select) : read_unknown(argument, select, error);
    if (rc != SQLITE_OK)
        clr_select_free(select);
    return rc;
}

void clr_select_free(struct clr_select *select)
{
    sqlite3_free(select->sql);
    sqlite3_free(select->declaration);
    sqlite3_free(select->view_schema);
    sqlite3_free(select->view_name);
    memset(select, 0, sizeof *select);
}
