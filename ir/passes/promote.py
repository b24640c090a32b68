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
from dataclasses import field, replace

from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import BOOL, TILES, DType, Memory
from hbc.ir.lang.walk import free_variables, map_stmt, nodes_of, own_expressions, statements
from hbc.ir.vectors.lane_offsets import constant_lanes

# Variables of one buffer; machines have 16 or 32 registers, the compiler spills the rest.
MOST_PIECES = 128
MOST_SOURCES = 4  # registers that one load picks lanes of; a shuffle joins two
Piece = tuple[int, int]  # first element, lanes
_NOTHING = ir.Block(())
_CANDIDATES = (Memory.AUTO, Memory.STACK, Memory.REGISTER)


def promote(kernel: Kernel) -> Kernel:
    """The kernel with such buffers marked `Memory.REGISTER`."""
    tiles = {
        n.buffer
        for n in statements(kernel.body)
        if isinstance(n, ir.Allocate) and n.memory in TILES
    }
    return kernel.map_body(lambda body: _promote(body, tiles, _Accesses()))


@mutable
class _Uses:
    """What happens to a buffer in its scope. `in_memory`: something needs it there."""

    loads: list[ir.Load] = field(default_factory=list)
    stores: list[ir.Store] = field(default_factory=list)
    in_memory: bool = False


@mutable
class _Accesses:
    """What is used in a statement, by the buffer's name; and whether threads of a GPU run in it."""

    uses: dict[str, _Uses] = field(default_factory=dict)
    threads: bool = False

    def of(self, buffer: str) -> _Uses:
        return self.uses.setdefault(buffer, _Uses())

    def add(self, inner: _Accesses) -> None:
        self.threads |= inner.threads
        for buffer, more in inner.uses.items():
            if buffer not in self.uses:
                self.uses[buffer] = more
                continue
            one = self.uses[buffer]
            one.loads += more.loads
            one.stores += more.stores
            one.in_memory |= more.in_memory

    def expression(self, e: ir.Expr) -> ir.Expr:
        for n in nodes_of(e, ir.Load):
            self.of(n.buffer).loads.append(n)
            self.places(n.index)
        return e

    def places(self, index: ir.Expr) -> None:
        """What says where lanes lie is read lane by lane, but for machines that gather and scatter."""
        if index.type.lanes > 1:
            for n in nodes_of(index, ir.Load):
                if n.type.lanes > 1:
                    self.of(n.buffer).in_memory = True

    def store(self, s: ir.Store, tiles: Collection[str]) -> None:
        """A tile is loaded from memory, and stored to it."""
        for e in own_expressions(s):
            self.expression(e)
        self.places(s.index)
        own = self.of(s.buffer)
        own.stores.append(s)
        if tiles:
            read = {n.buffer for n in nodes_of(s.value, ir.Load)}
            own.in_memory |= not read.isdisjoint(tiles)
            for buffer in read if s.buffer in tiles else ():
                self.of(buffer).in_memory = True


def _promote(s: ir.Stmt, tiles: Collection[str], outer: _Accesses) -> ir.Stmt:
    """`s` with its buffers in registers, and nothing for those that nobody reads. `outer` takes what
    is used of the buffers around it."""
    match s:
        case ir.Allocate():
            return _promote_buffer(s, tiles, outer)
        case ir.Store():
            outer.store(s, tiles)
            return s
        case ir.Prefetch(buffer=buffer):
            outer.of(buffer).in_memory = True  # and what its index reads, below
        case ir.For(kind=ir.LoopKind.PARALLEL):  # threads share no registers
            inner = _Accesses()
            new = map_stmt(s, inner.expression, lambda child: _promote(child, tiles, inner))
            for uses in inner.uses.values():
                uses.in_memory = True
            outer.add(inner)
            return new
        case ir.For(kind=ir.LoopKind.THREAD | ir.LoopKind.LANE):
            outer.threads = True
        case _:
            pass
    return map_stmt(s, outer.expression, lambda child: _promote(child, tiles, outer))


def _promote_buffer(s: ir.Allocate, tiles: Collection[str], outer: _Accesses) -> ir.Stmt:
    inner = _Accesses()
    new = map_stmt(s, outer.expression, lambda child: _promote(child, tiles, inner))
    assert isinstance(new, ir.Allocate)
    own = inner.uses.pop(s.buffer, _Uses())
    if not own.loads:
        rest = _without_stores(new.body, lambda n: n.buffer == s.buffer)
        return _promote(rest, tiles, outer)
    # What all the threads of a GPU's block have, each its own part, stays as it is.
    if s.memory in _CANDIDATES and not inner.threads:
        fits = not own.in_memory and _fits_registers(s, own)
        dead = _dead_stores(own) if fits else set()
        if dead:
            rest = _without_stores(
                new.body, lambda n: isinstance(n, ir.Store) and n.buffer == s.buffer and n in dead
            )
            return _promote(replace(new, body=rest), tiles, outer)
        memory = Memory.REGISTER if fits else s.memory
        if not fits and memory is Memory.REGISTER:
            memory = Memory.AUTO
        new = new if memory is s.memory else replace(new, memory=memory)
    outer.add(inner)
    return new


def _dead_stores(own: _Uses) -> set[ir.Store]:
    """The stores to registers that only their own updates read."""
    uses: Counter[ir.Expr] = Counter(n.index for n in own.loads)
    for s in own.stores:
        mine = (m for m in nodes_of(s, ir.Load) if m.buffer == s.buffer)
        uses[s.index] -= sum(m.index == s.index for m in mine)
    read = {i for index, count in uses.items() if count > 0 for i in _elements(index)}
    return {n for n in own.stores if read.isdisjoint(_elements(n.index))}


def _elements(index: ir.Expr) -> tuple[int, ...]:
    """Of a register, which has constant lanes."""
    return constant_lanes(index) or ()


def _without_stores(s: ir.Stmt, unwanted: Callable[[ir.Store | ir.Prefetch], bool]) -> ir.Stmt:
    """`s` less some stores, and the names, loops and conditions that then are for nothing."""
    if isinstance(s, ir.Store | ir.Prefetch) and unwanted(s):
        return _NOTHING
    new = map_stmt(s, lambda e: e, lambda child: _without_stores(child, unwanted))
    match new:
        case ir.For(body=body) | ir.LetStmt(body=body) if body == _NOTHING:
            return _NOTHING
        case ir.LetStmt(name=name, body=body) if new is not s and name not in free_variables(body):
            return body
        case ir.If(then=then, otherwise=otherwise) if then == _NOTHING and otherwise in (
            None,
            then,
        ):
            return _NOTHING
        case _:
            return new


def _fits_registers(s: ir.Allocate, own: _Uses) -> bool:
    """Every access names constant lanes, and any two name the same ones or none in common, or picks
    lanes of those."""
    if not isinstance(s.extent, ir.Const):
        return False
    pieces: set[Piece] = set()
    read: set[Piece] = set()  # in parts, it may be
    picked: list[tuple[int, ...]] = []
    accesses: list[ir.Load | ir.Store] = [*own.loads, *own.stores]
    for n in accesses:
        whole = isinstance(n, ir.Load) and n.mask is None
        piece = constant_piece(n.index)
        if piece is not None:
            if piece[1] > 1 and s.element == BOOL:
                return False
            (read if whole else pieces).add(piece)
            continue
        lanes = constant_lanes(n.index)
        if lanes is None or (len(lanes) > 1 and s.element == BOOL):
            return False
        if not isinstance(n, ir.Load) or not whole or not _is_shuffled(n, s.element):
            return False
        picked.append(lanes)
    pieces |= {p for p in read if not any(is_block(p, q, s.element) for q in pieces)}
    if len(pieces) > MOST_PIECES or not _disjoint(sorted(pieces)):
        return False
    return all(_picks_from(lanes, pieces) for lanes in picked)


def is_block(part: Piece, whole: Piece, element: DType) -> bool:
    """Whether the part is one or some whole 128-bit blocks of a longer register."""
    at, lanes = part[0] - whole[0], part[1]
    inside = at >= 0 and at + lanes <= whole[1] and lanes < whole[1]
    return inside and lanes * element.bits in (128, 256) and at % lanes == 0


def _is_shuffled(e: ir.Load, element: DType) -> bool:
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


def constant_piece(index: ir.Expr) -> Piece | None:
    """The first element and the number of lanes, when they are constant and adjacent."""
    match index:
        case ir.Const(value=v):
            return int(v), 1
        case ir.Ramp(base=ir.Const(value=v), stride=ir.Const(value=1), lanes=lanes):
            return int(v), lanes
        case _:
            return None
