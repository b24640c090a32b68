"""Holes that make one move together: they follow each other and move data along the same axis."""

from __future__ import annotations

import numpy as np

from hbc.synth.prunings.problem import Move, Problem
from hbc.synth.results.placement import lane_and_register, lane_axes, lanes_of


def runs(problem: Problem) -> dict[int, tuple[int, ...]]:
    """All holes of the problem, by the last of each run. A fan and the rotation after it are one run;
    the states between them are never needed."""
    axes = lane_axes(problem.sketch.constants)
    by_last: dict[int, tuple[int, ...]] = {}
    for hole in problem.holes:
        before = by_last.get(hole - 1)
        if before is not None and _continues(problem, hole - 1, hole, axes):
            del by_last[hole - 1]
            by_last[hole] = (*before, hole)
        else:
            by_last[hole] = (hole,)
    return by_last


def _continues(problem: Problem, first: int, second: int, axes: int) -> bool:
    """Whether only `second` reads `first`, and both move data within lanes, or both across lanes."""
    readers = [n for n, node in enumerate(problem.nodes) if first in node.arguments]
    if readers != [second] or problem.nodes[second].arguments != (first,):
        return False
    if any(goal.node == first for goal in problem.goals):
        return False
    return bool(_kinds(problem, first, axes) & _kinds(problem, second, axes))


def _kinds(problem: Problem, hole: int, axes: int) -> frozenset[str]:
    """Whether some gather of a hole moves data between lanes or registers, where it is only one of
    them."""
    node = problem.nodes[hole]
    assert isinstance(node, Move)
    shapes = node.gathers.inputs
    if len(shapes) != 1 or lanes_of(shapes[0], axes) != lanes_of(node.shape, axes):
        return frozenset()
    outputs, inputs = np.nonzero(node.gathers.reach()[:, :-2])
    to, came = lane_and_register(node.shape, axes), lane_and_register(shapes[0], axes)
    lanes = bool((to[0][outputs] != came[0][inputs]).any())
    registers = bool((to[1][outputs] != came[1][inputs]).any())
    if lanes == registers:
        return frozenset()
    return frozenset({"lanes" if lanes else "registers"})
