#include "preload/originals.h"

#include "base/lock.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <link.h>
#endif

_Atomic(const struct clr_originals *) clr_first_originals;
_Atomic(bool) clr_originals_differ;

struct copy {
    struct clr_originals originals;
    struct copy *next;
};

static struct {
    struct copy *list;
    int count;
} copies;
CLR_LOCK(lock)

/* Names of SQLite's own library, for code that is not linked with it, as a loadable extension. */
static const char *const libraries[] = {"libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"};

#ifdef __linux__
/* Where the object lies that has an address. */
struct range {
    const char *address, *begin, *end;
};

/* Returns 1 if this is the object. */
static int find_range(struct dl_phdr_info *object, size_t size, void *pointer)
{
    struct range *range = pointer;
    const char *base = (const char *)object->dlpi_addr, *first = NULL, *last = NULL;
    int i;

    (void)size;
    for (i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];

        if (part->p_type != PT_LOAD)
            continue;
        if (first == NULL)
            first = base + part->p_vaddr;
        last = base + part->p_vaddr + part->p_memsz;
    }
    if (first == NULL || range->address < first || range->address >= last)
        return 0;
    range->begin = first;
    range->end = last;
    return 1;
}

/* Whether an address is in this library; with the lock. dladdr() would look through all symbols of
   SQLite's. */
static bool is_own(const void *address)
{
    static struct range own = {.address = (const char *)&copies};

    if (own.end == NULL)
        dl_iterate_phdr(find_range, &own);
    return (const char *)address >= own.begin && (const char *)address < own.end;
}
#else
/* Whether an address is in this library. */
static bool is_own(const void *address)
{
    Dl_info own, other;

    return dladdr((const void *)&copies, &own) != 0 && dladdr(address, &other) != 0 &&
           own.dli_fbase == other.dli_fbase;
}
#endif

/* Looks a function up; NULL where there is none but this library's. */
static void *look_up(void *scope, const char *name)
{
    void *found = dlsym(scope, name);

    return found == NULL || is_own(found) ? NULL : found;
}

/* Returns where the linker would look for the functions that the code at an address calls. An
   object's own handle is kept, so that the functions stay. */
static void *find_scope(const void *address)
{
    static const char probe[] = "sqlite3_prepare_v2";
    Dl_info object;
    void *handle;
    size_t i;

    /* The program's own scope goes before that of an object which the program has opened. */
    if (look_up(RTLD_NEXT, probe) != NULL)
        return RTLD_NEXT;
    if (dladdr(address, &object) != 0 && object.dli_fname != NULL) {
        handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (handle != NULL && look_up(handle, probe) != NULL)
            return handle;
        if (handle != NULL)
            dlclose(handle);
    }
    for (i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (handle != NULL)
            return handle;
    }
    return NULL;
}

static void fill(struct clr_originals *originals, void *scope)
{
#ifdef __linux__
    struct range range;
#endif
    void *found;

    /* Pointers to data are no pointers to functions in C; POSIX says that their bits are. */
#define FILL(name)                                                                                 \
    found = look_up(scope, "sqlite3_" #name);                                                      \
    memcpy(&originals->name, &found, sizeof found);
    CLR_EXPORTED(FILL)
    CLR_CALLED(FILL)
#undef FILL
    /* Where that is not known all of memory is SQLite's. */
    originals->begin = NULL;
    originals->end = (const char *)UINTPTR_MAX;
#ifdef __linux__
    memcpy(&range.address, &originals->prepare_v2, sizeof range.address);
    if (dl_iterate_phdr(find_range, &range) != 0) {
        originals->begin = range.begin;
        originals->end = range.end;
    }
#endif
}

/* Returns the copy in a scope, NULL without memory. */
static const struct clr_originals *find_copy(void *scope)
{
    void *prepare = look_up(scope, "sqlite3_prepare_v2");
    struct copy *copy;

    for (copy = copies.list; copy != NULL; copy = copy->next) {
        if (memcmp(&copy->originals.prepare_v2, &prepare, sizeof prepare) == 0)
            return &copy->originals;
    }
    copy = prepare == NULL ? NULL : calloc(1, sizeof *copy);
    if (copy == NULL)
        return NULL;
    fill(&copy->originals, scope);
    copy->next = copies.list;
    copies.list = copy;
    if (copies.count++ == 0)
        atomic_store(&clr_first_originals, &copy->originals);
    else
        atomic_store(&clr_originals_differ, true);
    return &copy->originals;
}

const struct clr_originals *clr_originals_of_code(const void *address)
{
    const struct clr_originals *originals = NULL;
    void *scope;

    take_lock();
    scope = find_scope(address);
    if (scope != NULL)
        originals = find_copy(scope);
    give_lock();
    return originals;
}

int clr_originals_count(void)
{
    return copies.count;
}
