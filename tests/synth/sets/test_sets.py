"""Sizes of the sets of gathers against the published ones, and what single gathers do."""

from __future__ import annotations

import numpy as np
import pytest

from hbc.ir.moves.gather import compose, identity, interleave, inverse, permute_axes, same
from hbc.synth.sets import layouts
from hbc.synth.sets.conditions import keep, select
from hbc.synth.sets.gather_set import of_rows
from hbc.synth.sets.xforms import Axes, TooMany, rots, xforms

ROOM = 1 << 30
ROW, COLUMN = Axes(1, 0, 1), Axes(0, 1, 0)


@pytest.mark.parametrize(
    ("s", "rows", "row_rots", "columns", "column_rots"),
    [
        (3, (30, 30), (3, 3), (1347, 992), (58, 32)),
        (4, (77, 60), (5, 4), (2716, 1984), (58, 32)),
        (5, (100, 100), (5, 5), (1364, 992), (58, 32)),
    ],
)
def test_published_sizes(
    s: int, rows: tuple[int, int], row_rots: tuple[int, int], columns: tuple[int, int],
    column_rots: tuple[int, int],
) -> None:  # fmt: skip
    """Level 3 and level 1, with the published tool's `wrap`."""
    shape = (32, s)
    for level, grouped in enumerate((True, False)):
        assert xforms(shape, shape, ROW, grouped, False, ROOM).size == rows[level]
        assert xforms(shape, shape, COLUMN, grouped, False, ROOM).size == columns[level]
        assert rots(shape, shape, 1, grouped).size == row_rots[level]
        assert rots(shape, shape, 0, grouped).size == column_rots[level]


@pytest.mark.parametrize(
    ("k", "q", "consts", "size"),
    [
        (3, 2, (0, 1, -1, 3, -3), 38), (5, 2, (0, 1, -1, 5, -5), 36),
        (7, 3, (0, 1, -1, 4, -4), 1469), (9, 3, (0, 1, -1, 4, -4), 1497),
    ],
)  # fmt: skip
def test_published_selections(k: int, q: int, consts: tuple[int, ...], size: int) -> None:
    found = select((4, 4, q, q), (4, 4, k, q), 2, (0, 2), consts)
    # The published number includes one that differs from another only in a repeated condition.
    assert found.size in (size, size - 1)
    assert len(np.unique(found.rows(np.arange(found.size)), axis=0)) == found.size


def test_published_conditionals() -> None:
    assert select((32, 2), (32, 3), 1, (0, 1), (0, 1, -1, 32, -32)).size == 38
    assert keep((4, 2, 4), (0, 2), (0, 1, -1, 4, -4), (1, 0)).size == 44
    assert keep((4, 2, 4), (0, 2), (0,), (1, 0)).size == 14


def slow_xform(i: int, k: int, g: int, wrap: str, cf: int, cr: int, dr: int) -> int:
    """The definition, one element at a time."""
    ig = i % g
    common = g if cf == 0 else int(np.gcd(g, abs(cf)))
    conflict = ig // (g // common)
    rot = cr * k + k // dr
    if wrap == "inner":
        return i // g * g + (cf * ig + (conflict + rot) % common) % g
    return i // g * g + (cf * ig + conflict + (rot % common if wrap == "outer" else rot)) % g


@pytest.mark.parametrize("inner", [True, False])
def test_xforms_are_their_definition(inner: bool) -> None:
    """All of them, and no others, for 8 threads with 4 registers."""
    wanted = {tuple(range(32))}
    for g in (2, 4, 8):
        for wrap in ("", "inner" if inner else "outer"):
            for cf in (-1, *range(g)):
                for cr in (-1, *range(g)):
                    for dr in (2, 4):
                        rows = [
                            slow_xform(i, k, g, wrap, cf, cr, dr) * 4 + k
                            for i in range(8) for k in range(4)
                        ]  # fmt: skip
                        wanted.add(tuple(rows))
    found = xforms((8, 4), (8, 4), COLUMN, True, inner, ROOM)
    assert {tuple(row) for row in found.rows(np.arange(found.size)).tolist()} == wanted


def test_every_formula_says_what_its_gather_does() -> None:
    """Python reads the printed formulas: `/` floors, as `//` does."""
    for inner in (True, False):
        found = xforms((8, 4), (8, 4), COLUMN, True, inner, ROOM)
        rows = found.rows(np.arange(found.size))
        for number in range(found.size):
            text = found.formula(number).replace("/", "//").replace("a[", "at[")
            for i in range(8):
                for j in range(4):
                    read = eval(text, {"i": i, "j": j, "at": At()})
                    assert read == rows[number, i * 4 + j], text


class At:
    """Stands for an array of 8 x 4 whose elements are their own locations."""

    def __getitem__(self, index: tuple[int, int]) -> int:
        assert 0 <= index[0] < 8
        assert 0 <= index[1] < 4
        return index[0] * 4 + index[1]


def test_loads() -> None:
    assert layouts.load_rep((6,), (4, 2)).index.tolist() == [0, 4, 1, 5, 2, 0, 3, 1]
    assert layouts.load_trunc((6,), (4, 2)).index.tolist() == [0, 4, 1, 5, 2, -2, 3, -2]
    grid = layouts.load_grid_2d((3, 3), (2, 2, 2, 2)).index.reshape(2, 2, 2, 2)
    assert grid[0, 1, 1, 0] == 7
    assert grid[0, 1, 1, 1] == -2


def test_gathers_compose_and_invert() -> None:
    pack = interleave(8, 4)
    assert pack.index[:5].tolist() == [0, 8, 16, 24, 1]
    back = inverse(pack)
    assert back is not None
    assert same(compose(back, pack), identity((32,)))
    turn = permute_axes((4, 8), (1, 0))
    assert same(turn, pack)
    assert inverse(layouts.load_trunc((6,), (2, 2))) is None


def test_equal_rows_are_kept_once() -> None:
    rows = np.array([[0, 1], [1, 0], [0, 1], [-1, -2]], dtype=np.int32)
    found = of_rows([(2,)], (2,), rows, lambda number: f"row {number}")
    assert found.size == 3
    assert [found.formula(n) for n in range(3)] == ["row 0", "row 1", "row 3"]
    assert found.gather(2).index.tolist() == [-1, -2]


def test_what_is_too_large_is_not_made() -> None:
    """The bytes are counted before: three times as many as the values of all gathers, equal ones included."""
    with pytest.raises(TooMany) as raised:
        xforms((32, 64), (32, 64), ROW, True, True, 50_000_000)
    assert raised.value.needed == 3 * raised.value.gathers * raised.value.elements > 50_000_000
