/* The cache's lock, waiting for what others do under it, and the thread that does what the cache
   has to do later: one in the process, which ends when there is nothing left to do. */
#ifndef CLR_SQLITE_CACHE_LOCK_H
#define CLR_SQLITE_CACHE_LOCK_H

#include "engine/worker/team.h"

#include <stdbool.h>
#include <stdint.h>

/* Whoever has the lock is not cancelled. */
void clr_cache_lock(void);
void clr_cache_unlock(void);

/* In a child after fork(), which has the lock: gives it back. Nobody waits here who waited in the
   parent. */
void clr_cache_unlock_child(void);

/* With the lock: has all that wait look again. */
void clr_cache_wake(void);

/* With the lock, which is given up meanwhile: waits for clr_cache_wake(), for a few milliseconds at
   most. Returns false if the watch, which may be NULL, wants a stop. */
bool clr_cache_wait(const struct clr_watch *watch);

/* Does what is due, with the cache's lock, which it may give up meanwhile. Returns when it is to be
   called again, in ns of clr_clock_ns(); INT64_MAX: not before somebody wants it. */
typedef int64_t clr_cache_chore(void);

/* With the cache's lock: has the thread do the chore soon, which is always the same one. Returns
   false if the thread can't be started. */
bool clr_cache_thread_want(clr_cache_chore *chore);

#endif
