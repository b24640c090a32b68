"""A space, a builder and a meter without compilers: what they say is known, and so is the best. And a small
gemm, for the command itself."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest

from hbc.cli.main import exit_code_of
from hbc.cli.measuring.track import BATCH, Here
from hbc.cli.measuring.trial import Built, Candidate, Failure, State, Trial
from hbc.cli.tuning.search import Search
from hbc.cli.tuning.strategy import Explored
from hbc.codegen.build.processor import can_run
from hbc.ir.lang.target import TARGETS

GEMM = """\
size   M, N, K
input  A: f32[M, K]
input  B: f32[K, N]
output C: f32[M, N]

reduce k in K
acc[i, j]  = 0
acc[i, j] += A[i, k] * B[k, j]
C[i, j]    = acc[i, j]

# The usual one.
example { M = 48; N = 64; K = 32; A = random(1, -1, 1); B = random(2, -1, 1) }
"""
TARGET = "avx2" if can_run(TARGETS["avx2"]) else "c"
QUICK = ("--trials", "4", "--time", "200", "--target", TARGET)


def tuned(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> tuple:
    """What `hbc tune --json` prints, None where that is nothing, and what it says on stderr."""
    assert exit_code_of(["tune", *map(str, arguments), "--json"]) == code
    said = capsys.readouterr()
    return json.loads(said.out) if said.out else None, said.err


@dataclass
class Made:
    text: str
    about: str
    point: Mapping[str, object]
    asked: Mapping[str, tuple]
    cycles: float | None
    selects: bool = False
    shares: Mapping[str, float] = field(default_factory=dict)


@dataclass
class FakeSpace:
    """Choices with options, the first the usual; `model` is what the model thinks a point costs, `shares`
    what each Func has of it."""

    choices: Mapping[str, tuple]
    model: Callable[[Mapping[str, object]], float]
    shares: Mapping[str, float] = field(default_factory=dict)

    def made(self, point: Mapping[str, object]) -> Made:
        full = {n: point.get(n, options[0]) for n, options in self.choices.items()}
        effective = {n: o for n, o in full.items() if o != self.choices[n][0]}
        return Made(
            f"schedule x for c {{\n    {full}\n}}\n",
            "a fake",
            effective,
            self.choices,
            self.model(full),
            shares=self.shares,
        )


@dataclass
class FakeBuilder:
    """Refuses what `refuses` says."""

    refuses: Callable[[Candidate], str | None] = lambda c: None
    asked: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)

    def build(
        self, candidates: Sequence[Candidate], until: float = 0.0, least: int = 0, whole: bool = False
    ) -> list[Built | Trial]:  # fmt: skip
        found: list[Built | Trial] = []
        for c in candidates:
            (self.whole if whole else self.asked).append(c.key)
            reason = self.refuses(c)
            found.append(
                Built(c, "none", "x", False)
                if reason is None
                else Trial(c, State.REFUSED, reason=reason)
            )
        return found

    def abandon(self) -> None: ...


@dataclass
class FakeMeter:
    """`seconds` of a candidate; `fails` says what becomes of one when it is called first, `later` when it is
    measured, `odd` at other sizes. `slow`: by which the machine is slower in each round of all."""

    seconds: Callable[[Candidate], float]
    fails: Callable[[Candidate], Failure | None] = lambda c: None
    later: Callable[[Candidate], Failure | None] = lambda c: None
    odd: Callable[[Candidate], Failure | None] = lambda c: None
    slow: Callable[[int], float] = lambda window: 1.0
    running: set[str] = field(default_factory=set)
    windows: int = 0
    begun: int = 0

    def prepare(self) -> None: ...

    def begin(self, built: Built, best: float | None) -> Failure | None:
        self.begun += 1
        failure = self.fails(built.candidate)
        if failure is None:
            self.running.add(built.candidate.key)
        return failure

    def window(self, built: Built) -> float | Failure:
        assert built.candidate.key in self.running
        self.windows += 1
        failure = self.later(built.candidate)
        if failure is not None:
            self.running.discard(built.candidate.key)
            return failure
        return self.seconds(built.candidate) * self.slow(self.windows)

    def end(self, built: Built) -> None:
        self.running.discard(built.candidate.key)

    def elsewhere(self, built: Built) -> Failure | None:
        return self.odd(built.candidate)


class Fakes(FakeBuilder, FakeMeter):
    """A builder and a meter that need no compiler: shorter schedules are quicker."""

    def __init__(self, *_: object) -> None:
        FakeBuilder.__init__(self)
        FakeMeter.__init__(self, lambda c: 1e-6 * len(c.text))

    def serving(self, settings: Mapping[str, str], sizes: Mapping[str, int]) -> Fakes:
        return self

    def __enter__(self) -> Fakes:
        return self

    def __exit__(self, *_: object) -> None: ...


class Silent:
    """Watches and says nothing."""

    def building(self, count: int) -> None: ...
    def tried(self, found: Search) -> None: ...


def full(space: FakeSpace, c: Candidate) -> dict[str, object]:
    """All choices of a candidate."""
    return {n: c.point.get(n, options[0]) for n, options in space.choices.items()}


def search_of(
    space: FakeSpace, meter: FakeMeter, builder: FakeBuilder | None = None, trials: int = 1000,
    seconds: float = 60.0, known: Callable[[Candidate], Trial | None] = lambda c: None,
    note: Callable[[Trial], None] = lambda t: None,
) -> Search:  # fmt: skip
    """A search with everything faked."""
    return Search(
        Explored(space, {}), Here(builder or FakeBuilder(), meter, BATCH), Random(1), known, note, trials,
        time.monotonic() + seconds, [],
    )  # fmt: skip
