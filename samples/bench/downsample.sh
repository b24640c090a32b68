#!/bin/sh
# downsample.sh [H=1008] [W=1008] [T='16 32']: T x T taps at every second row and column, in f32.
# H x W is the output; the default halves an image of about 2048 x 2048.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=1008 W=1008 T='16 32' -- "$@"
for T in $T; do
    size="H=$H W=$W T=$T"
    compare downsample "to ${H}x$W, ${T}x$T taps" "$size" downsample.py "$size"
done
table
