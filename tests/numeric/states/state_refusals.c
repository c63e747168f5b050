/* States as bytes: hostile, cut, mutated and written ones, which are refused or sound. */
#include "numeric/states/state_format.h"

#include "batch.h"
#include "numeric/states/states.h"

#define OF(kind, fault) CLR_STATE_##kind, CLR_STATE_##fault

/* States that are refused, each with its fault and with what is wrong with it; and sound ones,
   which lie right at a bound that others overstep. */
static const struct {
    enum clr_state_kind kind;
    enum clr_state_fault fault;
    const char *hex;
    const char *what;
} state_refusals[] = {
    {OF(SUM, TOO_SHORT), "", "nothing"},
    {OF(SUM, TOO_SHORT), "63", "a byte of the beginning"},
    {OF(MIN, TOO_SHORT), "63 72 01", "no kind"},
    {OF(SUM, TOO_SHORT), "63 72 01 01  ", "no counts"},
    {OF(SUM, TOO_SHORT), "63 72 01 01  80", "half of a count"},
    {OF(SUM, TOO_SHORT), "63 72 01 01  01 00", "no sum"},
    {OF(SUM, TOO_SHORT), "63 72 01 01  01 00  04", "no exponent"},
    {OF(SUM, TOO_SHORT), "63 72 01 01  01 00  08 00 01", "a byte of two"},
    {OF(SUM, TOO_SHORT), "63 72 01 01  01 01  02 01 00", "no count of NaNs"},
    {OF(SQUARES, TOO_SHORT), "63 72 01 05  01 00  04 00 01", "no squares"},
    {OF(MIN, TOO_SHORT), "63 72 01 03  ", "no type"},
    {OF(MIN, TOO_SHORT), "63 72 01 03  01", "no INTEGER"},
    {OF(MIN, TOO_SHORT), "63 72 01 03  01 80", "half of an INTEGER"},
    {OF(MAX, TOO_SHORT), "63 72 01 04  02 00 00 00 00 00 00 f0", "seven bytes of a REAL"},
    {OF(SUM, NOT_A_STATE), "00", "a zero"},
    {OF(SUM, NOT_A_STATE), "63 73 01 01  00 00  00", "another beginning"},
    {OF(MAX, NOT_A_STATE), "49 6e 66", "a text"},
    {OF(SUM, NOT_A_STATE), "63 72 00 01  00 00  00", "version 0"},
    {OF(SUM, NEWER), "63 72 02 01  00 00  00", "version 2"},
    {OF(MIN, NEWER), "63 72 ff", "version 255"},
    {OF(SUM, OTHER_KIND), "63 72 01 02  00 00  00", "a state of gpu_dot for gpu_sum"},
    {OF(MAX, OTHER_KIND), "63 72 01 03  00", "a state of gpu_min for gpu_max"},
    {OF(SUM, OTHER_KIND), "63 72 01 00", "kind 0"},
    {OF(PAIRS, OTHER_KIND), "63 72 01 07", "a state of gpu_histogram for gpu_corr"},
    {OF(BINS, OTHER_KIND), "63 72 01 08", "kind 8"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  80 00 00  00", "a count of a byte too many"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  81 80 00 00  00", "a count of two bytes too many"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  80 80 80 80 80 80 80 80 80 80 01 00  00",
     "a count of eleven bytes"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  ff ff ff ff ff ff ff ff ff 02 00  00",
     "a count past 64 bits"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  01 00  84 00 00 01", "a size of a byte too many"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  01 00  04 80 00 01", "an exponent of a byte too many"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  01 00  08 00 00 01", "a low byte of zero"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  01 00  08 00 01 00", "a high byte of zero"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  01 00  01", "a negative zero"},
    {OF(SUM, NOT_CANONICAL), "63 72 01 01  01 01  02 00 00 00",
     "special, of which there is nothing"},
    {OF(MAX, NOT_CANONICAL), "63 72 01 04  01 80 00", "an INTEGER of a byte too many"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  81 80 80 80 80 80 80 80 40 00  00",
     "more than 2^62 rows"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  ff ff ff ff ff ff ff ff ff 01 00  00", "2^64 - 1 rows"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 02  00", "more rows that are not INTEGER than rows"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 00  02 01 00 00", "an infinite INTEGER"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 01  02 01 01 00", "one row that is both infinities"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  02 02  02 02 00 ff ff ff ff ff ff ff ff ff 01",
     "counts that overflow"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  00 00  04 00 01", "a sum of no rows"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 00  04 01 80", "one half from an INTEGER"},
    {OF(SUM, SOUND), "63 72 01 01  01 00  05 0e 80", "-2^63 from an INTEGER"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 00  21 00 01 00 00 00 00 00 00 80",
     "-2^63 - 1 from an INTEGER"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 00  04 10 01", "2^64 from an INTEGER"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 00  04 30 01", "2^192 from an INTEGER"},
    {OF(SUM, SOUND), "63 72 01 01  80 80 80 80 80 80 80 80 40 00  04 1e 20",
     "2^125 from 2^62 INTEGERs"},
    {OF(SUM, INCONSISTENT),
     "63 72 01 01  80 80 80 80 80 80 80 80 40 00  40 00 01 00 00 00 00 00 00 00 00 00 00 00 00 00 "
     "00 20",
     "2^125 + 1 from 2^62 INTEGERs"},
    {OF(SUM, SOUND), "63 72 01 01  01 01  04 fe 01 80", "2^1023 from a REAL"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 01  04 80 02 01", "2^1024 from a REAL"},
    {OF(SUM, SOUND), "63 72 01 01  02 02  04 80 02 01", "2^1024 from two REALs"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  02 02  04 80 02 02", "2^1025 from two REALs"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  80 80 80 80 80 80 80 80 40 01  04 90 02 01",
     "2^1088 from a REAL and INTEGERs"},
    {OF(SUM, SOUND), "63 72 01 01  01 01  04 8d 02 40", "2^-1074 from a REAL"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 01  04 8d 02 20", "2^-1075 from a REAL"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 01  06 00 01 01 00 00", "1 from an infinite row"},
    {OF(SUM, SOUND), "63 72 01 01  02 01  06 00 01 01 00 00",
     "1 from an INTEGER and an infinite row"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  02 01  06 01 80 01 00 00",
     "one half from an INTEGER and an infinite row"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 01  fc ff ff ff ff ff ff ff ff 01 00 01",
     "a size of nearly 2^62"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 01  04 ff ff ff ff ff ff ff ff ff 01 01",
     "an exponent of -2^63"},
    {OF(SUM, INCONSISTENT), "63 72 01 01  01 01  04 fe ff ff ff ff ff ff ff ff 01 01",
     "an exponent of 2^63 - 1"},
    {OF(DOT, SOUND), "63 72 01 02  01 00  04 1e 40", "2^126 from two INTEGERs"},
    {OF(DOT, INCONSISTENT), "63 72 01 02  01 00  04 1e 41", "more than 2^126 from two INTEGERs"},
    {OF(DOT, SOUND), "63 72 01 02  01 01  04 fe 03 80", "2^2047 from two REALs"},
    {OF(DOT, INCONSISTENT), "63 72 01 02  01 01  04 80 04 01", "2^2048 from two REALs"},
    {OF(DOT, SOUND), "63 72 01 02  01 01  04 99 04 10", "2^-2148 from two REALs"},
    {OF(DOT, INCONSISTENT), "63 72 01 02  01 01  04 99 04 08", "2^-2149 from two REALs"},
    {OF(SQUARES, INCONSISTENT), "63 72 01 05  01 00  04 00 01  05 00 01", "a negative square"},
    {OF(SQUARES, INCONSISTENT), "63 72 01 05  01 00  04 00 02  04 00 03",
     "squares below those of the mean, of INTEGERs"},
    {OF(SQUARES, SOUND), "63 72 01 05  02 00  04 00 02  04 00 02",
     "squares that are those of the mean"},
    {OF(SQUARES, INCONSISTENT), "63 72 01 05  02 01  04 00 02  08 01 ff 01",
     "squares just below those of the mean"},
    {OF(SQUARES, INCONSISTENT), "63 72 01 05  01 00  04 00 01  00", "squares of nothing"},
    {OF(SQUARES, INCONSISTENT), "63 72 01 05  01 01  02 01 00 00  00",
     "an infinity without its square"},
    {OF(SQUARES, INCONSISTENT), "63 72 01 05  01 01  02 00 01 00  02 00 01 00",
     "a negative infinity as square"},
    {OF(SQUARES, INCONSISTENT), "63 72 01 05  02 02  02 01 01 00  02 01 00 00",
     "two infinities with one square"},
    {OF(SQUARES, INCONSISTENT), "63 72 01 05  01 01  02 00 00 01  00", "a NaN without its square"},
    {OF(PAIRS, SOUND), "63 72 01 06  02 00  04 00 03 04 00 03  04 00 05 04 00 05 04 00 04",
     "pairs (1, 2) and (2, 1)"},
    {OF(PAIRS, INCONSISTENT), "63 72 01 06  02 00  04 00 03 04 00 03  04 00 05 04 00 05 04 00 06",
     "a correlation of 3"},
    {OF(PAIRS, INCONSISTENT), "63 72 01 06  02 00  04 00 03 04 00 03  04 00 04 04 00 05 04 00 04",
     "squares of x below those of the mean"},
    {OF(PAIRS, INCONSISTENT), "63 72 01 06  02 00  04 00 03 04 00 03  04 00 05 05 00 05 04 00 04",
     "a negative square of y"},
    {OF(PAIRS, SOUND), "63 72 01 06  01 01 00 00 00 00 00", "a pair of zeros"},
    {OF(PAIRS, SOUND), "63 72 01 06  01 01  02 01 00 00 00 02 01 00 00 00 02 00 00 01",
     "an infinity times zero"},
    {OF(PAIRS, INCONSISTENT), "63 72 01 06  01 01  02 01 00 00 00 02 01 00 00 00 00",
     "an infinity without a product"},
    {OF(PAIRS, INCONSISTENT), "63 72 01 06  02 02  02 01 00 00 00 02 01 00 00 00 02 02 00 00",
     "two infinite products of one infinity"},
    {OF(PAIRS, INCONSISTENT), "63 72 01 06  01 01  00 00 00 00 02 00 00 01",
     "a product that is NaN, of nothing"},
    {OF(PAIRS, INCONSISTENT), "63 72 01 06  01 01  00 02 01 00 00 00 00 02 01 00 00",
     "an infinite y without its square"},
    {OF(MIN, INCONSISTENT), "63 72 01 03  05", "type 5"},
    {OF(MIN, INCONSISTENT), "63 72 01 03  ff", "type 255"},
    {OF(MAX, INCONSISTENT), "63 72 01 04  02 00 00 00 00 00 00 f8 7f", "a NaN"},
    {OF(MAX, INCONSISTENT), "63 72 01 04  02 01 00 00 00 00 00 f0 ff", "a signalling NaN"},
    {OF(SUM, TRAILING), "63 72 01 01  00 00  00 00", "a byte behind no rows"},
    {OF(DOT, TRAILING), "63 72 01 02  01 00  04 00 01 63 72 01 02  01 00  04 00 01",
     "two states in one"},
    {OF(MIN, TRAILING), "63 72 01 03  00 00", "a byte behind no value"},
    {OF(MIN, TRAILING), "63 72 01 03  01 02 00", "a byte behind an INTEGER"},
    {OF(MIN, TRAILING), "63 72 01 03  02 00 00 00 00 00 00 f0 3f 00", "a byte behind a REAL"},
    {OF(BINS, SOUND), "63 72 01 07  00", "a histogram of no rows"},
    {OF(BINS, TRAILING), "63 72 01 07  00 01 00 01 02 01", "bounds without rows"},
    {OF(BINS, SOUND), "63 72 01 07  01 01 00 01 02 01 01", "a row below 0, 1, 1"},
    {OF(BINS, SOUND), "63 72 01 07  01 01 00 01 02 01 00 01 01", "a row above 0, 1, 1"},
    {OF(BINS, TOO_SHORT), "63 72 01 07  01", "no low"},
    {OF(BINS, TOO_SHORT), "63 72 01 07  01 01 00 02 00 00", "a part of high"},
    {OF(BINS, TOO_SHORT), "63 72 01 07  01 01 00 01 02", "no bins"},
    {OF(BINS, TOO_SHORT), "63 72 01 07  02 01 00 01 02 01 01", "one row of two"},
    {OF(BINS, TOO_SHORT), "63 72 01 07  01 01 00 01 02 01 00", "no number of zeros"},
    {OF(BINS, TRAILING), "63 72 01 07  01 01 00 01 02 01 01 00 00", "zeros behind the last row"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 00 01 02 01 01", "a low of type 0"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 01 00 03 41", "a high that is TEXT"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 02 00 00 00 00 00 00 f0 ff 01 02 01 01",
     "a low of -Inf"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 01 00 02 00 00 00 00 00 00 f8 7f 01 01",
     "a high of NaN"},
    {OF(BINS, NOT_CANONICAL), "63 72 01 07  01 02 00 00 00 00 00 00 00 80 01 02 01 01",
     "a low of -0.0"},
    {OF(BINS, NOT_CANONICAL), "63 72 01 07  01 01 00 02 00 00 00 00 00 00 e0 41 01 01",
     "a high of 2^31 as a REAL"},
    {OF(BINS, SOUND), "63 72 01 07  01 01 00 02 00 00 00 00 00 00 e0 43 01 01", "a high of 2^63"},
    {OF(BINS, NOT_CANONICAL), "63 72 01 07  01 02 00 00 00 00 00 00 e0 c3 01 00 01 01",
     "a low of -2^63 as a REAL"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 01 02 01 02 01 01", "a low that is high"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 01 02 01 00 01 01", "a low above high"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 01 00 01 02 00 01", "no bin"},
    {OF(BINS, SOUND), "63 72 01 07  01 01 00 01 02 c0 84 3d 00 bf 84 3d 01",
     "a million bins, and a row in the last"},
    {OF(BINS, SOUND), "63 72 01 07  01 01 00 01 02 c0 84 3d 00 c0 84 3d 01",
     "a million bins, and a row above high"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 01 00 01 02 c0 84 3d 00 c1 84 3d 01",
     "a million bins, and a row behind all counters"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 01 00 01 02 c1 84 3d 01", "a million bins and one"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  01 01 00 01 02 01 00 ff ff ff ff ff ff ff ff ff 01 01",
     "2^64 zeros"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  04 01 00 01 02 01 01 01 01 01",
     "four counters of one bin"},
    {OF(BINS, INCONSISTENT), "63 72 01 07  02 01 00 01 02 01 01 02",
     "counters that add up to more than count"},
    {OF(BINS, NOT_CANONICAL), "63 72 01 07  01 01 00 01 02 05 00 00 00 00 01",
     "zeros in two pieces"},
    {OF(BINS, NOT_CANONICAL), "63 72 01 07  01 01 00 01 02 01 81 00",
     "a counter of a byte too many"},
};

static const char *const fault_names[] = {"sound",         "too short",    "no state",
                                          "newer version", "other kind",   "not canonical",
                                          "inconsistent",  "bytes behind", "too many rows"};
enum { FAULTS = sizeof fault_names / sizeof fault_names[0] };

/* Hostile states, each with what is wrong with it. */
TAP_TEST(test_refusals)
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
TAP_TEST(test_cuts)
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

TAP_TEST(test_too_many_rows)
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
TAP_TEST(test_no_bytes)
{
    enum clr_state_fault sums, extreme;

    tap_ok(state_probe(NULL, 0, CLR_STATE_SUM, &sums) == NULL && sums == CLR_STATE_TOO_SHORT &&
               state_probe(NULL, 0, CLR_STATE_MIN, &extreme) == NULL &&
               extreme == CLR_STATE_TOO_SHORT,
           "a state of no bytes");
}

TAP_TEST(test_texts)
{
    static const unsigned char kinds[] =
        TAP_LIST(CLR_STATE_SUM, CLR_STATE_DOT, CLR_STATE_MIN, CLR_STATE_MAX, CLR_STATE_SQUARES,
                 CLR_STATE_PAIRS, CLR_STATE_BINS, 0, 255);
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
TAP_TEST(test_mutations)
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
        TAP_NEED(copy != NULL, "no memory");
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
