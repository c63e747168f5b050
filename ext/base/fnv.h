/* The FNV-1a hash of 64 bits (Fowler, Noll and Vo). */
#ifndef CLR_BASE_FNV_H
#define CLR_BASE_FNV_H

#include <stdint.h>

/* That of nothing. */
#define CLR_FNV_OFFSET ((uint64_t)0xcbf29ce484222325u)

static inline uint64_t clr_fnv_add(uint64_t hash, char c)
{
    return (hash ^ (unsigned char)c) * (uint64_t)0x100000001b3u;
}

/* Adds a text, which may be NULL. */
static inline uint64_t clr_fnv_add_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++)
        hash = clr_fnv_add(hash, *text);
    return hash;
}

#endif
