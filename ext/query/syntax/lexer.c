#include "query/syntax/lexer.h"

#include "query/syntax/grammar.h"
#include "query/syntax/word.h"

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

/* All words that SQLite does not read as an identifier wherever one can stand in the grammar; and
   those that are refused, with a reason of their own where there is more to say than the word. */
static const struct {
    const char *word;
    int kind;
} keywords[] = {{"AND", CLR_T_AND},
                {"AS", CLR_T_AS},
                {"ASC", CLR_T_ASC},
                {"BETWEEN", CLR_T_BETWEEN},
                {"BY", CLR_T_BY},
                {"CASE", CLR_T_CASE},
                {"CAST", CLR_T_CAST},
                {"COLLATE", CLR_T_COLLATE},
                {"CROSS", CLR_T_JOIN_KW},
                {"CURRENT_DATE", CLR_T_CTIME_KW},
                {"CURRENT_TIME", CLR_T_CTIME_KW},
                {"CURRENT_TIMESTAMP", CLR_T_CTIME_KW},
                {"DESC", CLR_T_DESC},
                {"DISTINCT", CLR_T_DISTINCT},
                {"ELSE", CLR_T_ELSE},
                {"END", CLR_T_END},
                {"ESCAPE", CLR_T_ESCAPE},
                {"EXISTS", CLR_T_EXISTS},
                {"FALSE", CLR_T_FALSE},
                {"FILTER", CLR_T_FILTER},
                {"FIRST", CLR_T_FIRST},
                {"FROM", CLR_T_FROM},
                {"GROUPS", CLR_T_FRAME},
                {"GLOB", CLR_T_LIKE_KW},
                {"GROUP", CLR_T_GROUP},
                {"HAVING", CLR_T_HAVING},
                {"IN", CLR_T_IN},
                {"INNER", CLR_T_JOIN_KW},
                {"IS", CLR_T_IS},
                {"ISNULL", CLR_T_ISNULL},
                {"JOIN", CLR_T_JOIN},
                {"LAST", CLR_T_LAST},
                {"LEFT", CLR_T_JOIN_KW},
                {"LIKE", CLR_T_LIKE_KW},
                {"LIMIT", CLR_T_LIMIT},
                {"MATCH", CLR_T_MATCH},
                {"NATURAL", CLR_T_JOIN_KW},
                {"NOT", CLR_T_NOT},
                {"NOTNULL", CLR_T_NOTNULL},
                {"NULL", CLR_T_NULL},
                {"NULLS", CLR_T_NULLS},
                {"OFFSET", CLR_T_OFFSET},
                {"ON", CLR_T_ON},
                {"OR", CLR_T_OR},
                {"ORDER", CLR_T_ORDER},
                {"OUTER", CLR_T_JOIN_KW},
                {"OVER", CLR_T_OVER},
                {"PARTITION", CLR_T_PARTITION},
                {"RANGE", CLR_T_FRAME},
                {"REGEXP", CLR_T_LIKE_KW},
                {"RIGHT", CLR_T_JOIN_KW},
                {"ROWS", CLR_T_FRAME},
                {"SELECT", CLR_T_SELECT},
                {"THEN", CLR_T_THEN},
                {"TRUE", CLR_T_TRUE},
                {"USING", CLR_T_USING},
                {"WHEN", CLR_T_WHEN},
                {"WHERE", CLR_T_WHERE},
                {"WITH", CLR_T_WITH}};

static const struct {
    enum clr_reason_code why;
    const char *words; /* each between spaces */
} refused[] = {
    {CLR_WHY_COMPOUND, " EXCEPT INTERSECT UNION "},
    {CLR_WHY_INDEXED_BY, " INDEXED "},
    {CLR_WHY_JOIN, " FULL "},
    {CLR_WHY_WINDOW, " WINDOW "},
    {CLR_WHY_WORD,
     " ADD ALL ALTER AUTOINCREMENT CHECK COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE DELETE DROP "
     "FOREIGN INDEX INSERT INTO NOTHING PRIMARY RAISE REFERENCES RETURNING SET TABLE TO "
     "TRANSACTION UNIQUE UPDATE VALUES WITHIN "}};

static const struct {
    char text[4];
    int kind;
} operators[] = {
    /* The longer ones first. */
    {"->>", CLR_T_PTR},   {"->", CLR_T_PTR},   {"||", CLR_T_CONCAT}, {"<<", CLR_T_LSHIFT},
    {">>", CLR_T_RSHIFT}, {"==", CLR_T_EQ},    {"<=", CLR_T_LE},     {"<>", CLR_T_NE},
    {">=", CLR_T_GE},     {"!=", CLR_T_NE},    {"=", CLR_T_EQ},      {"<", CLR_T_LT},
    {">", CLR_T_GT},      {"+", CLR_T_PLUS},   {"*", CLR_T_STAR},    {"/", CLR_T_SLASH},
    {"%", CLR_T_REM},     {"-", CLR_T_MINUS},  {"(", CLR_T_LP},      {")", CLR_T_RP},
    {",", CLR_T_COMMA},   {".", CLR_T_DOT},    {";", CLR_T_SEMI},    {"|", CLR_T_BITOR},
    {"&", CLR_T_BITAND},  {"~", CLR_T_BITNOT},
};

static enum clr_code refuse(struct clr_reason *reason, enum clr_reason_code code)
{
    clr_reason_set(reason, code);
    return CLR_INVALID;
}

/* Moves *at over white space and comments. */
static enum clr_code skip_space(const char **at, struct clr_reason *reason)
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
                return refuse(reason, CLR_WHY_COMMENT);
            p += 2;
        } else {
            *at = p;
            return CLR_OK;
        }
    }
}

/* Finds out whether a name is a word. */
static enum clr_code find_word(struct clr_token *token, struct clr_reason *reason)
{
    const size_t length = token->length;
    char word[24] = " ";
    size_t i;

    if (length + 3 > sizeof word)
        return CLR_OK;
    for (i = 0; i < length; i++)
        word[1 + i] = upper(token->text[i]);
    for (i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (strcmp(keywords[i].word, word + 1) == 0)
            token->kind = keywords[i].kind;
    }
    word[1 + length] = ' ';
    for (i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (strstr(refused[i].words, word) == NULL)
            continue;
        clr_reason_set_name(reason, refused[i].why, word + 1, length);
        return CLR_INVALID;
    }
    return CLR_OK;
}

static void read_name(struct clr_token *token)
{
    token->kind = CLR_T_ID;
    while (is_name(token->text[token->length]))
        token->length++;
}

/* Text in quotes, where two closing quotes stand for one, except in brackets. */
static enum clr_code read_quoted(struct clr_token *token, struct clr_reason *reason)
{
    char closing = token->text[0] == '[' ? ']' : token->text[0];
    const char *p = token->text + 1;

    while (*p != '\0' && (*p != closing || (closing != ']' && p[1] == closing)))
        p += *p == closing ? 2 : 1;
    if (*p == '\0')
        return refuse(reason, CLR_WHY_QUOTE);
    token->kind = closing == '\'' ? CLR_T_STRING : CLR_T_ID;
    token->length = (size_t)(p + 1 - token->text);
    return CLR_OK;
}

/* x'01ef': digits in pairs. */
static enum clr_code read_blob(struct clr_token *token, struct clr_reason *reason)
{
    const char *p = token->text + 2;

    while (is_hex(*p))
        p++;
    if (*p != '\'' || (p - token->text) % 2 != 0)
        return refuse(reason, CLR_WHY_CHARACTER);
    token->kind = CLR_T_BLOB;
    token->length = (size_t)(p + 1 - token->text);
    return CLR_OK;
}

static enum clr_code read_number(struct clr_token *token, struct clr_reason *reason)
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
        return refuse(reason, CLR_WHY_NUMBER_END);
    return CLR_OK;
}

static enum clr_code read_parameter(struct clr_token *token, struct clr_reason *reason)
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
            return refuse(reason, CLR_WHY_PARAMETER_NAME);
    }
    token->length = (size_t)(p - token->text);
    return CLR_OK;
}

static enum clr_code read_operator(struct clr_token *token, struct clr_reason *reason)
{
    size_t i, length;

    for (i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        length = strlen(operators[i].text);
        if (strncmp(token->text, operators[i].text, length) != 0)
            continue;
        token->kind = operators[i].kind;
        token->length = length;
        return CLR_OK;
    }
    return refuse(reason, CLR_WHY_CHARACTER);
}

enum clr_code clr_lexer_next_raw(const char **at, struct clr_token *token,
                                 struct clr_reason *reason)
{
    enum clr_code code = skip_space(at, reason);
    const char *p = *at;

    if (code != CLR_OK)
        return code;
    token->kind = 0;
    token->text = p;
    token->length = 0;
    token->name = NULL;
    if (*p == '\0')
        return CLR_OK;
    if (strncmp(p, "\xef\xbb\xbf", 3) == 0)
        /* A byte order mark: white space to newer versions of SQLite, a letter to older ones. */
        return refuse(reason, CLR_WHY_BYTE_ORDER_MARK);
    if (upper(*p) == 'X' && p[1] == '\'')
        code = read_blob(token, reason);
    else if (is_name_start(*p))
        read_name(token);
    else if (is_digit(*p) || (*p == '.' && is_digit(p[1])))
        code = read_number(token, reason);
    else if (*p == '"' || *p == '`' || *p == '[' || *p == '\'')
        code = read_quoted(token, reason);
    else if (*p == '?' || *p == ':' || *p == '@' || *p == '$')
        code = read_parameter(token, reason);
    else
        code = read_operator(token, reason);
    *at = p + token->length;
    return code;
}

enum clr_code clr_lexer_next(const char **at, struct clr_token *token, struct clr_reason *reason)
{
    const enum clr_code code = clr_lexer_next_raw(at, token, reason);

    return code == CLR_OK && token->kind == CLR_T_ID && is_name_start(*token->text)
               ? find_word(token, reason)
               : code;
}

bool clr_token_next(const char **at, struct clr_token *token)
{
    struct clr_reason reason;

    return clr_lexer_next_raw(at, token, &reason) == CLR_OK && token->kind != 0;
}

/* Returns the quote that a token begins with, or 0. */
static char quote_of(const struct clr_token *token)
{
    return token->length > 0 && strchr("\"`['", *token->text) != NULL ? *token->text : '\0';
}

char *clr_token_unquote(const struct clr_token *token, char *name)
{
    const char *at = token->text, *end = at + token->length;
    const char quote = quote_of(token);

    if (quote != '\0')
        at++, end--;
    for (; at < end; at++) {
        *name++ = *at;
        if (quote != '[' && *at == quote)
            at++;
    }
    *name++ = '\0';
    return name;
}

bool clr_token_is_same_name(const struct clr_token *a, const struct clr_token *b)
{
    const char p = quote_of(a), q = quote_of(b);
    const char *x = a->text + (p != '\0'), *x_end = a->text + a->length - (p != '\0');
    const char *y = b->text + (q != '\0'), *y_end = b->text + b->length - (q != '\0');

    for (; x < x_end && y < y_end && upper(*x) == upper(*y); x++, y++) {
        x += p != '[' && *x == p;
        y += q != '[' && *y == q;
    }
    return x >= x_end && y >= y_end;
}

bool clr_token_is(const struct clr_token *token, const char *word)
{
    return token->length == strlen(word) && clr_name_begins(token->text, token->length, word);
}

bool clr_token_in(const struct clr_token *token, const char *const *words)
{
    while (*words != NULL && !clr_token_is(token, *words))
        words++;
    return *words != NULL;
}

bool clr_text_in(const char *text, const char *const *list)
{
    while (*list != NULL && strcmp(text, *list) != 0)
        list++;
    return *list != NULL;
}

bool clr_token_equal(const struct clr_token *a, const struct clr_token *b)
{
    const bool is_literal =
        a->kind == CLR_T_STRING || a->kind == CLR_T_BLOB || a->kind == CLR_T_NUMBER;
    size_t i;

    if (a->kind != b->kind || a->length != b->length)
        return false;
    for (i = 0; i < a->length; i++) {
        if (a->text[i] != b->text[i] && (is_literal || upper(a->text[i]) != upper(b->text[i])))
            return false;
    }
    return true;
}

bool clr_name_equal(const char *a, const char *b)
{
    while (*a != '\0' && upper(*a) == upper(*b))
        a++, b++;
    return upper(*a) == upper(*b);
}

bool clr_name_begins(const char *text, size_t length, const char *word)
{
    for (; *word != '\0'; text++, word++, length--) {
        if (length == 0 || upper(*text) != *word)
            return false;
    }
    return true;
}

/* ---- Where a statement asks for the present time. */

/* Whether a call of this name may ask for the time, by what it is given. */
static bool may_name_time(const struct clr_token *name)
{
    return CLR_TOKEN_IN(name, "DATE", "DATETIME", "JULIANDAY", "STRFTIME", "TIME", "TIMEDIFF",
                        "UNIXEPOCH") ||
           (name->kind == CLR_T_ID && !clr_is_letter(*name->text));
}

/* Whether a token by itself may ask for the time; in_call: in what such a call is given. */
static bool may_be_time(const struct clr_token *token, bool in_call)
{
    return CLR_TOKEN_IN(token, "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "'NOW'",
                        "\"NOW\"") ||
           (in_call &&
            (token->kind == CLR_T_VARIABLE || token->kind == CLR_T_CONCAT ||
             token->kind == CLR_T_BLOB ||
             CLR_TOKEN_IN(token, "'SUBSEC'", "\"SUBSEC\"", "'SUBSECOND'", "\"SUBSECOND\"")));
}

int clr_instants_count(const char *text, size_t length)
{
    const char *at = text;
    struct clr_token token, before[3] = {{.kind = 0}, {.kind = 0}, {.kind = 0}};
    int count = 0, depth = 0, call_depth = 0;

    while (clr_token_next(&at, &token) && token.text < text + length) {
        depth += token.kind == CLR_T_LP;
        if (token.kind == CLR_T_LP && call_depth == 0 && may_name_time(&before[0]))
            call_depth = depth;
        else if (token.kind == CLR_T_LP && call_depth > 0)
            count += before[0].kind == CLR_T_ID && !may_name_time(&before[0]);
        count += may_be_time(&token, call_depth > 0);
        if (token.kind == CLR_T_RP) {
            count += before[0].kind == CLR_T_LP && before[1].kind == CLR_T_ID;
            count += before[1].kind == CLR_T_LP && clr_token_is(&before[2], "STRFTIME");
            call_depth = depth-- == call_depth ? 0 : call_depth;
        }
        before[2] = before[1];
        before[1] = before[0];
        before[0] = token;
    }
    return count;
}
