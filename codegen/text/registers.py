"""Buffers in registers: one C variable for each piece of lanes that is read or written together, or an
array of them where loops say which."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeGuard

from hbc.codegen.plan.register_arrays import VALUES
from hbc.codegen.text.spelling import constant, value_type
from hbc.codegen.text.unit import Buffer, Unit
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.accesses import Accesses
from hbc.ir.lang.types import DType, Memory
from hbc.ir.lang.walk import nodes
from hbc.ir.passes.promote import is_block
from hbc.ir.vectors.lane_offsets import constant_lanes

Piece = tuple[int, int]  # first element, lanes


def piece_of(index: ir.Expr) -> Piece | None:
    """The elements that an index names, when they are constant and adjacent."""
    match index:
        case ir.Const(value=v):
            return int(v), 1
        case ir.Ramp(base=ir.Const(value=v), stride=ir.Const(value=1), lanes=lanes):
            return int(v), lanes
        case _:
            return None


def declare_registers(s: ir.Allocate, unit: Unit) -> None:
    """Binds the buffer to variables and declares those that are not assigned first thing."""
    if any(_varies(n.index) for n in unit.accesses.within(s)):
        _declare_array(s, unit)
        return
    accesses = unit.accesses.within(s)
    stored = {p for n in accesses if isinstance(n, ir.Store) and (p := piece_of(n.index))}
    # What is only read may lie across several that are stored: then it is made of those.
    own = stored | {
        p for n in accesses if (p := piece_of(n.index)) and not any(_overlap(p, q) for q in stored)
    }
    pieces = sorted(p for p in own if holder(p, own, s.element) is None)
    names: dict[Piece, str] = {}
    for i, piece in enumerate(pieces):
        names[piece] = unit.scope.fresh(s.buffer if len(pieces) == 1 else f"{s.buffer}_{i}")
    unit.buffers[s.buffer] = Buffer(names.get((0, 1), s.buffer), s.element, Memory.REGISTER, names)
    assigned = set(first_stores(s, unit.accesses))
    for piece, name in names.items():
        t = _type(s.element, piece[1], unit)
        if piece in assigned:
            unit.undeclared[name] = f"{t} "
        else:
            unit.out.line(f"{t} {name} = {_zero(s.element, piece[1], unit)};")


def _overlap(p: Piece, q: Piece) -> bool:
    return p[0] < sum(q) and q[0] < sum(p)


def _type(t: DType, lanes: int, unit: Unit) -> str:
    return value_type(t) if lanes == 1 else unit.registers.type(t, lanes)


def _zero(t: DType, lanes: int, unit: Unit) -> str:
    if lanes > 1:
        return unit.registers.zero(t, lanes)
    return constant(False if t.name == "bool" else 0, t)


def _varies(index: ir.Expr) -> bool:
    return piece_of(index) is None and constant_lanes(index) is None


def _declare_array(s: ir.Allocate, unit: Unit) -> None:
    """The registers as an array, zeros where they are not assigned first thing."""
    form = unit.arrays.get(s.buffer)
    if form is None:
        raise InternalError("codegen: a buffer in registers is read at an index that varies")
    name, lanes = unit.scope.fresh(s.buffer.partition(VALUES)[0]), form.lanes
    # Buffers of one name may be of several lengths: those of a block and of its tail.
    count = int(s.extent.value) // lanes if isinstance(s.extent, ir.Const) else form.count
    pieces = {(n * lanes, lanes): f"{name}[{n}]" for n in range(count)}
    unit.buffers[s.buffer] = Buffer(name, s.element, Memory.REGISTER, pieces, lanes)
    unit.out.line(f"{_type(s.element, lanes, unit)} {name}[{count}];")
    if not form.filled:
        unit.scope.push()
        n = unit.scope.fresh("n")  # which may be the array's own
        unit.out.directive(unrolled(count))
        unit.out.line(f"for (int {n} = 0; {n} < {count}; ++{n})")
        unit.out.depth += 1
        unit.out.line(f"{name}[{n}] = {_zero(s.element, lanes, unit)};")
        unit.out.depth -= 1
        unit.scope.pop()


def unrolled(count: int) -> str:
    """The directive before a loop that compilers shall unroll wholly."""
    return f"#pragma GCC unroll {count}"


def holder(part: Piece, pieces: Collection[Piece], element: DType) -> Piece | None:
    """The longer register of which the part is some blocks."""
    return next((p for p in pieces if is_block(part, p, element)), None)


def first_stores(s: ir.Allocate, accesses: Accesses) -> Iterator[Piece]:
    """Pieces that the body starts by assigning, in straight-line code, before any read."""
    seen: set[Piece] = set()
    for child in _straight(s.body):
        if not isinstance(child, ir.Store) or child.mask is not None or child.buffer != s.buffer:
            if _touches(child, s.buffer, accesses):
                return
            continue
        loads = (n.index for n in nodes(child) if _is_load(n, s.buffer))
        if not all(_is_assigned(index, seen, s.element) for index in loads):
            return
        piece = _piece(child)
        if piece not in seen:
            seen.add(piece)
            yield piece


def _is_assigned(index: ir.Expr, seen: Collection[Piece], element: DType) -> bool:
    """Whether all that is read lies in registers that have been assigned."""
    piece = piece_of(index)
    if piece is not None:
        return piece in seen or holder(piece, seen, element) is not None
    lanes = constant_lanes(index)
    return lanes is not None and all(any(p <= i < p + n for p, n in seen) for i in lanes)


def fill_is_hidden(s: ir.Allocate, accesses: Accesses) -> bool:
    """Whether the first that happens to a buffer is under a condition or a mask, or in a loop whose
    iterations are not a constant: compilers do not see that what is read later has been filled."""
    first: ir.Stmt = s.body
    while True:
        match first:
            case ir.Block(body=body):
                touching = (c for c in body if s.buffer in accesses.buffers(c))
                first = next(touching, ir.Comment(""))
            case ir.LetStmt(body=body) | ir.Allocate(body=body):
                first = body
            case ir.For(extent=ir.Const(), body=body):
                first = body
            case ir.If(otherwise=otherwise):
                return otherwise is None
            case ir.Store(mask=mask):
                return mask is not None
            case _:
                return isinstance(first, ir.For)


@record
class _Named:
    """A value that a name stands for from here on."""

    value: ir.Expr


def _straight(s: ir.Stmt) -> Iterator[ir.Stmt | _Named]:
    """The statements and named values of the C block that `s` is printed in, in order."""
    while isinstance(s, ir.LetStmt):
        yield _Named(s.value)
        s = s.body
    match s:
        case ir.Block(body=body):
            for child in body:
                yield from _straight(child)
        case ir.Comment():
            pass
        case _:
            yield s


def _touches(n: ir.Stmt | _Named, buffer: str, accesses: Accesses) -> bool:
    if isinstance(n, _Named):
        return any(_is_load(m, buffer) for m in nodes(n.value))
    return buffer in accesses.buffers(n)


def _is_load(n: ir.Node, buffer: str) -> TypeGuard[ir.Load]:
    return isinstance(n, ir.Load) and n.buffer == buffer


def _piece(n: object) -> Piece:
    piece = piece_of(n.index) if isinstance(n, ir.Load | ir.Store) else None
    if piece is None:
        raise InternalError("codegen: a buffer in registers is read at an index that varies")
    return piece
