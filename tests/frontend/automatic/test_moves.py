"""How accesses move along loops; quotients by powers of two are vectors of which each element is for several
lanes, and blocks begin where one is."""

from __future__ import annotations

import pytest

from hbc.cli.automatic import automatic
from hbc.frontend.checks.check import check
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import nodes

WAYS = {
    "A[0, i]": Move.NEXT, "A[i, 3]": Move.FAR, "A[0, 2 * i]": Move.FAR, "A[3, 4]": Move.FIXED,
    "A[0, 9 - i]": Move.FAR,
    "A[0, i / 2]": Move.REPEATED, "A[0, i / 16 + 1]": Move.REPEATED, "A[0, (i + 1) / 4]": Move.REPEATED,
    "A[0, (2 * i + 1) / 8]": Move.REPEATED, "A[0, min(i / 2, 9)]": Move.REPEATED,
    "A[0, i / 3]": Move.UNEVEN, "A[i / 2, 0]": Move.UNEVEN, "A[i, i / 2]": Move.UNEVEN,
    "A[0, 2 * (i / 2)]": Move.UNEVEN, "A[0, i / 2 + i / 4]": Move.UNEVEN, "A[0, 9 - i / 2]": Move.UNEVEN,
    "A[0, (3 * i) / 4]": Move.UNEVEN, "A[0, i + i / 2]": Move.UNEVEN, "A[0, i % 2]": Move.UNEVEN,
    "A[0, min(i / 2, 9) + max(i / 2, 3)]": Move.UNEVEN,
    "A[i / 16, i % 16]": Move.NEXT, "A[0, i % 32]": Move.NEXT, "A[i % 32, 0]": Move.FAR,
    "A[0, 2 * (i % 16)]": Move.FAR, "A[i / 4, i % 4]": Move.UNEVEN, "A[i / 32, 3]": Move.UNEVEN,
}  # fmt: skip


def pipeline(text: str) -> Pipeline:
    return check(parse(Source("k.hb", text)), {})


@pytest.mark.parametrize("access", WAYS)
def test_moves(access: str) -> None:
    p = pipeline(f"input A: f32[64, 64]\noutput O: f32[8]\nO[i] = {access}\n")
    (a,) = (n for n in nodes(p.funcs[0].pure) if isinstance(n, ir.Access))
    assert move(a, "i") is WAYS[access]


@pytest.mark.parametrize("target", ["avx2", "avx512", "arm_dot"])
def test_sums_of_packed_weights_are_taken_along_them(target: str) -> None:
    text = (
        "size M, K\ninput W: i4[M, K]\ninput x: f32[K]\noutput y: f32[M]\nreduce k in K\n"
        "y[i] = 0\ny[i] += f32(W[i, k]) * x[k]\n"
    )
    made = automatic(pipeline(text), TARGETS[target], {"M": "64", "K": "256"}, False)
    assert made is not None and "rfactor(ki, u)" in made.text


@pytest.mark.parametrize("read", ["f32(W[i, j])", "s[i, j / 4]"])
def test_blocks_begin_where_an_element_does(read: str) -> None:
    """Neither moved back, which would take each lane by itself, nor as narrow as an element is repeated."""
    text = (
        f"size M, K\ninput W: i4[M, K]\ninput s: f32[M, K]\noutput Y: f32[M, K]\nY[i, j] = {read}\n"
    )
    made = automatic(pipeline(text), TARGETS["avx512"], {"M": "64", "K": "256"}, False)
    assert made is not None and "split(j, jo, ji, 16)." in made.text
