"""Outputs that take the memory of an input (`output A aliases B`): each element of A is stored after every
load of that element of B, or the schedule is refused. Then the loads are of A, which every pass that
follows knows to be stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from hbc.frontend.program.funcs import Image, Pipeline
from hbc.frontend.regions.storage import dense_strides
from hbc.ir.algebra.bounds import Interval
from hbc.ir.algebra.facts import Facts
from hbc.ir.algebra.linear import Linear, linear, minus, of_atom, scaled, to_expr
from hbc.ir.algebra.lower_bound import least
from hbc.ir.ground.diag import HbcError, Note, error
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, mul, sub
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import (
    free_variables,
    inner_statements,
    names_read,
    nodes,
    nodes_of,
    own_expressions,
    rename_buffer,
    rewrite,
    substitute,
    substitute_stmt,
)

IN_ORDER = (ir.LoopKind.SERIAL, ir.LoopKind.UNROLL)
DIGITS = (ir.Op.DIV, ir.Op.MOD)
LATER = "'"  # behind the names of variables in another iteration: no name has it
Step = ir.For | int | str
"""From a statement to one in it: through a loop, to a place in a block, to one side of a condition."""


@record
class Touch:
    """An access to the memory: the way to it from the outermost statement, the index in each dimension (none
    where that is not known), and the ranges of the variables around it."""

    way: tuple[Step, ...]
    at: tuple[ir.Expr, ...]
    ranges: Mapping[str, Interval]
    span: Span | None


@record
class Seen:
    """What is known where a statement stands."""

    way: tuple[Step, ...] = ()
    values: Mapping[str, ir.Expr] = field(default_factory=dict)
    ranges: Mapping[str, Interval] = field(default_factory=dict)

    def then(self, step: Step) -> Seen:
        return replace(self, way=(*self.way, step))


def in_place(kernel: Kernel, pipeline: Pipeline) -> Kernel:
    """The kernel with one argument for each output that aliases an input, and that input. HbcError where
    something may be read after it was overwritten."""
    inputs = {i.name: i for i in pipeline.inputs}
    for output in pipeline.outputs:
        if output.aliases:
            kernel = _overwriting(kernel, output, inputs[output.aliases])
    return kernel


def _overwriting(kernel: Kernel, output: Image, given: Image) -> Kernel:
    names = {
        i.name: [a.stride_name(d) for d in range(len(a.extents) - 1)]
        for i in (output, given)
        for a in kernel.arguments
        if a.name == i.name
    }
    stores = list(_touches(kernel.body, output.name, names[output.name], True, Seen()))
    loads = list(_touches(kernel.body, given.name, names[given.name], False, Seen()))
    for load in loads:
        for store in stores:
            loop = _conflict(store, load)
            if loop is not None:
                raise _refused(output, given, store, load, loop)
    own = {
        name: ir.Var(name) if dense is None else ir.const_index(dense)
        for name, dense in zip(names[output.name], dense_strides(output), strict=False)
    }
    strides = own | dict(zip(names[given.name], own.values(), strict=True))
    body = rename_buffer(substitute_stmt(kernel.body, strides), given.name, output.name)
    gone = set(names[given.name])
    return replace(
        kernel,
        arguments=tuple(
            replace(a, aliases=given.name) if a.name == output.name else a
            for a in kernel.arguments
            if a.name != given.name
        ),
        checks=tuple(c for c in kernel.checks if gone.isdisjoint(free_variables(c.condition))),
        body=body,
    )


def _refused(output: Image, given: Image, store: Touch, load: Touch, loop: str) -> HbcError:
    """The diagnostic at what is read, with the place of the store."""
    why = f"another iteration of `{loop}`" if loop else "a statement before it"
    stored = store.span or output.span
    help_ = (
        f"read all of `{given.name}` that others need before: in a Func that is computed at the root, or for "
        f"each row of `{output.name}`"
    )
    if loop and store.at == load.at:
        help_ = "some elements are computed again, as with `tail = shift`: choose another tail"
    return error(
        f"`{output.name}` aliases `{given.name}`, and {why} may overwrite what this reads",
        load.span or output.span,
        f"{help_}; or leave `aliases {given.name}` out",
        *(() if stored is None else (Note(f"`{output.name}` is stored here", stored),)),
    )


def _touches(
    s: ir.Stmt, buffer: str, strides: Sequence[str], stores: bool, seen: Seen
) -> Iterator[Touch]:
    """The stores to a buffer or the loads from it, in the order of the text."""

    def touch(index: ir.Expr, span: Span | None) -> Touch:
        return Touch(
            seen.way, _by_dimension(_plain(index, seen.values), strides), seen.ranges, span
        )

    if not stores:
        for e in own_expressions(s):
            found = (n for n in nodes_of(e, ir.Load) if n.buffer == buffer)
            yield from (touch(n.index, n.span) for n in found)
    match s:
        case ir.Store() if stores and s.buffer == buffer:
            yield touch(s.index, s.span)
        case ir.BulkCopy() if not stores and s.source == buffer:
            yield Touch(seen.way, (), seen.ranges, s.span)
        case _:
            pass
    for step, inner in _inside(s, seen):
        yield from _touches(inner, buffer, strides, stores, step)


def _inside(s: ir.Stmt, seen: Seen) -> Iterator[tuple[Seen, ir.Stmt]]:
    match s:
        case ir.Block(body=body):
            for n, c in enumerate(body):
                yield seen.then(n), c
        case ir.If(then=then, otherwise=otherwise):
            yield seen.then("then"), then
            if otherwise is not None:
                yield seen.then("otherwise"), otherwise
        case ir.LetStmt(name=name, value=value, body=body):
            yield replace(seen, values={**seen.values, name: _plain(value, seen.values)}), body
        case ir.For(var=var, body=body):
            start, extent = _plain(s.start, seen.values), _plain(s.extent, seen.values)
            yield (
                replace(
                    seen.then(s),
                    values={**seen.values, var: add(start, ir.Var(var))},
                    ranges={**seen.ranges, var: Interval(ir.const_index(0), sub(extent, 1))},
                ),
                body,
            )
        case _:
            for c in inner_statements(s):
                yield seen, c


def _plain(e: ir.Expr, values: Mapping[str, ir.Expr]) -> ir.Expr:
    """With the values of names for them; those that the expression itself gives names to as well."""

    def named(x: ir.Expr) -> ir.Expr:
        return substitute(x.body, {x.name: x.value}) if isinstance(x, ir.Let) else x

    return rewrite(substitute(e, values), named)


def _by_dimension(index: ir.Expr, strides: Sequence[str]) -> tuple[ir.Expr, ...]:
    """The index in each dimension: what the strides are multiplied by. Empty where it is no such sum."""

    def where(chosen: str) -> Linear:
        return linear(substitute(index, {s: ir.const_index(s == chosen) for s in strides}))

    last = where("")
    found = [to_expr(minus(where(s), last)) for s in strides]
    total = to_expr(last)
    for i, s in zip(found, strides, strict=True):
        total = add(total, ir.Binary(ir.Op.MUL, i, ir.Var(s)))
    return (*found, to_expr(last)) if not minus(linear(index), linear(total)).terms else ()


def _conflict(store: Touch, load: Touch) -> str | None:
    """Why the load may come after the store of the same element: the name of a loop, or "" for the order
    of statements; None when it never does."""
    at = 0
    equal: set[str] = set()  # variables of loops around both that are in the same iteration
    for a, b in zip(store.way, load.way, strict=False):
        if isinstance(a, ir.For) and a is b:
            low, high = _later(a.var, store, load, equal)
            if a.kind in IN_ORDER and low is not None and low > 0:
                return None
            in_order = a.kind in IN_ORDER and low is not None and low >= 0
            if not in_order and (low, high) != (0, 0) and not _equal(a.var, store, load, equal):
                return a.var
            equal.add(a.var)
        elif a != b:
            break
        at += 1
    if at == min(len(store.way), len(load.way)):
        return None  # a statement loads before it stores
    a, b = store.way[at], load.way[at]
    if isinstance(a, str) or (isinstance(a, int) and isinstance(b, int) and b < a):
        return None
    return None if _apart(store, load, equal) else ""


def _later(var: str, store: Touch, load: Touch, equal: set[str]) -> tuple[int | None, int | None]:
    """Least and most by how many iterations of a loop the store of an element is later than its load."""
    low: int | None = None
    high: int | None = None
    for ours, its in zip(store.at, load.at, strict=False):
        step = dict(linear(ours).terms).get(ir.Var(var), 0)
        if step == 0:
            continue
        mine = minus(linear(ours), scaled(of_atom(ir.Var(var)), step))
        other = minus(linear(its), scaled(of_atom(ir.Var(var)), step))
        if var in names_read(to_expr(mine)):
            continue
        # step * store + mine == step * load + other
        first, last = _gap(other, mine, store, load, equal)
        if step < 0:
            first, last = _negated(last), _negated(first)
        size = abs(step)
        if first is not None and (low is None or -(-first // size) > low):
            low = -(-first // size)
        if last is not None and (high is None or last // size < high):
            high = last // size
    return low, high


def _gap(
    its: Linear, ours: Linear, store: Touch, load: Touch, equal: set[str]
) -> tuple[int | None, int | None]:
    """Bounds of its - ours, where variables of loops that are not in the same iteration have any value."""
    names = {n: ir.Var(n + LATER) for n in load.ranges if n not in equal}
    ranges = dict(store.ranges)
    for n, r in load.ranges.items():
        low, high = (None if x is None else substitute(x, names) for x in (r.lo, r.hi))
        ranges[n + LATER] = Interval(low, high)
    gap = sub(substitute(to_expr(its), names), to_expr(ours))
    if any(isinstance(n, ir.Load) for n in nodes(gap)):
        return None, None  # memory may hold something else then
    facts, form = Facts(ranges), linear(rewrite(gap, _by_quotient))
    return least(form, facts), _negated(least(scaled(form, -1), facts))


def _negated(x: int | None) -> int | None:
    return None if x is None else -x


def _by_quotient(e: ir.Expr) -> ir.Expr:
    """A remainder by its quotient, beside which it goes away: what is before a tail ends where it begins."""
    match e:
        case ir.Binary(op=ir.Op.MOD, a=a, b=ir.Const(value=n) as b) if e.type == INDEX and n > 0:
            return sub(a, mul(ir.Binary(ir.Op.DIV, a, b), b))
        case _:
            return e


def _equal(var: str, store: Touch, load: Touch, equal: set[str]) -> bool:
    """Whether both are in one iteration, since what has equal quotients and equal remainders by one number
    is equal: so the loops that `fuse` makes."""
    pairs = dict.fromkeys(
        (n.a, n.b)
        for e in (*load.at, *store.at)
        for n in nodes_of(e, ir.Binary)
        if n.op in DIGITS and n.type == INDEX
    )
    left = [p for p in pairs if not names_read(p[1]) & (store.ranges.keys() - equal)]
    found = True
    while found:
        found = False
        for whole, by in list(left):
            ours, its = (_digits(t, whole, by) for t in (store, load))
            if all(_later(_digit(op), ours, its, equal) == (0, 0) for op in DIGITS):
                left.remove((whole, by))
                store = replace(store, at=(*store.at, whole))
                load = replace(load, at=(*load.at, whole))
                found = True
    return _later(var, store, load, equal) == (0, 0)


def _digits(t: Touch, whole: ir.Expr, by: ir.Expr) -> Touch:
    """With variables for a quotient and a remainder."""

    def digit(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Binary) and e.op in DIGITS and (e.a, e.b) == (whole, by):
            return ir.Var(_digit(e.op))
        return e

    at = tuple(to_expr(linear(rewrite(e, digit))) for e in t.at)
    return replace(
        t, at=at, ranges={**t.ranges, **{_digit(op): Interval(None, None) for op in DIGITS}}
    )


def _digit(op: ir.Op) -> str:
    return f"by {op}"  # not a name that a program can have


def _apart(store: Touch, load: Touch, equal: set[str]) -> bool:
    """Whether the two are never of the same element."""
    for ours, its in zip(store.at, load.at, strict=False):
        first, last = _gap(linear(its), linear(ours), store, load, equal)
        if (first is not None and first > 0) or (last is not None and last < 0):
            return True
    return False
