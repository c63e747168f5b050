#include "opencl/failing_parts.h"

#include <pthread.h>

enum { MOST_CONTEXTS = 8 };

static struct {
    pthread_mutex_t lock;
    long more; /* bytes that each context may have besides those that it had then; -1: any */
    long refused;
    int count;
    struct {
        cl_context context;
        long used, most;
    } contexts[MOST_CONTEXTS];
} room = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = -1};

/* Gives each context room for so many bytes besides those of the buffers that it has now; -1: for
   any. Returns how many buffers have found none since the call before. */
EXPORTED long failing_opencl_room(long more);
long failing_opencl_room(long more)
{
    long refused;

    pthread_mutex_lock(&room.lock);
    room.more = more;
    for (int i = 0; i < room.count; i++)
        room.contexts[i].most = room.contexts[i].used + more;
    refused = room.refused;
    room.refused = 0;
    pthread_mutex_unlock(&room.lock);
    return refused;
}

bool failing_room_takes(cl_context context, long bytes)
{
    bool has_room;
    int i = 0;

    pthread_mutex_lock(&room.lock);
    while (i < room.count && room.contexts[i].context != context)
        i++;
    if (i == room.count && room.count < MOST_CONTEXTS) {
        room.contexts[i].context = context;
        room.contexts[i].most = room.more;
        room.count++;
    }
    has_room = i == MOST_CONTEXTS || room.more < 0 || bytes < 0 ||
               room.contexts[i].used + bytes <= room.contexts[i].most;
    if (has_room && i < MOST_CONTEXTS)
        room.contexts[i].used += bytes;
    room.refused += !has_room;
    pthread_mutex_unlock(&room.lock);
    return has_room;
}
