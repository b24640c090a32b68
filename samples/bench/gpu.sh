#!/bin/sh
# gpu.sh [-o FOLDER] [--repeat N] [--flush] [NAME ...]: checks and times the samples for GPUs on this machine's.
# In a bundle (`make gpu-bundle`) it needs Python 3.10, NumPy and nvcc; elsewhere it makes the bundle first.
# Exit codes: 1 where a result is wrong, 4 without a GPU.
set -eu

here=$(cd -- "$(dirname -- "$0")" && pwd)
bundle=$here
if [ ! -f "$bundle/bundle.json" ]; then
    root=$(cd -- "$here/../.." && pwd)
    bundle=$root/build/gpu-bundle
    [ -f "$bundle/bundle.json" ] || make -C "$root" gpu-bundle
fi
exec "${PYTHON:-python3}" "$bundle/run.py" "$@"
