/*
 * Values of 64 bits that are kept in 1, 2 or 4 bytes each, as the distances of integers from the
 * least one, where all lie as close together. The integers are the values' bits, whatever they
 * mean: INTEGERs are often that close. Or, if the values are REALs of few decimals (decimals.h),
 * they are the k of these; 0.0 and NULL, whose bits are 0, are among them always. It is the frame
 * of reference of Goldstein, Ramakrishnan and Shaft, "Compressing Relations and Indexes" (ICDE
 * 1998), with one frame for a column.
 */
#ifndef CLR_NUMERIC_NARROW_H
#define CLR_NUMERIC_NARROW_H

#include "numeric/values/decimals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How values are kept. Zeros: as they are. */
struct clr_frame {
    uint8_t bytes;       /* of each: 1, 2 or 4; 0: all 8 */
    int64_t least;       /* what is kept is an integer minus this, if bytes is not 0 */
    int64_t known_least; /* bounds of the integers */
    int64_t known_greatest;
    double power; /* of decimals; 0: the integers are the values' bits */
};

/* The bounds of no values. */
#define CLR_FRAME_OF_NONE                                                                          \
    ((struct clr_frame){.known_least = INT64_MAX, .known_greatest = INT64_MIN})

/* Widens the bounds, and these alone, by those of count values' bits. The frame has no power. */
void clr_frame_add(struct clr_frame *frame, const int64_t *values, size_t count);

/*
 * Returns the bounds of count values: as decimals, if all are that and one is not 0, with the least
 * power that will do, else of their bits. If a narrow frame is given, which may be NULL, then with
 * its power if they are decimals by that, or of their bits if it can keep these.
 */
struct clr_frame clr_frame_find(const struct clr_frame *like, const int64_t *values, size_t count);

/* Widens the bounds by those of another frame. The power becomes the greater one. What is not
   decimals in one of them alone has no bounds any more. */
void clr_frame_join(struct clr_frame *frame, const struct clr_frame *other);

/* Returns the frame of fewest bytes, but at least so many, for values within the bounds of a frame.
 */
struct clr_frame clr_frame_choose(const struct clr_frame *bounds, uint8_t bytes);

/* Whether all values within the bounds of another frame can be kept in this one, which is narrow.
 */
bool clr_frame_has(const struct clr_frame *frame, const struct clr_frame *other);

/* Whether what is kept of a value is the same in both. */
static inline bool clr_frame_is_same(const struct clr_frame *a, const struct clr_frame *b)
{
    return a->bytes == b->bytes && a->least == b->least && a->power == b->power;
}

/* Returns the bits of the value that an integer stands for. The frame is narrow. */
static inline int64_t clr_frame_bits(const struct clr_frame *frame, int64_t integer)
{
    return frame->power == 0.0 ? integer : clr_decimal_bits(integer, frame->power);
}

/* Returns a value as it was, by its place. The frame is narrow. */
static inline int64_t clr_frame_value(const struct clr_frame *frame, const void *words,
                                      size_t place)
{
    const uint64_t word = frame->bytes == 1   ? ((const uint8_t *)words)[place]
                          : frame->bytes == 2 ? ((const uint16_t *)words)[place]
                                              : ((const uint32_t *)words)[place];

    return clr_frame_bits(frame, (int64_t)((uint64_t)frame->least + word));
}

/* Stores count values as they were, from the place `first` on. The frame is narrow. */
void clr_frame_widen(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                     int64_t *restrict values);

/* Stores the least and the greatest of the integers of count values, 1 at least. */
void clr_frame_range(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                     int64_t *least, int64_t *greatest);

/* Keeps count values, all of which the frame can have, from the place `first` on. It is narrow. */
void clr_frame_keep(const struct clr_frame *frame, const int64_t *restrict values, size_t count,
                    void *words, size_t first);

/* The same of values whose bits are kept, with the extremes as distances, in one instruction set.
 */
struct clr_frame_loops {
    void (*widen)(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                  int64_t *restrict values);
    void (*keep)(const struct clr_frame *frame, const int64_t *restrict values, size_t count,
                 void *words, size_t first);
    void (*add)(struct clr_frame *frame, const int64_t *values, size_t count);
    /* Returns the sum of the distances of count integers, 2^32 at most, from the frame's least. */
    uint64_t (*sum)(const struct clr_frame *frame, const void *words, size_t first, size_t count);
    void (*range)(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                  uint32_t *least, uint32_t *greatest);
};

/* Returns the best for this processor, or for tests the best but `skipped` ones; NULL if there are
   no more. */
const struct clr_frame_loops *clr_frame_choose_loops(int skipped);

#endif
