"""While one types, what was right is not looked at again, and what is wrong is said as if it were."""

from __future__ import annotations

from typing import Any

import pytest

from hbc.cli.editor import found_right
from hbc.cli.editor.found_right import FoundRight
from hbc.cli.editor.reading import Reading
from hbc.ir.ground.source import Source

TEXT = """size N
input  A: f32[N + 2]
output C: f32[N]
F[i] = A[i] + A[i + 1]
C[i] = F[i] + F[i + 1]
schedule one for c { C.unroll(i, 4) }
schedule two for c { F.compute_root() }
example { N = 8; A = random(1) }
"""
EDITS = [
    ("size", "# a comment\nsize"),
    ("unroll(i, 4)", "unroll(i, 8)"),
    ("unroll(i, 4)", "unroll(j, 4)"),  # no such loop
    ("F.compute_root()", "F.compute_at(C, k)"),
    ("F[i + 1]", "F[i + 2]"),  # beyond A
    ("F[i + 1]", "F[i]"),
    ("N = 8", "N = 9"),
    ("for c { F", "for c { G"),
    ("one", "two"),
    ("[N + 2]", "[N]"),
    ("size", "size # half a file\n{"),
]


def said(reading: Reading) -> list[str]:
    return [d.render() for d in reading.mistakes]


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit[1].replace("\n", " "))
def test_mistakes_are_those_of_a_first_reading(edit: tuple[str, str]) -> None:
    right = FoundRight()
    texts = [TEXT, TEXT.replace(*edit, 1), "\n" + TEXT.replace(*edit, 1), "\n" + TEXT, TEXT]
    for text in texts:
        source = Source("own.hb", text)
        again, first = Reading(source, right), Reading(source)
        assert said(again) == said(first)
        assert (again.pipeline is None) == (first.pipeline is None)
        if first.pipeline is not None:
            assert again.pipeline == first.pipeline
        assert all(d.span is None or d.span.source is source for d in again.mistakes)
    assert not said(again)


def test_only_what_was_typed_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def noting(name: str) -> None:
        what = getattr(found_right, name)

        def noted(p: Any, other: Any, *more: Any) -> Any:
            done.append(getattr(other, "name", "bounds"))
            return what(p, other, *more)

        monkeypatch.setattr(found_right, name, noted)

    noting("check_bounds")
    noting("apply_schedule")
    right = FoundRight()

    def read(text: str) -> list[str]:
        done.clear()
        assert not Reading(Source("own.hb", text), right).mistakes
        return list(done)

    assert read(TEXT) == ["bounds", "one", "two"]
    assert read("# said\n" + TEXT.replace("N = 8", "N = 9")) == []
    assert read(TEXT.replace("unroll(i, 4)", "unroll(i, 8)")) == ["one"]
    assert read(TEXT.replace("F[i + 1]", "F[i]")) == ["bounds", "one", "two"]
    assert read(TEXT) == []  # taken back
