#!/usr/bin/env bash
# Runs what depends on the processor as on two lesser ones: with AVX2 alone, and with AVX-512 but without
# its dot products. A part of the suite that takes a minute each; tests/README.md says what runs where.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Those that ask what the processor has: what lies beside them in these files and folders does the same on any
# (so do test_registers, test_index_width and the faults of the emulator, which took a fifth of the time).
tests=(
    tests/cli/runs/test_emulation.py tests/cli/test_pretence.py
    tests/codegen/plan/test_pipeline.py::test_on_a_machine
    tests/codegen/plan/test_probe.py tests/codegen/plan/test_products.py
    tests/codegen/isa/test_native.py tests/codegen/isa/test_features.py
    tests/codegen/vector/test_operators.py
    tests/codegen/text/test_instruct.py::test_in_loop_nests
    tests/eqsat/choosing/test_accepted.py::test_as_machine_code
    tests/eqsat/choosing/test_kept_operands.py::test_loads
)
# Instructions that no feature of the processor decides about, and what emulators of others run.
elsewhere='(test_does_what_is_described and (functions or soft or emulated or qemu)) or arm_dot or rvv'
# Side by side: the one's last file leaves a processor to the other.
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
running=()
for lacking in -avx512f,-avx_vnni,-amx_tile \
    -avx512_vnni,-avx512_bf16,-avx512vbmi,-avx_vnni,-amx_tile; do
    HBC_FEATURES=$lacking .venv/bin/python -m pytest --timeout=900 --numprocesses="${WORKERS:-auto}" --dist=loadfile \
        --quiet -k "not ($elsewhere)" "${tests[@]}" >"$logs/$lacking" 2>&1 &
    running+=($!)
done
status=0
for tested in "${running[@]}"; do wait "$tested" || status=1; done
for lacking in "$logs"/*; do
    echo "HBC_FEATURES=${lacking##*/}"
    cat "$lacking"
done
exit "$status"
