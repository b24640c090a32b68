"""Products on tensor cores by where operands come from and how many warps share a block: sums are right."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import pytest
from suite_tables import share
from wmma_products import (
    DEPTH,
    LAYOUTS,
    SHAPES,
    STAGING,
    TYPES,
    WARPS,
    Sizes,
    agrees,
    block_of,
    checked,
    interpreted,
    lowered,
    on_cpu,
    text,
)

from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Allocate
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import nodes

Configuration = tuple[str, tuple[int, int], tuple[str, str], str, int]
TABLE: list[Configuration] = list(product(TYPES, SHAPES, LAYOUTS, STAGING, WARPS))


def pairwise(table: list[Configuration]) -> list[Configuration]:
    """Few rows that have any two values of any two columns together, as the table has them."""

    def pairs(row: Configuration) -> set[object]:
        return set(combinations(enumerate(row), 2))

    missing = {pair for row in table for pair in pairs(row)}
    found = []
    while missing:
        found.append(max(table, key=lambda row: len(pairs(row) & missing)))
        missing -= pairs(found[-1])
    return found


def one_layout_each() -> list[Configuration]:
    """A share of the table without its column of layouts: each row has one of them, another than the row
    before."""
    return [
        (kind, shape, LAYOUTS[n % len(LAYOUTS)], staging, warps)
        for n, (kind, shape, staging, warps) in enumerate(
            share(2, list(TYPES), SHAPES, STAGING, list(WARPS))
        )
    ]


def named(row: Configuration) -> str:
    kind, (rows, columns), layouts, staging, warps = row
    orders = "-".join(order.replace(", ", "") for order in layouts)
    return f"{kind}-{rows}x{columns}-{orders}-{staging}-{warps} warps"


def sizes_of(row: Configuration) -> tuple[Sizes, Sizes]:
    """What blocks and steps divide, and what leaves a rest everywhere."""
    height, width = block_of(row[1], row[4])
    exact = {"M": 2 * height, "N": width, "K": 2 * DEPTH}
    return exact, {"M": height + 5, "N": width + 3, "K": DEPTH + 3}


def staged(kernel: Kernel) -> set[str]:
    made = {
        n.buffer
        for n in nodes(kernel.body)
        if isinstance(n, Allocate) and n.memory is Memory.SHARED
    }
    return {x for x in "AB" if any(buffer.startswith(f"{x}_in_acc") for buffer in made)}


@pytest.mark.parametrize("row", one_layout_each(), ids=named)
def test_as_interpreted(row: Configuration) -> None:
    p = checked(text(*row))
    kernel = lowered(p)
    assert kernel.instructions
    assert staged(kernel) == (set() if row[3] == "global" else {"A", "B"})
    run = interpreted(kernel)
    assert all(agrees(p, kernel, sizes, run) for sizes in sizes_of(row))


@pytest.mark.parametrize("row", pairwise(TABLE), ids=named)
def test_as_compiled(row: Configuration, tmp_path: Path) -> None:
    p = checked(text(*row))
    kernel = lowered(p)
    run = on_cpu(kernel, tmp_path)
    assert all(agrees(p, kernel, sizes, run) for sizes in sizes_of(row))
