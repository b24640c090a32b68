"""Checks a program of registers for a gather: what it makes, element by element, and how many instructions
it has. How few can do is `bounds.py`.

Locations are bytes of the sources, one register behind the other; -1 is 0, -2 no value.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from hbc.cli.proofs.bounds import fewest
from hbc.cli.proofs.formulas import OUTSIDE, UNDEFINED, ZERO, Reader, located, value
from hbc.cli.proofs.machine import Machine, fixed, read_machine, registers, unit_of
from hbc.cli.proofs.statement import Ints, ints, need, whole

MOST = 1 << 16  # bytes of an array
CLAIMS = (["computes"], ["computes", "at least"], ["computes", "minimal"])


def made(line: Any, machine: Machine, values: list[Ints]) -> Ints:
    """What an instruction of a proof makes of what its operands hold."""
    one, lanes = machine.instructions[line["op"]], machine.lanes
    given, chosen = dict(line["with"]), dict(line["choose"])
    need(set(given) == {b.name for b in one.binders if b.per is None}, "a form has other values")
    need(set(chosen) == {b.name for b in one.binders if b.per is not None}, "it chooses otherwise")
    forms = [k for k in fixed(one, machine) if all(k[name] == given[name] for name in given)]
    need(forms, "an instruction has no such form")
    per = unit_of(one, forms[0], lanes)
    scope: dict[str, Any] = {**forms[0], one.variable: np.arange(lanes)}
    for binder in one.binders:
        if binder.per is not None:
            picked = ints(chosen[binder.name], 0, MOST, "choices")
            inside = np.isin(picked, binder.values(forms[0])).all()
            need(inside and len(picked) * per == lanes, "an instruction cannot choose so")
            scope[binder.name] = np.repeat(picked, per)
    operands = ints(line["of"], 0, len(values), "operands")
    need(len(operands) == len(one.arrays), "an instruction has other operands")
    place = np.broadcast_to(located(one.body, scope, registers(one, lanes)), lanes)
    need((place != OUTSIDE).all(), "an instruction reads outside of its operands")
    result: Ints = np.concatenate([*(values[o] for o in operands), [UNDEFINED, ZERO]])[place]
    return result


def wanted(text: str, size: int, lanes: int) -> tuple[int, Ints]:
    """How many registers the array of a gather fills, and [register, byte]: what its elements of `size`
    bytes read."""
    r = Reader(text)
    array = r.take()
    r.take(":")
    shape = tuple(_list(r))
    names: list[str] = []
    extents: list[int] = []
    while r.took("["):
        while True:
            names.append(r.take())
            r.take("in")
            extents.append(int(value(r.expr(), {})))
            if not r.took(","):
                break
        r.take("]")
    body = r.expr()
    need(not r.peek() and min(*shape, *extents) > 0, "a gather is none")
    need(max(prod(shape), prod(extents)) * size <= MOST, "a gather is too large")
    grid = dict(zip(names, np.indices(extents), strict=True))
    place = np.broadcast_to(located(body, grid, {array: (0, shape)}), extents).reshape(-1, 1)
    need((place != OUTSIDE).all(), "a gather reads outside of its array")
    bytes_read = np.where(place >= 0, place * size + np.arange(size), place).reshape(-1)
    rows = np.full(-(-len(bytes_read) // lanes) * lanes, UNDEFINED)
    rows[: len(bytes_read)] = bytes_read
    return -(-prod(shape) * size // lanes), rows.reshape(-1, lanes)


def _list(r: Reader) -> Iterator[int]:
    r.take("[")
    while True:
        yield r.number()
        if not r.took(","):
            break
    r.take("]")


def check_program(lines: list[Any], claims: list[str]) -> list[str]:
    """What a proof about a gather shows, in words."""
    need(claims in CLAIMS, "it claims what this checker does not know")
    kinds = [next(iter(line)) for line in lines]
    ops = lines[2:-1]
    need(
        kinds == ["machine", "goal", *["op"] * len(ops), "outputs"],
        "lines of another proof are there, or some are missing",
    )
    machine = read_machine(lines[0])
    sources, rows = wanted(lines[1]["goal"], whole(lines[1]["size"], 1, 9, "sizes"), machine.lanes)
    values = list(np.arange(sources * machine.lanes).reshape(sources, machine.lanes))
    for op in ops:
        values.append(made(op, machine, values))
    outputs = ints(lines[-1]["outputs"], 0, len(values), "outputs")
    held = np.array([values[o] for o in outputs])
    need(
        held.shape == rows.shape and ((rows == UNDEFINED) | (rows == held)).all(),
        "the program makes something else",
    )
    cost = sum(machine.instructions[op["op"]].cost for op in ops)
    said = f"{cost:,} instruction{'s' * (cost != 1)}"
    need(
        lines[-1]["instructions"] == cost,
        f"it has {said}, not as many as it says",
    )
    facts = [f"computes: {said} of {lines[0]['machine']} for every byte of {lines[1]['goal']}"]
    if claims[1:]:
        bound = whole(lines[-1]["least"], 0, cost + 1, "bounds")
        need(
            bound <= fewest(rows, sources, machine, bound),
            "that fewer instructions cannot do is not shown",
        )
        need(bound == cost or claims[1] != "minimal", "it is not shown to be minimal")
        facts.append(
            f"{claims[1]}: no program of the described instructions has fewer than {bound}"
        )
    return facts
