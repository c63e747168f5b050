/* Which vector instructions the processor has, by which loops are chosen. */
#ifndef CLR_BASE_PROCESSOR_H
#define CLR_BASE_PROCESSOR_H

/* Each has those before it as well. AVX2: with FMA and POPCNT; AVX-512: F, DQ, BW and VL. */
enum clr_vectors { CLR_VECTORS_PORTABLE, CLR_VECTORS_AVX2, CLR_VECTORS_AVX512 };

/*
 * Returns the widest that the processor has and the system saves. It asks the processor itself
 * (Intel's Software Developer's Manual, volume 1, 14.3 and 15.2): __builtin_cpu_supports() depends
 * on a library of the compiler's, and that of Zig 0.17 says no to everything.
 */
enum clr_vectors clr_processor_vectors(void);

/* Whether the portable loops may multiply and add with one rounding by one instruction. */
#if defined(__aarch64__)
#define CLR_PORTABLE_FUSED true
#else
#define CLR_PORTABLE_FUSED false
#endif

/*
 * The whole of a function that chooses the best of portable_loops, avx2_loops and avx512_loops, of
 * that type, for this processor, or for tests the best but `skipped` ones: returns its address, or
 * NULL if there are no more. Only x86-64 has the others than portable_loops.
 */
#if defined(__x86_64__)
#define CLR_ALL_LOOPS &portable_loops, &avx2_loops, &avx512_loops
#else
#define CLR_ALL_LOOPS &portable_loops
#endif
#define CLR_CHOOSE_LOOPS(type, skipped)                                                            \
    static const type *const by_vectors[] = {CLR_ALL_LOOPS};                                       \
    const int vectors = (int)clr_processor_vectors() - (skipped);                                  \
                                                                                                   \
    return vectors < 0 ? NULL : by_vectors[vectors]

#endif
