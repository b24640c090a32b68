"""What is left of conditions for any point of some dimensions, against all points one by one."""

from __future__ import annotations

from itertools import product
from random import Random

from hbc.eqsat.tensors.any_point import for_any
from hbc.eqsat.tensors.tensor import Apply, Dim, Line, Tensor, Uniform, operand_name, strides_along
from hbc.ir.lang.build import const_value
from hbc.ir.lang.nodes import Binary, Expr, Op, const_index
from hbc.ir.lang.types import I64

ALONG, FIRST, SECOND = Dim("d0", 7), Dim("d1", 5), Dim("d2", 3)
STEPS = (0, 1, 1, -1)


def comparison(op: Op, base: int, steps: dict[Dim, int]) -> Tensor:
    """`op(base + sum of steps, 0)`"""
    strides = tuple((d, const_index(n)) for d, n in steps.items() if n)
    line = Line(const_index(base), strides) if strides else Uniform(const_index(base))
    return Apply(Binary(op, operand_name(I64), operand_name(I64)), (line, Uniform(const_index(0))))


def holds(c: Tensor, at: dict[Dim, int]) -> bool:
    assert isinstance(c, Apply) and isinstance(c.node, Binary)
    a, b = (number(x, at) for x in c.args)
    return {
        Op.LT: a < b, Op.LE: a <= b, Op.GT: a > b, Op.GE: a >= b, Op.EQ: a == b,
    }[c.node.op]  # fmt: skip


def number(x: Tensor, at: dict[Dim, int]) -> int:
    match x:
        case Uniform(value=value):
            return whole(value)
        case Line(base=base, strides=strides):
            return whole(base) + sum(whole(s) * at[d] for d, s in strides)
    raise AssertionError(x)


def test_for_any() -> None:
    """Exact where there is a point at all, and mostly known: not where multiples are left."""
    random, known = Random(1), 0
    for _ in range(400):
        conditions = [
            comparison(
                random.choice((Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ)),
                random.randint(-6, 6),
                {d: random.choice(STEPS) for d in (ALONG, FIRST, SECOND)},
            )
            for _ in range(random.randint(1, 4))
        ]
        found = for_any(conditions, frozenset({ALONG}))
        if found is None:
            continue
        known += 1
        found += [c for c in conditions if strides_along(c) <= {ALONG}]
        wanted = [
            k for k in range(ALONG.extent) if any(all_hold(conditions, k, *p) for p in POINTS)
        ]
        assert not wanted or points(found) == wanted
    assert known > 360


POINTS = tuple(product(range(FIRST.extent), range(SECOND.extent)))


def whole(e: Expr) -> int:
    value = const_value(e)
    assert value is not None
    return int(value)


def all_hold(conditions: list[Tensor], k: int, i: int, j: int) -> bool:
    return all(holds(c, {ALONG: k, FIRST: i, SECOND: j}) for c in conditions)


def points(conditions: list[Tensor]) -> list[int]:
    return [k for k in range(ALONG.extent) if all_hold(conditions, k, 0, 0)]


def test_dimensions_that_go_on_evenly_are_one() -> None:
    """k <= 3 * i + j and 3 * i + j < 8, where neither i nor j alone would do."""
    conditions = [
        comparison(Op.LE, 0, {ALONG: 1, FIRST: -3, SECOND: -1}),
        comparison(Op.LT, -5, {FIRST: 3, SECOND: 1}),
    ]
    found = for_any(conditions, frozenset({ALONG}))
    assert found is not None
    assert points(found) == [0, 1, 2, 3, 4]


def test_multiples_on_both_sides_are_not_known() -> None:
    """2 * i >= k and 2 * i <= k: there is such an i for even k only."""
    conditions = [comparison(op, 0, {ALONG: -1, FIRST: 2}) for op in (Op.GE, Op.LE)]
    assert for_any(conditions, frozenset({ALONG})) is None


def test_other_conditions_of_the_others_make_no_difference() -> None:
    odd = Apply(Binary(Op.NE, operand_name(I64), operand_name(I64)), (
        Line(const_index(0), ((FIRST, const_index(1)),)), Uniform(const_index(1)),
    ))  # fmt: skip
    below = comparison(Op.LE, 0, {ALONG: 1, FIRST: -1})
    assert for_any([odd, below], frozenset({ALONG})) == for_any([below], frozenset({ALONG}))
    mixed = Apply(
        odd.node,
        (Line(const_index(0), ((ALONG, const_index(1)), (FIRST, const_index(1)))), odd.args[1]),
    )
    assert for_any([mixed, below], frozenset({ALONG})) is None
