#include "query/syntax/selects.h"

#include "query/syntax/grammar.h"
#include "query/syntax/lexer.h"
#include "query/syntax/word.h"

/* How deep parentheses are followed. */
enum { DEEPEST = 64 };

struct scan {
    struct clr_selects *selects;
    const char *at;
    struct clr_token token, before; /* before: the one that has been passed last */
    int depth;
    bool has_failed;
};

/* The text ends there to who reads on. */
static void fail(struct scan *scan)
{
    scan->has_failed = true;
    scan->token.kind = 0;
}

static void advance(struct scan *scan)
{
    struct clr_reason reason;

    scan->before = scan->token;
    if (!scan->has_failed && clr_lexer_next_raw(&scan->at, &scan->token, &reason) != CLR_OK)
        fail(scan);
}

/* Whether a token is a word, in capitals, and no name in quotes. */
static bool is_word(const struct clr_token *token, const char *word)
{
    return token->kind == CLR_T_ID && clr_token_is(token, word);
}

static bool is_now(const struct scan *scan, const char *word)
{
    return is_word(&scan->token, word);
}

static bool pass(struct scan *scan, int kind)
{
    if (scan->token.kind != kind) {
        fail(scan);
        return false;
    }
    advance(scan);
    return true;
}

/* Stores where a text ends, which is what has been passed last. */
static void end(const struct scan *scan, struct clr_written *text)
{
    text->length = (size_t)(scan->before.text + scan->before.length - text->text);
}

/* Takes note of a table's name, which this token is unless it is a parenthesis. */
static void note_source(struct scan *scan)
{
    struct clr_selects *selects = scan->selects;

    if (scan->token.kind != CLR_T_ID && scan->token.kind != CLR_T_STRING)
        return;
    if (selects->source_count == CLR_MOST_TABLE_NAMES)
        fail(scan);
    else
        selects->sources[selects->source_count++] =
            (struct clr_written){scan->token.text, scan->token.length};
}

/* Whether a statement begins that writes; its WITH goes before. */
static bool begins_writing(const struct scan *scan)
{
    return scan->token.kind == CLR_T_ID && clr_word_writes(scan->token.text);
}

/* Whether a SELECT begins that is more than VALUES. */
static bool begins_rows(const struct scan *scan)
{
    return is_now(scan, "SELECT") || is_now(scan, "WITH");
}

static bool begins_select(const struct scan *scan)
{
    return begins_rows(scan) || is_now(scan, "VALUES");
}

static void read_select(struct scan *scan, enum clr_select_place place, int around, int with,
                        int cte);

/* Passes a token, or all that stands in parentheses. in_from: tables, and no values, stand there.
 */
static void read_on(struct scan *scan, int around, int with, bool in_from)
{
    const bool opens = scan->token.kind == CLR_T_LP;
    const struct clr_token before = scan->before;

    advance(scan);
    if (!opens)
        return;
    if (++scan->depth > DEEPEST)
        fail(scan);
    if (begins_select(scan)) {
        read_select(scan,
                    in_from                      ? CLR_PLACE_FROM
                    : is_word(&before, "IN")     ? CLR_PLACE_IN
                    : is_word(&before, "EXISTS") ? CLR_PLACE_EXISTS
                                                 : CLR_PLACE_VALUE,
                    around, with, -1);
    }
    while (scan->token.kind != CLR_T_RP && scan->token.kind != 0) {
        const bool is_table =
            in_from && (scan->before.kind == CLR_T_LP || scan->before.kind == CLR_T_COMMA ||
                        is_word(&scan->before, "JOIN"));

        if (in_from && (scan->token.kind == CLR_T_COMMA || is_now(scan, "JOIN")))
            scan->selects->list[around].sources++;
        if (is_table || is_word(&scan->before, "IN"))
            note_source(scan);
        read_on(scan, around, with, is_table);
    }
    scan->depth--;
    pass(scan, CLR_T_RP);
}

/* Whether what follows a SELECT begins in an INSERT: ON is a join's in FROM alone. */
static bool begins_upsert(const struct scan *scan, bool in_from)
{
    return !in_from && is_now(scan, "ON");
}

/* Whether another arm of a compound SELECT begins. */
static bool begins_arm(const struct scan *scan)
{
    return is_now(scan, "UNION") || is_now(scan, "INTERSECT") || is_now(scan, "EXCEPT");
}

static bool ends_arm(const struct scan *scan)
{
    return scan->token.kind == 0 || scan->token.kind == CLR_T_RP ||
           scan->token.kind == CLR_T_SEMI || begins_arm(scan) || is_now(scan, "ORDER") ||
           is_now(scan, "LIMIT");
}

/* Passes an arm of a SELECT. */
static void read_arm(struct scan *scan, int number, int with)
{
    struct clr_stood *arm = &scan->selects->list[number];
    bool in_from = false, follows;

    while (!ends_arm(scan) && !begins_upsert(scan, in_from)) {
        /* IS DISTINCT FROM is an operator. */
        if (is_now(scan, "FROM") && !is_word(&scan->before, "DISTINCT")) {
            in_from = true;
            arm->sources++;
        } else if (is_now(scan, "WHERE") || is_now(scan, "GROUP") || is_now(scan, "HAVING")) {
            /* WINDOW may be a table's name, and what is behind it more tables. */
            in_from = false;
        } else if (in_from && (scan->token.kind == CLR_T_COMMA || is_now(scan, "JOIN"))) {
            arm->sources++;
        }
        follows = in_from && (scan->before.kind == CLR_T_COMMA || is_word(&scan->before, "FROM") ||
                              is_word(&scan->before, "JOIN"));
        if (follows || is_word(&scan->before, "IN"))
            note_source(scan);
        read_on(scan, number, with, follows);
    }
}

/* Reads WITH and its definitions. Returns its number. */
static int read_with(struct scan *scan, int around, int outer)
{
    struct clr_selects *selects = scan->selects;
    const int number = selects->with_count;
    struct clr_cte *cte;

    advance(scan);
    if (is_now(scan, "RECURSIVE"))
        advance(scan);
    if (number == CLR_MOST_CTES) {
        fail(scan);
        return -1;
    }
    selects->with_count++;
    selects->withs[number] = outer;
    do {
        if (scan->token.kind == CLR_T_COMMA)
            advance(scan);
        if (scan->token.kind != CLR_T_ID || selects->cte_count == CLR_MOST_CTES) {
            fail(scan);
            return -1;
        }
        cte = &selects->ctes[selects->cte_count++];
        *cte = (struct clr_cte){.name = {scan->token.text, scan->token.length}, .with = number};
        cte->definition.text = scan->token.text;
        advance(scan);
        if (scan->token.kind == CLR_T_LP)
            read_on(scan, around, number, false);
        if (!is_now(scan, "AS"))
            fail(scan);
        advance(scan);
        if (is_now(scan, "NOT"))
            advance(scan);
        if (is_now(scan, "MATERIALIZED"))
            advance(scan);
        if (!pass(scan, CLR_T_LP) || !begins_select(scan)) {
            fail(scan);
            return -1;
        }
        read_select(scan, CLR_PLACE_CTE, around, number, (int)(cte - selects->ctes));
        pass(scan, CLR_T_RP);
        end(scan, &cte->definition);
    } while (scan->token.kind == CLR_T_COMMA);
    return number;
}

/* Whether a token is a term of ORDER BY that is a column's number or name, or belongs to one. */
static bool is_plain_term(const struct clr_token *token)
{
    const char *text = token->text;
    size_t i = 0;

    if (token->kind == CLR_T_NUMBER || token->kind == CLR_T_COMMA)
        return true;
    if (token->kind != CLR_T_ID || is_word(token, "COLLATE"))
        return false;
    if (clr_is_letter(text[0]))
        return true;
    for (i = 1; i + 1 < token->length && clr_is_word(text[i]); i++)
        ;
    return i + 1 == token->length && clr_is_letter(text[1]);
}

/* Passes ORDER BY and LIMIT, and stores what a SELECT, or a compound's first arm, has of them. */
static void read_end(struct scan *scan, int number, int with)
{
    struct clr_stood *stood = &scan->selects->list[number];

    while (scan->token.kind != 0 && scan->token.kind != CLR_T_RP &&
           scan->token.kind != CLR_T_SEMI && !begins_upsert(scan, false)) {
        stood->is_limited = stood->is_limited || is_now(scan, "LIMIT");
        if (!stood->is_limited) {
            stood->order_count += is_now(scan, "ORDER") || scan->token.kind == CLR_T_COMMA;
            stood->descends = stood->descends || is_now(scan, "DESC");
            stood->has_computed = stood->has_computed || !is_plain_term(&scan->token);
            stood->is_named = stood->is_named ||
                              (scan->token.kind != CLR_T_NUMBER &&
                               (scan->before.kind == CLR_T_COMMA || is_word(&scan->before, "BY")));
        }
        read_on(scan, number, with, false);
    }
}

/* Adds a SELECT that begins here. Returns its number. */
static int add(struct scan *scan, const struct clr_stood *stood)
{
    struct clr_selects *selects = scan->selects;

    if (selects->count == CLR_MOST_SELECTS) {
        fail(scan);
        return selects->count - 1;
    }
    selects->list[selects->count] = *stood;
    selects->list[selects->count].text.text = scan->token.text;
    return selects->count++;
}

/* Passes the arms of a compound SELECT behind the first one. Returns the number of the last one
   that another operator than UNION ALL takes, or -1. */
static int read_arms(struct scan *scan, int first, int with)
{
    const struct clr_stood stood = {.place = scan->selects->list[first].place,
                                    .around = scan->selects->list[first].around,
                                    .cte = scan->selects->list[first].cte,
                                    .compound = first,
                                    .with = with};
    int arm, last = -1;
    bool is_all;

    while (begins_arm(scan)) {
        advance(scan);
        is_all = is_now(scan, "ALL");
        if (is_all)
            advance(scan);
        arm = add(scan, &stood);
        last = is_all ? last : arm;
        read_arm(scan, arm, with);
        end(scan, &scan->selects->list[arm].text);
    }
    return last;
}

/* Passes a statement that writes, behind its WITH: the SELECT whose rows an INSERT takes, or a new
   table, stands in it, and so do those in its expressions and in the FROM of an UPDATE. */
static void read_writing(struct scan *scan, int number, int with)
{
    const bool takes_rows = !is_now(scan, "UPDATE") && !is_now(scan, "DELETE");
    struct clr_stood *stood = &scan->selects->list[number];

    stood->writes = true;
    stood->sources = !is_now(scan, "DELETE");
    if (is_now(scan, "CREATE")) {
        advance(scan);
        if (is_now(scan, "TEMP") || is_now(scan, "TEMPORARY"))
            advance(scan);
        if (!is_now(scan, "TABLE"))
            fail(scan);
    }
    while (takes_rows && scan->token.kind != 0 && !begins_rows(scan))
        read_on(scan, number, with, false);
    if (takes_rows && begins_rows(scan))
        read_select(scan, CLR_PLACE_WRITTEN, number, with, -1);
    while (scan->token.kind != 0 && scan->token.kind != CLR_T_SEMI) {
        if (begins_arm(scan) || scan->token.kind == CLR_T_RP)
            fail(scan);
        if (begins_upsert(scan, false))
            advance(scan);
        read_arm(scan, number, with);
        read_end(scan, number, with);
    }
    end(scan, &stood->text);
}

/* Passes a SELECT, up to the parenthesis or the text's end behind it. */
static void read_select(struct scan *scan, enum clr_select_place place, int around, int with,
                        int cte)
{
    struct clr_selects *selects = scan->selects;
    const struct clr_stood stood = {
        .place = place, .around = around, .compound = -1, .with = with, .cte = cte};
    const int first = add(scan, &stood);
    const int inner = is_now(scan, "WITH") ? read_with(scan, around, with) : with;
    const char *text = scan->token.text;
    int last = -1, i;

    if (place == CLR_PLACE_STATEMENT && begins_writing(scan)) {
        read_writing(scan, first, inner);
        return;
    }
    read_arm(scan, first, inner);
    end(scan, &selects->list[first].text);
    if (begins_arm(scan)) {
        selects->list[first].text.length -= (size_t)(text - selects->list[first].text.text);
        selects->list[first].text.text = text;
        selects->list[first].with = inner;
        selects->list[first].compound = first;
        last = read_arms(scan, first, inner);
        read_end(scan, first, inner);
    } else {
        read_end(scan, first, inner);
        end(scan, &selects->list[first].text);
        selects->list[first].is_values = place == CLR_PLACE_IN && !selects->list[first].is_limited;
    }
    for (i = first; i < selects->count; i++) {
        if (selects->list[i].compound != first)
            continue;
        selects->list[i].is_set = last >= 0;
        selects->list[i].is_values = i <= last;
        selects->list[i].order_count = selects->list[first].order_count;
        selects->list[i].has_computed = selects->list[first].has_computed;
        selects->list[i].is_named = selects->list[first].is_named;
        selects->list[i].descends = selects->list[first].descends;
        selects->list[i].is_limited = selects->list[first].is_limited;
    }
}

bool clr_selects_find(const char *sql, struct clr_selects *selects)
{
    struct scan scan = {.selects = selects, .at = sql};

    selects->count = selects->with_count = selects->cte_count = selects->source_count = 0;
    advance(&scan);
    if (!begins_select(&scan) && !begins_writing(&scan))
        return false;
    read_select(&scan, CLR_PLACE_STATEMENT, -1, -1, -1);
    while (scan.token.kind == CLR_T_SEMI)
        advance(&scan);
    return !scan.has_failed && scan.token.kind == 0;
}

bool clr_select_reads(const struct clr_selects *selects, const struct clr_written *text,
                      const struct clr_cte *cte)
{
    const struct clr_token name = {.text = cte->name.text, .length = cte->name.length};
    int i;

    for (i = 0; i < selects->source_count; i++) {
        const struct clr_token source = {.text = selects->sources[i].text,
                                         .length = selects->sources[i].length};

        if (source.text >= text->text && source.text < text->text + text->length &&
            clr_token_is_same_name(&source, &name))
            return true;
    }
    return false;
}
