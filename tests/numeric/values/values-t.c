/*
 * Operators against SQLite's own, on all pairs of values that are hard on them: one by one in
 * kernels/scan/values.cl, and as scans over columns of one type and of all types.
 */
#include "batch.h"
#include "numeric/operators.h"
#include "numeric/scan/evaluate.h"
#include "numeric/scan_reference.h"
#include "random.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

enum { MOST_VALUES = 64 };

static bool takes(const struct operator* operator, char operand)
{
    return strchr(operator->sql, operand) != NULL;
}

static scalar hostile[MOST_VALUES];
static int hostile_count;

static void add_hostile(scalar value)
{
    hostile[hostile_count++] = value;
}

static void make_hostile(void)
{
    const int64_t two53 = (int64_t)1 << 53;
    const int64_t integers[] = TAP_LIST(0, 1, -1, 2, -7, INT64_MIN, INT64_MIN + 1, INT64_MAX,
                                        INT64_MAX - 1, two53, two53 + 1, two53 - 1, -two53 - 1, 63,
                                        -63, 64, -64, 65, 3037000500, 4294967296, -2147483649);
    const double reals[] =
        TAP_LIST(0.0, -0.0, 0.5, -0.5, 0x1.fffffffffffffp-2, -1.5, 3.5, 0x1p52, -0x1p52 + 0.5,
                 -0x1p52 - 1.0, 1.0, -1.0, 2.5, -7.0, 1e308, -1e308, 0x1p-1074, -0x1p-1074,
                 INFINITY, -INFINITY, 0x1p63, -0x1p63, 0x1.fffffffffffffp62, -0x1.0000000000001p63,
                 0x1p53, 0x1p53 + 2, -0x1p53 + 1.0, 1e19, 4294967296.5);

    add_hostile(scalar_of(VALUE_NULL, 0));
    TAP_EACH (i, integers)
        add_hostile(scalar_integer(integers[i]));
    TAP_EACH (i, reals)
        add_hostile(scalar_of(VALUE_REAL, value_bits_of(reals[i])));
}

static bool same(scalar a, scalar b)
{
    return a.tag == b.tag && a.bits == b.bits;
}

static void bind(sqlite3_stmt *statement, int number, scalar value)
{
    if (number > sqlite3_bind_parameter_count(statement))
        return;
    if (value.tag == VALUE_INTEGER)
        sqlite3_bind_int64(statement, number, value.bits);
    else if (value.tag == VALUE_REAL)
        sqlite3_bind_double(statement, number, value_real_of(value.bits));
    else
        sqlite3_bind_null(statement, number);
}

/* An error is what the operators call unsure. */
static scalar ask_sqlite(sqlite3_stmt *statement, scalar a, scalar b, scalar c)
{
    scalar result = scalar_of(VALUE_UNSURE, 0);

    bind(statement, 1, a);
    bind(statement, 2, b);
    bind(statement, 3, c);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        switch (sqlite3_column_type(statement, 0)) {
        case SQLITE_INTEGER:
            result = scalar_integer(sqlite3_column_int64(statement, 0));
            break;
        case SQLITE_FLOAT:
            result = scalar_of(VALUE_REAL, value_bits_of(sqlite3_column_double(statement, 0)));
            break;
        default:
            result = scalar_of(VALUE_NULL, 0);
        }
    }
    sqlite3_reset(statement);
    return result;
}

/* The rows of a scan: their operands, and what comes out. */
enum { MOST_ROWS = MOST_VALUES * MOST_VALUES };
static struct {
    struct clr_column *a, *b, *row;
    scalar want[MOST_ROWS];
    size_t count;
} table;

static void add_row(scalar a, scalar b, scalar want)
{
    size_t row = table.count++;

    table.a->values[row] = a.bits;
    table.b->values[row] = b.bits;
    table.a->tags[row] = (uint8_t)a.tag;
    table.b->tags[row] = (uint8_t)b.tag;
    table.row->values[row] = (int64_t)row;
    table.want[row] = want;
}

/* The value in a state of one row's extremes. */
static scalar get_value(const struct clr_state *state)
{
    if (state->integers.seen)
        return scalar_integer(state->integers.least);
    if (state->reals.seen)
        return scalar_of(VALUE_REAL, clr_real_to_key(state->reals.least));
    return scalar_of(VALUE_NULL, 0);
}

/* Each row's value is read by a filter that lets that row pass alone. */
static void check_scans(const struct operator* operator, scalar third, const char *types)
{
    struct clr_column *columns[] = {table.a, table.b, table.row};
    struct clr_scalar constants[] = {{(uint8_t)third.tag, third.bits}, {CLR_TAG_INTEGER, 0}};
    const struct clr_instruction instructions[] = {
        {CLR_OP_COLUMN, 0, 0, 0},
        {CLR_OP_COLUMN, 1, 0, 0},
        {CLR_OP_COLUMN, 2, 0, 0},
        {CLR_OP_CONSTANT, 0, 0, 0},
        {CLR_OP_CONSTANT, 1, 0, 0},
        {CLR_OP_EQUAL, 2, 4, 0},
        {(enum clr_opcode)(operator- operators), 0, 1, 3}};
    struct clr_tally tally = {.operations = 1 << CLR_EXTREMES, .x = 6, .y = -1, .filter = 5};
    struct clr_scan scan = {.instruction_count = 7,
                            .constant_count = 2,
                            .column_count = 3,
                            .tally_count = 1,
                            .filter = -1,
                            .instructions = instructions,
                            .constants = constants,
                            .columns = columns,
                            .rows = table.count,
                            .tallies = &tally};
    atomic_bool stop = false;

    for (size_t row = 0; row < table.count;
         row += tap_is_quick() ? (size_t)random_between(1, 40) : 1) {
        size_t first = row - row % 1024;
        size_t last = first + 1024 < table.count ? first + 1024 : table.count;
        enum clr_scan_outcome outcome;
        scalar got = scalar_of(VALUE_UNSURE, 0);
        constants[1].bits = (int64_t)row;
        outcome = clr_evaluate(&scan, first, last, &tally.state, NULL, &stop);
        if (outcome == CLR_SCAN_DONE)
            got = get_value(&tally.state);
        batch_ok(same(got, table.want[row]),
                 "%s of %s, row %zu: %d %llx, want %d %llx", operator->sql, types, row, got.tag,
                 (long long)got.bits, table.want[row].tag, (long long)table.want[row].bits);
    }
}

/* Pairs whose tags are among those of the masks. Columns with one tag are plain. */
static void check_types(const struct operator* operator, sqlite3_stmt * statement, unsigned a_types,
                        unsigned b_types, scalar third)
{
    char types[64];

    table.count = 0;
    for (int i = 0; i < hostile_count; i++) {
        for (int j = 0; j < hostile_count; j++) {
            scalar want;
            if (!(a_types >> hostile[i].tag & 1) || !(b_types >> hostile[j].tag & 1))
                continue;
            want = ask_sqlite(statement, hostile[i], hostile[j], third);
            batch_ok(same(reference_operate((enum clr_opcode)(operator- operators), hostile[i],
                                            hostile[j], third),
                          want),
                     "%s of values %d and %d", operator->sql, i, j);
            add_row(hostile[i], hostile[j], want);
        }
    }
    table.a->rows = table.b->rows = table.row->rows = table.count;
    table.a->kind = a_types & (a_types - 1) ? CLR_TAG_MIXED : table.a->tags[0];
    table.b->kind = b_types & (b_types - 1) ? CLR_TAG_MIXED : table.b->tags[0];
    snprintf(types, sizeof types, "types %x and %x", a_types, b_types);
    check_scans(operator, third, types);
}

static void check_operator(sqlite3 *db, const struct operator* operator)
{
    static const unsigned types[] = {1, 2, 4, 3, 5, 7};
    sqlite3_stmt *statement;
    char sql[128] = "SELECT ";
    const char *from;
    size_t i;

    for (from = operator->sql, i = strlen(sql); *from != '\0'; from++) {
        if (*from >= '1' && *from <= '3')
            sql[i++] = '?';
        sql[i++] = *from;
    }
    TAP_NEED(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql,
             sqlite3_errmsg(db));
    for (i = 0; i < sizeof types / sizeof types[0]; i++) {
        TAP_EACH (j, types) {
            check_types(operator, statement, types[i], types[j], scalar_integer(0));
            if (takes(operator, '3')) {
                check_types(operator, statement, types[i], types[j],
                            scalar_of(VALUE_REAL, value_bits_of(0.25)));
                check_types(operator, statement, types[i], types[j], scalar_of(VALUE_NULL, 0));
            }
        }
    }
    batch_end("%s", operator->sql);
    sqlite3_finalize(statement);
}

/* floor() and what follows are functions of SQLite only if it was built with them. */
static bool has_mathematics(sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    const bool has = sqlite3_prepare_v2(db, "SELECT floor(1)", -1, &statement, NULL) == SQLITE_OK;

    sqlite3_finalize(statement);
    return has;
}

/* TEXT and BLOB, of which nothing is known but that they are there. */
static void check_unknown(void)
{
    const scalar other = scalar_of(VALUE_BYTES, 0), unsure = scalar_of(VALUE_UNSURE, 0);
    const scalar null = scalar_of(VALUE_NULL, 0), one = scalar_integer(1);

    for (enum clr_opcode opcode = CLR_OP_ADD; opcode < CLR_OPCODES; opcode++) {
        bool tests = opcode == CLR_OP_IS_NULL || opcode == CLR_OP_NOT_NULL;
        bool passes = opcode == CLR_OP_COALESCE;
        scalar want = tests ? scalar_integer(opcode == CLR_OP_NOT_NULL) : passes ? other : unsure;
        batch_ok(same(reference_operate(opcode, other, one, one), want), "%s",
                 operators[opcode].sql);
        batch_ok(same(reference_operate(opcode, unsure, null, one), unsure), "%s",
                 operators[opcode].sql);
        if (takes(&operators[opcode], '2') && !takes(&operators[opcode], '3') && !passes)
            batch_ok(same(reference_operate(opcode, null, other, one), unsure), "%s",
                     operators[opcode].sql);
    }
    batch_ok(same(scalar_if(one, null, unsure), null), "the branch not taken");
    batch_ok(same(scalar_if(null, unsure, other), other), "the branch taken");
    batch_ok(same(scalar_coalesce(null, other), other), "coalesce(NULL, TEXT)");
    batch_ok(same(scalar_coalesce(one, unsure), one), "coalesce of what is there");
    batch_end("values that are not known");
}

TAP_TEST(all_tests)
{
    sqlite3 *db;

    TAP_NEED(sqlite3_open(":memory:", &db) == SQLITE_OK, "no database");
    make_hostile();
    table.a = clr_column_new(MOST_ROWS);
    table.b = clr_column_new(MOST_ROWS);
    table.row = clr_column_new(MOST_ROWS);
    TAP_NEED(table.a != NULL && table.b != NULL && table.row != NULL, "no memory");
    table.row->kind = CLR_TAG_INTEGER;
    for (int i = CLR_OP_ADD; i < CLR_OPCODES; i++) {
        if (operators[i].sql != NULL && (i < CLR_OP_FLOOR || has_mathematics(db)))
            check_operator(db, &operators[i]);
    }
    check_unknown();
    clr_column_release(table.a);
    clr_column_release(table.b);
    clr_column_release(table.row);
    sqlite3_close(db);
}
