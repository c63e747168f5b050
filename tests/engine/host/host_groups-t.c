/* Groups on the host in several parts, against the same in one, without memory, and stopped.
   tests/sqlite/views/view-group-plans-t.py has what groups give. */
#include "engine/host/host_groups.h"

#include "base/memory.h"
#include "batch.h"
#include "engine/host/host_scan.h"
#include "numeric/groups/group_scan.h"
#include "numeric/groups/groups.h"
#include "numeric/scan_reference.h"
#include "numeric/scans.h"
#include "random.h"

#include <math.h>

enum family { FEW, FEW_OR_NULL, SPREAD, ANY, QUARTERS, DECIMALS, REALS, FAMILIES };

/* Rounds of test_parts(), of which the last one has threads, and so many rows. The thread
   sanitizer, under which all takes twenty times as long, runs what has threads alone, with two of
   them. */
#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 28, FIRST_ROUND = ROUNDS - 1, MANY = 140000 };
#else
enum { ROUNDS = 28, FIRST_ROUND = 0, MANY = 300000 };
#endif

/* A scan of two keys and one tally or question. */
static struct scans_made made;
static struct clr_grouping grouping;
static struct clr_question question;

static struct clr_scalar draw(enum family family)
{
    switch (family) {
    case FEW:
        return (struct clr_scalar){CLR_TAG_INTEGER, random_between(-3, 3)};
    case FEW_OR_NULL:
        return random_below(5) == 0 ? (struct clr_scalar){CLR_TAG_NULL, 0} : draw(FEW);
    case SPREAD:
        return (struct clr_scalar){CLR_TAG_INTEGER, (int64_t)random_below((uint64_t)1 << 41)};
    case ANY:
        return (struct clr_scalar){CLR_TAG_INTEGER, random_integer()};
    case QUARTERS:
        return (struct clr_scalar){CLR_TAG_REAL, clr_bits_of((double)random_between(1, 9) / 4)};
    case DECIMALS:
        return (struct clr_scalar){CLR_TAG_REAL,
                                   clr_bits_of((double)random_below(100000000) / 1e6)};
    default:
        return (struct clr_scalar){CLR_TAG_REAL, clr_bits_of(random_finite())};
    }
}

static struct clr_column *make_column(size_t rows, enum family family)
{
    struct clr_column *column =
        scans_new(family == FEW_OR_NULL ? CLR_TAG_MIXED : draw(family).tag, rows);

    for (size_t i = 0; i < rows; i++) {
        const struct clr_scalar value = draw(family);

        column->values[i] = value.bits;
        column->tags[i] = value.tag;
    }
    return column;
}

static void make(size_t rows, enum family key, enum family value, unsigned operations)
{
    struct clr_column *columns[] = {make_column(rows, key), make_column(rows, FEW_OR_NULL),
                                    make_column(rows, value)};

    scans_begin(&made, columns, 3);
    scans_tally(&made, operations, 2, operations & 1u << CLR_DOT ? 2 : -1);
    grouping =
        (struct clr_grouping){.key_count = 1, .keys = {0, 1}, .by_first = random_below(2) == 0};
    question = (struct clr_question){.kind = CLR_ASK_BETWEEN, .fraction = 0.3};
    made.scan.grouping = &grouping;
    made.scan.questions = &question;
    made.scan.question_count = (operations & CLR_KEEP) != 0;
    made.scan.values_memory = UINT64_MAX;
    made.scan.seed = random_bits();
}

/* One after the other, in an order that threads might have. */
static bool run_serially(void *context, int count, clr_portion_work *work, void *argument)
{
    const atomic_bool never = false;

    (void)context;
    for (int i = count - 1; i >= 0; i--)
        work(argument, i, &never);
    return true;
}

/* Groups in so many parts, or on threads if they are none. */
static enum clr_scan_outcome scan(int parts, struct clr_groups **groups)
{
    const struct clr_group_team team = {.size = parts, .run = run_serially, .context = NULL};

    *groups = NULL;
    return parts > 0 ? clr_group_scan(&made.scan, &team, NULL, groups)
                     : clr_host_group(&made.scan, NULL, NULL, groups);
}

/* Whether the groups are the same, in the same order. */
static bool same(const struct clr_groups *a, const struct clr_groups *b)
{
    const uint64_t *counts;
    struct clr_state x, y;

    if (clr_groups_count(a) != clr_groups_count(b))
        return false;
    for (size_t i = 0; i < clr_groups_count(a); i++) {
        for (int k = 0; k < grouping.key_count; k++)
            if (clr_groups_key(a, i, k).tag != clr_groups_key(b, i, k).tag ||
                clr_groups_key(a, i, k).bits != clr_groups_key(b, i, k).bits)
                return false;
        clr_groups_state(a, i, 0, &x);
        clr_groups_state(b, i, 0, &y);
        if (!reference_same(&x, &y) ||
            (made.scan.question_count > 0 && clr_groups_answer(a, i, 0, &counts).as.integer !=
                                                 clr_groups_answer(b, i, 0, &counts).as.integer))
            return false;
    }
    return true;
}

TAP_TEST(test_parts)
{
    static const unsigned operations[] = {1u << CLR_SUM, 1u << CLR_DOT, 1u << CLR_EXTREMES,
                                          CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM};
    struct clr_groups *whole, *groups;

    for (enum family key = 0; key < FAMILIES; key++) {
        for (int i = FIRST_ROUND; i < ROUNDS; i++) {
            const int parts = i < ROUNDS - 1 ? 2 + i % 6 : 0;
            const size_t rows =
                parts == 0 ? MANY : random_below(random_below(4) == 0 ? 60000 : 5000);

            make(rows, key, (enum family)(i / 4), operations[i % 4]);
            grouping.key_count = random_between(0, 2);
            grouping.by_first = random_below(4) == 0;
            grouping.descending[0] = random_below(3) == 0;
            batch_ok(scan(1, &whole) == CLR_SCAN_DONE && scan(parts, &groups) == CLR_SCAN_DONE &&
                         same(groups, whole),
                     "%zu rows in %d parts, keys %d, round %d", rows, parts, key, i);
            clr_groups_free(whole);
            clr_groups_free(groups);
            scans_release(&made);
        }
    }
    batch_end("groups of several parts");
}

#ifndef __SANITIZE_THREAD__
TAP_TEST(test_memory)
{
    static const enum family keys[] = {FEW, ANY, QUARTERS, SPREAD};

    for (int key = 0; key < 12; key++) {
        bool failed = true;
        int failures = 0;

        make(key % 4 == 3 ? 51000 : 20000, keys[key % 4], key < 8 ? REALS : FEW,
             key < 4   ? CLR_KEEP | 1u << CLR_EXTREMES | 1u << CLR_SUM
             : key < 8 ? 1u << CLR_SUM
                       : CLR_KEEP | 1u << CLR_EXTREMES);
        for (int after = 0; failed && after < 5000; after++) {
            struct clr_groups *groups;
            enum clr_scan_outcome outcome;

            clr_memory_fail_after(after);
            outcome = scan(3, &groups);
            failed = clr_memory_fail_after(-1) != 0;
            batch_ok(outcome == (failed ? CLR_SCAN_FAILED : CLR_SCAN_DONE),
                     "allocation %d of keys %d: %d", after, key, (int)outcome);
            failures += failed;
            clr_groups_free(groups);
            if (after > 60)
                after += 37;
        }
        batch_ok(failures > 10 && !failed, "%d failures", failures);
        scans_release(&made);
    }
    batch_end("without memory");
}
#endif

/* Without groups: values that questions need to be copied, as a filter leaves some, take memory. */
TAP_TEST(test_questions)
{
    bool failed = true;
    int after;

    for (int kind = 0; kind <= CLR_ASK_BINS; kind++, failed = true) {
        struct clr_value low = {.kind = CLR_KIND_INTEGER, .as.integer = 0};
        struct clr_value high = {.kind = CLR_KIND_INTEGER, .as.integer = 90};
        uint64_t counts[9 + 2];

        make(150000, FEW, DECIMALS, CLR_KEEP | 1u << CLR_EXTREMES);
        made.scan.grouping = NULL;
        question.kind = (enum clr_question_kind)kind;
        question.counts = counts;
        clr_bins_init(&question.bins, &low, &high, 9);
        made.scan.values_memory = 0;
        batch_ok(kind > CLR_ASK_AT || clr_host_scan(&made.scan, NULL) == CLR_SCAN_DONE,
                 "a column's own values take nothing");
        made.scan.filter = scans_add(&made, CLR_OP_NOT_NULL, 2, 0);
        made.scan.values_memory = 150000 * sizeof(int64_t) - 1;
        batch_ok(clr_host_scan(&made.scan, NULL) == CLR_SCAN_LIMIT, "the limit, question %d", kind);
        made.scan.values_memory = UINT64_MAX;
        for (after = 0; failed; after += after > 30 ? 61 : 1) {
            enum clr_scan_outcome outcome;

            clr_memory_fail_after(after);
            outcome = clr_host_scan(&made.scan, NULL);
            failed = clr_memory_fail_after(-1);
            batch_ok(outcome == (failed ? CLR_SCAN_FAILED : CLR_SCAN_DONE) ||
                         (kind <= CLR_ASK_AT && outcome == CLR_SCAN_DONE),
                     "allocation %d of question %d", after, kind);
        }
        batch_ok(after > 5, "%d allocations fail", after);
        scans_release(&made);
    }
    batch_end("questions without groups");
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

TAP_TEST(test_stop)
{
    const struct clr_watch watch = {stop_at_once, NULL};
    struct clr_groups *groups = NULL;
    int stopped = 0;

    make(3000000, ANY, DECIMALS, CLR_KEEP | 1u << CLR_EXTREMES);
    for (int i = 0; i < 5; i++)
        stopped += clr_host_group(&made.scan, &watch, NULL, &groups) == CLR_SCAN_STOPPED;
    scans_release(&made);
    tap_is_int64(stopped, 5, "a watch stops it");
}
