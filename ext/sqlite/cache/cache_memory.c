#include "sqlite/cache/cache_memory.h"

#include "base/clock.h"
#include "base/settings.h"
#include "engine/worker/runtime.h"
#include "sqlite/cache/cache_lock.h"
#include "sqlite/cache/cached_table.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

int64_t clr_column_memory(void)
{
    const int64_t setting = clr_process_setting(CLR_COLUMN_MEMORY);

    return setting > 0 ? setting
                       : (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGE_SIZE) / 4;
}

/* Returns how many bytes of a device's memory columns may take, likewise. */
static int64_t device_memory(const struct clr_device_info *info)
{
    const int64_t own = clr_process_setting(CLR_DEVICE_MEMORY);
    const int64_t setting = own > 0 ? own : clr_process_setting(CLR_COLUMN_MEMORY);

    return setting > 0 ? setting : (int64_t)(info->memory / 4);
}

/*
 * How many scans have to ask for a copy before it takes the room of others, which nobody has used
 * since the first of these scans; and before a column whose copy was dropped gets another one. A
 * copy takes about as long as a few scans by the host: so copying is a fraction of what the host
 * does meanwhile, in whatever order columns are asked for that do not all fit. Where queries ask
 * for them in turn, all copies are used between two askings: some stay and serve, and nothing is
 * copied.
 */
enum { ASKINGS = 8 };

/* ---- What there is, and what of it was used longest ago. All with the lock. */

/* The bytes that the process has reserved, and what tells who has them to give them back. A child
   after fork() has none. */
static struct {
    int64_t bytes;
    atomic_bool *stop;
    pid_t process;
} reserved;

/* Adds up what images take on the host, in bytes: columns, sorted copies, dictionaries and layouts;
   and what is reserved. What is being changed counts as it was. */
static int64_t measure_host(void)
{
    const struct clr_cached_table *table;
    const struct clr_image *image;
    int64_t bytes = reserved.process == getpid() ? reserved.bytes : 0;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        bytes += clr_kept_dictionaries_size(table->dictionaries);
        for (image = table->images; image != NULL; image = image->next)
            bytes += (int64_t)image->size;
    }
    return bytes;
}

/* Returns what a column's copy takes of a worker's device. */
static int64_t size_on(const struct clr_image_column *column, const struct clr_worker *worker)
{
    return column->copy == NULL ? 0 : (int64_t)clr_sharded_size(column->copy, worker);
}

/* Whether an image's columns, and their copies, may go. */
static bool may_go(const struct clr_image *image)
{
    return !image->is_changing && !image->table->is_busy;
}

/* Adds up what images have there, or, if since is no NULL pointer, what of that may go and was not
   used since that scan. */
static int64_t measure_device(const struct clr_worker *worker, const int64_t *since)
{
    struct clr_column_place place = {.table = NULL};
    const struct clr_image_column *column;
    int64_t bytes = 0;

    while ((column = clr_cache_next_column(&place)) != NULL) {
        if (since == NULL || (may_go(place.image) && column->pins == 0 && column->used < *since))
            bytes += size_on(column, worker);
    }
    return bytes;
}

/* What is looked for among columns. */
enum wanted { COLUMN, SORTED_COPY };

/* Finds the least recently used column that may go, of those with copies on a worker's device,
   unless that is NULL. Of a sorted copy alone, which goes though its column is pinned, likewise. */
static struct clr_image_column **find_oldest(enum wanted wanted, const struct clr_worker *device,
                                             struct clr_image **of)
{
    struct clr_column_place place = {.table = NULL};
    struct clr_image_column **oldest = NULL, *column;

    while ((column = clr_cache_next_column(&place)) != NULL) {
        if (!may_go(place.image) ||
            (wanted == COLUMN ? column->pins > 0 : column->sorted == NULL) ||
            (device != NULL && size_on(column, device) == 0) ||
            (oldest != NULL && column->used >= (*oldest)->used))
            continue;
        oldest = place.link;
        *of = place.image;
    }
    return oldest;
}

/* Finds the least recently used dictionary without a column, but none of that scan. */
static struct clr_kept_dictionary **find_oldest_dictionary(int64_t scan)
{
    struct clr_kept_dictionary **oldest = NULL, **link;
    struct clr_cached_table *table;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        link = clr_kept_dictionary_oldest(&table->dictionaries, scan);
        if (link != NULL && (oldest == NULL || (*link)->used < (*oldest)->used))
            oldest = link;
    }
    return oldest;
}

bool clr_column_memory_reserve(int64_t bytes, atomic_bool *stop)
{
    if (measure_host() + bytes > clr_column_memory())
        return false;
    reserved.bytes = bytes;
    reserved.stop = stop;
    reserved.process = getpid();
    return true;
}

void clr_column_memory_unreserve(void)
{
    reserved.bytes = 0;
}

/* Takes back what is reserved. Returns false if nothing is. */
static bool take_back(void)
{
    if (reserved.bytes == 0 || reserved.process != getpid())
        return false;
    atomic_store(reserved.stop, true);
    reserved.bytes = 0;
    return true;
}

/* Drops the sorted copy whose column's use is longest ago. Returns false if there is none. */
static bool drop_sorted(void)
{
    struct clr_image *image = NULL;
    struct clr_image_column **link = find_oldest(SORTED_COPY, NULL, &image);

    if (link == NULL)
        return false;
    clr_sorted_copy_release((*link)->sorted);
    (*link)->sorted = NULL;
    clr_image_measure_column(image, *link);
    return true;
}

/* Drops the column or the dictionary whose use is longest ago. Returns false if there is none. */
static bool drop_oldest(int64_t scan)
{
    struct clr_image *image = NULL;
    struct clr_image_column **link = find_oldest(COLUMN, NULL, &image);
    struct clr_kept_dictionary **dictionary = find_oldest_dictionary(scan);

    if (dictionary != NULL && (link == NULL || (*dictionary)->used < (*link)->used)) {
        clr_kept_dictionary_drop(dictionary);
        return true;
    }
    if (link == NULL)
        return false;
    image->size -= (*link)->size;
    clr_image_remove(link);
    return true;
}

/* Drops layouts that no query needs, and no column. Returns whether there was one. */
static bool drop_layout(void)
{
    struct clr_cached_table *table;

    for (table = clr_cache_first(); table != NULL; table = table->next) {
        struct clr_image *image = table->images;

        if (image == NULL || !may_go(image) || image->references > 1 || image->columns != NULL ||
            clr_layout_size(&image->layout) == 0)
            continue;
        clr_layout_free(&image->layout);
        clr_image_measure(image);
        return true;
    }
    return false;
}

/* Drops the copy on the worker's device whose use is longest ago, also what it has on others.
   Returns the bytes that the copy took there, or 0 if there is none. */
static int64_t drop_oldest_copy(const struct clr_worker *worker)
{
    struct clr_image *image = NULL;
    struct clr_image_column **link = find_oldest(COLUMN, worker, &image);
    int64_t bytes;

    if (link == NULL)
        return 0;
    bytes = size_on(*link, worker);
    clr_sharded_release((*link)->copy);
    (*link)->copy = NULL;
    (*link)->wait = (struct clr_copy_wait){.left = ASKINGS};
    return bytes;
}

/* ---- Room for copies. All with the lock. */

static bool is_missing(const struct clr_image_column *column)
{
    return column->copy == NULL || clr_sharded_has_failed(column->copy);
}

/* What a device has no room for. */
struct lack {
    int64_t bytes; /* that are to go; of copies that have failed as many as they need, as it is not
                      known what the device has left */
    bool fits;     /* the limit allows what is missing beside what is there */
};

/* Finds what the device of a shard lacks for what is missing there: nothing, but with its first
   shard. */
static struct lack find_lack(struct clr_image_column *const *found, int count,
                             const struct clr_division *division, int shard)
{
    const struct clr_chosen_device *device = &division->shards[shard].device;
    int64_t wanted = 0, failed = 0, over, bytes;
    int i;

    for (i = 0; i < count && clr_division_begins_device(division, shard); i++) {
        if (!is_missing(found[i]))
            continue;
        bytes = (int64_t)clr_sharded_cost(division, found[i]->column, device->worker) -
                size_on(found[i], device->worker);
        if (bytes <= 0)
            continue;
        wanted += bytes;
        failed += found[i]->copy == NULL ? 0 : bytes;
    }
    if (wanted == 0)
        return (struct lack){.bytes = 0, .fits = true};
    over = measure_device(device->worker, NULL) + wanted - device_memory(device->info);
    return (struct lack){.bytes = over > failed ? over : failed, .fits = over <= 0};
}

/* Counts the asking for what is missing. Returns the scan since which all of it has waited for
   room; 0: not all has. *is_due becomes whether all has been asked for often enough. */
static int64_t count_asking(struct clr_image_column *const *found, int count, bool *is_due)
{
    int64_t since = INT64_MAX;
    int i;

    *is_due = true;
    for (i = 0; i < count; i++) {
        struct clr_copy_wait *wait = &found[i]->wait;

        if (!is_missing(found[i])) {
            *wait = (struct clr_copy_wait){0, 0};
            continue;
        }
        wait->left -= wait->left > 0;
        *is_due = *is_due && wait->left == 0;
        if (since == INT64_MAX || wait->since == 0 || (since != 0 && since < wait->since))
            since = wait->since;
    }
    return since;
}

/* What is missing begins to wait for room, or ends. */
static void set_wait(struct clr_image_column *const *found, int count, bool is_begun)
{
    int i;

    for (i = 0; i < count; i++) {
        if (is_missing(found[i]))
            found[i]->wait = is_begun ? (struct clr_copy_wait){ASKINGS - 1, found[i]->used}
                                      : (struct clr_copy_wait){0, 0};
    }
}

/* Drops what is in the way, and copies that have failed: they are made anew at once. */
static void drop_unused(struct clr_image_column *const *found, int count,
                        const struct clr_division *division, int64_t since)
{
    int i;

    for (i = 0; i < division->count; i++) {
        const struct clr_worker *worker = division->shards[i].device.worker;
        int64_t lack = find_lack(found, count, division, i).bytes;

        while (lack > 0 && measure_device(worker, &since) > 0)
            lack -= drop_oldest_copy(worker);
    }
    for (i = 0; i < count; i++) {
        if (!is_missing(found[i]))
            continue;
        clr_sharded_release(found[i]->copy);
        found[i]->copy = NULL;
    }
}

bool clr_column_device_make_room(struct clr_image_column *const *found, int count,
                                 const struct clr_division *division)
{
    bool is_due, fits = true, is_short = false, may_drop = true;
    const int64_t since = count_asking(found, count, &is_due);
    int i;

    for (i = 0; i < division->count; i++) {
        const struct lack lack = find_lack(found, count, division, i);

        fits = fits && lack.fits;
        if (lack.bytes <= 0)
            continue;
        is_short = true;
        may_drop =
            may_drop && lack.bytes <= measure_device(division->shards[i].device.worker, &since);
    }
    if (is_short && !may_drop) {
        set_wait(found, count, true);
        return fits;
    }
    if (!is_due)
        return is_short && fits;
    if (is_short)
        drop_unused(found, count, division, since);
    set_wait(found, count, false);
    return true;
}

/* ---- */

int64_t clr_column_device_bytes(const struct clr_worker *worker)
{
    int64_t bytes;

    clr_cache_lock();
    bytes = measure_device(worker, NULL);
    clr_cache_unlock();
    return bytes;
}

void clr_column_memory_trim(int64_t most, int64_t scan)
{
    const struct clr_catalog *catalog = clr_runtime_known_catalog();
    size_t i;

    clr_cache_lock();
    while (measure_host() > most &&
           (take_back() || drop_sorted() || drop_oldest(scan) || drop_layout()))
        ;
    for (i = 0; catalog != NULL && i < catalog->count; i++) {
        const struct clr_worker *worker = clr_runtime_started_worker(i);

        while (worker != NULL &&
               measure_device(worker, NULL) > device_memory(&catalog->devices[i]) &&
               drop_oldest_copy(worker) > 0)
            ;
    }
    clr_cache_unlock();
}

/* Evicts what a table has. Returns how many bytes that took. */
static int64_t evict(struct clr_cached_table *table)
{
    int64_t bytes = clr_kept_dictionaries_size(table->dictionaries);
    bool is_used = table->stale > 0 || table->arrivals != NULL;
    struct clr_image *image;

    clr_kept_dictionaries_free(&table->dictionaries);
    for (image = table->images; image != NULL; image = image->next) {
        bytes += clr_image_drop(image, true);
        clr_image_measure(image);
        is_used = is_used || image->references > 1 || image != table->images;
    }
    if (!is_used)
        clr_cache_drop_table(table);
    return bytes;
}

int64_t clr_cache_evict(const struct clr_connection *connection)
{
    struct clr_cached_table *table, *next;
    int64_t bytes = 0;

    clr_cache_lock();
    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        if (!table->is_busy && (table->owner == NULL || table->owner == connection))
            bytes += evict(table);
    }
    clr_cache_unlock();
    return bytes;
}

/* ---- Closed files. */

/* Of so many closed files columns stay, and of one for each so many descriptors that the process
   may have: a file takes one. */
enum { MOST_FILES = 16, DESCRIPTORS_PER_FILE = 32 };

/* How often it is looked whether closed files have been deleted, whose blocks the descriptors keep.
 */
enum { LOOK_MS = 1000 };

static pthread_once_t begun = PTHREAD_ONCE_INIT;

/* Since when the table's file is closed, in ns of clr_clock_ns(); 0: it is not. */
static int64_t closed_since(const struct clr_cached_table *table)
{
    return table->file == NULL ? 0 : clr_known_file_closed(table->file);
}

/* Drops the tables of files that were closed long enough ago, or are deleted. Returns when to look
   at the next ones, in ns of clr_clock_ns(); INT64_MAX: there are none. */
static int64_t locked_drop_due(void)
{
    const int64_t retention = clr_process_setting(CLR_COLUMN_RETENTION) * 1000000;
    const int64_t now = clr_clock_ns(), look = now + LOOK_MS * INT64_C(1000000);
    int64_t next_due = INT64_MAX, closed, due;
    struct clr_cached_table *table, *next;

    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        closed = closed_since(table);
        if (closed == 0)
            continue;
        if (closed + retention <= now || clr_known_file_is_unlinked(table->file))
            clr_cache_drop_table(table);
        else if ((due = closed + retention < look ? closed + retention : look) < next_due)
            next_due = due;
    }
    return next_due;
}

static void drop_file(const struct clr_known_file *file)
{
    struct clr_cached_table *table, *next;

    for (table = clr_cache_first(); table != NULL; table = next) {
        next = table->next;
        if (table->file == file)
            clr_cache_drop_table(table);
    }
}

static int most_files(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
                   limit.rlim_cur / DESCRIPTORS_PER_FILE < MOST_FILES
               ? (int)(limit.rlim_cur / DESCRIPTORS_PER_FILE)
               : MOST_FILES;
}

/* Returns the file that was closed longest ago, or NULL, and how many are closed. */
static const struct clr_known_file *find_oldest_file(int *count)
{
    const struct clr_cached_table *table, *other;
    const struct clr_known_file *oldest = NULL;
    int64_t closed, since = INT64_MAX;

    *count = 0;
    for (table = clr_cache_first(); table != NULL; table = table->next) {
        closed = closed_since(table);
        for (other = clr_cache_first(); closed != 0 && other != table; other = other->next)
            closed = other->file == table->file ? 0 : closed;
        *count += closed != 0;
        if (closed != 0 && closed < since) {
            since = closed;
            oldest = table->file;
        }
    }
    return oldest;
}

static void drop_beyond_most(void)
{
    const int most = most_files();
    const struct clr_known_file *oldest;
    int count;

    while ((oldest = find_oldest_file(&count)) != NULL && count > most)
        drop_file(oldest);
}

static void file_closed(struct clr_known_file *file)
{
    clr_cache_lock();
    drop_beyond_most();
    if (locked_drop_due() != INT64_MAX && !clr_cache_thread_want(locked_drop_due))
        drop_file(file);
    clr_cache_unlock();
}

void clr_retention_heed_setting(void)
{
    clr_cache_lock();
    clr_cache_wake();
    clr_cache_unlock();
}

static void begin(void)
{
    clr_known_file_notify(file_closed);
}

void clr_retention_begin(void)
{
    pthread_once(&begun, begin);
}
