#!/bin/sh
# conv_layer.sh [N=5] [H=80] [W=100] [C=128] [K=128]: 3 x 3 taps, bias and ReLU; NHWC, in f32 (the peers) and bf16.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes N=5 H=80 W=100 C=128 K=128 -- "$@"
size="N=$N H=$H W=$W C=$C K=$K"
label="${N}x${H}x$W, $C to $K channels"
compare conv_layer "$label" "$size" conv_layer.py "$size"
compare conv_layer "$label, bf16" "T=bf16 $size" conv_layer.py "$size"
table
