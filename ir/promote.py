"""Small buffers become registers: what `Memory.REGISTER` means, each piece a named variable.

A buffer qualifies when, after unrolling, every access has a constant place, and any two accesses
touch either the same elements or none in common. Others stay on the stack.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.kernel import Kernel
from hbc.ir.nodes import Allocate, Const, Expr, Load, Prefetch, Ramp, Stmt, Store
from hbc.ir.types import Memory
from hbc.ir.walk import map_stmt, nodes

MAX_PIECES = 256
"""Beyond this many variables no register file helps, and the stack is as good."""

Piece = tuple[int, int]  # first element, lanes


def promote(kernel: Kernel) -> Kernel:
    """The kernel with every buffer that can be in registers there, and no other."""
    return kernel.map_body(_promote)


def _promote(s: Stmt) -> Stmt:
    s = map_stmt(s, lambda e: e, _promote)
    if not isinstance(s, Allocate) or s.memory not in (
        Memory.AUTO,
        Memory.STACK,
        Memory.REGISTER,
    ):
        return s
    memory = Memory.REGISTER if _fits(s) else _fallback(s)
    return s if memory is s.memory else replace(s, memory=memory)


def _fallback(s: Allocate) -> Memory:
    """`store_in(registers)` of what has no constant places, as in a tail: the stack, if it is small."""
    if s.memory is not Memory.REGISTER:
        return s.memory
    return Memory.STACK if isinstance(s.extent, Const) else Memory.HEAP


def _fits(s: Allocate) -> bool:
    if not isinstance(s.extent, Const):
        return False
    pieces: set[Piece] = set()
    for n in nodes(s.body):
        match n:
            case Prefetch(buffer=b) if b == s.buffer:
                return False
            case Load(buffer=b, index=index, mask=mask) if b == s.buffer:
                pass
            case Store(buffer=b, index=index, mask=mask) if b == s.buffer:
                pass
            case _:
                continue
        piece = None if mask is not None else _piece(index)
        if piece is None:
            return False
        pieces.add(piece)
        if len(pieces) > MAX_PIECES:
            return False
    return _disjoint(pieces, int(s.extent.value))


def _piece(index: Expr) -> Piece | None:
    match index:
        case Const(value=value):
            return int(value), 1
        case Ramp(base=Const(value=base), stride=Const(value=1), lanes=lanes):
            return int(base), lanes
        case _:
            return None


def _disjoint(pieces: set[Piece], extent: int) -> bool:
    end = 0
    for first, lanes in sorted(pieces):
        if first < end:
            return False
        end = first + lanes
    return end <= extent
