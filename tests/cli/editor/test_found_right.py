"""While one types, what was right is not looked at again, and what is wrong is said as if it were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hbc.cli.editor import found_right, reading
from hbc.cli.editor.found_right import FoundRight
from hbc.cli.editor.reading import Reading
from hbc.frontend.checks.check import check
from hbc.frontend.text import ast
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
    ("F[i + 1]", "F[i + 1.0]"),
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
    texts += [f"kernel one {{\n{TEXT}}}\nkernel two {{\n{text}}}\n" for text in texts]
    before = None
    for text in texts:
        source = Source("own.hb", text)
        again, first = Reading(source, right, before), Reading(source)
        assert said(again) == said(first)
        for at in (0, len(text) - 3):
            mine, other = again.pipeline_at(at), first.pipeline_at(at)
            assert (mine is None) == (other is None)
            if mine is not None and other is not None:
                assert replace(mine, source=source) == replace(other, source=source)
        assert [(o.symbol, o.span) for o in again.names] == [
            (o.symbol, o.span) for o in first.names
        ]
        assert all(d.span is None or d.span.source.shown == text for d in again.mistakes)
        before = again if again.file else before
    assert not said(again)


def test_what_says_the_same_is_not_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.hb"
    other.write_text("def twice(x) = x + x\n")
    checked: list[str] = []

    def noted(file: ast.File, *more: Any, **named: Any) -> Any:
        checked.append(file.source.text)
        return check(file, *more, **named)

    monkeypatch.setattr(reading, "check", noted)
    one, two = f"kernel one {{\n{TEXT}}}\n", f"kernel two {{\n{TEXT}}}\n"
    importing = f'import "other.hb"\n{TEXT}'
    before = None
    for text, times in [
        (one + two, 2),
        ("# said\n" + one + two, 0),
        (one + two.replace("i, 4", "i, 8"), 1),
        (importing, 1),
        (importing + "# said", 0),
        (importing + "# said again", 1),
    ]:
        checked.clear()
        if "again" in text:
            other.write_text("def twice(x) = 2 * x\n")
        before = Reading(Source(str(tmp_path / "own.hb"), text), None, before)
        assert not before.mistakes and len(checked) == times


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
