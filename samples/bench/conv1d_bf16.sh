#!/bin/sh
# conv1d_bf16.sh [H=4096] [W=4096] [T='32 256']: rows of an image with T taps, bf16 with f32 sums.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=4096 W=4096 T='32 256' -- "$@"
for T in $T; do
    size="H=$H W=$W T=$T"
    compare conv1d_bf16 "${H}x$W, $T taps" "$size" conv1d.py "$size dtype=bf16"
done
table
