"""Pins which names of a kernel mean the same thing, and where each is declared."""

from __future__ import annotations

import re

import pytest

from hbc.cli.editor.complete import complete
from hbc.cli.editor.fixes import fixes
from hbc.cli.editor.hover import hover
from hbc.cli.editor.reading import Reading
from hbc.cli.editor.rename import rename
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

# A mark before a name says what it means: «1» stands before all names of one thing, «1!» where it is
# declared.
MARKED = """size «1!»M, «2!»K
param «r!»R: i32 = 2
require «2»K >= 2
input «A!»A: f32[«1»M, «2»K]
output «C!»C: f32[«1»M]
reduce «k!»k in «2»K
«acc!»acc[«ai!»i] = 0
«acc!»acc[«ai»i] += «A»A[«ai»i, «k»k] * f32(«r»R)
«C!»C[«ci!»i] = (let «h!»h = «acc»acc[«ci»i] in «h»h - abs(«h»h)) + sum(«q!»q in 0 .. 2: «A»A[«ci»i, «q»q])
schedule fast for c where «2»K >= 2 and «1»M % «r»R == 0 {
    «C»C.split(«ci»i, «io!»io, «ii!»ii, 4).unroll(«ii»ii)
    «acc»acc.compute_at(«C»C, «io»io).unroll(«ai»i)
    «acc»acc.update.reorder(«ai»i, «k»k)
}
example { «1»M = 8; «2»K = 4; «A»A = random(1) }
"""
TEXT = re.sub("«.*?»", "", MARKED)


def marks() -> dict[str, list[tuple[int, bool]]]:
    """By symbol: the offsets in TEXT, and whether it is declared there."""
    found: dict[str, list[tuple[int, bool]]] = {}
    removed = 0
    for m in re.finditer("«(.*?)»", MARKED):
        found.setdefault(m[1].rstrip("!"), []).append((m.start() - removed, m[1].endswith("!")))
        removed += len(m[0])
    return found


def test_names_that_mean_the_same() -> None:
    reading = Reading(Source("own.hb", TEXT))
    assert not reading.mistakes
    expected = sorted(sorted(places) for places in marks().values())
    by_symbol: dict[tuple[str, ...], list[tuple[int, bool]]] = {}
    for o in reading.names:
        by_symbol.setdefault(o.symbol, []).append((o.span.start, o.declares))
    assert sorted(by_symbol.values()) == expected


@pytest.mark.parametrize("symbol", marks())
def test_a_new_name_leaves_the_program_what_it_was(symbol: str) -> None:
    reading = Reading(Source("own.hb", TEXT))
    for offset, _ in marks()[symbol]:
        spans = rename(reading, offset, "other")
        assert sorted(s.start for s in spans) == [o for o, _ in marks()[symbol]]
    text = TEXT
    for span in sorted(spans, key=lambda s: -s.start):
        text = text[: span.start] + "other" + text[span.end :]
    renamed = Reading(Source("own.hb", text))
    assert not renamed.mistakes
    assert renamed.pipeline is not None and reading.pipeline is not None
    assert len(renamed.names) == len(reading.names)


@pytest.mark.parametrize("to", ["M", "acc", "abs", "split", "2x", "size"])
def test_names_that_are_taken_are_refused(to: str) -> None:
    reading = Reading(Source("own.hb", TEXT))
    with pytest.raises(HbcError):
        rename(reading, TEXT.index("K"), to)


def test_hovering() -> None:
    reading = Reading(Source("own.hb", TEXT))
    at = TEXT.index
    assert "input A: f32[M, K]" in str(hover(reading, at("A: f32")))
    said = str(hover(reading, at("acc[i] +=")))
    assert "Func acc: f32[i], an update" in said and "compute acc" in said
    assert "index variable of the Func `acc`" in str(hover(reading, at("i] +=")))
    assert "schedule `fast` makes" in str(hover(reading, at("io, ii")))
    assert ".split(i, io, ii, 8)" in str(hover(reading, at("split")))
    assert "a value named by `let`" in str(hover(reading, at("h = acc")))
    assert hover(reading, at("+= ")) is None


@pytest.mark.parametrize(
    ("before", "offered", "withheld"),
    [
        ("schedule fast for c {\n    C.", {"split", "vectorize", "update"}, {"C", "sqrt"}),
        ("schedule fast for c {\n    C.split(", {"C", "acc", "i", "mask"}, {"split", "sqrt"}),
        ("C[i] = acc[i] + ", {"acc", "A", "sqrt", "select", "i"}, {"split", "schedule"}),
        ("out", {"output", "C"}, {"split", "sqrt"}),
        ("output D: ", {"f32", "bf16"}, {"C", "split"}),
    ],
)  # fmt: skip
def test_completion(before: str, offered: set[str], withheld: set[str]) -> None:
    """In a text that does not parse, with the names of when it did."""
    last = Reading(Source("own.hb", TEXT))
    text = TEXT[: TEXT.index("schedule")] + before
    now = Reading(Source("own.hb", text))
    names = {w.name for w in complete(now, last, len(text))}
    assert offered <= names
    assert not withheld & names


def test_a_hint_is_an_edit() -> None:
    text = TEXT.replace("abs(h)", "abz(h)")
    reading = Reading(Source("own.hb", text))
    (fix,) = [f for m in reading.mistakes for f in fixes(m)]
    assert (fix.span.text, fix.text) == ("abz", "abs")


def test_every_prefix_of_a_file_can_be_read() -> None:
    """As one types: no exception, and mistakes that lie in the text."""
    for end in range(0, len(TEXT), 7):
        reading = Reading(Source("own.hb", TEXT[:end]))
        for m in reading.mistakes:
            assert m.span is None or m.span.start <= end
        hover(reading, end)
        complete(reading, None, end)
