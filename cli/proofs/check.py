"""Checks a proof: reads its lines, follows what it claims, and says what has been found to hold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from hbc.cli.proofs.limits import find_limits
from hbc.cli.proofs.program import check_program
from hbc.cli.proofs.statement import (
    Refused,
    Statement,
    Universe,
    computes,
    ints,
    need,
    read_statement,
    whole,
)
from hbc.cli.proofs.tree import Part, States, Test, Tree

VERSION = 1
LINES = ("terms", "set", "array", "goal", "solution", "step", "machine", "op", "outputs")
DAMAGED = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
)
SKETCH = (["computes"], ["computes", "all"], ["none"])


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
    claims, kind = head["claims"], head["kind"]
    need(
        isinstance(head["name"], str) and isinstance(head["settings"], dict), "its head is damaged"
    )
    if kind == "gather":
        facts = check_program(lines, claims)
    else:
        need(kind == "sketch" and claims in SKETCH, "it claims what this checker does not know")
        facts = check_sketch(lines, claims, head)
    return Verdict(head["name"], kind, claims, head["settings"], facts)


def read_lines(text: Iterable[str]) -> list[dict[str, Any]]:
    """The lines of a proof between its head, which comes first, and its end, which is there."""
    lines: list[dict[str, Any]] = []
    for line in text:
        value = json.loads(line)
        need(isinstance(value, dict) and value, "a line is no object")
        if not lines:
            need("hbc-proof" in value, "it is no proof of `hbc synth`")
            version = value["hbc-proof"]
            need(
                version == VERSION and type(version) is int,
                f"it is of version {str(version)[:20]}, and {VERSION} is known",
            )
        elif "end" in lines[-1]:
            raise Refused("something follows its end")
        else:
            need(next(iter(value)) in (*LINES, "end"), "a line says nothing that is known")
        lines.append(value)
    need(lines, "it is empty")
    need(lines[-1].get("end") == len(lines), "its end is missing: it was cut off, or lines were")
    return lines[:-1]


def check_sketch(lines: list[dict[str, Any]], claims: list[str], head: dict[str, Any]) -> list[str]:
    s = read_statement(
        [line for line in lines if next(iter(line)) in ("terms", "set", "array", "goal")]
    )
    listed = [
        ints(line["solution"], 0, 1 << 30, "gathers").tolist()
        for line in lines
        if "solution" in line
    ]
    for chosen in listed:
        good = len(chosen) == len(s.holes) and all(
            c < size(s, h) for h, c in zip(s.holes, chosen, strict=True)
        )
        need(
            good and computes(s, dict(zip(s.holes, chosen, strict=True))),
            "a solution does not compute the goals",
        )
    need(len({tuple(c) for c in listed}) == len(listed), "a solution is listed twice")
    need(
        bool(listed) == ("computes" in claims),
        "solutions are listed, or none is, against what it claims",
    )
    facts = (
        [f"computes: each of the {len(listed)} listed solutions makes what the goals say"]
        if listed
        else []
    )
    if claims != ["computes"]:
        steps = [line for line in lines if "step" in line]
        count, states = follow(s, steps)
        need(
            count == whole(head["solutions"], 0, 1 << 62, "solutions") and len(listed) <= count,
            "there are not as many solutions as it says",
        )
        need(bool(count) == bool(listed), "there are solutions, or none, against what it claims")
        shown = " x ".join(str(size(s, h)) for h in s.holes)
        what = (
            f"all: there are {count} solutions and no other"
            if count
            else "none: there is no solution"
        )
        facts.append(f"{what}, of {shown or 1} choices; {states} states were followed")
    return facts


def size(s: Statement, hole: int) -> int:
    gathers = s.nodes[hole].gathers
    return 0 if gathers is None else len(gathers)


def follow(s: Statement, steps: list[dict[str, Any]]) -> tuple[int, int]:
    """How many solutions there are, and how many states lead there; the survivors of each step are those
    listed."""
    universe = Universe(s)
    limits = find_limits(s, universe)
    if limits.empty:
        need(not steps, "steps are listed where no choice is left")
        return 0, 0
    tree = Tree(s, universe, limits)
    (states, ways), total = at_first(tree), 0
    left = list(s.holes)
    for step in steps:
        holes = ints(step["step"], 0, len(s.nodes), "holes").tolist()
        need(
            holes and ways and left[: len(holes)] == holes,
            "a step leaves a hole out, or follows no state",
        )
        need(
            all(s.nodes[b].of == (a,) for a, b in pairwise(holes)),
            "holes of a step do not follow each other",
        )
        found = tree.follow(holes, states, ways, [read_test(t, s) for t in step["tests"]])
        listed = [ints(e, 0, 1 << 30, "edges").tolist() for e in step["edges"]]
        need(
            listed == found.edges.tolist(),
            "a choice is left that the tree leaves out, or is refused that it lists",
        )
        left, states, ways = left[len(holes) :], found.states, found.ways
        total += len(ways)
    need(not left or not ways, "the tree ends before the goals")
    return sum(ways), total


def at_first(tree: Tree) -> tuple[States, list[int]]:
    """The one state before the first hole; none where there is no hole and a goal is missed."""
    part = Part(np.zeros(1, dtype=np.int64), {}, {})
    if not tree.s.holes:
        return {}, [1] * int(tree.at_goals(part).sum())
    return {n: tree.all_of(n, part) for n in tree.live(tree.s.holes[0])}, [1]


def read_test(value: Any, s: Statement) -> Test:
    kind, n, what = value
    need(kind in ("at", "among"), "a test is unknown")
    node = whole(n, 0, len(s.nodes) + (kind == "among"), "nodes")
    if kind == "at":
        return kind, node, ints(what, 0, s.nodes[node].size, "locations").tolist()
    numbers = [whole(m, 0, node, "nodes") for m, _ in what]
    return (
        kind,
        node,
        {
            m: ints(w, 0, s.nodes[m].size, "locations")
            for m, (_, w) in zip(numbers, what, strict=True)
        },
    )
