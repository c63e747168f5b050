/* Numbers in a state's bytes, for the files that write and read them; state_format.h has the
 * format.
 */
#ifndef CLR_NUMERIC_STATE_BYTES_H
#define CLR_NUMERIC_STATE_BYTES_H

#include "numeric/states/state_format.h"

#include <math.h>
#include <string.h>

/* How every state begins; its kind's byte follows. */
static const unsigned char clr_state_magic[] = {'c', 'r', 1};

enum { CLR_STATE_HEAD = 4 };

/* Which sums a state of some kind has: 'x' stands for one of values, '2' for one of squares, '*'
   for one of other products. */
static inline const char *clr_state_layout(enum clr_state_kind kind)
{
    switch (kind) {
    case CLR_STATE_SUM:
        return "x";
    case CLR_STATE_DOT:
        return "*";
    case CLR_STATE_SQUARES:
        return "x2";
    case CLR_STATE_PAIRS:
        return "xx22*";
    default:
        return "";
    }
}

/* The type bytes of MIN and MAX, and of the bounds of BINS, are the values of enum clr_kind: they
 * must not change. */
_Static_assert(CLR_KIND_NONE == 0 && CLR_KIND_INTEGER == 1 && CLR_KIND_REAL == 2 &&
                   CLR_KIND_TEXT == 3 && CLR_KIND_BLOB == 4,
               "the format's types");

/* Writes a varint, and returns where it ends. */
static inline unsigned char *clr_put_varint(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

/* Writes how every state begins, and returns where its content does. */
static inline unsigned char *clr_put_head(unsigned char *at, enum clr_state_kind kind)
{
    memcpy(at, clr_state_magic, sizeof clr_state_magic);
    at[sizeof clr_state_magic] = (unsigned char)kind;
    return at + CLR_STATE_HEAD;
}

/* Writes a double, the lowest byte first, and returns where it ends. */
static inline unsigned char *clr_put_real(unsigned char *at, double real)
{
    uint64_t bits;
    int i;

    memcpy(&bits, &real, sizeof bits);
    for (i = 0; i < 8; i++)
        *at++ = (unsigned char)(bits >> (8 * i));
    return at;
}

/* A signed number as the unsigned one that stands for it, and back. */
static inline uint64_t clr_fold_sign(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t clr_unfold_sign(uint64_t folded)
{
    return (int64_t)(folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0));
}

/* Reads forward. The first fault stays, and ends the reading: at is then end. */
struct clr_reader {
    const unsigned char *at, *end;
    enum clr_state_fault fault;
};

static inline void clr_reader_fail(struct clr_reader *reader, enum clr_state_fault fault)
{
    if (reader->fault == CLR_STATE_SOUND)
        reader->fault = fault;
    reader->at = reader->end;
}

/* Returns 0 where there is no varint. */
static inline uint64_t clr_get_varint(struct clr_reader *reader)
{
    uint64_t value = 0;
    int shift;

    for (shift = 0; shift < 64; shift += 7) {
        unsigned char byte;
        if (reader->at == reader->end) {
            clr_reader_fail(reader, CLR_STATE_TOO_SHORT);
            return 0;
        }
        byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            if ((byte != 0 || shift == 0) && (shift < 63 || byte == 1))
                return value;
            break;
        }
    }
    clr_reader_fail(reader, CLR_STATE_NOT_CANONICAL);
    return 0;
}

/* Returns where the next size bytes are, or NULL. */
static inline const unsigned char *clr_get_bytes(struct clr_reader *reader, size_t size)
{
    const unsigned char *bytes = reader->at;

    if ((size_t)(reader->end - reader->at) < size) {
        clr_reader_fail(reader, CLR_STATE_TOO_SHORT);
        return NULL;
    }
    reader->at += size;
    return bytes;
}

/* The number that size bytes are, 8 at most, the lowest first. */
static inline uint64_t clr_load_bytes(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

/* A number of rows or the like, of which there are most at most. */
static inline int64_t clr_get_count(struct clr_reader *reader, int64_t most)
{
    uint64_t count = clr_get_varint(reader);

    if (count <= (uint64_t)most)
        return (int64_t)count;
    clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
    return 0;
}

/* A double, which is no NaN; 0.0 where there is none. */
static inline double clr_get_real(struct clr_reader *reader)
{
    const unsigned char *bytes = clr_get_bytes(reader, 8);
    uint64_t bits = bytes != NULL ? clr_load_bytes(bytes, 8) : 0;
    double real;

    memcpy(&real, &bits, sizeof real);
    if (isnan(real))
        clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
    return real;
}

/* Begins to read a state of that kind: checks what precedes the content. */
struct clr_reader clr_get_head(const unsigned char *bytes, size_t size, enum clr_state_kind kind);

#endif
