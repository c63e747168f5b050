# CLR_CHECK_SQLITE
# SQLite's headers, which the extension is built with, and its library, which only the tests and the
# example link: a loaded extension uses the SQLite that loaded it. Sets for clreduce.pc
# SQLITE_PC_REQUIRES, if pkg-config knows SQLite.
AC_DEFUN([CLR_CHECK_SQLITE],
[SQLITE_PC_REQUIRES=
PKG_CHECK_MODULES([SQLITE], [sqlite3],
  [clr_have_sqlite=yes
  SQLITE_PC_REQUIRES='sqlite3 >= 3.34'
  clr_sqlite_from=pkg-config],
  [AC_CHECK_LIB([sqlite3], [sqlite3_create_window_function],
    [clr_have_sqlite=yes
    SQLITE_LIBS=-lsqlite3
    clr_sqlite_from='-lsqlite3, without pkg-config'],
    [clr_have_sqlite=no
    clr_sqlite_from='headers alone: no C tests, no example'])
  LIBS=])
clr_saved_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$SQLITE_CFLAGS $CPPFLAGS"
AC_CHECK_HEADER([sqlite3ext.h], [],
  [AC_MSG_ERROR([sqlite3.h and sqlite3ext.h are needed (Debian: libsqlite3-dev)])])
AC_CACHE_CHECK([whether SQLite is 3.34 or newer], [clr_cv_sqlite_version],
  [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <sqlite3.h>
#if SQLITE_VERSION_NUMBER < 3034000
#error too old
#endif
int clr_probe;
]])], [clr_cv_sqlite_version=yes], [clr_cv_sqlite_version=no])])
CPPFLAGS=$clr_saved_CPPFLAGS
AS_IF([test "$clr_cv_sqlite_version" = no], [AC_MSG_ERROR([SQLite 3.34 or newer is needed, which sqlite3_txn_state() came with])])
AC_SUBST([SQLITE_PC_REQUIRES])
AM_CONDITIONAL([HAVE_SQLITE_LIBRARY], [test "$clr_have_sqlite" = yes])])

# CLR_PROG_SQLITE3
# A sqlite3 shell that can load extensions; empty if there is none.
AC_DEFUN([CLR_PROG_SQLITE3],
[AC_ARG_VAR([SQLITE3], [the sqlite3 shell, one that has .load])
AC_CACHE_CHECK([for a sqlite3 shell that loads extensions], [ac_cv_path_SQLITE3],
  [AC_PATH_PROGS_FEATURE_CHECK([SQLITE3], [sqlite3],
    [AS_IF([$ac_path_SQLITE3 -init /dev/null -batch :memory: '.help load' 2>/dev/null </dev/null |
        grep '^\.load' >/dev/null],
      [ac_cv_path_SQLITE3=$ac_path_SQLITE3
      ac_path_SQLITE3_found=:])],
    [ac_cv_path_SQLITE3=no])])
AS_CASE([$ac_cv_path_SQLITE3], [no], [SQLITE3=], [SQLITE3=$ac_cv_path_SQLITE3])
AC_SUBST([SQLITE3])])

# CLR_PROG_PYTHON
# A python3 whose sqlite3 module can load extensions; many are built without that, so all python3 of
# the path are tried, and then those of the system. Empty if there is none.
AC_DEFUN([CLR_PROG_PYTHON],
[AC_ARG_VAR([PYTHON], [a python3 whose sqlite3 module can load extensions])
AC_CACHE_CHECK([for a python3 that loads SQLite extensions], [ac_cv_path_PYTHON],
  [AC_PATH_PROGS_FEATURE_CHECK([PYTHON], [python3],
    [AS_IF([$ac_path_PYTHON -c 'import sqlite3, sys
assert sys.version_info >= (3, 7)
sqlite3.connect(":memory:").enable_load_extension(True)' >/dev/null 2>&1 </dev/null],
      [ac_cv_path_PYTHON=$ac_path_PYTHON
      ac_path_PYTHON_found=:])],
    [ac_cv_path_PYTHON=no],
    [$PATH$PATH_SEPARATOR/usr/bin$PATH_SEPARATOR/usr/local/bin$PATH_SEPARATOR/opt/homebrew/bin])])
AS_CASE([$ac_cv_path_PYTHON], [no], [PYTHON=], [PYTHON=$ac_cv_path_PYTHON])
AC_SUBST([PYTHON])])
