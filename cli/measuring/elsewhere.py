"""A candidate at other sizes than those that are tuned: odd ones, with rests of loops, in memory that faults
behind each array. A schedule is written for all sizes, and was measured at one set of them."""

from __future__ import annotations

import re
from pathlib import Path

from hbc.cli.files.inputs import choose_example
from hbc.cli.measuring.guard import guarded
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.trial import Built, Failure, State, failed
from hbc.cli.runs.checking import check_outputs
from hbc.cli.runs.instruction_error import expected_outputs
from hbc.cli.runs.native import Native
from hbc.cli.runs.stages import outputs_at, special_of
from hbc.cli.runs.trials import MEDIUM, draw_trials
from hbc.ir.ground.diag import HbcError, InternalError

TRIALS = 6  # the last of them with sizes that may be 0
WORK = 4_000_000  # operations of one
SEED = 2  # others than `hbc verify` draws
MOST = 512  # of the factors of a schedule, whose neighbours are sizes too
TIMEOUT = 30.0  # seconds for a call: it is a small one
_NUMBER = re.compile(r"\b\d+\b")


def failure_elsewhere(job: Job, built: Built) -> Failure | None:
    """What is wrong with a library at sizes that its checks accept: other outputs than the oracle's, a crash,
    a refusal. The same sizes each time."""
    p, c = job.pipeline, built.candidate
    kernel = guarded(p, c.text, job.target, job.settings, c.selects, strict=False)
    constants = tuple(i.name for i in p.inputs if i.constant)
    trials = draw_trials(
        p, kernel.checks, {}, choose_example(p, None), sizes_around(c.text), WORK, TRIALS, SEED,
        special_of(kernel),
    )  # fmt: skip
    with Native(Path(built.library), job.threads, TIMEOUT) as native:
        for number, trial in enumerate(trials):
            expected = expected_outputs(p, trial.sizes, trial.inputs, kernel.instructions)
            apart, packs = number % 3 == 2, constants if number % 3 == 0 else ()
            try:
                found = outputs_at(p, kernel, native, trial, apart, packs)
            except (HbcError, InternalError) as failure:
                why = failed(failure)
                return Failure(why.state, f"at {trial}: {why.reason}")
            checked = check_outputs(found, expected)
            if not checked.ok:
                return Failure(State.WRONG, f"at {trial}: {checked.mistakes[0]}")
    return None


def sizes_around(text: str) -> tuple[int, ...]:
    """Odd sizes, and those beside the factors of a schedule, where whole pieces end and rests begin."""
    factors = {int(n) for n in _NUMBER.findall(text)}
    beside = {n + d for n in factors for d in (-1, 1) if n + d > 0 and n <= MOST}
    return tuple(sorted({*MEDIUM, *beside}))
