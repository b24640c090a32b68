#!/bin/sh
# unit.sh [--layers 16|148|3d] [--target T] [--schedules auto,tuned] ...: the convolutions of the UNIT paper,
# u8 x s8, hbc beside oneDNN; `unit.sh --layers 16 --help` lists all options.
#
# Weights are packed beforehand on both sides, and both are called in turns in one process. DNNL names a
# folder with oneDNN's `include` and `lib`, where it is not the system's (`apt-get install libdnnl-dev`).
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

OMP_NUM_THREADS=$THREADS exec "$PYTHON" "$HERE/unit.py" --rounds "$ROUNDS" "$@"
