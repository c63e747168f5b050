#include "sqlite/schema/view_text.h"

#include "sqlite/schema/schema_entries.h"

#include <string.h>

static const char spaces[] = " \t\n\f\r", byte_order_mark[] = "\xef\xbb\xbf";

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || (unsigned char)c >= 0x80;
}

const char *clr_view_text_skip_blank(const char *text)
{
    const char *end;

    for (;;) {
        text += strspn(text, spaces);
        if (strncmp(text, "--", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (strncmp(text, "/*", 2) == 0) {
            end = strstr(text + 2, "*/");
            text = end == NULL ? text + strlen(text) : end + 2;
        } else if (strncmp(text, byte_order_mark, 3) == 0) {
            text += 3;
        } else {
            return text;
        }
    }
}

/* Returns the text behind a quote's end, where two closing quotes stand for one, except in
   brackets. */
static const char *skip_quoted(const char *text)
{
    const char closing = *text == '[' ? ']' : *text;

    text++;
    while (*text != '\0' && (*text != closing || (closing != ']' && text[1] == closing)))
        text += *text == closing ? 2 : 1;
    return *text == '\0' ? text : text + 1;
}

/* Returns the text behind the token that begins here, and blanks. */
static const char *skip_token(const char *text)
{
    if (*text != '\0' && strchr("\"'`[", *text) != NULL)
        text = skip_quoted(text);
    else if (is_name(*text))
        while (is_name(*text))
            text++;
    else
        text += *text != '\0';
    return clr_view_text_skip_blank(text);
}

/* Returns the text behind a word, in capitals or not, and blanks; NULL if it is another one. */
static const char *skip_word(const char *text, const char *word)
{
    const size_t length = strlen(word);

    if (sqlite3_strnicmp(text, word, (int)length) != 0 || is_name(text[length]))
        return NULL;
    return clr_view_text_skip_blank(text + length);
}

/* Returns the part of CREATE VIEW name [(columns)] AS select, as SQLite writes it into the schema,
   that is the SELECT, or NULL if the text is another one. */
static const char *find_select(const char *sql)
{
    const char *at = skip_word(sql, "CREATE");

    if (at != NULL)
        at = skip_word(at, "VIEW");
    if (at == NULL)
        return NULL;
    at = skip_token(at);
    if (*at == '(') {
        while (*at != '\0' && *at != ')')
            at = skip_token(at);
        at = skip_token(at);
    }
    return skip_word(at, "AS");
}

int clr_view_text_read(sqlite3 *db, const char *schema, const char *name, char **select)
{
    sqlite3_stmt *statement = NULL;
    const char *sql, *found;
    int rc;

    *select = NULL;
    if (sqlite3_stricmp(schema, "temp") == 0)
        return SQLITE_OK;
    rc = clr_schema_entries(db, schema, &statement);
    if (rc == SQLITE_OK &&
        clr_schema_entries_next(statement, CLR_SCHEMA_VIEW, CLR_SCHEMA_NAME, name)) {
        sql = (const char *)sqlite3_column_text(statement, CLR_SCHEMA_SQL);
        found = sql == NULL ? NULL : find_select(sql);
        if (found != NULL)
            *select = sqlite3_mprintf("%s", found);
        if (sql == NULL || (found != NULL && *select == NULL))
            rc = sqlite3_column_type(statement, CLR_SCHEMA_SQL) == SQLITE_NULL ? SQLITE_OK
                                                                               : SQLITE_NOMEM;
    }
    if (sqlite3_finalize(statement) == SQLITE_NOMEM)
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_NOMEM) {
        sqlite3_free(*select);
        *select = NULL;
        return rc;
    }
    return SQLITE_OK;
}
