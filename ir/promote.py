"""Small buffers move into registers: those whose every access names the same constant lanes.

    allocate acc: f32[384] in auto   ->   allocate acc: f32[384] in registers

Loads may also pick lanes of a few registers, as the ones that interleave results do, or take some
128-bit blocks of one. A buffer that
nobody reads goes away, with the stores to it, and so do the registers of one that nobody reads. A
buffer that was asked to be in registers and cannot goes to the stack, or to where it fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import replace

from hbc.ir.kernel import Kernel
from hbc.ir.lane_offsets import constant_lanes
from hbc.ir.nodes import (
    Allocate,
    Block,
    Const,
    Expr,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Prefetch,
    Ramp,
    Stmt,
    Store,
)  # fmt: skip
from hbc.ir.types import BOOL, DType, Memory
from hbc.ir.walk import free_variables, map_stmt, nodes

# Variables of one buffer; machines have 16 or 32 registers, the compiler spills the rest.
MOST_PIECES = 128
MOST_SOURCES = 4  # registers that one load picks lanes of; a shuffle joins two
Piece = tuple[int, int]  # first element, lanes
_NOTHING = Block(())
_CANDIDATES = (Memory.AUTO, Memory.STACK, Memory.REGISTER)


def promote(kernel: Kernel) -> Kernel:
    """The kernel with such buffers marked `Memory.REGISTER`."""
    tiles = {
        n.buffer
        for n in nodes(kernel.body)
        if isinstance(n, Allocate) and n.memory is Memory.AMX_TILE
    }
    return kernel.map_body(lambda body: _promote(body, tiles))


def _promote(s: Stmt, tiles: Collection[str]) -> Stmt:
    s = map_stmt(s, lambda e: e, lambda child: _promote(child, tiles))
    if not isinstance(s, Allocate):
        return s
    if not any(isinstance(n, Load) and n.buffer == s.buffer for n in nodes(s.body)):
        return _promote(_without_stores(s.body, lambda n: n.buffer == s.buffer), tiles)
    if s.memory not in _CANDIDATES:
        return s
    if _fits_registers(s) and not _meets_tile(s, tiles):
        dead = _dead_stores(s)
        if dead:
            body = _without_stores(s.body, lambda n: isinstance(n, Store) and n in dead)
            return _promote(replace(s, body=body), tiles)
        return s if s.memory is Memory.REGISTER else replace(s, memory=Memory.REGISTER)
    return replace(s, memory=Memory.AUTO) if s.memory is Memory.REGISTER else s


def _dead_stores(s: Allocate) -> set[Store]:
    """The stores to registers that only their own updates read."""
    uses: Counter[Expr] = Counter()
    stores: list[Store] = []
    for n in nodes(s.body):
        if isinstance(n, Load) and n.buffer == s.buffer:
            uses[n.index] += 1
        elif isinstance(n, Store) and n.buffer == s.buffer:
            stores.append(n)
            own = (m for m in nodes(n) if isinstance(m, Load) and m.buffer == s.buffer)
            uses[n.index] -= sum(m.index == n.index for m in own)
    read = {i for index, count in uses.items() if count > 0 for i in _elements(index)}
    return {n for n in stores if read.isdisjoint(_elements(n.index))}


def _elements(index: Expr) -> tuple[int, ...]:
    """Of a register, which has constant lanes."""
    return constant_lanes(index) or ()


def _without_stores(s: Stmt, unwanted: Callable[[Store | Prefetch], bool]) -> Stmt:
    """`s` less some stores, and the names, loops and conditions that then are for nothing."""
    if isinstance(s, Store | Prefetch) and unwanted(s):
        return _NOTHING
    new = map_stmt(s, lambda e: e, lambda child: _without_stores(child, unwanted))
    match new:
        case For(body=body) | LetStmt(body=body) if body == _NOTHING:
            return _NOTHING
        case LetStmt(name=name, body=body) if new is not s and name not in free_variables(body):
            return body
        case If(then=then, otherwise=otherwise) if then == _NOTHING and otherwise in (None, then):
            return _NOTHING
        case _:
            return new


def _fits_registers(s: Allocate) -> bool:
    """Every access names constant lanes, and any two name the same ones or none in common, or picks
    lanes of those. Threads do not share registers, so no access may lie in a parallel loop."""
    if not isinstance(s.extent, Const):
        return False
    pieces: set[Piece] = set()
    read: set[Piece] = set()  # in parts, it may be
    picked: list[tuple[int, ...]] = []
    for n in nodes(s.body):
        match n:
            case Load() | Store() if n.buffer == s.buffer:
                piece, lanes = constant_piece(n.index), constant_lanes(n.index)
                if lanes is None or (len(lanes) > 1 and s.element == BOOL):
                    return False
                if piece is not None:
                    (read if isinstance(n, Load) and n.mask is None else pieces).add(piece)
                elif isinstance(n, Load) and n.mask is None and _is_shuffled(n, s.element):
                    picked.append(lanes)
                else:
                    return False
            case Prefetch(buffer=s.buffer):
                return False
            case For(kind=LoopKind.PARALLEL) if any(
                isinstance(m, Load | Store) and m.buffer == s.buffer for m in nodes(n)
            ):
                return False
            case _:
                pass
    pieces |= {p for p in read if not any(is_block(p, q, s.element) for q in pieces)}
    if len(pieces) > MOST_PIECES or not _disjoint(sorted(pieces)):
        return False
    return all(_picks_from(lanes, pieces) for lanes in picked)


def is_block(part: Piece, whole: Piece, element: DType) -> bool:
    """Whether the part is one or some whole 128-bit blocks of a longer register."""
    at, lanes = part[0] - whole[0], part[1]
    inside = at >= 0 and at + lanes <= whole[1] and lanes < whole[1]
    return inside and lanes * element.bits in (128, 256) and at % lanes == 0


def _meets_tile(s: Allocate, tiles: Collection[str]) -> bool:
    """Whether a tile is loaded from the buffer or stored to it, which takes memory."""
    if not tiles:
        return False
    for n in nodes(s.body):
        if isinstance(n, Store):
            read = {m.buffer for m in nodes(n.value) if isinstance(m, Load)}
            if n.buffer in tiles and s.buffer in read:
                return True
            if n.buffer == s.buffer and not read.isdisjoint(tiles):
                return True
    return False


def _is_shuffled(e: Load, element: DType) -> bool:
    """Whether backends pick lanes of such elements: short ones in whole registers only."""
    return element.bits >= 32 or e.type.lanes * element.bits in (128, 256, 512)


def _picks_from(lanes: tuple[int, ...], pieces: set[Piece]) -> bool:
    """Whether the lanes lie in few enough pieces, each as long as the vector that is made."""
    sources = {next((p for p in pieces if p[0] <= i < p[0] + p[1]), None) for i in lanes}
    few = len(sources) <= MOST_SOURCES
    return few and all(p is not None and p[1] == len(lanes) for p in sources)


def _disjoint(pieces: list[Piece]) -> bool:
    end = 0
    for start, lanes in pieces:
        if start < end:
            return False
        end = start + lanes
    return True


def constant_piece(index: Expr) -> Piece | None:
    """The first element and the number of lanes, when they are constant and adjacent."""
    match index:
        case Const(value=v):
            return int(v), 1
        case Ramp(base=Const(value=v), stride=Const(value=1), lanes=lanes):
            return int(v), lanes
        case _:
            return None
