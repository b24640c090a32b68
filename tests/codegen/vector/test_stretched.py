"""Elements that several neighbouring lanes want, as `A[k / 2]` has them: what NumPy repeats, each loaded once
and nothing behind the arrays; and numbers of 4 bits, two in a byte, as NumPy unpacks them."""

from pathlib import Path

import numpy as np
import pytest
from compiled import lowered

from hbc.cli.prepare import require_runnable
from hbc.cli.runs.native import Native
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.codegen.c.source import CSource
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

TARGETS_TRIED = ["avx2", "avx512", "avx512vbmi", "arm_dot", "rvv", "rvv256"]
GCC = ("-O1", "-Wall", "-Wextra", "-Werror")
TIMES, FIRST = (2, 4, 8), (0, 1)
WIDTHS = (1, 7, 32, 33, 64, 117)
REPEATED = """
size H, W
{inputs}
{outputs}
{equations}
schedule fast for avx2, avx512, arm_dot, rvv {{
{directives}
}}
"""
NIBBLES = """
size H, W
input a: u8[H, (W + 1) / 2]
output plain: u8[H, W]
output words: i32[H, W]
output floats: f32[H, W]
output low: u8[(W + 1) / 2, H]
plain[i, k]  = u8(a[i, k / 2] >> 4 * (k % 2) & 15)
words[i, k]  = i32(a[i, k / 2] >> 4 * (k % 2)) & 15
floats[i, k] = f32(a[i, k / 2] >> 4 * (k % 2) & 15) * 0.5
low[k, i]    = u8(i32(a[i, k]) << 4 * (i % 2))
schedule fast for avx2, avx512, arm_dot, rvv {
    plain.vectorize(k, 64)
    words.vectorize(k, 16)
    floats.vectorize(k, 8)
    low.vectorize(i, 32)
}
"""


@pytest.mark.parametrize("target", TARGETS_TRIED)
@pytest.mark.parametrize("t", ["u8", "i16", "f32", "f64"])
def test_repeated(t: str, target: str, tmp_path: Path) -> None:
    cases = [(c, first) for c in TIMES for first in FIRST]
    source = printed(repeated(t, cases), target)
    with Native(library(source, target, tmp_path), 1, 60.0) as native:
        for width in WIDTHS:
            rng = np.random.default_rng(width)
            given, made, want = {}, {}, {}
            for c, first in cases:
                some = rng.integers(0, 200, (3, (width + first + c - 1) // c))
                given[f"a_{c}_{first}"] = some.astype(numpy_dtype(DTYPES[t]))
                made[f"o_{c}_{first}"] = ((3, width), DTYPES[t])
                whole = np.repeat(given[f"a_{c}_{first}"], c, axis=1)
                want[f"o_{c}_{first}"] = whole[:, first : first + width]
            got = native.call("k", [3, width], given, made, guarded=True).outputs
            for name, array in want.items():
                assert np.array_equal(got[name], array), (name, width)


def repeated(t: str, cases: list[tuple[int, int]]) -> str:
    """A kernel for each number of times and first lane."""
    names = [f"{c}_{first}" for c, first in cases]
    inputs = [f"input a_{c}_{f}: {t}[H, (W + {f + c - 1}) / {c}]" for c, f in cases]
    outputs = [f"output o_{n}: {t}[H, W]" for n in names]
    equations = [f"o_{c}_{f}[i, k] = a_{c}_{f}[i, (k + {f}) / {c}]" for c, f in cases]
    directives = [f"    o_{n}.vectorize(k, {32 if n[0] != '8' else 64})" for n in names]
    parts = {"inputs": inputs, "outputs": outputs, "equations": equations, "directives": directives}
    return REPEATED.format(**{name: "\n".join(lines) for name, lines in parts.items()})


@pytest.mark.parametrize("target", TARGETS_TRIED)
def test_nibbles(target: str, tmp_path: Path) -> None:
    source = printed(NIBBLES, target)
    assert "result[i]" not in source.text  # the loop over lanes that other operations take
    with Native(library(source, target, tmp_path), 1, 60.0) as native:
        for width in WIDTHS:
            a = np.random.default_rng(width).integers(0, 256, (3, (width + 1) // 2), np.uint8)
            made = {
                "plain": ((3, width), DTYPES["u8"]),
                "words": ((3, width), DTYPES["i32"]),
                "floats": ((3, width), DTYPES["f32"]),
                "low": (((width + 1) // 2, 3), DTYPES["u8"]),
            }
            got = native.call("k", [3, width], {"a": a}, made, guarded=True).outputs
            want = unpacked(a, width)
            assert np.array_equal(got["plain"], want), width
            assert np.array_equal(got["words"], want), width
            assert np.array_equal(got["floats"], want * np.float32(0.5)), width
            amounts = (4 * (np.arange(3) % 2)).astype(np.uint8)
            assert np.array_equal(got["low"], a.T << amounts), width


def unpacked(a: Array, width: int) -> Array:
    """The numbers of 4 bits, the low ones of each byte first."""
    return np.stack([a & 15, a >> 4], axis=-1).reshape(len(a), -1)[:, :width]


@pytest.mark.parametrize("target", ["avx2", "avx512", "arm_dot", "rvv"])
def test_vectors_stay_whole(target: str) -> None:
    """A vector statement is not cut where an element is repeated, and nothing stays as wide as an index."""
    wide = [
        n
        for n in nodes(lowered(NIBBLES, target).body)
        if isinstance(n, ir.Load) and n.buffer == "a" and n.type.lanes > 1
    ]
    assert min(n.type.lanes * n.type.element.bits for n in wide) >= 32, sorted(
        n.type.lanes for n in wide
    )


def printed(text: str, target: str) -> CSource:
    """The C. Skipped where its code cannot run."""
    try:
        require_runnable(TARGETS[target])
    except ToolError as e:
        pytest.skip(str(e))
    return emit_c(lowered(text, target), TARGETS[target])


def library(source: CSource, target: str, folder: Path) -> Path:
    return build_callable(source, TARGETS[target], folder, extra=GCC)
