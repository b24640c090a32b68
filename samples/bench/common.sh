# Read by every script beside it: sizes from the command line, then hbc and its peers in turns.
# shellcheck shell=sh
#
# From the environment:
#   HBC          the command, words separated by blanks [hbc]
#   PEER_PYTHON  the Python that has the peers [the one beside hbc]
#   THREADS      threads for hbc and for every peer [1]
#   ROUNDS       turns, over which each figure is the median [3]
#   TARGET       what hbc compiles for [the best of this machine for the kernel]
#   SCHEDULE     of the sample, or auto [the sample's for that target]
#   RECORD       a file to add the measurements to and to make the table of; a case that is in it
#                already is replaced [a temporary file]
set -eu

HERE=$(dirname -- "$0")
HBC=${HBC:-hbc}
THREADS=${THREADS:-1}
ROUNDS=${ROUNDS:-3}
TARGET=${TARGET:-}
SCHEDULE=${SCHEDULE:-}

case ${1:-} in
    -h | --help)
        sed -n '2,${/^# shellcheck/q; s/^# //p;}' "$0"
        sed -n '/^# From the environment/,/^set/ s/^# //p' "$HERE/common.sh"
        exit
        ;;
esac

fail() {
    echo "$(basename -- "$0"): $*" >&2
    exit 2
}

positive() {
    case $1 in
        '' | *[!0-9]* | 0*) return 1 ;;
    esac
}

for count in "$THREADS" "$ROUNDS"; do
    positive "$count" || fail "THREADS and ROUNDS want positive integers, not \`$count\`"
done

hbc_path=$(command -v -- "${HBC%% *}") ||
    fail "there is no command \`${HBC%% *}\`: \`pip install -e .[bench]\` installs it, HBC=... names another"
PYTHON=$(dirname -- "$hbc_path")/python
[ -x "$PYTHON" ] || PYTHON=python3
PEER_PYTHON=${PEER_PYTHON:-$PYTHON}
command -v -- "$PEER_PYTHON" >/dev/null || fail "PEER_PYTHON: there is no command \`$PEER_PYTHON\`"

if [ -z "${RECORD:-}" ]; then
    RECORD=$(mktemp)
    trap 'rm -f -- "$RECORD"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
fi

# sizes NAME=DEFAULT... -- NAME=VALUE...
# Sets the variables NAME to positive integers; to several where the default is several.
sizes() {
    known=
    given=no
    for word; do
        if [ "$given$word" = no-- ]; then
            given=yes
            continue
        fi
        name=${word%%=*}
        value=${word#*=}
        if [ "$given" = yes ]; then
            check_size
        else
            known="$known $name='$value'"
        fi
        eval "$name=\$value"
    done
}

check_size() {
    case $known in
        *" $name='"*) ;;
        *) fail "cannot read \`$word\`; known, with defaults:$known" ;;
    esac
    default=${known#*" $name='"}
    set -- "$value"
    case ${default%%\'*} in
        *' '*)
            # shellcheck disable=SC2086 # words on purpose
            set -- $value
            ;;
    esac
    for number in "${@:-none}"; do
        positive "$number" || fail "\`$name\` wants positive integers, not \`$value\`"
    done
}

# has FEATURE: whether this processor has it, as Linux spells it.
has() {
    grep -qw -- "$1" /proc/cpuinfo 2>/dev/null
}

# compare WORKLOAD LABEL HBC_WORDS PEER_SCRIPT PEER_WORDS
# Times ../WORKLOAD.hb (../$FILE.hb where that is set) and the peers of peers/PEER_SCRIPT in turns. Words are separated by blanks;
# among hbc's, NAME=VALUE becomes --set NAME=VALUE.
compare() {
    workload=$1 label=$2 hbc_words=$3 peer_script=$4 peer_words=$5
    note "{\"case\": \"$workload\", \"label\": \"$label\"}"
    round=1
    while [ "$round" -le "$ROUNDS" ]; do
        echo "$workload, $label: round $round of $ROUNDS" >&2
        time_hbc || return 0
        time_peers
        round=$((round + 1))
    done
}

time_hbc() {
    set --
    for word in $hbc_words; do
        case $word in
            *=*) set -- "$@" --set "$word" ;;
            *) set -- "$@" "$word" ;;
        esac
    done
    status=0
    # shellcheck disable=SC2086 # HBC may be several words
    found=$($HBC bench "$HERE/../${FILE:-$workload}.hb" --json --threads "$THREADS" ${TARGET:+--target "$TARGET"} \
        ${SCHEDULE:+--schedule "$SCHEDULE"} "$@") || status=$?
    if [ "$status" -ne 0 ]; then
        note "{\"failed\": \"hbc\", \"status\": $status}"
        return 1
    fi
    note "$found"
}

time_peers() {
    status=0
    # shellcheck disable=SC2086 # words on purpose
    found=$(OMP_NUM_THREADS=$THREADS "$PEER_PYTHON" "$HERE/peers/$peer_script" $peer_words) ||
        status=$?
    note "$found"
    [ "$status" -eq 0 ] || note "{\"failed\": \"$peer_script\", \"status\": $status}"
}

note() {
    printf '%s\n' "$1" >>"$RECORD"
}

# The table of all that was recorded, unless all.sh is going to print it.
table() {
    [ -n "${BENCH_PART:-}" ] || "$PYTHON" "$HERE/table.py" "$RECORD"
}
