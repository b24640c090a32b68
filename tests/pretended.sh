#!/usr/bin/env bash
# Runs what depends on the processor as on two lesser ones: with AVX2 alone, and with AVX-512 but without
# its dot products. A part of the suite that takes a minute or two each; tests/README.md says what runs where.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-.venv/bin/python}
tests=(
    tests/cli/runs/test_emulation.py tests/cli/test_pretence.py tests/codegen/plan
    tests/codegen/build/amx_emulator/test_rules.py tests/codegen/isa/test_native.py
    tests/codegen/isa/test_features.py tests/codegen/vector/test_operators.py
    tests/codegen/text/test_instruct.py tests/eqsat/choosing/test_accepted.py
    tests/eqsat/choosing/test_kept_operands.py
)
# Side by side: the one's last file leaves a processor to the other.
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
running=()
for lacking in -avx512f,-avx_vnni,-amx_tile \
    -avx512_vnni,-avx512_bf16,-avx512vbmi,-avx_vnni,-amx_tile; do
    HBC_FEATURES=$lacking "$python" -m pytest --timeout=900 --numprocesses="${WORKERS:-auto}" --dist=loadfile \
        --quiet "${tests[@]}" >"$logs/$lacking" 2>&1 &
    running+=($!)
done
status=0
for tested in "${running[@]}"; do wait "$tested" || status=1; done
for lacking in "$logs"/*; do
    echo "HBC_FEATURES=${lacking##*/}"
    cat "$lacking"
done
exit "$status"
