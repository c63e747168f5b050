#include "base/processor.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdatomic.h>

/* Bits of CPUID: leaf 1, ECX; leaf 7, EBX; and of XCR0, the states that the system saves. */
enum {
    LEAF_1_AVX2 = 1 << 12 | 1 << 23 | 1 << 27, /* FMA, POPCNT, OSXSAVE */
    LEAF_7_AVX2 = 1 << 5,
    SAVED_AVX2 = 0x06,  /* XMM, YMM */
    SAVED_AVX512 = 0xe6 /* and masks, ZMM */
};
#define LEAF_7_AVX512 (LEAF_7_AVX2 | 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31) /* F DQ BW VL */

static enum clr_vectors ask(void)
{
    unsigned eax, ebx, ecx, edx, leaf_1, leaf_7, saved;

    if (!__get_cpuid(1, &eax, &ebx, &leaf_1, &edx) || (leaf_1 & LEAF_1_AVX2) != LEAF_1_AVX2 ||
        !__get_cpuid_count(7, 0, &eax, &leaf_7, &ecx, &edx))
        return CLR_VECTORS_PORTABLE;
    __asm__("xgetbv" : "=a"(saved), "=d"(edx) : "c"(0));
    if ((leaf_7 & LEAF_7_AVX512) == LEAF_7_AVX512 && (saved & SAVED_AVX512) == SAVED_AVX512)
        return CLR_VECTORS_AVX512;
    if ((leaf_7 & LEAF_7_AVX2) == LEAF_7_AVX2 && (saved & SAVED_AVX2) == SAVED_AVX2)
        return CLR_VECTORS_AVX2;
    return CLR_VECTORS_PORTABLE;
}

/* Once: a virtual machine's processor may take microseconds to answer. */
enum clr_vectors clr_processor_vectors(void)
{
    static atomic_int known = -1;
    int vectors = atomic_load_explicit(&known, memory_order_relaxed);

    if (vectors < 0) {
        vectors = (int)ask();
        atomic_store_explicit(&known, vectors, memory_order_relaxed);
    }
    return (enum clr_vectors)vectors;
}

#else

enum clr_vectors clr_processor_vectors(void)
{
    return CLR_VECTORS_PORTABLE;
}

#endif
