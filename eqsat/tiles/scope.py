"""Statements around buffers in tile memory.

Products become instructions; whole tiles are zeroed, filled and saved, and where the machine can do
that, changed element by element. Whatever else touches such a buffer (an epilogue, an initial value that
is computed, a store under a mask) works on a copy in memory: the tiles are saved to it before, and filled
from it after.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from hbc.eqsat.operands.choice import CHOSEN, Choice, Statement
from hbc.eqsat.operands.perform import accumulated, stored
from hbc.eqsat.operands.placement import Frames
from hbc.eqsat.tensors.points import Points, address, value, whole_box
from hbc.eqsat.tensors.tensor import Dim, Dims, Read, Tensor, Uniform, reads, replaced
from hbc.eqsat.tiles.agreement import Mapped, Options, Use, agreement
from hbc.eqsat.tiles.followers import Link, with_followers
from hbc.eqsat.tiles.maps import Change, bare, changed, changes
from hbc.eqsat.tiles.moved_columns import with_moved_columns
from hbc.eqsat.tiles.row_reductions import row_reductions
from hbc.eqsat.tiles.steps import Product, executed, fill, in_memory, is_whole, products, save
from hbc.eqsat.tiles.tiles import (
    MovingTileError,
    Tile,
    TileBuffer,
    accumulators,
    points_of,
    with_rest,
)
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const
from hbc.ir.lang.instruction import Instruction
from hbc.ir.lang.types import TILES, Memory
from hbc.ir.lang.walk import (
    block,
    contains,
    inner_statements,
    map_children,
    map_stmt,
    nodes,
    nodes_of,
    own_expressions,
    statements,
)
from hbc.ir.vectors.lane_offsets import constant_lanes


@mutable
class TileScope:
    """What is needed to rewrite the statements in the scope of tile buffers."""

    buffers: dict[str, TileBuffer]
    is_relaxed: Callable[[str], bool]
    options: Callable[[ir.Store], Options | None]
    fix: Callable[[ir.Store, Mapped], None]
    frames: Frames
    instructions: dict[str, Instruction] = field(default_factory=dict)  # chosen, by name
    scopes: set[str] = field(default_factory=set)  # the buffers that had tiles so far
    planned: set[int] = field(default_factory=set)  # products whose choice is fixed, by id
    accesses: dict[int, tuple[ir.Stmt, frozenset[str], frozenset[str]]] = field(
        default_factory=dict
    )
    stored: dict[str, set[int]] = field(default_factory=dict)  # elements that had a value so far
    elements: dict[tuple[Read, Dims], tuple[int, ...] | None] = field(default_factory=dict)

    def touched(self, s: ir.Stmt) -> tuple[frozenset[str], frozenset[str]]:
        """The tile buffers that are read and written in a statement."""
        if not self.buffers:
            return frozenset(), frozenset()
        _, read, written = self._accessed(s)
        return read & self.buffers.keys(), written & self.buffers.keys()

    def _accessed(self, s: ir.Stmt) -> tuple[ir.Stmt, frozenset[str], frozenset[str]]:
        """The statement, and all buffers that are read and written in it."""
        accessed = self.accesses.get(id(s))
        if accessed is None:
            read: set[str] = set()
            written = {s.buffer} if isinstance(s, ir.Store) else set()
            for e in own_expressions(s):
                read.update(n.buffer for n in nodes_of(e, ir.Load))
            for _, r, w in map(self._accessed, inner_statements(s)):
                read |= r
                written |= w
            accessed = self.accesses[id(s)] = s, frozenset(read), frozenset(written)
        return accessed

    def is_in(self, e: ir.Expr) -> bool:
        """Whether a value is computed from tiles."""
        return any(isinstance(n, ir.Load) and n.buffer in self.buffers for n in nodes(e))

    def touching(self, s: ir.Stmt) -> list[ir.Store]:
        """The stores in a statement that read or write tiles."""
        stores = (n for n in statements(s) if isinstance(n, ir.Store))
        return [n for n in stores if any(self.touched(n))]

    def first(self, s: ir.Stmt) -> ir.Stmt:
        """The next statement in order. A store to elements that had no value so far needs no mask: there
        is nothing to keep. Nor does one under a condition."""
        match s:
            case ir.Store() if s.buffer in self.buffers:
                elements = self._elements(s)
                written = self.stored.setdefault(s.buffer, set())
                masked = s.mask is not None and id(s) not in self.planned
                new = masked and written.isdisjoint(elements) and not self._repeats(s.buffer)
                written.update(elements)
                return replace(s, mask=None) if new else s
            case ir.Block() | ir.If() | ir.LetStmt() if self.touched(s)[1]:
                return map_stmt(s, lambda e: e, self.first)
        for n in statements(s):  # done more than once, or in a scope of its own
            if isinstance(n, ir.Store) and n.buffer in self.buffers:
                self.stored.setdefault(n.buffer, set()).update(self._elements(n))
        return s

    def _elements(self, s: ir.Store) -> Collection[int]:
        """What is stored to, at most."""
        return constant_lanes(s.index) or range(self.buffers[s.buffer].extent)

    def _repeats(self, buffer: str) -> bool:
        """Whether a loop inside of the buffer's scope is around what is at hand. One over threads is none:
        each warp has fragments of its own."""
        for frame in reversed(self.frames.stack):
            if isinstance(frame.stmt, ir.For) and frame.stmt.kind is not ir.LoopKind.THREAD:
                return True
            if isinstance(frame.stmt, ir.Allocate) and frame.stmt.buffer == buffer:
                return False
        return True

    def product(self, s: ir.Stmt) -> tuple[Statement, Choice] | None:
        """The statement of a store that accumulates in tiles."""
        if not isinstance(s, ir.Store) or s.buffer not in self.buffers:
            return None
        options = self.options(s)
        return options.mappings[0] if options is not None and options.mappings else None

    def add(self, s: ir.Allocate) -> TileBuffer:
        """The tiles of a buffer, as the products in its scope want them, which are decided with it. `s`
        is the innermost of the frames. Raises TileShapeError when nothing suits all, and
        MovingTileError when a product is not always in the same tile."""
        numbers = {id(s): 0}
        tiles = [_empty(s)]
        outer, uses, links = self.buffers, list[Use](), list[Link]()
        around = {id(a) for a in self.frames.allocations()}
        for n in self.frames.stores(s.body):
            scope: dict[str, int] = {}
            for a in self.frames.allocations():
                if a is s or (a.memory in TILES and id(a) not in around):
                    if id(a) not in numbers:
                        numbers[id(a)] = len(tiles)
                        tiles.append(_empty(a))
                    scope[a.buffer] = numbers[id(a)]
            self.buffers = outer | {name: tiles[k] for name, k in scope.items()}
            options = self.options(n)
            if (
                options is not None
                and options.is_on_tiles
                and not options.buffers.isdisjoint(scope)
            ):
                uses.append(Use(n, options, scope))
            elif options is not None and not options.mappings:
                links.append(Link(options, scope))
        self.buffers = outer
        for use in uses:
            moving = use.moving()
            if moving is not None:
                buffer, loops = moving
                outside = {f.stmt.var for f in self.frames.stack if isinstance(f.stmt, ir.For)}
                inside = [v for v in loops if v not in outside]
                raise MovingTileError(buffer, use.store, inside or loops)
        agreed, mappings = agreement(uses, tuple(tiles))
        agreed = with_followers(links, agreed)
        agreed, mappings = with_moved_columns(uses, links, agreed, mappings)
        chosen = (choice.plan.instruction for _, choice in mappings)
        self.instructions |= {i.name: i for i in chosen}
        for use, mapped in zip(uses, mappings, strict=True):
            self.fix(use.store, mapped)
            self.planned.add(id(use.store))
        again = s.buffer in self.scopes
        self.scopes.add(s.buffer)
        return with_rest(agreed[0], _read_elements(s)).named(self.frames.fresh, again)

    def is_direct(self, s: ir.Stmt) -> bool:
        """Whether a store fills or saves whole tiles, changes all their elements, or reduces their rows."""
        forms = (self._moves(s), self._changes(s), self._row_reductions(s))
        return any(x is not None for x in forms)

    def direct(self, s: ir.Store) -> ir.Stmt:
        """Such a store on the tiles."""
        moved = self._moves(s)
        if moved is None and (rows := self._row_reductions(s)) is not None:
            return block(*rows)
        if moved is None:
            steps = self._changes(s)
            assert steps is not None
            return block(*(changed(c, self.frames.fresh, s.atomic) for c in steps))
        statement, moves = moved
        if s.buffer in self.buffers:
            return block(
                *(
                    fill(tile, statement.value, at, self.frames.packed, self.frames.fresh)
                    for tile, at in moves
                )
            )
        fresh = self.frames.fresh
        return block(
            *(
                save(tile, statement.dest, at, fresh, stored(statement, at), s.atomic)
                for tile, at in moves
            )
        )

    def _changes(self, s: ir.Stmt) -> list[Change] | None:
        """What a store does to all elements of tiles alike; None where it is no such store."""
        options = self.options(s) if isinstance(s, ir.Store) else None
        if options is None:
            return None
        for statement in dict.fromkeys((options.statement, options.uncut)):
            steps = changes(statement, self.buffers)
            if steps is not None:
                return steps
        return None

    def _row_reductions(self, s: ir.Stmt) -> list[ir.Store] | None:
        """The stores of what rows of tiles come to."""
        if not isinstance(s, ir.Store) or not contains(s.value, ir.VectorReduce):
            return None
        options = self.options(s)
        if options is None:
            return None
        made = (row_reductions(one, self.buffers) for one in (options.statement, options.uncut))
        return next((x for x in made if x is not None), None)

    def _moves(self, s: ir.Stmt) -> tuple[Statement, list[tuple[Tile, Points]]] | None:
        """The tiles that a store fills or saves, and where they are in the box of the statement."""
        options = self.options(s) if isinstance(s, ir.Store) else None
        if options is None:
            return None
        for statement in dict.fromkeys((options.statement, options.uncut)):
            moves = self._moved(statement)
            if moves is not None:
                return statement, moves
        return None

    def _moved(self, statement: Statement) -> list[tuple[Tile, Points]] | None:
        statement = bare(statement, self.buffers)
        inside = {r.buffer for r in reads(statement.value)} & self.buffers.keys()
        if statement.mask and any(self.buffers[b].memory is not Memory.WMMA for b in inside):
            return None  # one copy for all tiles of the processor's
        if statement.mask and statement.dest.buffer in self.buffers:
            return None
        if statement.dest.buffer in self.buffers:
            return None if inside else self._located(statement.dest, statement)
        if isinstance(statement.value, Read) and inside:
            return self._located(statement.value, statement)
        return None

    def _located(self, x: Read, s: Statement) -> list[tuple[Tile, Points]] | None:
        if (x, s.outputs) not in self.elements:
            everything = constant_lanes(address(x, whole_box(s.outputs)))
            self.elements[x, s.outputs] = everything
        elements = self.elements[x, s.outputs]
        if elements is None:
            return None
        b, left = self.buffers[x.buffer], set(elements)
        moves = []
        for tile in b.tiles.values():
            if left.isdisjoint(tile.addresses):
                continue
            at = points_of(tile, x, s.outputs)
            if at is None:
                return None
            left -= set(tile.addresses)
            moves.append((tile, at))
        return None if left and x != s.dest else moves

    def accumulate(
        self, s: Statement, choice: Choice, inner: Callable[[ir.Stmt], ir.Stmt]
    ) -> ir.Stmt | list[Product]:
        """A product statement: its accumulators get their initial values before it, and what is done
        to the sums is done after it."""
        c = choice.candidate
        done = products(choice, s, self.buffers, self.frames)
        if c.c == s.dest and choice.rest is None:
            return done
        middle = executed(done, self.frames.fresh) if isinstance(done, list) else done
        return block(self._begin(s, choice, inner), middle, self._end(s, choice, inner))

    def _begin(self, s: Statement, choice: Choice, inner: Callable[[ir.Stmt], ir.Stmt]) -> ir.Stmt:
        c = choice.candidate
        start = c.c or Uniform(const(0, c.element))
        if start == s.dest:
            return ir.Block(())
        if any(r.buffer in self.buffers for r in reads(start)):
            return self._assigned(s, start, inner)
        own = accumulators(self.buffers[s.dest.buffer], s, choice)
        return block(
            *(
                fill(
                    tile, start, accumulated(choice.plan, at), self.frames.packed, self.frames.fresh
                )
                for at, tile in own
            )
        )

    def _end(self, s: Statement, choice: Choice, inner: Callable[[ir.Stmt], ir.Stmt]) -> ir.Stmt:
        if choice.rest is None:
            return ir.Block(())
        return self._assigned(s, replaced(choice.rest, CHOSEN, s.dest), inner)

    def _assigned(self, s: Statement, x: Tensor, inner: Callable[[ir.Stmt], ir.Stmt]) -> ir.Stmt:
        """The tiles with values computed from tiles."""
        steps = changes(replace(s, value=x), self.buffers)
        if steps is not None:
            return block(*(changed(c, self.frames.fresh) for c in steps))
        return self.through_memory([self._assign(s, x)], inner)

    def _assign(self, s: Statement, x: Tensor) -> ir.Store:
        at = whole_box(s.outputs)
        return ir.Store(s.dest.buffer, address(s.dest, at), value(x, at))

    def through_memory(
        self, run: Sequence[ir.Stmt], inner: Callable[[ir.Stmt], ir.Stmt]
    ) -> ir.Stmt:
        """Statements that work on copies of the tile buffers they touch."""
        read, written = self.touched(block(*run))
        copies = {
            b: self.frames.fresh(f"{self.buffers[b].name}_copy") for b in sorted(read | written)
        }
        before = [self._copy_out(copies[b], self._tiles_in(b, run)) for b in sorted(read)]
        after = [
            self._copy_in(copies[b], self._tiles_in(b, run, stored=True)) for b in sorted(written)
        ]
        hidden = {b: self.buffers.pop(b) for b in copies}
        body = [inner(renamed(s, copies, self.is_relaxed)) for s in run]
        self.buffers |= hidden
        whole = block(*before, *body, *after)
        for b in sorted(copies, reverse=True):
            whole = self._copied(self.buffers[b], copies[b], whole)
        return whole

    def _copied(self, b: TileBuffer, copy: str, body: ir.Stmt) -> ir.Stmt:
        """The body with a copy of a buffer; tiles may go beyond its end, to zeros."""
        end = max([b.extent, *(max(t.addresses) + 1 for t in b.tiles.values())])
        if end > b.extent:
            beyond = ir.Ramp(ir.const_index(b.extent), ir.const_index(1), end - b.extent)
            where = beyond if end - b.extent > 1 else ir.const_index(b.extent)
            body = block(ir.Store(copy, where, const(0, b.element(end - b.extent))), body)
        return in_memory(copy, b.element, end, body)

    def _tiles_in(self, buffer: str, run: Sequence[ir.Stmt], stored: bool = False) -> list[Tile]:
        """The tiles of a buffer that statements touch, or only those they store to. The others may have
        no values yet."""
        elements: set[int] = set()
        tiles = list(self.buffers[buffer].tiles.values())
        for index in _indices(buffer, run, stored):
            lanes = constant_lanes(index)
            if lanes is None:
                return tiles
            elements.update(lanes)
        return [t for t in tiles if not elements.isdisjoint(t.addresses)]

    def _copy_out(self, copy: str, tiles: Sequence[Tile]) -> ir.Stmt:
        return block(*(save(t, *as_read(t, copy), self.frames.fresh) for t in tiles))

    def _copy_in(self, copy: str, tiles: Sequence[Tile]) -> ir.Stmt:
        steps: list[ir.Stmt] = []
        for tile in tiles:
            x, at = as_read(tile, copy)
            if is_whole(tile, x, at):
                steps.append(ir.Store(tile.name, tile.index(), value(x, at)))
                continue
            name = self.frames.fresh(f"{tile.name}_rows")
            rows = ir.Load(name, tile.index(), tile.element(tile.lanes))
            filled = block(
                ir.Store(name, tile.index(), value(x, at)), ir.Store(tile.name, tile.index(), rows)
            )
            steps.append(in_memory(name, tile.element, tile.lanes, filled))
        return block(*steps)


def _indices(buffer: str, run: Sequence[ir.Stmt], stored: bool) -> Iterator[ir.Expr]:
    """The places in a buffer that statements store to, and unless `stored` those they load from."""
    for s in (n for r in run for n in statements(r)):
        if isinstance(s, ir.Store) and s.buffer == buffer:
            yield s.index
        if not stored:
            for e in own_expressions(s):
                yield from (n.index for n in nodes_of(e, ir.Load) if n.buffer == buffer)


def _read_elements(s: ir.Allocate) -> Collection[int]:
    """The elements of a buffer that are read in its scope, whatever for."""
    elements: set[int] = set()
    for n in nodes(s.body):
        if isinstance(n, ir.Load) and n.buffer == s.buffer:
            lanes = constant_lanes(n.index)
            if lanes is None:
                return range(_empty(s).extent)
            elements.update(lanes)
    return elements


def _empty(s: ir.Allocate) -> TileBuffer:
    assert isinstance(s.extent, ir.Const)
    return TileBuffer(s.buffer, s.element, int(s.extent.value), s.memory)


def as_read(tile: Tile, copy: str) -> tuple[Read, Points]:
    """The tile's elements in a copy of its buffer, and all points of them."""
    dims = tuple(Dim(f"t{n}", extent) for n, extent in enumerate(tile.extents))
    inner, strides = tile.lanes, []
    for d in dims:
        inner //= d.extent
        step = tile.addresses[inner] - tile.addresses[0] if d.extent > 1 else 0
        strides.append((d, ir.const_index(step)))
    base = ir.const_index(tile.addresses[0])
    return Read(copy, tile.element, base, tuple(strides)), whole_box(dims)


def renamed(s: ir.Stmt, names: Mapping[str, str], is_relaxed: Callable[[str], bool]) -> ir.Stmt:
    """The statement on other buffers; where it may, it writes all lanes."""

    def expr(e: ir.Expr) -> ir.Expr:
        e = map_children(e, expr)
        return (
            replace(e, buffer=names[e.buffer])
            if isinstance(e, ir.Load) and e.buffer in names
            else e
        )

    def stmt(s: ir.Stmt) -> ir.Stmt:
        s = map_stmt(s, expr, stmt)
        if not isinstance(s, ir.Store) or s.buffer not in names:
            return s
        return replace(s, buffer=names[s.buffer], mask=None if is_relaxed(s.buffer) else s.mask)

    return stmt(s)
