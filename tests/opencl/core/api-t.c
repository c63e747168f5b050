/* The functions of OpenCL, which several threads want to find at the same time. */
#include "opencl/core/api.h"

#include "tap.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { THREADS = 8 };

static atomic_int ready;

static void *find(void *argument)
{
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < THREADS)
        sched_yield();
    clr_opencl_load(argument);
    return NULL;
}

static void test_threads(struct clr_status status[THREADS])
{
    pthread_t threads[THREADS];
    int same = 0;

    for (int i = 0; i < THREADS; i++)
        TAP_NEED(pthread_create(&threads[i], NULL, find, &status[i]) == 0, "no thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        same +=
            status[i].code == status[0].code && strcmp(status[i].message, status[0].message) == 0;
    tap_is_int64(same, THREADS, "all have the same outcome");
}

TAP_TEST(all_tests)
{
    static const struct clr_opencl none;
    struct clr_status status[THREADS];
    void (*functions[sizeof none / sizeof(void (*)(void))])(void);
    size_t i, found = 0;

    tap_ok(memcmp(&clr_cl, &none, sizeof none) == 0, "nothing is found before it is asked for");
    test_threads(status);
    memcpy(functions, &clr_cl, sizeof functions);
    for (i = 0; i < sizeof functions / sizeof functions[0]; i++)
        found += functions[i] != NULL;
    if (status[0].code == CLR_OK) {
        tap_is_int64((int64_t)found, (int64_t)i, "all functions are found");
    } else {
        tap_diag("%s", status[0].message);
        tap_ok(found == 0 && status[0].message[0] != '\0', "or none, and the reason is told");
    }
}
