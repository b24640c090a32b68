"""A tuning from beginning to end: the space searched, the best confirmed, made short and verified."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field
from random import Random

from hbc.cli.automatic import machine_with
from hbc.cli.instruction_set import instructions_of
from hbc.cli.machine import cpu_count
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.track import BATCH, Deserted, Track
from hbc.cli.measuring.trial import Candidate, State, Trial
from hbc.cli.show.report import Progress
from hbc.cli.tuning.at_random import AtRandom
from hbc.cli.tuning.breaking_points import BreakingPoints
from hbc.cli.tuning.by_model import ByModel
from hbc.cli.tuning.journal import Journal
from hbc.cli.tuning.kept_trials import KeptTrials
from hbc.cli.tuning.minimise import minimise
from hbc.cli.tuning.search import DESERTED, INTERRUPTED, Search
from hbc.cli.tuning.sound import sound
from hbc.cli.tuning.strategy import Explored, Strategy, measured
from hbc.cli.tuning.watching import Watching
from hbc.frontend.automatic.points import space_of
from hbc.frontend.costs.machine_costs import MachineCosts, with_costs
from hbc.ir.ground.record import record

# Of what is drawn, and how many candidates are measured together.
STRATEGIES: dict[str, Callable[[Random, int], Strategy]] = {
    "model": lambda random, batch: ByModel(random, max(batch, BATCH)),
    "random": lambda random, _: AtRandom(random),
    "unit": lambda _, __: BreakingPoints(),
}

# Shares of the time by which the search, the best measured again and its being made short are over; what is
# left is for comparing it at other sizes.
SEARCHING, SETTLING, SHORTENING = 0.77, 0.88, 0.95
CUT_SHORT = (INTERRUPTED, DESERTED)  # only what is known by then is shown
LEAST_DROPS = 4  # directives for which it is worth to begin


@record
class Options:
    """`trials`, `seconds`: limits; `processes`: that compile side by side; `fresh`: nothing is taken from
    other runs; `costs`: that the model goes by, None for those that are described."""

    strategy: str
    trials: int
    seconds: float
    seed: int
    processes: int
    fresh: bool = False
    costs: MachineCosts | None = None


@record
class Tuned:
    """What came of it. `best`: None where no candidate could be measured; `start`: what `auto` makes.
    `sound`: the best is right at other sizes too, as far as was tried."""

    best: Trial | None
    start: Trial | None
    trials: tuple[Trial, ...]
    stopped: str
    seconds: float
    searched: float
    notes: tuple[str, ...] = field(default=())
    sound: bool = True

    def count(self, state: State) -> int:
        return sum(t.state is state for t in self.trials)


def tune(
    job: Job, track: Track, name: str, options: Options, begin: float, journal: Journal | None,
    shown: Progress, watching: Watching,
) -> Tuned:  # fmt: skip
    """`name`: of the schedule; `begin`: since when the time counts, as `time.monotonic` has it. Interruptions
    end it with what was found."""
    target = job.target
    known = instructions_of(target) if target.instruction_sets or target.isa else []
    kept = KeptTrials(job)
    machine = machine_with(target, options.costs)
    space = space_of(
        job.pipeline, target, job.settings, name, with_costs(known, options.costs), machine
    )

    def note(trial: Trial) -> None:
        kept.keep(trial)
        if journal is not None:
            journal.note(trial)

    random = Random(options.seed)
    lookup = _lookup(journal, kept, options.fresh)
    search = Search(
        Explored(space, {}), track, random, lookup, note, options.trials,
        begin + SEARCHING * options.seconds, [],
    )  # fmt: skip
    watching.begin(search, begin + options.seconds)
    searching = time.monotonic()
    search.run(STRATEGIES[options.strategy](random, track.batch), watching)
    searched = time.monotonic() - searching
    ranked, start = _finished(search, begin, options.seconds, shown)
    best, is_sound, passed = _sound(search, ranked, shown)
    notes = [*kept.notes(), *(journal.notes() if journal is not None else ()), *passed]
    took = time.monotonic() - begin
    return Tuned(
        best, start, tuple(search.trials), search.stopped, took, searched, tuple(notes), is_sound
    )  # fmt: skip


def _finished(
    search: Search, begin: float, given: float, shown: Progress
) -> tuple[list[Trial], Trial | None]:  # fmt: skip
    """The best and what `auto` makes, measured once more beside each other, and the best made short; unless
    somebody wants it to end. What is behind the best follows it."""
    ranked = measured(search.trials)
    start = next((t for t in search.trials if not t.candidate.point), None)
    if search.stopped in CUT_SHORT:
        return ranked, start
    try:
        shown.step("measuring the best again")
        settled = search.settle(until=begin + SETTLING * given)
        if settled:
            ranked = [*settled, *(t for t in ranked if not _among(t, settled))]
            start = next((t for t in settled if not t.candidate.point), start)
            shown.step("dropping what is worth nothing")
            until = begin + SHORTENING * given
            most = int((until - time.monotonic()) / max(search.pace, 0.01))
            if most >= LEAST_DROPS:
                short = minimise(search, settled[0], most, until)
                ranked = ranked if _among(short, ranked) else [short, *ranked]
    except KeyboardInterrupt:
        search.track.abandon()
        search.stopped = INTERRUPTED
    except Deserted:
        search.stopped = DESERTED
    return ranked, start


def _among(t: Trial, others: Sequence[Trial]) -> bool:
    """Whether one of them is of the same schedule."""
    return any(t.candidate.key == other.candidate.key for other in others)


def _sound(
    search: Search, ranked: Sequence[Trial], shown: Progress
) -> tuple[Trial | None, bool, list[str]]:  # fmt: skip
    """The first that is right at other sizes, whether that is known, and what is to be said. Interrupted here
    too, or with nobody to compare it, the first is shown."""
    first = ranked[0] if ranked else None
    if search.stopped == DESERTED:
        return first, False, []
    shown.step("comparing at other sizes")
    try:
        best, notes = sound(search, ranked)
    except (KeyboardInterrupt, Deserted) as stop:
        search.stopped = DESERTED if isinstance(stop, Deserted) else INTERRUPTED
        return first, False, []
    return best, True, notes


def usual_processes() -> int:
    """As many as there are processors."""
    return cpu_count()


def _lookup(
    journal: Journal | None, kept: KeptTrials, fresh: bool
) -> Callable[[Candidate], Trial | None]:
    """Finds trials of other runs: in the journal, else in the cache."""

    def find(candidate: Candidate) -> Trial | None:
        if journal is not None and candidate.key in journal.known:
            return journal.known[candidate.key]
        return None if fresh else kept.find(candidate)

    return find
