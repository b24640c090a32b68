"""What each output location of a step may hold, given the rest of a state.

Where a fold joins the step's output with another argument that is known by now, that argument says
which terms will do: this is how two arguments of a fold are joined without trying all pairs of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from hbc.synth.prunings.analysis import Analysis
from hbc.synth.prunings.demands import SharedCrowd, shared_crowds
from hbc.synth.prunings.folding import Folder
from hbc.synth.prunings.plan import Step
from hbc.synth.prunings.possible import Table
from hbc.synth.prunings.problem import Known, Move, Pack, Problem
from hbc.synth.prunings.run import Batch, Batches, run_ahead

FREE = -1  # depends on no location of the step's output
SEVERAL = -2
MOST_WORK = 300_000_000  # terms times states times locations
MOST_BYTES = 50_000_000  # of a table; without one, the joined states are judged when complete


def residual(
    problem: Problem, analysis: Analysis, folder: Folder, step: Step, values: Batches, states: int
) -> Table:
    """[output location, term], or [state, output location, term] where the states matter."""
    allowed = analysis.allowed[step.output]
    depends = dependences(problem, step, len(allowed))
    later = (*step.fixed, *step.previews)
    judged = [n for n in later if n in depends and _joins(problem, n, depends)]
    shared = (
        shared_crowds(analysis.cuts[step.end], step.output) if step.end in analysis.cuts else []
    )
    shared = [c for c in shared if all(n in values for n, _ in c.others)]
    if shared and states * allowed.size <= MOST_BYTES:
        allowed = np.broadcast_to(allowed, (states, *allowed.shape)).copy()
        for crowd in shared:
            exclude(crowd, values, allowed)
    if not judged:
        return allowed
    # What is made of the joined arguments is judged, not only the fold itself.
    judged = [n for n in later if n in depends and not analysis.allowed[n].all()]
    terms = np.flatnonzero(analysis.allowed[step.output].any(axis=0))
    work = states * terms.size * sum(len(depends[n]) for n in depends)
    size = analysis.allowed[step.output].size
    if not judged or work > MOST_WORK or states * size > MOST_BYTES:
        return allowed
    table = np.broadcast_to(allowed, (states, *allowed.shape[-2:])).copy()
    unmoved: dict[int, Batch] = dict(values)
    run_ahead(problem, folder, (n for n in later if n not in depends), unmoved, states)
    for term in terms:
        filled = dict(unmoved)
        filled[step.output] = np.full((states, len(allowed)), term, dtype=np.uint16)
        run_ahead(problem, folder, (n for n in later if n in depends), filled, states)
        for number in judged:
            where = np.flatnonzero(depends[number] >= 0)
            good = analysis.allowed[number][where, filled[number][:, where]]
            _conjoin(table[:, :, term], depends[number][where], good)
    return table


def exclude(crowd: SharedCrowd, values: Batches, table: Table) -> None:
    """The step's output must hold the kinds of a crowd that the rest of the state lacks."""
    held = np.concatenate([values[n][:, where] for n, where in crowd.others], axis=1)
    kinds = crowd.kinds[held]
    taken = np.zeros((len(table), crowd.kinds.max() + 1), dtype=np.bool_)
    row, column = np.nonzero(kinds >= 0)
    taken[row, kinds[row, column]] = True
    free = np.append(~taken, np.zeros((len(table), 1), dtype=np.bool_), axis=1)[:, crowd.kinds]
    for location in crowd.locations:
        table[:, location] &= free


def _conjoin(table: NDArray[np.bool_], place: NDArray[np.int64], good: NDArray[np.bool_]) -> None:
    for column, location in enumerate(place):
        table[:, location] &= good[:, column]


def dependences(problem: Problem, step: Step, size: int) -> Mapping[int, NDArray[np.int64]]:
    """For the step's output and what is computed from it: which one location of the output each
    location depends on, FREE or SEVERAL."""
    sources: dict[int, NDArray[np.int64]] = {step.output: np.arange(size)}
    for number in (*step.fixed, *step.previews):
        node = problem.nodes[number]
        if isinstance(node, Known) or not any(a in sources for a in node.arguments):
            continue
        parts = [
            sources.get(a, np.full(int(np.prod(problem.nodes[a].shape)), unknown(a, step)))
            for a in node.arguments
        ]
        inputs = np.concatenate([*parts, [FREE, FREE]])
        match node:
            case Move():
                sources[number] = inputs[node.gathers.gather(0).index]
            case Pack():
                grouped = inputs[:-2].reshape(-1, node.length)
                some = grouped.max(axis=1)
                alone = ((grouped == some[:, None]) | (grouped == FREE)).all(axis=1)
                sources[number] = np.where(alone, some, SEVERAL)
    return sources


def unknown(number: int, step: Step) -> int:
    """On what a node depends that is not computed from the step's output."""
    return FREE if number < step.end or number in step.previews else SEVERAL


def _joins(problem: Problem, number: int, depends: Mapping[int, NDArray[np.int64]]) -> bool:
    """Whether a node also reads something that choices before this step made."""
    return any(
        a not in depends and not isinstance(problem.nodes[a], Known)
        for a in problem.nodes[number].arguments
    )
