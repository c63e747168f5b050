/*
 * Measurements of what lies below SQL: memory, kernels, transfers, start-up, and the ladder of
 * reduction kernels that the literature teaches. `make bench` runs it through bench/run.py; by
 * hand:
 *
 *     device-bench PART [--device NAME] [--type cpu|gpu] [--sizes BYTES,...] [--runs N] [--seconds
 * S]
 *
 * Each result is a JSON object on a line of the standard output. Exit status: 0; 1 if a result of a
 * kernel was wrong; 2 if there was nothing to measure.
 */
#include "measure.h"
#include "options.h"
#include "output.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char bench_program[] = "device-bench";

static const struct {
    const char *name, *meaning;
    void (*run)(const struct bench_options *options);
} parts[] = {
    {"bandwidth", "what the machine's and the device's memory can do", bench_part_bandwidth},
    {"kernel", "the exact kernels, on values that the device holds", bench_part_kernel},
    {"narrow", "scans of values that take fewer than 8 bytes", bench_part_narrow},
    {"star", "queries of joins, by their kernels", bench_part_star},
    {"host", "the exact reduction on one thread of the host", bench_part_host},
    {"exponents", "the exact sum of values whose exponents are spread", bench_part_exponents},
    {"transfer", "from the host to the device", bench_part_transfer},
    {"devices", "a column that several devices share", bench_part_devices},
    {"startup", "discovery, building and self-test, with cold and warm caches", bench_part_startup},
    {"ladder", "the kernels of the literature beside the exact ones", bench_part_ladder},
    {"startup-once", NULL, bench_part_startup_once},
};

enum { PARTS = sizeof parts / sizeof parts[0] };

static void usage(FILE *file)
{
    size_t i;

    fprintf(file, "usage: device-bench PART [OPTION]...\n\n"
                  "  --device NAME   auto, gpu, accelerator, cpu, or part of a name (auto)\n"
                  "  --type TYPE     treat the device as a cpu or a gpu\n"
                  "  --sizes LIST    bytes, e.g. 65536,64M,1G\n"
                  "  --runs N        alternating runs of each case (7)\n"
                  "  --seconds S     time to spend on a part, about (30)\n\nParts:\n");
    for (i = 0; i < PARTS; i++) {
        if (parts[i].meaning != NULL)
            fprintf(file, "  %-15s %s\n", parts[i].name, parts[i].meaning);
    }
}

static size_t parse_size(const char *text, const char **end)
{
    char *after;
    unsigned long long value = strtoull(text, &after, 10);
    static const char units[] = "KMG";
    const char *unit = *after != '\0' ? strchr(units, *after) : NULL;

    if (unit != NULL) {
        value <<= 10 * (unit - units + 1);
        after++;
    }
    if (after == text || value < 64 || value > SIZE_MAX / 4)
        bench_die("--sizes: not a size: %s", text);
    *end = after;
    return (size_t)value / 64 * 64;
}

static void parse_sizes(struct bench_options *options, const char *text)
{
    const char *end;

    for (;;) {
        if (options->size_count == BENCH_MOST_SIZES)
            bench_die("--sizes: more than %d of them", BENCH_MOST_SIZES);
        options->sizes[options->size_count++] = parse_size(text, &end);
        if (*end == '\0')
            return;
        if (*end != ',')
            bench_die("--sizes: not a list of sizes: %s", text);
        text = end + 1;
    }
}

size_t bench_choose_sizes(const struct bench_options *options, size_t least, size_t most,
                          size_t limit, double cases, double gbytes_per_s,
                          size_t sizes[BENCH_MOST_SIZES])
{
    double affordable = options->seconds * gbytes_per_s * 1e9 / cases, spent = 0;
    size_t count = 0, i, size;

    for (i = 0; i < options->size_count; i++) {
        if (options->sizes[i] <= limit)
            sizes[count++] = options->sizes[i];
    }
    if (options->size_count == 0) {
        for (size = least; size <= most && size <= limit; size *= 4) {
            spent += (double)size;
            if (count > 0 && spent > affordable)
                break;
            sizes[count++] = size;
        }
        if (count > 0 && sizes[count - 1] < most && most <= limit &&
            spent + (double)most <= affordable)
            sizes[count++] = most;
    }
    if (count == 0)
        bench_die("no size fits into memory");
    return count;
}

bool bench_has_device(const struct bench_options *options)
{
    struct clr_catalog catalog;

    clr_catalog_fill(&catalog, NULL, clr_catalog_reach(options->device));
    return clr_catalog_choose(&catalog, options->device) >= 0;
}

struct clr_device_info bench_find_device(const struct bench_options *options)
{
    struct clr_catalog catalog;
    struct clr_device_info info;
    int chosen;

    clr_catalog_fill(&catalog, NULL, clr_catalog_reach(options->device));
    chosen = clr_catalog_choose(&catalog, options->device);
    if (chosen < 0)
        bench_die("no device fits \"%s\" among %zu %s", options->device, catalog.count,
                  catalog.status.message);
    info = catalog.devices[chosen];
    if (options->type != NULL)
        info.type = strcmp(options->type, "cpu") == 0 ? CLR_DEVICE_CPU : CLR_DEVICE_GPU;
    return info;
}

static void parse(struct bench_options *options, int count, char **arguments)
{
    static const struct option known[] = {
        {"device", required_argument, NULL, 'd'},
        {"type", required_argument, NULL, 't'},
        {"sizes", required_argument, NULL, 's'},
        {"runs", required_argument, NULL, 'r'},
        {"seconds", required_argument, NULL, 'e'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(count, arguments, "", known, NULL)) >= 0) {
        switch (option) {
        case 'd':
            options->device = optarg;
            break;
        case 't':
            if (strcmp(optarg, "cpu") != 0 && strcmp(optarg, "gpu") != 0)
                bench_die("--type: cpu or gpu");
            options->type = optarg;
            break;
        case 's':
            parse_sizes(options, optarg);
            break;
        case 'r':
            options->runs = atoi(optarg);
            if (options->runs < 1 || options->runs > BENCH_MOST_RUNS)
                bench_die("--runs: 1 to %d", BENCH_MOST_RUNS);
            break;
        case 'e':
            options->seconds = atof(optarg);
            if (!(options->seconds > 0))
                bench_die("--seconds: more than 0");
            break;
        case 'h':
            usage(stdout);
            exit(0);
        default:
            usage(stderr);
            exit(2);
        }
    }
}

int main(int argc, char **argv)
{
    struct bench_options options = {.device = "auto", .runs = 7, .seconds = 30};
    size_t i;

    options.program = argv[0];
    parse(&options, argc, argv);
    if (optind + 1 == argc) {
        for (i = 0; i < PARTS; i++) {
            if (strcmp(argv[optind], parts[i].name) == 0) {
                parts[i].run(&options);
                return bench_any_wrong() ? 1 : 0;
            }
        }
    }
    usage(stderr);
    return 2;
}
