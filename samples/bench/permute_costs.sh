#!/bin/sh
# permute_costs.sh: what this machine's instructions cost that move data between lanes, in core cycles:
# the figures of synth/results/costs/avx512.toml. Needs a C compiler and AVX-512 with VBMI; CC overrides cc.
set -eu

HERE=$(dirname -- "$0")
if ! grep -q avx512_vbmi /proc/cpuinfo; then
    echo "skipped: this machine has no AVX-512 VBMI" >&2
    exit 0
fi
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
"${CC:-cc}" -O2 -march=native -o "$FOLDER/permute_costs" "$HERE/permute_costs.c"
sed -n 's/^model name[^:]*: /# /p' /proc/cpuinfo | head -n 1
"$FOLDER/permute_costs"
