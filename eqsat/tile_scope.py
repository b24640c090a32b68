"""Statements around buffers in tile memory.

Products become instructions; whole tiles are zeroed, filled and saved, and where the machine can do
that, changed element by element. Whatever else touches such a buffer (an epilogue, an initial value that
is computed, a store under a mask) works on a copy in memory: the tiles are saved to it before, and filled
from it after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hbc.eqsat.choice import CHOSEN, Choice, Statement
from hbc.eqsat.perform import Packed, accumulated
from hbc.eqsat.points import Points, address, value, whole_box
from hbc.eqsat.steps import Fresh
from hbc.eqsat.tensor import Dim, Read, Tensor, Uniform, reads, replaced
from hbc.eqsat.tile_maps import Change, changed, changes
from hbc.eqsat.tile_steps import Product, executed, fill, in_memory, is_whole, products, save
from hbc.eqsat.tiles import (
    MovingTileError,
    Tile,
    TileBuffer,
    TileShapeError,
    accumulators,
    add_tiles,
    moving_loops,
    points_of,
)
from hbc.ir.build import const
from hbc.ir.lane_offsets import constant_lanes
from hbc.ir.nodes import Allocate, Block, Const, Expr, Load, Ramp, Stmt, Store, const_index
from hbc.ir.walk import (
    block,
    inner_statements,
    map_children,
    map_stmt,
    nodes,
    own_expressions,
    statements,
)

Way = tuple[Statement, Choice]
"""A store as a statement over some box, and what does it."""


@dataclass(frozen=True, slots=True)
class Options:
    """A store as a statement, all that may do it, the cheapest first, and as a statement over the
    coarsest box."""

    statement: Statement
    ways: tuple[Way, ...]
    uncut: Statement


MOST_FAILURES = 200  # combinations of choices to try for one buffer


@dataclass(slots=True)
class TileScope:
    """What is needed to rewrite the statements in the scope of tile buffers."""

    buffers: dict[str, TileBuffer]
    is_relaxed: Callable[[str], bool]
    options: Callable[[Store], Options | None]
    fix: Callable[[Store, Way], None]
    stores: Callable[[Stmt], Iterator[Store]]
    fresh: Fresh
    packed: Packed
    scopes: set[str] = field(default_factory=set)  # the buffers that had tiles so far
    accesses: dict[int, tuple[Stmt, frozenset[str], frozenset[str]]] = field(default_factory=dict)

    def touched(self, s: Stmt) -> tuple[frozenset[str], frozenset[str]]:
        """The tile buffers that are read and written in a statement."""
        if not self.buffers:
            return frozenset(), frozenset()
        _, read, written = self._accessed(s)
        return read & self.buffers.keys(), written & self.buffers.keys()

    def _accessed(self, s: Stmt) -> tuple[Stmt, frozenset[str], frozenset[str]]:
        """The statement, and all buffers that are read and written in it."""
        known = self.accesses.get(id(s))
        if known is None:
            read: set[str] = set()
            written = {s.buffer} if isinstance(s, Store) else set()
            for e in own_expressions(s):
                read.update(n.buffer for n in nodes(e) if isinstance(n, Load))
            for _, r, w in map(self._accessed, inner_statements(s)):
                read |= r
                written |= w
            known = self.accesses[id(s)] = s, frozenset(read), frozenset(written)
        return known

    def touching(self, s: Stmt) -> list[Store]:
        """The stores in a statement that read or write tiles."""
        stores = (n for n in statements(s) if isinstance(n, Store))
        return [n for n in stores if any(self.touched(n))]

    def product(self, s: Stmt) -> tuple[Statement, Choice] | None:
        """The statement of a store that accumulates in tiles."""
        if not isinstance(s, Store) or s.buffer not in self.buffers:
            return None
        found = self.options(s)
        return found.ways[0] if found is not None and found.ways else None

    def add(self, s: Allocate) -> TileBuffer:
        """The tiles of a buffer, as the products in its scope want them: each has its cheapest choice
        that suits the tiles of those before it. Raises TileShapeError when nothing suits all, and
        MovingTileError when a product is not always in the same tile."""
        assert isinstance(s.extent, Const)
        b = TileBuffer(s.buffer, s.element, int(s.extent.value), s.memory)
        outer = self.buffers.get(s.buffer)
        self.buffers[s.buffer] = b
        uses = [(n, found) for n in self.stores(s.body) if (found := self._uses(n, s.buffer))]
        for n, found in uses:
            moving = _moving(found, s.buffer)
            if moving:
                raise MovingTileError(s.buffer, n, moving)
        failures: list[TileShapeError | None] = []
        agreed = self._agreed(uses, b, failures, roomy=True)
        if agreed is None:
            failures.clear()
            agreed = self._agreed(uses, b, failures, roomy=False)
        if agreed is None:
            del self.buffers[s.buffer]
            raise next(f for f in failures if f is not None)
        for (n, _), way in zip(uses, agreed[1], strict=True):
            self.fix(n, way)
        del self.buffers[s.buffer]
        if outer is not None:
            self.buffers[s.buffer] = outer
        again = s.buffer in self.scopes
        self.scopes.add(s.buffer)
        return agreed[0].named(self.fresh, again)

    def _uses(self, s: Store, buffer: str) -> Options | None:
        """The options of a statement on tiles, one of which is the buffer."""
        found = self.options(s)
        if found is None or not found.ways or found.ways[0][1].plan.instruction.place.rows == 1:
            return None
        candidates = [choice.candidate for _, choice in found.ways]
        read = {r.buffer for c in candidates for x in (c.a, c.b) for r in reads(x)}
        return found if buffer == found.statement.dest.buffer or buffer in read else None

    def _agreed(
        self,
        uses: Sequence[tuple[Store, Options]],
        b: TileBuffer,
        failures: list[TileShapeError | None],
        roomy: bool,
    ) -> tuple[TileBuffer, tuple[Way, ...]] | None:
        """The buffer's tiles and a choice for each statement that agree with those it has. `roomy`:
        they leave a register for each factor. `failures`: why combinations would not do; None: they
        leave no register."""
        if not uses:
            return b, ()
        (_, options), *rest = uses
        for one, choice in options.ways:
            if len(failures) > MOST_FAILURES:
                return None
            trial = TileBuffer(b.name, b.element, b.extent, b.memory, dict(b.tiles))
            try:
                _add(trial, one, choice)
            except TileShapeError as failure:
                failures.append(failure)
                continue
            i = choice.plan.instruction
            if roomy and len(trial.tiles) > i.place.count - len(i.factors):
                failures.append(None)
                continue
            found = self._agreed(rest, trial, failures, roomy)
            if found is not None:
                return found[0], ((one, choice), *found[1])
        return None

    def is_direct(self, s: Stmt) -> bool:
        """Whether a store fills or saves whole tiles, or changes all their elements."""
        return self._moves(s) is not None or self._changes(s) is not None

    def direct(self, s: Store) -> Stmt:
        """Such a store on the tiles."""
        found = self._moves(s)
        if found is None:
            steps = self._changes(s)
            assert steps is not None
            return block(*(changed(c, self.fresh) for c in steps))
        one, moves = found
        if s.buffer in self.buffers:
            return block(
                *(fill(tile, one.value, at, self.packed, self.fresh) for tile, at in moves)
            )
        return block(*(save(tile, one.dest, at, self.fresh) for tile, at in moves))

    def _changes(self, s: Stmt) -> list[Change] | None:
        """What a store does to all elements of tiles alike; None where it is no such store."""
        found = self.options(s) if isinstance(s, Store) else None
        if found is None:
            return None
        for one in dict.fromkeys((found.statement, found.uncut)):
            steps = changes(one, self.buffers)
            if steps is not None:
                return steps
        return None

    def _moves(self, s: Stmt) -> tuple[Statement, list[tuple[Tile, Points]]] | None:
        """The tiles that a store fills or saves, and where they are in the box of the statement."""
        found = self.options(s) if isinstance(s, Store) else None
        if found is None:
            return None
        for one in dict.fromkeys((found.statement, found.uncut)):
            moves = self._moved(one)
            if moves is not None:
                return one, moves
        return None

    def _moved(self, one: Statement) -> list[tuple[Tile, Points]] | None:
        if one.mask:
            return None
        inside = {r.buffer for r in reads(one.value)} & self.buffers.keys()
        if one.dest.buffer in self.buffers:
            return None if inside else self._located(one.dest, one)
        if isinstance(one.value, Read) and inside:
            return self._located(one.value, one)
        return None

    def _located(self, x: Read, s: Statement) -> list[tuple[Tile, Points]] | None:
        everything = constant_lanes(address(x, whole_box(s.outputs)))
        if everything is None:
            return None
        b, left = self.buffers[x.buffer], set(everything)
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
        self, s: Statement, choice: Choice, inner: Callable[[Stmt], Stmt]
    ) -> Stmt | list[Product]:
        """A product statement: its accumulators get their initial values before it, and what is done
        to the sums is done after it."""
        c = choice.candidate
        done = products(choice, s, self.buffers, self.fresh, self.packed)
        if c.c == s.dest and choice.rest is None:
            return done
        middle = executed(done, self.fresh) if isinstance(done, list) else done
        return block(self._begin(s, choice, inner), middle, self._end(s, choice, inner))

    def _begin(self, s: Statement, choice: Choice, inner: Callable[[Stmt], Stmt]) -> Stmt:
        c = choice.candidate
        start = c.c or Uniform(const(0, c.element))
        if start == s.dest:
            return Block(())
        if any(r.buffer in self.buffers for r in reads(start)):
            return self._assigned(s, start, inner)
        own = accumulators(self.buffers[s.dest.buffer], s, choice)
        return block(
            *(
                fill(tile, start, accumulated(choice.plan, at), self.packed, self.fresh)
                for at, tile in own
            )
        )

    def _end(self, s: Statement, choice: Choice, inner: Callable[[Stmt], Stmt]) -> Stmt:
        if choice.rest is None:
            return Block(())
        return self._assigned(s, replaced(choice.rest, CHOSEN, s.dest), inner)

    def _assigned(self, s: Statement, x: Tensor, inner: Callable[[Stmt], Stmt]) -> Stmt:
        """The tiles with values computed from tiles."""
        steps = changes(replace(s, value=x), self.buffers)
        if steps is not None:
            return block(*(changed(c, self.fresh) for c in steps))
        return self.through_memory([self._assign(s, x)], inner)

    def _assign(self, s: Statement, x: Tensor) -> Store:
        at = whole_box(s.outputs)
        return Store(s.dest.buffer, address(s.dest, at), value(x, at))

    def through_memory(self, run: Sequence[Stmt], inner: Callable[[Stmt], Stmt]) -> Stmt:
        """Statements that work on copies of the tile buffers they touch."""
        read, written = self.touched(block(*run))
        copies = {b: self.fresh(f"{self.buffers[b].name}_copy") for b in sorted(read | written)}
        before = [self._copy_out(b, copies[b]) for b in sorted(read)]
        after = [self._copy_in(b, copies[b]) for b in sorted(written)]
        hidden = {b: self.buffers.pop(b) for b in copies}
        body = [inner(renamed(s, copies, self.is_relaxed)) for s in run]
        self.buffers |= hidden
        whole = block(*before, *body, *after)
        for b in sorted(copies, reverse=True):
            whole = self._copied(self.buffers[b], copies[b], whole)
        return whole

    def _copied(self, b: TileBuffer, copy: str, body: Stmt) -> Stmt:
        """The body with a copy of a buffer; tiles may go beyond its end, to zeros."""
        end = max([b.extent, *(max(t.addresses) + 1 for t in b.tiles.values())])
        if end > b.extent:
            beyond = Ramp(const_index(b.extent), const_index(1), end - b.extent)
            where = beyond if end - b.extent > 1 else const_index(b.extent)
            body = block(Store(copy, where, const(0, b.element(end - b.extent))), body)
        return in_memory(copy, b.element, end, body)

    def _copy_out(self, buffer: str, copy: str) -> Stmt:
        tiles = self.buffers[buffer].tiles.values()
        return block(*(save(t, *as_read(t, copy), self.fresh) for t in tiles))

    def _copy_in(self, buffer: str, copy: str) -> Stmt:
        steps: list[Stmt] = []
        for tile in self.buffers[buffer].tiles.values():
            x, at = as_read(tile, copy)
            if is_whole(tile, x, at):
                steps.append(Store(tile.name, tile.index(), value(x, at)))
                continue
            name = self.fresh(f"{tile.name}_rows")
            rows = Load(name, tile.index(), tile.element(tile.lanes))
            filled = block(
                Store(name, tile.index(), value(x, at)), Store(tile.name, tile.index(), rows)
            )
            steps.append(in_memory(name, tile.element, tile.lanes, filled))
        return block(*steps)


def _moving(options: Options, buffer: str) -> tuple[str, ...]:
    """The loops that say which tiles of the buffer the statement accesses."""
    one, choice = options.ways[0]
    factors = (choice.candidate.a, choice.candidate.b)
    accessed = [x for x in (one.dest, *factors) if isinstance(x, Read) and x.buffer == buffer]
    return tuple(dict.fromkeys(loop for x in accessed for loop in moving_loops(x)))


def _add(b: TileBuffer, s: Statement, choice: Choice) -> None:
    """The tiles that a choice wants of the buffer. Raises TileShapeError."""
    plan, c = choice.plan, choice.candidate
    if s.dest.buffer == b.name:
        add_tiles(b, s.dest, plan, plan.instruction.accumulator)
    for operand, x in zip(plan.instruction.factors, (c.a, c.b), strict=True):
        if isinstance(x, Read) and x.buffer == b.name:
            add_tiles(b, x, plan, operand)


def as_read(tile: Tile, copy: str) -> tuple[Read, Points]:
    """The tile's elements in a copy of its buffer, and all points of them."""
    dims = tuple(Dim(f"t{n}", extent) for n, extent in enumerate(tile.extents))
    inner, strides = tile.lanes, []
    for d in dims:
        inner //= d.extent
        step = tile.addresses[inner] - tile.addresses[0] if d.extent > 1 else 0
        strides.append((d, const_index(step)))
    base = const_index(tile.addresses[0])
    return Read(copy, tile.element, base, tuple(strides)), whole_box(dims)


def renamed(s: Stmt, names: Mapping[str, str], is_relaxed: Callable[[str], bool]) -> Stmt:
    """The statement on other buffers; where it may, it writes all lanes."""

    def expr(e: Expr) -> Expr:
        e = map_children(e, expr)
        return (
            replace(e, buffer=names[e.buffer]) if isinstance(e, Load) and e.buffer in names else e
        )

    def stmt(s: Stmt) -> Stmt:
        s = map_stmt(s, expr, stmt)
        if not isinstance(s, Store) or s.buffer not in names:
            return s
        return replace(s, buffer=names[s.buffer], mask=None if is_relaxed(s.buffer) else s.mask)

    return stmt(s)
