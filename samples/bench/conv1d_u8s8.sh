#!/bin/sh
# conv1d_u8s8.sh [H=4096] [W=4096] [T='32 256']: rows of an image with T taps, u8 image, s8 taps, 32-bit sums.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=4096 W=4096 T='32 256' -- "$@"
for T in $T; do
    size="H=$H W=$W T=$T"
    compare conv1d_u8s8 "${H}x$W, $T taps" "$size" conv1d.py "$size dtype=u8s8"
done
table
