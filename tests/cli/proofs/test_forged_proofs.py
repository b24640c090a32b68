"""Forged proofs are refused, in one line; what is accepted of random forgeries is true all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import mutated
from proof_makers import NONE, SMALL, holds, lines_of, sample_proof, text_of, text_proof, verdict

from hbc.cli.proofs.statement import Refused


@cache
def small() -> str:
    return text_proof(SMALL)


@cache
def none() -> str:
    return text_proof(NONE)


def first(lines: list[Any], key: str) -> Any:
    return next(line for line in lines if key in line)


def drop(lines: list[Any], key: str) -> None:
    lines.remove(first(lines, key))
    lines[-1]["end"] -= 1


def other_solution(lines: list[Any]) -> None:
    found = first(lines, "solution")["solution"]
    found[0] = (found[0] + 1) % 6


def other_gather(lines: list[Any]) -> None:
    """The gathers of a set read something else."""
    first(lines, "set")["source"][0].reverse()


def other_goal(lines: list[Any]) -> None:
    first(lines, "goal")["holds"].reverse()


def fewer_edges(lines: list[Any]) -> None:
    first(lines, "step")["edges"].pop()


def more_edges(lines: list[Any]) -> None:
    edges = first(lines, "step")["edges"]
    edges.append([len(edges), 5])


def fewer_solutions(lines: list[Any]) -> None:
    lines[0]["solutions"] -= 1
    drop(lines, "solution")


def claims_none(lines: list[Any]) -> None:
    lines[0]["claims"] = ["none"]
    lines[0]["solutions"] = 0
    while any("solution" in line and "claims" not in line for line in lines):
        lines.remove(next(x for x in lines if "solution" in x))
        lines[-1]["end"] -= 1


FORGERIES: list[tuple[Callable[[list[Any]], None], str]] = [
    (other_solution, "does not compute"),
    (other_gather, "does not compute"),
    (other_goal, "does not compute"),
    (fewer_edges, "tree leaves out"),
    (more_edges, "refused that it lists"),
    (fewer_solutions, "not as many solutions"),
    (claims_none, "not as many solutions"),
    (lambda lines: drop(lines, "step"), "the tree ends before"),
    (lambda lines: drop(lines, "goal"), "no goal"),
    (lambda lines: lines[0].update({"hbc-proof": 1}), "of version 1"),
    (lambda lines: lines[0].update({"claims": ["minimal"]}), "does not know"),
    (lambda lines: lines[0].update({"kind": "gather"}), "does not know"),
    (lambda lines: lines[0].pop("hbc-proof"), "no proof"),
    (lambda lines: lines.pop(), "cut off"),
    (lambda lines: first(lines, "goal")["holds"].__setitem__(0, 10**30), "no integers"),
    (lambda lines: first(lines, "goal")["holds"].__setitem__(0, 2.0), "no integers"),
    (lambda lines: first(lines, "array").update({"holds": [0] * 4}), "does not compute"),
    (lambda lines: first(lines, "set").update({"set": -1}), "no integers"),
    (lambda lines: first(lines, "step").update({"step": []}), "step leaves a hole out"),
    (lambda lines: lines.insert(1, {"hello": 1}), "nothing that is known"),
]


@pytest.mark.parametrize(("forge", "why"), FORGERIES, ids=lambda x: getattr(x, "__name__", x))
def test_forged(forge: Callable[[list[Any]], None], why: str) -> None:
    lines = lines_of(small())
    forge(lines)
    with pytest.raises(Refused) as refused:
        verdict(text_of(lines))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_where_it_is_looked_first_proves_nothing() -> None:
    """A proof names locations for speed alone: of others the same choices are left."""
    lines = lines_of(sample_proof("ffm4"))
    steps = [line for line in lines if "step" in line]
    assert any(step["at"] for step in steps)
    for step in steps:
        step["at"] = [3, 0, 3] if step["at"] else []
    assert verdict(text_of(lines)) == verdict(sample_proof("ffm4"))


@pytest.mark.parametrize(
    "text",
    [
        "", "\n", "{}\n", "garbage\n", "\x00\xff\n", "[" * 100_000 + "\n", "1e999\n", "9" * 5000 + "\n",
        '{"hbc-proof":2}\n', '{"hbc-proof":2}\n{"end":2}\n', '{"hbc-proof":2,"end":1}\n',
    ],
    ids=repr,
)  # fmt: skip
def test_garbage(text: str) -> None:
    with pytest.raises(Refused):
        verdict(text)


@settings(max_examples=30)
@given(st.data())
def test_cut_off(data: st.DataObject) -> None:
    text = small().rstrip("\n")
    end = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(Refused):
        verdict(text[:end] + "\n")


@settings(max_examples=300)
@given(st.data())
def test_what_is_accepted_is_true(data: st.DataObject) -> None:
    """Random changes of proofs: nothing but a refusal, or a claim that plain enumeration confirms."""
    lines = lines_of(data.draw(st.sampled_from([small(), none()])))
    for _ in range(data.draw(st.integers(1, 3))):
        mutated(lines, data)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(1, len(lines) - 2))
        lines.pop(at)
        lines[-1] = {"end": len(lines)}
    try:
        verdict(text_of(lines))
    except Refused as refused:
        assert "\n" not in str(refused)
        return
    assert holds(json.loads(json.dumps(lines)))
