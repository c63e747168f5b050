/* States as bytes: the format to the byte, whatever way the rows came, and what is read again. */
#include "batch.h"
#include "numeric/states/states.h"

/* A row of two operands, written as text: an INTEGER unless it has a point or letters. */
static void add_text(struct state_rows *rows, const char *x_text, const char *y_text)
{
    struct state_operand operand[2];
    const char *text[2];
    int i;

    text[0] = x_text;
    text[1] = y_text;
    for (i = 0; i < 2; i++) {
        operand[i].is_integer = text[i][strspn(text[i], "-0123456789")] == '\0';
        operand[i].integer = strtoll(text[i], NULL, 10);
        operand[i].real = strtod(text[i], NULL);
    }
    state_rows_add(rows, &operand[0], &operand[1], 1);
}

/* The format must not change in silence: states are kept in databases. */
static void test_known_bytes(void)
{
    static const struct {
        enum clr_state_kind kind;
        const char *rows[4][2]; /* x and y */
        const char *hex;
    } known[] = {
        {CLR_STATE_SUM, {{NULL}}, "63 72 01 01  00 00  00"},
        {CLR_STATE_SUM, {{"1"}, {"2"}, {"3"}}, "63 72 01 01  03 00  04 00 06"},
        {CLR_STATE_SUM, {{"5"}, {"-5"}}, "63 72 01 01  02 00  00"},
        {CLR_STATE_SUM, {{"-256"}}, "63 72 01 01  01 00  05 02 01"},
        {CLR_STATE_SUM,
         {{"9223372036854775807"}, {"9223372036854775807"}},
         "63 72 01 01  02 00  20 00 fe ff ff ff ff ff ff ff"},
        {CLR_STATE_SUM, {{"0.5"}, {"2"}}, "63 72 01 01  02 01  08 01 80 02"},
        {CLR_STATE_SUM, {{"3.0"}}, "63 72 01 01  01 01  04 00 03"},
        {CLR_STATE_SUM, {{"0.1"}}, "63 72 01 01  01 01  1c 0d 9a 99 99 99 99 99 19"},
        {CLR_STATE_SUM, {{"0x1p-1074"}}, "63 72 01 01  01 01  04 8d 02 40"},
        {CLR_STATE_SUM, {{"-0x1p1023"}}, "63 72 01 01  01 01  05 fe 01 80"},
        {CLR_STATE_SUM,
         {{"inf"}, {"-inf"}, {"inf"}, {"1"}},
         "63 72 01 01  04 03  06 00 01 02 01 00"},
        {CLR_STATE_SUM, {{"inf"}}, "63 72 01 01  01 01  02 01 00 00"},
        {CLR_STATE_DOT, {{NULL}}, "63 72 01 02  00 00  00"},
        {CLR_STATE_DOT, {{"3", "4"}, {"5", "-6"}}, "63 72 01 02  02 00  05 00 12"},
        {CLR_STATE_DOT, {{"0x1p-1074", "0x1p-1074"}}, "63 72 01 02  01 01  04 99 04 10"},
        {CLR_STATE_DOT, {{"inf", "0"}}, "63 72 01 02  01 01  02 00 00 01"},
        {CLR_STATE_SQUARES, {{NULL}}, "63 72 01 05  00 00  00 00"},
        {CLR_STATE_SQUARES, {{"2"}, {"-3"}}, "63 72 01 05  02 00  05 00 01  04 00 0d"},
        {CLR_STATE_SQUARES, {{"-1.5"}}, "63 72 01 05  01 01  09 01 80 01  08 01 40 02"},
        {CLR_STATE_SQUARES,
         {{"-inf"}, {"1"}},
         "63 72 01 05  02 01  06 00 01 00 01 00  06 00 01 01 00 00"},
        {CLR_STATE_PAIRS, {{NULL}}, "63 72 01 06  00 00  00 00 00 00 00"},
        {CLR_STATE_PAIRS,
         {{"1", "10"}, {"2", "20"}, {"3", "31"}},
         "63 72 01 06  03 00  04 00 06  04 00 3d  04 00 0e  08 00 b5 05  04 00 8f"},
        {CLR_STATE_PAIRS,
         {{"1", "10"}, {"2", "20"}, {"3", "300"}},
         "63 72 01 06  03 00  04 00 06  08 00 4a 01  04 00 0e  0c 00 84 61 01  08 00 b6 03"}};
    size_t i, j;

    batch_begin();
    for (i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct bytes want = from_hex(known[i].hex), got;
        struct state_rows rows;
        state_rows_begin(&rows, known[i].kind);
        for (j = 0; j < 4 && known[i].rows[j][0] != NULL; j++)
            add_text(&rows, known[i].rows[j][0],
                     known[i].rows[j][1] != NULL ? known[i].rows[j][1] : "0");
        got = encode(rows.kind, &rows.sums);
        if (!batch_ok(same(&got, &want), "known state %d", (int)i)) {
            show(" got:", &got);
            show("want:", &want);
        }
    }
    batch_end("states with known bytes");
}

static void test_known_extremes(void)
{
    static const struct {
        enum clr_state_kind kind;
        struct clr_value value;
        const char *hex;
    } known[] = {
        {CLR_STATE_MIN, {.kind = CLR_KIND_NONE}, "63 72 01 03  00"},
        {CLR_STATE_MAX, {.kind = CLR_KIND_NONE}, "63 72 01 04  00"},
        {CLR_STATE_MIN, {.kind = CLR_KIND_INTEGER, .as.integer = 0}, "63 72 01 03  01 00"},
        {CLR_STATE_MIN, {.kind = CLR_KIND_INTEGER, .as.integer = -1}, "63 72 01 03  01 01"},
        {CLR_STATE_MAX, {.kind = CLR_KIND_INTEGER, .as.integer = 100}, "63 72 01 04  01 c8 01"},
        {CLR_STATE_MAX,
         {.kind = CLR_KIND_INTEGER, .as.integer = INT64_MAX},
         "63 72 01 04  01 fe ff ff ff ff ff ff ff ff 01"},
        {CLR_STATE_MIN,
         {.kind = CLR_KIND_INTEGER, .as.integer = INT64_MIN},
         "63 72 01 03  01 ff ff ff ff ff ff ff ff ff 01"},
        {CLR_STATE_MIN,
         {.kind = CLR_KIND_REAL, .as.real = -0.0},
         "63 72 01 03  02 00 00 00 00 00 00 00 80"},
        {CLR_STATE_MAX,
         {.kind = CLR_KIND_REAL, .as.real = 0.1},
         "63 72 01 04  02 9a 99 99 99 99 99 b9 3f"},
        {CLR_STATE_MAX,
         {.kind = CLR_KIND_REAL, .as.real = INFINITY},
         "63 72 01 04  02 00 00 00 00 00 00 f0 7f"},
        {CLR_STATE_MAX, {.kind = CLR_KIND_TEXT, .as.size = 0, .bytes = ""}, "63 72 01 04  03"},
        {CLR_STATE_MAX,
         {.kind = CLR_KIND_TEXT, .as.size = 3, .bytes = "a\0c"},
         "63 72 01 04  03 61 00 63"},
        {CLR_STATE_MIN, {.kind = CLR_KIND_BLOB, .as.size = 0}, "63 72 01 03  04"},
        {CLR_STATE_MIN,
         {.kind = CLR_KIND_BLOB, .as.size = 2, .bytes = "cr"},
         "63 72 01 03  04 63 72"}};
    size_t i;

    batch_begin();
    for (i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct bytes want = from_hex(known[i].hex), got;
        struct clr_value value = {.kind = CLR_KIND_NONE};
        got.size = clr_state_encode_extreme(known[i].kind, &known[i].value, got.data);
        batch_ok(clr_state_encode_extreme(known[i].kind, &known[i].value, NULL) == got.size,
                 "the size of known extreme %d", (int)i);
        if (!batch_ok(same(&got, &want), "known extreme %d", (int)i)) {
            show(" got:", &got);
            show("want:", &want);
        }
        batch_ok(clr_state_decode_extreme(want.data, want.size, known[i].kind, &value) ==
                         CLR_STATE_SOUND &&
                     value.kind == known[i].value.kind &&
                     (value.kind == CLR_KIND_NONE ||
                      (clr_value_compare(&value, &known[i].value, 1) == 0 &&
                       (value.kind != CLR_KIND_REAL ||
                        signbit(value.as.real) == signbit(known[i].value.as.real)))),
                 "known extreme %d, read", (int)i);
    }
    batch_end("extremes with known bytes");
}

/* Results are those of the sums that a state was made of, to the bit, and of the same type. */
static void check_results(enum clr_state_kind kind, const struct clr_sums *got,
                          const struct clr_sums *want, const char *what)
{
    uint64_t divisor = want->count > 0 ? (uint64_t)want->count : 1;
    int i;

    batch_ok(got->count == want->count && got->non_integers == want->non_integers, "%s: counts",
             what);
    for (i = 0; i < clr_state_sums(kind); i++) {
        batch_double(clr_sum_round(got->sums[i], 1), clr_sum_round(want->sums[i], 1), "%s: sum %d",
                     what, i);
        batch_double(clr_sum_round(got->sums[i], divisor), clr_sum_round(want->sums[i], divisor),
                     "%s: mean %d", what, i);
        if (want->non_integers == 0)
            batch_ok(memcmp(&got->sums[i]->integer, &want->sums[i]->integer,
                            sizeof want->sums[i]->integer) == 0,
                     "%s: integer %d", what, i);
    }
}

/* Against the bytes that the tests' own arithmetic writes, and there and back. */
static void test_random(enum clr_state_kind kind)
{
    static struct state_rows rows;
    int rounds = tap_is_quick() ? 300 : 3000, round, count;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        enum state_flavour flavour = (enum state_flavour)(round % STATE_FLAVOURS);
        struct clr_sum memory[CLR_MOST_TERMS];
        struct clr_sums sums;
        struct bytes want, got;
        state_rows_begin(&rows, kind);
        for (count = (int)random_below(12); count > 0; count--)
            add_random(&rows, flavour);
        want.size = state_rows_bytes(&rows, want.data);
        got = encode(rows.kind, &rows.sums);
        if (!batch_ok(same(&got, &want), "a state of flavour %d", flavour)) {
            show(" got:", &got);
            show("want:", &want);
        }
        sums = state_begin(memory);
        batch_ok(clr_state_decode(want.data, want.size, kind, &sums, 1) == CLR_STATE_SOUND,
                 "flavour %d is read", flavour);
        check_results(kind, &sums, &rows.sums, "there and back");
    }
    batch_end("random states of kind %d", kind);
}

/* Rows in groups, merged in any order, some groups in and out again: the bytes of all at once. */
static void test_splits(enum clr_state_kind kind)
{
    enum { MOST = 7 };
    static struct state_rows whole, group[MOST];
    int rounds = tap_is_quick() ? 100 : 1000, round, i;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        enum state_flavour flavour = (enum state_flavour)(round % STATE_FLAVOURS);
        int groups = random_between(1, MOST), count = (int)random_below(40);
        struct clr_sum memory[CLR_MOST_TERMS];
        struct clr_sums merged;
        struct bytes state, want, got;
        bool sound = true;

        state_rows_begin(&whole, kind);
        for (i = 0; i < groups; i++)
            state_rows_begin(&group[i], kind);
        while (count-- > 0) {
            struct state_operand x = state_operand(flavour), y = state_operand(flavour);
            state_rows_add(&whole, &x, &y, 1);
            state_rows_add(&group[random_below((uint64_t)groups)], &x, &y, 1);
        }
        merged = state_begin(memory);
        for (i = groups - 1; i >= 0; i--) {
            int other = (int)random_below((uint64_t)groups);
            state = encode(group[i].kind, &group[i].sums);
            sound = sound && clr_state_decode(state.data, state.size, kind, &merged, 1) == 0;
            state = encode(group[other].kind, &group[other].sums);
            sound = sound && clr_state_decode(state.data, state.size, kind, &merged, 1) == 0 &&
                    clr_state_decode(state.data, state.size, kind, &merged, -1) == 0;
        }
        batch_ok(sound, "groups of flavour %d are read", flavour);
        want = encode(whole.kind, &whole.sums);
        got = encode(kind, &merged);
        if (!batch_ok(same(&got, &want), "groups of flavour %d", flavour)) {
            show(" got:", &got);
            show("want:", &want);
        }
        check_results(kind, &merged, &whole.sums, "groups");
    }
    batch_end("groups that are merged, kind %d", kind);
}

/* A REAL that has come and gone again leaves a total of integers an INTEGER. */
static void test_leaving_real(void)
{
    struct bytes integers = from_hex("63 72 01 01  03 00  04 00 06");
    struct bytes real = from_hex("63 72 01 01  01 01  1c 0d 9a 99 99 99 99 99 19");
    struct bytes huge = from_hex("63 72 01 01  01 01  05 fe 01 80"), got;
    struct clr_sum memory[CLR_MOST_TERMS];
    struct clr_sums sums;
    int64_t total;

    sums = state_begin(memory);
    clr_state_decode(huge.data, huge.size, CLR_STATE_SUM, &sums, 1);
    clr_state_decode(integers.data, integers.size, CLR_STATE_SUM, &sums, 1);
    clr_state_decode(real.data, real.size, CLR_STATE_SUM, &sums, 1);
    tap_is_double(clr_sum_round(&memory[0], 1), -0x1p1023, "a total of all kinds");
    clr_state_decode(huge.data, huge.size, CLR_STATE_SUM, &sums, -1);
    tap_is_double(clr_sum_round(&memory[0], 1), 0.1 + 6, "without the huge one");
    clr_state_decode(real.data, real.size, CLR_STATE_SUM, &sums, -1);
    got = encode(CLR_STATE_SUM, &sums);
    tap_ok(sums.non_integers == 0 && clr_int192_to_int64(&memory[0].integer, &total) &&
               total == 6 && same(&got, &integers),
           "without the REAL it is an INTEGER");
}

static void test_sizes(void)
{
    static const struct {
        enum clr_state_kind kind;
        enum state_flavour flavour;
        size_t most;
    } sizes[] = {{CLR_STATE_SUM, STATE_SMALL, 11},    {CLR_STATE_SUM, STATE_INTEGERS, 19},
                 {CLR_STATE_SUM, STATE_TAME, 24},     {CLR_STATE_DOT, STATE_SMALL, 13},
                 {CLR_STATE_DOT, STATE_INTEGERS, 27}, {CLR_STATE_SQUARES, STATE_SMALL, 16},
                 {CLR_STATE_PAIRS, STATE_SMALL, 30},  {CLR_STATE_PAIRS, STATE_TAME, 110}};
    static struct state_rows rows;
    size_t i;
    int row;

    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct bytes bytes;
        state_rows_begin(&rows, sizes[i].kind);
        for (row = 0; row < 1000; row++) {
            struct state_operand x = state_operand(sizes[i].flavour);
            struct state_operand y = state_operand(sizes[i].flavour);
            state_rows_add(&rows, &x, &y, 1);
        }
        bytes = encode(rows.kind, &rows.sums);
        tap_ok(bytes.size <= sizes[i].most, "kind %d, flavour %d: %d bytes, no more than %d",
               sizes[i].kind, sizes[i].flavour, (int)bytes.size, (int)sizes[i].most);
    }
}

TAP_TEST(test_state_format)
{
    int i;

    test_known_bytes();
    test_known_extremes();
    for (i = 0; i < SUM_KINDS; i++) {
        test_random(sum_kinds[i]);
        test_splits(sum_kinds[i]);
    }
    test_leaving_real();
    test_sizes();
}
