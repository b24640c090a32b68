"""Loads of several rows that lie any stride apart, and groups repeated: what packed operands are made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from neon_kernels import finished

from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import BF16, F32, I8, I16, U8, DType
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import bits_dtype, numpy_dtype

STEP = 37
# Index vectors of 16 lanes, and for vectors of 8 and 4 lanes.
INDICES = {
    16: (
        "ramp(ramp(3, S, 4), x4(1), 4)", "ramp(ramp(3, 1, 4), x4(S), 4)",
        "ramp(ramp(3, S, 2), x2(1), 8)", "ramp(ramp(ramp(3, 1, 2), x2(S), 4), x8(2), 2)",
        "x4(ramp(5, 1, 4))", "x2(ramp(5, 1, 8))", "ramp(ramp(3, 1, 8), x8(S), 2)",
        "ramp(ramp(3, 1, 4), x4(2 * S), 4)", "ramp(ramp(3, 0, 4), x4(1), 4)", "ramp(3, S, 16)",
    ),
    8: (
        "ramp(ramp(3, S, 2), x2(1), 4)", "ramp(ramp(3, S, 4), x4(1), 2)", "x4(ramp(5, 1, 2))",
        "ramp(ramp(3, 1, 4), x4(S), 2)", "ramp(ramp(3, 1, 2), x2(S), 4)", "x2(ramp(5, 1, 4))",
    ),
    4: ("ramp(ramp(3, S, 2), x2(1), 2)", "ramp(ramp(3, 1, 2), x2(S), 2)", "ramp(3, S, 4)"),
}  # fmt: skip


@pytest.mark.parametrize("t", [I8, U8, I16, BF16, F32], ids=str)
def test_rows(arm: Target, t: DType, tmp_path: Path) -> None:
    lanes = 128 // t.bits
    stores = "\n".join(
        f"O[ramp({n * lanes}, 1, {lanes})] = A.{t}x{lanes}[{index}]"
        for n, index in enumerate(INDICES[lanes])
    )
    count = lanes * len(INDICES[lanes])
    extent = 16 * STEP + 32
    kernel = read_kernel(
        f"kernel rows\nsize S\ninput A: {t}[{extent}]\noutput O: {t}[{count}]\n{{\n{stores}\n}}\n"
    )
    bits = np.random.default_rng(6).integers(0, 1 << t.bits, extent, bits_dtype(t).type)
    inputs = {"A": bits.view(numpy_dtype(t))}
    want = {"O": np.zeros(count, numpy_dtype(t))}
    run(kernel, {"S": STEP}, {**inputs, **want})
    extra = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    program = build_callable(finished(kernel, arm), arm, tmp_path, extra=extra)
    with Native(program, 1, 60.0) as native:
        got = native.call("rows", [STEP], inputs, {"O": ((count,), t)}, guarded=True).outputs
    held = bits_dtype(t)
    np.testing.assert_array_equal(got["O"].view(held), want["O"].view(held))


# Index vectors and masks: rows and groups of which some are live.
MASKED = {
    16: (
        ("x4(ramp(5, 1, 4))", "x4(ramp(0, 1, 4) < x4(M))"),
        ("x4(ramp(5, 1, 4))", "x4(ramp(0, 1, 4) < x4(3))"),
        ("x4(ramp(5, 1, 4))", "ramp(0, 1, 16) < x16(M)"),
        ("ramp(ramp(3, S, 4), x4(1), 4)", "x4(ramp(0, 1, 4) < x4(M))"),
        ("ramp(ramp(3, S, 4), x4(1), 4)", "ramp(x4(0), x4(1), 4) < x16(M)"),
        ("ramp(ramp(3, 1, 4), x4(S), 4)", "x4(ramp(0, 1, 4) < x4(M))"),
        ("ramp(ramp(3, 1, 4), x4(S), 4)",
         "(ramp(x4(0), x4(1), 4) < x16(M)) & x4(ramp(0, 1, 4) < x4(2))"),
        ("ramp(3, 1, 16)", "ramp(0, 1, 16) < x16(M)"),
        ("ramp(3, 1, 16)", "ramp(M, -1, 16) < x16(2)"),
        ("ramp(3, S, 16)", "ramp(0, 1, 16) < x16(M)"),
    ),
    8: (
        ("x4(ramp(5, 1, 2))", "x4(ramp(0, 1, 2) < x2(M))"),
        ("ramp(ramp(3, S, 2), x2(1), 4)", "x4(ramp(0, 1, 2) < x2(M))"),
        ("ramp(ramp(3, 1, 4), x4(S), 2)", "x2(ramp(0, 1, 4) < x4(M))"),
        ("ramp(3, 1, 8)", "ramp(0, 1, 8) < x8(M)"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("t", [U8, BF16], ids=str)
def test_masked_rows(arm: Target, t: DType, tmp_path: Path) -> None:
    """The first elements of rows and of groups, and lanes that no count says."""
    lanes = 128 // t.bits
    stores = "\n".join(
        f"O[ramp({n * lanes}, 1, {lanes})] = A.{t}x{lanes}[{index} if {mask}]"
        for n, (index, mask) in enumerate(MASKED[lanes])
    )
    count = lanes * len(MASKED[lanes])
    extent = 16 * STEP + 32
    kernel = read_kernel(
        f"kernel rows\nsize S\nsize M\ninput A: {t}[{extent}]\noutput O: {t}[{count}]\n{{\n{stores}\n}}\n"
    )
    bits = np.random.default_rng(6).integers(0, 1 << t.bits, extent, bits_dtype(t).type)
    inputs = {"A": bits.view(numpy_dtype(t))}
    extra = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
    program = build_callable(finished(kernel, arm), arm, tmp_path, extra=extra)
    held = bits_dtype(t)
    with Native(program, 1, 60.0) as native:
        for m in (0, 1, 2, 3, 4, 9, 17):
            want = {"O": np.zeros(count, numpy_dtype(t))}
            run(kernel, {"S": STEP, "M": m}, {**inputs, **want})
            shapes = {"O": ((count,), t)}
            got = native.call("rows", [STEP, m], inputs, shapes, guarded=True).outputs
            np.testing.assert_array_equal(got["O"].view(held), want["O"].view(held), f"M = {m}")
