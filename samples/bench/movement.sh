#!/bin/bash
# Movement of elements: this checkout beside gcc, clang, Halide where it is installed (hbc[bench]) and another
# checkout (BEFORE, with a .venv), in turns, one thread.
#   BEFORE=../hbc-before samples/bench/movement.sh
set -e
cd "$(dirname "$0")/../.."
exec .venv/bin/python samples/bench/movement.py ${BEFORE:+--before "$BEFORE"} "$@"
