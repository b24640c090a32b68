#!/bin/bash
# Movement of elements: this checkout beside another one (BEFORE, with a .venv), gcc and clang, in turns, one thread.
#   BEFORE=../hbc-before samples/bench/movement.sh
set -e
cd "$(dirname "$0")/../.."
exec .venv/bin/python samples/bench/movement.py --before "${BEFORE:?a checkout of the commit before}" "$@"
