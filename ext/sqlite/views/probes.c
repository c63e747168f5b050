#include "sqlite/views/probes.h"

#include "base/memory.h"

#include <string.h>

/* Every call gives 7. */
static const struct {
    const char *call; /* SQLite's own; with gpu_ in front ours */
    enum clr_function function;
    bool always_ours;
} aggregates[] = {
    {"sum(7)", CLR_F_SUM, false},         {"total(7)", CLR_F_TOTAL, false},
    {"avg(7)", CLR_F_AVG, false},         {"min(7)", CLR_F_MIN, false},
    {"max(7)", CLR_F_MAX, false},         {"count(7) + 6", CLR_F_COUNT, false},
    {"count(*) + 6", CLR_F_COUNT, false}, {"dot(7, 1)", CLR_F_DOT, true},
};

static const struct {
    const char *call;
    enum clr_opcode opcode;
} scalars[] = {
    {"abs(-7)", CLR_OP_ABSOLUTE},
    {"min(7, 9)", CLR_OP_LEAST},
    {"min(9, 7, 8)", CLR_OP_LEAST},
    {"max(7, 5)", CLR_OP_GREATEST},
    {"max(5, 7, 6)", CLR_OP_GREATEST},
    {"coalesce(NULL, 7)", CLR_OP_COALESCE},
    {"coalesce(NULL, NULL, 7)", CLR_OP_COALESCE},
    {"ifnull(NULL, 7)", CLR_OP_COALESCE},
};

enum {
    AGGREGATES = sizeof aggregates / sizeof aggregates[0],
    SCALARS = sizeof scalars / sizeof scalars[0]
};

static bool calls(const struct clr_query *query, enum clr_function function, bool builtin)
{
    int i;

    for (i = 0; i < query->call_count; i++) {
        if (query->calls[i].function == function && query->calls[i].builtin == builtin &&
            !query->calls[i].merge)
            return true;
    }
    return false;
}

static bool computes(const struct clr_query *query, enum clr_opcode opcode)
{
    int i;

    for (i = 0; i < query->instruction_count; i++) {
        if (query->instructions[i].opcode == opcode)
            return true;
    }
    return false;
}

/* Moments and states: of two rows none is NULL. Several calls of one function need one probe, but
   more do no harm. */
static void add_other(sqlite3_str *text, const struct clr_call *call)
{
    if (call->merge)
        return;
    if (call->function == CLR_F_MOMENTS || (call->state && call->function != CLR_F_ORDER))
        sqlite3_str_appendf(
            text, ", 7 + ((SELECT %s%s(v%s) FROM (SELECT 7 AS v UNION ALL SELECT 8)) IS NULL)",
            call->name, call->state ? "_state" : "",
            clr_operation_width(call->operation) == 2 ? ", v" : "");
}

/* The functions of all values together; what they give is never NULL. */
static void add_order(sqlite3_str *text, const struct clr_call *call, const struct clr_asked *asked)
{
    static const char *const arguments[] = {"7", "7, 0", "7, 0", "7, 0", "7", "7", "7, 0, 9, 1"};

    sqlite3_str_appendf(text, ", 7 + (%s%s(%s) IS NULL)", call->name, call->state ? "_state" : "",
                        arguments[asked->order]);
}

/* Merges of a state that is of rows: none is NULL. */
static void add_merge(sqlite3_str *text, const struct clr_call *call)
{
    const char *arguments = clr_operation_width(call->operation) == 2 ? "v, v" : "v";

    if (call->function == CLR_F_ORDER)
        arguments = "v, 0, 9, 1";
    sqlite3_str_appendf(text,
                        ", 7 + ((SELECT %s%s_merge(s) FROM (SELECT %s_state(%s) AS s "
                        "FROM (SELECT 7 AS v UNION ALL SELECT 8))) IS NULL)",
                        call->name, call->state ? "_state" : "", call->name, arguments);
}

int clr_probes_add(struct clr_query *query)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    size_t length;
    char *probes, *whole;
    int i;

    for (i = 0; i < AGGREGATES; i++) {
        /* count() is SQLite's own alone. */
        if (!aggregates[i].always_ours && calls(query, aggregates[i].function, true))
            sqlite3_str_appendf(text, ", %s", aggregates[i].call);
        if (calls(query, aggregates[i].function, false))
            sqlite3_str_appendf(text, ", %s%s", aggregates[i].function == CLR_F_COUNT ? "" : "gpu_",
                                aggregates[i].call);
    }
    for (i = 0; i < query->call_count; i++) {
        add_other(text, &query->calls[i]);
        if (query->calls[i].merge)
            add_merge(text, &query->calls[i]);
        else if (query->calls[i].function == CLR_F_ORDER)
            add_order(text, &query->calls[i], &query->asked[query->calls[i].question]);
    }
    for (i = 0; i < SCALARS; i++) {
        if (computes(query, scalars[i].opcode))
            sqlite3_str_appendf(text, ", %s", scalars[i].call);
    }
    probes = sqlite3_str_finish(text);
    if (probes == NULL)
        return SQLITE_NOMEM;
    length = strlen(query->finish) + strlen(probes) + 1;
    whole = clr_memory_realloc(query->finish, length);
    if (whole != NULL) {
        strcat(whole, probes);
        query->finish = whole;
    }
    sqlite3_free(probes);
    return whole == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

bool clr_probes_pass(sqlite3_stmt *answer, int first)
{
    int count = sqlite3_column_count(answer), i;
    bool pass = sqlite3_step(answer) == SQLITE_ROW;

    for (i = first; i < count && pass; i++) {
        int type = sqlite3_column_type(answer, i);
        pass = (type == SQLITE_INTEGER || type == SQLITE_FLOAT) &&
               sqlite3_column_double(answer, i) == 7.0;
    }
    return sqlite3_reset(answer) == SQLITE_OK && pass;
}
