#!/bin/sh
# Layout changes found by `hbc synth --spec`, beside what C compilers make of the plain loop at -O3.
#
# usage: permute.sh
#   Prints a table: nanoseconds for a block of the change, the median of many rounds in turns, in
#   processor time. Arrays fit the first-level cache.
#
# From the environment:
#   HBC      the command, words separated by blanks [hbc]
#   ROUNDS   turns, over which each figure is the median [15]
#   TARGET   avx512 or avx2 [avx512]
set -eu

HERE=$(dirname -- "$0")
case ${1:-} in
    -h | --help)
        sed -n '2,/^set/ { /^set/d; s/^# \{0,1\}//; p; }' "$0"
        exit
        ;;
esac
HBC=${HBC:-hbc}
command -v -- "${HBC%% *}" >/dev/null || {
    echo "there is no command \`${HBC%% *}\`: \`pip install -e .\` installs it, HBC=... names another" >&2
    exit 2
}
export HBC
exec "${PYTHON:-python3}" "$HERE/permute_table.py" "$@"
