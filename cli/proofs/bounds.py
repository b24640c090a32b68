"""How few instructions can do: what a checker counts itself, of the described instructions alone."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import ceil, log2

import numpy as np

from hbc.cli.proofs.formulas import OUTSIDE, UNDEFINED, ZERO
from hbc.cli.proofs.machine import Machine, alternatives, fixed, unit_of
from hbc.cli.proofs.statement import Ints

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


def fewest(rows: Ints, sources: int, machine: Machine, enough: int) -> int:
    """No program has fewer instructions; what is more than `enough` is not looked for. Of registers that must
    all differ the first to be complete takes its own fewest, before any other is; every further one takes
    an instruction."""
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
    known = max([0, *takes, several, mixing(different, machine)])
    if known >= min(enough, 2 * len(apart)):  # more is not shown by what is carried
        return known
    long = [takes[n] > 1 for n in apart]
    return max(known, carrying(different[apart], long, sources, machine.lanes, forms))


def carrying(rows: Ints, long: list[bool], sources: int, lanes: int, forms: list[Form]) -> int:
    """So many instructions by what has to lie in registers that are no rows. Each byte is followed to one row
    that wants it. A `long` row, which no instruction makes of sources alone, has from a source beside what
    was made only the bytes that an instruction brings to their places at once (`direct`); the others lay in
    what was made before. There each has a place of its own: in further registers, or where a row has none of
    those bytes."""
    if not len(rows) or any(operands > 2 for operands, _, _ in forms):
        return 0
    owner = {int(byte): n for n, row in reversed(list(enumerate(rows))) for byte in row[row >= 0]}
    mine = [
        np.array([byte >= 0 and owner[int(byte)] == n for byte in row])
        for n, row in enumerate(rows)
    ]
    spare = [lanes - int(some.sum()) for some in mine]
    needs = [
        (int(some.sum()), int(some.sum()) - direct(row, some, lanes, forms))
        for row, some, is_long in zip(rows, mine, long, strict=True)
        if is_long
    ]
    if not needs:
        return len(rows)
    # Rows that read a source too have what they need of others in one register; the rest has all in two.
    fewest_bytes = max(1, min(need for _, need in needs))
    others = sorted(whole - need for whole, need in needs)
    further = 0
    while True:
        beside = further * (lanes // fewest_bytes) + sum(s // fewest_bytes for s in spare)
        without = others[: max(0, len(needs) - beside)]
        if sum(need for _, need in needs) + sum(without) <= further * lanes + sum(spare):
            return len(rows) + further
        further += 1


def direct(row: Ints, mine: Ints, lanes: int, forms: list[Form]) -> int:
    """At most so many of these bytes of a row an instruction takes from a source that it reads beside what
    was made: in units that read of it only what is right."""
    free, most = (row == UNDEFINED)[:, None], 0
    for operands, per, places in forms:
        for start in (0, lanes) if operands == 2 else ():
            inside = (places >= start) & (places < start + lanes)
            for source in np.unique(row[mine] // lanes):
                right = inside & (places - start + source * lanes == row[:, None])
                zero = (places == ZERO) & (row == ZERO)[:, None]
                beside = (places >= 0) & ~inside
                fine = (right | zero | beside | free).reshape(-1, per, places.shape[1]).all(axis=1)
                taken = (right & mine[:, None]).reshape(-1, per, places.shape[1]).sum(axis=1)
                if fine.any(axis=1).all():
                    most = max(most, int(np.where(fine, taken, 0).max(axis=1).sum()))
    return most


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
