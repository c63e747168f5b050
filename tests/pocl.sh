#!/bin/sh
# Makes a folder beside which PoCL 3.1 finds a short opencl-c.h, for quick runs of the tests: of its 15,000 declarations those that
# kernels need. PoCL reads that header for each program twice, and once for one that it has compiled before. Of the library of built-in
# functions for this processor it finds there what kernels call: each process that compiles one reads all of it, which takes a second.
# Other versions, and other drivers, stay as they are.
#
#     PYTHON=PROGRAM pocl.sh FOLDER KERNEL...
set -eu

folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder"
for library in /usr/lib/*/libpocl.so.2.10.0; do
    from=$(dirname "$library")
    pocl=$from/../../share/pocl
    test -f "$pocl/include/opencl-c.h" -a -d "$from/pocl" || continue
    mkdir -p "$folder/lib/pocl" "$folder/share/pocl/include" "$folder/vendors"
    ln -s "$library" "$from/pocl" "$folder/lib/pocl"
    ln -s "$pocl"/*.bc "$folder/share/pocl"
    names=$(sed 's|//.*||' "$@" | grep -oE '[a-z_0-9]+\(' | sort -u | tr -d '(')
    all=$pocl/kernel-x86_64-pc-linux-gnu-$(grep -owE 'avx2|avx512f' /proc/cpuinfo | sort -u | tail -n 1 | tr -d f).bc
    # shellcheck disable=SC2086  # A list of words.
    if test -f "$all" && "${PYTHON:-false}" "$(dirname "$0")/pocl.py" "$library" "$all" "$folder/short.bc" $names; then
        mv -f "$folder/short.bc" "$folder/share/pocl/$(basename "$all")"
    fi
    ln -s "$pocl"/include/* "$folder/share/pocl/include"
    rm "$folder/share/pocl/include/opencl-c.h"
    {
        printf '#ifndef _OPENCL_H_\n#define _OPENCL_H_\n#include "opencl-c-base.h"\n'
        grep -E '^#define __(ovld|conv|purefn|cnfn) ' "$pocl/include/opencl-c.h"
        grep -E "^[a-z0-9_]+ __ovld [^(]*\b($(echo "$names" | paste -s -d '|' -))\(" "$pocl/include/opencl-c.h" | grep -vE 'half|image|atomic_(int|uint|long|ulong)'
        echo '#endif'
    } >"$folder/share/pocl/include/opencl-c.h"
    for vendor in /etc/OpenCL/vendors/*.icd; do
        grep -q pocl "$vendor" || ln -s "$vendor" "$folder/vendors"
    done
    echo "$folder/lib/pocl/$(basename "$library")" >"$folder/vendors/pocl.icd"
done
