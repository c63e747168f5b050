/* States as bytes: hostile, cut, mutated and written ones, which are refused or sound. */
#include "numeric/state_refusals.h"
#include "batch.h"
#include "numeric/parts.h"
#include "numeric/state_histograms.h"
#include "numeric/sum_states.h"

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

void state_refusals_tests(void)
{
    random_start();
    test_refusals();
    test_cuts();
    test_too_many_rows();
    test_no_bytes();
    test_texts();
    test_mutations();
}
