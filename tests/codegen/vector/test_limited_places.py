"""Lanes whose places are limited, or lie apart under a mask: as NumPy takes them, nothing else read, and one
call or loop in C, not a line for each lane."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from compiled import lowered
from run_here import runnable

import hbc
from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.numpy_types import numpy_dtype

GCC = ("-O2", "-Wall", "-Wextra", "-Werror")
STEPS = (1, 2, 3)

KERNEL = """
size N
input A: f32[N]
output B: f32[N]
B[i] = A[clamp(3 * i / 2 - 5, 0, N - 1)]
schedule s for avx512 { B.vectorize(i, 16) }
example { N = 40; A = random(1) }
"""


def test_a_loop_over_lanes(tmp_path: Path) -> None:
    file = tmp_path / "limited.hb"
    file.write_text(KERNEL, encoding="utf-8")
    kernel = hbc.compile(file, target="avx512")
    assert re.search(r"if \(i_tail > lane\)", kernel.source)
    assert not re.search(r"if \((i_tail|live\w*) > [1-9]\d*\)", kernel.source)
    a = np.random.default_rng(5).random(45, np.float32)
    want = a[np.clip(3 * np.arange(45) // 2 - 5, 0, 44)]
    np.testing.assert_array_equal(kernel(a), want)


OF_STEP = """
input L_{s}: {t}[H, {s} * W + 1]
output both_{s}: {t}[H, W]
output most_{s}: {t}[H, W]
output least_{s}: {t}[H, W]
output plain_{s}: {t}[H, W]
both_{s}[y, x]  = A[y, clamp({s} * x - 21, 0, N - 1)]
most_{s}[y, x]  = A[y, min({s} * x, N - 1)]
least_{s}[y, x] = L_{s}[y, max({s} * x - 21, 0)]
plain_{s}[y, x] = L_{s}[y, {s} * x]
"""
OUTPUTS = [f"{name}_{s}" for s in STEPS for name in ("both", "most", "least", "plain")]


@pytest.mark.parametrize(
    ("t", "lanes"), [("i16", 16), ("f32", 4), ("i32", 8), ("f32", 16), ("f64", 4), ("f64", 8)]
)
@pytest.mark.parametrize("target", ["avx2", "avx512", "arm_dot"])
def test_as_numpy(target: str, t: str, lanes: int, tmp_path: Path) -> None:
    runnable(target)
    parts = "".join(OF_STEP.format(s=s, t=t) for s in STEPS)
    schedule = "\n".join(f"{name}.vectorize(x, {lanes})" for name in OUTPUTS)
    text = f"size H, W, N\ninput A: {t}[H, N]\n{parts}\nschedule s for {target} {{\n{schedule}\n}}"
    source = emit_c(lowered(text, target), TARGETS[target])
    if t == "f32" and (target, lanes) in (("avx2", 4), ("avx512", 16)):
        assert "setr_ps(A[" not in source.text and "lanes[" not in source.text
    made_type = DTYPES[t]
    with Native(build_callable(source, TARGETS[target], tmp_path, extra=GCC), 1, 60.0) as native:
        for width, n in ((1, 1), (7, 40), (8, 3), (17, 30), (40, 9), (40, 100)):
            rng = np.random.default_rng(width)
            shapes = {"A": (2, n), **{f"L_{s}": (2, s * width + 1) for s in STEPS}}
            given = {
                name: rng.integers(0, 200, shape).astype(numpy_dtype(made_type))
                for name, shape in shapes.items()
            }
            made = dict.fromkeys(OUTPUTS, ((2, width), made_type))
            got = native.call("k", [2, width, n], given, made, guarded=True).outputs
            for s in STEPS:
                x = s * np.arange(width)
                want = {
                    "both": given["A"][:, np.clip(x - 21, 0, n - 1)],
                    "most": given["A"][:, np.minimum(x, n - 1)],
                    "least": given[f"L_{s}"][:, np.maximum(x - 21, 0)],
                    "plain": given[f"L_{s}"][:, x],
                }
                for name, array in want.items():
                    assert np.array_equal(got[f"{name}_{s}"], array), (name, s, width, n)
