#include "numeric/scan/loops.h"

#include "base/processor.h"

#include "../../../kernels/arithmetic/reals.cl"
#include "../../../kernels/scan/values.cl"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The values in a cache line of the usual size, and the fetching of one into the second cache. */
enum { LINE = 8 };
#define FETCH(values) __builtin_prefetch(values, 0, 2)

/* Fetches 64 values. */
static inline void fetch_lines(const int64_t *values)
{
    size_t i;
    for (i = 0; i < 64; i += LINE)
        FETCH(values + i);
}

/* Bits from bytes, eight at a time: a byte of the word is 0 where the tag is the one asked for. The
   tags are small, so that no byte carries into the next one. */
static void select_tag(const uint8_t *tags, uint8_t tag, uint64_t *bits)
{
    const uint64_t ones = 0x0101010101010101;
    size_t i;
    unsigned j;

    for (i = 0; i < CLR_BLOCK; i += 64) {
        uint64_t word = 0;
        for (j = 0; j < 64; j += 8) {
            const uint8_t *t = tags + i + j;
            uint64_t eight = (uint64_t)t[0] | (uint64_t)t[1] << 8 | (uint64_t)t[2] << 16 |
                             (uint64_t)t[3] << 24 | (uint64_t)t[4] << 32 | (uint64_t)t[5] << 40 |
                             (uint64_t)t[6] << 48 | (uint64_t)t[7] << 56;
            eight = ~((eight ^ ones * tag) + 0x7f * ones) >> 7 & ones;
            word |= eight * 0x0102040810204080 >> 56 << j;
        }
        bits[i / 64] = word;
    }
}

/* Copies every value, and goes on to the next place after those that stay: no jumps to guess. */
static size_t portable_gather(const int64_t *restrict values, const uint64_t *restrict bits,
                              int64_t *restrict result, const int64_t *ahead)
{
    size_t count = 0, i;
    unsigned j;

    for (i = 0; i < CLR_BLOCK; i += 64) {
        uint64_t word = bits[i / 64];
        fetch_lines(ahead + i);
        if (word == UINT64_MAX) {
            memcpy(result + count, values + i, 64 * sizeof *values);
            count += 64;
            continue;
        }
        for (j = 0; word != 0; j++, word >>= 1) {
            result[count] = values[i + j];
            count += word & 1;
        }
    }
    return count;
}

#define VARIANT(name) portable_##name
#define TARGET
#define LANES 2
#define SIGNS(v) ((uint64_t)(v[0] & 1) | (uint64_t)(v[1] & 2))
#define WORD_SIGNS(v)                                                                              \
    ((uint64_t)(v[0] & 1) | (uint64_t)(v[1] & 2) | (uint64_t)(v[2] & 4) | (uint64_t)(v[3] & 8))
#define HALF_SIGNS(v)                                                                              \
    (WORD_SIGNS(v) | (uint64_t)(v[4] & 16) | (uint64_t)(v[5] & 32) | (uint64_t)(v[6] & 64) |       \
     (uint64_t)(v[7] & 128))
#define BYTE_SIGNS(v)                                                                              \
    (HALF_SIGNS(v) | (uint64_t)((v[8] & 1) | (v[9] & 2) | (v[10] & 4) | (v[11] & 8) |              \
                                (v[12] & 16) | (v[13] & 32) | (v[14] & 64) | (v[15] & 128))        \
                         << 8)
#define WIDEN_BYTES(p)                                                                             \
    {                                                                                              \
        (p)[0], (p)[1], (p)[2], (p)[3]                                                             \
    }
#define WIDEN_HALVES WIDEN_BYTES
#define WIDEN_WORDS WIDEN_BYTES
#define LOOK_UP_WORDS(p, v)                                                                        \
    {                                                                                              \
        (p)[(v)[0]], (p)[(v)[1]], (p)[(v)[2]], (p)[(v)[3]]                                         \
    }
#define SELECT_TRUE_BYTES SELECT_TRUE(uint8_t, WIDEN_BYTES)
#define GATHER portable_gather
#include "numeric/scan/loops.inc"

#if defined(__x86_64__)
#define TARGET_AVX2 __attribute__((target("avx2,popcnt")))

TARGET_AVX2 static size_t avx2_gather(const int64_t *restrict values, const uint64_t *restrict bits,
                                      int64_t *restrict result, const int64_t *ahead)
{
    /* For each set of 4 values: the halves, of 32 bits, of those that are in it. */
    static const uint8_t halves[16][8] = {{0},
                                          {0, 1},
                                          {2, 3},
                                          {0, 1, 2, 3},
                                          {4, 5},
                                          {0, 1, 4, 5},
                                          {2, 3, 4, 5},
                                          {0, 1, 2, 3, 4, 5},
                                          {6, 7},
                                          {0, 1, 6, 7},
                                          {2, 3, 6, 7},
                                          {0, 1, 2, 3, 6, 7},
                                          {4, 5, 6, 7},
                                          {0, 1, 4, 5, 6, 7},
                                          {2, 3, 4, 5, 6, 7},
                                          {0, 1, 2, 3, 4, 5, 6, 7}};
    size_t count = 0, i;

    for (i = 0; i < CLR_BLOCK; i += 64) {
        uint64_t word = bits[i / 64];
        const int64_t *next = values + i;
        fetch_lines(ahead + i);
        for (; word != 0; word >>= 4, next += 4) {
            __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)next);
            __m256i order = _mm256_cvtepu8_epi32(
                _mm_loadl_epi64((const __m128i *)(const void *)halves[word & 15]));
            _mm256_storeu_si256((__m256i *)(void *)(result + count),
                                _mm256_permutevar8x32_epi32(all, order));
            count += (size_t)__builtin_popcountll(word & 15);
        }
    }
    return count;
}

TARGET_AVX2 static inline uint32_t avx2_half_signs(__m256i v)
{
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1)));
}

/* Select_true() of codes of a byte: their truths are two halves of 16 bytes, and stay in registers.
   A code's upper five bits say which byte, and the other three which bit of it. */
TARGET_AVX2 static void avx2_select_bytes(const uint8_t *codes, const uint32_t *truths,
                                          uint64_t *bits)
{
    const __m128i *halves = (const __m128i *)(const void *)truths;
    const __m256i lower = _mm256_broadcastsi128_si256(_mm_loadu_si128(halves));
    const __m256i upper = _mm256_broadcastsi128_si256(_mm_loadu_si128(halves + 1));
    const __m256i ones = _mm256_set1_epi64x((int64_t)UINT64_C(0x8040201008040201));
    size_t i, k;

    for (i = 0; i < CLR_BLOCK; i += 64) {
        uint32_t found[2];

        FETCH(codes + CLR_BLOCK + i);
        for (k = 0; k < 2; k++) {
            const __m256i code =
                _mm256_loadu_si256((const __m256i *)(const void *)(codes + i + 32 * k));
            const __m256i bit =
                _mm256_shuffle_epi8(ones, _mm256_and_si256(code, _mm256_set1_epi8(7)));
            const __m256i place =
                _mm256_and_si256(_mm256_srli_epi16(code, 3), _mm256_set1_epi8(31));
            const __m256i truth =
                _mm256_blendv_epi8(_mm256_shuffle_epi8(lower, place),
                                   _mm256_shuffle_epi8(upper, place), _mm256_slli_epi16(place, 3));

            found[k] = (uint32_t)_mm256_movemask_epi8(
                _mm256_cmpeq_epi8(_mm256_and_si256(truth, bit), bit));
        }
        bits[i / 64] = (uint64_t)found[1] << 32 | found[0];
    }
}

#define VARIANT(name) avx2_##name
#define TARGET TARGET_AVX2
#define LANES 4
#define SIGNS(v) (uint64_t) _mm256_movemask_pd((__m256d)(v))
#define WORD_SIGNS(v) (uint8_t) _mm256_movemask_ps((__m256)(v))
#define HALF_SIGNS(v) avx2_half_signs((__m256i)(v))
#define BYTE_SIGNS(v) (uint32_t) _mm256_movemask_epi8((__m256i)(v))
#define WIDEN_BYTES(p) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#define WIDEN_HALVES(p) _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define WIDEN_WORDS(p) _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define LOOK_UP_WORDS(p, v) _mm256_i32gather_epi32((const int *)(p), (__m256i)(v), 4)
#define SELECT_TRUE_BYTES avx2_select_bytes(codes, truths, bits)
#define GATHER avx2_gather
#include "numeric/scan/loops.inc"

#define TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,popcnt")))

TARGET_AVX512 static size_t avx512_gather(const int64_t *restrict values,
                                          const uint64_t *restrict bits, int64_t *restrict result,
                                          const int64_t *ahead)
{
    size_t count = 0, i;

    for (i = 0; i < CLR_BLOCK; i += 64) {
        uint64_t word = bits[i / 64];
        const int64_t *next = values + i;
        for (; word != 0; word >>= 8, next += 8) {
            __m512i all = _mm512_loadu_si512(next);
            FETCH(ahead + (next - values));
            _mm512_storeu_si512(result + count, _mm512_maskz_compress_epi64((__mmask8)word, all));
            count += (size_t)__builtin_popcountll(word & 0xff);
        }
    }
    return count;
}

/* Without optimization gcc makes a macro of its function, and warns of its mask. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
TARGET_AVX512 static inline __m512i avx512_look_up_words(const uint32_t *words, __m512i places)
{
    return _mm512_i32gather_epi32(places, words, 4);
}
#pragma GCC diagnostic pop

#define VARIANT(name) avx512_##name
#define TARGET TARGET_AVX512
#define LANES 8
#define SIGNS(v) (uint64_t) _mm512_movepi64_mask((__m512i)(v))
#define WORD_SIGNS(v) _mm512_movepi32_mask((__m512i)(v))
#define HALF_SIGNS(v) _mm512_movepi16_mask((__m512i)(v))
#define BYTE_SIGNS(v) _mm512_movepi8_mask((__m512i)(v))
#define WIDEN_BYTES(p) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define WIDEN_HALVES(p)                                                                            \
    _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define WIDEN_WORDS(p) _mm512_loadu_si512(p)
#define LOOK_UP_WORDS(p, v) avx512_look_up_words(p, (__m512i)(v))
#define SELECT_TRUE_BYTES avx2_select_bytes(codes, truths, bits)
#define GATHER avx512_gather
#include "numeric/scan/loops.inc"
#endif

const struct clr_loops *clr_loops_choose(int skipped)
{
    CLR_CHOOSE_LOOPS(struct clr_loops, skipped);
}
