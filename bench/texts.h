/* The texts of bench/plain/ and bench/ladder/, made at build time by build-aux/embed-kernels.sh. */
#ifndef CLR_BENCH_TEXTS_H
#define CLR_BENCH_TEXTS_H

extern const char clr_kernel_plain_sum[];

extern const char clr_kernel_ladder[];
extern const char clr_kernel_interleaved_divergent[];
extern const char clr_kernel_interleaved_strided[];
extern const char clr_kernel_sequential[];
extern const char clr_kernel_first_add[];
extern const char clr_kernel_last_warp[];
extern const char clr_kernel_unrolled[];
extern const char clr_kernel_cascading[];
extern const char clr_kernel_row_wise[];
extern const char clr_kernel_cascading_dot[];
extern const char clr_kernel_row_wise_dot[];

#endif
