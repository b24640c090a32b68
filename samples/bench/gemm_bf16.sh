#!/bin/sh
# gemm_bf16.sh [M=1024] [N=1024] [K=1024]: a product of bf16 matrices with f32 sums.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes M=1024 N=1024 K=1024 -- "$@"
compare gemm_bf16 "${M}x${N}x$K" "M=$M N=$N K=$K" \
    gemm.py "M=$M N=$N K=$K dtype=bf16"
table
