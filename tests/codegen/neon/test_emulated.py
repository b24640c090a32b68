"""Calls of ARM code through the emulator: what can go wrong there is told as it is elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from neon_kernels import finished

from hbc.cli.runs.native import Native, Repeat
from hbc.codegen.build.cross import emulator, is_foreign
from hbc.codegen.build.program import Program, build_callable
from hbc.ir.ground.diag import HbcError, InternalError, ToolError
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.target import ARM, X86, Target
from hbc.ir.lang.types import F32
from hbc.ir.meaning.numpy_types import Array

COPY = """
kernel copy
size H
size W
input A: f32[H, W]
output O: f32[H, W]
check W % 4 == 0, "W must be a multiple of 4"
{
  for y from 0 count H {
    for x from 0 count W / 4 {
      O[ramp(y * O_stride0 + 4 * x, 1, 4)] = A.f32x4[ramp(y * A_stride0 + 4 * x + SHIFT, 1, 4)]
    }
  }
}
"""


def program(arm: Target, folder: Path, shift: str = "0") -> Program:
    made = build_callable(finished(read_kernel(COPY.replace("SHIFT", shift)), arm), arm, folder)
    if not isinstance(made, Program):
        pytest.skip("this processor is an ARM one: no emulator is used")
    return made


def picture(height: int, width: int) -> Array:
    return np.arange(height * width, dtype=np.float32).reshape(height, width)


def test_one_program_serves_many_calls(arm: Target, tmp_path: Path) -> None:
    with Native(program(arm, tmp_path), 1, 60) as native:
        for height, width in ((3, 8), (1, 4), (5, 64), (0, 4)):
            a = picture(height, width)
            shapes = {"O": ((height, width), F32)}
            called = native.call("copy", [height, width], {"A": a}, shapes, Repeat(1, 3, 0.0, 3))
            assert np.array_equal(called.outputs["O"], a)
            assert len(called.seconds) == 3
            assert min(called.seconds) >= 0


def test_rows_that_lie_apart(arm: Target, tmp_path: Path) -> None:
    a = picture(3, 8)
    with Native(program(arm, tmp_path), 1, 60) as native:
        called = native.call(
            "copy", [3, 8], {"A": a}, {"O": ((3, 8), F32)}, lengthen={"A": 1, "O": 1}
        )
    assert np.array_equal(called.outputs["O"], a)


def test_refusals_are_explained(arm: Target, tmp_path: Path) -> None:
    with Native(program(arm, tmp_path), 1, 60) as native:
        with pytest.raises(HbcError, match="W must be a multiple of 4"):
            native.call("copy", [1, 6], {"A": picture(1, 6)}, {"O": ((1, 6), F32)})
        called = native.call("copy", [1, 4], {"A": picture(1, 4)}, {"O": ((1, 4), F32)})
        assert np.array_equal(called.outputs["O"], picture(1, 4))


def test_reads_behind_an_array_are_crashes(arm: Target, tmp_path: Path) -> None:
    with (
        Native(program(arm, tmp_path, shift="1"), 1, 60) as native,
        pytest.raises(InternalError, match="crashed with SIGSEGV"),
    ):
        native.call(
            "copy", [1, 1024], {"A": picture(1, 1024)}, {"O": ((1, 1024), F32)}, guarded=True
        )


def test_what_takes_too_long_is_ended(arm: Target, tmp_path: Path) -> None:
    with (
        Native(program(arm, tmp_path), 1, 1.0) as native,
        pytest.raises(HbcError, match="did not finish within 1 s"),
    ):
        repeat = Repeat(0, 1 << 16, 1000.0, 1 << 16)
        native.call(
            "copy", [256, 1024], {"A": picture(256, 1024)}, {"O": ((256, 1024), F32)}, repeat
        )


@pytest.mark.parametrize(
    ("said", "machine"), [("arm64", ARM), ("aarch64", ARM), ("AMD64", X86), ("x86_64", X86)]
)
def test_machines_by_all_their_names(
    said: str, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Linux, macOS and Windows say them. Only ARM is emulated: qemu has no AVX-512."""
    monkeypatch.setattr("hbc.codegen.build.cross.machine_name", lambda: said)
    assert not is_foreign("")
    assert not is_foreign(machine)
    assert is_foreign(X86 if machine == ARM else ARM)
    with pytest.raises(ToolError, match="this is no x86_64 processor"):
        emulator(X86)


@pytest.mark.parametrize("name", ["a", "f", "times"])
def test_a_kernel_that_is_called_as_a_variable_of_the_driver(
    name: str, arm: Target, tmp_path: Path
) -> None:
    text = COPY.replace("SHIFT", "0").replace("kernel copy", f"kernel {name}")
    made = build_callable(finished(read_kernel(text), arm), arm, tmp_path)
    given = picture(3, 8)
    with Native(made, 1, 60.0) as native:
        got = native.call(name, [3, 8], {"A": given}, {"O": ((3, 8), F32)}).outputs["O"]
    assert np.array_equal(got, given)
