"""Every shape of tensor cores by type and layout: fragments lie as the hardware asks, sums are right."""

from __future__ import annotations

from pathlib import Path

import pytest
from suite_tables import share
from wmma_products import (
    LAYOUTS,
    SHAPES,
    TYPES,
    agrees,
    checked,
    interpreted,
    lowered,
    on_cpu,
    text,
)

from hbc.eqsat.operands.fragment_checks import BEGIN, ROW
from hbc.ir.algebra.layout import layout
from hbc.ir.algebra.linear import linear
from hbc.ir.lang.build import const_value
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Allocate, Load, Store
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes

SIZES = ({"M": 37, "N": 41, "K": 35}, {"M": 3, "N": 17, "K": 2}, {"M": 64, "N": 64, "K": 32})


def aligned(kernel: Kernel) -> int:
    """Checks all fragments that are loaded from temporaries; how many there are."""
    made = {n.buffer: n for n in nodes(kernel.body) if isinstance(n, Allocate)}
    tiles = {n for n, a in made.items() if a.memory is Memory.WMMA}
    count = 0
    for s in nodes(kernel.body):
        if not isinstance(s, Store) or s.buffer not in tiles or not isinstance(s.value, Load):
            continue
        if s.value.buffer in tiles or s.value.buffer not in made:
            continue
        at, size = layout(s.value.index), s.value.type.element.bytes
        assert at is not None
        form = linear(at.base)
        assert all(n * size % BEGIN == 0 for n in (form.constant, *(c for _, c in form.terms)))
        if at.dims[-1][0] < s.value.type.lanes:  # else rows follow each other: see the table below
            assert all(
                int(const_value(stride) or 0) * size % ROW == 0 for _, stride in at.dims[:-1]
            )
        count += 1
    return count


def named(row: tuple[str, tuple[int, int], tuple[str, str]]) -> str:
    kind, (rows, columns), layouts = row
    return f"{kind}-{rows}x{columns}x16-{' x '.join(layouts).replace(', ', '')}"


TABLE = share(3, list(TYPES), SHAPES, LAYOUTS)


@pytest.mark.parametrize(("kind", "shape", "layouts"), TABLE, ids=map(named, TABLE))
def test_sums_and_fragments(kind: str, shape: tuple[int, int], layouts: tuple[str, str]) -> None:
    p = checked(text(kind, shape, layouts))
    kernel = lowered(p)
    assert kernel.instructions and aligned(kernel)
    columns = {i.name: tuple(o.extents[-1] for o in i.operands) for i in kernel.instructions}
    for i in kernel.instructions:
        for n in i.factors:
            packed = f"{'AB'[n - 1]}_packed"
            if any(packed in getattr(s, "buffer", "") for s in nodes(kernel.body)):
                extent = const_value(columns[i.name][n])
                assert int(extent or 0) * i.operands[n].element.bytes % ROW == 0
    run = interpreted(kernel)
    assert all(agrees(p, kernel, sizes, run) for sizes in SIZES)


@pytest.mark.parametrize("staging", ["global", "warp"])
@pytest.mark.parametrize(("shape", "a"), [((32, 8), "i, k"), ((8, 32), "k, i")])
def test_bytes_as_they_run(shape: tuple[int, int], a: str, staging: str, tmp_path: Path) -> None:
    """Where rows of a factor have 8 bytes, the other order is packed, also where a warp has staged them: the
    shim ends a program that loads rows which are no multiples of 16 bytes apart."""
    p = checked(text("u8", shape, (a, "k, j"), staging))
    kernel = lowered(p)
    assert agrees(p, kernel, SIZES[0], on_cpu(kernel, tmp_path))
