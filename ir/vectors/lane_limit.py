"""Refuses vectors of thousands of lanes outside of tile memory: most often a forgotten `store_in`."""

from __future__ import annotations

from math import prod

from hbc.ir.ground.diag import error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.target import Target
from hbc.ir.lang.types import TILES, TILES_OF_LANES, Memory
from hbc.ir.lang.walk import children, nodes

# 16 registers of 64 bytes hold 1024 bytes, and a longer vector takes the C compiler minutes.
MOST_LANES = 1024


def refuse_wide(s: ir.Stmt, target: Target) -> ir.Stmt:
    """The same statement, whose VECTOR loops are still loops. HbcError naming those that together
    make too long a vector of one buffer."""
    if target.has_tiles or not target.instruction_sets:  # else instructions may do the statement
        _refuse(s, (), _Buffers(frozenset(), frozenset(), frozenset()), target)
    return s


@record
class _Buffers:
    """Those allocated around a statement. `wide`: those that instructions may work on at once. `lanes`:
    those whose elements the lanes of a GPU have, each its own."""

    local: frozenset[str]
    wide: frozenset[str]
    lanes: frozenset[str]


def _refuse(s: ir.Stmt, around: tuple[ir.For, ...], known: _Buffers, target: Target) -> None:
    match s:
        case ir.Store(buffer=buffer) if buffer not in known.wide and not _reads(s, known.lanes):
            _check(buffer, around, target, is_local=buffer in known.local)
        case ir.For(kind=ir.LoopKind.VECTOR):
            around = (*around, s)
        case ir.Allocate(buffer=buffer, memory=memory):
            in_registers = memory is Memory.REGISTER and bool(target.instruction_sets)
            wide = known.wide | {buffer} if memory in TILES or in_registers else known.wide
            lanes = known.lanes | {buffer} if memory in TILES_OF_LANES else known.lanes
            known = _Buffers(known.local | {buffer}, wide, lanes)
    for c in children(s):
        if isinstance(c, ir.Stmt):
            _refuse(c, around, known, target)


def _reads(s: ir.Store, buffers: frozenset[str]) -> bool:
    return any(isinstance(n, ir.Load) and n.buffer in buffers for n in nodes(s.value))


def _check(buffer: str, around: tuple[ir.For, ...], target: Target, *, is_local: bool) -> None:
    extents = [int(f.extent.value) if isinstance(f.extent, ir.Const) else 1 for f in around]
    lanes = prod(extents)
    if lanes <= MOST_LANES:
        return
    named = [f"`{f.var}` has {n}" for f, n in zip(around, extents, strict=True)]
    hint = "vectorize fewer of these loops, or smaller factors"
    if target.has_tiles and is_local:
        write = f"`{buffer}.store_in({target.tiles[0]})`"
        hint = f"if `{buffer}` is to be in tile registers, write {write}; {hint}"
    raise error(
        f"vectors of {lanes} lanes of `{buffer}`, and {MOST_LANES} are the most: "
        f"{', '.join(named)}", around[-1].span, hint,
    )  # fmt: skip
