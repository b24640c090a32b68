#!/bin/sh
# compile_time.sh [SAMPLE...]: how long hbc takes from the file to the C text, by pass, for every
# sample (or those named) and target, and at sizes that grow.
# shellcheck source=samples/bench/common.sh
. "$(dirname -- "$0")/common.sh"

export HBC ROUNDS
exec "$PYTHON" "$HERE/compile_time.py" "$@"
