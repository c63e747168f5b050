#include "opencl/core/api.h"

#include "base/system.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

static const char *const names[] = {
#define NAME(name) "cl" #name,
    CLR_OPENCL_FUNCTIONS(NAME)
#undef NAME
};

enum { FUNCTIONS = sizeof names / sizeof names[0] };

_Static_assert(sizeof(struct clr_opencl) == FUNCTIONS * sizeof(void *), "pointers alone");

struct clr_opencl clr_cl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct clr_status outcome;

/* Fills the table with the functions of a library, or of those that the process has if that is
   NULL. Returns NULL; or the name of one that is lacking, and the table is as it was. */
static const char *take(void *library)
{
    void *found[FUNCTIONS];
    size_t i;

    for (i = 0; i < FUNCTIONS; i++) {
        found[i] = clr_system_function(library, names[i]);
        if (found[i] == NULL)
            return names[i];
    }
    memcpy(&clr_cl, found, sizeof clr_cl);
    return NULL;
}

/* What has been opened stays open: drivers do not survive being unloaded. */
static enum clr_code open_library(const char *name, struct clr_status *status)
{
    const char *text = NULL;
    void *library = clr_system_library(name, &text);

    if (library == NULL)
        return clr_status_set(status, CLR_DEVICE, 0,
                              "no OpenCL ICD loader could be opened (%s). %s",
                              text != NULL ? text : name, clr_system_opencl_advice);
    text = take(library);
    if (text != NULL)
        return clr_status_set(status, CLR_DEVICE, 0,
                              "%s has no %s: an ICD loader of OpenCL 1.2 or later is needed", name,
                              text);
    return CLR_OK;
}

/* An error tells of the first library, which has the name that a loader should have. */
static void load(void)
{
    struct clr_status other;
    size_t i;

    if (take(NULL) == NULL || open_library(clr_system_opencl[0], &outcome) == CLR_OK)
        return;
    for (i = 1; clr_system_opencl[i] != NULL; i++) {
        if (open_library(clr_system_opencl[i], &other) == CLR_OK) {
            clr_status_clear(&outcome);
            return;
        }
    }
}

enum clr_code clr_opencl_load(struct clr_status *status)
{
    pthread_once(&once, load);
    *status = outcome;
    return status->code;
}
