#!/bin/sh
# recursive.sh [N=2097152]: a second-order recursive filter of N stereo samples.
# The peers have one row a channel, the sample interleaved channels, as sound files do.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

sizes N=2097152 -- "$@"
compare recursive "$N stereo samples" "N=$N a=1.8 b=-0.9" recursive.py "N=$N C=2"
table
