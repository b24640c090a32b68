"""What egglog extracts, as its versions print it."""

from __future__ import annotations

import pytest

from hbc.eqsat.graph.decode import stride_map
from hbc.eqsat.graph.egraph import EGraph, Term

EMPTY = Term("map-empty", ())
INSERTED = Term("map-insert", (Term("map-insert", (EMPTY, 1, 128)), 2, 1))


@pytest.mark.parametrize(
    ("term", "strides"),
    [
        (EMPTY, {}),
        (Term("map-of", ()), {}),
        (INSERTED, {1: 128, 2: 1}),  # egglog 13
        (Term("map-of", (1, 128, 2, 1)), {1: 128, 2: 1}),  # egglog 14
    ],
)
def test_both_versions(term: Term, strides: dict[int, int]) -> None:
    assert stride_map(term) == strides


def test_the_version_that_is_here() -> None:
    graph = EGraph()
    graph.run(f"(let strides (Read 0 {INSERTED}))", "strides.egg")
    read = graph.extract("strides")
    assert isinstance(read.args[1], Term)
    assert stride_map(read.args[1]) == {1: 128, 2: 1}
