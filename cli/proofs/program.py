"""Checks a program of registers for a gather: what it makes, element by element, and how few instructions
can do.

Locations are bytes of the sources, one register behind the other; -1 is 0, -2 no value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil, log2, prod
from pathlib import Path
from typing import Any

import numpy as np

from hbc.cli.proofs.formulas import (
    OUTSIDE,
    UNDEFINED,
    ZERO,
    Described,
    Reader,
    described,
    located,
    value,
)
from hbc.cli.proofs.statement import Ints, ints, need, whole
from hbc.ir.ground.counted import counted

DESCRIPTIONS = Path(__file__).parents[2] / "codegen" / "isa"
# and the bytes of a register
MACHINES = {"avx512_shuffles.sf": 64, "avx2_shuffles.sf": 32, "neon_moves.sf": 16}
MOST = 1 << 16  # bytes of an array
MOST_FORMS = 1 << 20
CLAIMS = (["computes"], ["computes", "at least"], ["computes", "minimal"])


@dataclass(frozen=True)
class Machine:
    """The parameters of a description with its instructions, by name."""

    lanes: int
    names: Mapping[str, int]
    instructions: Mapping[str, Described]


def read_machine(file: Any, vbmi: int) -> Machine:
    """Of the files that come with hbc; elements are bytes."""
    need(file in MACHINES, "its instructions are described nowhere")
    names: dict[str, int] = {"n": MACHINES[file]}
    settings = {"bits": 8, "vbmi": vbmi}
    instructions: dict[str, Described] = {}

    def read(name: str) -> None:
        for kind, found in described((DESCRIPTIONS / name).read_text(encoding="utf-8")):
            if kind == "import":
                read(found)
            elif kind == "param":
                names[found[0]] = int(settings.get(found[0], value(found[1], names)))
            else:
                instructions[found[0]] = found[1]

    read(file)
    return Machine(MACHINES[file], names, instructions)


def fixed(one: Described, machine: Machine) -> Iterator[dict[str, int]]:
    """The values of what does not range by element, where the condition holds."""
    known: list[dict[str, int]] = [dict(machine.names)]
    for binder in one.binders:
        if binder.per is None:
            known = [{**k, binder.name: v} for k in known for v in binder.values(k)]
            need(len(known) < MOST_FORMS, "an instruction has too many forms")
    return (k for k in known if value(one.where, k))


def unit_of(one: Described, names: Mapping[str, int], lanes: int) -> int:
    """How many elements choose together; as many as there are where nothing is chosen."""
    units = {int(value(b.per, names)) for b in one.binders if b.per is not None} or {lanes}
    need(len(units) == 1 and lanes % min(units) == 0, "elements choose in different units")
    return units.pop()


def alternatives(one: Described, names: Mapping[str, int], lanes: int) -> Ints:
    """[element, alternative]: the location in the operands that is read."""
    free = [b for b in one.binders if b.per is not None]
    choices = np.array(list(product(*(b.values(names) for b in free))), dtype=np.int64)
    columns = {b.name: choices[:, k][None, :] for k, b in enumerate(free)}
    scope = {**names, **columns, one.variable: np.arange(lanes)[:, None]}
    places = located(one.body, scope, registers(one, lanes))
    return np.broadcast_to(places, (lanes, max(1, len(choices))))


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


def registers(one: Described, lanes: int) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Where the operands lie, one behind the other."""
    return {name: (at * lanes, (lanes,)) for at, name in enumerate(one.arrays)}


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


Form = tuple[int, int, Ints]  # operands, elements that choose together, alternatives


def forms_of(machine: Machine) -> list[Form]:
    return [
        (len(one.arrays), unit_of(one, k, machine.lanes), alternatives(one, k, machine.lanes))
        for one in machine.instructions.values()
        for k in fixed(one, machine)
    ]


def least(row: Ints, sources: int, lanes: int, forms: list[Form]) -> int:
    """So many instructions a register takes at least: none if it is a source, one if one of all makes it. One
    that reads m registers leaves one for them, so that k sources take one for each m - 1 of k - 1."""
    free, register = row == UNDEFINED, np.arange(lanes)
    if any((free | (row == register + s * lanes)).all() for s in range(sources)):
        return 0
    used = np.unique(row[row >= 0] // lanes).tolist() or [0]
    most = max(2, *(operands for operands, _, _ in forms))
    if len(used) > most:
        return -(-(len(used) - 1) // (most - 1))
    for operands, per, places in forms:
        # Of an operand of which nothing is wanted it does not matter which it is.
        for some in product(used, repeat=operands):
            if set(some) == set(used):
                both = np.concatenate(
                    [*(register + o * lanes for o in some), [OUTSIDE, UNDEFINED, ZERO]]
                )
                right = (both[places] == row[:, None]) | free[:, None]
                if right.reshape(-1, per, right.shape[1]).all(axis=1).any(axis=1).all():
                    return 1
    return 2


def fewest(rows: Ints, sources: int, machine: Machine) -> int:
    """No program has fewer instructions. Of registers that must all differ the first to be complete takes
    its own
    fewest, before any other is; every further one takes an instruction."""
    forms = forms_of(machine)
    different = np.unique(rows, axis=0)
    takes = [least(row, sources, machine.lanes, forms) for row in different]
    apart: list[int] = []
    for n, row in enumerate(different):
        others = (different[o] for o in apart)
        if takes[n] and all(
            ((row != o) & (row != UNDEFINED) & (o != UNDEFINED)).any() for o in others
        ):
            apart.append(n)
    several = min((takes[n] for n in apart), default=1) + len(apart) - 1
    return max([0, *takes, several, mixing(different, machine)])


def mixing(different: Ints, machine: Machine) -> int:
    """Floyd's bound (1972). `n` bytes in one register that one output wants there count n log2 n. What an
    instruction of m operands puts into a register was in m groups before, of each output's bytes: it gains
    log2 m for each byte. Each byte is followed to one output that wants it."""
    lanes = machine.lanes
    most = max(log2(max(1, len(one.arrays))) / one.cost for one in machine.instructions.values())
    at = {int(byte): n for n, row in reversed(list(enumerate(different))) for byte in row[row >= 0]}
    apart = Counter((n, byte // lanes) for byte, n in at.items()).values()
    joined = Counter(at.values()).values()
    gain = sum(n * log2(n) for n in joined) - sum(n * log2(n) for n in apart)
    return ceil(gain / (lanes * most) - 1e-6) if most else 0


def check_program(lines: list[Any], claims: list[str]) -> list[str]:
    """What a proof about a gather shows, in words."""
    need(claims in CLAIMS, "it claims what this checker does not know")
    kinds = [next(iter(line)) for line in lines]
    ops = lines[2:-1]
    need(
        kinds == ["machine", "goal", *["op"] * len(ops), "outputs"],
        "lines of another proof are there, or some are missing",
    )
    machine = read_machine(lines[0]["machine"], whole(lines[0]["vbmi"], 0, 2, "vbmi"))
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
    need(
        lines[-1]["instructions"] == cost,
        f"it has {counted(cost, 'instruction')}, not as many as it says",
    )
    facts = [
        f"computes: {counted(cost, 'instruction')} of {lines[0]['machine']} for every byte of "
        f"{lines[1]['goal']}"
    ]
    if claims[1:]:
        bound = whole(lines[-1]["least"], 0, cost + 1, "bounds")
        need(
            bound <= fewest(rows, sources, machine),
            "that fewer instructions cannot do is not shown",
        )
        need(bound == cost or claims[1] != "minimal", "it is not shown to be minimal")
        facts.append(
            f"{claims[1]}: no program of the described instructions has fewer than {bound}"
        )
    return facts
