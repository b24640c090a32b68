#!/bin/sh
# warp_costs.sh [-o FILE]: measures on this machine's GPU what the instructions cost that move data between
# the threads of a warp, and writes it as a table for synth/results/costs/, there if this is hbc's repository, else
# beside this script: cuda_sm90.toml on a GPU of compute capability 9.0. Needs nvcc; NVCC names another.
# Exit code 4 without a GPU or an nvcc.
set -eu

HERE=$(cd -- "$(dirname -- "$0")" && pwd)
OUTPUT=
if [ "${1:-}" = -o ]; then OUTPUT=$2; fi
NVCC=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! [ -x "$NVCC" ]; then
    echo "warp_costs.sh: no nvcc: install the CUDA toolkit, or name its nvcc with NVCC" >&2
    exit 4
fi
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
"$NVCC" -std=c++17 -O3 -arch=native -o "$FOLDER/warp_costs" "$HERE/warp_costs.cu"
"$FOLDER/warp_costs" >"$FOLDER/table.toml"
if [ -z "$OUTPUT" ]; then
    NAME=cuda_sm$(sed -n 's/.*compute capability \([0-9]*\)\.\([0-9]*\)\.$/\1\2/p' "$FOLDER/table.toml")
    TABLES=$HERE/../../synth/results/costs
    [ -d "$TABLES" ] || TABLES=$HERE
    OUTPUT=$TABLES/$NAME.toml
fi
cp "$FOLDER/table.toml" "$OUTPUT"
cat "$OUTPUT"
echo "written to $OUTPUT" >&2
