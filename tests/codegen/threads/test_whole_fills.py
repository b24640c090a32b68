"""Copies that reach beyond rows: zeros there where each element is one lane's, masks where it is not."""

from __future__ import annotations

import pytest

from hbc.codegen.threads.whole_fills import whole_fills
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.walk import nodes, statements
from hbc.ir.vectors.places_stored import is_stored_whole, places_stored


def rows(extent: int, stride: int, inner: str = "", memory: str = "shared") -> str:
    """Three rows of 15 elements, by vectors of 8."""
    mask = "ramp(0, 1, 8) < x8(n)"
    copy = f"s[ramp({stride} * r + 8 * v, 1, 8) if {mask}] = A.f16x8[ramp(40 * r + 8 * v, 1, 8) if {mask}]"
    fill = f"threads r from 0 count 3 {{ threads v from 0 count 2 {{ let n = 15 - 8 * v in {copy} }} }}"
    if inner:
        fill = f"{inner} {{ {fill} }}"
    return allocated(
        extent, f"{fill} threads t from 0 count 3 {{ O[t] = s.f16[{stride} * t] }}", memory
    )


def allocated(extent: int, body: str, memory: str = "shared") -> str:
    return f"allocate s: f16[{extent}] in {memory} {{ {body} }}"


def filled(text: str) -> tuple[ir.Allocate, ir.Allocate]:
    before = read_stmt(text)
    after = whole_fills(Kernel("k", (), (), (), (), before)).body
    assert isinstance(before, ir.Allocate) and isinstance(after, ir.Allocate)
    return before, after


def masks(a: ir.Allocate) -> list[bool]:
    return [
        s.mask is not None
        for s in statements(a.body)
        if isinstance(s, ir.Store) and s.buffer == "s"
    ]


def test_rows_with_room_for_whole_vectors() -> None:
    before, after = filled(rows(48, 16))
    assert (masks(before), masks(after)) == ([True], [False])
    assert all(
        n.mask is not None for n in nodes(after) if isinstance(n, ir.Load) and n.buffer == "A"
    )
    found = places_stored(after)
    assert found is not None and sorted(found.tolist()) == list(range(48))
    assert not is_stored_whole(before) and is_stored_whole(after)


def test_elements_between_rows_have_no_values() -> None:
    before, after = filled(rows(72, 24))
    assert (masks(before), masks(after)) == ([True], [False])
    assert not is_stored_whole(after)


@pytest.mark.parametrize(
    "text",
    [
        rows(45, 15),  # a vector ends in the next row
        rows(47, 16),  # and one that is not there
        rows(48, 16, "if m > 2"),
        rows(48, 16, "for k from 0 count 2"),  # stored twice
        rows(48, 16, "for k from 0 count m"),
        rows(48, 16, memory="stack"),
    ],
)
def test_masks_that_stay(text: str) -> None:
    before, after = filled(text)
    assert masks(after) == masks(before) == [True]


@pytest.mark.parametrize(
    ("extent", "step", "read", "whole"),
    [
        (4, 2, "} O[0] = s.f16[3]", True),
        (10, 8, "} O[0] = s.f16[9]", False),
        (4, 2, "O[k] = s.f16[3] }", False),
    ],
    ids=["all", "some", "read before the next are stored"],
)
def test_what_has_a_value(extent: int, step: int, read: str, whole: bool) -> None:
    stores = f"s[{step} * k] = 0:f16 s[{step} * k + 1] = 0:f16"
    s = read_stmt(allocated(extent, f"for k from 0 count 2 {{ {stores} {read}"))
    assert isinstance(s, ir.Allocate) and is_stored_whole(s) == whole
