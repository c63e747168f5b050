/* States of gpu_histogram as bytes: the format to the byte, and there and back. What is refused,
   and mutated states, are in state_format-t.c. */
#include "numeric/states/states.h"

#include "batch.h"

static void check_bins(const struct clr_bins *bins, const uint64_t *counters,
                       const struct bytes *want, const char *what)
{
    struct bytes got;
    struct clr_stored_bins state;

    got.size = clr_state_encode_bins(CLR_STATE_BINS, bins, counters, got.data);
    if (!batch_ok(same(&got, want) &&
                      clr_state_encode_bins(CLR_STATE_BINS, bins, counters, NULL) == got.size,
                  "%s", what)) {
        show(" got:", &got);
        show("want:", want);
    }
    batch_ok(clr_state_decode_bins(want->data, want->size, CLR_STATE_BINS, CLR_COUNT_BINS,
                                   &state) == CLR_STATE_SOUND &&
                 (state.count == 0 || (clr_value_compare(&state.low, &bins->low, 0) == 0 &&
                                       clr_value_compare(&state.high, &bins->high, 0) == 0 &&
                                       state.bins == bins->count)),
             "%s, read", what);
}

/* A bound that is an integer has one form, whatever type the rows have. */
TAP_TEST(test_known_bins)
{
    const struct {
        struct clr_value low, high;
        int64_t bins;
        uint64_t counters[8];
        const char *hex;
    } known[] = {
        {integer(0), integer(10), 5, {0}, "63 72 01 07  00"},
        {integer(0),
         integer(10),
         5,
         {0, 1, 2, 0, 0, 0, 0},
         "63 72 01 07  03  01 00  01 14  05  00 00 01 02"},
        {real(-0.0),
         real(10.0),
         5,
         {0, 1, 2, 0, 0, 0, 0},
         "63 72 01 07  03  01 00  01 14  05  00 00 01 02"},
        {real(-0.5),
         integer(100),
         2,
         {200, 0, 0, 1},
         "63 72 01 07  c9 01  02 00 00 00 00 00 00 e0 bf  01 c8 01  02  c8 01 00 01 01"},
        {integer(INT64_MIN),
         real(0x1p63),
         1,
         {0, 1, 0},
         "63 72 01 07  01  01 ff ff ff ff ff ff ff ff ff 01  02 00 00 00 00 00 00 e0 43  01  "
         "00 00 01"},
        {integer(0),
         integer(1),
         1,
         {0, 0, (uint64_t)1 << 62},
         "63 72 01 07  80 80 80 80 80 80 80 80 40  01 00  01 02  01  00 01 80 80 80 80 80 80 80 80 "
         "40"}};
    size_t i;

    batch_begin();
    for (i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct bytes want = from_hex(known[i].hex);
        struct clr_bins bins;
        char what[32];
        snprintf(what, sizeof what, "known bins %d", (int)i);
        clr_bins_init(&bins, &known[i].low, &known[i].high, known[i].bins);
        check_bins(&bins, known[i].counters, &want, what);
    }
    batch_end("histograms with known bytes");
}

/* Against the bytes that the tests' own code writes, and there and back. */
TAP_TEST(test_random_bins)
{
    static struct histogram histogram;
    int rounds = tap_is_quick() ? 1000 : 10000, round;
    enum clr_state_fault fault;
    const char *wrong;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        struct bytes want;
        draw_histogram(&histogram);
        want = histogram_bytes(&histogram);
        check_bins(&histogram.bins, histogram.counters, &want, "a random histogram");
        wrong = state_probe(want.data, want.size, CLR_STATE_BINS, &fault);
        batch_ok(wrong == NULL && fault == CLR_STATE_SOUND, "round %d: %s", round,
                 wrong != NULL ? wrong : "");
    }
    batch_end("random histograms");
}
