#!/bin/sh
# gpu.sh [-o FOLDER] [--repeat N] [--flush] [NAME ...]: checks and times the samples for GPUs on this machine's.
# In a bundle (`make gpu-bundle`) it needs Python 3.10, NumPy and nvcc; elsewhere it makes the bundle first.
# Exit codes: 1 where a result is wrong, 4 without a GPU or what is needed.
set -eu

here=$(cd -- "$(dirname -- "$0")" && pwd)
bundle=$here
if [ ! -f "$bundle/bundle.json" ]; then
    root=$(cd -- "$here/../.." && pwd)
    bundle=$root/build/gpu-bundle
    [ -f "$bundle/bundle.json" ] || make -C "$root" gpu-bundle
fi
python=${PYTHON:-python3}
if ! "$python" -c 'import sys, numpy; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    echo "$python is not Python 3.10 or later with NumPy: install them, or name one that has both with PYTHON" >&2
    exit 4
fi
exec "$python" "$bundle/run.py" "$@"
