/* Locks of a file's own, each of which a child after fork() finds free. */
#ifndef CLR_BASE_LOCK_H
#define CLR_BASE_LOCK_H

#include <pthread.h>

/*
 * Defines a lock, and the static functions take_name() and give_name(). Nobody may take a lock of
 * this kind while it has another one: fork() takes all of them, in the reverse order of their first
 * use.
 */
#define CLR_LOCK(name)                                                                             \
    static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER;                                       \
                                                                                                   \
    static void take_##name##_to_fork(void)                                                        \
    {                                                                                              \
        pthread_mutex_lock(&name);                                                                 \
    }                                                                                              \
                                                                                                   \
    static void give_##name(void)                                                                  \
    {                                                                                              \
        pthread_mutex_unlock(&name);                                                               \
    }                                                                                              \
                                                                                                   \
    static void heed_forks_with_##name(void)                                                       \
    {                                                                                              \
        pthread_atfork(take_##name##_to_fork, give_##name, give_##name);                           \
    }                                                                                              \
                                                                                                   \
    static void take_##name(void)                                                                  \
    {                                                                                              \
        static pthread_once_t prepared = PTHREAD_ONCE_INIT;                                        \
                                                                                                   \
        pthread_once(&prepared, heed_forks_with_##name);                                           \
        pthread_mutex_lock(&name);                                                                 \
    }

#endif
