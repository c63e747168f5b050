/*
 * A reader that is held inside its read while the device gives its feed up: nobody else may get the
 * memory that it reads into before it is back. On every OpenCL device there is, as fed_load-t.c.
 */
#include "storage/feeding.h"
#include "storage/image.h"

#include "engine/workers.h"
#include "opencl/devices.h"

#include <pthread.h>

/* Rows enough that both threads of a load fill a stage, and the first load some more: each has a
   page of 1024 bytes, and an overflow page that the device leaves to the host. */
enum { PAGE_SIZE = 1024, LONG_ROWS = 8000, SHORT_ROWS = 500000, TIMEOUT_S = 60 };

/* The first load's reader, and what holds it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool armed;         /* the next read is held */
    const void *buffer; /* into which the held one reads */
    struct clr_leaf_feed *feed;
    bool is_let_go, has_read;
    bool was_overwritten; /* the second load read into that buffer, and waited for the first */
} held = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void await_locked(const bool *flag)
{
    struct timespec deadline;

    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += TIMEOUT_S;
    while (!*flag)
        if (pthread_cond_timedwait(&held.changed, &held.lock, &deadline) != 0)
            tap_bail("waited in vain for a read");
}

static void set_locked(bool *flag)
{
    *flag = true;
    pthread_cond_broadcast(&held.changed);
}

/* Of the first load: one read is held before it begins; the others are slow, so that the device
   learns of pages that do not suit it before all are read. */
static int read_held(void *context, enum clr_file file, void *buffer, size_t size, int64_t offset)
{
    bool holds, is_slow;
    int code;

    pthread_mutex_lock(&held.lock);
    holds = held.armed;
    is_slow = held.feed != NULL && !held.is_let_go;
    held.armed = false;
    if (holds) {
        held.buffer = buffer;
        pthread_cond_broadcast(&held.changed);
        await_locked(&held.is_let_go);
    }
    pthread_mutex_unlock(&held.lock);
    if (is_slow && !holds)
        usleep(200);
    code = image_read(context, file, buffer, size, offset);
    if (holds) {
        pthread_mutex_lock(&held.lock);
        set_locked(&held.has_read);
        pthread_mutex_unlock(&held.lock);
    }
    return code;
}

/* Of the second load: having read into the buffer of the held read, it has that go on first. */
static int read_after(void *context, enum clr_file file, void *buffer, size_t size, int64_t offset)
{
    int code = image_read(context, file, buffer, size, offset);

    pthread_mutex_lock(&held.lock);
    if (buffer == held.buffer && !held.is_let_go) {
        held.was_overwritten = true;
        set_locked(&held.is_let_go);
        await_locked(&held.has_read);
    }
    pthread_mutex_unlock(&held.lock);
    return code;
}

/* Begins the first load's feed, after which all it reads goes to the device's memory. */
static bool begin_held(void *context, const struct clr_division *division,
                       const struct clr_feed_setup *setups, struct clr_leaf_feed **feeds)
{
    const bool begun = feeding_begin(context, division, setups, feeds);

    pthread_mutex_lock(&held.lock);
    held.armed = begun;
    held.feed = feeds[0];
    pthread_mutex_unlock(&held.lock);
    return begun;
}

struct table {
    sqlite3 *db;
    struct image_bytes bytes;
    struct clr_source source;
    uint32_t root;
    struct image image;
};

static void make_table(struct table *table, const char *create, const char *row, int rows)
{
    char sql[1000];

    if (sqlite3_open(":memory:", &table->db) != SQLITE_OK)
        tap_bail("no database");
    snprintf(sql, sizeof sql,
             "PRAGMA page_size = %d; CREATE TABLE t(%s);"
             "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
             " INSERT INTO t SELECT %s FROM n",
             PAGE_SIZE, create, rows, row);
    image_sql(table->db, sql);
    table->bytes = image_serialize(table->db);
    table->source = image_bytes_source(&table->bytes);
    table->source.context = &table->bytes;
    table->root = image_root(table->db, "t");
    memset(&table->image, 0, sizeof table->image);
}

static void free_table(struct table *table)
{
    image_free(&table->image);
    sqlite3_free(table->bytes.data);
    sqlite3_close(table->db);
}

/* The first load, in a thread of its own. */
struct first {
    struct feeding feeding;
    struct table table;
    enum clr_load_outcome outcome;
};

static void *load_first(void *argument)
{
    struct first *first = argument;

    first->outcome =
        feeding_load(&first->feeding, &first->table.image, &first->table.source, first->table.root);
    return NULL;
}

/* Waits until the reader is held, and the device has given the feed up. */
static void await_given_up(void)
{
    int i;

    pthread_mutex_lock(&held.lock);
    while (held.buffer == NULL)
        pthread_cond_wait(&held.changed, &held.lock);
    pthread_mutex_unlock(&held.lock);
    for (i = 0; i < TIMEOUT_S * 1000 && !clr_leaf_feed_is_unsuited(held.feed); i++)
        usleep(1000);
    tap_ok(clr_leaf_feed_is_unsuited(held.feed), "the device gives up while a reader is held");
}

/* Loads the second table, until the device decodes it or `tries` loads were the host's. */
static bool load_second(struct feeding *feeding, struct table *table, int tries)
{
    int i;

    feeding->waits = false;
    for (i = 0; i < tries; i++) {
        image_free(&table->image);
        memset(&table->image.layout, 0, sizeof table->image.layout);
        if (feeding_load(feeding, &table->image, &table->source, table->root) != CLR_LOAD_DONE)
            return false;
        if (feeding->decoding.is_done)
            break;
        usleep(5000);
    }
    return true;
}

static void test_device(const struct clr_device_info *info)
{
    static struct first first;
    struct feeding feeding;
    struct table second;
    pthread_t thread;

    tap_diag("%s (%s)", info->name, info->platform);
    memset(&first, 0, sizeof first);
    held.armed = held.is_let_go = held.has_read = held.was_overwritten = false;
    held.buffer = NULL;
    held.feed = NULL;
    feeding_init(&feeding, workers_start(info));
    if (!tap_ok(feeding_await(&feeding), "the device decodes"))
        return;
    make_table(&first.table, "a, b", "zeroblob(1990), i", LONG_ROWS);
    image_add(&first.table.image, "b", 1, false);
    first.table.source.read = read_held;
    feeding_init(&first.feeding, feeding.devices.list[0].worker);
    first.feeding.decoding.begin = begin_held;
    make_table(&second, "a INT, b INT", "i, -i", SHORT_ROWS);
    image_add(&second.image, "a", 0, false);
    image_add(&second.image, "b", 1, false);
    second.source.read = read_after;

    if (pthread_create(&thread, NULL, load_first, &first) != 0)
        tap_bail("no thread");
    await_given_up();
    tap_ok(load_second(&feeding, &second, 10), "a second load, while a reader is held");
    tap_ok(!held.was_overwritten, "it does not get the memory that the reader reads into");
    image_test(&second.image, second.db, "t", "the second load");

    pthread_mutex_lock(&held.lock);
    set_locked(&held.is_let_go);
    pthread_mutex_unlock(&held.lock);
    pthread_join(thread, NULL);
    tap_ok(first.outcome == CLR_LOAD_DONE && !first.feeding.decoding.is_done &&
               first.feeding.decoding.is_unsuited,
           "the first load was the host's, as its rows are long");
    image_test(&first.table.image, first.table.db, "t", "the first load");
    tap_ok(load_second(&feeding, &second, 100) && feeding.decoding.is_done,
           "when the reader is back, the device decodes again");
    image_test(&second.image, second.db, "t", "the load after that");
    free_table(&second);
    free_table(&first.table);
}

int main(void)
{
    if (clr_team_size() < 2)
        tap_skip_all("pages are fed by several threads, and there is one processor");
    devices_each(test_device, false);
    return tap_done();
}
