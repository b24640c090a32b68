#!/bin/sh
# attention.sh [B=8] [L=1024] [D=64]: softmax attention of B heads in f32, naive and fused.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes B=8 L=1024 D=64 -- "$@"
for kernel in attention attention_fused; do
    compare "$kernel" "${B}x${L}x$D" "B=$B L=$L D=$D" attention.py "N=$B L=$L D=$D"
done
table
