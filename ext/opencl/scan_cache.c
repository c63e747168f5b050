#include "opencl/scan_cache.h"

#include "base/memory.h"

#include <string.h>

static void empty(struct clr_scan_program *program)
{
    clr_program_release(&program->program);
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
                                             const struct clr_scan_step *steps,
                                             const struct clr_scan_bundle *bundle,
                                             const struct clr_scan_text *text)
{
    struct clr_scan_program *oldest = &cache->programs[0];
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
    if (copy == NULL)
        return NULL;
    memcpy(copy, text->text, text->length);
    empty(oldest);
    oldest->phase = CLR_SCAN_PROGRAM_REQUESTED;
    oldest->steps = bundle->count;
    for (i = 0; i < bundle->count; i++) {
        const struct clr_scan_step *step = &steps[bundle->steps[i]];
        oldest->kinds[i] = (struct clr_step_kind){step->operation, step->element};
    }
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
        empty(&cache->programs[i]);
}
