#!/bin/sh
# conv2d.sh [H=2048] [W=2048] [T='16 32']: an image with T x T taps, in f32.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=2048 W=2048 T='16 32' -- "$@"
for T in $T; do
    size="H=$H W=$W T=$T"
    compare conv2d "${H}x$W, ${T}x$T taps" "$size" conv2d.py "$size"
done
table
