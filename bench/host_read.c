#include "host_read.h"

#include "base/clock.h"
#include "output.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__) && defined(CPU_COUNT)
#define HAVE_CPU_SETS 1
#else
#define HAVE_CPU_SETS 0
#endif

enum { MOST_THREADS = 256, LANES = 8, VECTORS = 4 };

/* Pieces that a thread takes, about, and values in one at least. */
enum { PIECES = 8, LEAST_PIECE = 1024 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

volatile double bench_host_sink;

/* Four vectors of sums, so that no addition waits for the one before. */
#define DEFINE_READ(name, target)                                                                  \
    target static double name(const double *values, size_t count)                                  \
    {                                                                                              \
        lanes sums[VECTORS] = {{0}}, total;                                                        \
        double result = 0;                                                                         \
        size_t i, j;                                                                               \
                                                                                                   \
        for (i = 0; i + LANES * VECTORS <= count; i += LANES * VECTORS) {                          \
            lanes vectors[VECTORS];                                                                \
            memcpy(vectors, values + i, sizeof vectors);                                           \
            sums[0] += vectors[0];                                                                 \
            sums[1] += vectors[1];                                                                 \
            sums[2] += vectors[2];                                                                 \
            sums[3] += vectors[3];                                                                 \
        }                                                                                          \
        total = (sums[0] + sums[1]) + (sums[2] + sums[3]);                                         \
        for (j = 0; j < LANES; j++)                                                                \
            result += total[j];                                                                    \
        for (; i < count; i++)                                                                     \
            result += values[i];                                                                   \
        return result;                                                                             \
    }

#if defined(__x86_64__)
DEFINE_READ(read_avx512, __attribute__((target("avx512f"))))
DEFINE_READ(read_avx2, __attribute__((target("avx2"))))
#endif
DEFINE_READ(read_portable, )

static double read_values(const double *values, size_t count)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return read_avx512(values, count);
    if (__builtin_cpu_supports("avx2"))
        return read_avx2(values, count);
#endif
    return read_portable(values, count);
}

int bench_host_threads(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
#if HAVE_CPU_SETS
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
#endif
    return count < 1 ? 1 : count > MOST_THREADS ? MOST_THREADS : (int)count;
}

/* What the threads share: each takes piece after piece, so that none waits for a slower one. */
struct job {
    const double *values;
    size_t count, piece;
    atomic_int waiting; /* for so many threads more */
    atomic_size_t next; /* piece */
};

struct worker {
    pthread_t thread;
    struct job *job;
    int64_t start, end;
    double sum;
};

/* Each thread on a core of its own: a scheduler may take longer to part them than they run. */
static void pin(pthread_t thread, int number)
{
#if HAVE_CPU_SETS
    cpu_set_t all, one;
    size_t cpu;

    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all) && number-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            pthread_setaffinity_np(thread, sizeof one, &one);
        }
    }
#else
    (void)thread;
    (void)number;
#endif
}

/* All threads begin together, and creating them is not measured. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    struct job *job = worker->job;
    size_t first;

    worker->sum = 0;
    atomic_fetch_sub(&job->waiting, 1);
    while (atomic_load(&job->waiting) > 0)
        sched_yield();
    worker->start = clr_clock_ns();
    while ((first = atomic_fetch_add(&job->next, 1) * job->piece) < job->count) {
        size_t left = job->count - first;
        worker->sum += read_values(job->values + first, left < job->piece ? left : job->piece);
    }
    worker->end = clr_clock_ns();
    return NULL;
}

int64_t bench_host_read(void *argument)
{
    const struct bench_host_read *read = argument;
    struct worker workers[MOST_THREADS];
    struct job job = {.values = read->values, .count = read->count};
    int64_t start = INT64_MAX, end = 0;
    double sum = 0;
    int i;

    job.piece = read->count / (size_t)(read->threads * PIECES) + 1;
    job.piece = (job.piece + LEAST_PIECE - 1) / LEAST_PIECE * LEAST_PIECE;
    atomic_init(&job.waiting, read->threads);
    atomic_init(&job.next, 0);
    for (i = 0; i < read->threads; i++)
        workers[i].job = &job;
    for (i = 0; i < read->threads && read->threads > 1; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            bench_die("no more threads");
        pin(workers[i].thread, i);
    }
    if (read->threads == 1)
        work(&workers[0]);
    for (i = 0; i < read->threads; i++) {
        if (read->threads > 1)
            pthread_join(workers[i].thread, NULL);
        start = workers[i].start < start ? workers[i].start : start;
        end = workers[i].end > end ? workers[i].end : end;
        sum += workers[i].sum;
    }
    bench_host_sink = sum;
    return end - start;
}

int64_t bench_host_plain_loop(void *argument)
{
    const struct bench_host_read *read = argument;
    int64_t start = clr_clock_ns();
    double sum = 0;
    size_t i;

    for (i = 0; i < read->count; i++)
        sum += read->values[i];
    bench_host_sink = sum;
    return clr_clock_ns() - start;
}
