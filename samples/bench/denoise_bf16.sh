#!/bin/sh
# denoise_bf16.sh [H=1024] [W=1024]: DCT coring of a picture of 3 channels with bf16 products; H a multiple of 32, W of 8.
# The peers are in f32 and have one plane a channel, the sample interleaved channels, as pictures do.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes H=1024 W=1024 -- "$@"
compare denoise_bf16 "${H}x${W}x3" "--example noise H=$H W=$W threshold=0.2" \
    denoise.py "H=$H W=$W CHANNELS=3 LEVEL=200"
table
