/* The processor's vector instructions, as the compiler's library knows them too. */
#include "base/processor.h"

#include "tap.h"

int main(void)
{
    enum clr_vectors want = CLR_VECTORS_PORTABLE;

#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("popcnt"))
        want = CLR_VECTORS_AVX2;
    if (want == CLR_VECTORS_AVX2 && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        want = CLR_VECTORS_AVX512;
#endif
    tap_is_int64(clr_processor_vectors(), want, "the widest vectors");
    tap_is_int64(clr_processor_vectors(), want, "and again");
    return tap_done();
}
