/* The thread that does what the cache has to do later: one in the process, which ends when there is
   nothing left to do. */
#ifndef CLR_SQLITE_CACHE_THREAD_H
#define CLR_SQLITE_CACHE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* Does what is due, with the cache's lock, which it may give up meanwhile. Returns when it is to be
   called again, in ns of clr_clock_ns(); INT64_MAX: not before somebody wants it. */
typedef int64_t clr_cache_chore(void);

enum { CLR_CACHE_CHORES = 2 };

/* With the cache's lock: has the thread do a chore soon, one of CLR_CACHE_CHORES at the most.
   Returns false if the thread can't be started. */
bool clr_cache_thread_want(clr_cache_chore *chore);

#endif
