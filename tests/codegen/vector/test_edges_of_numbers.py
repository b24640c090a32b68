"""Division by zero, shifts beyond the width, conversions out of range: what docs/language.md says. CUDA code
runs on the processor.

Kernels with every integer type, in scalar and vector code, against formulas in Python's own integers.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from hbc.cli.main import exit_code_of
from hbc.cli.prepare import require_runnable
from hbc.ir.ground.diag import ToolError
from hbc.ir.lang.target import TARGETS

N = 331  # no multiple of any number of lanes
PIECES = "split(i, ib, ip, 128).split(ip, it, iv, 4).gpu_blocks(ib).gpu_threads(it).vectorize(iv)"
COUNTS = (0, 1, 7, 8, 15, 31, 33, 64, 100)  # of shifts by a number
RANDOM = np.random.default_rng(15)
Array = np.ndarray[Any, Any]


def numpy_name(name: str) -> str:
    return name.replace("i", "int").replace("u", "uint", 1).replace("uuint", "uint")


def kernel(types: list[str], vectors: bool) -> str:
    """Every operation on these types, scheduled in vectors or not at all."""
    lines = ["size N", "input X: f32[N]", "input Z: f64[N]"]
    outputs = [("H", "f16", "f16(X[i])"), ("B", "bf16", "bf16(X[i])"), ("F", "f32", "f32(Z[i])")]
    for t in types:
        lines += [f"input a{t}: {t}[N]", f"input b{t}: {t}[N]"]
        a, b = f"a{t}[i]", f"b{t}[i]"
        outputs += [
            (f"div{t}", t, f"{a} / {b}"), (f"mod{t}", t, f"{a} % {b}"), (f"shl{t}", t, f"{a} << {b}"),
            (f"shr{t}", t, f"{a} >> {b}"), (f"x{t}", t, f"{t}(X[i])"), (f"z{t}", t, f"{t}(Z[i])"),
            (f"narrow{t}", "i8", f"i8({a})"), (f"wide{t}", "u32", f"u32({a})"),
            (f"f{t}", "f32", f"f32({a})"), (f"h{t}", "f16", f"f16({a})"),
        ]  # fmt: skip
    lines += [f"output {name}: {t}[N]" for name, t, _ in outputs]
    lines += [f"{name}[i] = {formula}" for name, _, formula in outputs]
    if vectors:
        body = "\n".join(f"{name}.vectorize(i, 8)" for name, _, _ in outputs)
        lines.append(f"schedule lanes for c, avx2, avx512, arm_dot {{\n{body}\n}}")
        body = "\n".join(f"{name}.{PIECES}" for name, _, _ in outputs)
        lines.append(f"schedule pieces for cuda {{\n{body}\n}}")
    return "\n".join(lines)


def integers(name: str) -> Array:
    """Of the whole range, with what is special in one of four places."""
    limits = np.iinfo(numpy_name(name))
    found = RANDOM.integers(limits.min, limits.max, N, limits.dtype, endpoint=True)
    special = [limits.min, limits.min + 1, limits.max, 0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64]
    special += [-1, -2, -8, -33] if limits.min else []
    at = RANDOM.random(N) < 0.25
    found[at] = RANDOM.choice(np.array(special, limits.dtype), int(at.sum()))
    found[:2] = limits.min, -1 if limits.min else 0
    return found


def floats(name: str) -> Array:
    """Both sides of every bound of an integer type, infinities, NaN, and all magnitudes."""
    bounds = [
        s * 2.0**e + d
        for e in (7, 8, 15, 16, 31, 32, 63)
        for s in (-1, 1)
        for d in (-1, -0.5, 0, 0.5)
    ]
    special = np.array(
        [*bounds, math.inf, -math.inf, math.nan, 0.0, -0.0, 65519.9, 65520, 1e300, -3.5]
    )
    found = RANDOM.normal(0, 1, N) * 10.0 ** RANDOM.uniform(-3, 20, N)
    found[: len(special)] = special
    with np.errstate(over="ignore"):
        return found.astype(name)


def wrapped(value: int, name: str) -> int:
    bits = int(name[1:])
    value %= 1 << bits
    return value - (1 << bits) if name[0] == "i" and value >> (bits - 1) else value


def saturated(value: float, name: str) -> int:
    if math.isnan(value):
        return 0
    limits = np.iinfo(numpy_name(name))
    if math.isinf(value):
        return int(limits.max if value > 0 else limits.min)
    return min(max(int(value), int(limits.min)), int(limits.max))


def expected(types: list[str], inputs: dict[str, Array]) -> dict[str, Array]:
    """By Python's integers; between floats by NumPy."""
    x, z = inputs["X"], inputs["Z"]
    with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings(action="ignore"):
        found = {"H": x.astype("f2"), "F": z.astype("f4")}
        found["B"] = x.astype(ml_dtypes.bfloat16).view(np.uint16)
        for t in types:
            a, b = ([int(v) for v in inputs[side + t]] for side in "ab")
            bits = int(t[1:])
            rows: dict[str, list[int]] = {
                f"div{t}": [v // w if w else 0 for v, w in zip(a, b, strict=True)],
                f"mod{t}": [v % w if w else 0 for v, w in zip(a, b, strict=True)],
                f"shl{t}": [v << w % bits for v, w in zip(a, b, strict=True)],
                f"shr{t}": [v >> w % bits for v, w in zip(a, b, strict=True)],
                f"x{t}": [saturated(float(v), t) for v in x],
                f"z{t}": [saturated(float(v), t) for v in z],
            }
            for name, values in rows.items():
                found[name] = np.array([wrapped(v, t) for v in values], numpy_name(t))
            found[f"narrow{t}"] = np.array([wrapped(v, "i8") for v in a], np.int8)
            found[f"wide{t}"] = np.array([wrapped(v, "u32") for v in a], np.uint32)
            found[f"f{t}"] = inputs["a" + t].astype("f4")
            found[f"h{t}"] = inputs["a" + t].astype("f2")
    return found


# One type a case, because C compilers take long for many outputs in vectors.
CASES = [
    ("c", "i8", False), ("c", "i64", True), ("c", "u16", True), ("avx2", "u8", True),
    ("avx2", "u32", False), ("avx512", "i32", True), ("avx512", "i16", True),
    ("avx512", "i64", False), ("arm_dot", "i16", True), ("arm_dot", "u32", False),
    ("cuda", "i8", True), ("cuda", "u16", True), ("cuda", "i64", False),
]  # fmt: skip


@pytest.mark.parametrize(("target", "element", "vectors"), CASES)
def test_edges(target: str, element: str, vectors: bool, tmp_path: Path) -> None:
    if target != "cuda":
        try:
            require_runnable(TARGETS[target])
        except ToolError as e:
            pytest.skip(str(e))
    types = [element]
    file = tmp_path / "edges.hb"
    file.write_text(kernel(types, vectors), encoding="utf-8")
    inputs = {"X": floats("f4"), "Z": floats("f8")}
    inputs |= {side + t: integers(t) for t in types for side in "ab"}
    wanted = expected(types, inputs)
    words = ["run", str(file), "--target", target, *(["--on-cpu"] if target == "cuda" else [])]
    for name, values in inputs.items():
        np.save(tmp_path / f"{name}.npy", values)
        words += ["--input", f"{name}={tmp_path / name}.npy"]
    for name in wanted:
        words += ["--output", f"{name}={tmp_path / name}.npy"]
    assert exit_code_of(words) == 0  # native code and the oracle agree
    for name, values in wanted.items():
        found = np.load(tmp_path / f"{name}.npy")
        assert found.dtype == values.dtype, name
        same = (found == values) | ((found != found) & (values != values))
        if name == "B":
            same |= np.isnan(inputs["X"])  # any NaN
        at = int(np.argmin(same))
        assert same.all(), (name, at, found[at], values[at])


@pytest.mark.parametrize("count", COUNTS)
def test_shifts_by_a_number(count: int, tmp_path: Path) -> None:
    """As by a variable."""
    lines, wanted, words = ["size N"], {}, []
    for t in ("i8", "u16", "i32", "i64"):
        values = integers(t)
        np.save(tmp_path / f"a{t}.npy", values)
        lines += [f"input a{t}: {t}[N]", f"output l{t}: {t}[N]", f"output r{t}: {t}[N]"]
        lines += [f"l{t}[i] = a{t}[i] << {count}", f"r{t}[i] = a{t}[i] >> {count}"]
        words += ["--input", f"a{t}={tmp_path}/a{t}.npy"]
        for side, by in (("l", int.__lshift__), ("r", int.__rshift__)):
            made = [wrapped(by(int(v), count % int(t[1:])), t) for v in values]
            wanted[side + t] = np.array(made, numpy_name(t))
            words += ["--output", f"{side}{t}={tmp_path}/{side}{t}.npy"]
    file = tmp_path / "shifts.hb"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert exit_code_of(["run", str(file), "--target", "c", *words]) == 0
    for name, values in wanted.items():
        assert np.array_equal(np.load(tmp_path / f"{name}.npy"), values), name
