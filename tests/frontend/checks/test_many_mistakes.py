"""Time is linear in the number of mistakes, and after so many a file is left, with their number.

Calls are counted, not seconds: those depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from hbc.frontend.checks.check import check
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import MOST_MISTAKES, HbcError, Severity
from hbc.ir.ground.source import Source

HEAD = "size N\ninput x: f32[N]\noutput y: f32[N]\n"
KINDS: dict[str, Callable[[int], str]] = {
    "unknown names": lambda n: "".join(f"g{i}[i] = x[i] + u{i}\n" for i in range(n)) + "y[i] = g0[i]\n",
    "in one line": lambda n: "y[i] = " + " + ".join(
        "(" + " + ".join(f"u{j}_{i}" for i in range(50)) + ")" for j in range(n // 50)) + "\n",
    "unknown inputs": lambda n: "".join(f"g{i}[i] = x{i}[i]\n" for i in range(n)) + "y[i] = g0[i]\n",
    "unknown functions": lambda n: "".join(f"g{i}[i] = x{i}(i)\n" for i in range(n)) + "y[i] = g0[i]\n",
    "defined twice": lambda n: "y[i] = x[i]\n" * n,
    "directives": lambda n: "y[i] = x[i]\nschedule s for c {\n"
    + "".join(f"y.do{i}(i)\n" for i in range(n)) + "}\n",
    "loops": lambda n: "y[i] = x[i]\nschedule s for c {\n"
    + "".join(f"y.unroll(k{i})\n" for i in range(n)) + "}\n",
    "stages": lambda n: "y[i] = x[i]\nschedule s for c {\n"
    + "".join(f"y{i}.unroll(i)\n" for i in range(n)) + "}\n",
    "outputs": lambda n: "".join(f"reduce r{i} in Q{i}\n" for i in range(n)) + "y[i] = x[i]\n",
    "syntax": lambda n: "".join(f"g{i}[i] = x[i] ? 2\n" for i in range(n)),
}  # fmt: skip


def counted(text: str) -> tuple[int, HbcError]:
    """How many calls it takes to find the mistakes, and those."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    with pytest.raises(HbcError) as raised:
        sys.setprofile(count)
        try:
            check(parse(Source("many.hb", HEAD + text)), {})
        finally:
            sys.setprofile(None)
    return calls, raised.value


@pytest.mark.parametrize("kind", KINDS)
def test_twice_as_many_take_twice_as_long(kind: str) -> None:
    counted(KINDS[kind](100))  # what is made once
    once, _ = counted(KINDS[kind](250))
    twice, failure = counted(KINDS[kind](500))
    assert twice < 2.5 * once
    assert len(failure.diagnostics) <= MOST_MISTAKES + 1
    assert failure.diagnostics[-1].severity is Severity.NOTE
    assert "looks for no more in many.hb" in failure.diagnostics[-1].message


def test_they_are_shown_in_the_order_of_the_file() -> None:
    _, failure = counted(KINDS["unknown names"](200))
    *shown, last = failure.diagnostics
    places = [d.span.start for d in shown if d.span]
    assert len(places) == MOST_MISTAKES
    assert places == sorted(places)
    assert last.message == "100 mistakes, and hbc looks for no more in many.hb"


def test_fewer_are_all_shown() -> None:
    _, failure = counted(KINDS["unknown names"](MOST_MISTAKES - 1))
    assert len(failure.diagnostics) == MOST_MISTAKES - 1
    assert all(d.severity is Severity.ERROR for d in failure.diagnostics)


def test_the_same_mistake_counts_once() -> None:
    source = Source("a.hb", HEAD + "y[i] = x[i] + u\n")
    with pytest.raises(HbcError) as raised:
        check(parse(source), {})
    assert len(raised.value.diagnostics) == 1
