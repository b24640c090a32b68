"""The search with fake measurements: it finds what is best, and what fails is never the result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import pytest
from tuning_fakes import FakeBuilder, FakeMeter, FakeSpace, Silent, full, search_of

from hbc.cli.measuring.racing import Interrupted, race
from hbc.cli.measuring.trial import Built, Candidate, Failure, State, Trial
from hbc.cli.tuning.at_random import AtRandom
from hbc.cli.tuning.breaking_points import BreakingPoints
from hbc.cli.tuning.by_model import ByModel
from hbc.cli.tuning.search import FINISHED, INTERRUPTED, TIME_SPENT, TRIALS_SPENT
from hbc.cli.tuning.sound import sound
from hbc.cli.tuning.strategy import measured

CHOICES = {
    "C.block": tuple((r, v) for r in (6, 4, 8, 2) for v in (4, 2, 1)),
    "strip": (0, 8, 16, 32),
    "acc.unroll": (2, 1, 4, 8),
    "C.order": (("i", "j"), ("j", "i")),
    "B.packed": (True, False),
}


def truth(point: dict[str, object]) -> float:
    """Seconds: the best is block (8, 2), unroll 4, strip 16, not packed."""
    took = 1.0
    took *= 1.0 if point["C.block"] == (8, 2) else 1.3
    took *= {2: 1.1, 1: 1.2, 4: 1.0, 8: 1.05}[point["acc.unroll"]]
    took *= {0: 1.1, 8: 1.05, 16: 1.0, 32: 1.04}[point["strip"]]
    took *= 1.1 if point["B.packed"] else 1.0
    return took * 1e-3


def model(point: dict[str, object]) -> float:
    """It knows of blocks, roughly, and of nothing else."""
    rows, vectors = point["C.block"]
    return 100.0 + abs(rows * vectors - 18)


SPACE = FakeSpace(CHOICES, model)


def meter(**more) -> FakeMeter:
    return FakeMeter(lambda c: truth(full(SPACE, c)), **more)


def test_led_by_the_model_it_finds_the_best() -> None:
    search = search_of(SPACE, meter())
    search.run(ByModel(Random(0)), Silent())
    assert search.best is not None
    assert search.best.seconds == pytest.approx(1e-3, rel=0.03)
    assert search.stopped == FINISHED
    space = 12 * 4 * 4 * 2 * 2
    assert len(search.trials) < space / 4


def test_the_first_is_what_auto_makes() -> None:
    search = search_of(SPACE, meter(), trials=5)
    search.run(ByModel(Random(0)), Silent())
    assert search.trials[0].candidate.point == {}
    assert (len(search.trials), search.stopped) == (5, TRIALS_SPENT)


def test_what_takes_little_time_is_not_tried_first() -> None:
    """Where the model sees no difference between all these."""
    choices = {
        "copy.order": ("yx", "xy", "yxc", "cyx"), "copy.at": ("root", "C.y", "C.x"),
        "C.order": ("yx", "xy", "kyx"), "C.block": (3, 2, 4, 8, 6),
    }  # fmt: skip
    space = FakeSpace(choices, lambda point: 100.0, {"C": 0.97, "copy": 0.03})
    search = search_of(space, FakeMeter(lambda c: 1e-3), trials=7)
    search.run(ByModel(Random(0)), Silent())
    first = [set(t.candidate.point) for t in search.trials]
    assert first[0] == set()
    assert first[1:5] == [{"C.block"}] * 4
    assert not any(name.startswith("copy") for names in first for name in names)


def test_nothing_is_tried_twice() -> None:
    for strategy in (ByModel(Random(0)), AtRandom(Random(0)), BreakingPoints()):
        builder = FakeBuilder()
        search = search_of(SPACE, meter(), builder, trials=60)
        search.run(strategy, Silent())
        assert len(builder.asked) == len(set(builder.asked)) == len(search.trials)


def test_drawn_points_differ_by_seed_and_repeat_with_it() -> None:
    def points(seed: int) -> list:
        search = search_of(SPACE, meter(), trials=16)
        search.run(AtRandom(Random(seed)), Silent())
        return [t.candidate.point for t in search.trials]

    assert points(3) == points(3) != points(4)


def test_the_breaking_points_leave_other_choices_alone() -> None:
    search = search_of(SPACE, meter())
    search.run(BreakingPoints(), Silent())
    named = {name for t in search.trials for name in t.candidate.point}
    assert named <= {"C.block", "strip", "acc.unroll", "C.order"}
    assert len(search.trials) > 10


@pytest.mark.parametrize("state", [State.CRASHED, State.HUNG, State.WRONG, State.MEMORY])
def test_what_fails_is_never_the_result(state: State) -> None:
    """The best point fails when it is called; the next best is found."""

    def fails(c: Candidate) -> Failure | None:
        return Failure(state, "so") if full(SPACE, c)["C.block"] == (8, 2) else None

    search = search_of(SPACE, meter(fails=fails))
    search.run(ByModel(Random(0)), Silent())
    assert search.best is not None and full(SPACE, search.best.candidate)["C.block"] != (8, 2)
    failed = [t for t in search.trials if t.state is state]
    assert failed and all(t.reason == "so" and t.seconds is None for t in failed)
    assert not search.track.meter.running


def test_what_fails_between_windows_is_none_either() -> None:
    counted: dict[str, int] = {}

    def later(c: Candidate) -> Failure | None:
        counted[c.key] = counted.get(c.key, 0) + 1
        bad = full(SPACE, c)["B.packed"] is False and counted[c.key] > 2
        return Failure(State.CRASHED, "late") if bad else None

    search = search_of(SPACE, meter(later=later), trials=40)
    search.run(AtRandom(Random(0)), Silent())
    assert search.best is not None
    late = [t for t in search.trials if t.state is State.CRASHED]
    assert late and all(t.reason == "late" for t in late)


def test_refusals_of_the_guard_are_trials() -> None:
    builder = FakeBuilder(lambda c: "spills" if full(SPACE, c)["acc.unroll"] == 8 else None)
    search = search_of(SPACE, meter(), builder, trials=40)
    search.run(AtRandom(Random(0)), Silent())
    refused = [t for t in search.trials if t.state is State.REFUSED]
    assert refused and {t.reason for t in refused} == {"spills"}


def test_a_machine_that_becomes_slower_misleads_nobody() -> None:
    """Ten times slower from some time on: in proportion to the best so far, nothing changed."""
    slow = meter(slow=lambda window: 10.0 if window > 60 else 1.0)
    search = search_of(SPACE, slow)
    search.run(ByModel(Random(0)), Silent())
    assert search.best is not None
    assert truth(full(SPACE, search.best.candidate)) == pytest.approx(1e-3, rel=0.05)


def test_a_slow_moment_meets_all() -> None:
    """Short calls have many windows: none is measured in a slow moment alone, as 4 of 8 were with 5 each."""
    candidates = [Candidate({"n": n}, f"schedule x for c {{ {n} }}", "", None) for n in range(8)]
    fake = FakeMeter(
        lambda c: 4e-5 + 1e-6 * c.point["n"], slow=lambda window: 1.0 if window > 36 else 4.0
    )
    found, _ = race(fake, [Built(c, "", "", False) for c in candidates], None, Random(0))
    assert [t.seconds for t in found] == pytest.approx([4e-5 + 1e-6 * n for n in range(8)])


def test_who_is_behind_is_not_measured_on() -> None:
    one, two = (Candidate({"n": n}, f"schedule x for c {{ {n} }}", "", None) for n in (1, 2))
    fake = FakeMeter(lambda c: float(c.point["n"]))
    built = [Built(c, "", "", False) for c in (one, two)]
    race(fake, built, None, Random(0), rounds=10)
    assert fake.windows == 1 + 1 + 10  # the first of all when it is there
    assert not fake.running


def test_nothing_begins_when_time_is_over() -> None:
    """But the first of all, so that there is a result; it has a window when it is there and one round."""
    one, two = (Candidate({"n": n}, f"schedule x for c {{ {n} }}", "", None) for n in (1, 2))
    built = [Built(c, "", "", False) for c in (one, two)]
    over = time.monotonic() - 1
    fake = FakeMeter(lambda c: float(c.point["n"]))
    found, _ = race(fake, built, None, Random(0), until=over)
    assert [t.candidate for t in found] == [one]
    assert (fake.begun, fake.windows, fake.running) == (1, 2, set())
    found, _ = race(fake, built[1:], (built[0], 1.0), Random(0), until=over)
    assert (found, fake.begun) == ([], 2)  # the best only


def test_an_interruption_keeps_the_best() -> None:
    class Impatient(Silent):
        def tried(self, found) -> None:
            if len(found.trials) >= 8:
                raise KeyboardInterrupt

    search = search_of(SPACE, meter())
    search.run(ByModel(Random(0)), Impatient())
    assert (search.stopped, len(search.trials)) == (INTERRUPTED, 8)
    assert search.best is not None


def test_an_interruption_within_a_batch_keeps_what_was_measured() -> None:
    """The first is measured when it is there, while others are compiled. The others were not yet."""

    class Slow(FakeBuilder):
        def build(
            self, candidates: Sequence[Candidate], until: float = 0.0, least: int = 0
        ) -> Iterator[Built | Trial]:
            yield from super().build(candidates[:3])
            raise KeyboardInterrupt

    search = search_of(SPACE, meter(), Slow())
    search.run(ByModel(Random(0)), Silent())
    assert (search.stopped, len(search.trials)) == (INTERRUPTED, 1)
    assert search.best is not None and search.best.candidate.point == {}
    assert not search.track.meter.running


@pytest.mark.parametrize("window", [3, 5])
def test_an_interruption_within_a_race(window: int) -> None:
    """Measured is in proportion to the best, or not at all."""
    one, two, best = (
        Candidate({"n": n}, f"schedule x for c {{ {n} }}", "", None) for n in (3, 4, 2)
    )

    def later(c: Candidate) -> None:
        if fake.windows == window:
            raise KeyboardInterrupt

    fake = FakeMeter(lambda c: float(c.point["n"]), later=later, slow=lambda _: 10.0)
    with pytest.raises(Interrupted) as stop:
        race(
            fake,
            [Built(c, "", "", False) for c in (one, two)],
            (Built(best, "", "", False), 2.0),
            Random(0),
        )
    known = {t.candidate.point["n"]: t.seconds for t in stop.value.trials}
    assert known.items() <= {3: 3.0, 4: 4.0}.items() and (window == 3 or len(known) == 2)


@dataclass
class Clock(FakeBuilder):
    """Goes on by a second for each candidate that is built."""

    now: float = 100.0
    batches: list[int] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    def build(
        self, candidates: Sequence[Candidate], until: float = 0.0, least: int = 0
    ) -> Iterator[Built | Trial]:
        made, kept = super().build(candidates), []
        for number, b in enumerate(made):
            if number >= least and self.now >= until:
                break
            self.now += 1
            kept.append(b)
        self.batches.append(len(kept))
        return iter(kept)


def test_time_ends_it() -> None:
    search = search_of(SPACE, meter(), seconds=0)
    search.run(ByModel(Random(0)), Silent())
    # The oracle took all of it: what `auto` makes is tried, so that there is a result.
    assert [t.candidate.point for t in search.trials] == [{}]
    assert (search.trials[0].state, search.stopped) == (State.MEASURED, TIME_SPENT)


def test_the_last_batch_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more candidates are begun than are over by the deadline, at the pace so far."""
    clock = Clock()
    monkeypatch.setattr("hbc.cli.tuning.search.time", clock)
    monkeypatch.setattr("hbc.cli.measuring.racing.time", clock)
    monkeypatch.setattr("hbc.cli.measuring.track.time", clock)
    search = search_of(SPACE, meter(), clock)
    search.deadline = clock.now + 11
    search.run(AtRandom(Random(0)), Silent())
    assert (clock.batches, search.stopped) == ([8, 3], TIME_SPENT)
    assert clock.now == search.deadline


def test_what_is_known_is_not_built_again() -> None:
    first = search_of(SPACE, meter(), trials=16)
    first.run(ByModel(Random(0)), Silent())
    kept = {
        t.candidate.key: Trial(t.candidate, t.state, t.seconds, t.reason, kept=True)
        for t in first.trials
    }
    builder, fake = FakeBuilder(), meter()
    again = search_of(SPACE, fake, builder, trials=16, known=lambda c: kept.get(c.key))
    again.run(ByModel(Random(0)), Silent())
    known = [t for t in again.trials if t.kept]
    assert len(known) >= 8
    again_built = {t.candidate.key for t in known} & set(builder.asked)
    assert len(again_built) <= 1  # the best, which others are measured beside


def test_the_best_is_confirmed_beside_the_first() -> None:
    builder = FakeBuilder()
    search = search_of(SPACE, meter(), builder)
    search.run(ByModel(Random(0)), Silent())
    assert not builder.whole  # until then only what runs at these sizes
    settled = search.settle()
    assert {t.candidate.key for t in settled} == set(builder.whole)
    assert (
        search.best is not None
    )  # whatever time is left, these two are measured beside each other
    assert builder.whole[:2] == [search.best.candidate.key, search.trials[0].candidate.key]
    assert settled[0].seconds == pytest.approx(1e-3, rel=0.03)
    assert any(not t.candidate.point for t in settled)


@pytest.mark.parametrize("state", [State.WRONG, State.REFUSED, State.CRASHED])
def test_what_fails_at_other_sizes_is_passed_over(state: State) -> None:
    """All with the best block are wrong there: the best of the others is the result."""

    def odd(c: Candidate) -> Failure | None:
        bad = full(SPACE, c)["C.block"] == (8, 2)
        return Failure(state, "at N = 7: so") if bad else None

    noted: list[Trial] = []
    search = search_of(SPACE, meter(odd=odd), note=noted.append)
    search.run(ByModel(Random(0)), Silent())
    assert search.best is not None and full(SPACE, search.best.candidate)["C.block"] == (8, 2)
    others = [t for t in measured(search.trials) if odd(t.candidate) is None]
    best, notes = sound(search, measured(search.trials))
    assert best == others[0] == search.best
    passed = [t for t in search.trials if t.state is state]
    assert len(passed) == len(notes) > 0 and noted[-1] in passed
    assert notes[0] == f"note: a faster schedule is passed over: {state} at N = 7: so"


def test_nothing_is_the_result_where_all_fail_at_other_sizes() -> None:
    search = search_of(SPACE, meter(odd=lambda c: Failure(State.WRONG, "so")), trials=4)
    search.run(ByModel(Random(0)), Silent())
    best, notes = sound(search, measured(search.trials))
    assert (best, search.best, len(notes)) == (None, None, 4)
