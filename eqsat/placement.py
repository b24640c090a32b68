"""Where packed operands are made: outside every loop that they do not vary in, and only once.

A pack that does not vary in a loop is filled before it. Loops between there and its use in which it
does vary become dimensions of the temporary.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod

from hbc.eqsat.operand import UNUSED, operand_value
from hbc.eqsat.plan import Parts
from hbc.eqsat.points import Place, Points, reach, shifted, value
from hbc.eqsat.steps import UNROLLED, Fresh, Index, nest
from hbc.eqsat.tensor import Band, Dim, Tensor, parts, reads, scalars, strides_along
from hbc.ir.build import add, broadcast, const_value, mul, not_, sub
from hbc.ir.layout import Layout, normal, to_index
from hbc.ir.linear import canonical, linear
from hbc.ir.nodes import (
    GPU_LOOPS,
    Allocate,
    Binary,
    Broadcast,
    Expr,
    For,
    If,
    LetStmt,
    Load,
    LoopKind,
    Op,
    Ramp,
    Stmt,
    Store,
    Var,
    const_index,
)
from hbc.ir.record import record
from hbc.ir.types import DType, Memory
from hbc.ir.walk import (
    block,
    children,
    free_variables,
    nodes,
    statements,
    substitute,
    substitute_stmt,
)

ON_STACK = 16384  # bytes
IN_BLOCK = 16  # operands that a block of a GPU packs at most for one of its threads' statements
Outer = For | LetStmt | If
"""Statements between a pack and its use. Of an If the condition alone counts: the use is in `then`."""


@record
class Pack:
    """A value in a temporary. Its dimensions are the loops of the program in which it varies, those
    among `around`, outermost first, which also has the names that it uses and the conditions under
    which it is used; then `steps`, loops
    around an instruction; then the packs that share the temporary, of which it is number `number`; then
    the lanes of `points` along which it varies. `points` are those of the first step. `scalar`: it is
    filled element by element, in loops that threads share."""

    buffer: str
    x: Tensor
    points: Points
    around: tuple[Outer, ...]
    steps: Parts
    note: str
    number: int = 0
    scalar: bool = False
    places: list[tuple[Expr, Mapping[Dim, Expr]]] = field(
        default_factory=list, compare=False, repr=False
    )  # what `first_place` gives, once it is known

    @property
    def loops(self) -> tuple[For, ...]:
        return tuple(s for s in self.around if isinstance(s, For))

    @property
    def element(self) -> DType:
        return self.x.element

    def moving(self) -> tuple[bool, ...]:
        """For each extent of the points, whether the value varies along it."""
        dims = strides_along(self.x) | {UNUSED}
        places = [q for d, q in self.points.places.items() if d in dims]
        return tuple(any(q.steps[n] for q in places) for n in range(len(self.points.extents)))

    def own_points(self) -> Points:
        """The points without the extents along which the value repeats."""
        kept = [n for n, moves in enumerate(self.moving()) if moves]
        places = {
            d: replace(q, steps=tuple(q.steps[n] for n in kept))
            for d, q in self.points.places.items()
        }
        return Points(tuple(self.points.extents[n] for n in kept), places)

    def place(self, index: Index) -> Expr:
        """Where the value lies for these steps."""
        if not self.places:
            self.places.append(self.first_place())
        at, strides = self.places[0]
        for d, stride in strides.items():
            at = add(at, mul(index.get(d, const_index(0)), stride))
        return canonical(at)

    def first_place(self) -> tuple[Expr, Mapping[Dim, Expr]]:
        """Where the value lies for the first steps, and how far apart those are."""
        each: Expr = mul(self.own_points().lanes, Var(sharing(self.buffer)))
        strides: dict[Dim, Expr] = {}
        for p in reversed(self.steps):
            strides[p.dim] = each
            each = mul(each, p.extent)
        begin: Expr = const_index(0)  # how often the loops have gone around before
        for loop in self.loops:
            begin = add(mul(begin, loop.extent), sub(Var(loop.var), loop.start))
        first = add(mul(begin, each), self.own_points().lanes * self.number)
        return canonical(first), {d: canonical(s) for d, s in strides.items()}

    def extent(self) -> Expr:
        """Elements of the temporary."""
        extent: Expr = mul(self.own_points().lanes, Var(sharing(self.buffer)))
        for n in (*(loop.extent for loop in self.loops), *(p.extent for p in self.steps)):
            extent = mul(extent, n)
        for let in reversed(self.around):  # names that are bound inside of where the temporary is
            if isinstance(let, LetStmt):
                extent = substitute(extent, {let.name: let.value})
        return canonical(extent)

    def load(self, index: Index) -> Expr:
        """The value for these steps, at all points."""
        dims: list[tuple[int, Expr]] = []
        dense = 1
        pairs = zip(self.points.extents, self.moving(), strict=True)
        for n, moves in reversed(list(pairs)):
            dims.append((n, const_index(dense if moves else 0)))
            dense *= n if moves else 1
        where = to_index(normal(Layout(self.place(index), tuple(reversed(dims)))))
        if isinstance(where, Broadcast):
            inner = Load(self.buffer, where.value, self.element(where.value.type.lanes))
            return broadcast(inner, where.lanes)
        return Load(self.buffer, where, self.element(where.type.lanes))


@dataclass(slots=True)
class Frame:
    """A statement that is being walked through, and what is to be packed before it."""

    stmt: Stmt
    packs: list[Pack] = field(default_factory=list)
    known: frozenset[str] | None = None

    @property
    def stored(self) -> frozenset[str]:
        """The buffers that the statement stores to."""
        if self.known is None:
            self.known = frozenset(n.buffer for n in statements(self.stmt) if isinstance(n, Store))
        return self.known


@dataclass(slots=True)
class Frames:
    """The statements around the one at hand, outermost first. `scalar`: as of `Pack`."""

    fresh: Fresh
    scalar: bool = False
    stack: list[Frame] = field(default_factory=list)

    @contextmanager
    def inside(self, s: Stmt) -> Iterator[Frame]:
        """Within, `s` is the innermost statement."""
        self.stack.append(Frame(s))
        yield self.stack[-1]
        self.stack.pop()

    def stores(self, s: Stmt) -> Iterator[Store]:
        """The stores in a statement, in order, each while the walk is at it."""
        with self.inside(s):
            if isinstance(s, Store):
                yield s
            for child in children(s):
                if isinstance(child, Stmt):
                    yield from self.stores(child)

    def packed(self, x: Tensor, at: Points, steps: Parts, index: Index, note: str) -> Expr:
        """The load of a value from its pack, which is planned if there is none yet. `at`: its points
        at the first of the steps; `index`: at which steps it is wanted."""
        frame, around = self._home(x)
        moved = strides_along(x)
        moving = [p for p in steps if p.dim in moved]
        ordered = tuple(sorted(moving, key=lambda p: not p.dim.reduced))  # in the order of use
        wanted = Pack("", x, at, around, ordered, note, scalar=self.scalar)
        for p in frame.packs:
            if _same(p, wanted):
                return p.load(index)
        shared = [p for p in frame.packs if _alike(p, wanted)]
        buffer = shared[0].buffer if shared else self.fresh(_name(x))
        pack = replace(wanted, buffer=buffer, number=len(shared), places=[])
        frame.packs.append(pack)
        return pack.load(index)

    def allocations(self) -> list[Allocate]:
        """The buffers in scope, the innermost of each name."""
        found: dict[str, Allocate] = {}
        for frame in self.stack:
            if isinstance(frame.stmt, Allocate):
                found[frame.stmt.buffer] = frame.stmt
        return list(found.values())

    def is_reused(self, e: Expr) -> bool:
        """Whether a value at this place stays the same in a loop around the statement at hand, so that
        it need not be packed anew."""
        names = free_variables(e)
        for frame in reversed(self.stack):
            match frame.stmt:
                case For(var=var):
                    if var not in names:
                        return True
                case LetStmt(name=name, value=bound) if name in names:
                    names |= free_variables(bound)
                case If(condition=condition):
                    names |= free_variables(condition)
                    if _has_load(condition):
                        return False
                case _:
                    pass
        return False

    def _continues(self, n: int) -> bool:
        """Whether the loop of a frame is right inside of another of its kind."""
        loop, outer = self.stack[n].stmt, self.stack[n - 1].stmt if n else None
        return isinstance(loop, For) and isinstance(outer, For) and loop.kind is outer.kind

    def _home(self, x: Tensor) -> tuple[Frame, tuple[Outer, ...]]:
        """The frame before which to pack, and the loops inside it in which the operand varies."""
        buffers = {r.buffer for r in reads(x)}
        names = set().union(*(free_variables(e) for e in scalars(x)))
        bounds: set[str] = set()  # names that the extents of the crossed loops read
        best = len(self.stack) - 1
        varying: list[Outer] = []
        crossed: list[Outer] = []
        pending = False  # does not vary in a loop of this nest of GPU loops
        for n in range(len(self.stack) - 1, -1, -1):
            frame = self.stack[n]
            match frame.stmt:
                case For(var=var) as loop:
                    if frame.stored & buffers or var in bounds:
                        break
                    if var in names:
                        crossed.append(loop)
                        bounds |= free_variables(loop.start) | free_variables(loop.extent)
                    elif (weaker := _anywhere(crossed, loop)) is not None:
                        crossed, pending = weaker, True
                    else:
                        break
                    if loop.kind in GPU_LOOPS and self._continues(n):
                        continue  # what is around all blocks, or around all threads, is not among them
                    if pending and _fits(loop, crossed):
                        best, varying = n, list(crossed)
                    pending = False
                case LetStmt(name=name, value=bound) as let if (
                    name in names | bounds | _conditioned(crossed)
                ):
                    if _has_load(bound):
                        break
                    crossed.append(let)
                    own = free_variables(bound)
                    names |= own if name in names else frozenset()
                    bounds |= own if name in bounds | _conditioned(crossed) else frozenset()
                case Allocate(buffer=buffer) if buffer in buffers:
                    break
                case If() as branch:
                    condition = _condition(branch, self.stack[n + 1 :])
                    if condition is None or _has_load(condition):
                        break
                    crossed.append(If(condition, block()))
                case _:
                    pass
        return self.stack[best], tuple(reversed(varying))


def _conditioned(crossed: list[Outer]) -> frozenset[str]:
    """The names in the crossed conditions."""
    return frozenset().union(*(free_variables(s.condition) for s in crossed if isinstance(s, If)))


def _anywhere(crossed: list[Outer], loop: For) -> list[Outer] | None:
    """The crossed statements with conditions that hold if they do in any iteration of the loop: they
    are true at its start. None where that cannot be told."""
    found: list[Outer] = []
    for s in crossed:
        if isinstance(s, If) and loop.var in free_variables(s.condition):
            if not _falls(s.condition, loop.var):
                return None
            s = If(substitute(s.condition, {loop.var: loop.start}), s.then)
        found.append(s)
    return found


def _falls(condition: Expr, name: str) -> bool:
    """Whether a condition that does not hold somewhere does not hold further on either."""
    match condition:
        case _ if name not in free_variables(condition):
            return True
        case Binary(op=Op.AND, a=a, b=b):
            return _falls(a, name) and _falls(b, name)
        case Binary(op=Op.LT | Op.LE, a=a, b=b):
            pass
        case Binary(op=Op.GT | Op.GE, a=b, b=a):
            pass
        case _:
            return False
    rise = linear(sub(a, b))
    moved = [(atom, n) for atom, n in rise.terms if name in free_variables(atom)]
    return all(atom == Var(name) and n > 0 for atom, n in moved)


def _fits(loop: For, crossed: list[Outer]) -> bool:
    """Whether what varies in the crossed loops may lie before this one: a block's memory has a constant
    size."""
    if loop.kind is not LoopKind.THREAD:
        return True
    extents = [const_value(s.extent) for s in crossed if isinstance(s, For)]
    return all(n is not None for n in extents) and prod(int(n or 1) for n in extents) <= IN_BLOCK


def _condition(s: If, inside: list[Frame]) -> Expr | None:
    """What holds where the statements inside are; None when that is not to be seen."""
    inner = inside[0].stmt if inside else None
    if inner is s.then:
        return s.condition
    return not_(s.condition) if inner is s.otherwise and inner is not None else None


def _has_load(e: Expr) -> bool:
    return any(isinstance(n, Load) for n in nodes(e))


def sharing(buffer: str) -> str:
    """A name for how many packs share a temporary, until that is known."""
    return f"packs in {buffer}"


def _alike(a: Pack, b: Pack) -> bool:
    """Whether two packs are of the same arrays and equally long, as for neighbouring columns: side by
    side they are one stream."""
    arrays = [dict.fromkeys((r.buffer, r.element) for r in reads(p.x)) for p in (a, b)]
    lengths = [(p.own_points().extents, p.steps, p.note) for p in (a, b)]
    return arrays[0] == arrays[1] and lengths[0] == lengths[1] and _heads(a) == _heads(b)


def _same(a: Pack, b: Pack) -> bool:
    return (a.x, a.points, a.steps) == (b.x, b.points, b.steps) and _heads(a) == _heads(b)


def _heads(p: Pack) -> list[tuple[str, Expr, Expr | None]]:
    """What is around the pack, without the bodies."""
    found: list[tuple[str, Expr, Expr | None]] = []
    for s in p.around:
        match s:
            case For(var=var, start=start, extent=extent):
                found.append((var, start, extent))
            case LetStmt(name=name, value=bound):
                found.append((name, bound, None))
            case If(condition=condition):
                found.append(("if", condition, None))
    return found


def _name(x: Tensor) -> str:
    return "_".join(dict.fromkeys(r.buffer for r in reads(x))) + "_packed"


def with_packs(s: Stmt, packs: list[Pack], fresh: Fresh) -> Stmt:
    """The statement after the packs have been filled."""
    groups: dict[str, list[Pack]] = {}
    for p in packs:
        groups.setdefault(p.buffer, []).append(p)
    counts: dict[str, Expr] = {sharing(b): const_index(len(group)) for b, group in groups.items()}
    body = substitute_stmt(block(*(fill(g, fresh) for g in groups.values()), s), counts)
    for buffer, group in reversed(groups.items()):
        p = group[0]
        extent = canonical(substitute(p.extent(), counts))
        size = const_value(extent)
        small = size is not None and int(size) * p.element.bytes <= ON_STACK
        memory = Memory.STACK if small else Memory.HEAP
        sources = " and ".join(dict.fromkeys(r.buffer for r in reads(p.x)))
        body = Allocate(buffer, p.element, extent, memory, body, f"{sources} {p.note}")
    return body


def fill(packs: list[Pack], fresh: Fresh) -> Stmt:
    """The loops that gather the packs of one temporary."""
    first = packs[0]
    # In a loop over its steps, all elements of a pack are one nest for the threads to share.
    written = 0 if first.scalar else UNROLLED
    body = nest(
        list(first.steps),
        fresh,
        lambda index: block(*(_gather(p, index, fresh) for p in packs)),
        written,
    )
    for s in reversed(first.around):
        match s:
            case For(var=var, start=start, extent=extent, kind=kind):
                body = For(var, start, extent, LoopKind.SERIAL if first.scalar else kind, body)
            case LetStmt(name=name, value=bound):
                body = LetStmt(name, bound, body)
            case If(condition=condition):
                body = If(condition, body)
    return body


def _gather(p: Pack, index: Index, fresh: Fresh) -> Stmt:
    at = shifted(p.own_points(), p.steps, index)
    place = p.place(index)
    if at.lanes == 1:
        return Store(p.buffer, place, operand_value(p.x, at))
    if not p.scalar and not has_band(p.x):
        return Store(p.buffer, Ramp(place, const_index(1), at.lanes), operand_value(p.x, at))
    return _by_element(p, at, place, fresh)


def _by_element(p: Pack, at: Points, place: Expr, fresh: Fresh) -> Stmt:
    """A banded matrix, or what threads share, element by element."""
    names = [fresh("lane") for _ in at.extents]

    def at_lane(q: Place) -> Place:
        steps = (mul(Var(v), n) for v, n in zip(names, q.steps, strict=True))
        start = q.start
        for step in steps:
            start = add(start, step)
        return Place(start, (), q.extent, reach(q, at.extents))

    places = {d: at_lane(q) for d, q in at.places.items()}
    offset: Expr = const_index(0)
    for v, n in zip(names, at.extents, strict=True):
        offset = add(mul(offset, n), Var(v))
    at_one = Points((), places)
    one = value(p.x, at_one) if has_band(p.x) else operand_value(p.x, at_one)
    body: Stmt = Store(p.buffer, add(place, offset), one)
    for v, n in zip(reversed(names), reversed(at.extents), strict=True):
        body = For(v, const_index(0), const_index(n), LoopKind.SERIAL, body)
    return body


def has_band(x: Tensor) -> bool:
    """Whether a banded matrix is part of the value."""
    return isinstance(x, Band) or any(has_band(p) for p in parts(x))
