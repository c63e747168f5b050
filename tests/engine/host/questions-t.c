/* Questions to scans on the host, against rows that are looked at one by one. */
#include "engine/host/host_scan.h"

#include "base/memory.h"
#include "batch.h"
#include "numeric/order/selection.h"
#include "numeric/scan_reference.h"
#include "numeric/scans.h"
#include "random.h"

#include "tap.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_ROWS = 200000, COLUMNS = 4, TALLIES = 3, QUESTIONS = 8, MOST_BINS = 50 };

static struct scans_made made;
static struct clr_question questions[QUESTIONS];
static uint64_t counts[QUESTIONS][MOST_BINS + 2];

/* The values that count, of each tally. */
static struct clr_value kept[TALLIES][MOST_ROWS];
static size_t kept_count[TALLIES];

/* ---- Scans. */

static struct clr_scalar draw(int family)
{
    struct clr_scalar value = {.tag = CLR_TAG_INTEGER};
    double real = (double)random_between(-4000, 4000) / 8;

    switch (family) {
    case 0:
        value.bits = random_between(-30, 30);
        break;
    case 1:
        value.bits = random_integer();
        break;
    case 2:
        value.tag = CLR_TAG_REAL;
        real = random_below(3) != 0 ? real : random_finite();
        memcpy(&value.bits, &real, sizeof real);
        break;
    case 3:
        value.tag = CLR_TAG_NULL;
        break;
    default:
        return draw((int)random_below(random_below(3) == 0 ? 4 : 3));
    }
    return value;
}

static struct clr_column *make_column(size_t rows, int family)
{
    static const uint8_t kinds[] = {CLR_TAG_INTEGER, CLR_TAG_INTEGER, CLR_TAG_REAL, CLR_TAG_NULL,
                                    CLR_TAG_MIXED};
    struct clr_column *column = scans_new(kinds[family], rows);
    size_t i;

    for (i = 0; i < rows; i++) {
        struct clr_scalar value = draw(family);
        column->values[i] = value.bits;
        if (family == 4)
            column->tags[i] = value.tag;
    }
    return column;
}

static void make_question(struct clr_question *question, int i)
{
    struct clr_value low = {.kind = CLR_KIND_INTEGER, .as.integer = random_between(-400, 0)};
    struct clr_value high = {.kind = CLR_KIND_REAL};

    memset(question, 0, sizeof *question);
    question->kind = (enum clr_question_kind)random_below(CLR_ASK_BINS + 1);
    question->tally = (int)random_below(TALLIES);
    question->fraction = (double)random_below(101) / 100;
    high.as.real = (double)random_between(8, 4000) / 8;
    clr_bins_init(&question->bins, &low, &high, random_between(1, MOST_BINS));
    question->counts = counts[i];
}

static void make_scan(size_t rows)
{
    struct clr_column *columns[COLUMNS];
    struct clr_scan *scan = &made.scan;
    int i;

    for (i = 0; i < COLUMNS; i++)
        columns[i] = make_column(rows, random_pick(5));
    scans_begin(&made, columns, COLUMNS);
    scans_constant(&made, CLR_TAG_INTEGER, draw(0).bits);
    scans_add(&made, CLR_OP_LESS, 0, 4);
    scans_add(&made, CLR_OP_ADD, 1, 4);
    scan->filter = random_below(3) == 0 ? 5 : -1;
    scan->questions = questions;
    scan->question_count = random_between(1, QUESTIONS);
    scan->values_memory = UINT64_MAX;
    scan->seed = random_bits();
    for (i = 0; i < TALLIES; i++) {
        scans_tally(&made, CLR_KEEP | 1u << CLR_EXTREMES | (random_bits() & 1 ? 1u << CLR_SUM : 0),
                    random_pick(7), -1);
        made.tallies[i].filter = random_below(3) == 0 ? 5 : -1;
    }
    for (i = 0; i < scan->question_count; i++)
        make_question(&questions[i], i);
}

/* ---- The slow way. */

static bool is_true(const scalar *values, int condition)
{
    return condition < 0 || scalar_is_true(values[condition]);
}

static void keep_row(const struct clr_scan *scan, size_t row)
{
    scalar values[16];
    int i;

    reference_row(scan, row, values);
    for (i = 0; i < TALLIES; i++) {
        scalar x = values[made.tallies[i].x];
        struct clr_value *value = &kept[i][kept_count[i]];
        if (x.tag == CLR_TAG_NULL || !is_true(values, scan->filter) ||
            !is_true(values, made.tallies[i].filter))
            continue;
        memset(value, 0, sizeof *value);
        value->kind = x.tag == CLR_TAG_REAL ? CLR_KIND_REAL : CLR_KIND_INTEGER;
        memcpy(&value->as, &x.bits, sizeof x.bits);
        kept_count[i]++;
    }
}

/* Equal numbers come with the INTEGER first. */
static int compare_values(const void *a, const void *b)
{
    return clr_value_compare(a, b, -1);
}

static void keep_rows(const struct clr_scan *scan)
{
    size_t row;
    int i;

    memset(kept_count, 0, sizeof kept_count);
    for (row = 0; row < scan->rows; row++)
        keep_row(scan, row);
    for (i = 0; i < TALLIES; i++)
        qsort(kept[i], kept_count[i], sizeof kept[i][0], compare_values);
}

/* Zeros are one value. */
static bool are_equal(const struct clr_value *a, const struct clr_value *b)
{
    struct clr_value x = *a, y = *b;

    x.as.real += x.kind == CLR_KIND_REAL ? 0.0 : 0;
    y.as.real += y.kind == CLR_KIND_REAL ? 0.0 : 0;
    return clr_value_compare(&x, &y, 0) == 0;
}

static struct clr_value find_position(const struct clr_question *question,
                                      const struct clr_value *values, size_t count)
{
    struct clr_position position = clr_percentile_position(question->fraction, count);
    struct clr_value found[2], result = {.kind = CLR_KIND_REAL};

    found[0] = found[1] = values[position.rank];
    if (position.rank + 1 < count)
        found[1] = values[position.rank + 1];
    result.as.real = clr_percentile_at(found, position.beyond, question->kind == CLR_ASK_BETWEEN);
    return result;
}

/* The mode, or with distinct how many different values there are. */
static struct clr_value find_mode(const struct clr_value *values, size_t count, bool distinct)
{
    struct clr_value mode = {.kind = CLR_KIND_NONE};
    size_t first, last, most = 0;
    int64_t different = 0;

    for (first = 0; first < count; first = last, different++) {
        struct clr_value one = values[first];
        for (last = first; last < count && are_equal(&values[last], &values[first]); last++) {
            if (values[last].kind == CLR_KIND_INTEGER)
                one = values[last];
        }
        if (last - first > most) {
            most = last - first;
            mode = one;
        }
    }
    if (mode.kind == CLR_KIND_REAL)
        mode.as.real += 0.0;
    return distinct ? (struct clr_value){.kind = CLR_KIND_INTEGER, .as.integer = different} : mode;
}

static bool are_bins_right(const struct clr_question *question, const struct clr_value *values,
                           size_t count)
{
    uint64_t want[MOST_BINS + 2] = {0};
    size_t i;

    for (i = 0; i < count; i++)
        want[clr_bins_find(&question->bins, &values[i]) + 1]++;
    return memcmp(want, question->counts, ((size_t)question->bins.count + 2) * sizeof want[0]) == 0;
}

static bool is_right(const struct clr_question *question)
{
    const struct clr_value *values = kept[question->tally];
    const size_t count = kept_count[question->tally];
    struct clr_value want = {.kind = CLR_KIND_NONE};

    if (question->kind == CLR_ASK_BINS)
        return are_bins_right(question, values, count);
    if (question->kind >= CLR_ASK_MODE)
        want = find_mode(values, count, question->kind == CLR_ASK_DISTINCT);
    else if (count > 0)
        want = find_position(question, values, count);
    return question->answer.kind == want.kind &&
           (want.kind == CLR_KIND_NONE || question->answer.as.integer == want.as.integer);
}

static void test_random(void)
{
    const int rounds = tap_is_quick() ? 150 : 1000;
    static const size_t sizes[] = {0, 1, 2, 1023, 1024, 1025, 3000};
    struct clr_scan *scan = &made.scan;
    int round, i;

    batch_begin();
    for (round = 0; round < rounds; round++) {
        size_t rows = sizes[random_below(7)];
        if (round % 25 == 0)
            rows = 66000 + random_below(MOST_ROWS - 66000);
        make_scan(rows);
        keep_rows(scan);
        batch_ok(clr_host_scan(scan, NULL) == CLR_SCAN_DONE, "outcome of round %d", round);
        for (i = 0; i < scan->question_count; i++)
            batch_ok(is_right(&questions[i]), "round %d, %zu rows, question %d of kind %d", round,
                     rows, i, questions[i].kind);
        scans_release(&made);
    }
    batch_end("questions to random scans");
}

/* ---- What has no answer. */

/* One question of a kind about one column of REALs; filtered: the values have to be copied. */
static void make_plain(size_t rows, enum clr_question_kind kind, bool filtered)
{
    int i;

    make_scan(rows);
    scans_release(&made);
    for (i = 0; i < COLUMNS; i++)
        made.columns[i] = make_column(rows, 2);
    made.instructions[5] = (struct clr_instruction){CLR_OP_NOT_NULL, 2, 0, 0};
    made.scan.filter = filtered ? 5 : -1;
    made.scan.tally_count = made.scan.question_count = 1;
    made.tallies[0] = (struct clr_tally){
        .operations = CLR_KEEP | 1u << CLR_EXTREMES, .x = 1, .y = -1, .filter = -1};
    questions[0].kind = kind;
    questions[0].tally = 0;
}

static void test_values_refused(void)
{
    const double infinite = INFINITY;
    struct clr_scan *scan = &made.scan;
    int kind, filtered;

    for (kind = 0; kind <= CLR_ASK_BINS; kind++) {
        for (filtered = 0; filtered < 2; filtered++) {
            make_plain(5000, (enum clr_question_kind)kind, filtered);
            memcpy(&made.columns[1]->values[4000], &infinite, sizeof infinite);
            tap_is_int64(clr_host_scan(scan, NULL),
                         kind <= CLR_ASK_AT ? CLR_SCAN_UNSURE : CLR_SCAN_DONE,
                         "Inf for question %d%s", kind, filtered ? ", filtered" : "");
            made.columns[1]->kind = CLR_TAG_BYTES;
            tap_is_int64(clr_host_scan(scan, NULL), CLR_SCAN_UNSURE, "TEXT for question %d", kind);
            scans_release(&made);
        }
    }
}

static void test_limits(void)
{
    struct clr_scan *scan = &made.scan;
    int kind, after, failures;
    bool failed;

    for (kind = 0; kind <= CLR_ASK_BINS; kind++) {
        make_plain(150000, (enum clr_question_kind)kind, true);
        scan->values_memory = 150000 * sizeof(int64_t) - 1;
        tap_is_int64(clr_host_scan(scan, NULL), CLR_SCAN_LIMIT,
                     "values for question %d take more than they may", kind);
        scan->values_memory = UINT64_MAX;
        batch_begin();
        for (after = failures = 0, failed = true; failed; after++) {
            enum clr_scan_outcome outcome;
            clr_memory_fail_after(after);
            outcome = clr_host_scan(scan, NULL);
            failed = clr_memory_fail_after(-1);
            batch_ok(outcome == (failed ? CLR_SCAN_FAILED : CLR_SCAN_DONE) ||
                         (kind <= CLR_ASK_AT && outcome == CLR_SCAN_DONE),
                     "allocation %d", after);
            failures += outcome == CLR_SCAN_FAILED;
            after += after > 30 ? 60 : 0;
        }
        batch_end("without memory");
        tap_ok(failures >= 5, "... %d times", failures);
        scans_release(&made);
    }
    make_plain(5000, CLR_ASK_BETWEEN, false);
    scan->values_memory = 0;
    tap_is_int64(clr_host_scan(scan, NULL), CLR_SCAN_DONE, "a column's own values take nothing");
    scans_release(&made);
}

int main(void)
{
    random_start();
    test_random();
    test_values_refused();
    test_limits();
    return tap_done();
}
