/*
 * A device made up for the engine's tests. It takes the place of ext/opencl/core/device.c, and
 * of arithmetic.c and self_test.c, in the program that includes this file, reduces on the host, and
 * waits, fails or hangs wherever the test tells it to, so that every way of the engine can be gone
 * without OpenCL.
 */
#ifndef CLR_TESTS_FAKE_DEVICE_H
#define CLR_TESTS_FAKE_DEVICE_H

#include "base/memory.h"
#include "numeric/scan/host_reduce.h"
#include "opencl/core/device.h"
#include "opencl/reduction/reducer.h"

#include "tap.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

enum { FAKE_NEVER = -1, FAKE_TIMEOUT_S = 20 };

struct made_up {
    struct clr_device device;
    struct clr_state states[CLR_REDUCER_SLOTS];
    struct clr_sum more[CLR_REDUCER_SLOTS][CLR_MOST_TERMS - 1];
    bool busy[CLR_REDUCER_SLOTS];
    int64_t bytes[CLR_REDUCER_SLOTS];
};

static struct made_up *made_up_of(struct clr_device *device)
{
    return (struct made_up *)(void *)device;
}

/* What the device is to do, and what it has done. Everything under the lock. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* While one of these is set, that call does not return. */
    bool hold_open, hold_build, hold_begin, hold_finish;
    /* Errors of OpenCL, or 0. */
    int open_error, build_error, test_error;
    bool wrong_result; /* the self-test finds one */
    const char *build_log;
    /* How many calls succeed before the others fail, or FAKE_NEVER. */
    int begin_fails_after, finish_fails_after;
    /* Errors are CLR_NOMEM, those that pass; and so many begins or finishes fail, or FAKE_NEVER:
     * all. */
    bool passes;
    int failures;
    int opened, built, tested, begun, finished, in_slots, most_in_slots;
} fake = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
    .begin_fails_after = FAKE_NEVER,
    .finish_fails_after = FAKE_NEVER,
    .failures = FAKE_NEVER,
};

/* For tests: changes one of the numbers or flags above. */
#define fake_set(member, value)                                                                    \
    do {                                                                                           \
        pthread_mutex_lock(&fake.lock);                                                            \
        fake.member = (value);                                                                     \
        pthread_cond_broadcast(&fake.changed);                                                     \
        pthread_mutex_unlock(&fake.lock);                                                          \
    } while (0)

/* For tests: waits until a number has got that far; gives the test up if it never does. */
static inline void fake_wait(const int *number, int least, const char *what)
{
    struct timespec deadline;
    int error = 0;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += FAKE_TIMEOUT_S;
    pthread_mutex_lock(&fake.lock);
    while (*number < least && error == 0)
        error = pthread_cond_timedwait(&fake.changed, &fake.lock, &deadline);
    pthread_mutex_unlock(&fake.lock);
    TAP_NEED(error == 0, "waited in vain for %s", what);
}

static inline int fake_read(const int *number)
{
    int value;

    pthread_mutex_lock(&fake.lock);
    value = *number;
    pthread_mutex_unlock(&fake.lock);
    return value;
}

/* Counts a call and holds it while the flag is set. */
static void fake_arrive(int *number, const bool *hold)
{
    pthread_mutex_lock(&fake.lock);
    ++*number;
    pthread_cond_broadcast(&fake.changed);
    while (*hold)
        pthread_cond_wait(&fake.changed, &fake.lock);
    pthread_mutex_unlock(&fake.lock);
}

/* The error that a call has to report, or 0. */
static int fake_error(const int *error, int *fails_after)
{
    int result = error != NULL ? *error : 0;

    pthread_mutex_lock(&fake.lock);
    if (error != NULL)
        result = *error;
    else if (*fails_after == 0 && fake.failures != 0)
        result = -5;
    else if (*fails_after == 0)
        result = 0;
    else if (*fails_after > 0)
        --*fails_after;
    if (error == NULL && result != 0 && fake.failures > 0)
        fake.failures--;
    pthread_mutex_unlock(&fake.lock);
    return result;
}

static enum clr_code fake_report(struct clr_status *status, const char *call, int error)
{
    bool passes;

    pthread_mutex_lock(&fake.lock);
    passes = fake.passes;
    pthread_mutex_unlock(&fake.lock);
    return clr_status_set(status, passes ? CLR_NOMEM : CLR_DEVICE, error, "%s: error %d", call,
                          error);
}

enum clr_code clr_device_open(const struct clr_device_info *info, struct clr_device **device,
                              struct clr_status *status)
{
    int error;

    (void)info;
    *device = NULL;
    fake_arrive(&fake.opened, &fake.hold_open);
    error = fake_error(&fake.open_error, NULL);
    if (error != 0)
        return fake_report(status, "open", error);
    *device = clr_memory_alloc_zero(sizeof(struct made_up));
    return *device != NULL ? CLR_OK
                           : clr_status_set(status, CLR_NOMEM, 0, "no memory for a device");
}

enum clr_code clr_arithmetic_choose(struct clr_device *device, struct clr_status *status)
{
    (void)device;
    return status->code;
}

bool clr_device_build(struct clr_device *device, char **log, struct clr_status *status)
{
    (void)device, (void)log, (void)status;
    return false;
}

void clr_device_close(struct clr_device *device)
{
    clr_memory_free(device);
}

enum clr_code clr_reducer_build(struct clr_device *device, enum clr_operation operation,
                                enum clr_element element, char **log, struct clr_status *status)
{
    int error;

    (void)device, (void)operation, (void)element;
    *log = NULL;
    fake_arrive(&fake.built, &fake.hold_build);
    error = fake_error(&fake.build_error, NULL);
    if (error == 0)
        return CLR_OK;
    pthread_mutex_lock(&fake.lock);
    if (fake.build_log != NULL) {
        *log = clr_memory_alloc(strlen(fake.build_log) + 1);
        if (*log != NULL)
            memcpy(*log, fake.build_log, strlen(fake.build_log) + 1);
    }
    pthread_mutex_unlock(&fake.lock);
    return fake_report(status, "build", error);
}

enum clr_code clr_self_test(struct clr_device *device, enum clr_operation operation,
                            enum clr_element element, struct clr_status *status)
{
    static const bool never;
    bool is_wrong;
    int error;

    (void)device, (void)operation, (void)element;
    fake_arrive(&fake.tested, &never);
    error = fake_error(&fake.test_error, NULL);
    if (error != 0)
        return fake_report(status, "test", error);
    pthread_mutex_lock(&fake.lock);
    is_wrong = fake.wrong_result;
    pthread_mutex_unlock(&fake.lock);
    if (is_wrong)
        return fake_report(status, "wrong result", 0);
    return CLR_OK;
}

enum clr_code clr_reducer_begin(struct clr_device *device, int slot, const struct clr_chunk *chunk,
                                unsigned elements, struct clr_status *status)
{
    struct made_up *made_up = made_up_of(device);
    int error;

    fake_arrive(&fake.begun, &fake.hold_begin);
    error = fake_error(NULL, &fake.begin_fails_after);
    if (error != 0)
        return fake_report(status, "begin", error);
    TAP_NEED(!made_up->busy[slot], "slot %d was busy when it was to begin", slot);
    made_up->busy[slot] = true;
    made_up->bytes[slot] = 0;
    clr_state_clear(&made_up->states[slot]);
    clr_state_extend(&made_up->states[slot], made_up->more[slot],
                     clr_operation_more(chunk->operation));
    for (enum clr_element element = 0; element < CLR_ELEMENTS; element++) {
        if (elements & 1u << element) {
            clr_host_reduce(chunk, element, &made_up->states[slot]);
            made_up->bytes[slot] += (int64_t)(chunk->count[element] * sizeof(double));
        }
    }
    pthread_mutex_lock(&fake.lock);
    if (++fake.in_slots > fake.most_in_slots)
        fake.most_in_slots = fake.in_slots;
    pthread_cond_broadcast(&fake.changed);
    pthread_mutex_unlock(&fake.lock);
    return CLR_OK;
}

enum clr_code clr_reducer_finish(struct clr_device *device, int slot, struct clr_state *state,
                                 struct clr_device_work *work, struct clr_status *status)
{
    struct made_up *made_up = made_up_of(device);
    int error;

    fake_arrive(&fake.finished, &fake.hold_finish);
    error = fake_error(NULL, &fake.finish_fails_after);
    if (error != 0) {
        made_up->busy[slot] = false; /* as after a failure that passes */
        return fake_report(status, "finish", error);
    }
    TAP_NEED(made_up->busy[slot], "slot %d was not busy when it was to finish", slot);
    made_up->busy[slot] = false;
    clr_state_merge(state, &made_up->states[slot]);
    work->bytes += made_up->bytes[slot];
    work->kernels += 2;
    work->passes += 2;
    pthread_mutex_lock(&fake.lock);
    fake.in_slots--;
    pthread_mutex_unlock(&fake.lock);
    return CLR_OK;
}

#endif
