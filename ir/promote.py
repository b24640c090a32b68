"""Small buffers move into registers: those whose every access names the same constant lanes.

    allocate acc: f32[384] in auto   ->   allocate acc: f32[384] in registers

A buffer that was asked to be in registers and cannot goes to the stack, or to where it fits.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.ir.kernel import Kernel
from hbc.ir.nodes import Allocate, Const, Expr, For, Load, LoopKind, Prefetch, Ramp, Stmt, Store
from hbc.ir.types import BOOL, Memory
from hbc.ir.walk import map_stmt, nodes

# Variables of one buffer; machines have 16 or 32 registers, the compiler spills the rest.
MOST_PIECES = 128
_CANDIDATES = (Memory.AUTO, Memory.STACK, Memory.REGISTER)


def promote(kernel: Kernel) -> Kernel:
    """The kernel with such buffers marked `Memory.REGISTER`."""
    return kernel.map_body(_promote)


def _promote(s: Stmt) -> Stmt:
    s = map_stmt(s, lambda e: e, _promote)
    if not isinstance(s, Allocate) or s.memory not in _CANDIDATES:
        return s
    if _fits_registers(s):
        return s if s.memory is Memory.REGISTER else replace(s, memory=Memory.REGISTER)
    return replace(s, memory=Memory.AUTO) if s.memory is Memory.REGISTER else s


def _fits_registers(s: Allocate) -> bool:
    """Every access names constant lanes, and any two name the same ones or none in common. Threads
    do not share registers, so no access may lie in a parallel loop."""
    if not isinstance(s.extent, Const):
        return False
    pieces: set[tuple[int, int]] = set()
    loads = 0
    for n in nodes(s.body):
        match n:
            case Load() | Store() if n.buffer == s.buffer:
                piece = constant_piece(n.index)
                if piece is None or (piece[1] > 1 and s.element == BOOL):
                    return False
                pieces.add(piece)
                loads += isinstance(n, Load)
            case Prefetch(buffer=s.buffer):
                return False
            case For(kind=LoopKind.PARALLEL) if any(
                isinstance(m, Load | Store) and m.buffer == s.buffer for m in nodes(n)
            ):
                return False
            case _:
                pass
    return loads > 0 and len(pieces) <= MOST_PIECES and _disjoint(sorted(pieces))


def _disjoint(pieces: list[tuple[int, int]]) -> bool:
    end = 0
    for start, lanes in pieces:
        if start < end:
            return False
        end = start + lanes
    return True


def constant_piece(index: Expr) -> tuple[int, int] | None:
    """The first element and the number of lanes, when they are constant and adjacent."""
    match index:
        case Const(value=v):
            return int(v), 1
        case Ramp(base=Const(value=v), stride=Const(value=1), lanes=lanes):
            return int(v), lanes
        case _:
            return None
