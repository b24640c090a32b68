"""Writes what `hbc check-proof` verifies of a program for a gather: its instructions are gathers whose
elements choose for themselves, its sources hold a term in each element, and each output is a goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from typing import Any

import numpy as np

from hbc.cli.proofs.bounds import counted
from hbc.cli.proofs.check import DAMAGED, VERSION
from hbc.cli.proofs.statement import read_statement
from hbc.cli.sketches.shuffles import FILES, Shuffle, byte_rows, shuffle_sets
from hbc.frontend.sketch.gather_text import parse_gather
from hbc.ir.ground.diag import HbcError
from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import Form
from hbc.ir.moves.sketch import Family
from hbc.synth.sets.families import integers
from hbc.synth.sets.instructions import forms_of

Line = dict[str, Any]
MOST = 1 << 16  # bytes of an array
HELD = {ZERO: 0, UNDEFINED: -1}  # by a goal


def gather_proof(
    title: str, goal: str, bits: int, target: str, features: AbstractSet[str], shuffle: Shuffle
) -> list[Line]:
    """The lines. `goal` declares its array; its elements have `bits` bits."""
    about = {"gather": goal, "bits": bits, "target": target, "features": sorted(features)}
    machine = instruction_lines(target, features, bits)
    before, wanted = statement_lines(goal, bits, target, [line for line, _ in machine])
    numbers = {_key(form): number for number, (_, form) in enumerate(machine)}
    arrays, chosen = [], []
    for at, op in enumerate(shuffle.program.ops):
        number = numbers[_key(op.fit.form)]
        made = {"array": f"r{at}", "of": list(op.operands), "of_set": number, "hole": True}
        arrays.append(made)
        chosen.append(op.fit.chosen.tolist() if op.fit.form.names else [0])
    outputs = zip(shuffle.program.outputs, wanted, strict=True)
    goals = [{"goal": int(value), "holds": held} for value, held in outputs]
    stated = [*before, *arrays, *goals]
    cost = shuffle.program.cost
    # The search tries two instructions after each other as well, which no proof shows.
    count, rows, _ = counted(read_statement(stated))
    least = min(cost, count.fewest(rows, cost))
    claim = "minimal" if least == cost else "at least"
    head = {"hbc-proof": VERSION, "kind": "gather", "name": title, "settings": {}, "about": about,
            "claims": ["computes", claim]}  # fmt: skip
    return [head, *stated, {"solution": chosen}, {"fewest": least, "instructions": cost}]


def instruction_lines(
    target: str, features: AbstractSet[str], bits: int
) -> list[tuple[Line, Form]]:
    """Every instruction of the target with every immediate, and as a search has it."""
    grain, (_, register) = min(8, bits), FILES[target]
    definitions, constants = shuffle_sets(target, "vbmi" in features, grain, "gfni" in features)
    found = [
        (name, form, places)
        for name, definition in definitions.items()
        for part in definition.parts
        if isinstance(part, Family) and part.spelling
        for form, places in forms_of(definition, part, integers(constants), register * 8 // grain)
    ]
    return [(_set_line(name, form, places), form) for name, form, places in found]


def _set_line(name: str, form: Form, places: Locations) -> Line:
    lanes = len(places)
    units = (np.arange(lanes) // (form.per if form.names else lanes)).tolist()
    return {
        "set": form.arguments * lanes, "name": name, "cost": form.cost, "cell": units,
        "source": np.maximum(places, UNDEFINED).tolist(), "gathers": None,
    }  # fmt: skip


def statement_lines(
    goal: str, bits: int, target: str, machine: Sequence[Line]
) -> tuple[list[Line], list[list[int]]]:
    """Terms, instructions and sources; and what each output has to hold."""
    grain, (_, register) = min(8, bits), FILES[target]
    lanes, size = register * 8 // grain, bits // grain
    gather = parse_gather(goal, Fraction(bits, 8), MOST).gather
    count = -(-int(np.prod(gather.inputs[0])) * size // lanes)
    terms = [f"x{n}" for n in range(count * lanes)]
    held = np.arange(2, 2 + len(terms)).reshape(count, lanes).tolist()
    sources = [{"array": f"x{n}", "holds": h} for n, h in enumerate(held)]
    rows = byte_rows(gather, size, lanes).tolist()
    return [{"terms": terms}, *machine, *sources], [[HELD.get(v, v + 2) for v in r] for r in rows]


def _key(form: Form) -> object:
    """Several descriptions may have a spelling, of which one chooses among more (a lookup with zeros, and one
    without)."""
    names = {name: choices.tolist() for name, choices in form.names.items()}
    return form.spelling, form.arguments, repr(sorted(form.values.items())), repr(names)


def is_about_its_gather(lines: Sequence[Line]) -> bool:
    """Whether instructions, sources and goals of a proof are those of the gather and the target that it
    names, which are read anew."""
    try:
        about: Mapping[str, Any] = lines[0]["about"]
        goal, bits, target = about["gather"], about["bits"], about["target"]
        machine = instruction_lines(target, frozenset(about["features"]), bits)
        before, wanted = statement_lines(goal, bits, target, [line for line, _ in machine])
    except (HbcError, *DAMAGED):
        return False
    there = [
        line for line in lines if {"terms", "set", "holds"} & line.keys() and "goal" not in line
    ]
    return there == before and [line["holds"] for line in lines if "goal" in line] == wanted
