"""Where packed operands are made: outside every loop that they do not vary in, and only once.

A pack that does not vary in a loop is filled before it. Loops between there and its use in which it
does vary become dimensions of the temporary. What constant inputs alone decide is filled before all
loops: then a caller can have it done once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from math import prod

from hbc.eqsat.operands.pack_order import Outer
from hbc.eqsat.operands.packs import Pack, alike, filled, name_of, same
from hbc.eqsat.tensors.plan import Parts
from hbc.eqsat.tensors.points import Points
from hbc.eqsat.tensors.steps import Fresh, Index
from hbc.eqsat.tensors.tensor import Tensor, reads, scalars, strides_along
from hbc.ir.algebra.bounds import constant_bounds
from hbc.ir.algebra.facts import Facts, Interval
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value, not_, sub
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import (
    block,
    children,
    contains,
    free_variables,
    nodes_of,
    statements,
    substitute,
)

IN_BLOCK = 16  # operands that a block of a GPU packs at most for one of its threads' statements


@mutable
class Frame:
    """A statement that is being walked through, and what is to be packed before it."""

    stmt: ir.Stmt
    packs: list[Pack] = field(default_factory=list)
    known: frozenset[str] | None = None
    homes: dict[int, tuple[Tensor, Home]] = field(default_factory=dict)  # by the id of the tensor
    # The names of places by what is there: the buffer, the number of the pack, and the steps.
    wanted: dict[tuple[str, int, tuple[ir.Expr, ...]], str] = field(default_factory=dict)

    @property
    def stored(self) -> frozenset[str]:
        """The buffers that the statement stores to."""
        if self.known is None:
            self.known = frozenset(
                n.buffer for n in statements(self.stmt) if isinstance(n, ir.Store)
            )
        return self.known


Home = tuple[Frame, tuple[Outer, ...]]
"""Before which frame to pack a value, and what is around the pack."""


@mutable
class Frames:
    """The statements around the one at hand, outermost first. `scalar`: as of `Pack`. `places`: where
    what is packed lies, by the names that stand for it until it is known with what it shares its
    temporary."""

    fresh: Fresh
    scalar: bool = False
    constants: frozenset[str] = frozenset()  # inputs that are the same in many calls
    stack: list[Frame] = field(default_factory=list)
    places: dict[str, ir.Expr] = field(default_factory=dict)
    named: int = 0
    whole: dict[int, tuple[ir.Allocate, bool]] = field(default_factory=dict)  # filled so, by its id

    @contextmanager
    def inside(self, s: ir.Stmt) -> Iterator[Frame]:
        """Within, `s` is the innermost statement."""
        self.stack.append(Frame(s))
        yield self.stack[-1]
        self.stack.pop()

    def stores(self, s: ir.Stmt) -> Iterator[ir.Store]:
        """The stores in a statement, in order, each while the walk is at it."""
        with self.inside(s):
            if isinstance(s, ir.Store):
                yield s
            for child in children(s):
                if isinstance(child, ir.Stmt):
                    yield from self.stores(child)

    def packed(self, x: Tensor, at: Points, steps: Parts, index: Index, note: str) -> ir.Expr:
        """The load of a value from its pack, which is planned if there is none yet. `at`: its points
        at the first of the steps; `index`: at which steps it is wanted."""
        frame, around = self.home(x)
        moved = strides_along(x)
        moving = [p for p in steps if p.dim in moved]
        ordered = tuple(sorted(moving, key=lambda p: not p.dim.reduced))  # in the order of use
        wanted = Pack("", x, at, around, ordered, note, scalar=self.scalar)
        pack = next((p for p in frame.packs if same(p, wanted)), None)
        if pack is None:
            shared = [p for p in frame.packs if alike(p, wanted)]
            buffer = shared[0].buffer if shared else self.fresh(name_of(x))
            pack = replace(wanted, buffer=buffer, number=len(shared))
            frame.packs.append(pack)
        at_steps = tuple(index.get(p.dim, ir.const_index(0)) for p in pack.steps)
        key = pack.buffer, pack.number, at_steps
        if key not in frame.wanted:
            frame.wanted[key] = f"place {self.named}"
            self.named += 1
        return pack.load(ir.Var(frame.wanted[key]))

    def filled(self, frame: Frame, s: ir.Stmt) -> ir.Stmt:
        """The statement after what was packed for it. Its loads are from `places`."""
        if not frame.packs:
            return s
        groups: dict[str, list[Pack]] = {}
        for p in frame.packs:
            groups.setdefault(p.buffer, []).append(p)
        rows = {(p.buffer, p.number): p.rows(len(groups[p.buffer])) for p in frame.packs}
        dims = {(p.buffer, p.number): [q.dim for q in p.steps] for p in frame.packs}
        for (buffer, number, steps), name in frame.wanted.items():
            index = dict(zip(dims[buffer, number], steps, strict=True))
            self.places[name] = rows[buffer, number].place(index)
        return filled(groups, s, self.fresh)

    def allocations(self) -> list[ir.Allocate]:
        """The buffers in scope, the innermost of each name."""
        innermost: dict[str, ir.Allocate] = {}
        for frame in self.stack:
            if isinstance(frame.stmt, ir.Allocate):
                innermost[frame.stmt.buffer] = frame.stmt
        return list(innermost.values())

    def is_there(self, load: ir.Load) -> bool:
        """Whether all that is loaded has values: it is inside of an array that a block fills whole."""
        a = next((a for a in self.allocations() if a.buffer == load.buffer), None)
        if a is None or a.memory is not Memory.SHARED:
            return False
        facts = Facts()
        for s in (frame.stmt for frame in self.stack):
            if isinstance(s, ir.For):
                facts = facts.with_range(s.var, Interval(s.start, sub(add(s.start, s.extent), 1)))
        low, high = constant_bounds(load.index, facts)
        extent = const_value(a.extent)
        if low is None or high is None or extent is None or low < 0 or high >= extent:
            return False
        if id(a) not in self.whole:
            from hbc.ir.vectors.places_stored import is_stored_whole  # imports NumPy

            self.whole[id(a)] = a, is_stored_whole(a)
        return self.whole[id(a)][1]

    def is_reused(self, e: ir.Expr) -> bool:
        """Whether a value at this place stays the same in a loop around the statement at hand, so that
        it need not be packed anew."""
        names = free_variables(e)
        for frame in reversed(self.stack):
            match frame.stmt:
                case ir.For(var=var):
                    if var not in names:
                        return True
                case ir.LetStmt(name=name, value=bound) if name in names:
                    names |= free_variables(bound)
                case ir.If(condition=condition):
                    names |= free_variables(condition)
                    if _has_load(condition):
                        return False
                case _:
                    pass
        return False

    def is_kept(self, buffer: str) -> bool:
        """Whether what is packed of it is packed for many calls: a constant input, in loops that go as far
        in any iteration of those around them."""
        if buffer not in self.constants:
            return False
        bound: set[str] = set()
        for frame in self.stack:
            match frame.stmt:
                case ir.For(var=var, start=start, extent=extent):
                    if bound & (free_variables(start) | free_variables(extent)):
                        return False
                    bound.add(var)
                case ir.LetStmt(name=name, value=value) if bound & free_variables(value):
                    bound.add(name)
                case ir.If(condition=condition) if bound & free_variables(condition):
                    return False
                case _:
                    pass
        return True

    def _continues(self, n: int) -> bool:
        """Whether the loop of a frame is right inside of another of its kind."""
        loop, outer = self.stack[n].stmt, self.stack[n - 1].stmt if n else None
        return isinstance(loop, ir.For) and isinstance(outer, ir.For) and loop.kind is outer.kind

    def home(self, x: Tensor) -> Home:
        """As `_home`, found once for each operand of the statement at hand."""
        homes = self.stack[-1].homes
        if id(x) not in homes:
            homes[id(x)] = x, self._home(x)
        return homes[id(x)][1]

    def _home(self, x: Tensor) -> Home:
        """The frame before which to pack, and the loops inside it in which the operand varies."""
        buffers = {r.buffer for r in reads(x)} | {b for e in scalars(x) for b in _loaded(e)}
        names = set().union(*(free_variables(e) for e in scalars(x)))
        bounds: set[str] = set()  # names that the extents of the crossed loops read
        best = len(self.stack) - 1
        varying: list[Outer] = []
        crossed: list[Outer] = []
        pending = False  # does not vary in a loop of this nest of GPU loops
        kept = bool(buffers) and all(map(self.is_kept, buffers))
        for n in range(len(self.stack) - 1, -1, -1):
            frame = self.stack[n]
            match frame.stmt:
                case ir.For(var=var) as loop:
                    if frame.stored & buffers or var in bounds:
                        break
                    if var in names:
                        crossed.append(loop)
                        bounds |= free_variables(loop.start) | free_variables(loop.extent)
                        pending = pending or kept
                    elif (weaker := _anywhere(crossed, loop)) is not None:
                        crossed, pending = weaker, True
                    else:
                        break
                    if loop.kind in ir.GPU_LOOPS and self._continues(n):
                        continue  # what is around all blocks, or around all threads, is not among them
                    if pending and _fits(loop, crossed):
                        best, varying = n, list(crossed)
                    pending = False
                case ir.LetStmt(name=name, value=bound) as let if (
                    name in names | bounds | _conditioned(crossed)
                ):
                    if _has_load(bound):
                        break
                    crossed.append(let)
                    own = free_variables(bound)
                    names |= own if name in names else frozenset()
                    bounds |= own if name in bounds | _conditioned(crossed) else frozenset()
                case ir.Allocate(buffer=buffer) if buffer in buffers:
                    break
                case ir.If() as branch:
                    condition = _condition(branch, self.stack[n + 1 :])
                    if condition is None or _has_load(condition):
                        break
                    crossed.append(ir.If(condition, block()))
                case _:
                    pass
        return self.stack[best], tuple(reversed(varying))


def _conditioned(crossed: list[Outer]) -> frozenset[str]:
    """The names in the crossed conditions."""
    return frozenset().union(
        *(free_variables(s.condition) for s in crossed if isinstance(s, ir.If))
    )


def _anywhere(crossed: list[Outer], loop: ir.For) -> list[Outer] | None:
    """The crossed statements with conditions that hold if they do in any iteration of the loop: they
    are true at its start. None where that cannot be told."""
    crossed_anywhere: list[Outer] = []
    for s in crossed:
        if isinstance(s, ir.If) and loop.var in free_variables(s.condition):
            if not _falls(s.condition, loop.var):
                return None
            s = ir.If(substitute(s.condition, {loop.var: loop.start}), s.then)
        crossed_anywhere.append(s)
    return crossed_anywhere


def _falls(condition: ir.Expr, name: str) -> bool:
    """Whether a condition that does not hold somewhere does not hold further on either."""
    match condition:
        case _ if name not in free_variables(condition):
            return True
        case ir.Binary(op=ir.Op.AND, a=a, b=b):
            return _falls(a, name) and _falls(b, name)
        case ir.Binary(op=ir.Op.LT | ir.Op.LE, a=a, b=b):
            pass
        case ir.Binary(op=ir.Op.GT | ir.Op.GE, a=b, b=a):
            pass
        case _:
            return False
    rise = linear(sub(a, b))
    moved = [(atom, n) for atom, n in rise.terms if name in free_variables(atom)]
    return all(atom == ir.Var(name) and n > 0 for atom, n in moved)


def _fits(loop: ir.For, crossed: list[Outer]) -> bool:
    """Whether what varies in the crossed loops may lie before this one: a block's memory has a constant
    size."""
    if loop.kind is not ir.LoopKind.THREAD:
        return True
    extents = [const_value(s.extent) for s in crossed if isinstance(s, ir.For)]
    return all(n is not None for n in extents) and prod(int(n or 1) for n in extents) <= IN_BLOCK


def _condition(s: ir.If, inside: list[Frame]) -> ir.Expr | None:
    """What holds where the statements inside are; None when that is not to be seen."""
    inner = inside[0].stmt if inside else None
    if inner is s.then:
        return s.condition
    return not_(s.condition) if inner is s.otherwise and inner is not None else None


def _loaded(e: ir.Expr) -> Iterator[str]:
    """The buffers that an expression loads from, for a value or for an index."""
    return (n.buffer for n in nodes_of(e, ir.Load))


def _has_load(e: ir.Expr) -> bool:
    return contains(e, ir.Load)
