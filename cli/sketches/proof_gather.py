"""Writes what `hbc check-proof` verifies of a program for a gather: instructions by their descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from hbc.cli.proofs.bounds import fewest
from hbc.cli.proofs.check import VERSION
from hbc.cli.proofs.machine import read_machine
from hbc.cli.proofs.program import wanted
from hbc.cli.sketches.shuffles import Shuffle, description_of, shuffle_sets
from hbc.ir.moves.instruction_table import Form
from hbc.ir.moves.register_program import Op
from hbc.ir.moves.sketch import Family, SetDefinition
from hbc.synth.sets.instructions import alternatives

Line = dict[str, Any]


def gather_proof(
    title: str, goal: str, bits: int, target: str, features: AbstractSet[str], shuffle: Shuffle
) -> list[Line]:
    """The lines. `goal` declares its array; its elements have `bits` bits."""
    grain = min(8, bits)
    vbmi, gfni = "vbmi" in features, "gfni" in features
    definitions, _ = shuffle_sets(target, vbmi, grain, gfni)
    ops = [op_line(op, definitions) for op in shuffle.program.ops]
    described_by = {"machine": description_of(target, grain), "vbmi": int(vbmi)}
    if grain < 8:
        described_by |= {"bits": grain, "gfni": int(gfni)}
    machine = read_machine(described_by)
    sources, rows = wanted(goal, bits // grain, machine.lanes)
    cost = shuffle.program.cost
    # The search tries two instructions after each other as well, which no proof shows.
    least = min(cost, fewest(rows, sources, machine, cost))
    claim = "minimal" if least == cost else "at least"
    return [
        {"hbc-proof": VERSION, "kind": "gather", "name": title, "settings": {},
         "claims": ["computes", claim]},
        described_by,
        {"goal": goal, "size": bits // grain},
        *ops,
        {"outputs": list(shuffle.program.outputs), "instructions": cost, "least": least},
    ]  # fmt: skip


def op_line(op: Op, definitions: Mapping[str, SetDefinition]) -> Line:
    """An instruction by its description, the values that its form has, and what its units choose."""
    form, chosen = op.fit.form, np.asarray(op.fit.chosen)
    name, family = described(form, definitions)
    return {
        "op": name,
        "with": {b.name: int(form.values[b.name]) for b in family.binders if b.each is None},
        "choose": {n: values[chosen].tolist() for n, values in form.names.items()},
        "of": list(op.operands),
    }


def described(form: Form, definitions: Mapping[str, SetDefinition]) -> tuple[str, Family]:
    """Which description, and which part of it, a form is of. Several may have its spelling, of which one
    chooses among more (a lookup with zeros, and one without)."""
    for name, definition in definitions.items():
        for number, part in enumerate(definition.parts):
            if isinstance(part, Family) and part.spelling == form.spelling and chooses(form, part):
                return f"{name} {number}", part
    raise KeyError(form.spelling)


def chooses(form: Form, family: Family) -> bool:
    """Whether the form's units choose among what those of the family do."""
    free = tuple(binder for binder in family.binders if binder.each is not None)
    ours = alternatives(free, form.values)
    return ours.keys() == form.names.keys() and all(
        np.array_equal(choices, form.names[name]) for name, choices in ours.items()
    )
