/* Queries as text. */
#ifndef CLR_TESTS_QUERY_TEXT_H
#define CLR_TESTS_QUERY_TEXT_H

#include "query/environment.h"

enum { LONGEST_DUMP = 8000 };

static char dump[LONGEST_DUMP];
static size_t dumped;

static inline void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void print(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    dumped += (size_t)vsnprintf(dump + dumped, sizeof dump - dumped, format, arguments);
    va_end(arguments);
    if (dumped >= sizeof dump)
        tap_bail("a dump of more than %d characters", LONGEST_DUMP);
}

static inline void print_constant(const struct clr_query *query, int i)
{
    double real;

    memcpy(&real, &query->constants[i].bits, sizeof real);
    if (query->parameters[i] != 0)
        print("?%d", query->parameters[i]);
    else if (query->constants[i].tag == CLR_TAG_INTEGER)
        print("%" PRId64, query->constants[i].bits);
    else if (query->constants[i].tag == CLR_TAG_REAL)
        print("%.17g%s", real, fabs(real) < 1e16 && real == floor(real) ? ".0" : "");
    else
        print("NULL");
}

static inline void print_value(const struct clr_query *query, int i)
{
    static const struct {
        const char *name;
        int operands;
    } opcodes[CLR_OPCODES] = {
        [CLR_OP_ADD] = {"+", 2},
        [CLR_OP_SUBTRACT] = {"-", 2},
        [CLR_OP_MULTIPLY] = {"*", 2},
        [CLR_OP_DIVIDE] = {"/", 2},
        [CLR_OP_REMAINDER] = {"%", 2},
        [CLR_OP_EQUAL] = {"=", 2},
        [CLR_OP_UNEQUAL] = {"<>", 2},
        [CLR_OP_LESS] = {"<", 2},
        [CLR_OP_LESS_EQUAL] = {"<=", 2},
        [CLR_OP_GREATER] = {">", 2},
        [CLR_OP_GREATER_EQUAL] = {">=", 2},
        [CLR_OP_IS] = {"is", 2},
        [CLR_OP_IS_NOT] = {"isnot", 2},
        [CLR_OP_IS_NULL] = {"null", 1},
        [CLR_OP_NOT_NULL] = {"there", 1},
        [CLR_OP_AND] = {"and", 2},
        [CLR_OP_OR] = {"or", 2},
        [CLR_OP_NOT] = {"not", 1},
        [CLR_OP_IF] = {"if", 3},
        [CLR_OP_COALESCE] = {"coalesce", 2},
        [CLR_OP_LEAST] = {"least", 2},
        [CLR_OP_GREATEST] = {"greatest", 2},
        [CLR_OP_ABSOLUTE] = {"abs", 1},
        [CLR_OP_BIT_AND] = {"&", 2},
        [CLR_OP_BIT_OR] = {"|", 2},
        [CLR_OP_BIT_NOT] = {"~", 1},
        [CLR_OP_SHIFT_LEFT] = {"<<", 2},
        [CLR_OP_SHIFT_RIGHT] = {">>", 2},
        [CLR_OP_TO_INTEGER] = {"integer", 1},
        [CLR_OP_TO_REAL] = {"real", 1},
        [CLR_OP_ROUND] = {"round", 1},
        [CLR_OP_FLOOR] = {"floor", 1},
        [CLR_OP_CEILING] = {"ceiling", 1},
        [CLR_OP_TRUNCATE] = {"truncate", 1},
        [CLR_OP_SIGN] = {"sign", 1},
    };
    const struct clr_instruction *instruction = &query->instructions[i];
    int operands[3] = {instruction->a, instruction->b, instruction->c}, k;

    if (instruction->opcode == CLR_OP_CONSTANT) {
        print_constant(query, instruction->a);
    } else if (instruction->opcode == CLR_OP_COLUMN) {
        print("%s", columns[query->columns[instruction->a] - 100]);
    } else if (instruction->opcode == CLR_OP_LOOKUP) {
        print("[%s: %s%s]", columns[query->columns[instruction->a] - 100],
              query->lookups[instruction->b].text,
              query->lookups[instruction->b].is_timed ? " (timed)" : "");
    } else {
        print("(%s", opcodes[instruction->opcode].name);
        for (k = 0; k < opcodes[instruction->opcode].operands; k++) {
            print(" ");
            print_value(query, operands[k]);
        }
        print(")");
    }
}

/* A lookup's text, with the column's own name. */
static inline void print_lookup(const struct clr_query *query, const struct clr_lookup_plan *lookup)
{
    const char *column = columns[query->columns[lookup->column] - 100], *p;
    const size_t length = strlen("\"" CLR_LOOKUP_COLUMN "\"");

    print("(+(");
    for (p = lookup->text; *p != '\0';) {
        if (strncmp(p, "\"" CLR_LOOKUP_COLUMN "\"", length) == 0) {
            print("\"%s\"", column);
            p += length;
        } else {
            print("%c", *p++);
        }
    }
    print("))");
}

/* The same as SQL, with parentheses around everything, and nothing that has an affinity. */
static inline void print_sql(const struct clr_query *query, int i)
{
    /* 1, 2 and 3 are the operands. */
    static const char *const forms[CLR_OPCODES] = {
        [CLR_OP_ADD] = "(1 + 2)",
        [CLR_OP_SUBTRACT] = "(1 - 2)",
        [CLR_OP_MULTIPLY] = "(1 * 2)",
        [CLR_OP_DIVIDE] = "(1 / 2)",
        [CLR_OP_REMAINDER] = "(1 % 2)",
        [CLR_OP_EQUAL] = "(1 = 2)",
        [CLR_OP_UNEQUAL] = "(1 <> 2)",
        [CLR_OP_LESS] = "(1 < 2)",
        [CLR_OP_LESS_EQUAL] = "(1 <= 2)",
        [CLR_OP_GREATER] = "(1 > 2)",
        [CLR_OP_GREATER_EQUAL] = "(1 >= 2)",
        [CLR_OP_IS] = "(1 IS (2))",
        [CLR_OP_IS_NOT] = "(1 IS NOT (2))",
        [CLR_OP_IS_NULL] = "(1 ISNULL)",
        [CLR_OP_NOT_NULL] = "(1 NOTNULL)",
        [CLR_OP_AND] = "(1 AND 2)",
        [CLR_OP_OR] = "(1 OR 2)",
        [CLR_OP_NOT] = "(NOT 1)",
        [CLR_OP_IF] = "(CASE WHEN 1 THEN 2 ELSE 3 END)",
        [CLR_OP_COALESCE] = "coalesce(1, 2)",
        [CLR_OP_LEAST] = "min(1, 2)",
        [CLR_OP_GREATEST] = "max(1, 2)",
        [CLR_OP_ABSOLUTE] = "abs(1)",
        [CLR_OP_BIT_AND] = "(1 & 2)",
        [CLR_OP_BIT_OR] = "(1 | 2)",
        [CLR_OP_BIT_NOT] = "(~1)",
        [CLR_OP_SHIFT_LEFT] = "(1 << 2)",
        [CLR_OP_SHIFT_RIGHT] = "(1 >> 2)",
        [CLR_OP_TO_INTEGER] = "CAST(1 AS INT)",
        [CLR_OP_TO_REAL] = "CAST(1 AS REAL)",
        [CLR_OP_ROUND] = "round(1)",
        [CLR_OP_FLOOR] = "floor(1)",
        [CLR_OP_CEILING] = "ceil(1)",
        [CLR_OP_TRUNCATE] = "trunc(1)",
        [CLR_OP_SIGN] = "sign(1)",
    };
    const struct clr_instruction *instruction = &query->instructions[i];
    const char *form = forms[instruction->opcode];

    if (instruction->opcode == CLR_OP_COLUMN)
        print("(+\"%s\")", columns[query->columns[instruction->a] - 100]);
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
static inline void print_asked(const struct clr_query *query, const struct clr_call *call)
{
    const struct clr_asked *asked = &query->asked[call->question];
    int i;

    print("%s%s", call->aggregate->name, call->form & CLR_FORM_STATE ? "_state" : "");
    for (i = 0; i < CLR_MOST_ARGUMENTS && asked->arguments[i] >= 0; i++) {
        print(" ");
        print_constant(query, asked->arguments[i]);
    }
    print(" asks %d of %d", call->question, call->tally);
}

/* The finishing SELECT: {0} is the result of the first call, {k0 blob} the first key as a column of
   that affinity, groups(?1) where the rows come from. */
static inline void print_answer(const struct clr_query *query)
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

/* "where FILTER; #0 OPERATIONS x, y if FILTER; #1 ...; calls; finish" */
static inline const char *print_query(const struct clr_query *query)
{
    int i, term;

    dumped = 0;
    dump[0] = '\0';
    if (query->filter >= 0) {
        print("where ");
        print_value(query, query->filter);
        print("; ");
    }
    for (i = 0; i < query->tally_count; i++) {
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
    for (i = 0; i < query->call_count; i++) {
        const struct clr_call *call = &query->calls[i];
        if (call->aggregate->operation >= CLR_OPERATIONS) {
            print("%s", call->aggregate->name);
            for (term = 0; term < CLR_MOST_TERMS; term++) {
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
    return dump;
}

#endif
