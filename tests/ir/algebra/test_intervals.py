"""The range of a result holds all results of what lies in those of the operands, and no more where it can."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbc.ir.algebra.domain import fold
from hbc.ir.algebra.intervals import UNKNOWN, Range, of_binary, of_indices, of_unary
from hbc.ir.lang import fold as literal
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.types import I64

_NUMBERS = st.integers(-12, 12)
_RANGES = st.tuples(_NUMBERS, _NUMBERS).map(lambda ends: (min(ends), max(ends)))
_OPS = [op for op in ir.Op if op not in ir.COMPARISONS]
_EXACT = {ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.MIN, ir.Op.MAX}


def _inside(value: object, found: Range) -> bool:
    low, high = found
    return (
        isinstance(value, int) and (low is None or low <= value) and (high is None or value <= high)
    )


@given(op=st.sampled_from(_OPS), a=_RANGES, b=_RANGES, open_=st.tuples(*[st.booleans()] * 4))
def test_binary(op: ir.Op, a: Range, b: Range, open_: tuple[bool, ...]) -> None:
    """With some ends taken away the range may only grow."""
    results = [
        literal.binary(op, x, y, I64)
        for x, y in itertools.product(
            range(a[0] or 0, (a[1] or 0) + 1), range(b[0] or 0, (b[1] or 0) + 1)
        )
    ]
    found = of_binary(op, a, b)
    assert all(_inside(r, found) for r in results)
    if op in _EXACT:
        assert found == (min(results), max(results))
    (al, ah), (bl, bh) = a, b
    ends = (None if gone else x for gone, x in zip(open_, (al, ah, bl, bh), strict=True))
    al, ah, bl, bh = ends
    found = of_binary(op, (al, ah), (bl, bh))
    assert all(_inside(r, found) for r in results)


@given(op=st.sampled_from(list(ir.UnaryOp)), a=_RANGES)
def test_unary(op: ir.UnaryOp, a: Range) -> None:
    results = [literal.unary(op, x, I64) for x in range(a[0] or 0, (a[1] or 0) + 1)]
    assert of_unary(op, a) == (min(results), max(results))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a + min(b, 7)", (0, 10)),
        ("max(min(c, 5), 0)", (0, 5)),
        ("a * 4 + c", UNKNOWN),
        ("(a + 4) % 4", (0, 3)),
        ("(a + 4) % 8", (4, 7)),
        ("b / 2", (0, None)),
    ],
)
def test_of_indices(text: str, found: Range) -> None:
    names = {"a": (0, 3), "b": (0, None), "c": UNKNOWN}
    assert fold(read_expr(text), of_indices(lambda e, of: UNKNOWN), names) == found
