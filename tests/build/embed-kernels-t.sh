#!/bin/sh
# build-aux/embed-kernels.sh: the library's copy of a kernel has the bytes of its file.
. "${CLREDUCE_SRCDIR:-.}/tests/tap.sh"

embed_kernels=${CLREDUCE_SRCDIR:-.}/build-aux/embed-kernels.sh
mkdir -p "$tap_tmp/opencl/core"
cat >"$tap_tmp/opencl/core/kernels.h" <<'END'
extern const char clr_kernel_odd[];
extern const char clr_kernel_empty[];
extern const char clr_kernel_big[];
END
cat >"$tap_tmp/print.c" <<'END'
#include "opencl/core/kernels.h"
#include <stdio.h>
int main(int argc, char **argv)
{
    const char *kernels[] = {clr_kernel_odd, clr_kernel_empty, clr_kernel_big};
    (void)argc;
    fputs(kernels[argv[1][0] - '0'], stdout);
    return 0;
}
END

# Everything that has a meaning in C or in the tools on the way, and no line end at the end.
printf '"\\n\047%%s??/\t\r\n/* \303\251 */\\\nend' >"$tap_tmp/odd.cl"
: >"$tap_tmp/empty.cl"
awk 'BEGIN { for (i = 0; i < 20000; i++) print "/* line", i, "*/" }' >"$tap_tmp/big.cl"

sh "$embed_kernels" "$tap_tmp/odd.cl" "$tap_tmp/empty.cl" "$tap_tmp/big.cl" >"$tap_tmp/kernels.c"
tap_ok $? 'the files are embedded'
sh "$embed_kernels" "$tap_tmp/odd.cl" "$tap_tmp/empty.cl" "$tap_tmp/big.cl" |
    cmp -s - "$tap_tmp/kernels.c"
tap_ok $? 'and in the same way each time'

${CC:-cc} -I "$tap_tmp" "$tap_tmp/kernels.c" "$tap_tmp/print.c" -o "$tap_tmp/print"
tap_ok $? 'the result is a C source'
number=0
for name in odd empty big; do
    "$tap_tmp/print" "$number" | cmp -s - "$tap_tmp/$name.cl"
    tap_ok $? "the text of $name.cl is unchanged"
    number=$((number + 1))
done

sh "$embed_kernels" "$tap_tmp/missing.cl" >/dev/null 2>&1
test $? -ne 0
tap_ok $? 'a missing file is an error'
tap_done
