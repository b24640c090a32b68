"""Candidates measured in turns, beside the best so far: what slows the machine down slows all of them down.

In each round every candidate and the best has some short windows, in another order each time: where a machine
is slow for milliseconds, all of them see it and all see it pass. The quickest call of all windows counts, in
relation to that of the best. Those that were behind in each window until then are not measured on.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from random import Random

from hbc.cli.measuring.builder import FOREVER
from hbc.cli.measuring.meter import WINDOW, Meter
from hbc.cli.measuring.trial import Built, Failure, State, Trial

ROUNDS = 5
TURNS = 5  # windows of a round, one where a call takes longer than that
BEHIND = {1: 1.5, 2: 1.2, 3: 1.1}  # after so many rounds, slower than the leader by this: out


class Interrupted(KeyboardInterrupt):
    """Somebody wants it to end. `trials`: what is known by then."""

    def __init__(self, trials: list[Trial]) -> None:
        super().__init__()
        self.trials = trials


def race(
    meter: Meter, built: Iterable[Built], best: tuple[Built, float] | None, random: Random,
    rounds: int = ROUNDS, behind: dict[int, float] = BEHIND, until: float = FOREVER,
) -> tuple[list[Trial], float | None]:  # fmt: skip
    """A trial for each, and the quickest call of the best in this race. `built`: each is called once and
    compared when it is there. `best`: a library that is known to be right, and its seconds: what the others'
    are in proportion to. From `until`, as `time.monotonic` has it, nothing begins any more; without a best,
    the first is measured. Interrupted with what was measured by then: without a best the first is measured
    when it is there, so that something is."""
    came: list[Built] = []
    failures: dict[str, Failure] = {}
    least: dict[str, float] = {}
    turns: dict[str, list[float]] = {}  # windows, each beside the leader's of the same turn
    running: dict[str, Built] = {}
    known = None if best is None else best[1]
    champion = None if best is None else best[0].candidate.key
    try:
        for b in built:
            if (came or best is not None) and time.monotonic() >= until:
                continue
            came.append(b)
            failure = meter.begin(b, known)
            if failure is not None:
                failures[b.candidate.key] = failure
                continue
            running[b.candidate.key] = b
            if best is None and not least:
                _one_window(meter, b, running, least, failures)
        if best is not None and champion not in running:
            if meter.begin(best[0], known) is None:
                running[best[0].candidate.key] = best[0]
            else:
                champion = None
        for number in range(1, rounds + 1):
            if number > 1 and time.monotonic() >= until:
                break
            for _ in range(_turns(known, least)):
                order = list(running.values())
                random.shuffle(order)
                for b in order:
                    took = _one_window(meter, b, running, least, failures)
                    turns.setdefault(b.candidate.key, []).append(took)
            for key in _behind(running, least, turns, behind.get(number, 1e9)):
                if key != champion:
                    meter.end(running.pop(key))
    except KeyboardInterrupt as stop:
        if best is not None and champion not in least:
            least = {}  # what they are in proportion to is not known
        raise Interrupted(_trials(came, failures, least, _scale(best, least))) from stop
    finally:
        for b in running.values():
            meter.end(b)
    scale = _scale(best if champion is not None else None, least)
    return _trials(came, failures, least, scale), least.get(champion or "")


def _turns(known: float | None, least: Mapping[str, float]) -> int:
    """How many windows each has in a round."""
    quickest = min([*least.values(), *([] if known is None else [known])], default=0.0)
    return TURNS if quickest < WINDOW else 1


def _one_window(
    meter: Meter, b: Built, running: dict[str, Built], least: dict[str, float], failures: dict[str, Failure]
) -> float:  # fmt: skip
    """Measures one that is running, which then runs no more where it failed."""
    key = b.candidate.key
    took = meter.window(b)
    if isinstance(took, Failure):
        failures[key] = took
        del running[key]
        return 0.0
    least[key] = min(least.get(key, took), took)
    return took


def _behind(
    running: Mapping[str, Built], least: Mapping[str, float], turns: Mapping[str, list[float]], by: float
) -> list[str]:  # fmt: skip
    """Those that took longer than the leader by this in every turn."""
    if not running:
        return []
    leader = turns[min(running, key=lambda k: least[k])]
    return [
        k for k in running if all(a > by * b for a, b in zip(turns[k], leader, strict=True))
    ]  # fmt: skip


def _scale(best: tuple[Built, float] | None, least: Mapping[str, float]) -> float:
    """What the machine was quicker when the best was measured first."""
    measured = None if best is None else least.get(best[0].candidate.key)
    return 1.0 if best is None or measured is None else best[1] / measured


def _trials(
    came: Sequence[Built], failures: Mapping[str, Failure], least: Mapping[str, float], scale: float
) -> list[Trial]:
    """Of those that failed or were measured."""
    found = []
    for b in came:
        key = b.candidate.key
        if key in failures:
            found.append(Trial(b.candidate, failures[key].state, reason=failures[key].reason))
        elif key in least:
            found.append(Trial(b.candidate, State.MEASURED, least[key] * scale))
    return found
