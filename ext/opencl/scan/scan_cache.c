#include "opencl/scan/scan_cache.h"

#include "base/memory.h"

#include <string.h>

void clr_scan_cache_drop(struct clr_scan_program *program)
{
    clr_program_release(&program->program);
    clr_scan_trial_free(program->trial);
    clr_memory_free(program->key);
    memset(program, 0, sizeof *program);
}

struct clr_scan_program *clr_scan_cache_find(struct clr_scan_cache *cache,
                                             const struct clr_scan_key *key)
{
    int i;

    for (i = 0; i < CLR_SCAN_PROGRAMS; i++) {
        struct clr_scan_program *program = &cache->programs[i];
        if (program->phase != CLR_SCAN_PROGRAM_EMPTY && program->key_length == key->row.length &&
            memcmp(program->key, key->row.words, key->row.length * sizeof *key->row.words) == 0) {
            program->used = cache->scan;
            return program;
        }
    }
    return NULL;
}

struct clr_scan_program *clr_scan_cache_add(struct clr_scan_cache *cache,
                                            const struct clr_scan_plan *plan,
                                            const struct clr_scan_bundle *bundle,
                                            const struct clr_scan_key *key,
                                            const struct clr_row_text *text)
{
    const size_t key_size = key->row.length * sizeof *key->row.words;
    struct clr_scan_program *oldest = &cache->programs[0];
    struct clr_scan_trial *trial = clr_scan_trial_new(plan, bundle);
    int16_t *copy = clr_memory_alloc(key_size + text->length);
    int i;

    if (copy == NULL || trial == NULL) {
        clr_memory_free(copy);
        clr_scan_trial_free(trial);
        return NULL;
    }
    for (i = 1; i < CLR_SCAN_PROGRAMS; i++) {
        if (cache->programs[i].used < oldest->used)
            oldest = &cache->programs[i];
    }
    clr_scan_cache_drop(oldest);
    oldest->phase = CLR_SCAN_PROGRAM_REQUESTED;
    oldest->steps = key->step_count;
    memcpy(oldest->kinds, key->steps, sizeof oldest->kinds);
    oldest->trial = trial;
    oldest->key = copy;
    oldest->key_length = key->row.length;
    oldest->text = (char *)copy + key_size;
    memcpy(oldest->key, key->row.words, key_size);
    memcpy(oldest->text, text->text, text->length);
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
