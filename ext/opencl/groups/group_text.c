#include "opencl/groups/group_text.h"

#include "numeric/values/column.h"
#include "opencl/core/build.h"
#include "opencl/core/calls.h"
#include "opencl/core/kernels.h"

#include <stdio.h>

/* Kernels have a bit for each tally. Of a tally six words at most are added. */
_Static_assert(CLR_MOST_SCAN_TALLIES <= 32, "more tallies than bits");
enum { MOST_ADDS = 1 + 6 * CLR_MOST_SCAN_TALLIES };

bool clr_group_text_fits(const struct clr_group_plan *plan)
{
    int i;

    if (plan->numbering != CLR_NUMBERED_DIRECTLY || !clr_scan_plan_fits(plan->scan))
        return false;
    for (i = 0; i < plan->tally_count; i++)
        if (plan->tallies[i].gathers)
            return false;
    return true;
}

/* ---- The key: the instructions; the filter's register; how many words of each sort there are; the
   registers of the keys; and what a tally has. */

static void find_used(const struct clr_group_plan *plan, bool *used)
{
    const struct clr_scan *scan = plan->scan;
    bool one[CLR_MOST_INSTRUCTIONS];
    int i, j;

    for (j = 0; j < scan->instruction_count; j++)
        used[j] = false;
    for (i = 0; i < plan->tally_count + plan->grouping.key_count; i++) {
        struct clr_tally tally = {.x = -1, .y = -1, .filter = -1};

        if (i < plan->tally_count) {
            tally.x = scan->tallies[i].x;
            tally.y = scan->tallies[i].y;
            tally.filter = plan->tallies[i].filter;
        } else {
            tally.x = plan->grouping.keys[i - plan->tally_count];
        }
        clr_scan_find_used(scan, &tally, one);
        for (j = 0; j < scan->instruction_count; j++)
            used[j] = used[j] || one[j];
    }
}

enum { FILTER, X, Y, REGISTERS };
enum {
    X_TYPES = REGISTERS,
    Y_TYPES,
    UNSURE_FROM,
    IS_DOT,
    MISSES,
    OTHERS,
    INTEGER,
    IS_LIMITED,
    REAL,
    INTEGERS,
    REALS,
    WIDE,
    REAL_WIDE,
    TALLY_WORDS
};

/* Words that are added, by their numbers: those that are no counts. Returns how many they are. */
static int find_wides(const struct clr_group_plan *plan, bool *wide)
{
    int wides = 0, i;

    for (i = 0; i < plan->adds; i++)
        wide[i] = i > 0;
    for (i = 0; i < plan->tally_count; i++) {
        if (plan->tallies[i].missing >= 0)
            wide[plan->tallies[i].missing] = false;
        if (plan->tallies[i].others >= 0)
            wide[plan->tallies[i].others] = false;
    }
    for (i = 0; i < plan->adds; i++)
        wides += wide[i];
    return wides;
}

int clr_group_wide_words(const struct clr_group_plan *plan)
{
    bool wide[MOST_ADDS];

    return find_wides(plan, wide);
}

/* Returns the number of a word among the wide ones. */
static int number_among(const bool *wide, int word)
{
    int number = 0, i;

    for (i = 0; i < word; i++)
        number += wide[i];
    return number;
}

static void add_tally(struct clr_row_key *key, const struct clr_group_plan *plan, int number,
                      const int *names, const bool *wide)
{
    const struct clr_group_tally *kept = &plan->tallies[number];
    const struct clr_tally *tally = &plan->scan->tallies[number];
    const int words[TALLY_WORDS] = {
        [FILTER] = kept->filter < 0 ? -1 : names[kept->filter],
        [X] = tally->x < 0 ? -1 : names[tally->x],
        [Y] = tally->y < 0 ? -1 : names[tally->y],
        [X_TYPES] = (int)kept->x_types,
        [Y_TYPES] = tally->y < 0 ? (int)CLR_TYPE(CLR_TAG_INTEGER) : (int)kept->y_types,
        [UNSURE_FROM] = tally->operations != 0 ? CLR_TAG_BYTES : CLR_TAG_UNSURE,
        [IS_DOT] = clr_tally_does(tally, CLR_DOT),
        [MISSES] = kept->missing,
        [OTHERS] = kept->others,
        [INTEGER] = kept->integer,
        [IS_LIMITED] = kept->integer_limit != 0,
        [REAL] = kept->real_high,
        [INTEGERS] = kept->extremes[0],
        [REALS] = kept->extremes[2],
        [WIDE] = number_among(wide, kept->integer),
        [REAL_WIDE] = number_among(wide, kept->real_high),
    };
    int i;

    for (i = 0; i < TALLY_WORDS; i++)
        clr_row_key_add(key, words[i]);
}

void clr_group_key(struct clr_row_key *key, const struct clr_group_plan *plan, const uint8_t *kinds)
{
    const struct clr_scan *scan = plan->scan;
    bool used[CLR_MOST_INSTRUCTIONS], wide[MOST_ADDS];
    int names[CLR_MOST_SCAN_INSTRUCTIONS], i;

    clr_row_key_begin(key);
    find_used(plan, used);
    clr_row_key_add_instructions(key, scan, kinds, used, names);
    clr_row_key_add(key, scan->filter < 0 ? -1 : names[scan->filter]);
    clr_row_key_add(key, find_wides(plan, wide));
    clr_row_key_add(key, plan->adds);
    for (i = 0; i < plan->adds; i++)
        clr_row_key_add(key, wide[i]);
    clr_row_key_add(key, (int)clr_group_device_words(plan) - plan->adds);
    clr_row_key_add(key, plan->grouping.by_first);
    clr_row_key_add(key, plan->grouping.key_count);
    for (i = 0; i < plan->grouping.key_count; i++)
        clr_row_key_add(key, names[plan->grouping.keys[i]]);
    clr_row_key_add(key, plan->tally_count);
    for (i = 0; i < plan->tally_count; i++)
        add_tally(key, plan, i, names, wide);
}

/* ---- The text. */

static void add_register(struct clr_row_text *text, int number)
{
    if (number < 0)
        clr_row_text_add(text, "scalar_integer(1)");
    else
        clr_row_text_add(text, "r%d", number);
}

void clr_group_text(struct clr_row_text *text, const struct clr_row_key *key)
{
    const int16_t *word;
    int count, i, j;

    clr_row_text_begin(text);
    clr_row_text_add_arguments(text, &key->arguments);
    word = clr_row_text_add_body(text, key->words);
    clr_row_text_add(text, "#define ROW_FILTER ");
    add_register(text, *word++);
    clr_row_text_add(text, "\n#define WIDES %d\n", *word++);
    count = *word++;
    clr_row_text_add(text, "#define ADDS %d\n#define WIDE_NUMBERS", count);
    for (i = j = 0; i < count; i++)
        if (*word++)
            clr_row_text_add(text, " %d,", j++);
        else
            clr_row_text_add(text, " NARROW,");
    clr_row_text_add(text, "\n");
    clr_row_text_add(text, "#define MOSTS %d\n", *word++);
    clr_row_text_add(text, "#define BY_FIRST %d\n", *word++);
    count = *word++;
    clr_row_text_add(text, "#define KEYS %d\n#define FOR_EACH_KEY(X)", count);
    for (i = 0; i < count; i++)
        clr_row_text_add(text, " X(%d, r%d)", i, *word++);
    count = *word++;
    clr_row_text_add(text, "\n#define FOR_EACH_TALLY(X)");
    for (i = 0; i < count; i++) {
        clr_row_text_add(text, " X(%d", i);
        for (j = 0; j < TALLY_WORDS; j++) {
            clr_row_text_add(text, ", ");
            if (j < REGISTERS)
                add_register(text, *word++);
            else
                clr_row_text_add(text, "%d", *word++);
        }
        clr_row_text_add(text, ")");
    }
    clr_row_text_add(text, "\n");
    clr_row_text_end(text);
}

/* ---- The building. */

/* Work-items that share a table: as many as hide the memory's latency where a compute unit has
   local memory for a few tables alone. LOADS: rows whose values each of them has on their way, and
   MOST_LOADS of sorted rows, which wait for their numbers too. TEAM: those that go through a tile
   of sorted rows together. */
enum { GROUP_SIZE = 512, LOADS = 4, MOST_LOADS = 8, TEAM = 128 };

static const char *const kernel_names[CLR_GROUP_KERNELS] = {
    [CLR_GROUP_LOCALLY] = "group_rows_locally",
    [CLR_GROUP_SORTED] = "group_rows_sorted",
    [CLR_GROUP_GLOBALLY] = "group_rows_globally",
    [CLR_GROUP_TILES] = "group_tiles"};

enum clr_code clr_group_kernels_build(const char *text, cl_context context,
                                      const struct clr_device_info *info,
                                      cl_kernel kernels[CLR_GROUP_KERNELS], size_t *group_size,
                                      char **log, struct clr_status *status)
{
    const char *sources[] = {clr_kernel_reals,
                             clr_kernel_loads,
                             clr_kernel_values,
                             clr_kernel_values_logic,
                             text,
                             clr_kernel_atomics,
                             clr_kernel_digits,
                             clr_kernel_grouping,
                             clr_kernel_group_tiles,
                             clr_kernel_group_rows,
                             clr_kernel_group_records};
    const struct clr_group_limit limit = {.most = GROUP_SIZE,
                                          .local_per_item = CLR_GROUP_STAGED_BYTES};
    /* PoCL 3.1 aborts on a loop of loads that is unrolled before a barrier. */
    const bool cpu = info->type == CLR_DEVICE_CPU;
    char options[96];
    const struct clr_build build = {sizeof sources / sizeof *sources, sources, options,
                                    CLR_GROUP_KERNELS, kernel_names};
    cl_int error;

    snprintf(options, sizeof options,
             "-cl-std=CL1.2 -DDOUBLES=%d -DHALVES=%d -DLOADS=%d -DMOST_LOADS=%d -DTEAM=%d",
             clr_device_sums_doubles(info), !info->long_maxima, cpu ? 1 : LOADS,
             cpu ? 1 : MOST_LOADS, TEAM);
    if (clr_build_kernels(&build, context, info, kernels, log, status) != CLR_OK)
        return status->code;
    error = clr_choose_group_size(info, kernels, CLR_GROUP_KERNELS, &limit, group_size);
    return error == CL_SUCCESS ? CLR_OK
                               : clr_opencl_failed(status, "clGetKernelWorkGroupInfo", error);
}
