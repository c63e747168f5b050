# CLR_CHECK_OPENCL
# The OpenCL headers and the ICD loader, by pkg-config or, failing that, by looking for them; on macOS
# the framework. Sets OPENCL_CFLAGS and OPENCL_LIBS, and for clreduce.pc OPENCL_PC_REQUIRES or
# OPENCL_PC_LIBS.
AC_DEFUN([CLR_CHECK_OPENCL],
[OPENCL_PC_REQUIRES=
OPENCL_PC_LIBS=
AS_IF([test "$darwin" = yes],
  [OPENCL_LIBS='-framework OpenCL'
  OPENCL_PC_LIBS=$OPENCL_LIBS
  clr_opencl_header=OpenCL/opencl.h
  clr_opencl_from='the framework'],
  [clr_opencl_header=CL/cl.h
  PKG_CHECK_MODULES([OPENCL], [OpenCL],
    [OPENCL_PC_REQUIRES=OpenCL
    clr_opencl_from=pkg-config],
    [AC_CHECK_LIB([OpenCL], [clGetPlatformIDs], [],
      [AC_MSG_ERROR([libOpenCL, the OpenCL ICD loader, is needed (Debian: ocl-icd-opencl-dev)])])
    LIBS=
    OPENCL_LIBS=-lOpenCL
    OPENCL_PC_LIBS=$OPENCL_LIBS
    clr_opencl_from='-lOpenCL, without pkg-config'])])
clr_saved_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$OPENCL_CFLAGS $CPPFLAGS"
AC_CHECK_HEADER([$clr_opencl_header], [],
  [AC_MSG_ERROR([the OpenCL headers are needed (Debian: opencl-headers)])])
CPPFLAGS=$clr_saved_CPPFLAGS
AC_SUBST([OPENCL_PC_REQUIRES])
AC_SUBST([OPENCL_PC_LIBS])])
