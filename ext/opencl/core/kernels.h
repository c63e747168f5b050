/*
 * The files of kernels/, as text. The definitions are made at build time by
 * build-aux/embed-kernels.sh.
 */
#ifndef CLR_OPENCL_KERNELS_H
#define CLR_OPENCL_KERNELS_H

extern const char clr_kernel_atomics[];
extern const char clr_kernel_accumulator[];
extern const char clr_kernel_exact[];
extern const char clr_kernel_window[];
extern const char clr_kernel_integer[];
extern const char clr_kernel_sum[];
extern const char clr_kernel_dot[];
extern const char clr_kernel_extremes[];
extern const char clr_kernel_group[];
extern const char clr_kernel_reduce[];
extern const char clr_kernel_reals[];
extern const char clr_kernel_values[];
extern const char clr_kernel_values_logic[];
extern const char clr_kernel_kinds[];
extern const char clr_kernel_counts[];
extern const char clr_kernel_row[];
extern const char clr_kernel_filter[];
extern const char clr_kernel_narrow[];
extern const char clr_kernel_scan[];
extern const char clr_kernel_digits[];
extern const char clr_kernel_grouping[];
extern const char clr_kernel_group_rows[];
extern const char clr_kernel_group_records[];
extern const char clr_kernel_loads[];
extern const char clr_kernel_histogram[];

#endif
