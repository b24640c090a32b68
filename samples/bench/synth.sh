#!/bin/sh
# Every synthesis benchmark, each in a process of its own: solutions, states, seconds, memory.
#
# usage: synth.sh [--quick] [--ablate | --plots FOLDER]
#   --quick    one small size of each
#   --ablate   the small ones again with each part of the search switched off
#   --plots    keep the rows in FOLDER/synth.jsonl and draw them there: seconds by size, states beside an
#              oracle's, seconds by phase (needs matplotlib: pip install 'hbc[plots]'). To draw a record
#              again: synth_plots.py FOLDER/synth.jsonl FOLDER
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
HBC=${HBC:-hbc}
command -v -- "${HBC%% *}" >/dev/null || {
    echo "there is no command \`${HBC%% *}\`: \`pip install -e .\` installs it, HBC=... names another" >&2
    exit 2
}
export HBC
exec "${PYTHON:-python3}" "$HERE/synth_table.py" "$HERE/../sketches" "$@"
