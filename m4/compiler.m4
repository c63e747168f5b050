# What is asked of the compiler and the linker.

# CLR_COMPILER_FLAG(FLAG, VARIABLE, [IF-REFUSED])
# Adds the flag to the variable if the compiler takes it without a word.
AC_DEFUN([CLR_COMPILER_FLAG],
[AS_VAR_PUSHDEF([cache], [clr_cv_cflag_$1])dnl
AC_CACHE_CHECK([whether $CC accepts $1], [cache],
  [clr_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([int clr_probe(void); int clr_probe(void) { return 0; }])],
    [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
  CFLAGS=$clr_saved_CFLAGS])
AS_VAR_IF([cache], [yes], [AS_VAR_APPEND([$2], [" $1"])], [m4_default([$3], [:])])
AS_VAR_POPDEF([cache])])

# CLR_LINKER_FLAG(FLAG, VARIABLE)
# Adds the flag to the variable if a program links with it.
AC_DEFUN([CLR_LINKER_FLAG],
[AS_VAR_PUSHDEF([cache], [clr_cv_ldflag_$1])dnl
AC_CACHE_CHECK([whether $CC links with $1], [cache],
  [clr_saved_LDFLAGS=$LDFLAGS
  LDFLAGS="$LDFLAGS $1"
  AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
  LDFLAGS=$clr_saved_LDFLAGS])
AS_VAR_IF([cache], [yes], [AS_VAR_APPEND([$2], [" $1"])])
AS_VAR_POPDEF([cache])])

# CLR_CHECK_IEEE_ARITHMETIC
# Refuses compilers and user's flags under which a double is not an IEEE double: error-free
# transformations of floating-point operations, and so every exact sum, would silently be wrong.
AC_DEFUN([CLR_CHECK_IEEE_ARITHMETIC],
[AC_CACHE_CHECK([whether doubles are evaluated as IEEE 754 says], [clr_cv_ieee_arithmetic],
  [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <float.h>
/* 16: _Float16 has operations of its own (ISO/IEC TS 18661-3), as with AVX512-FP16. */
#if defined __FAST_MATH__ || DBL_MANT_DIG != 53 || \
    (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1 && FLT_EVAL_METHOD != 16)
#error not IEEE doubles
#endif
int clr_probe;
]])], [clr_cv_ieee_arithmetic=yes], [clr_cv_ieee_arithmetic=no])])
AS_IF([test "$clr_cv_ieee_arithmetic" = no],
  [AC_MSG_ERROR([exact sums need IEEE doubles: no -ffast-math or -Ofast in CFLAGS ($CFLAGS)])])])
