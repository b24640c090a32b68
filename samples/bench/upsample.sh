#!/bin/sh
# upsample.sh [H=2048] [W=2048] [T='16 32']: an image to twice its size by T x T taps, in f32,
# bf16 and bytes.
# H x W, both even, is the output.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=2048 W=2048 T='16 32' -- "$@"
for T in $T; do
    size="H=$H W=$W T=$T"
    compare upsample "to ${H}x$W, ${T}x$T taps" "$size" upsample.py "$size"
    # Nobody else does these: the peers are those in f32.
    bf16="TI=bf16 TK=bf16"
    if has amx_bf16; then # on tiles the sums of S x S phases have a file of their own
        FILE=amx/upsample compare upsample "to ${H}x$W, ${T}x$T taps, bf16" "$size" upsample.py "$size"
    else
        compare upsample "to ${H}x$W, ${T}x$T taps, bf16" "$bf16 $size" upsample.py "$size"
    fi
    u8s8="TI=u8 TK=i8 TO=i32"
    compare upsample "to ${H}x$W, ${T}x$T taps, u8 by s8" "$u8s8 $size" upsample.py "$size"
done
table
