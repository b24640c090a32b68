"""Every operator on every element type: scalar code and vectors, against the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from lanes import LANES, QUICK, Case, Read, disagreements
from operator_cases import (
    operators,
    plain_cases,
    tells_zeros_apart,
)

from hbc.ir.lang.build import const
from hbc.ir.lang.nodes import Binary, Expr, Op
from hbc.ir.lang.types import BOOL, DTYPES, DType

# Division and shifts are spelled by what the literal is, the others by its sign at most.
_SPELLED = (Op.DIV, Op.MOD, Op.SHL, Op.SHR)
_DIVISORS = (0, 1, 3, 8, 100, -1, -3, -8, -128)
_INTEGERS = (3, -1, -128)
_FLOATS = (0.0, -0.0, 2.0, -0.75, float("nan"))
# The simplifier decides `u8 >= 0`; here it has not run.
_UNDECIDED = (*QUICK, "-Wno-type-limits")


def with_literal(op: Op, t: DType, number: float, first: bool) -> Case:
    """`a op number`, or `number op a`."""

    def value(read: Read) -> Expr:
        a = read("a", t)
        literal = const(number, a.type)
        return Binary(op, literal, a) if first else Binary(op, a, literal)

    text = f"{number} {op} a" if first else f"a {op} {number}"
    return Case(f"{text}: {t}", value, signed_zero=tells_zeros_apart(op))


def literal_cases(t: DType) -> list[Case]:
    """One operand is a literal, which the printer often spells in a way of its own."""
    if t == BOOL:
        return []
    cases = []
    for op in operators(t):
        numbers = _FLOATS if t.is_float else _DIVISORS if op in _SPELLED else _INTEGERS
        held = [n for n in numbers if t.is_float or t.limits[0] <= n <= t.limits[1]]
        cases += [with_literal(op, t, n, False) for n in held]
        if op in (Op.SUB, Op.DIV, Op.MOD, Op.MIN, Op.SHL):
            cases.append(with_literal(op, t, held[-1], True))
    return cases


def test_scalars(target: str, tmp_path: Path) -> None:
    cases = [case for t in DTYPES.values() for case in plain_cases(t)]
    assert disagreements(cases, target, 1, tmp_path) == []


def test_vectors(vector_target: str, tmp_path: Path) -> None:
    cases = [case for t in DTYPES.values() for case in plain_cases(t)]
    assert disagreements(cases, vector_target, LANES, tmp_path) == []


@pytest.mark.parametrize("name", ["c", "avx2"])  # of scalars, AVX-512 knows no more than AVX2
def test_literals_beside_scalars(name: str, tmp_path: Path) -> None:
    cases = [case for t in DTYPES.values() for case in literal_cases(t)]
    assert disagreements(cases, name, 1, tmp_path, _UNDECIDED) == []


def test_literals_beside_vectors(vector_target: str, tmp_path: Path) -> None:
    """Only what is spelled differently: the rest broadcasts the literal."""
    cases = [
        case
        for t in DTYPES.values()
        for case in literal_cases(t)
        if t.is_float or any(f" {op} " in case.name for op in (*_SPELLED, Op.MIN, Op.SUB))
    ]
    assert disagreements(cases, vector_target, 16, tmp_path, (*_UNDECIDED, "-O0")) == []
