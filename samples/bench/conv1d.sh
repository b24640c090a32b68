#!/bin/sh
# conv1d.sh [H=4096] [W=4096] [T='16 32 64 256']: rows of an image with T taps, in f32.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=4096 W=4096 T='16 32 64 256' -- "$@"
for T in $T; do
    size="H=$H W=$W T=$T"
    compare conv1d "${H}x$W, $T taps" "$size" conv1d.py "$size dtype=f32"
done
table
