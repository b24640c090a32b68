#!/bin/bash
# exp, log, sin and the like in vectors, and softmax: this checkout beside SLEEF (libsleef-dev) and torch (of the
# Python PEER_PYTHON, if any), in turns, one thread.
#   PEER_PYTHON=../torch/bin/python samples/bench/functions.sh --targets avx512
set -e
cd "$(dirname "$0")/../.."
exec .venv/bin/python samples/bench/functions.py ${PEER_PYTHON:+--peer-python "$PEER_PYTHON"} "$@"
