"""Checks a proof: reads its lines, follows what it claims, and says what has been found to hold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hbc.cli.proofs.bounds import counted
from hbc.cli.proofs.statement import (
    ANYTHING,
    NOTHING,
    Refused,
    Statement,
    ints,
    need,
    read_statement,
    whole,
)
from hbc.cli.proofs.tree import Tree

VERSION = 2
STATED = ("terms", "set", "array", "goal")
LINES = (*STATED, "solution", "step", "fewest", "end")
DAMAGED = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)
CLAIMS = {
    "sketch": (["computes"], ["computes", "all"], ["none"]),
    "gather": (["computes"], ["computes", "at least"], ["computes", "minimal"]),
}


@dataclass(frozen=True)
class Verdict:
    """What a proof is about, what it claims, and what that means, in words; every claim has been checked."""

    name: str
    kind: str
    claims: list[str]
    settings: dict[str, str]
    facts: list[str]


def check_proof(text: Iterable[str]) -> Verdict:
    """Of the lines of its file. Raises Refused where it proves nothing, or not what it claims."""
    try:
        with np.errstate(all="ignore"):
            return _checked(text)
    except DAMAGED as damage:
        raise Refused(f"it is damaged: {type(damage).__name__}") from None


def _checked(text: Iterable[str]) -> Verdict:
    head, *lines = read_lines(text)
    name, kind, claims = head["name"], head["kind"], head["claims"]
    need(isinstance(name, str) and isinstance(head["settings"], dict), "its head is damaged")
    need(claims in CLAIMS.get(kind, ()), "it claims what this checker does not know")
    s = read_statement([line for line in lines if next(iter(line)) in STATED])
    listed = [line["solution"] for line in lines if "solution" in line]
    for solution in listed:
        need(len(solution) == len(s.holes), "a solution leaves a hole out")
        need(computes(s, solution), "a solution does not compute the goals")
    need(len({json.dumps(c) for c in listed}) == len(listed), "a solution is listed twice")
    need(
        bool(listed) == ("computes" in claims),
        "solutions are listed, or none is, against its claims",
    )
    facts = [f"computes: each of the {len(listed)} listed solutions makes what the goals say"]
    if kind == "gather":
        facts += fewest(s, claims, [line for line in lines if "fewest" in line])
    elif claims != ["computes"]:
        count, states = follow(s, [line for line in lines if "step" in line])
        good = count == whole(head["solutions"], 0, 1 << 62, "solutions") and len(listed) <= count
        need(good, "there are not as many solutions as it says")
        need(bool(count) == bool(listed), "there are solutions, or none, against what it claims")
        of = " x ".join(str(len(s.nodes[h].set.codes)) for h in s.holes) or "1"
        what = (
            f"all: there are {count} solutions and no other"
            if count
            else "none: there is no solution"
        )
        facts.append(f"{what}, of {of} choices; {states} states were followed")
    return Verdict(name, kind, claims, head["settings"], facts[not listed :])


def read_lines(text: Iterable[str]) -> list[dict[str, Any]]:
    """The lines of a proof between its head, which comes first, and its end, which is there."""
    lines: list[dict[str, Any]] = []
    for line in text:
        value = json.loads(line)
        need(isinstance(value, dict) and value, "a line is no object")
        if not lines:
            need("hbc-proof" in value, "it is no proof of `hbc synth`")
            version = value["hbc-proof"]
            known = version == VERSION and type(version) is int
            need(known, f"it is of version {str(version)[:20]}, and {VERSION} is known")
        else:
            need("end" not in lines[-1], "something follows its end")
            need(next(iter(value)) in LINES, "a line says nothing that is known")
        lines.append(value)
    need(lines, "it is empty")
    need(lines[-1].get("end") == len(lines), "its end is missing: it was cut off, or lines were")
    return lines[:-1]


def computes(s: Statement, solution: list[Any]) -> bool:
    """Whether gathers, one for each hole, make what the goals say: executed on the terms themselves."""
    held, left = np.zeros((1, s.size), dtype=np.int64), iter(solution)
    held[:, NOTHING] = NOTHING
    for node in s.nodes:
        s.fill(node, held, node.set.chosen(next(left))[None] if node.hole else None)
    return all(((held[0, here] == w) | (w == ANYTHING)).all() for here, w in s.goals)


def follow(s: Statement, steps: list[dict[str, Any]]) -> tuple[int, int]:
    """How many solutions there are, and how many states lead there; what each step leaves is listed."""
    tree, left, total = Tree(s), list(s.holes), 0
    if tree.empty:
        need(not steps, "steps are listed where no choice is left")
        return 0, 0
    for step in steps:
        holes = ints(step["step"], 0, len(s.nodes), "holes").tolist()
        good = holes and tree.ways and left[: len(holes)] == holes
        need(good, "a step leaves a hole out, or follows no state")
        good = all(s.nodes[b].of == (a,) for a, b in pairwise(holes))
        need(good, "holes of a step do not follow each other")
        probed = ints(step["at"], 0, len(s.nodes[holes[-1]].source), "locations").tolist()
        found, _ = tree.follow(holes, probed)
        need(
            step["edges"] == found.tolist(),
            "a choice is left that the tree leaves out, or is refused that it lists",
        )
        left, total = left[len(holes) :], total + len(tree.ways)
    need(not left or not tree.ways, "the tree ends before the goals")
    return sum(tree.ways), total


def fewest(s: Statement, claims: list[str], lines: list[dict[str, Any]]) -> list[str]:
    """What is shown of a program: what its instructions cost, and that others do not cost less."""
    machine, rows, cost = counted(s)
    (said,) = lines
    need(said["instructions"] == cost, f"it has {cost:,} instructions, not as many as it says")
    facts = [f"instructions: {cost:,}, of the {len(s.sets):,} that are listed"]
    if claims[1:]:
        bound = whole(said["fewest"], 0, cost + 1, "bounds")
        shown = bound <= machine.fewest(rows, bound)
        need(shown, "that fewer instructions cannot do is not shown")
        need(bound == cost or claims[1] != "minimal", "it is not shown to be minimal")
        facts.append(f"{claims[1]}: no program of those instructions has fewer than {bound:,}")
    return facts
