/*
 * A device that is opened here, without a worker, and whose OpenCL fails once, at every call of an
 * upload, of a lookup's, and of a chunk's reduction, and at some of the measuring of its
 * arithmetic: what can't be opened is not left half-open, what fails for a moment works the next
 * time, and a device that is closed has given everything back. One that is lost leaves nothing on
 * the host, which the address sanitizer sees. OpenCL fails by means of
 * tests/opencl/failing-opencl.c: see engine/failing.h.
 */
#include "base/memory.h"
#include "engine/failing.h"
#include "numeric/scan/scan.h"
#include "numeric/values/column.h"
#include "opencl/core/device.h"
#include "opencl/devices.h"
#include "opencl/failing_library.h"
#include "opencl/reduction/reducer.h"
#include "opencl/scan/row_programs.h"

enum { ROWS = 3000, OBJECT_KINDS = 6, MOST_CALLS = 200, LOST = -12, SHORT = -5 };

/* Copies a column to the device and back. Returns whether all is as it was, unless status says
   otherwise, or there is nothing that comes back. */
static bool copy(struct clr_device *device, struct clr_status *status)
{
    static int64_t values[ROWS], found[ROWS];
    struct clr_resident_column *column = clr_resident_column_new(CLR_TAG_INTEGER, ROWS);
    bool complete = false, is_same = true;

    TAP_NEED(column != NULL, "no memory");
    for (size_t i = 0; i < ROWS; i++)
        values[i] = (int64_t)(i * i);
    while (!complete && status->code == CLR_OK)
        clr_resident_column_fill(device, column, values, NULL, NULL, &complete, status);
    if (status->code == CLR_OK && devices_read(device, column, found) == CL_SUCCESS)
        is_same = memcmp(values, found, sizeof values) == 0;
    clr_resident_column_free(device, column);
    return is_same;
}

/* Sums a chunk. */
static bool sum(struct clr_device *device, struct clr_status *status)
{
    struct clr_chunk *chunk = clr_chunk_new(CLR_SUM, ROWS);
    struct clr_device_work work = {0};
    struct clr_state state;
    int64_t result = 0;

    TAP_NEED(chunk != NULL, "no memory");
    for (size_t i = 0; i < ROWS; i++)
        chunk->integer[i] = (int64_t)i;
    chunk->count[CLR_INTEGER] = ROWS;
    clr_state_clear(&state);
    if (clr_reducer_begin(device, 0, chunk, 1U << CLR_INTEGER, status) == CLR_OK)
        clr_reducer_finish(device, 0, &state, &work, status);
    clr_memory_free(chunk);
    return status->code != CLR_OK || (clr_int192_to_int64(&state.sum.integer, &result) &&
                                      result == (int64_t)ROWS * (ROWS - 1) / 2);
}

/* Brings lookups: the values of one as they are, and of one as bytes, with tags, and the truths of
   both. */
static bool look_up(struct clr_device *device, struct clr_status *status)
{
    const struct clr_kept_lookup *found[CLR_MOST_LOOKUPS];
    static struct clr_lookup_cache cache;
    struct clr_lookup lookups[2] = {{0}, {0}};
    const struct clr_scan scan = {.lookup_count = 2, .lookups = lookups};
    struct clr_device_work work = {0};
    cl_command_queue queue = clr_cl.CreateCommandQueue(device->context, device->info.id, 0, NULL);
    const int64_t truths = (ROWS / 32 + 1) * (int64_t)sizeof(uint32_t);
    bool complete = true;

    for (uint32_t i = 0; i < 2; i++) {
        struct clr_lookup_results *results = clr_lookup_results_new(ROWS);
        TAP_NEED(results != NULL, "no memory");
        results->tags[0] = i == 0 ? CLR_TAG_REAL : CLR_TAG_INTEGER;
        if (i == 0)
            memset(results->tags, CLR_TAG_REAL, ROWS);
        clr_lookup_set(&lookups[i], results, ROWS);
    }
    if (queue != NULL)
        clr_lookup_cache_bring(&cache, device, queue, &scan, found, &work, status);
    if (queue != NULL && status->code == CLR_OK)
        complete = found[0]->values != NULL && found[0]->tags == NULL && found[1]->values != NULL &&
                   found[1]->tags != NULL && found[0]->truths != NULL && found[1]->truths != NULL &&
                   work.bytes == 10 * (int64_t)ROWS + 2 * truths;
    if (queue != NULL) {
        clr_cl.Finish(queue);
        clr_cl.ReleaseCommandQueue(queue);
    }
    clr_lookup_cache_clear(&cache);
    for (uint32_t i = 0; i < 2; i++) {
        complete = complete && atomic_load(&lookups[i].results->references) == 1;
        clr_lookup_results_release(lookups[i].results);
    }
    return complete;
}

/*
 * Opens a device, of which the work's call of that number fails, does the work twice, and closes
 * the device. Returns what is wrong, or NULL. *acted: there was such a call.
 */
static const char *try_call(const struct clr_device_info *info,
                            bool (*work)(struct clr_device *, struct clr_status *), int error,
                            int call, bool *acted)
{
    struct clr_device *device = NULL;
    struct clr_status status = {.code = CLR_OK};
    char rule[60], *log = NULL;
    const char *wrong = NULL;
    long told;

    if (clr_device_open(info, &device, &status) != CLR_OK ||
        clr_reducer_build(device, CLR_SUM, CLR_INTEGER, &log, &status) != CLR_OK)
        return "the device can't be opened";
    snprintf(rule, sizeof rule, "any:%d:%d:1", error, call);
    set_rule(rule);
    if (!work(device, &status))
        wrong = "another result";
    seen(&told);
    *acted = told > 0;
    set_rule(NULL);
    if (error == SHORT && status.code == CLR_DEVICE)
        wrong = "the device is lost";
    clr_status_clear(&status);
    if (!work(device, &status))
        wrong = "another result the second time";
    else if (error == SHORT && status.code != CLR_OK)
        wrong = "the second time fails";
    clr_device_close(device);
    for (int i = 0; i < OBJECT_KINDS && error == SHORT; i++) {
        if (live(i) != 0)
            wrong = "something is left on the device";
    }
    return wrong;
}

/* Has a device measure its arithmetic, by that rule, which is to return the code. Returns what is
   wrong, or NULL. */
static const char *try_measuring(const struct clr_device_info *info, const char *rule,
                                 enum clr_code code)
{
    struct clr_arithmetic_times times;
    struct clr_device *device = NULL;
    const char *wrong = NULL;
    struct clr_status status = {.code = CLR_OK};
    long told;

    if (clr_device_open(info, &device, &status) != CLR_OK)
        return "the device can't be opened";
    set_rule(rule);
    if (clr_arithmetic_measure(device, &times, &status) != code)
        wrong = "measuring gives another code";
    seen(&told);
    set_rule(NULL);
    if (told == 0)
        wrong = "nothing fails as arithmetic is measured";
    clr_device_close(device);
    for (int i = 0; i < OBJECT_KINDS && code == CLR_OK; i++) {
        if (live(i) != 0)
            wrong = "measuring leaves something on the device";
    }
    if (wrong != NULL)
        printf("%s: %s\n", rule, wrong);
    return wrong;
}

static int run(void)
{
    bool (*const works[])(struct clr_device *, struct clr_status *) = {copy, sum, look_up};
    enum { WORKS = sizeof works / sizeof works[0] };
    const int errors[] = {SHORT, LOST};
    struct clr_device_info info;
    const char *wrong = NULL;
    int call, calls = 0;
    bool acted = true;

    unsetenv("LD_PRELOAD");
    find_library();
    if (!failing_find_device(&info))
        return EXIT_FAILURE;
    /* The values, the second candidate's buffers, and a sum. */
    if (try_measuring(&info, "clCreateBuffer:-4:1:1", CLR_OK) != NULL ||
        try_measuring(&info, "clCreateBuffer:-4:5:1", CLR_OK) != NULL ||
        try_measuring(&info, "clWaitForEvents:-5:2:1", CLR_OK) != NULL)
        return EXIT_FAILURE;
    for (int i = 0; i < 2 * WORKS && wrong == NULL; i++) {
        for (call = 1, acted = true; acted && wrong == NULL && call < MOST_CALLS; call++) {
            /* After a failure that does not pass, only the opening is tried: nothing is under way.
             */
            if (errors[i / WORKS] == LOST && (i % WORKS > 0 || call > 5))
                break;
            wrong = try_call(&info, works[i % WORKS], errors[i / WORKS], call, &acted);
            calls += acted;
        }
        if (wrong != NULL)
            printf("work %d, call %d, error %d: %s\n", i % WORKS, call - 1, errors[i / WORKS],
                   wrong);
    }
    printf("%d calls\n", calls);
    if (wrong == NULL)
        wrong = try_measuring(&info, "clWaitForEvents:-12:2:1", CLR_DEVICE);
    return wrong == NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int count, char **arguments)
{
    struct failures_attempt attempt;

    if (count == 2)
        return run();
    failing_begin(arguments[0]);
    if (!tap_ok(failures_attempt(&attempt, "nothing", "run"),
                "any call of an upload, and of a reduction, fails once"))
        tap_diag("%s", attempt.text);
    tap_diag("%s", attempt.text);
    return tap_done();
}
