/* Places for a test's files, in TMPDIR or /tmp, which the test removes. */
#ifndef CLR_TESTS_SCRATCH_H
#define CLR_TESTS_SCRATCH_H

#include "tap.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRATCH_PATH = 200 };

static inline void scratch_name(char path[SCRATCH_PATH], const char *word)
{
    const char *parent = getenv("TMPDIR");

    snprintf(path, SCRATCH_PATH, "%s/clreduce-%s-XXXXXX", parent != NULL ? parent : "/tmp", word);
}

/* Makes an empty folder, with that word in its name. */
static inline void scratch_folder(char path[SCRATCH_PATH], const char *word)
{
    scratch_name(path, word);
    TAP_NEED(mkdtemp(path) != NULL, "%s: %s", path, strerror(errno));
}

/* Makes an empty file likewise. */
static inline void scratch_file(char path[SCRATCH_PATH], const char *word)
{
    int file;

    scratch_name(path, word);
    file = mkstemp(path);
    TAP_NEED(file >= 0, "%s: %s", path, strerror(errno));
    close(file);
}

static inline int scratch_remove_entry(const char *path, const struct stat *status, int type,
                                       struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

/* Removes a folder and all that is in it. */
static inline void scratch_remove(const char *path)
{
    nftw(path, scratch_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
