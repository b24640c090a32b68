"""Writes what `hbc check-proof` verifies: a sketch with its solutions, and why there are no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from hbc.cli.files.read_sketch import read_sketch
from hbc.cli.proofs.check import VERSION, at_first, read_test
from hbc.cli.proofs.limits import Limits, find_limits, groups
from hbc.cli.proofs.statement import Refused, Statement, Universe, read_statement
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
            steps, count = tree_lines(read_statement(lines), check)
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
    """The sketch's terms as they are first met, without the operations of folds where those are not
    compared."""

    def __init__(self, problem: Problem) -> None:
        self.terms = problem.sketch.terms
        self.compared = all_annotated(problem.sketch)
        self.listed: list[Any] = []
        self.known: dict[int, int] = {ZERO_TERM: 0, NO_TERM: 1}
        self.same: dict[object, int] = {}

    def numbers(self, cells: Sequence[int]) -> list[int]:
        return [self.number(c) for c in cells]

    def number(self, term: int) -> int:
        if term not in self.known:
            made = self.terms[term]
            text: Any = made.name
            if made.operation != SYMBOL:
                elements = sorted(self.numbers(made.elements))
                text = [made.operation if self.compared else "", elements]
            self.known[term] = self.same.setdefault(json.dumps(text), FIRST_TERM + len(self.listed))
            if self.known[term] == FIRST_TERM + len(self.listed):
                self.listed.append(text)
        return self.known[term]


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


def tree_lines(s: Statement, check: Callable[[], None]) -> tuple[list[Line], int]:
    """The steps of a proof, and how many solutions they lead to. Refused where there is too much to
    follow."""
    universe = Universe(s)
    limits = find_limits(s, universe)
    if limits.empty:
        return [], 0
    tree = Tree(s, universe, limits, check)
    states, ways = at_first(tree)
    lines: list[Line] = []
    left = list(s.holes)
    while left and ways:
        holes = next_holes(s, limits, left)
        left = left[len(holes) :]
        tests = list(possible_tests(s, limits, holes, left))
        followed = tree.follow(holes, states, ways, [read_test(t, s) for t in tests])
        states, ways = followed.states, followed.ways
        useful = [t for t, count in zip(tests, followed.refused, strict=True) if count]
        lines.append({"step": holes, "tests": useful, "edges": followed.edges.tolist()})
    return lines, sum(ways)


def next_holes(s: Statement, limits: Limits, left: Sequence[int]) -> list[int]:
    """The next hole, and those that follow it directly where all choices together are not too many: what a
    fan
    and a rotation do can be judged only of both."""
    holes = [left[0]]
    for before, hole in pairwise(left):
        read = [n for n, node in enumerate(s.nodes) if before in node.of]
        count = prod(int(limits.remain[h].sum()) for h in (*holes, hole))
        if (
            read != [hole]
            or s.nodes[hole].of != (before,)
            or count > MOST_CHOICES
            or len(holes) > 1
        ):
            break
        holes.append(hole)
    return holes


def possible_tests(
    s: Statement, limits: Limits, holes: Sequence[int], later: Sequence[int]
) -> Iterator[list[Any]]:
    """What is tested after a step: the locations that it decides, the most restricted first; then the
    clauses,
    those of the fewest places first."""
    end = later[0] if later else len(s.nodes)
    before, after = decided(s, holes[0]), decided(s, end)
    for n in range(holes[-1], len(s.nodes)):
        may = limits.may[limits.first[n] : limits.first[n + 1]]
        some = np.flatnonzero(after[n] & ~before[n] & ~may.all(axis=1))
        if some.size and s.nodes[n].holds is None:
            yield ["at", n, some[np.argsort(may[some].sum(axis=1), kind="stable")].tolist()]
    places = limits.clauses[end].places
    places = places[[g[0] for g in groups(places)]]
    for row in places[np.argsort(places.sum(axis=1), kind="stable")]:
        parts = [row[a:b] for a, b in pairwise(limits.first)]
        if row.sum() > 1:
            where = [(n, np.flatnonzero(part).tolist()) for n, part in enumerate(parts)]
            yield ["among", end, [[n, some] for n, some in where if some]]


def decided(s: Statement, end: int) -> list[Any]:
    """Which locations of each node depend on no hole from node `end` on."""
    known: list[Any] = []
    for n, node in enumerate(s.nodes):
        inputs = np.concatenate([*(known[a] for a in node.of), [True, True]])
        if node.holds is not None or n < end:
            known.append(np.ones(node.size, dtype=np.bool_))
        elif node.gathers is None:
            known.append(inputs[:-2].reshape(-1, node.length).all(axis=1))
        else:
            known.append(
                inputs[node.gathers.rows(np.arange(1))[0]]
                if not node.hole
                else np.zeros(node.size, dtype=np.bool_)
            )
    return known


def is_about(lines: Sequence[Line], sketch: Path, settings: Mapping[str, str]) -> bool:
    """Whether a proof states the problem of a sketch, which is read anew."""
    problem = build_problem(read_sketch(sketch, settings), ROOM)
    return [line for line in lines[1:] if STATED & line.keys()] == statement_lines(problem)
