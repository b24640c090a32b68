"""Vectors whose lanes alternate in memory: lane i of vector c lies at `n * i + c`, for each c below n.

One instruction of some machines loads all n of them, or stores them: LD2 to LD4, ST2 to ST4 of Advanced SIMD
(Arm Architecture Reference Manual for A-profile, C7.2).

    r = I[ramp(x, 3, 16)]; g = I[ramp(x + 1, 3, 16)]; b = I[ramp(x + 2, 3, 16)]
->  m[0..] = I[ramp(ramp(x, 3, 16), x16(1), 3)]              one instruction, which the printer knows
    r = m[ramp(0, 1, 16)]; g = m[ramp(16, 1, 16)]; b = ..
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import broadcast
from hbc.ir.lang.target import ARM
from hbc.ir.movement.items import Item, Registers
from hbc.ir.movement.registers import put, register
from hbc.ir.movement.windows import Place

WIDTH = 128
MOST_APART = {ARM: 4}  # vectors that an instruction takes, by machine; two at least


def structures(
    vectors: Sequence[tuple[Place, ...]], bits: int, machine: str
) -> list[tuple[int, ...]]:
    """The vectors by their numbers, so many together as they are elements apart, c = 0 first. None unless all
    are in such structures, each whole: nothing between or beyond them is touched."""
    number = {places: n for n, places in enumerate(vectors)}
    if len(number) != len(vectors) or len(vectors[0]) * bits != WIDTH:
        return []
    distance = vectors[0][1][1] - vectors[0][0][1]
    if not 2 <= distance <= MOST_APART.get(machine, 0):
        return []
    found = []
    for places in sorted(vectors):
        (row, at), lanes = places[0], len(places)
        if places not in number:
            continue
        some = [tuple((row, at + c + distance * i) for i in range(lanes)) for c in range(distance)]
        if any(each not in number for each in some):
            return []
        found.append(tuple(number.pop(each) for each in some))
    return found


def load_structure(name: str, first: ir.Load, count: int) -> list[Item]:
    """The structure of the load's vector and those that follow, in registers of this name."""
    lanes = count * first.type.lanes
    whole = ir.Load(first.buffer, _index(first.index, count), first.type.element(lanes))
    return [Registers(name, first.type.element, lanes), put(name, 0, whole)]


def store_structure(name: str, first: ir.Store, count: int) -> ir.Stmt:
    """Registers of this name to where the store's vector and those that follow belong."""
    lanes = count * first.value.type.lanes
    whole = ir.Load(name, register(0, lanes), first.value.type.element(lanes))
    return ir.Store(first.buffer, _index(first.index, count), whole)


def _index(first: ir.Expr, count: int) -> ir.Expr:
    """Of all elements, vector by vector."""
    return ir.Ramp(first, broadcast(ir.const_index(1), first.type.lanes), count)


def is_structure(offsets: Sequence[int]) -> int:
    """How many vectors lie so, where offsets of lanes are those of a structure; else 0."""
    for count in range(2, 1 + max(MOST_APART.values())):
        lanes = len(offsets) // count
        if tuple(offsets) == tuple(c + count * i for c in range(count) for i in range(lanes)):
            return count if lanes > 1 and lanes * count == len(offsets) else 0
    return 0
