#!/bin/sh
# Turns OpenCL C files into one C source, which holds the text of each as the array of characters that
# opencl/core/kernels.h declares: kernels/reduction/sum.cl becomes clr_kernel_sum, and ends with a NUL.
#
#     embed-kernels.sh FILE.cl... >kernels_embedded.c
#
# Characters and not a string literal: those have a greatest length in C.
set -eu
LC_ALL=C
export LC_ALL

echo '/* Made by build-aux/embed-kernels.sh; the sources are in kernels/. */'
echo '#include "opencl/core/kernels.h"'
for file in "$@"; do
    name=$(basename "$file" .cl)
    test -r "$file" || {
        echo "$0: cannot read $file" >&2
        exit 1
    }
    printf '\nconst char clr_kernel_%s[] = {\n' "$name"
    od -An -v -t o1 "$file" | sed "s/ *\([0-7][0-7][0-7]\)/'\\\\\1',/g; s/ *\$//"
    printf '%s\n' "'\\0'};"
done
