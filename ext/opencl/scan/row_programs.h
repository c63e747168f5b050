/*
 * The programs that go through rows and that a device has built, or is to build: those used last. A
 * program's owner has more of it, in a struct that begins with struct clr_row_program and comes
 * from clr_memory_alloc(). For ext/opencl alone.
 */
#ifndef CLR_OPENCL_ROW_PROGRAMS_H
#define CLR_OPENCL_ROW_PROGRAMS_H

#include "opencl/reduction/scan_plan.h"
#include "opencl/scan/row_text.h"

/* Room for the programs of any one scan. */
enum { CLR_ROW_PROGRAMS = CLR_MOST_SCAN_STEPS };

enum clr_row_program_phase {
    CLR_ROW_PROGRAM_REQUESTED,
    CLR_ROW_PROGRAM_BUILT, /* and tested */
    CLR_ROW_PROGRAM_UNBUILDABLE
};

struct clr_row_program {
    enum clr_row_program_phase phase;
    int16_t *key; /* key_length words */
    size_t key_length;
    uint64_t used; /* by which scan, last */
};

/* Zeroed by its owner at first, who sets release(), and kept_from if several scans are under way at
   once. */
struct clr_row_programs {
    struct clr_row_program *programs[CLR_ROW_PROGRAMS]; /* or NULL */
    void (*release)(struct clr_row_program *program);   /* gives back what its owner has in it */
    uint64_t scan;                                      /* the number of the one that asks */
    uint64_t kept_from; /* scans from this number on are under way, and keep their programs */
};

/* Returns the program with that key, which is then one of those used last, or NULL. */
struct clr_row_program *clr_row_programs_find(struct clr_row_programs *programs,
                                              const struct clr_row_key *key);

/* Whether a program can be taken over: unless all that there are belong to scans under way. */
bool clr_row_programs_have_room(const struct clr_row_programs *programs);

/*
 * Takes over a program that is requested under that key, which no other has, if there is room. It
 * takes the place of one that has not been used for longest. Returns false without memory; the
 * program is freed then.
 */
bool clr_row_programs_add(struct clr_row_programs *programs, struct clr_row_program *program,
                          const struct clr_row_key *key);

/* Returns a program that is to be built, or NULL. */
struct clr_row_program *clr_row_programs_requested(const struct clr_row_programs *programs);

/* Takes note of how the building of a requested program ended. Without memory (CLR_NOMEM) it is
   forgotten: who looks for it requests it anew. Returns whether another one is to be built. */
bool clr_row_programs_end_build(struct clr_row_programs *programs, struct clr_row_program *program,
                                enum clr_code code);

/* Releases all programs. */
void clr_row_programs_clear(struct clr_row_programs *programs);

#endif
