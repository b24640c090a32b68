"""New names are the first that nothing has."""

from __future__ import annotations

from hbc.ir.lang.names import unused


def test_unused() -> None:
    assert unused("x", set()) == "x"
    assert unused("x", {"x", "x3"}) == "x2"
    assert unused("x", {"x", "x2", "x3"}) == "x4"
    assert unused("x", {"x", "x_2"}, "_") == "x_3"
