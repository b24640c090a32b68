#!/bin/sh
# gemm_requant.sh [M=1024] [N=1024] [K=1024]: a product of bytes with bias, ReLU and bytes as its result.
# The peers do the product alone.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes M=1024 N=1024 K=1024 -- "$@"
compare gemm_requant "${M}x${N}x$K" "M=$M N=$N K=$K" \
    gemm.py "M=$M N=$N K=$K dtype=u8s8"
table
