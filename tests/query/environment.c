#include "query/environment.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/operators.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

sqlite3 *database;

/* ---- The environment: a table of six numbers, TEXT, timestamps and a generated column. */

static const char *const columns[] = {"a", "b", "c",    "d", "e f",  "true",
                                      "s", "u", "time", "g", "rowid"};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Stores what is known of them. */
static void know_columns(struct clr_known_column known[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        known[i] = (struct clr_known_column){.name = columns[i],
                                             .number = 100 + i,
                                             .is_text = strcmp(columns[i], "s") == 0 ||
                                                        strcmp(columns[i], "u") == 0 ||
                                                        strcmp(columns[i], "time") == 0,
                                             .times = strcmp(columns[i], "time") == 0 ? 7 : 0,
                                             .is_numeric = i == 1 || i == 2 || i == COLUMNS - 1,
                                             .is_real = i == 2,
                                             .is_binary = strcmp(columns[i], "u") != 0,
                                             .collation = "nocase",
                                             .is_rowid = i == COLUMNS - 1,
                                             .readable = strcmp(columns[i], "g") != 0};
}

static bool find_literal(const struct clr_node *node, struct clr_scalar *value)
{
    sqlite3_stmt *statement = NULL;
    char *sql = sqlite3_mprintf("SELECT %s%s", node->negative ? "-" : "", node->names[0].name);
    double real;
    bool found = true;

    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW) {
        found = false;
    } else if (sqlite3_column_type(statement, 0) == SQLITE_INTEGER) {
        value->tag = CLR_TAG_INTEGER;
        value->bits = sqlite3_column_int64(statement, 0);
    } else {
        real = sqlite3_column_double(statement, 0);
        value->tag = CLR_TAG_REAL;
        memcpy(&value->bits, &real, sizeof real);
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return found;
}

sqlite3_stmt *prepare(const char *sql)
{
    sqlite3_stmt *statement = NULL;

    sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    return statement;
}

/* As SQLite has it listed. */
static bool is_deterministic(const char *name)
{
    sqlite3_stmt *listed = prepare("SELECT is_deterministic FROM listed WHERE name = ?");
    bool is;

    sqlite3_bind_text(listed, 1, name, -1, SQLITE_STATIC);
    is = sqlite3_step(listed) == SQLITE_ROW && sqlite3_column_int(listed, 0);
    sqlite3_finalize(listed);
    return is;
}

static unsigned find_subtypes(const char *name)
{
    if (strcmp(name, "json_array") == 0)
        return CLR_SUBTYPE_READ | CLR_SUBTYPE_GIVEN | CLR_SUBTYPE_OWN;
    return strcmp(name, "json") == 0 ? CLR_SUBTYPE_GIVEN | CLR_SUBTYPE_OWN : CLR_SUBTYPE_OWN;
}

static void never(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)context, (void)count, (void)values;
}

static void never_final(sqlite3_context *context)
{
    (void)context;
}

/* Keeps which functions there are, which are hundreds, for who asks for one. */
static void list_functions(void)
{
    char *sql = sqlite3_mprintf(
        "CREATE TEMP TABLE listed(name TEXT COLLATE NOCASE PRIMARY KEY, is_deterministic);"
        "INSERT INTO listed SELECT name, min(type = 's' AND (flags & %d) <> 0) "
        "FROM pragma_function_list GROUP BY name COLLATE NOCASE",
        SQLITE_DETERMINISTIC);

    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        tap_bail("no list of functions: %s", sqlite3_errmsg(database));
    sqlite3_free(sql);
}

void open_database(void)
{
    const struct clr_aggregate *aggregate;
    char name[64];

    sqlite3_close(database);
    if (sqlite3_open(":memory:", &database) != SQLITE_OK ||
        sqlite3_exec(database,
                     "CREATE TABLE t(a, b INTEGER, c REAL, d, \"e f\", \"true\", s TEXT, u TEXT, "
                     "time TEXT);"
                     "CREATE TABLE \"t\"\"2\"(a)",
                     NULL, NULL, NULL) != SQLITE_OK)
        tap_bail("no database");
    for (aggregate = clr_aggregates; aggregate->name != NULL; aggregate++) {
        for (enum clr_form form = 0; form < CLR_FORMS; form++) {
            snprintf(name, sizeof name, "%s%s", aggregate->name, clr_form_suffix(form));
            sqlite3_create_function(database, name,
                                    form & CLR_FORM_MERGE ? 1 : aggregate->arguments, SQLITE_UTF8,
                                    NULL, NULL, never, never_final);
        }
    }
    list_functions();
}

bool is_utf8 = true;

const char *schema = "main";

/* Notes what is known of a SELECT's numbers and functions. */
static void know_nodes(struct clr_syntax *syntax)
{
    for (struct clr_node *node = syntax->numbers.first; node != NULL; node = node->listed)
        node->is_known = find_literal(node, &node->value);
    for (struct clr_node *node = syntax->functions.first; node != NULL; node = node->listed) {
        node->is_deterministic = is_deterministic(node->names[0].name);
        node->is_builtin = node->is_deterministic;
        node->subtypes = find_subtypes(node->names[0].name);
    }
}

enum clr_code make(const char *sql, sqlite3_stmt *statement, struct clr_query **query,
                   struct clr_reason *reason)
{
    /* Of tables that are joined all but the first one have a key. */
    static const struct clr_unique_key key = {
        .count = 1, .columns = {101}, .collations = {"BINARY"}};
    struct clr_known_column known[COLUMNS];
    struct clr_known_table tables[CLR_MOST_SOURCES];
    const struct clr_environment environment = {
        .tables = tables,
        .parameter_count = statement != NULL ? sqlite3_bind_parameter_count(statement) : 0,
        .is_utf8 = is_utf8};
    enum clr_code code = clr_query_parse(sql, query, reason);

    know_columns(known);
    for (int i = 0; i < CLR_MOST_SOURCES; i++)
        tables[i] = (struct clr_known_table){.schema = schema,
                                             .name = "t",
                                             .columns = known,
                                             .column_count = COLUMNS,
                                             .keys = &key,
                                             .key_count = i > 0};
    if (code == CLR_OK) {
        know_nodes((*query)->syntax);
        code = clr_query_bind(*query, &environment, reason);
        if (code != CLR_OK) {
            clr_query_free(*query);
            *query = NULL;
        }
    }
    return code;
}

void fail_allocations(const char *sql, long least)
{
    sqlite3_stmt *statement = prepare(sql);
    bool failed = true;
    long after;

    for (after = 0; failed; after++) {
        struct clr_reason reason = {.code = CLR_WHY_NONE};
        struct clr_query *query;
        enum clr_code code;

        clr_memory_fail_after(after);
        code = make(sql, statement, &query, &reason);
        failed = clr_memory_fail_after(-1);
        batch_ok(code == (failed ? CLR_NOMEM : CLR_OK), "allocation %ld: code %d", after,
                 (int)code);
        clr_query_free(query);
    }
    batch_end("without memory");
    tap_ok(after > least, "every allocation of %ld has failed once", after - 1);
    sqlite3_finalize(statement);
}

const char *text_of(const struct clr_reason *reason)
{
    static char text[CLR_REASON_TEXT];

    clr_reason_print(reason, text);
    return text;
}

char dump[LONGEST_DUMP];
size_t dumped;

void print(const char *format, ...)
{
    TAP_WITH_ARGUMENTS(format, dumped += (size_t)vsnprintf(dump + dumped, sizeof dump - dumped,
                                                           format, arguments));
    TAP_NEED(dumped < sizeof dump, "a dump of more than %d characters", LONGEST_DUMP);
}

static void print_constant(const struct clr_query *query, int i)
{
    static const char *const bounds[] = {"", "below ", "up to ", "that is "};
    const double real = clr_real_of(query->constants[i].bits);

    if (query->bounds[i].kind == CLR_BOUND_FIRST)
        print("bound");
    else if (query->parameters[i] != 0)
        print("%s?%d", bounds[query->bounds[i].kind], query->parameters[i]);
    else if (query->constants[i].tag == CLR_TAG_INTEGER)
        print("%" PRId64, query->constants[i].bits);
    else if (query->constants[i].tag == CLR_TAG_REAL)
        print("%.17g%s", real, fabs(real) < 1e16 && real == floor(real) ? ".0" : "");
    else
        print("NULL");
}

/* Text of a lookup, with that name in the place of the entries'. */
static void print_entries(const char *text, const char *name)
{
    const size_t length = strlen(CLR_LOOKUP_ENTRY);

    while (*text != '\0') {
        if (strncmp(text, CLR_LOOKUP_ENTRY, length) == 0) {
            print("\"%s\"", name);
            text += length;
        } else {
            print("%c", *text++);
        }
    }
}

void print_value(const struct clr_query *query, int i)
{
    const struct clr_instruction *instruction = &query->instructions[i];
    static const char *const units[] =
        TAP_LIST("", " by minute", " by hour", " by day", " by unix minute", " by unix hour",
                 " by unix day", " by Julian day");
    int operands[3] = {instruction->a, instruction->b, instruction->c};

    if (instruction->opcode == CLR_OP_CONSTANT) {
        print_constant(query, instruction->a);
    } else if (instruction->opcode == CLR_OP_COLUMN) {
        print("%s%s", columns[query->columns[instruction->a].number - 100],
              query->columns[instruction->a].times != 0 ? "'s count" : "");
    } else if (instruction->opcode == CLR_OP_LOOKUP && instruction->b == query->lookup_count) {
        print("[%s: extreme]", columns[query->columns[instruction->a].number - 100]);
    } else if (instruction->opcode == CLR_OP_LOOKUP) {
        const struct clr_lookup_plan *lookup = &query->lookups[instruction->b];

        print("[%s%s: ", columns[query->columns[instruction->a].number - 100],
              units[query->columns[instruction->a].unit]);
        print_entries(lookup->text, "entry");
        print_entries(lookup->joins == NULL ? "" : lookup->joins, "entry");
        print("%s]", lookup->is_timed ? " (timed)" : "");
    } else {
        print("(%s", operators[instruction->opcode].name);
        for (int k = 0; k < 3 && strchr(operators[instruction->opcode].sql, '1' + k) != NULL; k++) {
            print(" ");
            print_value(query, operands[k]);
        }
        print(")");
    }
}

/* A lookup's text, with the column's own name. */
static void print_lookup(const struct clr_query *query, const struct clr_lookup_plan *lookup)
{
    print("(+(");
    print_entries(lookup->text, columns[query->columns[lookup->column].number - 100]);
    print("))");
}

void print_sql(const struct clr_query *query, int i)
{
    const struct clr_instruction *instruction = &query->instructions[i];
    const char *form = operators[instruction->opcode].sql;

    if (instruction->opcode == CLR_OP_COLUMN)
        print("(+\"%s\")", columns[query->columns[instruction->a].number - 100]);
    else if (instruction->opcode == CLR_OP_LOOKUP)
        print_lookup(query, &query->lookups[instruction->b]);
    else if (form == NULL)
        print_constant(query, instruction->a);
    for (; form != NULL && *form != '\0'; form++) {
        if (*form == '1')
            print_sql(query, instruction->a);
        else if (*form == '2')
            print_sql(query, instruction->b);
        else if (*form == '3')
            print_sql(query, instruction->c);
        else
            print("%c", *form);
    }
}

/* "gpu_percentile ARGUMENTS asks QUESTION of TALLY". */
static void print_asked(const struct clr_query *query, const struct clr_call *call)
{
    const struct clr_asked *asked = &query->asked[call->question];

    print("%s%s", call->aggregate->name, call->form & CLR_FORM_STATE ? "_state" : "");
    for (int i = 0; i < CLR_MOST_ARGUMENTS && asked->arguments[i] >= 0; i++) {
        print(" ");
        print_constant(query, asked->arguments[i]);
    }
    print(" asks %d of %d", call->question, call->tally);
}

void print_answer(const struct clr_query *query)
{
    static const char rows[] = "\"clreduce_groups\"(";
    const char *answer = query->answer;

    while (*answer != '\0') {
        char number[10], how[10];
        int length = 0;

        if (sscanf(answer, "(+\"c:%9[0-9]\")%n", number, &length) == 1 && length > 0) {
            print("{%s}", number);
        } else if (sscanf(answer, "\"k:%9[0-9]:%9[a-z]\"%n", number, how, &length) == 2 &&
                   length > 0) {
            print("{k%s %s}", number, how);
        } else if (strncmp(answer, rows, sizeof rows - 1) == 0) {
            length = sizeof rows - 1;
            print("groups(");
        } else {
            length = 1;
            print("%c", *answer);
        }
        answer += length;
    }
}

void print_query(const struct clr_query *query)
{
    if (query->filter >= 0) {
        print("where ");
        print_value(query, query->filter);
        print("; ");
    }
    for (int i = 0; i < query->tally_count; i++) {
        const struct clr_tally_plan *tally = &query->tallies[i];
        print("#%d%s%s%s%s%s", i, tally->operations & 1u << CLR_SUM ? "S" : "",
              tally->operations & 1u << CLR_DOT ? "D" : "",
              tally->operations & 1u << CLR_EXTREMES ? "E" : "",
              tally->operations & CLR_KEEP ? "K" : "", tally->operations & CLR_BYTES ? "B" : "");
        if (tally->x >= 0) {
            print(" ");
            print_value(query, tally->x);
        }
        if (tally->y >= 0) {
            print(", ");
            print_value(query, tally->y);
        }
        if (tally->filter >= 0) {
            print(" if ");
            print_value(query, tally->filter);
        }
        print("; ");
    }
    for (int i = 0; i < query->call_count; i++) {
        const struct clr_call *call = &query->calls[i];
        if (call->aggregate->operation >= CLR_OPERATIONS) {
            print("%s", call->aggregate->name);
            for (int term = 0; term < CLR_MOST_TERMS; term++) {
                if (call->terms[term] >= 0)
                    print(" %d:%d", term, call->terms[term]);
            }
            print("%s counts %d", call->form & CLR_FORM_STATE ? " state" : "", call->tally);
        } else if (clr_aggregate_asks(call->aggregate)) {
            print_asked(query, call);
        } else {
            print("%s%s %d", clr_call_name(call), clr_form_suffix(call->form), call->tally);
        }
        print("%s", i + 1 < query->call_count ? ", " : "; ");
    }
    print_answer(query);
}

char *program_of(const char *sql)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    char *explain = sqlite3_mprintf("EXPLAIN %s", sql);
    sqlite3_stmt *statement = prepare(explain);

    if (statement == NULL)
        sqlite3_str_appendall(text, sqlite3_errmsg(database));
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int i = 1; i < 7; i++)
            sqlite3_str_appendf(text, "%s ", sqlite3_column_text(statement, i));
    }
    sqlite3_finalize(statement);
    sqlite3_free(explain);
    return sqlite3_str_finish(text);
}

void is_printed(const struct clr_query *query, sqlite3_stmt *statement, const char *sql)
{
    char *text, *got, *want;

    if (query == NULL || statement == NULL || sqlite3_bind_parameter_count(statement) > 0)
        return;
    text = clr_query_write_select(query);
    got = program_of(text);
    want = program_of(sql);
    tap_is_string(got, want, "printed: %s", text);
    sqlite3_free(got);
    sqlite3_free(want);
    clr_memory_free(text);
}

struct clr_query *bound(const char *sql, struct clr_reason *reason)
{
    sqlite3_stmt *statement = prepare(sql);
    struct clr_query *query;

    if (statement == NULL)
        tap_diag("%s: %s", sql, sqlite3_errmsg(database));
    make(sql, statement, &query, reason);
    sqlite3_finalize(statement);
    return query;
}
