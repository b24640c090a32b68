"""Vectorized loops whose lanes come one by one: loads and stores of elements apart, gathers, divisions.

Read from the lowered loops, when vector loops are still loops, so that what is inlined, tiled or taken
apart at edges counts as what it has become. Operations are counted for all lanes of a statement, once
as vectors and once one by one; who gains too little is told which access is the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from enum import Enum
from math import prod
from typing import TypeGuard

from hbc.ir.algebra.form import keep
from hbc.ir.algebra.linear import Linear, difference, is_polynomial, linear, minus, to_expr
from hbc.ir.ground.diag import Diagnostic, Note, Severity
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show
from hbc.ir.lang.target import GPU, Target
from hbc.ir.lang.types import TILES, Memory
from hbc.ir.lang.walk import (
    children,
    inner_statements,
    mentions,
    nodes,
    nodes_of,
    statements,
    substitute,
)
from hbc.ir.vectors.integers import MOST_BITS
from hbc.ir.vectors.small_table import BLOCK, is_in_small_table

GAIN = 2
"""At least so many times less work as vectors, or there is a warning."""
GATHERED_BITS = 32  # the least elements that there are gathering instructions for
NEAR = 4  # elements so far apart are permuted from few vectors
INSERTED = 2.0  # to load or store a lane and move it in or out of a vector
GATHERED = 1.5  # to gather a lane
DIVIDED = 3.0  # to take a lane out, divide it (which takes long in any case), and put it back
DIVISION = 2.0


class Way(Enum):
    """How the lanes of an access are reached."""

    VECTOR = "vector"
    APART = "apart"
    GATHER = "gather"


@record
class Slow:
    """What takes the time of a statement's lanes. `loop`: the one that is
    vectorized. `key`: the same for all copies of the access."""

    span: Span | None
    what: str
    hint: str
    key: tuple[Span | None, str]
    loop: ir.For


@record
class Place:
    """A statement within its loops, the outermost first, and the names around it."""

    store: ir.Store
    loops: tuple[ir.For, ...]

    @property
    def vectors(self) -> tuple[ir.For, ...]:
        return tuple(x for x in self.loops if x.kind is ir.LoopKind.VECTOR)


def slow_lanes(
    kernel: Kernel, target: Target, performed: Collection[Span | None] = ()
) -> list[Diagnostic]:
    """A warning for each access or division of a vectorized statement that makes vectors hardly worth
    it. `kernel` has its vector loops still; statements that are `performed` become instructions of
    their own."""
    if target.vector_bits == 0 or target.machine == GPU:
        return []
    allocated = [n for n in statements(kernel.body) if isinstance(n, ir.Allocate)]
    arrays = {n.buffer: n.memory for n in allocated}
    extents = {a.name: a.known_extent for a in kernel.arguments}
    extents |= {n.buffer: int(n.extent.value) for n in allocated if isinstance(n.extent, ir.Const)}
    extents |= {t.name: prod(t.shape) for t in kernel.tables}

    def in_table(n: ir.Node) -> TypeGuard[ir.Load]:
        return isinstance(n, ir.Load) and is_in_small_table(n, extents.get(n.buffer, 0), target)

    warned: dict[tuple[Span | None, str], Slow] = {}
    fine: set[tuple[Span | None, str]] = set()
    for place in places(kernel.body, (), {}):
        own = arrays.get(place.store.buffer) in TILES or place.store.span in performed
        if not place.vectors or own:
            continue
        slow = _judge(place, arrays, fine, in_table)
        for s in slow:
            warned.setdefault(s.key, s)
    # What is adjacent in some copy of the loops, such as that inside the edges, is not the reason.
    return [
        Diagnostic(s.what, s.span, s.hint, _where(s.loop), Severity.WARNING)
        for s in warned.values() if s.key not in fine
    ]  # fmt: skip


def _where(loop: ir.For) -> tuple[Note, ...]:
    return () if loop.span is None else (Note("vectorized here", loop.span),)


def places(s: ir.Stmt, loops: tuple[ir.For, ...], names: dict[str, ir.Expr]) -> Iterator[Place]:
    """The stores of a statement, each within its loops; `names` are put in place where lanes
    differ in them."""
    match s:
        case ir.Store():
            yield Place(_named(s, names), loops)
        case ir.For(body=body):
            yield from places(body, (*loops, s), names)
        case ir.LetStmt(name=name, value=value, body=body):
            inside = any(mentions(value, x.var) for x in loops if x.kind is ir.LoopKind.VECTOR)
            yield from places(body, loops, {**names, name: value} if inside else names)
        case _:
            for part in inner_statements(s):
                yield from places(part, loops, names)


def _named(s: ir.Store, names: dict[str, ir.Expr]) -> ir.Store:
    """The store with the values of names that differ from lane to lane."""
    if not names:
        return s
    return ir.Store(
        s.buffer, substitute(s.index, names), substitute(s.value, names), s.mask, s.span
    )


def _judge(
    place: Place,
    arrays: dict[str, Memory],
    fine: set[tuple[Span | None, str]],
    in_table: Callable[[ir.Node], TypeGuard[ir.Load]],
) -> list[Slow]:
    """What is slow of a statement, if that is most of its work."""
    s, lanes = place.store, 1
    if isinstance(s.value, ir.Load) and _is_tiled_copy(s.value, place.loops):
        fine.add((s.value.span, s.value.buffer))
        return []
    for x in place.vectors:
        lanes *= int(x.extent.value) if isinstance(x.extent, ir.Const) else 1
    slow: list[Slow] = []
    vector = scalar = 0.0
    for n in _work(s):
        cost, alone, part = 1.0, 1.0, None
        match n:
            case ir.Load(buffer=buffer, index=index) | ir.Store(buffer=buffer, index=index):
                way = Way.VECTOR
                looked_up = in_table(n) and lanes * (n.type.element.bits // 8) % BLOCK == 0
                if arrays.get(buffer) is not Memory.REGISTER and not looked_up:
                    way = way_of(index, place.vectors)
                key = (n.span, buffer)
                if way is Way.VECTOR:
                    fine.add(key)
                else:
                    wide = isinstance(n, ir.Load) and n.type.element.bits >= GATHERED_BITS
                    cost = lanes * (GATHERED if way is Way.GATHER and wide else INSERTED)
                    part = _access(n, way, wide, place, key)
            case ir.Binary(op=ir.Op.DIV | ir.Op.MOD, b=b) if n.type.element.is_int:
                alone = DIVISION
                wide = n.type.element.bits > MOST_BITS and not isinstance(b, ir.Const)
                if wide and _varies(n, place.vectors):
                    cost = lanes * DIVIDED
                    part = _division(n, place)
            case _:
                pass
        vector, scalar = vector + cost, scalar + alone * lanes
        slow += [part] if part is not None else []
    return slow if vector * GAIN > scalar else []


def _work(s: ir.Store) -> Iterator[ir.Node]:
    """The operations of a statement, those of indices left out but for what they load."""
    yield s
    stack: list[ir.Node] = [s.value]
    stack += nodes_of(s.index, ir.Load)
    while stack:
        n = stack.pop()
        match n:
            case ir.Load(index=index):
                yield n
                stack += nodes_of(index, ir.Load)
            case ir.Binary() | ir.Unary() | ir.Select():
                yield n
                stack += children(n)
            case ir.Const() | ir.Var():
                pass
            case ir.Let():
                stack += children(n)
            case _:
                yield n
                stack += children(n)


def _varies(e: ir.Expr, vectors: Sequence[ir.For]) -> bool:
    return any(mentions(e, x.var) for x in vectors)


def is_unit(step: ir.Expr | None) -> bool:
    """Whether elements are neighbours."""
    return isinstance(step, ir.Const) and abs(step.value) == 1


def step_along(index: ir.Expr, name: str) -> ir.Expr | None:
    """How much the index grows when the variable grows by one; None where that is not always as much."""
    if not mentions(index, name):
        return ir.const_index(0)
    here = _moving(index, name)
    further = substitute(to_expr(here), {name: add(ir.Var(name), ir.const_index(1))})
    step = to_expr(minus(linear(further), here))
    return step if is_polynomial(step) and not mentions(step, name) else None


def _moving(index: ir.Expr, name: str) -> Linear:
    """The terms of the index that the variable occurs in: the others are the same wherever it is."""
    form = linear(index)
    moving = {k for k, (atom, _) in zip(form.keys, form.terms, strict=True) if mentions(atom, name)}
    return keep(Linear(0, form.terms, form.keys), moving.__contains__)


def way_of(index: ir.Expr, vectors: Sequence[ir.For]) -> Way:
    """How the lanes of an access are reached."""
    steps = [step_along(index, x.var) for x in vectors]
    if any(isinstance(n, ir.Load) and _varies(n, vectors) for n in nodes(index)):
        return Way.GATHER
    moving = [x for x in steps if not (isinstance(x, ir.Const) and x.value == 0)]
    near = [x for x in moving if isinstance(x, ir.Const) and abs(x.value) <= NEAR]
    if near or not moving or _in_few_rows(index, vectors[-1]):
        return Way.VECTOR
    return Way.APART


def _in_few_rows(index: ir.Expr, vector: ir.For) -> bool:
    """Whether the lanes lie at distances known from each other, several of them in each row of memory."""
    lanes = int(vector.extent.value) if isinstance(vector.extent, ir.Const) else 1
    rows: set[int] = set()
    for apart in _apart(index, vector):
        if apart is None:
            return False
        rows.add(apart // lanes)
        if len(rows) * 2 > lanes:
            return False
    return lanes > 1


def _apart(index: ir.Expr, vector: ir.For) -> Iterator[int | None]:
    """How far each lane lies from the first; None for one of which that is not known."""
    lanes = int(vector.extent.value) if isinstance(vector.extent, ir.Const) else 1
    moving = to_expr(_moving(index, vector.var))
    first = substitute(moving, {vector.var: ir.const_index(0)})
    yield 0
    for lane in range(1, lanes):
        yield difference(substitute(moving, {vector.var: ir.const_index(lane)}), first)


def times_repeated(index: ir.Expr, vector: ir.For) -> int:
    """How many lanes in turn are of one element, where the next are of its neighbour; 0 where others are."""
    apart = list(_apart(index, vector))
    times = next((n for n, at in enumerate(apart) if at), 0)
    return times if times > 1 and apart == [n // times for n in range(len(apart))] else 0


def _is_tiled_copy(value: ir.Load, loops: Sequence[ir.For]) -> bool:
    """Whether it turns a tile round: rows of one side are columns of the other, whatever is vectorized, and
    a loop of the tile goes along the rows."""
    return any(
        isinstance(x.extent, ir.Const) and is_unit(step_along(value.index, x.var))
        for x in loops[-2:]
    )


def _access(
    n: ir.Load | ir.Store, way: Way, wide: bool, place: Place, key: tuple[Span | None, str]
) -> Slow:
    verb = "loaded" if isinstance(n, ir.Load) else "stored"
    shown = " ".join(n.span.text.split()) if n.span and isinstance(n, ir.Load) else n.buffer
    vector = place.vectors[-1]
    name = written(vector)
    if way is Way.GATHER:
        how = "gathered" if wide else f"{verb} lane by lane"
        what = f"`{shown}` is {how} along the vectorized loop `{name}`: its index depends on data"
        hint = (
            "leave this loop scalar; or give what is looked up a Func of its own, so that the rest is done "
            "in whole vectors"
        )
        return Slow(n.span, what, hint, key, vector)
    step = step_along(n.index, vector.var)
    far = "irregular distances" if step is None else f"a distance of `{show(step)}`"
    what = f"`{shown}` is {verb} lane by lane: along the vectorized loop `{name}` its elements lie at {far}"
    along = [
        x for x in place.loops
        if x.kind is not ir.LoopKind.VECTOR and is_unit(step_along(n.index, x.var))
    ]  # fmt: skip
    if along:
        hint = f"vectorize `{written(along[-1])}`, along which they are adjacent"
    elif isinstance(n, ir.Load):
        hint = (
            f"read a copy that has them side by side: `{n.buffer}.in(...)` with `reorder_storage`"
        )
    else:
        hint = "vectorize the loop along which they are adjacent, or `reorder_storage`"
    return Slow(n.span, what, hint, key, vector)


def _division(n: ir.Binary, place: Place) -> Slow:
    name = "quotient" if n.op is ir.Op.DIV else "remainder"
    text = " ".join(n.span.text.split()) if n.span else show(n)
    return Slow(
        n.span,
        f"the {name} `{text}` is taken lane by lane: integers of {n.type.element.bits} bits are not divided "
        "as vectors",
        "divide integers of 32 bits, or by a number known when the kernel is compiled, or leave "
        f"the loop `{written(place.vectors[-1])}` scalar",
        (n.span, f"{n.op}"),
        place.vectors[-1],
    )


def written(x: ir.For) -> str:
    """The loop's name in the schedule."""
    for suffix in ("_v", "_u", "_p"):
        if x.var.endswith(suffix) and x.note.endswith(")") and f"({x.var})" not in x.note:
            base = x.var.removesuffix(suffix)
            if f"({base}," in x.note:
                return base
    return x.var
