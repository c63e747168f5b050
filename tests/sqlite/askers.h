/* Threads that ask a view each, which the test interrupts and waits for. */
#ifndef CLR_TESTS_ASKERS_H
#define CLR_TESTS_ASKERS_H

#include "sqlite/pool.h"

#include <pthread.h>
#include <stdatomic.h>

struct asker {
    pthread_t thread;
    sqlite3 *db;
    int view;
    enum pool_answer answer;
    atomic_bool done;
};

/* A connection with its views, whose schema is known and whose columns are not. */
static inline sqlite3 *asker_connect(int file)
{
    sqlite3 *db = pool_connect(file, 0);

    TAP_NEED(pool_create_views(db) == SQLITE_OK, "views: %s", sqlite3_errmsg(db));
    return db;
}

static inline void *asker_run(void *argument)
{
    struct asker *self = argument;

    self->answer = pool_ask(self->db, self->view);
    atomic_store(&self->done, true);
    return NULL;
}

static inline void asker_start(struct asker *self, sqlite3 *db, int view)
{
    self->db = db;
    self->view = view;
    atomic_init(&self->done, false);
    TAP_NEED(pthread_create(&self->thread, NULL, asker_run, self) == 0, "no thread");
}

/* Returns whether it has its answer within so many milliseconds; interrupted all the while, or
   not. */
static inline bool asker_is_done(struct asker *self, int milliseconds, bool interrupted)
{
    for (; !atomic_load(&self->done) && milliseconds > 0; milliseconds -= 5) {
        if (interrupted)
            sqlite3_interrupt(self->db);
        sqlite3_sleep(5);
    }
    return atomic_load(&self->done);
}

/* Waits for its end. Returns the answer. */
static inline enum pool_answer asker_join(struct asker *self)
{
    pthread_join(self->thread, NULL);
    return self->answer;
}

#endif
