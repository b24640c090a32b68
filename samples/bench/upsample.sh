#!/bin/sh
# upsample.sh [H=2048] [W=2048] [T='16 32']: an image to twice its size by T x T taps, in f32.
# H x W, both even, is the output.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=2048 W=2048 T='16 32' -- "$@"
for T in $T; do
    size="H=$H W=$W T=$T"
    compare upsample "to ${H}x$W, ${T}x$T taps" "$size" upsample.py "$size"
done
table
