/*
 * Loops over one block of values, in the widest instructions that the processor has. All of them do
 * a whole block, whose length the compiler knows: what is short is padded.
 *
 * The operators, the gathering and others take `ahead` as well, a block of values that is fetched
 * into the second cache in passing. Without that, memory would be idle while a loop goes over
 * values that are in the first one. See clr_block_ahead().
 */
#ifndef CLR_NUMERIC_LOOPS_H
#define CLR_NUMERIC_LOOPS_H

#include "numeric/scan/scan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values that an instruction of a scan has for the rows of a block. */

#define CLR_TYPE(tag) (1u << (tag))
#define CLR_UNKNOWN_TYPES (CLR_TYPE(CLR_TAG_BYTES) | CLR_TYPE(CLR_TAG_UNSURE))

/* The values of an instruction. types has CLR_TYPE(tag) for each type there is; a type that is
   missing in it has no row. */
struct clr_register {
    unsigned types;
    const int64_t *values; /* anything where the row is NULL, BYTES or UNSURE; NULL: they are those
                              of a narrow column, and have not been asked for */
    const uint8_t *tags;
    int64_t *own_values; /* room for values that are not a column's */
    uint8_t *own_tags;
    const int64_t *reals; /* of a constant INTEGER that a double can have: it as REALs; else NULL */
};

enum { CLR_BLOCK = 1024, CLR_BLOCK_WORDS = CLR_BLOCK / 64 };

/*
 * Stores a op b, of values that all have the type of the loop; of one operand b is not looked at.
 * Returns false, with the result undefined, where a result may be NULL or of another type.
 */
typedef bool clr_loop(const int64_t *restrict a, const int64_t *restrict b,
                      int64_t *restrict result, const int64_t *ahead);

struct clr_loops {
    clr_loop *integers[CLR_OPCODES], *reals[CLR_OPCODES]; /* NULL: there is none */

    /* Converts INTEGERs to REALs. Returns whether they all kept their values. */
    bool (*to_reals)(const int64_t *restrict integers, int64_t *restrict reals);

    /* result is a where the condition is not 0, else b: of values, and of tags. */
    void (*choose)(const int64_t *restrict condition, const int64_t *restrict a,
                   const int64_t *restrict b, int64_t *restrict result);
    void (*choose_tags)(const int64_t *restrict condition, const uint8_t *restrict a,
                        const uint8_t *restrict b, uint8_t *restrict result);

    /* Tags of results that are NULL where an operand is, and else have the one tag. */
    void (*spread_nulls)(const uint8_t *restrict a, const uint8_t *restrict b, uint8_t tag,
                         uint8_t *restrict result);

    /* result is whether the tag is that of NULL, as INTEGERs. */
    void (*are_null)(const uint8_t *restrict tags, int64_t *restrict result);

    /* Returns the tags there are, as a mask of bits 1 << tag. */
    unsigned (*find_tags)(const uint8_t *tags);

    /* A bit for each value: whether one of the mask's bits is set in it. */
    void (*select)(const int64_t *values, int64_t mask, uint64_t *bits);

    /* Likewise: whether a value is from least to greatest, which are bits too. */
    void (*within_integers)(const int64_t *values, int64_t least, int64_t greatest, uint64_t *bits,
                            const int64_t *ahead);
    void (*within_reals)(const int64_t *values, int64_t least, int64_t greatest, uint64_t *bits,
                         const int64_t *ahead);

    /* Likewise: whether a word, of 1, 2 or 4 bytes, is from least to least + more, which is one of
       that size, too. */
    void (*within_words)(const void *words, int bytes, uint32_t least, uint32_t more,
                         uint64_t *bits);

    /* Likewise: whether a word, of 1, 2 or 4 bytes, differs from the next one. The last of the
       block has a next one, too. Returns whether so many at most do; if not, it ends early, and
       what is stored is undefined. */
    bool (*find_ends)(const void *words, int bytes, size_t most, uint64_t *bits);

    /* Likewise: whether the bit of the truths (struct clr_lookup) that a code of 1, 2 or 4 bytes
       says is set. Those of CLR_LEAST_TRUTHS codes can be read. */
    void (*select_true)(const void *codes, int code_bytes, const uint32_t *truths, uint64_t *bits);

    /* Stores each code, of 1, 2 or 4 bytes, as a word. */
    void (*widen)(const void *codes, int code_bytes, uint32_t *result);

    /* A bit for each value: whether the tag is this one. */
    void (*select_tag)(const uint8_t *tags, uint8_t tag, uint64_t *bits);

    /* The bits as INTEGERs; and as tags: INTEGER where they are set, else NULL. */
    void (*spread_bits)(const uint64_t *restrict bits, int64_t *restrict result);
    void (*spread_bits_to_tags)(const uint64_t *restrict bits, uint8_t *restrict result);

    /* Stores the value of each code, of 1, 2 or 4 bytes; and its tag, or whatever is a byte. */
    void (*look_up)(const void *restrict codes, int code_bytes, const int64_t *restrict values,
                    int64_t *restrict result);
    void (*look_up_tags)(const void *restrict codes, int code_bytes, const uint8_t *restrict tags,
                         uint8_t *restrict result);

    /* Returns how many bits are set. */
    size_t (*count)(const uint64_t *bits);

    /* Copies the values whose bits are set, close together, and returns how many they are. There
       must be room for a block. */
    size_t (*gather)(const int64_t *restrict values, const uint64_t *restrict bits,
                     int64_t *restrict result, const int64_t *ahead);
};

/* Returns the best loops for this processor, or for tests the best but `skipped` ones; NULL if
   there are no more. */
const struct clr_loops *clr_loops_choose(int skipped);

#endif
