/*
 * Groups without SQL: how long clr_host_group() takes for a number of rows and groups. Run by hand:
 * bench/group-bench [ROWS] [RUNS] [DEVICE [GROUPS ...]]. Each line is a grouping's least time and
 * processor time, in milliseconds, and how long it takes to ask for the state of a group. With a
 * device, which is chosen as by the setting, those groupings are left out that it does not take,
 * and the least time of its kernels is told, with the bytes of the columns that they read in that
 * time.
 */
#include "engine/host/host_groups.h"
#include "engine/operations/resident.h"
#include "opencl/core/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    KEY,
    REAL,
    INTEGER,
    SECOND_KEY,
    REAL_KEY,
    WIDE_KEY,
    COLUMNS,
    MOST_TALLIES = 5,
    MOST_STATES = 100000,
    TRIES = 10000
};

static struct clr_column *columns[COLUMNS];
static size_t rows = 10000000;
static int runs = 7;

/* The device, or NULL, and the columns there. */
static struct clr_worker *worker;
static const struct clr_device_info *info;
static struct clr_division division;
static struct clr_sharded *copies[COLUMNS];
static int64_t kernel_time; /* nanoseconds; 0: the device has not grouped */

static uint64_t draw(void)
{
    static uint64_t state = 88172645463325252;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 2685821657736338717;
}

static int64_t bits_of(double real)
{
    int64_t bits;

    memcpy(&bits, &real, sizeof bits);
    return bits;
}

static void wait_briefly(void)
{
    const struct timespec pause = {0, 1000000};

    nanosleep(&pause, NULL);
}

static void make_columns(size_t groups)
{
    const struct clr_devices devices = {1, {{worker, info}}};
    size_t i;
    int c;

    if (worker != NULL && !clr_division_make(&devices, rows, &division))
        exit(EXIT_FAILURE);
    for (c = 0; c < COLUMNS; c++) {
        clr_sharded_release(copies[c]);
        clr_column_release(columns[c]);
        columns[c] = clr_column_new(rows);
        if (columns[c] == NULL)
            exit(EXIT_FAILURE);
        columns[c]->rows = rows;
        columns[c]->kind = c == REAL || c == REAL_KEY ? CLR_TAG_REAL : CLR_TAG_INTEGER;
    }
    for (i = 0; i < rows; i++) {
        const int64_t key = (int64_t)(draw() % groups);

        columns[KEY]->values[i] = key;
        columns[REAL]->values[i] = bits_of((double)(draw() % 100000000) / 1e6);
        columns[INTEGER]->values[i] = (int64_t)(draw() % 15) + 1;
        columns[SECOND_KEY]->values[i] = (int64_t)(draw() % 100);
        columns[REAL_KEY]->values[i] = bits_of((double)key / 4);
        columns[WIDE_KEY]->values[i] = (int64_t)((uint64_t)key * 0x9e3779b97f4a7c15);
    }
    for (c = 0; worker != NULL && c < COLUMNS; c++)
        copies[c] = clr_sharded_new(&division, columns[c]);
    for (c = 0; worker != NULL && c < COLUMNS; c++)
        while (copies[c] != NULL && clr_sharded_state(copies[c]) == CLR_RESIDENT_COMING)
            wait_briefly();
}

static void choose_device(const char *setting)
{
    static struct clr_catalog catalog;
    struct clr_status status;
    int chosen;

    clr_catalog_fill(&catalog, NULL, clr_catalog_reach(setting));
    clr_status_clear(&status);
    chosen = clr_catalog_choose(&catalog, setting);
    if (chosen >= 0) {
        info = &catalog.devices[chosen];
        worker = clr_worker_start(info, &status);
    }
    if (worker == NULL) {
        fprintf(stderr, "no device '%s'\n", setting);
        exit(EXIT_FAILURE);
    }
}

static double milliseconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Returns the nanoseconds that a state takes. */
static double ask(const struct clr_groups *groups, int tallies)
{
    const size_t count =
        clr_groups_count(groups) < MOST_STATES ? clr_groups_count(groups) : MOST_STATES;
    const double start = milliseconds(CLOCK_MONOTONIC);
    struct clr_state state;
    size_t group;
    int i;

    for (group = 0; group < count; group++)
        for (i = 0; i < tallies; i++)
            clr_groups_state(groups, group, i, &state);
    return (milliseconds(CLOCK_MONOTONIC) - start) * 1e6 / (double)(count * (size_t)tallies + 1);
}

static void measure(const char *name, const struct clr_scan *scan)
{
    double best = 1e9, processor = 1e9, state = 0, kernel = 1e9;
    size_t count = 0;
    int run, tries = 0;

    for (run = 0; run < runs; run++) {
        const double start = milliseconds(CLOCK_MONOTONIC);
        const double used = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
        struct clr_groups *groups;
        struct clr_device_scan device = {
            .division = &division, .copies = copies, .timeout_ms = 60000};
        double wall, cpu;

        if (clr_host_group(scan, NULL, worker == NULL ? NULL : &device, &groups) != CLR_SCAN_DONE) {
            printf("%-28s not done\n", name);
            return;
        }
        if (worker != NULL && device.outcome == CLR_SCAN_FAILED)
            fprintf(stderr, "%s\n", device.status.message);
        kernel_time = device.outcome == CLR_SCAN_DONE ? device.work.kernel_time : 0;
        if (worker != NULL && kernel_time == 0) { /* until the program is built, threads do it */
            clr_groups_free(groups);
            if (++tries == TRIES)
                return;
            wait_briefly();
            run--;
            continue;
        }
        kernel = kernel_time > 0 && (double)kernel_time * 1e-6 < kernel ? (double)kernel_time * 1e-6
                                                                        : kernel;
        wall = milliseconds(CLOCK_MONOTONIC) - start;
        cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID) - used;
        best = wall < best ? wall : best;
        processor = cpu < processor ? cpu : processor;
        count = clr_groups_count(groups);
        state = ask(groups, scan->tally_count);
        clr_groups_free(groups);
    }
    printf("%-28s %8zu groups %8.2f ms %8.1f ms of processors, a state %4.0f ns", name, count, best,
           processor, state);
    if (worker != NULL)
        printf(", kernels %7.3f ms, %6.0f GB/s", kernel,
               (double)(rows * sizeof(int64_t) * (size_t)scan->instruction_count) / kernel * 1e-6);
    printf("\n");
    fflush(stdout);
}

/* The tallies and question of a grouping. */
struct wanted {
    const char *name;
    int keys[2], key_count;
    struct {
        unsigned operations;
        int x, y;
    } tallies[MOST_TALLIES];
    int tally_count;
    int question;   /* of the first tally, or -1 */
    bool on_device; /* a device takes it */
};

#define SUM (1u << CLR_SUM)
#define DOT (1u << CLR_DOT)
#define EXTREMES (1u << CLR_EXTREMES)

static const struct wanted all_wanted[] = {
    {"count", {KEY}, 1, {{0, -1, -1}}, 1, -1, true},
    {"sum of REALs", {KEY}, 1, {{SUM, REAL, -1}}, 1, -1, true},
    {"sums of both", {KEY}, 1, {{SUM, REAL, -1}, {SUM, INTEGER, -1}}, 2, -1, true},
    {"extremes of REALs", {KEY}, 1, {{EXTREMES, REAL, -1}}, 1, -1, true},
    {"squares of REALs", {KEY}, 1, {{DOT, REAL, REAL}}, 1, -1, false},
    {"products of INTEGERs", {KEY}, 1, {{DOT, INTEGER, SECOND_KEY}}, 1, -1, true},
    {"median of REALs", {KEY}, 1, {{CLR_KEEP | EXTREMES, REAL, -1}}, 1, CLR_ASK_BETWEEN, false},
    {"different INTEGERs", {KEY}, 1, {{CLR_KEEP, INTEGER, -1}}, 1, CLR_ASK_DISTINCT, false},
    {"median of INTEGERs", {KEY}, 1, {{CLR_KEEP, INTEGER, -1}}, 1, CLR_ASK_BETWEEN, false},
    {"sums and extremes",
     {KEY},
     1,
     {{SUM | EXTREMES, REAL, -1}, {SUM | EXTREMES, INTEGER, -1}},
     2,
     -1,
     true},
    {"five sums, as of TPC-H's Q1",
     {KEY},
     1,
     {{SUM, REAL, -1},
      {SUM, REAL_KEY, -1},
      {SUM, WIDE_KEY, -1},
      {SUM, INTEGER, -1},
      {DOT, INTEGER, SECOND_KEY}},
     5,
     -1,
     true},
    {"sum by two keys", {KEY, SECOND_KEY}, 2, {{SUM, REAL, -1}}, 1, -1, true},
    {"sum by a REAL", {REAL_KEY}, 1, {{SUM, REAL, -1}}, 1, -1, false},
    {"sum by INTEGERs of 64 bits", {WIDE_KEY}, 1, {{SUM, REAL, -1}}, 1, -1, false},
};

/* Returns the instruction that loads the column; -1 stays. Others would be fetched for nothing. */
static int load(struct clr_instruction *instructions, int *count, int column)
{
    int i;

    if (column < 0)
        return -1;
    for (i = 0; i < *count && instructions[i].a != column; i++)
        continue;
    instructions[i] = (struct clr_instruction){CLR_OP_COLUMN, column, 0, 0};
    *count += i == *count;
    return i;
}

static void run(const struct wanted *wanted)
{
    struct clr_instruction instructions[COLUMNS];
    struct clr_tally tallies[MOST_TALLIES];
    struct clr_question question = {.kind = (enum clr_question_kind)wanted->question,
                                    .fraction = 0.5};
    struct clr_grouping grouping = {.key_count = wanted->key_count};
    struct clr_scan scan = {.column_count = COLUMNS,
                            .tally_count = wanted->tally_count,
                            .filter = -1,
                            .instructions = instructions,
                            .columns = columns,
                            .rows = rows,
                            .tallies = tallies,
                            .grouping = &grouping,
                            .question_count = wanted->question >= 0,
                            .questions = &question,
                            .values_memory = (uint64_t)8 << 30,
                            .seed = 1};
    int i;

    memset(tallies, 0, sizeof tallies);
    for (i = 0; i < wanted->key_count; i++)
        grouping.keys[i] = load(instructions, &scan.instruction_count, wanted->keys[i]);
    for (i = 0; i < wanted->tally_count; i++)
        tallies[i] = (struct clr_tally){
            .operations = wanted->tallies[i].operations,
            .x = load(instructions, &scan.instruction_count, wanted->tallies[i].x),
            .y = load(instructions, &scan.instruction_count, wanted->tallies[i].y),
            .filter = -1};
    measure(wanted->name, &scan);
}

int main(int argc, char **argv)
{
    static const size_t usual[] = {4, 100, 2000, 10000, 100000, 1000000};
    const int first = 4, count = argc > first ? argc - first : (int)(sizeof usual / sizeof *usual);
    size_t w;
    int i;

    if (argc > 1)
        rows = (size_t)strtoull(argv[1], NULL, 10);
    if (argc > 2)
        runs = atoi(argv[2]);
    if (argc > 3)
        choose_device(argv[3]);
    for (i = 0; i < count; i++) {
        make_columns(argc > first ? (size_t)strtoull(argv[first + i], NULL, 10) : usual[i]);
        for (w = 0; w < sizeof all_wanted / sizeof all_wanted[0]; w++)
            if (worker == NULL || all_wanted[w].on_device)
                run(&all_wanted[w]);
    }
    return EXIT_SUCCESS;
}
