"""Variants of three kernels: each must map to tensor instructions and agree with its own oracle.

HBC_ROBUST_VARIANTS is how many of each kernel are tried; `make robust` takes 500. Every tenth is also
compiled to machine code, and verified where the processor or the AMX emulator can execute it. A failure
names the seed: `variant("gemm", 17)` is the program.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from kernel_choices import KERNELS
from tensor_checks import assert_agrees, assert_selected, selected
from variants import variant

from hbc.cli.main import exit_code_of
from hbc.cli.runs.emulation import can_emulate
from hbc.codegen.build.processor import can_run
from hbc.ir.lang.target import TARGETS

COUNT = int(os.environ.get("HBC_ROBUST_VARIANTS", "20"))
EACH = 10  # of so many variants one runs as machine code


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize("kernel", KERNELS)
def test_variant(kernel: str, seed: int) -> None:
    drawn = variant(kernel, seed)
    print(drawn.text, drawn.sizes)  # shown with a failure: what to repeat it with
    p, found = selected(drawn.text, drawn.target)
    assert_selected(found)
    assert_agrees(p, found, drawn.sizes, seed)


@pytest.mark.parametrize("seed", range(EACH - 1, COUNT, EACH))
@pytest.mark.parametrize("kernel", KERNELS)
def test_variant_as_machine_code(
    kernel: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = variant(kernel, seed)
    if not (can_run(TARGETS[drawn.target]) or can_emulate(TARGETS[drawn.target])):
        pytest.skip(f"this processor has not all that {drawn.target} needs")
    file = tmp_path / f"{kernel}.hb"
    file.write_text(drawn.text, encoding="utf-8")
    arguments = ["verify", str(file), "--target", drawn.target, "--trials", "2"]
    assert exit_code_of(arguments) == 0, f"{capsys.readouterr().err}\n{drawn.text}"


def test_variants_differ() -> None:
    for kernel in KERNELS:
        texts = {variant(kernel, seed).text for seed in range(40)}
        assert len(texts) >= 38
