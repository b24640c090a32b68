"""Tensor expressions at chosen points have the value of the expression there, and read nothing that
does not exist; and terms of the e-graph are the expressions that they were made of."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from evaluation import World, evaluate, same
from lane_values import lane_values
from tensors import OUTPUTS, SUMMED, TOTALS, Draft, add, cast, data, multiply
from tensors import arrays as types

from hbc.eqsat.graph.decode import decode
from hbc.eqsat.graph.egraph import RULES, EGraph, Term, rules_text
from hbc.eqsat.graph.encode import Encoding, encode, window
from hbc.eqsat.operands.operand import UNUSED, operand_value
from hbc.eqsat.operands.packs import Pack, fill
from hbc.eqsat.tensors.points import Place, Points, exists, value
from hbc.eqsat.tensors.tensor import Band, Dim, Dims, Read, Tensor, Uniform, strides_along
from hbc.ir.lang.build import const, const_value
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.nodes import const_index
from hbc.ir.lang.types import DTYPES
from hbc.ir.meaning.interp import run
from hbc.ir.meaning.numpy_types import poison

Array = npt.NDArray[Any]
ALL = (*OUTPUTS, *SUMMED)


def some_points(random: np.random.Generator, dims: Dims, beyond: Dims = ()) -> Points:
    """Places inside the dimensions, or up to twice as far along those of `beyond`."""
    extents = tuple(int(n) for n in random.integers(1, 4, int(random.integers(0, 4))))
    places = {}
    for d in dims:
        limit = 2 * d.extent if d in beyond else d.extent
        start = int(random.integers(limit))
        left, steps = limit - 1 - start, []
        for n in extents:
            most = left // (n - 1) if n > 1 else 0
            steps.append(int(random.integers(most + 1)))
            left -= (n - 1) * steps[-1]
        places[d] = Place(const_index(start), tuple(steps), d.extent)
    return Points(extents, places)


def stands(at: Points, d: Dim) -> Array:
    """Where a dimension stands at each lane."""
    place = at.places.get(d, Place(const_index(0), (0,) * len(at.extents), d.extent))
    start = const_value(place.start)
    assert start is not None
    found = np.full(at.extents, int(start))
    for step, along in zip(place.steps, np.indices(at.extents), strict=True):
        found = found + step * along
    return found.reshape(-1)


def expected(x: Tensor, at: Points, dims: Dims, arrays: dict[str, Array]) -> Array:
    """The value at the points, 0 beyond the end of a dimension along which it moves."""
    where = {d: stands(at, d) for d in dims}
    there = np.ones(at.lanes, bool)
    for d in strides_along(x):
        there &= where[d] < d.extent
    every = evaluate(x, World(dims, arrays))
    every = np.broadcast_to(every, [d.extent for d in dims])
    found = every[tuple(np.minimum(where[d], d.extent - 1) for d in dims)]
    return np.where(there, found, np.zeros((), found.dtype))


def read_part(x: Tensor, dims: Dims, arrays: dict[str, Array]) -> dict[str, Array]:
    """The buffers without what lies beyond the last element that the expression reads anywhere."""
    w = World(dims, arrays)
    evaluate(x, w)
    return {name: b[: max(w.touched.get(name) or [0]) + 1] for name, b in arrays.items()}


@pytest.mark.parametrize("seed", range(150))
def test_value_inside(seed: int) -> None:
    """All kinds of expressions, at points that exist."""
    random = np.random.default_rng(seed)
    draft = Draft(random)
    x = draft.term(draft.pick(*TOTALS))
    arrays = data(random)
    for _ in range(3):
        at = some_points(random, ALL)
        want = expected(x, at, ALL, arrays)
        got = lane_values(value(x, at), read_part(x, ALL, arrays))
        assert same(got, want), x


@pytest.mark.parametrize("seed", range(150))
def test_operand_beyond_the_end(seed: int) -> None:
    """Factors of instructions, at points that partly do not exist: those are 0 and not read."""
    random = np.random.default_rng(seed)
    draft = Draft(random)
    x: Tensor = draft.leaf(draft.pick(*TOTALS))
    if draft.chance(0.3):
        x = add(x, draft.leaf(x.element.name))
    if draft.chance(0.3):
        x = multiply(x, draft.leaf(x.element.name))
    arrays = data(random)
    for _ in range(3):
        at = some_points(random, ALL, beyond=ALL)
        want = expected(x, at, ALL, arrays)
        got = lane_values(operand_value(x, at), read_part(x, ALL, arrays))
        assert same(got, want), x


def test_lanes_that_nothing_uses_are_zero() -> None:
    random = np.random.default_rng(1)
    draft = Draft(random)
    arrays = data(random)
    for x in (draft.read("u8", (OUTPUTS[0],)), add(draft.read("u8"), draft.read("u8", ()))):
        places = {
            OUTPUTS[0]: Place(const_index(0), (1, 0), 2),
            UNUSED: Place(const_index(0), (0, 1), 1),
        }
        at = Points((2, 4), places)
        want = expected(x, at, ALL, arrays)
        want = want.reshape(2, 4) * (np.arange(4) == 0)
        assert same(lane_values(operand_value(x, at), arrays).reshape(2, 4), want.astype(np.uint8))


RATIOS = [(1, 1), (2, 1), (3, 1), (1, 2), (2, 3), (3, 2), (4, 1)]


def some_band(draft: Draft, m: int, n: int) -> tuple[Band, Dims]:
    """A banded matrix and the dimensions of the world in which it is."""
    d, r = OUTPUTS[draft.number(2)], SUMMED[draft.number(2)]
    other = OUTPUTS[1 - OUTPUTS.index(d)]
    t = window(d, r, m, n)
    x: Tensor = draft.read("i8", (r, other) if draft.chance(0.6) else (r,))
    if n == 1 and draft.chance(0.3):
        x = add(x, draft.read("i8", (r,)))
    return Band(x, d, t, r, m, n), (*OUTPUTS, *SUMMED, t)


@pytest.mark.parametrize(("m", "n"), RATIOS)
@pytest.mark.parametrize("seed", range(12))
def test_bands(seed: int, m: int, n: int) -> None:
    """Banded matrices at vectors of points; what pads t and the dimensions of phases is 0."""
    random = np.random.default_rng(seed)
    x, dims = some_band(Draft(random), m, n)
    arrays = data(random)
    free = tuple(d for d in dims if d != x.r)
    for _ in range(3):
        at = some_points(random, free, beyond=tuple(d for d in free if d != x.d))
        want = expected(x, at, dims, arrays)
        got = lane_values(operand_value(x, at), read_part(x, dims, arrays))
        assert same(got, want), x


@pytest.mark.parametrize(("m", "n"), RATIOS)
@pytest.mark.parametrize("seed", range(6))
def test_packed_bands(seed: int, m: int, n: int) -> None:
    """The same, packed into a temporary element by element."""
    random = np.random.default_rng(seed)
    x, dims = some_band(Draft(random), m, n)
    factor = cast("i32", x)
    arrays = data(random)
    free = tuple(d for d in dims if d != x.r)
    at = some_points(random, free, beyond=tuple(d for d in free if d != x.d))
    for operand in (x, factor):
        pack = Pack("out", operand, at, (), (), "")
        own = pack.own_points()
        want = expected(operand, own, dims, arrays)
        out = poison(operand.element, own.lanes)
        kept = read_part(x, dims, arrays)
        inputs = [
            Argument(name, types()[name], (const_index(len(b)),), False) for name, b in kept.items()
        ]
        result = Argument("out", operand.element, (const_index(own.lanes),), True)
        body = fill([pack], new_names())
        run(Kernel("k", (), (*inputs, result), (), (), body), {}, {**kept, "out": out})
        assert same(out, want), operand


def new_names() -> Callable[[str], str]:
    """Names that have not been given before."""
    numbers = count()
    return lambda base: f"{base}_{next(numbers)}"


def test_points_that_all_exist_have_no_mask() -> None:
    at = Points((4,), {SUMMED[0]: Place(const_index(0), (1,), 4)})
    assert exists(SUMMED, at) is None
    longer = Points((5,), {SUMMED[0]: Place(const_index(0), (1,), 4)})
    assert exists(SUMMED, longer) is not None


@pytest.mark.parametrize("seed", range(100))
def test_terms_are_what_they_were_made_of(seed: int) -> None:
    """decode(encode(x)) == x, by way of the e-graph."""
    random = np.random.default_rng(seed)
    draft = Draft(random)
    x = draft.term(draft.pick(*TOTALS))
    of = Encoding()
    for d in ALL:
        of.bit(d)
    g = EGraph({name: rules_text(name) if name == "terms" else "" for name in RULES})
    g.run(f"(let $x {encode(x, of)})")
    (t,) = g.variants("$x", 1)
    assert isinstance(t, Term)
    assert decode(t, of) == x


def test_equal_numbers_of_other_types_stay_apart() -> None:
    of = Encoding()
    x, y = (Read("A", DTYPES[t], const_index(0), ()) for t in ("i32", "f32"))
    assert encode(x, of) != encode(y, of)
    zero, one = (Uniform(const(0, DTYPES[t])) for t in ("i32", "u32"))
    assert encode(zero, of) != encode(one, of)
