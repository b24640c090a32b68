"""Turns a solution into a movement: the straight-line program that code is printed from."""

from __future__ import annotations

from functools import reduce
from math import prod

import numpy as np

from hbc.ir.ground.diag import error
from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather, compose, identity
from hbc.ir.moves.movement import Folded, Input, Made, Moved, Movement, Output
from hbc.ir.moves.sketch import NO_TERM, ZERO_TERM, Fold, Goal, Literal, Sketch
from hbc.synth.prunings.problem import Known, Move, Pack, Problem
from hbc.synth.results.goals import goal_check
from hbc.synth.results.placement import lane_axes
from hbc.synth.results.runs import runs
from hbc.synth.results.solve import Outcome, Solution

LONGEST = 100  # characters of a formula in a comment
CELLS = ".cells"  # what a literal holds, of the array in memory: without its zeros and blanks


def movement(outcome: Outcome, solution: Solution) -> Movement:
    """The moves and folds that lead to the goals. HbcError for a fold that says no operation."""
    formulas = {
        hole: short(outcome, hole, outcome.gathers(hole).formula(number))
        for hole, number in solution.choice
    }
    return program(outcome.problem, outcome.chosen(solution), formulas)


def program(problem: Problem, chosen: dict[int, Gather], formulas: dict[int, str]) -> Movement:
    """As `movement`, for a gather for each hole."""
    sketch = problem.sketch
    reaching = needed(problem)
    fused = runs(problem)
    inputs: list[Input] = []
    steps: list[Made] = []
    names = {n: node.name for n, node in enumerate(problem.nodes)}
    literals = {s.name: s for s in sketch.statements if isinstance(s, Literal)}
    for number in sorted(reaching):
        node = problem.nodes[number]
        arguments = tuple(names[a] for a in node.arguments)
        match node:
            case Known(name, shape, _, _, None):
                inputs.append(Input(name, shape))
                cells = _cells(literals[name])
                if cells is not None:
                    names[number] = name + CELLS
                    steps.append(Moved(names[number], (name,), cells))
            case Known(name, made=made):
                assert made is not None
                steps.append(Moved(name, arguments, made))
            case Move(name, hole=True) if number in fused:
                first, *rest = fused[number]
                made_of = tuple(names[a] for a in problem.nodes[first].arguments)
                whole = reduce(lambda made, hole: compose(chosen[hole], made), rest, chosen[first])
                said = "; then ".join(formulas[hole] for hole in fused[number])
                stages = tuple(chosen[hole] for hole in fused[number]) if rest else ()
                steps.append(Moved(name, made_of, whole, True, said, stages))
            case Move(hole=True):
                continue  # a part of a run
            case Move(name):
                steps.append(Moved(name, arguments, node.gathers.gather(0)))
            case Pack(name, shape, _, length, operation):
                if not operation:
                    raise _no_operation(sketch, name)
                steps.append(Folded(name, arguments[0], shape, length, operation))
    outputs = tuple(_output(problem, names, goal) for goal in sketch.goals)
    made_names = {step.name for step in steps}
    copies = [o.name for o in outputs if o.name not in made_names]
    if copies:
        # A goal on an input: the output is a copy of it.
        shapes = {given.name: given.shape for given in inputs}
        steps += [Moved(f"{name}.copy", (name,), identity(shapes[name])) for name in copies]
        outputs = tuple(
            Output(f"{o.name}.copy", o.wanted) if o.name in copies else o for o in outputs
        )
    axes, check = lane_axes(sketch.constants), goal_check(sketch, inputs)
    return Movement(sketch.name, tuple(inputs), tuple(steps), outputs, axes, check)


def short(outcome: Outcome, hole: int, formula: str) -> str:
    """A formula that goes over lines by the name of its set and the values of its variables."""
    if len(formula) <= LONGEST:
        return formula
    name = outcome.problem.nodes[hole].name
    span = next(s.span for s in outcome.problem.sketch.statements if s.name == name)
    _, _, values = formula.partition("  with ")
    return f"{span.text.partition('= ')[2] or span.text} with {values}" if values else formula


def needed(problem: Problem) -> set[int]:
    """The nodes that a goal depends on."""
    needed_nodes: set[int] = set()
    stack = [goal.node for goal in problem.goals]
    while stack:
        number = stack.pop()
        if number not in needed_nodes:
            needed_nodes.add(number)
            stack += problem.nodes[number].arguments
    return needed_nodes


def _cells(literal: Literal) -> Gather | None:
    cells = literal.cells.reshape(-1)
    if not ((cells == ZERO_TERM) | (cells == NO_TERM)).any():
        return None
    index = np.arange(prod(literal.shape), dtype=np.int32)
    index = np.where(cells == ZERO_TERM, ZERO, np.where(cells == NO_TERM, UNDEFINED, index))
    return Gather((literal.shape,), literal.shape, index.astype(np.int32))


def _output(problem: Problem, names: dict[int, str], goal: Goal) -> Output:
    number = next(n for n, node in enumerate(problem.nodes) if node.name == goal.target)
    return Output(names[number], goal.cells.reshape(-1) != NO_TERM)


def _no_operation(sketch: Sketch, name: str) -> Exception:
    span = next(s.span for s in sketch.statements if isinstance(s, Fold) and s.name == name)
    return error(
        f"the fold `{name}` names no operation, and code needs one", span,
        "write `fold(+)`, `fold(*)`, `fold(min)`, `fold(max)`, `fold(&)`, `fold(|)` or `fold(^)`",
    )  # fmt: skip
