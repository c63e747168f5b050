/* The parser and the binder: the cases of query.test, and the other parts. */
#include "query/environment.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_filter(const struct clr_query *query)
{
    print_query(query);
    if (strncmp(dump, "where ", 6) != 0 || strstr(dump, "; #0; count 0; SELECT {0} FROM") == NULL)
        return;
    dumped = 0;
    print_value(query, query->filter);
}

static void print_groups(const struct clr_query *query)
{
    for (int i = 0; i < query->grouping.key_count; i++) {
        print("%s", query->grouping.descending[i] ? "-" : "");
        print_value(query, query->grouping.keys[i]);
        print(" ");
    }
    print("%s: ", query->grouping.by_first ? "by rows" : "by keys");
    print_answer(query);
}

static void print_first(const struct clr_query *query)
{
    const struct clr_first_rows *first = &query->first;

    if (first->key < 0) {
        print("none");
        return;
    }
    print_value(query, first->filter);
    if (first->filter_or_null != first->filter) {
        print(" or ");
        print_value(query, first->filter_or_null);
    }
}

static void print_compared(const struct clr_query *query)
{
    print("%s", query->different == NULL ? "none" : query->different);
}

static void print_subqueries(const struct clr_query *query)
{
    print("%s", query->subqueries == NULL ? "none" : query->subqueries);
    for (int i = 0; i < query->list_count; i++)
        print(" %s", query->lists[i]);
}

/* In section "runs": the values that all parameters have, one after the other. */
static const char *given;

/* The value that a text begins with. */
static struct clr_scalar read_value(const char *text)
{
    const size_t length = strcspn(text, ",");

    if (strncmp(text, "null", 4) == 0)
        return (struct clr_scalar){.tag = CLR_TAG_NULL};
    if (strncmp(text, "text", 4) == 0)
        return (struct clr_scalar){.tag = CLR_TAG_BYTES};
    if (strspn(text, "-0123456789") == length)
        return (struct clr_scalar){.tag = CLR_TAG_INTEGER, .bits = strtoll(text, NULL, 10)};
    return (struct clr_scalar){.tag = CLR_TAG_REAL, .bits = clr_bits_of(strtod(text, NULL))};
}

/* Begins a run in which all parameters have a value; NULL if that is refused. */
static struct clr_query_run *begin_run(const struct clr_query *query, const char *value)
{
    struct clr_scalar values[CLR_MOST_CONSTANTS];
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    struct clr_query_run *run = NULL;

    for (int i = 0; i < CLR_MOST_CONSTANTS; i++)
        values[i] = read_value(value);
    clr_query_run_begin(query, values, &run, &reason);
    return run;
}

/* What becomes of runs, once where it is the same for all values. */
static void print_runs(const struct clr_query *query)
{
    const char *value = given, *last = "", *outcome;

    while (*value != '\0') {
        struct clr_query_run *run = begin_run(query, value);

        outcome = run != NULL ? "begins" : "refused";
        if (strcmp(outcome, last) != 0)
            print("%s", outcome);
        last = outcome;
        clr_query_run_free(run);
        value += strcspn(value, ",");
        value += strspn(value, ", ");
    }
}

static void print_asked(const struct clr_query *query)
{
    static const char *const kinds[] = {[CLR_ASK_BETWEEN] = "between",
                                        [CLR_ASK_AT] = "at",
                                        [CLR_ASK_MODE] = "mode",
                                        [CLR_ASK_DISTINCT] = "distinct",
                                        [CLR_ASK_BINS] = "bins"};
    struct clr_query_run *run = begin_run(query, given);

    for (int i = 0; run != NULL && i < clr_query_run_scan(run).question_count; i++) {
        const struct clr_question *question = &run->questions[i];

        print("%s%s", i > 0 ? ", " : "", kinds[question->kind]);
        if (question->kind == CLR_ASK_BINS)
            print(" %lld", (long long)question->bins.count);
        else if (question->kind <= CLR_ASK_AT)
            print(" %g", question->fraction);
        print(" of %d", question->tally);
    }
    clr_query_run_free(run);
}

static void print_columns(const struct clr_query *query)
{
    struct clr_query_run *run = begin_run(query, "null");

    for (int i = 0; i < query->column_count; i++)
        print("%d%s%s, ", query->columns[i].number, query->columns[i].with_codes ? " codes" : "",
              query->columns[i].with_bytes ? " bytes" : "");
    for (int i = 0; i < query->lookup_count; i++)
        print("lookup of %d%s, ", query->columns[query->lookups[i].column].number,
              query->columns[query->lookups[i].column].with_codes ? " codes" : "");
    print("%s", query->computes ? "SQLite computes" : "SQLite does not compute");
    if (run == NULL || clr_query_run_scan(run).lookup_count != query->lookup_count ||
        clr_query_run_scan(run).lookups != NULL)
        print(", no run that the caller gives the lookups");
    clr_query_run_free(run);
}

/* The sections of query.test. */
static const struct section {
    const char *name;
    void (*print)(const struct clr_query *query);
} sections[] = {
    {"select", print_query},
    {"where", print_filter},
    {"groups", print_groups},
    {"first rows", print_first},
    {"compared keys", print_compared},
    {"subqueries", print_subqueries},
    {"runs", print_runs},
    {"asked", print_asked},
    {"columns", print_columns},
    {"refused", print_query},
};

enum { SECTIONS = sizeof sections / sizeof sections[0], WHERE = 1, REFUSED = SECTIONS - 1 };

/* Skips a check if the SQLite that runs does not have what the text has. */
static bool skips(const char *sql)
{
    const bool is_new = strstr(sql, "->") != NULL || strstr(sql, "DISTINCT FROM") != NULL ||
                        strstr(sql, "unixepoch") != NULL;

    if (!is_new || sqlite3_libversion_number() >= 3039000)
        return false;
    tap_skip(1, "SQLite is too old: %s", sql);
    return true;
}

/* Up to two checks: what a statement becomes, or why it is refused, and how it is printed. */
static void check(const struct section *section, const char *sql, const char *want)
{
    struct clr_reason reason = {.code = CLR_WHY_NONE};
    sqlite3_stmt *statement;
    struct clr_query *query;
    bool is_syntax;

    if (skips(sql))
        return;
    statement = prepare(sql);
    is_syntax = strstr(sqlite3_errmsg(database), "syntax error") == NULL;
    make(sql, statement, &query, &reason);
    dumped = 0;
    dump[0] = '\0';
    if (query == NULL)
        print("%s", text_of(&reason));
    else if (!is_syntax)
        print("not in SQLite's grammar");
    else
        section->print(query);
    tap_ok((query == NULL) == (section == &sections[REFUSED]) && strcmp(dump, want) == 0, "%s: %s",
           section->name, sql);
    if (strcmp(dump, want) != 0)
        tap_diag("got  %s\nwant %s", dump, want);
    is_printed(query, statement, sql);
    clr_query_free(query);
    sqlite3_finalize(statement);
}

/* Reads a line and those that go on with it, and puts bytes in the place of \x and their digits.
   Returns false at the end of the file. */
static bool read_line(FILE *file, char *line, int size)
{
    char *end = line, *from;
    int next;

    do {
        if (fgets(end, size - (int)(end - line), file) == NULL)
            return false;
        end += strcspn(end, "\n");
        next = getc(file);
        if (next == ' ')
            *end++ = (char)getc(file);
        else
            ungetc(next, file);
    } while (next == ' ');
    *end = '\0';
    for (from = end = line; *from != '\0'; from++) {
        *end++ = *from;
        if (strncmp(from, "\\x", 2) == 0) {
            const char digits[] = {from[2], from[3], '\0'};

            end[-1] = (char)strtol(digits, NULL, 16);
            from += 3;
        }
    }
    *end = '\0';
    return true;
}

/* What the line "== NAME in UTF-16 without schema: REASON" says of the lines below. */
static const struct section *begin_section(const char *line, char *reason)
{
    reason[0] = '\0';
    if (strstr(line, ": ") != NULL)
        strcpy(reason, strstr(line, ": ") + 2);
    is_utf8 = strstr(line, " in UTF-16") == NULL;
    schema = strstr(line, " without schema") == NULL ? "main" : NULL;
    for (int i = 0; i < SECTIONS; i++)
        if (strncmp(line + 3, sections[i].name, strlen(sections[i].name)) == 0)
            return &sections[i];
    tap_bail("no section: %s", line);
}

TAP_TEST(test_statements)
{
    static char line[LONGEST_DUMP], reason[LONGEST_DUMP];
    const char *sources = getenv("CLREDUCE_SRCDIR");
    char *path = sqlite3_mprintf("%s/tests/query/query.test", sources != NULL ? sources : "."), *to;
    const struct section *section = NULL;
    FILE *file = fopen(path, "r");

    open_database();
    TAP_NEED(file != NULL, "cannot read %s", path);
    while (read_line(file, line, sizeof line)) {
        const bool is_where = section == &sections[WHERE] || strncmp(line, "where ", 6) == 0;
        const char *text = section == &sections[WHERE] || !is_where ? line : line + 6;
        char *sql;

        if (strncmp(line, "== ", 3) == 0)
            section = begin_section(line, reason);
        if (strncmp(line, "== ", 3) == 0 || line[0] == '#' || line[0] == '\0')
            continue;
        to = strstr(line, " => ");
        TAP_NEED(section != NULL && (to == NULL) != (reason[0] == '\0'), "no case: %s", line);
        if (to != NULL)
            *to = '\0';
        given = strstr(line, " with ");
        if (given != NULL)
            line[given - line] = '\0';
        given = given == NULL ? "null" : given + strlen(" with ");
        sql = sqlite3_mprintf("%s%s", is_where ? "SELECT count(*) FROM t WHERE " : "", text);
        check(section, sql, to != NULL ? to + 4 : reason);
        sqlite3_free(sql);
    }
    check(&sections[REFUSED], "", "the statement is not complete");
    fclose(file);
    sqlite3_free(path);
}
