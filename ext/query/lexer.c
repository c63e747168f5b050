#include "query/lexer.h"

#include "base/memory.h"
#include "query/grammar.h"

#include <string.h>

/* Of C's <ctype.h>, but of ASCII alone whatever the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool is_hex(char c)
{
    return is_digit(c) || (upper(c) >= 'A' && upper(c) <= 'F');
}

static bool is_name_start(char c)
{
    return (upper(c) >= 'A' && upper(c) <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c) || c == '$';
}

/* A vertical tab is white space to some of SQLite's versions in some places, so to us never. */
static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/*
 * All words that SQLite does not read as an identifier wherever one can stand in the grammar. Those
 * without a kind are refused, with a reason if the word itself does not say enough.
 */
static const struct {
    const char *word;
    int kind;
    const char *reason;
} keywords[] = {
    {"AND", CLR_T_AND, NULL},
    {"AS", CLR_T_AS, NULL},
    {"BETWEEN", CLR_T_BETWEEN, NULL},
    {"CASE", CLR_T_CASE, NULL},
    {"ELSE", CLR_T_ELSE, NULL},
    {"END", CLR_T_END, NULL},
    {"FILTER", CLR_T_FILTER, NULL},
    {"FROM", CLR_T_FROM, NULL},
    {"IN", CLR_T_IN, NULL},
    {"IS", CLR_T_IS, NULL},
    {"ISNULL", CLR_T_ISNULL, NULL},
    {"NOT", CLR_T_NOT, NULL},
    {"NOTNULL", CLR_T_NOTNULL, NULL},
    {"NULL", CLR_T_NULL, NULL},
    {"OR", CLR_T_OR, NULL},
    {"SELECT", CLR_T_SELECT, NULL},
    {"THEN", CLR_T_THEN, NULL},
    {"WHEN", CLR_T_WHEN, NULL},
    {"WHERE", CLR_T_WHERE, NULL},
    {"ADD", 0, NULL},
    {"ALL", 0, NULL},
    {"ALTER", 0, NULL},
    {"AUTOINCREMENT", 0, NULL},
    {"CAST", 0, NULL},
    {"CHECK", 0, NULL},
    {"COLLATE", 0, NULL},
    {"COMMIT", 0, NULL},
    {"CONSTRAINT", 0, NULL},
    {"CREATE", 0, NULL},
    {"CROSS", 0, "a join"},
    {"CURRENT_DATE", 0, NULL},
    {"CURRENT_TIME", 0, NULL},
    {"CURRENT_TIMESTAMP", 0, NULL},
    {"DEFAULT", 0, NULL},
    {"DEFERRABLE", 0, NULL},
    {"DELETE", 0, NULL},
    {"DISTINCT", 0, NULL},
    {"DROP", 0, NULL},
    {"ESCAPE", 0, NULL},
    {"EXCEPT", 0, NULL},
    {"EXISTS", 0, NULL},
    {"FALSE", 0, NULL},
    {"FOREIGN", 0, NULL},
    {"FULL", 0, "a join"},
    {"GLOB", 0, NULL},
    {"GROUP", 0, "GROUP BY"},
    {"HAVING", 0, NULL},
    {"INDEX", 0, NULL},
    {"INDEXED", 0, "INDEXED BY"},
    {"INNER", 0, "a join"},
    {"INSERT", 0, NULL},
    {"INTERSECT", 0, NULL},
    {"INTO", 0, NULL},
    {"JOIN", 0, "a join"},
    {"LEFT", 0, "a join"},
    {"LIKE", 0, NULL},
    {"LIMIT", 0, NULL},
    {"MATCH", 0, NULL},
    {"NATURAL", 0, "a join"},
    {"NOTHING", 0, NULL},
    {"ON", 0, NULL},
    {"ORDER", 0, "ORDER BY"},
    {"OUTER", 0, "a join"},
    {"OVER", 0, "a window function"},
    {"PRIMARY", 0, NULL},
    {"RAISE", 0, NULL},
    {"REFERENCES", 0, NULL},
    {"REGEXP", 0, NULL},
    {"RETURNING", 0, NULL},
    {"RIGHT", 0, "a join"},
    {"SET", 0, NULL},
    {"TABLE", 0, NULL},
    {"TO", 0, NULL},
    {"TRANSACTION", 0, NULL},
    {"TRUE", 0, NULL},
    {"UNION", 0, NULL},
    {"UNIQUE", 0, NULL},
    {"UPDATE", 0, NULL},
    {"USING", 0, NULL},
    {"VALUES", 0, NULL},
    {"WINDOW", 0, NULL},
    {"WITH", 0, NULL},
    {"WITHIN", 0, NULL},
};

static const struct {
    char text[3];
    int kind;
} operators[] = {
    /* The longer ones first; those without a kind are refused. */
    {"==", CLR_T_EQ}, {"<=", CLR_T_LE},   {"<>", CLR_T_NE},  {"<<", 0},         {">=", CLR_T_GE},
    {">>", 0},        {"!=", CLR_T_NE},   {"||", 0},         {"->", 0},         {"=", CLR_T_EQ},
    {"<", CLR_T_LT},  {">", CLR_T_GT},    {"+", CLR_T_PLUS}, {"*", CLR_T_STAR}, {"/", CLR_T_SLASH},
    {"%", CLR_T_REM}, {"-", CLR_T_MINUS}, {"(", CLR_T_LP},   {")", CLR_T_RP},   {",", CLR_T_COMMA},
    {".", CLR_T_DOT}, {";", CLR_T_SEMI},  {"|", 0},          {"&", 0},          {"~", 0},
};

static enum clr_code refuse(struct clr_status *status, const char *reason)
{
    return clr_status_set(status, CLR_INVALID, 0, "%s", reason);
}

/* Moves *at over white space and comments. */
static enum clr_code skip_space(const char **at, struct clr_status *status)
{
    const char *p = *at;

    for (;;) {
        if (is_space(*p)) {
            p++;
        } else if (p[0] == '-' && p[1] == '-') {
            p += strcspn(p, "\n");
        } else if (p[0] == '/' && p[1] == '*') {
            p = strstr(p + 2, "*/");
            if (p == NULL)
                return refuse(status, "a comment without an end");
            p += 2;
        } else {
            *at = p;
            return CLR_OK;
        }
    }
}

static enum clr_code read_word(struct clr_token *token, struct clr_status *status)
{
    size_t i, k;

    while (is_name(token->text[token->length]))
        token->length++;
    token->kind = CLR_T_ID;
    for (i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        const char *word = keywords[i].word;
        for (k = 0; k < token->length && upper(token->text[k]) == word[k]; k++)
            ;
        if (k < token->length || word[k] != '\0')
            continue;
        token->kind = keywords[i].kind;
        if (token->kind == 0)
            return refuse(status, keywords[i].reason != NULL ? keywords[i].reason : word);
        break;
    }
    return CLR_OK;
}

/* Text in quotes, where two closing quotes stand for one, except in brackets. */
static enum clr_code read_quoted(struct clr_token *token, struct clr_status *status)
{
    char closing = token->text[0] == '[' ? ']' : token->text[0];
    const char *p = token->text + 1;

    while (*p != '\0' && (*p != closing || (closing != ']' && p[1] == closing)))
        p += *p == closing ? 2 : 1;
    if (*p == '\0')
        return refuse(status, "a quote without an end");
    token->kind = closing == '\'' ? CLR_T_STRING : CLR_T_ID;
    token->length = (size_t)(p + 1 - token->text);
    return CLR_OK;
}

static enum clr_code read_number(struct clr_token *token, struct clr_status *status)
{
    const char *p = token->text;

    token->kind = CLR_T_NUMBER;
    if (p[0] == '0' && upper(p[1]) == 'X' && is_hex(p[2])) {
        for (p += 2; is_hex(*p); p++)
            ;
    } else {
        while (is_digit(*p))
            p++;
        if (*p == '.')
            for (p++; is_digit(*p); p++)
                ;
        if (upper(*p) == 'E' && is_digit(p[p[1] == '+' || p[1] == '-' ? 2 : 1]))
            for (p += 2; is_digit(*p); p++)
                ;
    }
    token->length = (size_t)(p - token->text);
    /* Separators of digits as well, which are older than most SQLites in use. */
    if (is_name(*p))
        return refuse(status, "a number with letters behind it");
    return CLR_OK;
}

static enum clr_code read_parameter(struct clr_token *token, struct clr_status *status)
{
    const char *p = token->text + 1;

    token->kind = CLR_T_VARIABLE;
    if (token->text[0] == '?') {
        while (is_digit(*p))
            p++;
    } else {
        while (is_name(*p))
            p++;
        /* The rest of Tcl's names: $a::b(c). SQLite reads them after : and @ too. */
        if (p == token->text + 1 || *p == '(' || (p[0] == ':' && p[1] == ':'))
            return refuse(status, "a parameter with a name of that form");
    }
    token->length = (size_t)(p - token->text);
    return CLR_OK;
}

static enum clr_code read_operator(struct clr_token *token, struct clr_status *status)
{
    size_t i, length;

    for (i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        length = strlen(operators[i].text);
        if (strncmp(token->text, operators[i].text, length) != 0)
            continue;
        token->kind = operators[i].kind;
        token->length = length;
        if (token->kind != 0)
            return CLR_OK;
        return clr_status_set(status, CLR_INVALID, 0, "the operator %s", operators[i].text);
    }
    return refuse(status, "a character that begins nothing");
}

enum clr_code clr_lexer_next(const char **at, struct clr_token *token, struct clr_status *status)
{
    enum clr_code code = skip_space(at, status);
    const char *p = *at;

    if (code != CLR_OK)
        return code;
    token->kind = 0;
    token->text = p;
    token->length = 0;
    token->node = NULL;
    if (*p == '\0')
        return CLR_OK;
    if (upper(*p) == 'X' && p[1] == '\'')
        return refuse(status, "a BLOB literal");
    if (strncmp(p, "\xef\xbb\xbf", 3) == 0)
        /* A byte order mark: white space to newer versions of SQLite, a letter to older ones. */
        return refuse(status, "a byte order mark");
    if (is_name_start(*p))
        code = read_word(token, status);
    else if (is_digit(*p) || (*p == '.' && is_digit(p[1])))
        code = read_number(token, status);
    else if (*p == '"' || *p == '`' || *p == '[' || *p == '\'')
        code = read_quoted(token, status);
    else if (*p == '?' || *p == ':' || *p == '@' || *p == '$')
        code = read_parameter(token, status);
    else
        code = read_operator(token, status);
    *at = p + token->length;
    return code;
}

char *clr_token_name(const struct clr_token *token)
{
    char *name = clr_memory_alloc(token->length + 1), *end = name;
    char quote = token->text[0];
    size_t i = 0, length = token->length;

    if (name == NULL)
        return NULL;
    if (quote == '"' || quote == '`' || quote == '[' || quote == '\'') {
        i++, length--;
        for (; i < length; i++) {
            *end++ = token->text[i];
            if (quote != '[' && token->text[i] == quote)
                i++;
        }
    } else {
        memcpy(name, token->text, length);
        end += length;
    }
    *end = '\0';
    return name;
}

bool clr_name_equal(const char *a, const char *b)
{
    while (*a != '\0' && upper(*a) == upper(*b))
        a++, b++;
    return upper(*a) == upper(*b);
}
