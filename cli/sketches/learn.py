"""Entries of the library of movements (`ir/movement/known`): the shortest chains that the search finds.

Run as a program, this file adds what the library lacks of what kernels usually ask for, in some minutes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from hbc.cli.own.described import bytes_of, step_text, table_of
from hbc.cli.sketches.shuffles import needs_constants, only
from hbc.ir.movement.chain import ANY, Chain, Movement, Row, Step, coarse, does
from hbc.ir.movement.library import (
    BELOW,
    WIDTHS,
    known_chain,
    library_file,
    read_library,
    written,
)
from hbc.ir.movement.price import price_of_chain
from hbc.ir.movement.windows import Place, adjacent, asked, in_blocks, inverted, spans
from hbc.ir.moves.gather import UNDEFINED, ZERO, Locations
from hbc.ir.moves.instruction_table import fit
from hbc.ir.moves.register_program import RegisterProgram, reads, respelled
from hbc.synth.shuffles.choices import Choosing, choosing

CONSTANT = re.compile(r"\[\d+: [^\]]*\]")


def instructions_of(machine: str, width: int) -> Choosing:
    """The instructions of `table_of`, as a search needs them."""
    return choosing(table_of(machine, width))


def learn(
    m: Movement, machine: Choosing, check: Callable[[], None] = lambda: None
) -> tuple[Chain, int] | None:
    """The quickest chain that was found for the movement, of equals the shortest with the fewest registers of
    constants, and how many instructions it takes at least; None where none was found whose steps keep the
    units whole. Where `check` raises Stopped, what was found so far counts."""
    from hbc.synth.shuffles.registers import Solver
    from hbc.synth.shuffles.rounds import in_rounds

    rows = np.array([bytes_of(row, m.bits // 8) for row in m.rows], dtype=np.int32)
    solved = Solver(machine, check).solve(m.sources, rows)
    chains = _chains(solved.program, m, rows, machine)
    if not chains:  # units were taken apart
        whole = [f for f in machine.table.forms if not f.names or f.per >= m.bits // 8]
        again = Solver(only(machine, whole), check).solve(m.sources, rows)
        chains = _chains(again.program, m, rows, only(machine, whole))
    if machine.widest > 2:  # which may be slower than several
        narrow = only(machine, [f for f in machine.table.forms if f.arguments <= 2])
        chains += _chains(Solver(narrow, check).solve(m.sources, rows).program, m, rows, narrow)
    plain = [f for f in machine.table.forms if not needs_constants(f)]
    chains += _chains(in_rounds(only(machine, plain), m.sources, rows), m, rows, machine)
    quickest = min(chains, key=lambda c: (price_of_chain(c), c.cost, _constants(c)), default=None)
    return None if quickest is None else (quickest, solved.bound)


def _chains(
    program: RegisterProgram | None, m: Movement, rows: Locations, machine: Choosing
) -> list[Chain]:
    if program is None:
        return []
    chain = _chain(respelled(program, rows, machine.table), m, rows)
    return [] if chain is None else [chain]


def _constants(chain: Chain) -> int:
    return len({text for step in chain.steps for text in CONSTANT.findall(step.text)})


def _chain(program: RegisterProgram, m: Movement, rows: Locations) -> Chain | None:
    lanes, size = rows.shape[1], m.bits // 8
    needed = np.zeros((m.sources + len(program.ops), lanes), dtype=np.bool_)
    for row, value in zip(rows, program.outputs, strict=True):
        needed[value] |= row != UNDEFINED
    steps: list[Step] = []
    for number in reversed(range(len(program.ops))):
        op, value = program.ops[number], m.sources + number
        source = np.where(needed[value], reads(op.fit), UNDEFINED)
        row = _units(source, size)
        if row is None:
            return None
        for at, operand in enumerate(op.operands):
            mine = source[(source >= 0) & (source // lanes == at)]
            needed[operand, mine % lanes] = True
        exact = fit(op.fit.form, np.array(bytes_of(row, size), dtype=np.int32))
        assert exact is not None
        steps.append(Step(op.operands, row, step_text(exact)))
    chain = Chain(tuple(steps[::-1]), program.outputs)
    return chain if does(chain, m) else None


def _units(source: Locations, size: int) -> Row | None:
    """Of bytes, where those of each unit stay together."""
    units = []
    for unit in source.reshape(-1, size):
        known = [(int(u), at) for at, u in enumerate(unit) if u != UNDEFINED]
        if not known:
            units.append(ANY)
            continue
        first = known[0][0] - known[0][1]
        if first % size or any(u == ZERO or u - at != first for u, at in known):
            return None
        units.append(first // size)
    return tuple(units)


def usual(width: int) -> Iterator[Movement]:
    """What kernels ask for: 2, 3 and 4 elements beside each other taken apart, all or one of them, and
    joined; reversed; tiles transposed."""
    for bits in (8, 16, 32, 64):
        lanes = width // bits
        for count in (2, 3, 4):
            apart = [[(0, count * i + c) for i in range(lanes)] for c in range(count)]
            for some in (some for n in range(1, count + 1) for some in combinations(apart, n)):
                yield from taken(some, bits)
            yield from joined(apart, bits)
        yield from taken([[(0, lanes - 1 - i) for i in range(lanes)]], bits)
        side = 128 // bits
        yield from taken([[(i, c) for i in range(lanes)] for c in range(side)], bits)


def taken(vectors: Sequence[Sequence[Place]], bits: int) -> Iterator[Movement]:
    """The movements of loads of vectors at these places."""
    inside = spans(vectors)
    for plan in (adjacent(vectors, inside), in_blocks(vectors, bits, inside)):
        if plan is not None:
            yield from asked(plan, bits)


def joined(vectors: Sequence[Sequence[Place]], bits: int) -> Iterator[Movement]:
    """The movement of stores, the other way round."""
    for plan in inverted(vectors, bits):
        yield from asked(plan, bits)


def learned(machine: str, width: int) -> Iterator[tuple[Movement, Chain]]:
    """The usual movements that the library does not know; or of which the one below knows longer chains."""
    instructions = instructions_of(machine, width)
    text = library_file(machine, width).read_text("ascii")
    own = dict(read_library(text, machine)) if text else {}
    below = BELOW.get(machine)
    for m in dict.fromkeys(map(coarse, usual(width))):
        longer = None if below is None else known_chain(m, below)
        if m in own or (below is not None and (m.bits > 8 or (longer and longer.cost == 1))):
            continue
        found = learn(m, instructions)
        if found is not None and (longer is None or found[0].cost < longer.cost):
            yield m, found[0]


if __name__ == "__main__":
    for own, width in ((own, width) for own, widths in WIDTHS.items() for width in widths):
        file = library_file(own, width)
        known = dict(read_library(file.read_text("ascii"), file.name))
        file.write_text(written([*known.items(), *learned(own, width)]), "ascii")
