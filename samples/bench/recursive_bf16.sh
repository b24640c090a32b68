#!/bin/sh
# recursive_bf16.sh [N=2097152]: a second-order recursive filter of N stereo samples in bf16.
# The peers are in f32 and have one row a channel, the sample interleaved channels, as sound files do.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes N=2097152 -- "$@"
compare recursive_bf16 "$N stereo samples" "N=$N a=1.8 b=-0.9" recursive.py "N=$N C=2"
table
