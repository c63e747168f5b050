/*
 * The programs of devices without doubles: they have none in their source, neither by name nor as a
 * constant, as clang finds that knows no cl_khr_fp64; nor atomics of 64 bits, which it does not
 * know either. Takes the place of opencl/core/build.c, and needs no device.
 */
#include "numeric/scans.h"
#include "opencl/core/build.h"
#include "opencl/reduction/program.h"
#include "opencl/scan/row_text.h"
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECKER                                                                                    \
    "clang -x cl -Xclang -finclude-default-header -fsyntax-only -Xclang -cl-ext=-cl_khr_fp64,"     \
    "-cl_khr_int64_base_atomics,-cl_khr_int64_extended_atomics "                                   \
    "-Werror"

static char path[SCRATCH_PATH];
static bool compiles;

enum clr_code clr_build_kernels(const struct clr_build *build, cl_context context,
                                const struct clr_device_info *device, cl_kernel *kernels,
                                char **log, struct clr_status *status)
{
    FILE *file = fopen(path, "w");
    char command[1000];
    cl_uint i;

    (void)context;
    TAP_NEED(file != NULL, "%s cannot be written", path);
    for (i = 0; i < build->source_count; i++)
        fprintf(file, "%s\n", build->sources[i]);
    fclose(file);
    snprintf(command, sizeof command, CHECKER " %s %s %s", build->options, path,
             device != NULL && device->doubles ? ">/dev/null 2>&1" : ">&2");
    compiles = system(command) == 0;
    for (i = 0; i < (cl_uint)build->kernel_count; i++)
        kernels[i] = NULL;
    *log = NULL;
    return status->code;
}

cl_int clr_choose_group_size(const struct clr_device_info *device, const cl_kernel *kernels,
                             int count, const struct clr_group_limit *limit, size_t *size)
{
    (void)device, (void)kernels, (void)count, (void)limit;
    *size = 1;
    return CL_SUCCESS;
}

static void test_reduction(const struct clr_device_info *info, enum clr_operation operation,
                           enum clr_element element)
{
    struct clr_program program;
    struct clr_status status = {.code = CLR_OK};
    char *log;

    clr_program_build(&program, NULL, info, &(struct clr_step_kind){operation, element}, 1, NULL,
                      &log, &status);
    tap_ok(compiles == (!info->doubles || operation == CLR_EXTREMES || element == CLR_INTEGER),
           "operation %d of elements %d, %s doubles", operation, element,
           info->doubles ? "with" : "without");
}

/* Adds every operator to a scan of one column. Returns the last one's register. */
static int add_operators(struct clr_scan *scan, struct clr_instruction *instructions)
{
    int last = 0;

    for (enum clr_opcode opcode = 0; opcode < CLR_OPCODES; opcode++) {
        if (opcode == CLR_OP_COLUMN || opcode == CLR_OP_CONSTANT || opcode == CLR_OP_LOOKUP)
            continue;
        instructions[scan->instruction_count] = (struct clr_instruction){opcode, last, last, last};
        last = scan->instruction_count++;
    }
    return last;
}

/* Every operator, of values of all types, in two sums, products and extremes at once; and groups by
   what comes of it, with all that a record may have. */
static void test_scan(const struct clr_device_info *info, bool queued)
{
    enum { NUMBERS = CLR_TYPE(CLR_TAG_NULL) | CLR_TYPE(CLR_TAG_INTEGER) | CLR_TYPE(CLR_TAG_REAL) };
    struct clr_instruction instructions[CLR_OPCODES + 1] = {{CLR_OP_COLUMN, 0, -1, -1}};
    struct clr_tally tallies[] = {
        {.operations = 1 << CLR_SUM | 1 << CLR_EXTREMES, .x = 0, .y = -1, .filter = -1},
        {.operations = 1 << CLR_DOT, .x = 0, .y = 0, .filter = -1},
    };
    const struct clr_scan_bundle bundle = {.count = 6, .steps = {0, 1, 2, 3, 4, 5}};
    static const uint8_t kinds[] = {CLR_TAG_MIXED};
    struct clr_scan scan = {.instruction_count = 1,
                            .column_count = 1,
                            .rows = 1,
                            .tally_count = 2,
                            .instructions = instructions,
                            .tallies = tallies};
    static struct clr_scan_plan plan;
    static struct clr_scan_key key;
    static struct clr_group_plan groups;
    static struct clr_row_key group_key;
    static struct clr_row_text text;
    cl_kernel group_kernels[CLR_GROUP_KERNELS];
    size_t group_size;
    struct clr_program program;
    struct clr_status status = {.code = CLR_OK};
    char *log;

    scan.filter = add_operators(&scan, instructions);
    clr_scan_plan(&scan, kinds, &plan);
    plan.queued = queued;
    tap_is_int64(plan.count, bundle.count, "sums, extremes and products of INTEGERs and REALs");
    clr_scan_key(&key, &plan, &bundle);
    clr_scan_text(&text, &key);
    clr_program_build(&program, NULL, info, key.steps, key.step_count, text.text, &log, &status);
    tap_ok(text.complete && compiles == !info->doubles,
           "a scan with all operators, %s doubles, %s a queue", info->doubles ? "with" : "without",
           queued ? "with" : "without");

    groups = (struct clr_group_plan){
        .scan = &scan,
        .grouping = {.key_count = 1, .keys = {scan.filter}, .by_first = true},
        .tally_count = 2,
        .adds = 8,
        .words = 12,
        .stride = 13,
        .tallies = {{.x_types = NUMBERS,
                     .filter = -1,
                     .missing = 1,
                     .others = 2,
                     .integer = 3,
                     .integer_high = 4,
                     .real_high = 5,
                     .real_low = 6,
                     .extremes = {8, 9, 10, 11}},
                    {.x_types = NUMBERS,
                     .y_types = NUMBERS,
                     .filter = scan.filter,
                     .missing = -1,
                     .others = -1,
                     .integer = 7,
                     .integer_high = -1,
                     .integer_limit = 1,
                     .real_high = -1,
                     .real_low = -1,
                     .extremes = {-1, -1, -1, -1}}}};
    for (int in_runs = 0; in_runs < 2; in_runs++) {
        groups.in_runs = in_runs;
        clr_group_key(&group_key, &groups, kinds, queued);
        clr_group_text(&text, &group_key);
        clr_group_kernels_build(text.text, queued, NULL, info, group_kernels, &group_size, &log,
                                &status);
        tap_ok(text.complete && compiles == !info->doubles,
               "groups%s with all operators, %s doubles, %s a queue", in_runs ? " in runs" : "",
               info->doubles ? "with" : "without", queued ? "with" : "without");
    }
}

TAP_TEST(all_tests)
{
    struct clr_device_info info = {.compute_units = 1};

    if (system("clang --version >/dev/null 2>&1") != 0)
        tap_skip_all("there is no clang");
    scratch_file(path, "program");
    for (int doubles = 0; doubles < 2; doubles++) {
        info.type = CLR_DEVICE_GPU;
        info.doubles = info.long_maxima = doubles;
        for (enum clr_operation operation = 0; operation < CLR_OPERATIONS; operation++) {
            for (enum clr_element element = 0; element < CLR_ELEMENTS; element++)
                test_reduction(&info, operation, element);
        }
        test_scan(&info, false);
        test_scan(&info, true);
    }
    unlink(path);
}
