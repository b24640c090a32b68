#!/bin/sh
# Every synthesis benchmark, each in a process of its own: solutions, states, seconds, memory.
#
# usage: synth.sh [--quick] [--ablate]
#   --quick    one small size of each
#   --ablate   the small ones again with each part of the search switched off
#
# From the environment:
#   HBC      the command, words separated by blanks [hbc]
#   ROUNDS   runs of each, of which the median is shown [3]
#   TIMEOUT  seconds after which a run is given up [60]
set -eu

HERE=$(dirname -- "$0")
case ${1:-} in
    -h | --help)
        sed -n '2,/^set/ { /^set/d; s/^# \{0,1\}//; p; }' "$0"
        exit
        ;;
esac
exec "${PYTHON:-python3}" "$HERE/synth_table.py" "$HERE/../sketches" "$@"
