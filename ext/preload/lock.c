#include "preload/lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

static void take(void)
{
    pthread_mutex_lock(&lock);
}

static void heed_forks(void)
{
    pthread_atfork(take, clr_unlock, clr_unlock);
}

void clr_lock(void)
{
    pthread_once(&prepared, heed_forks);
    take();
}

void clr_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
