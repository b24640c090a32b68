"""Batches of candidates for processes that compile: in time, abandoned, each there when it is done."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from hbc.cli.measuring import builder as building
from hbc.cli.measuring.builder import Builders
from hbc.cli.measuring.trial import Built, Candidate, State, Trial
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

SOURCE = Source("k.hb", "size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = A[i] * 2\n")
PATIENCE = 30.0  # seconds that a test waits for what comes at once


@dataclass
class Child:
    """Compiles whatever it is given, at once; `slow` ones when they are killed."""

    slow: frozenset[str] = frozenset()
    pace: float = 0.0
    asked: list[str] = field(default_factory=list)
    killed: threading.Event = field(default_factory=threading.Event)

    def build(
        self, candidate: Candidate, settings: Mapping[str, str], until: float
    ) -> Built | Trial | None:
        self.asked.append(candidate.about)
        if candidate.about in self.slow:
            assert self.killed.wait(PATIENCE)
            return None
        return Built(candidate, "", "", False)

    def kill(self) -> None:
        self.killed.set()

    def end(self) -> None: ...


def candidates(names: str) -> list[Candidate]:
    return [Candidate({"n": n}, f"schedule x for c {{ {n} }}", n, None) for n in names]


def builders(monkeypatch: pytest.MonkeyPatch, *children: Child) -> Builders:
    waiting = iter(children)
    monkeypatch.setattr(building, "_Child", lambda *_: next(waiting))
    return Builders(SOURCE, TARGETS["c"], len(children))


def test_each_comes_when_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Child(frozenset("a"))
    with builders(monkeypatch, slow, Child(frozenset("a"))) as made:
        coming = made.serving({}, {}).build(candidates("abcd"))
        assert sorted(next(coming).candidate.about for _ in range(3)) == ["b", "c", "d"]
        made.abandon()
        assert list(coming) == []


def test_what_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Child(pace=100.0)
    with builders(monkeypatch, child) as made:
        until = time.monotonic() + 50
        assert list(made.serving({}, {}).build(candidates("ab"), until)) == []
        found = list(made.serving({}, {}).build(candidates("ab"), until, least=1))
        assert [b.candidate.about for b in found] == ["a"] == child.asked


def test_a_batch_ends_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    child = Child(frozenset("a"))
    with builders(monkeypatch, child) as made:
        before = made.serving({}, {}).build(candidates("ab"))
        assert [b.candidate.about for b in made.serving({}, {}).build(candidates("cd"))] == [
            "c",
            "d",
        ]
        assert list(before) == [] and "b" not in child.asked


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_a_process_is_ended_with_the_time_and_begun_again() -> None:
    wide = SOURCE.text.replace("* 2", "* 2 + n").replace("size N", "size N\nparam n: f32 = 1")
    with Builders(Source("k.hb", wide), TARGETS["c"], 1) as made:
        good, other = (
            Candidate({}, f"schedule x for c {{\n    B.unroll(i, {n})\n}}\n", "", None)
            for n in (2, 4)
        )
        bad = Candidate({}, "schedule x for c {\n    B.unroll(j, 2)\n}\n", "", None)
        assert list(made.serving({}, {}).build([good], time.monotonic() + 0.001)) == []
        for settings, compiled in (({"n": "2"}, 0), ({"n": "3"}, 1)):
            built, refused = made.serving(settings, {}).build([other, bad])
            assert isinstance(built, Built) and built.function == "k"
            assert isinstance(refused, Trial) and refused.state is State.REFUSED
            headers = list((made.folder / "0").glob("headers-*.gch"))
            assert len(headers) == compiled
        (whole,) = made.serving({"n": "2"}, {"N": 4}).build([other], whole=True)
        (part,) = made.serving({"n": "2"}, {"N": 4}).build([other])
        assert isinstance(whole, Built) and isinstance(part, Built)
        assert whole.library != part.library  # of one schedule both are there
