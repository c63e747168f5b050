# CLR_CHECK_OPENCL
# The OpenCL headers, and the ICD loader, which one of the tests links and the extension looks for at run
# time, by pkg-config or, failing that, by looking for them; on macOS the framework. Sets OPENCL_CFLAGS
# and OPENCL_LIBS.
AC_DEFUN([CLR_CHECK_OPENCL],
[AS_IF([test $clr_system = darwin],
  [clr_opencl_header=OpenCL/opencl.h
  clr_opencl_from='the framework'],
  [clr_opencl_header=CL/cl.h
  PKG_CHECK_MODULES([OPENCL], [OpenCL],
    [clr_opencl_from=pkg-config],
    [AC_CHECK_LIB([OpenCL], [clGetPlatformIDs], [],
      [AC_MSG_ERROR([libOpenCL, the OpenCL ICD loader, is needed (Debian: ocl-icd-opencl-dev)])])
    LIBS=
    OPENCL_LIBS=-lOpenCL
    clr_opencl_from='-lOpenCL, without pkg-config'])])
clr_saved_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$OPENCL_CFLAGS $CPPFLAGS"
AC_CHECK_HEADER([$clr_opencl_header], [],
  [AC_MSG_ERROR([the OpenCL headers are needed (Debian: opencl-headers)])])
CPPFLAGS=$clr_saved_CPPFLAGS])
