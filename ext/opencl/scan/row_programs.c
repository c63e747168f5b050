#include "opencl/scan/row_programs.h"

#include "base/memory.h"

#include <string.h>

static void drop(struct clr_row_programs *programs, struct clr_row_program **program)
{
    if (*program != NULL) {
        programs->release(*program);
        clr_memory_free((*program)->key);
        clr_memory_free(*program);
        *program = NULL;
    }
}

struct clr_row_program *clr_row_programs_find(struct clr_row_programs *programs,
                                              const struct clr_row_key *key)
{
    int i;

    for (i = 0; i < CLR_ROW_PROGRAMS; i++) {
        struct clr_row_program *program = programs->programs[i];
        if (program != NULL && program->key_length == key->length &&
            memcmp(program->key, key->words, key->length * sizeof *key->words) == 0) {
            program->used = programs->scan;
            return program;
        }
    }
    return NULL;
}

/* Returns the place that is empty, or whose program has not been used for longest. */
static int find_place(const struct clr_row_programs *programs)
{
    int i, place = 0;

    for (i = 1; i < CLR_ROW_PROGRAMS && programs->programs[place] != NULL; i++) {
        const struct clr_row_program *other = programs->programs[i];
        if (other == NULL || other->used < programs->programs[place]->used)
            place = i;
    }
    return place;
}

bool clr_row_programs_have_room(const struct clr_row_programs *programs)
{
    const struct clr_row_program *program = programs->programs[find_place(programs)];

    return program == NULL || program->used < programs->kept_from;
}

bool clr_row_programs_add(struct clr_row_programs *programs, struct clr_row_program *program,
                          const struct clr_row_key *key)
{
    struct clr_row_program **place = &programs->programs[find_place(programs)];

    program->phase = CLR_ROW_PROGRAM_REQUESTED;
    program->used = programs->scan;
    program->key_length = key->length;
    program->key = clr_memory_alloc(key->length * sizeof *program->key);
    if (program->key == NULL) {
        drop(programs, &program);
        return false;
    }
    memcpy(program->key, key->words, key->length * sizeof *program->key);
    drop(programs, place);
    *place = program;
    return true;
}

struct clr_row_program *clr_row_programs_requested(const struct clr_row_programs *programs)
{
    int i;

    for (i = 0; i < CLR_ROW_PROGRAMS; i++) {
        struct clr_row_program *program = programs->programs[i];
        if (program != NULL && program->phase == CLR_ROW_PROGRAM_REQUESTED)
            return program;
    }
    return NULL;
}

bool clr_row_programs_end_build(struct clr_row_programs *programs, struct clr_row_program *program,
                                enum clr_code code)
{
    int i;

    program->phase = code == CLR_OK ? CLR_ROW_PROGRAM_BUILT : CLR_ROW_PROGRAM_UNBUILDABLE;
    for (i = 0; code == CLR_NOMEM && i < CLR_ROW_PROGRAMS; i++)
        if (programs->programs[i] == program)
            drop(programs, &programs->programs[i]);
    return clr_row_programs_requested(programs) != NULL;
}

void clr_row_programs_clear(struct clr_row_programs *programs)
{
    int i;

    for (i = 0; i < CLR_ROW_PROGRAMS; i++)
        drop(programs, &programs->programs[i]);
}
