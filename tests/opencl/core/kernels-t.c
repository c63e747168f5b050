/*
 * The kernels of every kind, by the self-tests that compare them with the host: on each device,
 * with groups as large as a GPU's, with doubles and without. build-aux/oclgrind.sh runs this with a
 * device that watches what the kernels do.
 *
 *     kernels-t [KIND [FIRST STEP]]     that kind; of scans and groups each STEP-th from FIRST, one
 * at least
 */
#include "base/clock.h"
#include "numeric/scans.h"
#include "opencl/bins/binner.h"
#include "opencl/core/device.h"
#include "opencl/devices.h"
#include "opencl/groups/grouper.h"
#include "opencl/reduction/reducer.h"
#include "opencl/scan/scanner.h"
#include "random.h"

enum { ROWS = 64, SHARED_ALIGNMENT = 64 };

static const char *wanted; /* a kind, or NULL: all */
static size_t first, step = 1;
static struct clr_device *device;
static const char *as;

static bool is_wanted(const char *kind)
{
    return wanted == NULL || strcmp(wanted, kind) == 0;
}

static void check(const char *kind, const char *what, int64_t start,
                  const struct clr_status *status, char *log)
{
    tap_ok(status->code == CLR_OK, "%s, %s, as for a %s", kind, what, as);
    if (status->code != CLR_OK)
        tap_diag("%s\n%.2000s", status->message, log != NULL ? log : "");
    tap_diag("%d ms", (int)((clr_clock_ns() - start) / 1000000));
    clr_memory_free(log);
}

static void test_operation(const char *kind, enum clr_operation operation)
{
    static const char *const names[] = {[CLR_REAL] = "REAL", [CLR_INTEGER] = "INTEGER"};
    struct clr_status status;

    for (enum clr_element element = 0; element < CLR_ELEMENTS && is_wanted(kind); element++) {
        const int64_t start = clr_clock_ns();
        char *log = NULL;

        clr_status_clear(&status);
        if (clr_reducer_build(device, operation, element, &log, &status) == CLR_OK)
            clr_self_test(device, operation, element, &status);
        check(kind, names[element], start, &status, log);
    }
}

/* ---- Scans such as views have. */

enum { INTEGERS, REALS, MIXED, MORE_REALS, NULLS, OTHERS, COLUMNS, CONSTANT = COLUMNS };

struct view {
    const char *name;
    struct clr_instruction more[5]; /* after a column each and the constants; ended by zeros */
    int filter;
    struct clr_tally tallies[SCANS_TALLIES]; /* likewise */
    bool looks_up; /* NULLS and OTHERS are columns of codes, and their values those of `lookups` */
    /* The bytes of INTEGERS, of MIXED, of REALS and of MORE_REALS, the latter two decimals, or 0 of
       those that are not narrow. */
    uint8_t narrow[4];
};

static const struct clr_lookup lookups[] = {
    {.kind = CLR_TAG_INTEGER, .types = 1 << CLR_TAG_INTEGER, .is_short = true},
    {.kind = CLR_TAG_MIXED, .types = 1 << CLR_TAG_NULL | 1 << CLR_TAG_INTEGER | 1 << CLR_TAG_REAL},
};

enum { FIRST = COLUMNS + 2, SUM = 1 << CLR_SUM, DOT = 1 << CLR_DOT, RANGE = 1 << CLR_EXTREMES };

static const struct view views[] = {
    {.name = "sums of an expression and of a column, where",
     .more = {{CLR_OP_MULTIPLY, REALS, MORE_REALS, -1}, {CLR_OP_LESS, INTEGERS, CONSTANT, -1}},
     .filter = FIRST + 1,
     .tallies = {{.operations = SUM, .x = FIRST, .y = -1, .filter = -1},
                 {.operations = SUM | RANGE, .x = REALS, .y = -1, .filter = -1}}},
    {.name = "INTEGERs and REALs in one column, and a count",
     .more = {{CLR_OP_ADD, MIXED, INTEGERS, -1}, {CLR_OP_NOT_NULL, MIXED, -1, -1}},
     .filter = -1,
     .tallies = {{.operations = SUM, .x = FIRST, .y = -1, .filter = -1},
                 {.operations = RANGE, .x = MIXED, .y = -1, .filter = -1},
                 {.operations = 1, .x = INTEGERS, .y = -1, .filter = FIRST + 1}}},
    {.name = "moments of pairs",
     .more = {{CLR_OP_GREATER_EQUAL, REALS, CONSTANT + 1, -1}},
     .filter = FIRST,
     .tallies = {{.operations = SUM, .x = REALS, .y = -1, .filter = -1},
                 {.operations = DOT, .x = REALS, .y = REALS, .filter = -1},
                 {.operations = DOT, .x = MORE_REALS, .y = MORE_REALS, .filter = -1},
                 {.operations = DOT, .x = REALS, .y = MORE_REALS, .filter = -1}}},
    {.name = "products of INTEGERs, cases and divisions",
     .more = {{CLR_OP_REMAINDER, INTEGERS, CONSTANT, -1},
              {CLR_OP_IF, FIRST, REALS, INTEGERS},
              {CLR_OP_DIVIDE, FIRST + 1, INTEGERS, -1},
              {CLR_OP_COALESCE, MIXED, FIRST, -1}},
     .filter = -1,
     .tallies = {{.operations = DOT, .x = INTEGERS, .y = FIRST, .filter = -1},
                 {.operations = SUM, .x = FIRST + 2, .y = -1, .filter = -1},
                 {.operations = DOT, .x = FIRST + 3, .y = REALS, .filter = FIRST}}},
    {.name = "what codes stand for",
     .more = {{CLR_OP_ADD, NULLS, OTHERS, -1}},
     .filter = NULLS,
     .tallies = {{.operations = SUM, .x = FIRST, .y = -1, .filter = -1},
                 {.operations = SUM | RANGE, .x = REALS, .y = -1, .filter = -1}},
     .looks_up = true},
    {.name = "all of a column of bytes",
     .filter = -1,
     .tallies = {{.operations = SUM | RANGE, .x = INTEGERS, .y = -1, .filter = -1}},
     .narrow = {1, 0}},
    {.name = "all of a column of 2 bytes each, and another one's INTEGERs, where",
     .more = {{CLR_OP_LESS, MIXED, CONSTANT, -1}},
     .filter = -1,
     .tallies = {{.operations = SUM | RANGE, .x = INTEGERS, .y = -1, .filter = -1},
                 {.operations = SUM | RANGE, .x = MIXED, .y = -1, .filter = FIRST}},
     .narrow = {2, 1}},
    {.name = "all of a column of 4 bytes each",
     .filter = -1,
     .tallies = {{.operations = SUM | RANGE, .x = INTEGERS, .y = -1, .filter = -1}},
     .narrow = {4, 0}},
    {.name = "products of bytes and INTEGERs of several sorts, where",
     .more = {{CLR_OP_SUBTRACT, INTEGERS, CONSTANT, -1}, {CLR_OP_LESS, MIXED, INTEGERS, -1}},
     .filter = FIRST + 1,
     .tallies = {{.operations = DOT, .x = INTEGERS, .y = FIRST, .filter = -1},
                 {.operations = SUM, .x = MIXED, .y = -1, .filter = -1}},
     .narrow = {1, 4}},
    {.name = "all of decimals of 2 bytes each, and of a byte each",
     .filter = -1,
     .tallies = {{.operations = SUM | RANGE, .x = REALS, .y = -1, .filter = -1},
                 {.operations = SUM, .x = MORE_REALS, .y = -1, .filter = -1}},
     .narrow = {0, 0, 2, 1}},
    {.name = "all of decimals of 4 bytes each, and products with other ones, where",
     .more = {{CLR_OP_LESS, REALS, CONSTANT + 1, -1}},
     .filter = -1,
     .tallies = {{.operations = SUM, .x = REALS, .y = -1, .filter = -1},
                 {.operations = DOT, .x = REALS, .y = MORE_REALS, .filter = FIRST}},
     .narrow = {0, 0, 4, 2}},
};

static void make_scan(struct scans_made *made, const struct view *view,
                      struct clr_column *const *columns)
{
    struct clr_scan *scan = &made->scan;
    int i;

    scans_make(made, columns); /* for its arrays */
    made->constants[0] = (struct clr_scalar){CLR_TAG_INTEGER, 37};
    made->constants[1] = (struct clr_scalar){CLR_TAG_REAL, clr_bits_of(-12.5)};
    for (i = 0; i < COLUMNS; i++)
        made->instructions[i] = (struct clr_instruction){CLR_OP_COLUMN, i, -1, -1};
    for (i = 0; i < 2; i++)
        made->instructions[CONSTANT + i] = (struct clr_instruction){CLR_OP_CONSTANT, i, -1, -1};
    for (i = 0; i < 5 && view->more[i].opcode != 0; i++)
        made->instructions[FIRST + i] = view->more[i];
    scan->instruction_count = FIRST + i;
    scan->constant_count = 2;
    scan->filter = view->filter;
    for (i = 0; i < SCANS_TALLIES && view->tallies[i].operations != 0; i++)
        made->tallies[i] = view->tallies[i];
    scan->tally_count = i;
    for (i = 0; i < 2 && view->looks_up; i++)
        made->instructions[NULLS + i] = (struct clr_instruction){CLR_OP_LOOKUP, NULLS + i, i, -1};
    scan->lookup_count = i;
    scan->lookups = lookups;
}

/* The kinds of a view's columns. */
static void find_kinds(const struct view *view, struct clr_column *const *columns,
                       uint8_t kinds[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        kinds[i] = columns[i]->kind;
    if (view->narrow[0] > 0)
        kinds[INTEGERS] = (uint8_t)(CLR_TAG_NARROW + view->narrow[0]);
    if (view->narrow[1] > 0)
        kinds[MIXED] = (uint8_t)(CLR_TAG_NARROW_MIXED + view->narrow[1]);
    if (view->narrow[2] > 0)
        kinds[REALS] = (uint8_t)(CLR_TAG_NARROW_REAL + CLR_TAG_DECIMALS + view->narrow[2]);
    if (view->narrow[3] > 0)
        kinds[MORE_REALS] = (uint8_t)(CLR_TAG_NARROW_REAL + CLR_TAG_DECIMALS + view->narrow[3]);
    if (view->looks_up) {
        kinds[NULLS] = CLR_TAG_CODES + 1;
        kinds[OTHERS] = CLR_TAG_CODES + 4;
    }
}

static void test_views(struct clr_column *const *columns)
{
    const size_t count = sizeof views / sizeof views[0];
    uint8_t kinds[COLUMNS];

    for (size_t view = first % count; view < count && is_wanted("scan"); view += step) {
        const int64_t start = clr_clock_ns();
        bool requested;
        struct clr_scan_plan plan;
        struct clr_status status = {.code = CLR_OK};
        struct scans_made made;
        char *log = NULL;

        make_scan(&made, &views[view], columns);
        find_kinds(&views[view], columns, kinds);
        clr_scan_plan(&made.scan, kinds, &plan);
        requested = devices_request(device, &plan, &status);
        while (requested && status.code == CLR_OK) {
            clr_memory_free(log);
            requested = clr_device_build(device, &log, &status);
        }
        check("scan", views[view].name, start, &status, log);
    }
}

/* ---- Groups, by remainders. */

struct grouped {
    const char *name;
    struct clr_instruction more[4]; /* as in struct view; the first ones are the keys */
    int key_count, filter;
    bool by_first;
    struct clr_tally tallies[SCANS_TALLIES];
    uint8_t narrow[4]; /* likewise */
};

static const struct grouped groups[] = {
    {.name = "counts, sums and extremes, where",
     .more = {{CLR_OP_REMAINDER, INTEGERS, CONSTANT, -1}, {CLR_OP_LESS, REALS, CONSTANT + 1, -1}},
     .key_count = 1,
     .filter = FIRST + 1,
     .tallies = {{.operations = SUM | RANGE, .x = REALS, .y = -1, .filter = -1},
                 {.operations = SUM | RANGE, .x = INTEGERS, .y = -1, .filter = FIRST + 1}}},
    {.name = "values of several types by two keys, in the order of the rows",
     .more = {{CLR_OP_REMAINDER, INTEGERS, CONSTANT, -1},
              {CLR_OP_GREATER_EQUAL, MIXED, CONSTANT, -1}},
     .key_count = 2,
     .filter = -1,
     .by_first = true,
     .tallies = {{.operations = SUM, .x = MIXED, .y = -1, .filter = -1},
                 {.operations = DOT, .x = FIRST, .y = FIRST, .filter = -1}}},
    {.name = "narrow INTEGERs, decimals and others by remainders of one another",
     .more = {{CLR_OP_REMAINDER, INTEGERS, CONSTANT, -1}, {CLR_OP_LESS, MIXED, CONSTANT, -1}},
     .key_count = 1,
     .filter = FIRST + 1,
     .tallies = {{.operations = SUM | RANGE, .x = INTEGERS, .y = -1, .filter = -1},
                 {.operations = SUM | RANGE, .x = REALS, .y = -1, .filter = -1}},
     .narrow = {2, 4, 2, 0}},
};

static void make_plan(struct scans_made *made, const struct grouped *grouped,
                      struct clr_grouping *grouping, struct clr_column *const *columns,
                      struct clr_group_plan *plan)
{
    static const struct clr_group_doubts none;
    struct view view = {.filter = grouped->filter};

    for (int i = 0; i < 4; i++)
        view.more[i] = grouped->more[i];
    for (int i = 0; i < SCANS_TALLIES; i++)
        view.tallies[i] = grouped->tallies[i];
    make_scan(made, &view, columns);
    *grouping =
        (struct clr_grouping){.key_count = grouped->key_count, .by_first = grouped->by_first};
    for (int i = 0; i < grouped->key_count; i++)
        grouping->keys[i] = FIRST + i;
    made->scan.grouping = grouping;
    made->scan.values_memory = 1 << 20;
    if (clr_group_plan_make(plan, &made->scan, made->scan.rows, CLR_GROUPS_ON_DEVICE, &none) !=
        CLR_SCAN_DONE)
        tap_bail("no memory");
}

static void test_groups(const struct clr_device_info *info, struct clr_column *const *columns)
{
    static struct clr_group_plan plan;
    const size_t count = sizeof groups / sizeof groups[0];

    for (size_t i = first % count; i < count && is_wanted("groups"); i += step) {
        const int64_t start = clr_clock_ns();
        struct view view = {.looks_up = false};
        struct clr_group_result none = {.records = NULL};
        struct clr_device_work work = {0};
        enum clr_scan_outcome outcome;
        struct clr_grouping grouping;
        struct clr_status status = {.code = CLR_OK};
        struct scans_made made;
        uint8_t kinds[COLUMNS];
        char *log = NULL;
        bool requested;

        make_plan(&made, &groups[i], &grouping, columns, &plan);
        memcpy(view.narrow, groups[i].narrow, sizeof view.narrow);
        find_kinds(&view, columns, kinds);
        TAP_NEED(clr_grouper_fits(info, &plan), "not a plan for a device");
        clr_grouper_run(device, &plan, kinds, NULL, &none, &outcome, &requested, &work, &status);
        while (requested && status.code == CLR_OK) {
            clr_memory_free(log);
            requested = clr_device_build(device, &log, &status);
        }
        check("groups", groups[i].name, start, &status, log);
    }
}

/* ---- */

static void test_as(const struct clr_device_info *info, bool doubles,
                    struct clr_column *const *columns)
{
    enum clr_scan_outcome outcome;
    struct clr_status status = {.code = CLR_OK};
    bool requested;
    char *log = NULL;
    int64_t start;
    /* Looked at for as long as the device is there. */
    struct clr_device_info other = *info;

    other.type = CLR_DEVICE_GPU;
    other.doubles = doubles;
    other.long_maxima = info->long_maxima && doubles;
    /* A device that watches looks at all memory at each launch: of those kinds that are run by
       themselves, scans alone have memory for copies. */
    if (wanted != NULL && !is_wanted("scan"))
        other.shared_alignment = SHARED_ALIGNMENT;
    as = doubles ? "device with doubles" : "device without doubles";
    device = devices_open(&other);
    test_operation("sum", CLR_SUM);
    test_operation("dot", CLR_DOT);
    test_operation("extremes", CLR_EXTREMES);
    /* They take most of the time; the tests of views ask devices without doubles as well. */
    if (doubles || !tap_is_quick() || wanted != NULL) {
        test_views(columns);
        test_groups(&other, columns);
    }
    if (is_wanted("histogram")) {
        start = clr_clock_ns();
        clr_status_clear(&status);
        clr_binner_run(device, NULL, NULL, NULL, &outcome, &requested, NULL, &status);
        clr_device_build(device, &log, &status);
        check("histogram", "INTEGER and REAL", start, &status, log);
    }
    clr_device_close(device);
}

static void test_device(const struct clr_device_info *info)
{
    struct clr_column *columns[SCANS_COLUMNS];

    /* It comes once more, as a GPU. */
    if (info->type == CLR_DEVICE_CPU)
        return;
    tap_diag("%s", info->name);
    scans_columns(columns, ROWS);
    for (int doubles = 0; doubles <= (int)info->doubles; doubles++)
        test_as(info, doubles, columns);
    for (int i = 0; i < SCANS_COLUMNS; i++)
        clr_column_release(columns[i]);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        wanted = argv[1];
    else if (tap_is_quick())
        step = 3; /* as a driver for CPUs takes a second to compile each */
    if (argc > 3) {
        first = strtoull(argv[2], NULL, 10);
        step = strtoull(argv[3], NULL, 10);
    }
    random_start();
    devices_each(test_device, false);
    return tap_done();
}
