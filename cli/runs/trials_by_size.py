"""Trials for kernels that choose among several schedules by size: some at sizes for each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from hbc.cli.compiled import Chosen
from hbc.cli.runs.trials import Special, Trial, draw_trials
from hbc.frontend.program.by_size import apart, conjuncts, taken
from hbc.frontend.program.funcs import Example
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Check
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import nodes

Tried = Counter[str]
"""How many trials were at sizes for which a schedule is taken, by its name."""

LARGEST = 1 << 14  # of the numbers in conditions that are tried as sizes


def trials_for(
    chosen: Chosen, checks: tuple[Check, ...], given: Mapping[str, int], example: Example,
    pool: tuple[int, ...], most_work: int, count: int, seed: int, special: Special,
    tried: Tried | None = None,
) -> Iterator[Trial]:  # fmt: skip
    """As `draw_trials`; where the schedule is several by size, so many for each of them, at sizes beside the
    numbers of its condition, too."""
    p = chosen.pipeline
    if chosen.schedule is None or not chosen.schedule.choices:
        yield from draw_trials(p, checks, given, example, pool, most_work, count, seed, special)
        return
    for s in apart(chosen.schedule):
        asked = (
            () if s.condition is None else tuple(Check(c, s.name) for c in conjuncts(s.condition))
        )
        near = tuple(dict.fromkeys((*pool, *_near(s.condition))))
        for trial in draw_trials(
            p, (*checks, *asked), given, example, near, most_work, count, seed, special
        ):
            count_taken(chosen, trial, tried)
            yield trial


def count_taken(chosen: Chosen, trial: Trial, tried: Tried | None) -> None:
    """Counts for which of several it is."""
    if tried is not None and chosen.schedule is not None and chosen.schedule.choices:
        tried[taken(chosen.schedule, trial.sizes).name] += 1


def _near(condition: ir.Expr | None) -> Iterator[int]:
    """The numbers in a condition, those before and those behind them."""
    for n in () if condition is None else nodes(condition):
        if isinstance(n, ir.Const) and n.type == INDEX and 1 < n.value <= LARGEST:
            yield from (int(n.value) - 1, int(n.value), int(n.value) + 1)
