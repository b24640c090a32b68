#!/bin/sh
# gemm_f32.sh [M=1024] [N=1024] [K=1024]: a matrix product in f32.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes M=1024 N=1024 K=1024 -- "$@"
compare gemm_f32 "${M}x${N}x$K" "M=$M N=$N K=$K" gemm.py "M=$M N=$N K=$K dtype=f32"
table
