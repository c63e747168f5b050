# CLR_SANITIZERS
# The --enable-asan, --enable-ubsan and --enable-tsan options. Sets CLR_SANITIZER_FLAGS, for compiling
# and linking, and CLR_PRELOAD, the run-time library that a program which was built without the
# sanitizer (sqlite3, python3) has to start with before it can load the instrumented extension.
AC_DEFUN([CLR_SANITIZERS],
[AC_ARG_ENABLE([asan], [AS_HELP_STRING([--enable-asan], [build with the address sanitizer])])
AC_ARG_ENABLE([ubsan],
  [AS_HELP_STRING([--enable-ubsan], [build with the undefined behaviour sanitizer])])
AC_ARG_ENABLE([tsan], [AS_HELP_STRING([--enable-tsan], [build with the thread sanitizer])])
AS_IF([test "x$enable_asan" = xyes && test "x$enable_tsan" = xyes],
  [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])

clr_sanitizers=
CLR_SANITIZER_FLAGS=
CLR_SANITIZER_LDFLAGS=
CLR_PRELOAD=
# Clang puts the run-time library into the program; a module needs it beside.
AS_IF([test "x$enable_asan$enable_ubsan$enable_tsan" != x],
  [CLR_COMPILER_FLAG([-shared-libsan], [CLR_SANITIZER_FLAGS])])
AS_IF([test "x$enable_asan" = xyes], [CLR_ADD_SANITIZER([address], [asan], [asan])])
AS_IF([test "x$enable_tsan" = xyes], [CLR_ADD_SANITIZER([thread], [tsan], [tsan])])
AS_IF([test "x$enable_ubsan" = xyes],
  [CLR_ADD_SANITIZER([undefined], [ubsan], [ubsan_standalone])
  AS_VAR_APPEND([CLR_SANITIZER_FLAGS], [" -fno-sanitize-recover=undefined"])])
AS_IF([test -n "$clr_sanitizers"],
  [AS_VAR_APPEND([CLR_SANITIZER_FLAGS], [" -fno-omit-frame-pointer"])])
AC_SUBST([CLR_SANITIZER_FLAGS])
AC_SUBST([CLR_SANITIZER_LDFLAGS])
AC_SUBST([CLR_PRELOAD])])

# CLR_ADD_SANITIZER(NAME, GCC'S LIBRARY, CLANG'S LIBRARY)
AC_DEFUN([CLR_ADD_SANITIZER],
[AC_MSG_CHECKING([for the $1 sanitizer])
clr_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS $CLR_SANITIZER_FLAGS -fsanitize=$1"
AC_LINK_IFELSE([AC_LANG_PROGRAM()], [], [AC_MSG_ERROR([$CC cannot link with -fsanitize=$1])])
CFLAGS=$clr_saved_CFLAGS
AS_VAR_APPEND([CLR_SANITIZER_FLAGS], [" -fsanitize=$1"])
AS_VAR_APPEND([clr_sanitizers], ["${clr_sanitizers:+, }$1"])
# The first one's library serves all. A compiler gives the bare name back for a file it does not have;
# Clang also finds GCC's libraries, and its own ones are not where programs look for libraries.
AS_IF([test -z "$CLR_PRELOAD"],
  [for clr_name in libclang_rt.$3-$host_cpu.so libclang_rt.$3.so lib$2.so; do
    clr_path=`$CC -print-file-name=$clr_name`
    AS_CASE([$clr_path],
      [*/libclang_rt*], [CLR_SANITIZER_LDFLAGS="-Wl,-rpath,${clr_path%/*}"])
    AS_CASE([$clr_path], [/*], [CLR_PRELOAD=$clr_path; break])
  done])
AC_MSG_RESULT([yes])])

# CLR_FUZZING
# The --enable-fuzzing option, for which the compiler has to bring libFuzzer. Sets the condition FUZZING.
AC_DEFUN([CLR_FUZZING],
[AC_ARG_ENABLE([fuzzing],
  [AS_HELP_STRING([--enable-fuzzing], [have make fuzz run the fuzzers; needs CC=clang])])
AS_IF([test "x$enable_fuzzing" = xyes],
  [AC_MSG_CHECKING([for libFuzzer])
  clr_saved_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -fsanitize=fuzzer,address,undefined"
  AC_LINK_IFELSE([AC_LANG_SOURCE(
    [[#include <stddef.h>
    int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
    int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) { return !data && size; }]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
    AC_MSG_ERROR([--enable-fuzzing needs a compiler with libFuzzer: try CC=clang])])
  CFLAGS=$clr_saved_CFLAGS])
AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" = xyes])])
