#include "sqlite/database/known_file.h"

#include "base/clock.h"
#include "base/memory.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct clr_known_file {
    struct clr_known_file *next;
    dev_t device;
    ino_t inode;
    int pin;         /* the descriptor that keeps the inode */
    int references;  /* all under the lock */
    int connections; /* that have it open */
    int64_t closed;  /* since when there are none */
    int64_t closings;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct clr_known_file *files;
static void (*on_close)(struct clr_known_file *file);
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* A child after fork() finds the list whole. */
static void take_lock(void)
{
    pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
    pthread_mutex_unlock(&lock);
}

static void prepare(void)
{
    pthread_atfork(take_lock, give_lock, give_lock);
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

/* Finds the file that the pin is of, or makes it, with the pin as its own. Needs the lock. */
static struct clr_known_file *locked_find(const struct stat *pinned, int pin)
{
    struct clr_known_file *file = files;

    while (file != NULL && !(file->device == pinned->st_dev && file->inode == pinned->st_ino))
        file = file->next;
    if (file != NULL) {
        close(pin);
        return file;
    }
    file = clr_memory_alloc_zero(sizeof *file);
    if (file == NULL) {
        close(pin);
        return NULL;
    }
    file->device = pinned->st_dev;
    file->inode = pinned->st_ino;
    file->pin = pin;
    file->next = files;
    files = file;
    return file;
}

struct clr_known_file *clr_known_file_open(sqlite3 *db, const char *schema, sqlite3_file *handle)
{
    const char *name = sqlite3_db_filename(db, schema);
    struct clr_known_file *file;
    struct stat pinned;
    int pin;

    if (name == NULL || *name == '\0' || !is_locked_by_sqlite(db, schema, name))
        return NULL;
    pin = open_pin(name);
    if (pin < 0)
        return NULL;
    if (fstat(pin, &pinned) != 0 || !has_inode(handle, name, &pinned)) {
        close(pin);
        return NULL;
    }
    clr_known_file_heed_forks();
    pthread_mutex_lock(&lock);
    file = locked_find(&pinned, pin);
    if (file != NULL) {
        file->references++;
        file->connections++;
        file->closed = 0;
    }
    pthread_mutex_unlock(&lock);
    return file;
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
    struct clr_known_file **link = &files;
    bool is_last;

    if (file == NULL)
        return;
    pthread_mutex_lock(&lock);
    is_last = --file->references == 0;
    if (is_last) {
        while (*link != file)
            link = &(*link)->next;
        *link = file->next;
    }
    pthread_mutex_unlock(&lock);
    if (!is_last)
        return;
    close(file->pin);
    clr_memory_free(file);
}

void clr_known_file_close(struct clr_known_file *file)
{
    void (*closed)(struct clr_known_file * file) = NULL;

    if (file == NULL)
        return;
    pthread_mutex_lock(&lock);
    if (--file->connections == 0) {
        file->closed = clr_clock_ns();
        file->closings++;
        closed = on_close;
    }
    pthread_mutex_unlock(&lock);
    if (closed != NULL)
        closed(file);
    clr_known_file_release(file);
}

static int64_t read_number(const int64_t *number)
{
    int64_t value;

    pthread_mutex_lock(&lock);
    value = *number;
    pthread_mutex_unlock(&lock);
    return value;
}

int64_t clr_known_file_closings(const struct clr_known_file *file)
{
    return read_number(&file->closings);
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
    }
    memcpy(state, numbers, CLR_FILE_STATE_SIZE);
}

bool clr_known_file_is_settled(const struct clr_known_file *file)
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
