/*
 * Included before all sources of the binaries: has these functions come from the C library. Zig's
 * own library, which is linked for the arithmetic of 128 bits, has functions of the same names,
 * which would come first; and the error of an exact product by its fma() of version 0.17.1 is not
 * 0.
 */
#if defined(__linux__)

#if defined(__x86_64__)
#define CLR_LIBC "GLIBC_2.2.5"
#define CLR_LIBC_MEMCPY "GLIBC_2.14"
#else
#define CLR_LIBC "GLIBC_2.17"
#define CLR_LIBC_MEMCPY CLR_LIBC
#endif

#define CLR_FROM_LIBC(name, version) __asm__(".symver " #name "," #name "@" version)

CLR_FROM_LIBC(bcmp, CLR_LIBC);
CLR_FROM_LIBC(ceil, CLR_LIBC);
CLR_FROM_LIBC(floor, CLR_LIBC);
CLR_FROM_LIBC(fma, CLR_LIBC);
CLR_FROM_LIBC(memcmp, CLR_LIBC);
CLR_FROM_LIBC(memcpy, CLR_LIBC_MEMCPY);
CLR_FROM_LIBC(memmove, CLR_LIBC);
CLR_FROM_LIBC(memset, CLR_LIBC);
CLR_FROM_LIBC(sqrt, CLR_LIBC);
CLR_FROM_LIBC(strlen, CLR_LIBC);
CLR_FROM_LIBC(trunc, CLR_LIBC);

#elif defined(_WIN32)

#include <math.h>

/* What the C library's DLL is called by; the compiler's own calls can't be led there. */
extern double (*const __imp_fma)(double, double, double);
#define fma(x, y, z) (*__imp_fma)(x, y, z)

#endif
