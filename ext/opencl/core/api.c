#include "opencl/core/api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

#ifdef __APPLE__
static const char *const libraries[] = {"/System/Library/Frameworks/OpenCL.framework/OpenCL"};
#else
static const char *const libraries[] = {"libOpenCL.so.1", "libOpenCL.so"};
#endif

static const char *const names[] = {
#define NAME(name) #name,
    CLR_OPENCL_FUNCTIONS(NAME)
#undef NAME
};

enum { FUNCTIONS = sizeof names / sizeof names[0] };

_Static_assert(sizeof(struct clr_opencl) == FUNCTIONS * sizeof(void *), "pointers alone");

struct clr_opencl clr_opencl;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct clr_status outcome;

/* Fills the table with the functions of a library, or of RTLD_DEFAULT. Returns NULL; or the name of
   one that is lacking, and the table is as it was. */
static const char *take(void *library)
{
    void *found[FUNCTIONS];
    size_t i;

    for (i = 0; i < FUNCTIONS; i++) {
        found[i] = dlsym(library, names[i]);
        if (found[i] == NULL)
            return names[i];
    }
    memcpy(&clr_opencl, found, sizeof clr_opencl);
    return NULL;
}

/* What has been opened stays open: drivers do not survive being unloaded. */
static enum clr_code open_library(const char *name, struct clr_status *status)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *text;

    if (library == NULL) {
        text = dlerror();
        return clr_status_set(status, CLR_DEVICE, 0,
                              "no OpenCL ICD loader could be opened (%s). Install one (Debian, "
                              "Ubuntu: ocl-icd-libopencl1; elsewhere mostly ocl-icd) and the "
                              "OpenCL driver of your device",
                              text != NULL ? text : name);
    }
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

    if (take(RTLD_DEFAULT) == NULL || open_library(libraries[0], &outcome) == CLR_OK)
        return;
    for (i = 1; i < sizeof libraries / sizeof libraries[0]; i++) {
        if (open_library(libraries[i], &other) == CLR_OK) {
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
