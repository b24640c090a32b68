"""Pins calls without NumPy: the same results as by NumPy's arrays, and all else left to the usual way."""

from __future__ import annotations

import array
import ctypes
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import hbc
from hbc.cli.api.buffers import BufferCalls

KERNEL = """
size N, M
input  A: {t}[N, M]
input  B: {t}[M]
input  c: {t}
output S: {t}[N, M]
output D: {t}[N]
reduce k in M
S[i, j] = A[i, j] + B[j] * c
D[i] = 0
D[i] += A[i, k] * B[k]
"""
CODES = {
    "i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "u64": "Q",
    "f32": "f", "f64": "d",
}  # fmt: skip
HALVES = (
    "size N\ninput A: f16[N]\ninput B: bf16[N]\noutput C: f32[N]\nC[i] = f32(A[i]) + f32(B[i])\n"
)
START = """
import sys
from array import array
import hbc

kernel = hbc.compile("size N\\ninput A: f32[N]\\noutput B: f32[N]\\nB[i] = 2 * A[i] + 1\\n", target="c")
out = array("f", bytes(40))
assert kernel(array("f", range(10)), out=out) is out
assert list(out) == [2.0 * n + 1 for n in range(10)]
print("numpy" in sys.modules)
if sys.argv[1:]:
    import numpy

    assert (kernel(numpy.arange(3, dtype="f4")) == [1, 3, 5]).all()
"""


def calls_of(kernel: hbc.Kernel) -> BufferCalls:
    return BufferCalls(kernel.compiled, kernel.settings, kernel._loaded)


@pytest.mark.parametrize("element", CODES)
def test_results_are_those_of_numpy(element: str) -> None:
    kernel = hbc.compile(KERNEL.format(t=element), target="c")
    calls, random, code = calls_of(kernel), Random(element), CODES[element]
    numpy_type = np.dtype(code)
    for n, m in ((1, 1), (3, 7), (8, 5)):
        if element.startswith("f"):
            values = [random.uniform(-4, 4) for _ in range(n * m + m)]
            c: Any = 0.75
        else:
            limits = np.iinfo(numpy_type)
            values = [random.randint(limits.min, limits.max) for _ in range(n * m + m)]
            c = random.randint(0, limits.max)
        a, b = array.array(code, values[: n * m]), array.array(code, values[n * m :])
        matrix = memoryview(a).cast("B").cast(code, (n, m))
        room = memoryview(bytearray(n * m * numpy_type.itemsize)).cast(code, (n, m))
        outs = {"S": room, "D": array.array(code, [0] * n)}
        given = calls.call((matrix,), outs, {"c": c, "B": b})
        wanted = kernel(np.array(a).reshape(n, m), np.array(b), numpy_type.type(c))
        assert given["S"] is outs["S"] and given["D"] is outs["D"]
        np.testing.assert_array_equal(np.asarray(given["S"]), wanted["S"])
        np.testing.assert_array_equal(np.asarray(given["D"]), wanted["D"])


def test_bits_of_halves() -> None:
    kernel = hbc.compile(HALVES, target="c")
    halves = np.array([0.5, -2, 1.25], np.float16)
    bits = array.array("H", [0x3F80, 0x4000, 0xC040])  # 1, 2, -3
    out = (ctypes.c_float * 3)()
    assert calls_of(kernel).call((memoryview(halves), bits), out, {}) is out
    assert list(out) == [1.5, 0, -1.75]


@pytest.mark.parametrize("code", ["l", "q"])
def test_integers_of_64_bits(code: Any) -> None:
    if array.array(code).itemsize != 8:
        pytest.skip("`long` has 32 bits here")
    kernel = hbc.compile("size N\ninput A: i64[N]\noutput B: i64[N]\nB[i] = A[i]\n", target="c")
    a, out = array.array(code, [-(2**63), 0, 2**63 - 1]), array.array(code, [0, 0, 0])
    assert calls_of(kernel).call((a,), out, {}) is out
    assert out == a


def test_rows_may_lie_apart() -> None:
    kernel = hbc.compile("size N, M\ninput A: f32[N, M]\noutput B: f32[N, M]\nB[i, j] = A[i, j]\n")
    a = np.arange(24, dtype=np.float32).reshape(4, 6)
    out = (ctypes.c_float * 3 * 4)()
    assert calls_of(kernel).call((memoryview(a[:, 2:5]),), out, {}) is out
    np.testing.assert_array_equal(np.array(out), a[:, 2:5])


def floats(*values: float) -> array.array[float]:
    return array.array("f", values)


@pytest.mark.parametrize(
    ("given", "out"),
    [
        ((floats(1, 2),), None),
        ((np.zeros(2, np.float32),), floats(0, 0)),
        ((array.array("d", [1, 2]),), floats(0, 0)),
        ((floats(1, 2),), floats(0)),
        ((floats(1, 2),), memoryview(bytes(8)).cast("f")),
        ((memoryview(floats(1, 2, 3, 4))[::2],), floats(0, 0)),
        (([1.0, 2.0],), floats(0, 0)),
        ((), floats(0, 0)),
        ((floats(1, 2), floats(1, 2)), floats(0, 0)),
        (((ctypes.c_float.__ctype_be__ * 2)(1, 2),), floats(0, 0)),
    ],
    ids=[
        "no output",
        "numpy",
        "type",
        "shape",
        "read-only",
        "apart",
        "list",
        "none",
        "many",
        "order",
    ],
)
def test_what_is_left_to_the_usual_way(given: tuple[Any, ...], out: Any) -> None:
    kernel = hbc.compile("size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = 2 * A[i]\n", target="c")
    before = bytes(out) if out is not None else b""
    assert calls_of(kernel).call(given, out, {}) is None
    assert out is None or bytes(out) == before


def test_what_the_code_refuses_is_left_to_the_usual_way() -> None:
    kernel = hbc.compile("size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = 2 * A[i]\n", target="c")
    both = floats(1, 2, 3)
    assert calls_of(kernel).call((both,), both, {}) is None
    assert list(both) == [1, 2, 3]
    with pytest.raises(hbc.ArgumentError, match="overlap"):
        kernel(both, out=both)


def test_memory_stays_where_it_is_during_the_call_alone() -> None:
    kernel = hbc.compile("size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = 2 * A[i]\n", target="c")
    a, out = floats(1, 2), floats(0, 0)
    assert calls_of(kernel).call((a,), out, {}) is out
    a.append(3)
    out.append(3)
    assert list(out) == [2, 4, 3]


def test_a_kernel_that_was_kept_is_called_without_numpy(tmp_path: Path) -> None:
    program = tmp_path / "start.py"
    program.write_text(START)
    said = [
        subprocess.run(
            [sys.executable, program, *more], check=True, capture_output=True, text=True
        ).stdout.strip()
        for more in ([], [], ["then numpy"])
    ]
    assert said[1:] == ["False", "False"]
