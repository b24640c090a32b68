"""Packed operands: the temporaries that they lie in, how these are filled, and what is loaded of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hbc.eqsat.operands.operand import UNUSED, operand_value
from hbc.eqsat.operands.pack_order import Outer, along_rows
from hbc.eqsat.tensors.plan import Parts
from hbc.eqsat.tensors.points import Place, Points, reach, shifted, value
from hbc.eqsat.tensors.steps import UNROLLED, Fresh, Index, nest
from hbc.eqsat.tensors.tensor import Band, Dim, Tensor, parts, reads, strides_along
from hbc.ir.algebra.bounds import prove
from hbc.ir.algebra.facts import Facts, Interval
from hbc.ir.algebra.layout import Layout, normal, to_index
from hbc.ir.algebra.linear import canonical, combined
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, broadcast, const_value, ge, maximum, mul, sub
from hbc.ir.lang.types import DType, Memory
from hbc.ir.lang.walk import block, free_variables, substitute

ON_STACK = 16384  # bytes


@record
class Rows:
    """Where a value lies in its temporary: for the first steps, and how far apart those are."""

    first: ir.Expr
    strides: Mapping[Dim, int]

    def place(self, index: Index) -> ir.Expr:
        """Where it lies for these steps."""
        steps = ((index[d], stride) for d, stride in self.strides.items() if d in index)
        return combined([(self.first, 1), *steps])


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

    @property
    def loops(self) -> tuple[ir.For, ...]:
        return tuple(s for s in self.around if isinstance(s, ir.For))

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

    def rows(self, packs: int) -> Rows:
        """Where the value lies in a temporary of so many packs."""
        each = self.own_points().lanes * packs
        strides: dict[Dim, int] = {}
        for p in reversed(self.steps):
            strides[p.dim] = each
            each *= p.extent
        begin: ir.Expr = ir.const_index(0)  # how often the loops have gone around before
        for loop in self.loops:
            begin = add(mul(begin, loop.extent), sub(ir.Var(loop.var), loop.start))
        first = add(mul(begin, each), self.own_points().lanes * self.number)
        return Rows(canonical(first), strides)

    def extent(self, packs: int) -> ir.Expr:
        """Elements of the temporary."""
        extent: ir.Expr = ir.const_index(self.own_points().lanes * packs)
        for n in (*self._rounds(), *(p.extent for p in self.steps)):
            extent = mul(extent, n)
        for let in reversed(self.around):  # names that are bound inside of where the temporary is
            if isinstance(let, ir.LetStmt):
                extent = substitute(extent, {let.name: let.value})
        return canonical(extent)

    def _rounds(self) -> list[ir.Expr]:
        """How often each loop goes around: never where a `where` leaves fewer iterations than none."""
        counts: list[ir.Expr] = []
        names = [n for s in self.around for e in _read_by(s) for n in sorted(free_variables(e))]
        facts = Facts(dict.fromkeys(names, Interval(ir.const_index(0), None)))
        for s in self.around:
            match s:
                case ir.For(var=var, start=start, extent=n):
                    counts.append(n if prove(ge(n, 0), facts) else maximum(n, ir.const_index(0)))
                    facts = facts.with_range(var, Interval(start, sub(add(start, n), 1)))
                case ir.LetStmt(name=name, value=bound):
                    facts = facts.with_range(name, Interval(bound, bound))
                case ir.If(condition=condition):
                    facts = facts.with_condition(condition)
        return counts

    def load(self, place: ir.Expr) -> ir.Expr:
        """The value that lies at this place, at all points."""
        dims: list[tuple[int, ir.Expr]] = []
        dense = 1
        pairs = zip(self.points.extents, self.moving(), strict=True)
        for n, moves in reversed(list(pairs)):
            dims.append((n, ir.const_index(dense if moves else 0)))
            dense *= n if moves else 1
        where = to_index(normal(Layout(place, tuple(reversed(dims)))))
        if isinstance(where, ir.Broadcast):
            inner = ir.Load(self.buffer, where.value, self.element(where.value.type.lanes))
            return broadcast(inner, where.lanes)
        return ir.Load(self.buffer, where, self.element(where.type.lanes))


def alike(a: Pack, b: Pack) -> bool:
    """Whether two packs are of the same arrays and type, and equally long, as for neighbouring columns:
    side by side they are one stream."""
    arrays = [dict.fromkeys((r.buffer, r.element) for r in reads(p.x)) for p in (a, b)]
    lengths = [(p.own_points().extents, p.steps, p.note) for p in (a, b)]
    return (
        a.element == b.element
        and arrays[0] == arrays[1]
        and lengths[0] == lengths[1]
        and _heads(a) == _heads(b)
    )


def same(a: Pack, b: Pack) -> bool:
    return (a.x, a.points, a.steps) == (b.x, b.points, b.steps) and _heads(a) == _heads(b)


def _read_by(s: Outer) -> tuple[ir.Expr, ...]:
    """What it asks before what is in it."""
    match s:
        case ir.For(start=start, extent=extent):
            return start, extent
        case ir.LetStmt(value=value):
            return (value,)
        case ir.If(condition=condition):
            return (condition,)


def _heads(p: Pack) -> list[tuple[str, ir.Expr, ir.Expr | None]]:
    """What is around the pack, without the bodies."""
    heads: list[tuple[str, ir.Expr, ir.Expr | None]] = []
    for s in p.around:
        match s:
            case ir.For(var=var, start=start, extent=extent):
                heads.append((var, start, extent))
            case ir.LetStmt(name=name, value=bound):
                heads.append((name, bound, None))
            case ir.If(condition=condition):
                heads.append(("if", condition, None))
    return heads


def name_of(x: Tensor) -> str:
    """After the arrays that it moves along, of which a value that is the same at all points has none."""
    return "_".join(dict.fromkeys(r.buffer for r in reads(x)) or ["value"]) + "_packed"


def filled(groups: dict[str, list[Pack]], s: ir.Stmt, fresh: Fresh) -> ir.Stmt:
    """The statement after the packs have been filled, which are given by their temporaries."""
    body = block(*(fill(g, fresh) for g in groups.values()), s)
    for buffer, group in reversed(groups.items()):
        p = group[0]
        extent = p.extent(len(group))
        size = const_value(extent)
        small = size is not None and int(size) * p.element.bytes <= ON_STACK
        memory = Memory.STACK if small else Memory.HEAP
        sources = " and ".join(dict.fromkeys(r.buffer for r in reads(p.x)))
        body = ir.Allocate(buffer, p.element, extent, memory, body, f"{sources} {p.note}")
    return body


def fill(packs: Sequence[Pack], fresh: Fresh) -> ir.Stmt:
    """The loops that gather the packs of one temporary."""
    first = packs[0]
    # In a loop over its steps, all elements of a pack are one nest for the threads to share.
    written = 0 if first.scalar else UNROLLED
    rows = [p.rows(len(packs)) for p in packs]
    body = nest(
        list(first.steps),
        fresh,
        lambda index: block(
            *(_gather(p, r.place(index), index, fresh) for p, r in zip(packs, rows, strict=True))
        ),
        written,
    )
    around = first.around if first.scalar else along_rows(first.around, body, first.buffer)
    for s in reversed(around):
        match s:
            case ir.For(var=var, start=start, extent=extent, kind=kind):
                # Another loop over the same values: what a schedule asks of theirs is not for it.
                body = ir.For(
                    var, start, extent, ir.LoopKind.SERIAL if first.scalar else kind, body
                )
            case ir.LetStmt(name=name, value=bound):
                body = ir.LetStmt(name, bound, body)
            case ir.If(condition=condition):
                body = ir.If(condition, body)
    return body


def _gather(p: Pack, place: ir.Expr, index: Index, fresh: Fresh) -> ir.Stmt:
    at = shifted(p.own_points(), p.steps, index)
    if at.lanes == 1:
        return ir.Store(p.buffer, place, operand_value(p.x, at))
    if not p.scalar and not has_band(p.x):
        return ir.Store(
            p.buffer, ir.Ramp(place, ir.const_index(1), at.lanes), operand_value(p.x, at)
        )
    return _by_element(p, at, place, fresh)


def _by_element(p: Pack, at: Points, place: ir.Expr, fresh: Fresh) -> ir.Stmt:
    """A banded matrix, or what threads share, element by element."""
    names = [fresh("lane") for _ in at.extents]

    def at_lane(q: Place) -> Place:
        steps = (mul(ir.Var(v), n) for v, n in zip(names, q.steps, strict=True))
        start = q.start
        for step in steps:
            start = add(start, step)
        return Place(start, (), q.extent, reach(q, at.extents), first=q.first)

    places = {d: at_lane(q) for d, q in at.places.items()}
    offset: ir.Expr = ir.const_index(0)
    for v, n in zip(names, at.extents, strict=True):
        offset = add(mul(offset, n), ir.Var(v))
    at_one = Points((), places)
    element = value(p.x, at_one) if has_band(p.x) else operand_value(p.x, at_one)
    body: ir.Stmt = ir.Store(p.buffer, add(place, offset), element)
    for v, n in zip(reversed(names), reversed(at.extents), strict=True):
        body = ir.For(v, ir.const_index(0), ir.const_index(n), ir.LoopKind.SERIAL, body)
    return body


def has_band(x: Tensor) -> bool:
    """Whether a banded matrix is part of the value."""
    return isinstance(x, Band) or any(has_band(p) for p in parts(x))
