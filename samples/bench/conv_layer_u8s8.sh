#!/bin/sh
# conv_layer_u8s8.sh [N=5] [H=80] [W=100] [C=128] [K=128]: 3 x 3 taps of bytes, bias, ReLU and bytes again; the peers work in f32.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes N=5 H=80 W=100 C=128 K=128 -- "$@"
size="N=$N H=$H W=$W C=$C K=$K"
compare conv_layer_u8s8 "${N}x${H}x$W, $C to $K channels" "$size" conv_layer.py "$size"
table
