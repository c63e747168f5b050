/*
 * Values of 64 bits that are kept in 1, 2 or 4 bytes each, as their distances from the least one:
 * where all lie as close together, which INTEGERs often do. What the bits mean does not matter. It
 * is the frame of reference of Goldstein, Ramakrishnan and Shaft, "Compressing Relations and
 * Indexes" (ICDE 1998), with one frame for a column.
 */
#ifndef CLR_NUMERIC_NARROW_H
#define CLR_NUMERIC_NARROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How values are kept. Zeros: as they are. */
struct clr_frame {
    uint8_t bytes;       /* of each: 1, 2 or 4; 0: all 8 */
    int64_t least;       /* what is kept is a value minus this, if bytes is not 0 */
    int64_t known_least; /* bounds of the values */
    int64_t known_greatest;
};

/* The bounds of no values. */
#define CLR_FRAME_OF_NONE                                                                          \
    ((struct clr_frame){.known_least = INT64_MAX, .known_greatest = INT64_MIN})

/* Widens the bounds, and these alone, by those of count values; or by those of another frame. */
void clr_frame_add(struct clr_frame *frame, const int64_t *values, size_t count);
void clr_frame_join(struct clr_frame *frame, const struct clr_frame *other);

/* Returns the frame of fewest bytes, but at least so many, for values within the bounds of a frame.
 */
struct clr_frame clr_frame_choose(const struct clr_frame *bounds, uint8_t bytes);

/* Whether all values within the bounds of another frame can be kept in this one, which is narrow.
 */
bool clr_frame_has(const struct clr_frame *frame, const struct clr_frame *other);

/* Returns a value as it was, by its place. */
static inline int64_t clr_frame_value(const struct clr_frame *frame, const void *words,
                                      size_t place)
{
    const uint64_t least = (uint64_t)frame->least;

    switch (frame->bytes) {
    case 1:
        return (int64_t)(least + ((const uint8_t *)words)[place]);
    case 2:
        return (int64_t)(least + ((const uint16_t *)words)[place]);
    case 4:
        return (int64_t)(least + ((const uint32_t *)words)[place]);
    default:
        return ((const int64_t *)words)[place];
    }
}

/* Stores count values as they were, from the place `first` on. The frame is narrow. */
void clr_frame_widen(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                     int64_t *restrict values);

/* Returns the sum of the distances of count values, 2^32 at most, from the frame's least. */
uint64_t clr_frame_sum(const struct clr_frame *frame, const void *words, size_t first,
                       size_t count);

/* Stores the least and the greatest of count values, 1 at least. */
void clr_frame_range(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                     int64_t *least, int64_t *greatest);

/* Keeps count values, all of which the frame can have, from the place `first` on. It is narrow. */
void clr_frame_keep(const struct clr_frame *frame, const int64_t *restrict values, size_t count,
                    void *words, size_t first);

/* The same, with the extremes as distances, in one instruction set. */
struct clr_frame_loops {
    void (*widen)(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                  int64_t *restrict values);
    void (*keep)(const struct clr_frame *frame, const int64_t *restrict values, size_t count,
                 void *words, size_t first);
    void (*add)(struct clr_frame *frame, const int64_t *values, size_t count);
    uint64_t (*sum)(const struct clr_frame *frame, const void *words, size_t first, size_t count);
    void (*range)(const struct clr_frame *frame, const void *words, size_t first, size_t count,
                  uint32_t *least, uint32_t *greatest);
};

/* Returns the best for this processor, or for tests the best but `skipped` ones; NULL if there are
   no more. */
const struct clr_frame_loops *clr_frame_choose_loops(int skipped);

#endif
