"""Processors that lack an instruction get the kernel's error code, not an illegal instruction."""

from __future__ import annotations

from pathlib import Path

import pytest
from neon_kernels import INSTRUCTIONS, called, inputs_of, kernel_of

from hbc.codegen.build.cross import is_foreign
from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.target import Target

PROCESSORS = {"max": {"dotprod", "i8mm", "bf16"}, "neoverse-n1": {"dotprod"}, "cortex-a53": set()}


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("i", INSTRUCTIONS, ids=lambda i: i.name)
def test_what_a_processor_lacks(
    arm: Target, i: Instruction, processor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_foreign(arm.machine):
        pytest.skip("this processor is an ARM one: there is no choosing its features")
    monkeypatch.setenv("QEMU_CPU", processor)
    kernel = kernel_of("gated", [i])
    lacking = [f.name for f in i.needs if f.name not in PROCESSORS[processor]]
    compiler = find_compiler(arm.machine)
    if not lacking:
        called(kernel, arm, compiler, tmp_path, 3, inputs_of(kernel, 3, seed=1))
        return
    with pytest.raises(ToolError, match=f"this processor has no {lacking[0]}"):
        called(kernel, arm, compiler, tmp_path, 3, inputs_of(kernel, 3, seed=1))
