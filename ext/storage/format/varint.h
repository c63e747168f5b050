/* Numbers as the file format has them: big-endian, and of variable length. File format, 1.6 and 2.
 */
#ifndef CLR_STORAGE_VARINT_H
#define CLR_STORAGE_VARINT_H

#include <stdint.h>
#include <string.h>

enum { CLR_VARINT_MOST = 9 };

static inline uint32_t clr_get_u16(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static inline uint32_t clr_get_u32(const unsigned char *bytes)
{
    return clr_get_u16(bytes) << 16 | clr_get_u16(bytes + 2);
}

static inline uint64_t clr_get_u64(const unsigned char *bytes)
{
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t value;

    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
#else
    return (uint64_t)clr_get_u32(bytes) << 32 | clr_get_u32(bytes + 4);
#endif
}

/* Stores the number at bytes, of which nine must be readable, and returns where the next begins. */
static inline const unsigned char *clr_get_varint(const unsigned char *bytes, uint64_t *value)
{
    uint64_t number = bytes[0];
    int i;

    if (number < 0x80) {
        *value = number;
        return bytes + 1;
    }
    number &= 0x7f;
    for (i = 1; i < 8; i++) {
        number = number << 7 | (bytes[i] & 0x7f);
        if (bytes[i] < 0x80) {
            *value = number;
            return bytes + i + 1;
        }
    }
    *value = number << 8 | bytes[8];
    return bytes + CLR_VARINT_MOST;
}

#endif
