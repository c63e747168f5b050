/*
 * SQLite's memory, with an allocation that fails: what base/memory.h has for the extension's. For
 * tests that use SQLite from one thread.
 */
#ifndef CLR_TESTS_NOMEM_H
#define CLR_TESTS_NOMEM_H

#include "tap.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

static sqlite3_mem_methods nomem_usual;
static long nomem_countdown = -1;
static bool nomem_failed;

static inline bool nomem_must_fail(void)
{
    if (nomem_countdown < 0 || nomem_countdown-- > 0)
        return false;
    nomem_failed = true;
    return true;
}

static inline void *nomem_malloc(int size)
{
    return nomem_must_fail() ? NULL : nomem_usual.xMalloc(size);
}

static inline void *nomem_realloc(void *block, int size)
{
    return nomem_must_fail() ? NULL : nomem_usual.xRealloc(block, size);
}

/* As clr_memory_fail_after(). */
static inline int nomem_sqlite_fail_after(long after)
{
    int happened = nomem_failed;

    nomem_failed = false;
    nomem_countdown = after;
    return happened;
}

/* To be called before SQLite is used for anything else. */
static inline void nomem_replace_malloc(void)
{
    sqlite3_mem_methods failing;

    TAP_NEED(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &nomem_usual) == SQLITE_OK,
             "SQLite does not tell its memory's functions");
    failing = nomem_usual;
    failing.xMalloc = nomem_malloc;
    failing.xRealloc = nomem_realloc;
    /* Without its small buffers, SQLite allocates each time. */
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK)
        tap_bail("SQLite does not take other functions for its memory");
}

#endif
