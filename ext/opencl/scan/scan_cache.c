#include "opencl/scan/scan_cache.h"

#include "base/memory.h"

#include <string.h>

void clr_scan_cache_drop(struct clr_scan_program *program)
{
    clr_program_release(&program->program);
    clr_scan_trial_free(program->trial);
    clr_memory_free(program->text);
    memset(program, 0, sizeof *program);
}

/* The text names the kinds of its steps. */
static bool is_for(const struct clr_scan_program *program, const struct clr_scan_text *text)
{
    return program->phase != CLR_SCAN_PROGRAM_EMPTY && program->length == text->length &&
           memcmp(program->text, text->text, text->length) == 0;
}

struct clr_scan_program *clr_scan_cache_find(struct clr_scan_cache *cache,
                                             const struct clr_scan *scan, const uint8_t *kinds,
                                             const struct clr_scan_step *steps,
                                             const struct clr_scan_bundle *bundle,
                                             const struct clr_scan_text *text)
{
    struct clr_scan_program *oldest = &cache->programs[0];
    struct clr_scan_trial *trial;
    char *copy;
    int i;

    for (i = 0; i < CLR_SCAN_PROGRAMS; i++) {
        struct clr_scan_program *program = &cache->programs[i];
        if (is_for(program, text)) {
            program->used = cache->scan;
            return program;
        }
        if (program->used < oldest->used)
            oldest = program;
    }
    copy = clr_memory_alloc(text->length);
    trial = clr_scan_trial_new(scan, kinds, steps, bundle);
    if (copy == NULL || trial == NULL) {
        clr_memory_free(copy);
        clr_scan_trial_free(trial);
        return NULL;
    }
    memcpy(copy, text->text, text->length);
    clr_scan_cache_drop(oldest);
    oldest->phase = CLR_SCAN_PROGRAM_REQUESTED;
    oldest->steps = bundle->count;
    for (i = 0; i < bundle->count; i++) {
        const struct clr_scan_step *step = &steps[bundle->steps[i]];
        oldest->kinds[i] = (struct clr_step_kind){step->operation, step->element};
    }
    oldest->trial = trial;
    oldest->text = copy;
    oldest->length = text->length;
    oldest->used = cache->scan;
    return oldest;
}

struct clr_scan_program *clr_scan_cache_requested(struct clr_scan_cache *cache)
{
    int i;

    for (i = 0; i < CLR_SCAN_PROGRAMS; i++) {
        if (cache->programs[i].phase == CLR_SCAN_PROGRAM_REQUESTED)
            return &cache->programs[i];
    }
    return NULL;
}

void clr_scan_cache_clear(struct clr_scan_cache *cache)
{
    int i;

    for (i = 0; i < CLR_SCAN_PROGRAMS; i++)
        clr_scan_cache_drop(&cache->programs[i]);
}
