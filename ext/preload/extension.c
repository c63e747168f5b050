#include "preload/extension.h"

#include "base/lock.h"
#include "base/system.h"
#include "clreduce.h"
#include "preload/pointers.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __APPLE__
#define EXTENSION_FILE "clreduce.dylib"
#else
#define EXTENSION_FILE "clreduce.so"
#endif

enum { MOST_PATH = 4096 };

typedef int entry_function(sqlite3 *, char **, const sqlite3_api_routines *);
typedef const struct clreduce_gate *gate_function(void);

_Atomic(const struct clreduce_gate *) clr_gate;
_Atomic(bool) clr_was_opened;
_Thread_local int clr_inside __attribute__((tls_model("initial-exec")));
_Thread_local int clr_in_sqlite __attribute__((tls_model("initial-exec")));

/* The copy of SQLite that is served, and the extension. */
static struct {
    const struct clr_originals *originals;
    const sqlite3_api_routines *captured; /* SQLite's own table */
    sqlite3_api_routines routines;        /* the same with SQLite's own functions everywhere */
    entry_function *entry;
    bool was_tried;
    char failure[400];         /* of loading it; "": none */
    char setting_failure[400]; /* the first one */
} served;
CLR_LOCK(lock)

/* ---- The extension's own statements. */

static struct clr_pointers own;

bool clr_extension_owns(sqlite3_stmt *statement)
{
    return clr_pointers_get(&own, statement) != NULL;
}

static int note_own(int rc, sqlite3_stmt **statement)
{
    if (rc == SQLITE_OK && *statement != NULL)
        clr_pointers_put(&own, *statement, served.originals->db_handle(*statement));
    return rc;
}

static int prepare_own_v2(sqlite3 *db, const char *sql, int bytes, sqlite3_stmt **statement,
                          const char **tail)
{
    return note_own(served.originals->prepare_v2(db, sql, bytes, statement, tail), statement);
}

static int prepare_own_v3(sqlite3 *db, const char *sql, int bytes, unsigned flags,
                          sqlite3_stmt **statement, const char **tail)
{
    return note_own(served.originals->prepare_v3(db, sql, bytes, flags, statement, tail),
                    statement);
}

static int finalize_own(sqlite3_stmt *statement)
{
    if (statement != NULL)
        clr_pointers_take(&own, statement);
    return served.originals->finalize(statement);
}

/* ---- SQLite's table of functions, which it hands to extensions that it loads. */

/* An extension that takes the table and does nothing. */
static int capture(sqlite3 *db, char **error, const sqlite3_api_routines *routines)
{
    (void)db;
    (void)error;
    served.captured = routines;
    return SQLITE_OK;
}

bool clr_extension_open_hook(const struct clr_originals *originals)
{
    bool hooked;

    atomic_store_explicit(&clr_was_opened, true, memory_order_relaxed);
    take_lock();
    if (served.originals == NULL && originals->auto_extension != NULL &&
        originals->cancel_auto_extension != NULL)
        served.originals = originals;
    hooked = served.originals == originals && served.captured == NULL && !served.was_tried;
    give_lock();
    return hooked && originals->auto_extension((void (*)(void))capture) == SQLITE_OK;
}

void clr_extension_close_hook(const struct clr_originals *originals)
{
    originals->cancel_auto_extension((void (*)(void))capture);
}

/* SQLite's table has the functions that the linker found, which are this library's. An older
   SQLite's table is shorter. */
static void correct_routines(void)
{
    const struct clr_originals *originals = served.originals;
    const size_t least =
        offsetof(sqlite3_api_routines, txn_state) + sizeof served.captured->txn_state;
    const bool is_older = originals->libversion_number() < SQLITE_VERSION_NUMBER;

    memcpy(&served.routines, served.captured, is_older ? least : sizeof served.routines);
#define CORRECT(name)                                                                              \
    if (originals->name != NULL)                                                                   \
        served.routines.name = originals->name;
    CLR_EXPORTED(CORRECT)
#undef CORRECT
    served.routines.prepare_v2 = prepare_own_v2;
    served.routines.prepare_v3 = prepare_own_v3;
    served.routines.finalize = finalize_own;
}

/* ---- The extension's file. */

/* Writes the path of the file: where the environment says, or beside this library. */
static void find_file(char *path, size_t size)
{
    const char *given = getenv("CLREDUCE_EXTENSION"), *end;
    Dl_info library;

    snprintf(path, size, "%s", EXTENSION_FILE);
    if (given != NULL && *given != '\0')
        snprintf(path, size, "%s", given);
    else if (dladdr((const void *)&served, &library) != 0 && library.dli_fname != NULL &&
             (end = strrchr(library.dli_fname, '/')) != NULL)
        snprintf(path, size, "%.*s/%s", (int)(end - library.dli_fname), library.dli_fname,
                 EXTENSION_FILE);
}

/* Opens a file, with its suffix or, as SQLite does, without. */
static void *open_file(const char *path)
{
    const char *suffix = strchr(EXTENSION_FILE, '.');
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    char longer[MOST_PATH + sizeof EXTENSION_FILE];

    if (handle != NULL)
        return handle;
    snprintf(served.failure, sizeof served.failure, "%s", dlerror());
    snprintf(longer, sizeof longer, "%s%s", path, suffix);
    handle = dlopen(longer, RTLD_NOW | RTLD_LOCAL);
    if (handle != NULL)
        served.failure[0] = '\0';
    return handle;
}

/* Looks up the extension, once; with the lock. */
static void open_extension(void)
{
    gate_function *gate = NULL;
    char path[MOST_PATH];
    void *handle, *found;

    if (served.was_tried)
        return;
    served.was_tried = true;
    if (served.captured == NULL) {
        snprintf(served.failure, sizeof served.failure, "this SQLite loads no extensions");
        return;
    }
    if (served.originals->compileoption_used("OMIT_AUTORESET")) {
        snprintf(served.failure, sizeof served.failure,
                 "this SQLite is built with SQLITE_OMIT_AUTORESET");
        return;
    }
    correct_routines();
    find_file(path, sizeof path);
    handle = open_file(path);
    if (handle == NULL)
        return;
    found = dlsym(handle, "clreduce_gate");
    memcpy(&gate, &found, sizeof found);
    found = dlsym(handle, "sqlite3_clreduce_init");
    if (gate == NULL || found == NULL || gate()->size != sizeof(struct clreduce_gate) ||
        strcmp(gate()->version, CLREDUCE_VERSION) != 0) {
        snprintf(served.failure, sizeof served.failure, "%.300s is another version", path);
        return;
    }
    memcpy(&served.entry, &found, sizeof found);
    atomic_store(&clr_gate, gate());
}

/* ---- Settings. */

/* Sets one by a statement, and takes note of why it can't be set. */
static void set(sqlite3 *db, sqlite3_stmt *statement, const char *name, const char *value)
{
    const struct clr_originals *originals = served.originals;

    originals->bind_text(statement, 1, name, -1, SQLITE_STATIC);
    originals->bind_text(statement, 2, value, -1, SQLITE_STATIC);
    if (originals->step(statement) != SQLITE_ROW) {
        take_lock();
        if (served.setting_failure[0] == '\0')
            snprintf(served.setting_failure, sizeof served.setting_failure, "%s=%s: %s", name,
                     value, originals->errmsg(db));
        give_lock();
    }
    originals->reset(statement);
}

/* Whether a list of settings has one of that name. */
static bool names(const char *list, const char *name)
{
    static const char ends[] = ", ";
    const size_t length = strlen(name);

    while (*(list += strspn(list, ends)) != '\0') {
        if (strncmp(list, name, length) == 0 && list[length] == '=')
            return true;
        list += strcspn(list, ends);
    }
    return false;
}

/* Sets what a list says, as "override=off,device=host"; commas or spaces part them. */
static void set_listed(sqlite3 *db, sqlite3_stmt *statement, const char *list)
{
    char *copy = strdup(list), *rest = copy, *each, *value;

    while (copy != NULL && (each = strtok_r(rest, ", ", &rest)) != NULL) {
        value = strchr(each, '=');
        if (value != NULL)
            *value++ = '\0';
        set(db, statement, each, value == NULL ? "" : value);
    }
    free(copy);
}

bool clr_extension_set(sqlite3 *db)
{
    const struct clr_originals *originals = served.originals;
    sqlite3_stmt *statement;
    const char *list = getenv("CLREDUCE_SETTINGS");
    const uint64_t memory = clr_system_memory();
    char eighth[32];
    int rc;

    clr_inside++;
    rc = originals->prepare_v2(db, "SELECT clreduce_set(?, ?)", -1, &statement, NULL);
    list = list == NULL ? "" : list;
    if (rc == SQLITE_OK) {
        if (!names(list, "override"))
            set(db, statement, "override", "on");
        if (!names(list, "column_memory") && memory > 0) {
            snprintf(eighth, sizeof eighth, "%" PRIu64, memory / 8);
            set(db, statement, "column_memory", eighth);
        }
        set_listed(db, statement, list);
        originals->finalize(statement);
    }
    /* The connection has had no error yet, and no row. */
    originals->exec(db, "", NULL, NULL, NULL);
    clr_inside--;
    return rc == SQLITE_OK;
}

bool clr_extension_load(const struct clr_originals *originals, sqlite3 *db)
{
    char *error = NULL;
    int rc = SQLITE_ERROR;

    if (originals != served.originals)
        return false;
    take_lock();
    open_extension();
    give_lock();
    if (served.entry == NULL)
        return false;
    clr_inside++;
    rc = served.entry(db, &error, &served.routines);
    if (rc == SQLITE_OK_LOAD_PERMANENTLY)
        rc = SQLITE_OK;
    if (rc != SQLITE_OK) {
        take_lock();
        snprintf(served.failure, sizeof served.failure, "%s",
                 error == NULL ? originals->errstr(rc) : error);
        give_lock();
    }
    originals->free(error);
    clr_inside--;
    return rc == SQLITE_OK;
}

void clr_extension_tell_failures(void (*line)(const char *format, ...)
                                     __attribute__((format(printf, 1, 2))),
                                 bool all)
{
    if (all && served.failure[0] != '\0')
        line("clreduce could not be loaded: %s", served.failure);
    if (served.setting_failure[0] != '\0')
        line("CLREDUCE_SETTINGS: %s", served.setting_failure);
}
