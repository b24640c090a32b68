"""The instructions that a proof about a gather names: their descriptions in text, as a checker reads them.

Locations are bytes of the operands, one register behind the other; -1 is 0, -2 no value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hbc.cli.proofs.formulas import Described, described, located, value
from hbc.cli.proofs.statement import Ints, need, whole

DESCRIPTIONS = Path(__file__).parents[2] / "codegen" / "isa"
# and the bytes of a register
BELOW_BYTES = {"avx512_bits.sf": 64, "avx2_bits.sf": 32, "neon_bits.sf": 16}
MACHINES = {
    "avx512_shuffles.sf": 64, "avx2_shuffles.sf": 32, "neon_moves.sf": 16, "sve_moves.sf": 32, **BELOW_BYTES,
}  # fmt: skip
GRAINS = ((8,), (1, 4))  # bits of an element
MOST_FORMS = 1 << 20


@dataclass(frozen=True)
class Machine:
    """The parameters of a description with its instructions, by name."""

    lanes: int
    names: Mapping[str, int]
    instructions: Mapping[str, Described]


def read_machine(line: Mapping[str, Any]) -> Machine:
    """Of the files that come with hbc; elements are bytes, or what the line says."""
    file, bits = line["machine"], whole(line.get("bits", 8), 1, 9, "bits")
    need(
        file in MACHINES and bits in GRAINS[file in BELOW_BYTES],
        "its instructions are described nowhere",
    )
    lanes = MACHINES[file] * 8 // bits
    names: dict[str, int] = {"n": lanes}
    settings = {f: whole(line.get(f, 0), 0, 2, f) for f in ("vbmi", "gfni")} | {"bits": bits}
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
    return Machine(lanes, names, instructions)


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


def registers(one: Described, lanes: int) -> dict[str, tuple[int, tuple[int, ...]]]:
    """Where the operands lie, one behind the other."""
    return {name: (at * lanes, (lanes,)) for at, name in enumerate(one.arrays)}
