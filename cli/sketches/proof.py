"""Writes what `hbc check-proof` verifies: a sketch with its solutions, and why there are no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from hbc.cli.files.read_sketch import read_sketch
from hbc.cli.proofs.check import VERSION
from hbc.cli.proofs.statement import Refused, read_statement
from hbc.cli.proofs.tree import MOST_CHOICES, Tree
from hbc.ir.ground.diag import InternalError
from hbc.ir.moves.gather import Gather
from hbc.ir.moves.sketch import FIRST_TERM, NO_TERM, SYMBOL, ZERO_TERM, Literal
from hbc.synth.prunings.problem import Known, Move, Pack, Problem, all_annotated, build_problem
from hbc.synth.results.cost import Pricing
from hbc.synth.results.solve import Outcome
from hbc.synth.sets.gather_set import GatherSet, of_rows

Line = dict[str, Any]
LISTED = 1000  # solutions
STATED = {"terms", "set", "array", "goal"}  # lines that say what a proof is about
ROOM = 400_000_000  # bytes of a set


def sketch_proof(
    outcome: Outcome, pricing: Pricing, settings: Mapping[str, str], check: Callable[[], None]
) -> tuple[list[Line], str]:
    """The lines, and why they do not claim all that could be claimed, if they do not. `check` raises
    Stopped."""
    from hbc.synth.prunings.watch import Stopped

    problem = outcome.problem
    lines = statement_lines(problem)
    listed = [dict(s.choice) for s in islice(outcome.solutions(pricing), LISTED)]
    chosen = [[_number(outcome, h, numbers[h]) for h in problem.holes] for numbers in listed]
    solutions: list[Line] = [{"solution": numbers} for numbers in chosen]
    head: Line = {
        "hbc-proof": VERSION,
        "kind": "sketch",
        "name": problem.sketch.source.name,
        "settings": dict(settings),
    }
    why = f"the search was stopped by the {outcome.stopped}" if outcome.stopped else ""
    steps: list[Line] = []
    if not why:
        try:
            steps, count = tree_lines(Tree(read_statement(lines), check))
            if count != outcome.count():
                raise InternalError(
                    f"the proof has {count} solutions, the search {outcome.count()}"
                )
        except Refused as refused:
            why = str(refused)
        except Stopped as stopped:
            why = f"the proof was stopped by the {stopped.reason}"
    if why and not listed:
        raise Refused(why)
    claims = ["computes"] if why else ["computes", "all"] if listed else ["none"]
    head |= {"claims": claims} if why else {"claims": claims, "solutions": outcome.count()}
    return [head, *lines, *solutions, *([] if why else steps)], why


def written(lines: Sequence[Line]) -> str:
    """The text of a proof: a line of JSON for each, and one that says that all are there."""
    texts = (json.dumps(line, separators=(",", ":")) for line in (*lines, {"end": len(lines) + 1}))
    return "\n".join(texts) + "\n"


def statement_lines(problem: Problem) -> list[Line]:
    """Terms, sets, arrays and goals of a sketch, whatever the search knows about them."""
    terms = _Terms(problem)
    sets: dict[str, int] = {}
    lines: list[Line] = []
    literals = {s.name: s for s in problem.sketch.statements if isinstance(s, Literal)}
    for node in problem.nodes:
        line: Line = {"array": node.name, "shape": list(node.shape)}
        match node:
            case Known(name) if name in literals:
                line["holds"] = terms.numbers(literals[name].cells.reshape(-1).tolist())
            case Known() | Move():
                gathers = node.gathers if isinstance(node, Move) else _alone(node.made)
                made = set_line(gathers)
                key = json.dumps(made)
                if key not in sets:
                    lines.append(made)
                number = sets.setdefault(key, len(sets))
                hole = isinstance(node, Move) and node.hole
                line |= {"of": list(node.arguments), "of_set": number, "hole": hole}
            case Pack():
                operation = node.operation if terms.compared else ""
                line |= {"of": list(node.arguments), "fold": operation, "length": node.length}
        lines.append(line)
    for wanted, goal in zip(problem.goals, problem.sketch.goals, strict=True):
        cells = goal.cells.reshape(-1).tolist()
        held = [-1 if c == NO_TERM else t for c, t in zip(cells, terms.numbers(cells), strict=True)]
        lines.append({"goal": wanted.node, "holds": held})
    return [{"terms": terms.listed}, *lines]


class _Terms:
    """The sketch's terms as they are first met, without the operations of folds where those are not compared.
    What is no part of a goal never becomes one: it is no value."""

    def __init__(self, problem: Problem) -> None:
        self.terms = problem.sketch.terms
        self.compared = all_annotated(problem.sketch)
        self.listed: list[Any] = []
        self.known: dict[object, int] = {}
        self.wanted: set[object] = set()
        goals = {t for goal in problem.sketch.goals for t in np.unique(goal.cells).tolist()}
        for term in goals - {ZERO_TERM, NO_TERM}:
            self.want(self.meaning(term))

    def meaning(self, term: int) -> Any:
        """A name, or an operation with what its elements mean."""
        made = self.terms[term]
        if made.operation == SYMBOL:
            return made.name
        elements = sorted((self.meaning(e) for e in made.elements), key=repr)
        return made.operation if self.compared else "", tuple(elements)

    def want(self, meaning: Any) -> None:
        self.wanted.add(meaning)
        for element in () if isinstance(meaning, str) else meaning[1]:
            self.want(element)

    def numbers(self, cells: Sequence[int]) -> list[int]:
        ends = {ZERO_TERM: 0, NO_TERM: 1}
        return [ends[c] if c in ends else self.number(self.meaning(c)) for c in cells]

    def number(self, meaning: Any) -> int:
        if meaning not in self.wanted:
            return 1
        if meaning not in self.known:
            text = meaning
            if not isinstance(meaning, str):
                text = [meaning[0], sorted(map(self.number, meaning[1]))]
            self.known[meaning] = FIRST_TERM + len(self.listed)
            self.listed.append(text)
        return self.known[meaning]


def _alone(gather: Gather | None) -> GatherSet:
    assert gather is not None
    return of_rows(gather.inputs, gather.output, gather.index[None], lambda number: "")


def set_line(gathers: GatherSet) -> Line:
    return {
        "set": sum(map(prod, gathers.inputs)), "cell": gathers.cell.tolist(),
        "source": gathers.source.tolist(), "gathers": gathers.codes.tolist(),
    }  # fmt: skip


def _number(outcome: Outcome, hole: int, chosen: int) -> int:
    """Of a gather that the analysis left, its number in the whole set."""
    node = outcome.problem.nodes[hole]
    assert isinstance(node, Move)
    wanted = outcome.gathers(hole).gather(chosen).index
    alike = np.arange(node.gathers.size)
    for location, read in enumerate(wanted):
        codes = node.gathers.codes[alike, node.gathers.cell[location]]
        alike = alike[node.gathers.source[location][codes] == read]
    return int(alike[0])


def tree_lines(tree: Tree) -> tuple[list[Line], int]:
    """The steps of a proof, and how many solutions they lead to. Refused where there is too much to
    follow."""
    lines: list[Line] = []
    if tree.empty:
        return lines, 0
    left, nodes = list(tree.s.holes), tree.s.nodes
    while left and tree.ways:
        holes = next_holes(tree, left)
        left = left[len(holes) :]
        may = tree.may[nodes[holes[-1]].here].sum(axis=1)
        probed = np.argsort(may, kind="stable").tolist()
        edges, refused = tree.follow(holes, probed)
        useful = [n for n, count in zip(probed, refused.tolist(), strict=False) if count]
        lines.append({"step": holes, "at": useful, "edges": edges.tolist()})
    return lines, sum(tree.ways)


def next_holes(tree: Tree, left: Sequence[int]) -> list[int]:
    """The next hole, and the one that follows it directly where all choices together are not too many: what a
    fan and a rotation do can be judged only of both."""
    nodes, remain = tree.s.nodes, tree.remain
    for before, hole in pairwise(left[:2]):
        read = [n for n, node in enumerate(nodes) if before in node.of]
        count = len(remain[before]) * len(remain[hole])
        if read == [hole] and nodes[hole].of == (before,) and count <= MOST_CHOICES:
            return [before, hole]
    return [left[0]]


def is_about(lines: Sequence[Line], sketch: Path, settings: Mapping[str, str]) -> bool:
    """Whether a proof states the problem of a sketch, which is read anew."""
    problem = build_problem(read_sketch(sketch, settings), ROOM)
    return [line for line in lines[1:] if STATED & line.keys()] == statement_lines(problem)
