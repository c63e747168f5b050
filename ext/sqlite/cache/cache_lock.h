/* The cache's lock, and waiting for what others do under it. */
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

/* With the lock, likewise: waits for timeout_ms milliseconds at most. */
void clr_cache_wait_until_woken(int64_t timeout_ms);

#endif
