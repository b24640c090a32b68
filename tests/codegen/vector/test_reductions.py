"""Sums, products, minima and the like over adjacent lanes, to one lane and to several."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lanes import COUNT, Case, Read, disagreements

from hbc.ir.lang.nodes import Binary, Expr, Op, VectorReduce
from hbc.ir.lang.types import BOOL, DTYPES, DType
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

INTEGER = (Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.AND, Op.OR, Op.XOR)
FLOATS = [t for t in DTYPES.values() if t.is_float]
# Lanes of a vector and the runs that are folded: within one register, and over several.
LONGEST = 74
SHAPES = ((16, (4, 16)), (LONGEST, (LONGEST,)))


def operators(t: DType) -> tuple[Op, ...]:
    """Those whose result does not depend on the order."""
    if t == BOOL:
        return (Op.AND, Op.OR, Op.XOR)
    return (Op.MIN, Op.MAX) if t.is_float else INTEGER


def reduced(op: Op, t: DType, run: int, name: str = "a") -> Case:
    def value(read: Read) -> Expr:
        a = read(name, t)
        return VectorReduce(op, a, a.type.lanes // run)

    return Case(f"{op} of {run} {t}", value, signed_zero=False)


def accumulated(t: DType, run: int) -> Case:
    """The sum of products that an update by `+=` becomes."""

    def value(read: Read) -> Expr:
        products = Binary(Op.MUL, read("a", t), read("b", t))
        return VectorReduce(Op.ADD, products, products.type.lanes // run)

    return Case(f"sum of {run} products of {t}", value)


def exact(name: str, t: DType) -> Array:
    """So few that are not the identity of a sum, or of a product, that no run of them is rounded
    in any order: those of a run have no more halves, or factors of 2, than the type has integers."""
    rng = np.random.default_rng(ord(name))
    apart = -(-2 * LONGEST // 2**t.precision)
    among, others = ([1.0], [-1.0, 0.5, 2.0]) if name == "p" else ([0.0], [-1.0, 0.5, 1.0])
    some = np.arange(COUNT) % apart == 0
    return np.where(some, rng.choice(others, COUNT), among).astype(numpy_dtype(t))


@pytest.mark.parametrize(("lanes", "runs"), SHAPES)
def test_any_order(vector_target: str, lanes: int, runs: tuple[int, ...], tmp_path: Path) -> None:
    cases = [reduced(op, t, n) for t in DTYPES.values() for op in operators(t) for n in runs]
    assert disagreements(cases, vector_target, lanes, tmp_path) == []


def test_scalar_code(tmp_path: Path) -> None:
    cases = [reduced(op, t, 4) for t in DTYPES.values() for op in operators(t)]
    assert disagreements(cases, "c", 8, tmp_path) == []


@pytest.mark.parametrize(("lanes", "runs"), SHAPES)
def test_sums_of_floats(
    vector_target: str, lanes: int, runs: tuple[int, ...], tmp_path: Path
) -> None:
    cases = [reduced(Op.ADD, t, n) for t in FLOATS for n in runs]
    cases += [reduced(Op.MUL, t, n, "p") for t in FLOATS for n in runs]
    cases += [accumulated(t, n) for t in FLOATS for n in runs]
    given = {f"{n}_{t}": exact(n, t) for n in "abp" for t in FLOATS}
    assert disagreements(cases, vector_target, lanes, tmp_path, given=given) == []
