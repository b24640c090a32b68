#!/usr/bin/env bash
# Runs what depends on the processor as on two lesser ones: with AVX2 alone, and with AVX-512 but without
# its dot products. A part of the suite that takes a minute or two each; tests/README.md says what runs where.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-.venv/bin/python}
tests=(
    tests/cli/test_emulation.py tests/cli/test_pretence.py tests/tiles tests/amx/test_rules.py
    tests/isa/test_native.py tests/isa/test_features.py tests/select/test_accepted.py
    tests/select/test_kept_operands.py tests/c/test_operators.py tests/c/test_instruct.py
)
for lacking in -avx512f,-avx_vnni,-amx_tile \
    -avx512_vnni,-avx512_bf16,-avx512vbmi,-avx_vnni,-amx_tile; do
    echo "HBC_FEATURES=$lacking"
    HBC_FEATURES=$lacking "$python" -m pytest --timeout=900 --numprocesses="${WORKERS:-auto}" --dist=loadfile \
        --quiet "${tests[@]}"
done
