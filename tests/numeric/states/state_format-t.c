/* States as bytes: the format to the byte, whatever way the rows came; and bytes that are none. */
#include "numeric/state_histograms.h"
#include "numeric/state_refusals.h"
#include "numeric/state_rows.h"
#include "numeric/state_text.h"

#include "batch.h"

static const enum clr_state_kind sum_kinds[] = {CLR_STATE_SUM, CLR_STATE_DOT, CLR_STATE_SQUARES,
                                                CLR_STATE_PAIRS};
enum { SUM_KINDS = 4 };

static struct bytes encode(enum clr_state_kind kind, const struct clr_sums *sums)
{
    struct bytes bytes;

    bytes.size = clr_state_encode(kind, sums, bytes.data);
    return bytes;
}

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

static void add_random(struct state_rows *rows, enum state_flavour flavour)
{
    struct state_operand x = state_operand(flavour), y = state_operand(flavour);

    state_rows_add(rows, &x, &y, 1);
    if (random_below(8) == 0) {
        /* in and out again, as in a window */
        x = state_operand(STATE_INFINITE);
        y = state_operand(STATE_INFINITE);
        state_rows_add(rows, &x, &y, 1);
        state_rows_add(rows, &x, &y, -1);
    }
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

static const char *const fault_names[] = {"sound",         "too short",    "no state",
                                          "newer version", "other kind",   "not canonical",
                                          "inconsistent",  "bytes behind", "too many rows"};
enum { FAULTS = sizeof fault_names / sizeof fault_names[0] };

/* Hostile states, each with what is wrong with it. */
static void test_refusals(void)
{
    size_t i;

    for (i = 0; i < sizeof state_refusals / sizeof state_refusals[0]; i++) {
        struct bytes bytes = from_hex(state_refusals[i].hex);
        enum clr_state_fault fault;
        const char *wrong = state_probe(bytes.data, bytes.size, state_refusals[i].kind, &fault);
        if (!tap_ok(wrong == NULL && fault == state_refusals[i].fault, "%s: %s",
                    state_refusals[i].what, fault_names[state_refusals[i].fault]))
            tap_diag("%s; got: %s", wrong != NULL ? wrong : "", fault_names[fault]);
    }
}

/* Every beginning of a state is too short, and every continuation too long. */
static void test_cuts(void)
{
    static struct histogram histogram;
    static struct state_rows rows;
    size_t size;
    int round, i;

    batch_begin();
    for (round = 0; round < (SUM_KINDS + 1) * STATE_FLAVOURS; round++) {
        const int which = round % (SUM_KINDS + 1);
        enum clr_state_kind kind = which < SUM_KINDS ? sum_kinds[which] : CLR_STATE_BINS;
        enum clr_state_fault fault;
        struct bytes bytes;
        draw_histogram(&histogram);
        state_rows_begin(&rows, kind);
        for (i = 0; i < 5; i++)
            add_random(&rows, (enum state_flavour)(round / (SUM_KINDS + 1)));
        bytes = which < SUM_KINDS ? encode(rows.kind, &rows.sums) : histogram_bytes(&histogram);
        for (size = 0; size < bytes.size; size++)
            batch_ok(state_probe(bytes.data, size, kind, &fault) == NULL &&
                         fault == CLR_STATE_TOO_SHORT,
                     "kind %d, %d of %d bytes", kind, (int)size, (int)bytes.size);
        bytes.data[bytes.size] = 0;
        batch_ok(state_probe(bytes.data, bytes.size + 1, kind, &fault) == NULL &&
                     fault == CLR_STATE_TRAILING,
                 "kind %d, a byte more than %d", kind, (int)bytes.size);
    }
    batch_end("states cut and lengthened");
}

static void test_too_many_rows(void)
{
    /* 2^62 - 1, and one */
    struct bytes many = from_hex("63 72 01 01  ff ff ff ff ff ff ff ff 3f 00  00");
    struct bytes one = from_hex("63 72 01 01  01 00  04 00 01");
    struct clr_sum memory[CLR_MOST_TERMS];
    struct clr_sums sums;
    int64_t total = 0;

    sums = state_begin(memory);
    tap_ok(clr_state_decode(many.data, many.size, CLR_STATE_SUM, &sums, 1) == CLR_STATE_SOUND &&
               clr_state_decode(one.data, one.size, CLR_STATE_SUM, &sums, 1) == CLR_STATE_SOUND,
           "as many rows as there can be");
    tap_is_int64(clr_state_decode(one.data, one.size, CLR_STATE_SUM, &sums, 1),
                 CLR_STATE_TOO_MANY_ROWS, "one more is refused");
    tap_ok(sums.count == (int64_t)1 << 62 && clr_int192_to_int64(&memory[0].integer, &total) &&
               total == 1,
           "and leaves no trace");
    tap_ok(clr_state_decode(one.data, one.size, CLR_STATE_SUM, &sums, -1) == CLR_STATE_SOUND &&
               clr_state_decode(one.data, one.size, CLR_STATE_SUM, &sums, 1) == CLR_STATE_SOUND,
           "when one has left another may come");
}

/* SQLite's pointer to a BLOB of no bytes is NULL. */
static void test_no_bytes(void)
{
    enum clr_state_fault sums, extreme;

    tap_ok(state_probe(NULL, 0, CLR_STATE_SUM, &sums) == NULL && sums == CLR_STATE_TOO_SHORT &&
               state_probe(NULL, 0, CLR_STATE_MIN, &extreme) == NULL &&
               extreme == CLR_STATE_TOO_SHORT,
           "a state of no bytes");
}

static void test_texts(void)
{
    static const unsigned char kinds[] = {CLR_STATE_SUM,
                                          CLR_STATE_DOT,
                                          CLR_STATE_MIN,
                                          CLR_STATE_MAX,
                                          CLR_STATE_SQUARES,
                                          CLR_STATE_PAIRS,
                                          CLR_STATE_BINS,
                                          0,
                                          255};
    unsigned char head[4] = {'c', 'r', 1, 0};
    int i;

    batch_begin();
    for (i = 0; i < FAULTS; i++)
        batch_ok(clr_state_fault_text((enum clr_state_fault)i, head)[0] != '\0', "a text");
    for (i = 0; i < (int)sizeof kinds; i++) {
        head[3] = kinds[i];
        batch_ok(strstr(clr_state_fault_text(CLR_STATE_OTHER_KIND, head), "a state of ") != NULL,
                 "a text for kind %d", kinds[i]);
    }
    batch_end("faults have texts");
}

/* A sound state of any kind and flavour. */
static enum clr_state_kind draw_state(struct bytes *bytes)
{
    static struct histogram histogram;
    static struct state_rows rows;
    enum clr_state_kind kind = (enum clr_state_kind)random_between(CLR_STATE_SUM, CLR_STATE_BINS);
    enum state_flavour flavour = (enum state_flavour)random_below(STATE_FLAVOURS);
    struct state_operand x = state_operand(flavour);
    struct clr_value value = {.kind = CLR_KIND_INTEGER, .as.integer = x.integer};
    int count;

    if (kind == CLR_STATE_MIN || kind == CLR_STATE_MAX) {
        if (random_below(3) == 0) {
            value.kind = random_bits() & 1 ? CLR_KIND_TEXT : CLR_KIND_BLOB;
            value.as.size = random_below(12);
            value.bytes = "any text at all";
        } else if (!x.is_integer) {
            value.kind = CLR_KIND_REAL;
            value.as.real = x.real;
        }
        bytes->size = clr_state_encode_extreme(kind, &value, bytes->data);
        return kind;
    }
    if (kind == CLR_STATE_BINS) {
        draw_histogram(&histogram);
        *bytes = histogram_bytes(&histogram);
        return kind;
    }
    state_rows_begin(&rows, kind);
    for (count = (int)random_below(6); count > 0; count--)
        add_random(&rows, flavour);
    *bytes = encode(rows.kind, &rows.sums);
    return kind;
}

/* One change, at any place, more often near the beginning, where the counts and heads are. */
static void mutate(struct bytes *bytes, const struct bytes *other)
{
    static const unsigned char interesting[] = {0x00, 0x01, 0x02, 0x03, 0x7f, 0x80, 0xfe, 0xff};
    size_t at, size;

    if (bytes->size == 0)
        bytes->data[bytes->size++] = (unsigned char)random_bits();
    at = random_below(random_bits() & 1 && bytes->size > 12 ? 12 : bytes->size);
    switch (random_below(8)) {
    case 0:
    case 1:
        bytes->data[at] ^= (unsigned char)(1U << random_below(8));
        break;
    case 2:
        bytes->data[at] = (unsigned char)random_bits();
        break;
    case 3:
        bytes->data[at] = interesting[random_below(sizeof interesting)];
        break;
    case 4: /* a byte more */
        if (bytes->size < sizeof bytes->data) {
            memmove(bytes->data + at + 1, bytes->data + at, bytes->size - at);
            bytes->size++;
            bytes->data[at] = interesting[random_below(sizeof interesting)];
        }
        break;
    case 5: /* a byte less */
        memmove(bytes->data + at, bytes->data + at + 1, bytes->size - at - 1);
        bytes->size--;
        break;
    case 6:
        bytes->size = random_below(bytes->size);
        break;
    default: /* a piece of another state */
        size = random_below(20);
        if (size > other->size)
            size = other->size;
        if (at + size <= bytes->size)
            memcpy(bytes->data + at, other->data + random_below(other->size - size + 1), size);
        break;
    }
}

/*
 * Mutated states: each is refused without a trace, or is the one form of what was read from it. In
 * an allocation of its own size, so that the address sanitizer sees a read past its end.
 */
static void test_mutations(void)
{
    enum { SEEDS = 2000, MUTATIONS = 1000000 };
    static struct bytes seed[SEEDS];
    static enum clr_state_kind kind[SEEDS];
    static struct bytes bytes;
    long seen[FAULTS] = {0};
    const char *wrong;
    int i, round;

    for (i = 0; i < SEEDS; i++)
        kind[i] = draw_state(&seed[i]);
    batch_begin();
    for (round = 0; round < MUTATIONS; round++) {
        enum clr_state_kind taken_for;
        enum clr_state_fault fault;
        unsigned char *copy;
        i = (int)random_below(SEEDS);
        bytes.size = seed[i].size;
        memcpy(bytes.data, seed[i].data, bytes.size);
        do
            mutate(&bytes, &seed[random_below(SEEDS)]);
        while (random_below(3) == 0);
        taken_for = random_below(20) != 0
                        ? kind[i]
                        : (enum clr_state_kind)random_between(CLR_STATE_SUM, CLR_STATE_BINS);
        copy = malloc(bytes.size + (bytes.size == 0));
        if (copy == NULL)
            tap_bail("no memory");
        memcpy(copy, bytes.data, bytes.size);
        wrong = state_probe(copy, bytes.size, taken_for, &fault);
        free(copy);
        seen[fault]++;
        if (!batch_ok(wrong == NULL, "mutation %d, as kind %d: %s", round, taken_for,
                      wrong != NULL ? wrong : ""))
            show("bytes:", &bytes);
    }
    batch_end("mutated states");
    /* All but that of too many rows, which takes states that were added before. */
    for (i = 0; i < CLR_STATE_TOO_MANY_ROWS; i++)
        tap_ok(seen[i] >= MUTATIONS / 1000, "%ld of them: %s", seen[i], fault_names[i]);
}

int main(void)
{
    int i;

    random_start();
    test_known_bytes();
    test_known_extremes();
    for (i = 0; i < SUM_KINDS; i++) {
        test_random(sum_kinds[i]);
        test_splits(sum_kinds[i]);
    }
    test_leaving_real();
    test_sizes();
    test_refusals();
    test_cuts();
    test_too_many_rows();
    test_no_bytes();
    test_texts();
    test_mutations();
    return tap_done();
}
