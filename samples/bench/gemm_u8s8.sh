#!/bin/sh
# gemm_u8s8.sh [M=1024] [N=1024] [K=1024]: unsigned by signed bytes with 32-bit sums.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes M=1024 N=1024 K=1024 -- "$@"
compare gemm_u8s8 "${M}x${N}x$K" "M=$M N=$N K=$K" \
    gemm.py "M=$M N=$N K=$K dtype=u8s8"
table
