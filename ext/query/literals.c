#include "query/literals.h"

#include "base/memory.h"
#include "query/query.h"
#include "query/syntax/grammar.h"
#include "query/syntax/print.h"

/* In which expression a parameter is. */
enum place_kind {
    IN_OTHER, /* in none that wants literals */
    IN_CASE,  /* in a CASE, which does where one gives a parameter that is TEXT, */
    IN_GIVEN, /* or is given by one */
    IN_CALL   /* in one that does */
};

/* Where a SELECT's text has a parameter: from that byte on, so many bytes. */
struct place {
    size_t at, length;
    int number;
    enum place_kind kind;
};

struct clr_literal_places {
    int count;
    struct place list[]; /* in the order of the text */
};

/* Whether an expression wants literals: a function, which LIKE is, too, and what is as hard to
 * scan.
 */
static bool is_call(const struct clr_node *node)
{
    return node->kind == CLR_N_FUNCTION ||
           (node->kind == CLR_N_OPERATOR && node->names[0].kind == CLR_T_CONCAT);
}

/* Notes of all parameters in an expression that they are in a place of that kind, if not of a
   greater one. */
static void note(struct clr_literal_places *places, const char *sql, const struct clr_node *node,
                 enum place_kind kind)
{
    const struct clr_node *child;
    int i;

    for (i = 0; i < places->count && node->kind == CLR_N_PARAMETER; i++) {
        struct place *place = &places->list[i];

        if (place->at == (size_t)(node->names[0].text - sql) && place->kind < kind)
            place->kind = kind;
    }
    for (child = node->first; child != NULL; child = child->next)
        note(places, sql, child, kind);
}

/* Notes of the parameters of a CASE where they are. */
static void note_case(struct clr_literal_places *places, const char *sql,
                      const struct clr_node *node)
{
    const struct clr_node *result = NULL;

    note(places, sql, node, IN_CASE);
    while ((result = clr_case_next(node, result)) != NULL) {
        if (result->kind == CLR_N_PARAMETER)
            note(places, sql, result, IN_GIVEN);
    }
}

static enum clr_code list_places(const struct clr_syntax *syntax,
                                 struct clr_literal_places **result)
{
    struct clr_literal_places *places;
    const struct clr_node *node;
    size_t count = 0;
    int i, wanted = 0;

    for (node = syntax->parameters.first; node != NULL; node = node->listed)
        count++;
    places = clr_memory_alloc(sizeof *places + count * sizeof *places->list);
    if (places == NULL)
        return CLR_NOMEM;
    places->count = 0;
    for (node = syntax->parameters.first; node != NULL; node = node->listed)
        places->list[places->count++] =
            (struct place){.at = (size_t)(node->names[0].text - syntax->sql),
                           .length = node->names[0].length,
                           .number = node->number};
    for (node = syntax->nodes; node != NULL; node = node->allocated) {
        if ((node->has & CLR_HAS_COLUMN) && is_call(node))
            note(places, syntax->sql, node, IN_CALL);
        else if ((node->has & CLR_HAS_COLUMN) && node->kind == CLR_N_CASE)
            note_case(places, syntax->sql, node);
    }
    for (i = 0; i < places->count; i++)
        wanted += places->list[i].kind >= IN_GIVEN;
    if (wanted == 0) {
        clr_memory_free(places);
        places = NULL;
    }
    *result = places;
    return CLR_OK;
}

enum clr_code clr_literal_places_find(const char *sql, struct clr_literal_places **places)
{
    struct clr_query *query;
    struct clr_reason reason;
    enum clr_code code;

    *places = NULL;
    code = clr_query_parse(sql, &query, &reason);
    if (code == CLR_OK)
        code = list_places(query->syntax, places);
    clr_query_free(query);
    return code == CLR_NOMEM ? code : CLR_OK;
}

char *clr_literals_write(const struct clr_literal_places *places, const char *sql,
                         const struct clr_literal *literals)
{
    enum place_kind least = IN_CALL;
    struct clr_text text = {.text = NULL};
    size_t at = 0;
    int i;

    for (i = 0; i < places->count; i++) {
        if (places->list[i].kind == IN_GIVEN && literals[places->list[i].number - 1].is_text)
            least = IN_CASE;
    }
    for (i = 0; i < places->count; i++) {
        const struct place *place = &places->list[i];
        const char *literal = literals[place->number - 1].text;

        clr_text_add(&text, "%.*s", (int)(place->at - at), sql + at);
        if (place->kind >= least && literal != NULL)
            clr_text_add(&text, "%s", literal);
        else
            clr_text_add(&text, "?%d", place->number);
        at = place->at + place->length;
    }
    clr_text_add(&text, "%s", sql + at);
    return clr_text_end(&text);
}
