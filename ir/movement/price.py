"""How many instructions an access takes as printers have it, lane by lane or with a shuffle of its own."""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import ARM, Target
from hbc.ir.movement.chain import Chain
from hbc.ir.movement.places import Access
from hbc.ir.movement.windows import BLOCK, Plan, spans

NOTHING = 0  # printers interleave runs of several rows by one call, which is left to them
LANE = 2  # to load or store a lane, and to move it in or out of a vector
WORD = 32  # bits of the shortest run that printers load at once
MOST_LOADS = 4  # that they shuffle
LOOK_UP = {1: 1, 2: 1, 3: 3, 4: 3}
"""TBL by how many registers it reads: those of 3 and 4 take the time of so many others (Arm Neoverse N1
Software Optimization Guide, ASIMD table lookup)."""


def price_of(access: Access, target: Target) -> int:
    """Of an access by itself."""
    lanes = len(access.places)
    if isinstance(access.node, ir.Store):
        return LANE * lanes
    bits = access.node.type.element.bits
    inside = spans([access.places])
    if len(inside) > 1:
        return NOTHING if _has_runs(access, bits) else LANE * lanes
    low, high = inside[access.places[0][0]]
    loads = -(-(high - low + 1) // lanes)
    if loads > MOST_LOADS:
        return LANE * lanes
    if target.machine == ARM:
        return loads + LOOK_UP[loads]
    blocks = bits * lanes // BLOCK
    if target.vector_bits == 512 and (bits >= 16 or target.permutes_bytes):
        return loads + max(1, loads - 1)
    if blocks == 1 or bits >= WORD:
        return loads + 2 * loads - 1
    return loads + 3 * loads * blocks - 1


def _has_runs(access: Access, bits: int) -> bool:
    """Whether rows have runs of adjacent elements long enough to be loaded at once."""
    places = set(access.places)
    starts = sum((row, at - 1) not in places for row, at in places)
    lanes = len(access.places)
    return starts < lanes and lanes * bits >= WORD * starts


def price_of_plan(plan: Plan, steps: int) -> int:
    """Of whole registers, a load or store for each run, and steps of chains of such a price."""
    return steps + plan.accesses


def price_of_chain(chain: Chain) -> int:
    """The time of its steps, in that of one that reads one register or two."""
    return sum(LOOK_UP[len(step.operands)] for step in chain.steps)
