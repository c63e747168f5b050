#include "opencl/scan_cache.h"

#include "base/memory.h"

#include <string.h>

static void empty(struct clr_scan_program *program)
{
    clr_program_release(&program->program);
    clr_memory_free(program->text);
    memset(program, 0, sizeof *program);
}

static bool is_for(const struct clr_scan_program *program, const struct clr_scan_step *step,
                   const char *text)
{
    return program->phase != CLR_SCAN_PROGRAM_EMPTY && program->operation == step->operation &&
           program->element == step->element && strcmp(program->text, text) == 0;
}

struct clr_scan_program *clr_scan_cache_find(struct clr_scan_cache *cache,
                                             const struct clr_scan_step *step, const char *text)
{
    struct clr_scan_program *oldest = &cache->programs[0];
    size_t size = strlen(text) + 1;
    char *copy;
    int i;

    for (i = 0; i < CLR_SCAN_PROGRAMS; i++) {
        struct clr_scan_program *program = &cache->programs[i];
        if (is_for(program, step, text)) {
            program->used = cache->scan;
            return program;
        }
        if (program->used < oldest->used)
            oldest = program;
    }
    copy = clr_memory_alloc(size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, size);
    empty(oldest);
    oldest->phase = CLR_SCAN_PROGRAM_REQUESTED;
    oldest->operation = step->operation;
    oldest->element = step->element;
    oldest->text = copy;
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
        empty(&cache->programs[i]);
}
