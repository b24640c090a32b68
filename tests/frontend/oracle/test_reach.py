"""Bounds follow a float through rounding to an integer, and on: as index, count and element read there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from naive import pipeline

from hbc.frontend.oracle import oracle
from hbc.frontend.oracle.floats import binary
from hbc.frontend.oracle.value import Value, work_dtype
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BF16, F16, F32, F64, DType

Array = np.ndarray[Any, Any]

LEVEL = """
    size N
    input A: f32[N]
    input B: f32[N]
    level[x] = clamp(i32(A[x] * B[x] + 100.0), 0, 199)
"""
HISTOGRAM = f"""{LEVEL}
    output O: i32[200]
    reduce r in N
    O[v] = 0
    O[level[r]] += 1
"""
PLACED = HISTOGRAM.replace("+= 1", "= i32(r) + 1")
GREATEST = HISTOGRAM.replace("+= 1", "max= i32(r) % 7")
FLOATS = HISTOGRAM.replace("O: i32", "O: f32").replace("+= 1", "+= B[r]")
PRODUCT = HISTOGRAM.replace("O: i32", "O: f32").replace("O[v] = 0", "O[v] = 1").replace(
    "+= 1", "*= B[r]"
)  # fmt: skip
BOOLS = HISTOGRAM.replace("O: i32[200]", "O: bool[200]").replace("O[v] = 0", "O[v] = false").replace(
    "+= 1", "|= B[r] > 10.0"
)  # fmt: skip
LOOKED_UP = f"""{LEVEL}
    input T: i32[200]
    output O: i32[N]
    O[x] = T[level[x]]
"""
COMPUTED = LOOKED_UP.replace("input T: i32[200]", "T[v] = i32(v) * i32(v)")
REMAINDER = LOOKED_UP.replace("T[level[x]]", "T[level[x] % 16]")


def inputs(n: int = 400) -> dict[str, Array]:
    """Products that are a whole number but for the rounding of one factor, up or down."""
    rng = np.random.default_rng(5)
    b = rng.uniform(3, 30, n).astype(np.float32)
    a = (rng.integers(-80, 90, n) / b).astype(np.float32)
    return {"A": a, "B": b, "T": rng.integers(-99, 99, 200).astype(np.int32)}


def levels(data: dict[str, Array], fused: bool) -> Array:
    """As a machine computes them that rounds once, or one that rounds twice."""
    a, b = data["A"], data["B"]
    value = (a.astype(np.float64) * b + 100 if fused else a * b + np.float32(100)).astype(
        np.float32
    )
    return np.clip(value.astype(np.int64), 0, 199)


def machine(text: str, data: dict[str, Array], fused: bool) -> Array:
    """What such a machine computes."""
    at, b, n = levels(data, fused), data["B"], len(data["B"])
    match text:
        case _ if text is HISTOGRAM:
            return np.bincount(at, minlength=200).astype(np.int32)
        case _ if text is PLACED or text is GREATEST:
            out: Array = np.zeros(200, np.int32)
            for r in range(n):
                out[at[r]] = r + 1 if text is PLACED else max(out[at[r]], r % 7)
            return out
        case _ if text is FLOATS:
            return np.bincount(at, b, 200).astype(np.float32)
        case _ if text is PRODUCT:
            product = np.ones(200)
            np.multiply.at(product, at, b)
            return product.astype(np.float32)
        case _ if text is BOOLS:
            some: Array = np.zeros(200, np.bool_)
            some[at[b > 10]] = True
            return some
        case _ if text is COMPUTED:
            return (at * at).astype(np.int32)
        case _:
            return np.asarray(data["T"][at % 16 if text is REMAINDER else at])


TEXTS = [HISTOGRAM, PLACED, GREATEST, FLOATS, PRODUCT, BOOLS, LOOKED_UP, COMPUTED, REMAINDER]
NAMES = ["histogram", "placed", "greatest", "floats", "product", "bools", "looked-up", "computed",
         "remainder"]  # fmt: skip


def evaluated(text: str, data: dict[str, Array]) -> oracle.Reference:
    p = pipeline(text)
    read = {i.name: data[i.name] for i in p.inputs}
    return oracle.evaluate(p, {"N": len(data["A"])}, read)["O"]


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_every_rounding_is_within(text: str) -> None:
    data = inputs()
    assert (levels(data, False) != levels(data, True)).any()
    reference = evaluated(text, data)
    for fused in (False, True):
        assert oracle.compare(machine(text, data, fused), reference).ok


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_what_is_certain_is_exact(text: str) -> None:
    """Levels well between two whole numbers are the same for every machine."""
    data = inputs()
    data["A"] = ((np.round(data["A"] * data["B"]) + 0.5) / data["B"]).astype(np.float32)
    assert (levels(data, False) == levels(data, True)).all()
    reference = evaluated(text, data)
    if text not in (FLOATS, PRODUCT):
        assert not reference.bound.any()
    assert np.isfinite(reference.bound).all()


@pytest.mark.parametrize("text", [HISTOGRAM, LOOKED_UP, COMPUTED, REMAINDER, PLACED, BOOLS])
def test_only_what_may_be_reached_is_allowed(text: str) -> None:
    """One level is uncertain; an element that has nothing to do with it is exact, and those that have
    are held to what stands beside them."""
    data = {n: a[:40] if n != "T" else a for n, a in inputs().items()}
    data["A"] = ((np.round(data["A"] * data["B"]) + 0.5) / data["B"]).astype(np.float32)
    data["A"][7], data["B"][7] = np.float32(1 / 3), np.float32(3)  # 1, or a little more
    reference = evaluated(text, data)
    wrong = machine(text, data, False).copy()
    touched = np.flatnonzero(reference.bound)
    if text in (HISTOGRAM, PLACED, BOOLS):
        assert set(touched) <= {100, 101, 102}
    else:
        assert set(touched) <= {7}
    untouched = next(v for v in range(40) if v not in touched)
    wrong[untouched] = not wrong[untouched] if wrong.dtype == bool else wrong[untouched] + 1
    assert not oracle.compare(wrong, reference).ok
    if text is HISTOGRAM:
        wrong = machine(text, data, False)
        wrong[101] += 2
        assert not oracle.compare(wrong, reference).ok


@pytest.mark.parametrize("element", [F32, F64, BF16, F16])
def test_extremes_of_zeros_have_no_certain_sign(element: DType) -> None:
    """Whether their errors are known or none: the reciprocal of either zero is anything."""
    zeros = np.asarray([0.0, -0.0, 0.0, -0.0, 1.0], work_dtype(element))
    others = np.asarray([-0.0, 0.0, 0.0, -0.0, -0.0], work_dtype(element))
    for op in (ir.Op.MIN, ir.Op.MAX):
        for e in (None, np.zeros(5)):
            found = binary(op, element, Value(zeros, e), Value(others, e))
            assert found.e is not None
            assert list(found.e > 0) == [True, True, False, False, False]
            one = Value(np.ones(5, work_dtype(element)))
            with np.errstate(all="ignore"):
                divided = binary(ir.Op.DIV, element, one, found)
            assert divided.e is not None
            assert list(np.isinf(divided.e)) == [True, True, False, False, False]
