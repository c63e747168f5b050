/* The programs of scans that a device has built: those used last. For ext/opencl alone. */
#ifndef CLR_OPENCL_SCAN_CACHE_H
#define CLR_OPENCL_SCAN_CACHE_H

#include "opencl/reduction/program.h"
#include "opencl/scan/scan_test.h"
#include "opencl/scan/scan_text.h"

#include <stdint.h>

/* Room for the bundles of any one scan. */
enum { CLR_SCAN_PROGRAMS = CLR_MOST_SCAN_STEPS };

enum clr_scan_program_phase {
    CLR_SCAN_PROGRAM_EMPTY, /* must be 0 */
    CLR_SCAN_PROGRAM_REQUESTED,
    CLR_SCAN_PROGRAM_BUILT, /* and tested */
    CLR_SCAN_PROGRAM_UNBUILDABLE
};

struct clr_scan_program {
    enum clr_scan_program_phase phase;
    int steps;
    struct clr_step_kind kinds[CLR_MOST_BUNDLE];
    int16_t *key; /* key_length words, which the text follows in the same block */
    size_t key_length;
    char *text;
    uint64_t used;                /* by which scan, last */
    struct clr_scan_trial *trial; /* until it is built */
    struct clr_program program;
};

/* Zeroed by its owner at first. */
struct clr_scan_cache {
    struct clr_scan_program programs[CLR_SCAN_PROGRAMS];
    uint64_t scan; /* the number of the one that asks */
};

/* Returns the program with that key, which is then one of those used last, or NULL. */
struct clr_scan_program *clr_scan_cache_find(struct clr_scan_cache *cache,
                                             const struct clr_scan_key *key);

/*
 * Requests the program for a bundle of the plan's steps, whose key and text those are, and which
 * the cache does not have. It takes the place of one that has not been used for longest. Returns
 * it, or NULL without memory.
 */
struct clr_scan_program *clr_scan_cache_add(struct clr_scan_cache *cache,
                                            const struct clr_scan_plan *plan,
                                            const struct clr_scan_bundle *bundle,
                                            const struct clr_scan_key *key,
                                            const struct clr_row_text *text);

/* Gives back what a program has, and forgets it: who looks for it requests it anew. */
void clr_scan_cache_drop(struct clr_scan_program *program);

/* Returns a program that is to be built, or NULL. */
struct clr_scan_program *clr_scan_cache_requested(struct clr_scan_cache *cache);

/* Releases all programs. */
void clr_scan_cache_clear(struct clr_scan_cache *cache);

#endif
