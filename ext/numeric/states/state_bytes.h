/*
 * The writer and the reader of states' bytes, for the files that know what is in them;
 * state_format.h has the format.
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

/* Which of an operation's sums stands in place i of a state of that kind. */
static inline int clr_state_term(enum clr_state_kind kind, int i)
{
    static const int pairs[] = {CLR_MOMENT_X, CLR_MOMENT_Y, CLR_MOMENT_XX, CLR_MOMENT_YY,
                                CLR_MOMENT_XY};

    return kind == CLR_STATE_PAIRS ? pairs[i] : i;
}

/* The type bytes of MIN and MAX, and of the bounds of BINS, are the values of enum clr_kind: they
 * must not change. */
_Static_assert(CLR_KIND_NONE == 0 && CLR_KIND_INTEGER == 1 && CLR_KIND_REAL == 2 &&
                   CLR_KIND_TEXT == 3 && CLR_KIND_BLOB == 4,
               "the format's types");

/* A signed number as the unsigned one that stands for it, and back. */
static inline uint64_t clr_fold_sign(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t clr_unfold_sign(uint64_t folded)
{
    return (int64_t)(folded >> 1 ^ (folded & 1 ? UINT64_MAX : 0));
}

/* ---- Writing. */

struct clr_writer {
    unsigned char *buffer; /* or NULL: bytes are only counted */
    size_t size;           /* of what was written so far */
};

/* Returns where the next size bytes go, or NULL where they are only counted. */
static inline unsigned char *clr_writer_take(struct clr_writer *writer, size_t size)
{
    unsigned char *at = writer->buffer != NULL ? writer->buffer + writer->size : NULL;

    writer->size += size;
    return at;
}

static inline void clr_writer_put_bytes(struct clr_writer *writer, const void *bytes, size_t size)
{
    unsigned char *at = clr_writer_take(writer, size);

    if (at != NULL && size > 0)
        memcpy(at, bytes, size);
}

static inline void clr_writer_put_varint(struct clr_writer *writer, uint64_t value)
{
    unsigned char spare[10];
    unsigned char *start = writer->buffer != NULL ? writer->buffer + writer->size : spare;
    unsigned char *at = start;

    for (; value >= 0x80; value >>= 7)
        *at++ = (unsigned char)(value | 0x80);
    *at++ = (unsigned char)value;
    writer->size += (size_t)(at - start);
}

/* A type and the value of that type. */
static inline void clr_writer_put_value(struct clr_writer *writer, const struct clr_value *value)
{
    unsigned char bytes[8];
    uint64_t bits;
    int i;

    clr_writer_put_varint(writer, value->kind);
    if (value->kind == CLR_KIND_INTEGER) {
        clr_writer_put_varint(writer, clr_fold_sign(value->as.integer));
    } else if (value->kind == CLR_KIND_REAL) {
        memcpy(&bits, &value->as.real, sizeof bits);
        for (i = 0; i < 8; i++)
            bytes[i] = (unsigned char)(bits >> (8 * i));
        clr_writer_put_bytes(writer, bytes, sizeof bytes);
    } else if (value->kind != CLR_KIND_NONE) {
        clr_writer_put_bytes(writer, value->bytes, value->as.size);
    }
}

/* Begins to write a state of that kind. */
static inline struct clr_writer clr_writer_begin(unsigned char *buffer, enum clr_state_kind kind)
{
    struct clr_writer writer = {buffer, 0};

    clr_writer_put_bytes(&writer, clr_state_magic, sizeof clr_state_magic);
    clr_writer_put_varint(&writer, kind);
    return writer;
}

/* ---- Reading. */

/* Reads forward. The first fault stays, and ends the reading: at is then end. */
struct clr_reader {
    const unsigned char *at, *end;
    enum clr_state_fault fault;
};

/* Begins to read a state of that kind: checks what precedes the content. */
struct clr_reader clr_reader_begin(const unsigned char *bytes, size_t size,
                                   enum clr_state_kind kind);

/* Returns the fault of a state that was read as far as it has content. */
static inline enum clr_state_fault clr_reader_end(const struct clr_reader *reader)
{
    if (reader->fault == CLR_STATE_SOUND && reader->at != reader->end)
        return CLR_STATE_TRAILING;
    return reader->fault;
}

static inline void clr_reader_fail(struct clr_reader *reader, enum clr_state_fault fault)
{
    if (reader->fault == CLR_STATE_SOUND)
        reader->fault = fault;
    reader->at = reader->end;
}

/* Returns 0 where there is no varint. */
static inline uint64_t clr_reader_get_varint(struct clr_reader *reader)
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
static inline const unsigned char *clr_reader_get_bytes(struct clr_reader *reader, size_t size)
{
    const unsigned char *bytes = reader->at;

    if ((size_t)(reader->end - reader->at) < size) {
        clr_reader_fail(reader, CLR_STATE_TOO_SHORT);
        return NULL;
    }
    reader->at += size;
    return bytes;
}

/* A number of rows or the like, of which there are most at most. */
static inline int64_t clr_reader_get_count(struct clr_reader *reader, int64_t most)
{
    uint64_t count = clr_reader_get_varint(reader);

    if (count <= (uint64_t)most)
        return (int64_t)count;
    clr_reader_fail(reader, CLR_STATE_INCONSISTENT);
    return 0;
}

/* The number that size bytes are, 8 at most, the lowest first. */
static inline uint64_t clr_load_bytes(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;

    while (size-- > 0)
        value = value << 8 | bytes[size];
    return value;
}

/* A type and the value of that type, no NaN; TEXT and BLOB take all that is left. Where there is
   none the reading has ended. */
struct clr_value clr_reader_get_value(struct clr_reader *reader);

#endif
