#include "sqlite/database/known_file.h"

#include "base/clock.h"
#include "base/memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* All under the lock, but for the pin, which stays. */
struct clr_known_file {
    struct clr_known_file *next;
    dev_t device;
    ino_t inode;
    int pin; /* the descriptor that keeps the inode */
    int references;
    int handles, logs; /* by which it, and its log, is open */
    int64_t closed;    /* since when there are no handles */
    int64_t log_closings;
    int64_t doubts; /* how often there were none so soon after a change that another may not show */
};

/* Under the lock, and in the list, as long as SQLite has it open. */
struct clr_open_file {
    struct clr_open_file *next;
    sqlite3_file *handle;
    const sqlite3_io_methods *methods; /* its own */
    struct clr_known_file *file;       /* with a reference */
    int references;                    /* the list's, and others */
    bool is_log;
    bool is_held; /* it counts: it was opened by this process, not by its parent before fork() */
};

/* The methods that handles have here in place of others. */
struct methods {
    const sqlite3_io_methods *instead_of; /* NULL: not used yet */
    sqlite3_io_methods methods;
};

/* SQLite's VFS has some for files with locks, and some for logs. */
enum { MOST_METHODS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clr_known_file *files;
static struct clr_open_file *handles;
static struct methods replaced[MOST_METHODS];
static void (*on_close)(struct clr_known_file *file);
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* Whether the latest change is long enough ago that another one would show in the state: the
   system's clock for these times has ticked since. */
static bool is_settled(const struct clr_known_file *file)
{
    enum { TICK_NS = 100000000 };
    struct timespec now;
    struct stat changed;

    if (fstat(file->pin, &changed) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return false;
    return (now.tv_sec - changed.st_ctim.tv_sec) * INT64_C(1000000000) + now.tv_nsec -
               changed.st_ctim.tv_nsec >
           TICK_NS;
}

/* Takes note that the file, or its log, is not open by that handle any more. Returns whether it is
   by none. */
static bool locked_let_go(struct clr_open_file *open)
{
    struct clr_known_file *file = open->file;

    if (!open->is_held)
        return false;
    open->is_held = false;
    if (open->is_log) {
        file->log_closings += --file->logs == 0;
        return false;
    }
    if (--file->handles > 0)
        return false;
    file->closed = clr_clock_ns();
    file->doubts += !is_settled(file);
    return true;
}

/* A child after fork() finds the lists whole. Its parent's connections have no locks in it, and the
   parent may close them. */
static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

static void begin_child(void)
{
    struct clr_open_file *open;

    for (open = handles; open != NULL; open = open->next)
        locked_let_go(open);
    pthread_mutex_unlock(&lock);
}

static void prepare(void)
{
    pthread_atfork(take_lock, give_lock, begin_child);
}

void clr_known_file_heed_forks(void)
{
    pthread_once(&prepared, prepare);
}

void clr_known_file_notify(void (*closed)(struct clr_known_file *file))
{
    pthread_mutex_lock(&lock);
    on_close = closed;
    pthread_mutex_unlock(&lock);
}

/* Returns a descriptor of the file of that name which takes part in no lock, or -1. */
static int open_pin(const char *name)
{
#ifdef O_PATH
    return open(name, O_PATH | O_CLOEXEC);
#else
    (void)name;
    return -1;
#endif
}

/* Whether SQLite's own VFS has opened the file, with locks, and as one that may change. */
static bool is_locked_by_sqlite(sqlite3 *db, const char *schema, const char *name)
{
    sqlite3_vfs *vfs = NULL;

    return sqlite3_file_control(db, schema, SQLITE_FCNTL_VFS_POINTER, &vfs) == SQLITE_OK &&
           vfs != NULL && strcmp(vfs->zName, "unix") == 0 &&
           !sqlite3_uri_boolean(name, "nolock", 0) && !sqlite3_uri_boolean(name, "immutable", 0);
}

/* Whether the handle, and the name before and after that is asked, have the pin's inode. */
static bool has_inode(sqlite3_file *handle, const char *name, const struct stat *pinned)
{
    struct stat named;
    int has_moved = 1;

    return handle->pMethods->xFileControl(handle, SQLITE_FCNTL_HAS_MOVED, &has_moved) ==
               SQLITE_OK &&
           has_moved == 0 && stat(name, &named) == 0 && named.st_dev == pinned->st_dev &&
           named.st_ino == pinned->st_ino;
}

/* Returns the file that the pin is of, or makes it, with the pin as its own, which *pin is then not
   any more. It gets no reference. NULL without memory. */
static struct clr_known_file *locked_find_file(const struct stat *pinned, int *pin)
{
    struct clr_known_file *file = files;

    while (file != NULL && !(file->device == pinned->st_dev && file->inode == pinned->st_ino))
        file = file->next;
    if (file != NULL)
        return file;
    file = clr_memory_alloc_zero(sizeof *file);
    if (file == NULL)
        return NULL;
    file->device = pinned->st_dev;
    file->inode = pinned->st_ino;
    file->pin = *pin;
    *pin = -1;
    file->next = files;
    files = file;
    return file;
}

/* Drops a reference. Returns the file if that was the last one: it is to be freed without the lock.
 */
static struct clr_known_file *locked_release(struct clr_known_file *file)
{
    struct clr_known_file **link = &files;

    if (--file->references > 0)
        return NULL;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    return file;
}

static void free_file(struct clr_known_file *file)
{
    if (file == NULL)
        return;
    close(file->pin);
    clr_memory_free(file);
}

static struct clr_open_file *locked_find_handle(const sqlite3_file *handle)
{
    struct clr_open_file *open = handles;

    while (open != NULL && open->handle != handle)
        open = open->next;
    return open;
}

/* In the place of a handle's own xClose. */
static int close_handle(sqlite3_file *handle)
{
    void (*closed)(struct clr_known_file * file) = NULL;
    const sqlite3_io_methods *methods;
    struct clr_open_file *open, **link;

    pthread_mutex_lock(&lock);
    open = locked_find_handle(handle);
    for (link = &handles; *link != open; link = &(*link)->next)
        ;
    *link = open->next;
    methods = open->methods;
    if (locked_let_go(open))
        closed = on_close;
    pthread_mutex_unlock(&lock);
    if (closed != NULL)
        closed(open->file);
    clr_open_file_release(open);
    handle->pMethods = methods;
    return methods->xClose(handle);
}

/* Returns the methods that take the place of these, or NULL. */
static const sqlite3_io_methods *locked_replace(const sqlite3_io_methods *methods)
{
    struct methods *known = replaced;

    while (known < replaced + MOST_METHODS && known->instead_of != NULL &&
           known->instead_of != methods)
        known++;
    if (known == replaced + MOST_METHODS)
        return NULL;
    if (known->instead_of == NULL) {
        /* An older version has fewer of them, and a later one none that SQLite must have. */
        memcpy(&known->methods, methods,
               methods->iVersion >= 3   ? sizeof *methods
               : methods->iVersion == 2 ? offsetof(sqlite3_io_methods, xFetch)
                                        : offsetof(sqlite3_io_methods, xShmMap));
        known->methods.xClose = close_handle;
        if (methods->iVersion > 3)
            known->methods.iVersion = 3;
        known->instead_of = methods;
    }
    return &known->methods;
}

/* Adds a handle to the list. Returns NULL without memory, or if its methods are too many. */
static struct clr_open_file *locked_add(sqlite3_file *handle, bool is_log)
{
    const sqlite3_io_methods *methods = locked_replace(handle->pMethods);
    struct clr_open_file *open = methods == NULL ? NULL : clr_memory_alloc_zero(sizeof *open);

    if (open == NULL)
        return NULL;
    open->handle = handle;
    open->methods = handle->pMethods;
    open->references = 1;
    open->is_log = is_log;
    open->next = handles;
    handles = open;
    handle->pMethods = methods;
    return open;
}

/* Returns the handle as one of the file, with a reference, or NULL. */
static struct clr_open_file *locked_open(struct clr_known_file *file, sqlite3_file *handle,
                                         bool is_log)
{
    struct clr_open_file *open = locked_find_handle(handle);

    if (open == NULL)
        open = locked_add(handle, is_log);
    if (open == NULL)
        return NULL;
    open->references++;
    if (open->file == NULL) {
        file->references++;
        open->file = file;
    }
    if (!open->is_held) {
        open->is_held = true;
        file->logs += is_log;
        file->handles += !is_log;
        file->closed = is_log ? file->closed : 0;
    }
    return open;
}

struct clr_open_file *clr_open_file_find(sqlite3 *db, const char *schema, sqlite3_file *handle)
{
    const char *name = sqlite3_db_filename(db, schema);
    struct clr_open_file *open = NULL;
    struct clr_known_file *file, *unused = NULL;
    struct stat pinned;
    int pin;

    if (name == NULL || *name == '\0' || !is_locked_by_sqlite(db, schema, name))
        return NULL;
    pin = open_pin(name);
    if (pin < 0)
        return NULL;
    if (fstat(pin, &pinned) == 0 && has_inode(handle, name, &pinned)) {
        clr_known_file_heed_forks();
        pthread_mutex_lock(&lock);
        file = locked_find_file(&pinned, &pin);
        if (file != NULL) {
            file->references++;
            open = locked_open(file, handle, false);
            unused = locked_release(file);
        }
        pthread_mutex_unlock(&lock);
        free_file(unused);
    }
    if (pin >= 0)
        close(pin);
    return open;
}

struct clr_open_file *clr_open_file_find_log(struct clr_known_file *file, sqlite3_file *log)
{
    struct clr_open_file *open;

    pthread_mutex_lock(&lock);
    open = locked_open(file, log, true);
    pthread_mutex_unlock(&lock);
    return open;
}

struct clr_known_file *clr_open_file_of(const struct clr_open_file *open,
                                        const sqlite3_file *handle)
{
    struct clr_known_file *file = NULL;

    if (open == NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    if (open->is_held && open->handle == handle)
        file = open->file;
    pthread_mutex_unlock(&lock);
    return file;
}

struct clr_open_file *clr_open_file_retain(struct clr_open_file *open)
{
    pthread_mutex_lock(&lock);
    open->references++;
    pthread_mutex_unlock(&lock);
    return open;
}

void clr_open_file_release(struct clr_open_file *open)
{
    struct clr_known_file *unused = NULL;
    bool is_last;

    if (open == NULL)
        return;
    pthread_mutex_lock(&lock);
    is_last = --open->references == 0;
    if (is_last)
        unused = locked_release(open->file);
    pthread_mutex_unlock(&lock);
    free_file(unused);
    if (is_last)
        clr_memory_free(open);
}

struct clr_known_file *clr_known_file_retain(struct clr_known_file *file)
{
    pthread_mutex_lock(&lock);
    file->references++;
    pthread_mutex_unlock(&lock);
    return file;
}

void clr_known_file_release(struct clr_known_file *file)
{
    struct clr_known_file *unused;

    if (file == NULL)
        return;
    pthread_mutex_lock(&lock);
    unused = locked_release(file);
    pthread_mutex_unlock(&lock);
    free_file(unused);
}

static int64_t read_number(const int64_t *number)
{
    int64_t value;

    pthread_mutex_lock(&lock);
    value = *number;
    pthread_mutex_unlock(&lock);
    return value;
}

int64_t clr_known_file_log_closings(const struct clr_known_file *file)
{
    return read_number(&file->log_closings);
}

int64_t clr_known_file_closed(const struct clr_known_file *file)
{
    return read_number(&file->closed);
}

void clr_known_file_state(const struct clr_known_file *file,
                          unsigned char state[CLR_FILE_STATE_SIZE])
{
    struct stat now;
    int64_t numbers[CLR_FILE_STATE_SIZE / 8] = {0};

    if (fstat(file->pin, &now) == 0) {
        numbers[0] = now.st_size;
        numbers[1] = now.st_mtim.tv_sec;
        numbers[2] = now.st_mtim.tv_nsec;
        numbers[3] = now.st_ctim.tv_sec;
        numbers[4] = now.st_ctim.tv_nsec;
        numbers[5] = read_number(&file->doubts);
    }
    memcpy(state, numbers, CLR_FILE_STATE_SIZE);
}

bool clr_known_file_is_unlinked(const struct clr_known_file *file)
{
    struct stat now;

    return fstat(file->pin, &now) == 0 && now.st_nlink == 0;
}
