#include "sqlite/access/select_place.h"

#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "sqlite/schema/functions.h"

#include <string.h>

bool clr_text_has_truth(const char *text)
{
    struct clr_token token;

    while (clr_token_next(&text, &token)) {
        if (clr_token_is(&token, "TRUE") || clr_token_is(&token, "FALSE"))
            return true;
    }
    return false;
}

/* Adds the functions that a text may call. Returns false without memory. */
static bool add_functions(const char *text, const char *end, struct clr_functions *functions)
{
    struct clr_token token, before = {.kind = 0};
    char *name;
    bool is_added;

    while (clr_token_next(&text, &token) && token.text < end) {
        const bool is_call = token.kind == CLR_T_LP && before.kind == CLR_T_ID;
        const struct clr_token called = is_call ? before : token;

        before = token;
        if (!is_call && token.kind != CLR_T_PTR)
            continue;
        name = sqlite3_malloc64(called.length + 1);
        if (name == NULL)
            return false;
        clr_token_unquote(&called, name);
        is_added = clr_functions_add(functions, name) != NULL;
        sqlite3_free(name);
        if (!is_added)
            return false;
    }
    return true;
}

/* What functions of a list do with subtypes, as bits of enum clr_subtype_use; words before
   parentheses, such as IN, are no functions and do nothing. */
static unsigned subtype_uses(sqlite3 *db, struct clr_functions *functions)
{
    static const char *const words[] = {
        "IN",     "EXISTS",   "AND",   "OR",     "NOT",     "AS",     "FROM",  "JOIN",
        "ON",     "USING",    "WHERE", "SELECT", "BY",      "HAVING", "OVER",  "FILTER",
        "WHEN",   "THEN",     "ELSE",  "CASE",   "BETWEEN", "LIKE",   "LIMIT", "MATERIALIZED",
        "VALUES", "DISTINCT", "UNION", "ALL",    "CAST",    "IS",     "GLOB",  "OFFSET"};
    unsigned uses = 0;
    size_t k;
    int i;

    if (!clr_functions_read(db, functions))
        return CLR_SUBTYPE_READ | CLR_SUBTYPE_GIVEN;
    for (i = 0; i < functions->count; i++) {
        for (k = 0; k < sizeof words / sizeof words[0]; k++) {
            if (sqlite3_stricmp(functions->list[i].name, words[k]) == 0)
                break;
        }
        if (k == sizeof words / sizeof words[0])
            uses |= functions->list[i].subtypes;
    }
    return uses;
}

bool clr_stood_may_lose_subtype(sqlite3 *db, const char *sql, const struct clr_stood *stood)
{
    struct clr_functions inside = {.list = NULL}, around = {.list = NULL};
    bool may = true;

    if (add_functions(stood->text.text, stood->text.text + stood->text.length, &inside) &&
        add_functions(sql, stood->text.text, &around) &&
        add_functions(stood->text.text + stood->text.length, sql + strlen(sql), &around))
        may = (subtype_uses(db, &inside) & CLR_SUBTYPE_GIVEN) != 0 &&
              (subtype_uses(db, &around) & CLR_SUBTYPE_READ) != 0;
    clr_functions_free(&inside);
    clr_functions_free(&around);
    return may;
}

/* Whether a SELECT of the statement reads several tables. */
static bool has_joins(const struct clr_selects *selects)
{
    int i = 0;

    while (i < selects->count && selects->list[i].sources <= 1)
        i++;
    return i < selects->count;
}

bool clr_stood_joins(const struct clr_selects *selects, const struct clr_stood *stood)
{
    while (stood->place == CLR_PLACE_FROM) {
        stood = &selects->list[stood->around];
        if (stood->sources > 1)
            return true;
    }
    return stood->place == CLR_PLACE_CTE && has_joins(selects);
}

bool clr_stood_may_see_columns(const struct clr_selects *selects, const struct clr_stood *stood)
{
    bool may = false;

    for (; stood->around >= 0 && !may; stood = &selects->list[stood->around])
        may = stood->place != CLR_PLACE_FROM && selects->list[stood->around].sources > 0;
    return may;
}

/* Whether an expression of a SELECT may have a collating sequence, by COLLATE or a plus sign before
   a column, although it has no affinity: a compound compares by it. */
static bool may_collate(const struct clr_stood *stood)
{
    const char *at = stood->text.text;
    struct clr_token token = {.kind = CLR_T_ID}, before;
    struct clr_reason reason;

    do {
        before = token;
        if (clr_lexer_next_raw(&at, &token, &reason) != CLR_OK)
            return true;
        if (clr_token_is(&token, "COLLATE") ||
            (token.kind == CLR_T_PLUS && before.kind != CLR_T_RP && before.kind != CLR_T_NUMBER &&
             (before.kind != CLR_T_ID || clr_token_is(&before, "SELECT"))))
            return true;
    } while (token.kind != 0 && at < stood->text.text + stood->text.length);
    return false;
}

bool clr_stood_may_be_view(const struct clr_selects *selects, const struct clr_stood *stood)
{
    const bool is_arm = stood->compound >= 0, is_cte = stood->place == CLR_PLACE_CTE;
    const struct clr_stood *around = stood->around < 0 ? NULL : &selects->list[stood->around];

    if (is_arm && stood->place == CLR_PLACE_EXISTS)
        return false;
    if (is_arm && (stood->has_computed || may_collate(stood)))
        return false;
    if (!clr_stood_is_table(stood))
        return true;
    if (is_arm)
        return !clr_stood_joins(selects, stood);
    return stood->order_count == 0 || stood->is_limited ||
           (!clr_stood_joins(selects, stood) && !is_cte && around->order_count == 0 &&
            around->compound < 0);
}

bool clr_stood_find_ctes(const struct clr_selects *selects, const struct clr_stood *stood,
                         bool reads[CLR_MOST_CTES])
{
    int with, named = -1, i, k;
    bool is_found = true;

    memset(reads, 0, CLR_MOST_CTES * sizeof *reads);
    while (is_found) {
        is_found = false;
        for (with = stood->with; with >= 0; with = selects->withs[with]) {
            for (i = 0; i < selects->cte_count; i++) {
                const struct clr_cte *cte = &selects->ctes[i];
                bool does = cte->with == with && clr_select_reads(selects, &stood->text, cte);

                for (k = 0; k < selects->cte_count && cte->with == with && !does; k++)
                    does = reads[k] && clr_select_reads(selects, &selects->ctes[k].definition, cte);
                if (!does || reads[i])
                    continue;
                if (i == stood->cte || (named >= 0 && named != with))
                    return false;
                named = with;
                reads[i] = is_found = true;
            }
        }
    }
    return named < 0 || clr_name_begins(stood->text.text, stood->text.length, "SELECT");
}

void clr_text_append_names(sqlite3_str *text, const struct clr_written *written,
                           sqlite3_stmt *numbered)
{
    const char *at = written->text, *end = at + written->length, *behind, *c;
    int number, largest = 0;
    struct clr_token token;
    char *name;

    while (at < end) {
        behind = at;
        if (!clr_token_next(&at, &token)) {
            sqlite3_str_append(text, behind, (int)(end - behind));
            return;
        }
        sqlite3_str_append(text, behind, (int)(token.text - behind));
        if (token.kind == CLR_T_VARIABLE && numbered != NULL) {
            name = sqlite3_mprintf("%.*s", (int)token.length, token.text);
            number = name == NULL ? 0 : sqlite3_bind_parameter_index(numbered, name);
            number = token.length == 1 ? largest + 1 : number;
            largest = number > largest ? number : largest;
            sqlite3_str_appendf(text, "?%d", number);
            sqlite3_free(name);
            continue;
        }
        if (*token.text != '"') {
            sqlite3_str_append(text, token.text, (int)token.length);
            continue;
        }
        name = sqlite3_malloc64(token.length + 1);
        if (name != NULL)
            clr_token_unquote(&token, name);
        sqlite3_str_appendchar(text, 1, '`');
        for (c = name; c != NULL && *c != '\0'; c++)
            sqlite3_str_appendchar(text, *c == '`' ? 2 : 1, *c);
        sqlite3_str_appendchar(text, 1, '`');
        sqlite3_free(name);
    }
}

char *clr_stood_write(const struct clr_selects *selects, const struct clr_stood *stood,
                      const bool reads[CLR_MOST_CTES], bool other_quotes, bool distinct)
{
    struct clr_written written = stood->text;
    sqlite3_str *text = sqlite3_str_new(NULL);
    int i;

    for (i = 0; i < selects->cte_count; i++) {
        if (!reads[i])
            continue;
        sqlite3_str_appendall(text, sqlite3_str_length(text) == 0 ? "WITH " : ", ");
        clr_text_append_names(text, &selects->ctes[i].definition, NULL);
    }
    if (sqlite3_str_length(text) > 0)
        sqlite3_str_appendall(text, " ");
    if (distinct) {
        sqlite3_str_appendall(text, "SELECT DISTINCT");
        written.text += strlen("SELECT");
        written.length -= strlen("SELECT");
    }
    if (other_quotes)
        clr_text_append_names(text, &written, NULL);
    else
        sqlite3_str_append(text, written.text, (int)written.length);
    return sqlite3_str_finish(text);
}
