#!/bin/sh
# downsample_bf16.sh [H=1008] [W=1008] [T='16 32']: T x T taps at every second row and column, in bf16 and bytes.
# H x W is the output. The peers are those in f32.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=1008 W=1008 T='16 32' -- "$@"
for T in $T; do
    size="H=$H W=$W T=$T"
    compare downsample_bf16 "to ${H}x$W, ${T}x$T taps" "$size" \
        downsample.py "$size"
    compare downsample_bf16 "to ${H}x$W, ${T}x$T taps, u8 by s8" \
        "TI=u8 TK=i8 TO=i32 $size" downsample.py "$size"
done
table
