"""Pins layouts: the lanes of an index and of its normal form are the same, however it is spelled."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import trees
from hypothesis import given, settings

from hbc.ir.algebra.layout import Layout, layout, permute, refine, split, to_index
from hbc.ir.lang.build import broadcast, const, mul
from hbc.ir.lang.nodes import Binary, Broadcast, Expr, Op, Ramp, Var, const_index
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.show import show
from hbc.ir.lang.types import F32, INDEX


def text(x: Layout | None) -> str | None:
    if x is None:
        return None
    return ", ".join([show(x.base), *(f"{n}:{show(s)}" for n, s in x.dims)])


@settings(max_examples=500)
@given(trees.randoms)
def test_lanes_are_kept(r: Random) -> None:
    e = trees.strided(r, 4, r.choice([1, 2, 4, 6, 8, 12, 16, 24]))
    x = layout(e)
    if x is None:
        return
    again = to_index(x)
    assert layout(again) == x
    env = trees.values(r, e)
    assert trees.agree(trees.value_of(e, env), trees.value_of(again, env)), f"{show(e)}\n{text(x)}"


def random_layout(r: Random) -> Layout:
    strides = [const_index(r.choice([0, 1, 2, 5, 8])), Var("W"), Var("k")]
    dims = tuple((r.choice([2, 3, 4, 6]), r.choice(strides)) for _ in range(r.randint(1, 3)))
    return Layout(trees.index(r, 2), dims)


def respelled(x: Layout, r: Random) -> Expr:
    """The same lanes: a sum of one vector per dim, or a nest with dims split at random."""
    if r.random() < 0.5:
        total: Expr = broadcast(x.base, x.lanes)
        for d, (extent, stride) in enumerate(x.dims):
            outer = int(np.prod([n for n, _ in x.dims[:d]], dtype=int))
            inner = x.lanes // outer // extent
            e: Expr = broadcast(const_index(0), inner)
            e = broadcast(Ramp(e, broadcast(stride, inner), extent), outer)
            parts = (total, e) if r.random() < 0.5 else (e, total)
            total = Binary(Op.ADD, *parts)
        return total
    whole = Layout(x.base, x.dims)
    for d in reversed(range(len(x.dims))):
        extent = x.dims[d][0]
        whole = split(whole, d, r.choice([n for n in range(1, extent + 1) if extent % n == 0]))
    return to_index(whole)


@settings(max_examples=300)
@given(trees.randoms)
def test_spelling_does_not_matter(r: Random) -> None:
    x = random_layout(r)
    wanted = layout(to_index(x))
    found = layout(respelled(x, r))
    assert found is not None and found == wanted, (text(wanted), text(found))


@settings(max_examples=200)
@given(trees.randoms)
def test_permute_transposes(r: Random) -> None:
    x = random_layout(r)
    order = list(range(len(x.dims)))
    r.shuffle(order)
    env = trees.values(r, to_index(x))
    before = trees.value_of(to_index(x), env).reshape([n for n, _ in x.dims])
    after = trees.value_of(to_index(permute(x, order)), env)
    assert np.array_equal(after, before.transpose(order).ravel())


@pytest.mark.parametrize(
    ("spelling", "wanted"),
    [
        ("i + 1", "i + 1"),
        ("ramp(b, 1, 16)", "b, 16:1"),
        ("x8(x4(b))", "b, 32:0"),
        ("ramp(ramp(b, 1, 4), x4(4), 2)", "b, 8:1"),
        ("ramp(x2(b), x2(s), 3) + x3(ramp(0, 1, 2))", "b, 3:s, 2:1"),
        ("ramp(0, 1, 8) + x2(ramp(c, 4, 4))", "c, 2:4, 4:5"),
        ("x6(i) * ramp(0, 1, 6)", "0, 6:i"),
        ("-ramp(i, 2, 4)", "-i, 4:-2"),
        ("ramp(ramp(b, s, 4), x4(4 * s), 2)", "b, 8:s"),
        ("ramp(32 * i, 1, 32) / x32(2)", "16 * i, 16:1, 2:0"),
        ("ramp(32 * i, 1, 32) % x32(2)", "0, 16:0, 2:1"),
        ("ramp(4 * i + 1, 0, 2) / x2(4)", "i, 2:0"),
        ("ramp(ramp(8 * i, 1, 2), x2(8), 3) / x6(8)", "i, 3:1, 2:0"),
        ("ramp(i, 1, 4) / x4(2)", None),
        ("ramp(i, 1, 4) * ramp(j, 1, 4)", None),
        ("min(ramp(i, 1, 4), x4(j))", None),
        ("ramp(ramp(0, 1, 2), ramp(0, 1, 2), 2)", None),
        ("v:i64x4", None),
    ],
)
def test_normal_forms(spelling: str, wanted: str | None) -> None:
    assert text(layout(read_expr(spelling))) == wanted


def test_only_indices_have_layouts() -> None:
    assert layout(Broadcast(const(1.0, F32), 4)) is None


def test_refine_cuts_to_common_extents() -> None:
    s, zero = Var("s"), const_index(0)
    both = refine(((4, s), (6, const_index(1))), ((8, zero), (3, const_index(2))))
    assert both is not None
    assert [n for n, _ in both[0]] == [n for n, _ in both[1]] == [4, 2, 3]
    assert refine(((2, s), (3, s)), ((3, s), (2, s))) is None
    assert mul(3, s).type == INDEX


def test_split_wants_a_divisor() -> None:
    with pytest.raises(ValueError, match="does not divide"):
        split(Layout(Var("b"), ((6, const_index(1)),)), 0, 4)
