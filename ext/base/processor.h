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

/* The addresses of what there is for each of them, in their order. The names of those that only
   x86-64 has are not looked at elsewhere. */
#if defined(__x86_64__)
#define CLR_BY_VECTORS(portable, avx2, avx512)                                                     \
    {                                                                                              \
        &(portable), &(avx2), &(avx512)                                                            \
    }
#else
#define CLR_BY_VECTORS(portable, avx2, avx512)                                                     \
    {                                                                                              \
        &(portable)                                                                                \
    }
#endif

#endif
