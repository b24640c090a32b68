"""The search finds exactly what plain enumeration finds, with every test and shortcut on or off."""

from __future__ import annotations

import os

import pytest
from brute_sketches import Sketch, sketches
from hypothesis import given, settings
from hypothesis import strategies as st

from hbc.frontend.sketch.elaborate import load_sketch
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source, Span
from hbc.synth.prunings.watch import Watch
from hbc.synth.results.solve import solve
from hbc.synth.search.switches import Switches

EXAMPLES = int(os.environ.get("HBC_SYNTH_EXAMPLES", "400"))


def no_imports(path: str, span: Span) -> Source:
    raise AssertionError(path)


def counted(sketch: Sketch, switches: Switches) -> int:
    """The number of solutions; every one of them is executed and must be there once."""
    loaded = load_sketch(Source("random.sf", sketch.text()), {}, no_imports)
    outcome = solve(loaded, switches, Watch())
    assert outcome.complete
    listed = [solution.choice for solution in outcome.solutions()]
    assert len(set(listed)) == len(listed) == outcome.count()
    return len(listed)


def contradictory(sketch: Sketch) -> bool:
    """Two goals for one array that want different terms: refused, and without solutions."""
    try:
        load_sketch(Source("random.sf", sketch.text()), {}, no_imports)
    except HbcError as failure:
        assert "contradict" in str(failure)
        return True
    return False


SWITCHES = [
    Switches(),
    Switches(pairs=True),
    Switches(classes=False, copies=False, crowds=False),
    Switches(classes=False, crowds=False),
    Switches(compose=False, joins=False),
    Switches(classes=False, copies=False, crowds=False, pairs=True, merge=False),
]


@settings(max_examples=EXAMPLES)
@given(sketches(), st.sampled_from(SWITCHES))
def test_all_solutions_are_found(sketch: Sketch, switches: Switches) -> None:
    expected = sketch.solutions()
    if contradictory(sketch):
        assert expected == 0
        return
    assert counted(sketch, switches) == expected, sketch.text()


@pytest.mark.parametrize("switches", SWITCHES, ids=str)
def test_repeated_terms_in_a_goal(switches: Switches) -> None:
    """`fold{x0, x0}`, a square, takes two copies of a term at one place."""
    text = """
        x: [2]
        set picks(a: [2]) -> [2, 2] = \\i, j. a[(p * i + q * j + r) % 2]
            for p in 2, q in 2, r in 2
        y: [2, 2] = ?picks(x)
        out: [2] = fold(*) y
        goal out == [fold(*) [x0, x0], fold(*) [x1, x1]]
    """
    loaded = load_sketch(Source("squares.sf", text), {}, no_imports)
    assert solve(loaded, switches, Watch()).count() == 1
