"""The range of an index expression, given those of the variables in it.

Values of inputs and Funcs are known from their `bound`, their cells, their definition or their type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hbc.frontend.program.cells import Cells
from hbc.frontend.program.funcs import Bound, Func
from hbc.frontend.program.ranges import (
    UNBOUNDED,
    SymbolicRange,
    absolute,
    add,
    between,
    both,
    divide,
    exactly,
    greatest,
    least,
    negate,
    numbers,
    scale,
    union,
)  # fmt: skip
from hbc.ir.algebra.domain import Domain, Of, fold
from hbc.ir.algebra.facts import implied
from hbc.ir.algebra.linear import Linear, canonical, linear, shifted, to_expr
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import not_
from hbc.ir.lang.types import INDEX, DType, Kind

Ranges = Mapping[str, SymbolicRange]

# An index through this many Funcs is looked through.
MOST_CALLS = 4


@record
class Values:
    """Where the values of arrays and Funcs are known from."""

    funcs: Mapping[str, Func]
    bounds: Mapping[str, Bound]
    tables: Mapping[str, Cells]


def range_of(e: ir.Expr, known: Ranges, values: Values, calls: int = MOST_CALLS) -> SymbolicRange:
    """All that `e` can be. Variables that are not in `known` are sizes."""

    def other(e: ir.Expr, of: Of[SymbolicRange]) -> SymbolicRange:
        match e:
            case ir.Var():
                return exactly(linear(e)) if e.type.element.is_int else UNBOUNDED
            case ir.Access():
                return stored(e, of, values, calls)
            case _:
                return by_type(e.type.element)

    return fold(e, Domain(constant, unary, binary, cast, select, other), known)


def constant(e: ir.Const) -> SymbolicRange:
    return numbers(int(e.value), int(e.value)) if e.type.element.is_int else UNBOUNDED


def unary(e: ir.Unary, of: Of[SymbolicRange]) -> SymbolicRange:
    return wrapped(of_unary(e.op, of(e.a)), e.type.element)


def binary(e: ir.Binary, of: Of[SymbolicRange]) -> SymbolicRange:
    if not e.type.element.is_int:
        return UNBOUNDED
    return wrapped(of_binary(e.op, e.a, e.b, of(e.a), of(e.b)), e.type.element)


def cast(e: ir.Cast, of: Of[SymbolicRange]) -> SymbolicRange:
    t, source = e.type.element, e.value.type.element
    if not (t.is_int and source.is_int):
        return by_type(t)
    r = of(e.value)
    turns = source.kind is Kind.UINT and t.kind is Kind.INT and source.bits >= t.bits
    return by_type(t) if turns and not r.high else wrapped(r, t)


def select(e: ir.Select, of: Of[SymbolicRange]) -> SymbolicRange:
    return union(
        narrowed(e.a, of(e.a), implied(e.condition), of),
        narrowed(e.b, of(e.b), implied(not_(e.condition)), of),
    )


def narrowed(
    e: ir.Expr, bounds: SymbolicRange, guards: Iterable[Linear], of: Of[SymbolicRange]
) -> SymbolicRange:
    """The range of `e` where the guards are not negative: e = (e - g) + g is at least e - g."""
    for guard in guards if e.type == INDEX else ():
        g = to_expr(guard)
        above = of(canonical(ir.Binary(ir.Op.SUB, e, g)))
        below = of(canonical(ir.Binary(ir.Op.ADD, e, g)))
        bounds = both(bounds, SymbolicRange(above.low, below.high))
    return bounds


def of_unary(op: ir.UnaryOp, a: SymbolicRange) -> SymbolicRange:
    match op:
        case ir.UnaryOp.NEG:
            return negate(a)
        case ir.UnaryOp.ABS:
            return absolute(a)
        case _:
            return add(negate(a), numbers(-1, -1))


def of_binary(
    op: ir.Op, a: ir.Expr, b: ir.Expr, x: SymbolicRange, y: SymbolicRange
) -> SymbolicRange:
    """`a op b`, whose operands have the ranges x and y."""
    ends = y.constants
    number = ends[0] if ends is not None and ends[0] == ends[1] else None
    match op:
        case ir.Op.ADD:
            return add(x, y)
        case ir.Op.SUB:
            return multiple(a, b, x) or add(x, negate(y))
        case ir.Op.MIN:
            return mirrored(a, b, x, y) or least(x, y)
        case ir.Op.MAX:
            return greatest(x, y)
        case ir.Op.MUL:
            return product(x, y)
        case ir.Op.SHL if number is not None and 0 <= number < 63:
            return scale(x, 1 << number)
        case ir.Op.SHR if number is not None and 0 <= number < 63:
            return divide(x, 1 << number)
        case ir.Op.DIV if number is not None and number > 0:
            return divide(x, number)
        case ir.Op.MOD:
            return remainder(x, y, number)
        case ir.Op.AND if number is not None and number >= 0:
            return numbers(0, number)
        case _:
            return UNBOUNDED


def multiple(a: ir.Expr, b: ir.Expr, x: SymbolicRange) -> SymbolicRange | None:
    """a - a % c, which is a / c * c."""
    if isinstance(b, ir.Binary) and b.op is ir.Op.MOD and isinstance(b.b, ir.Const) and b.a == a:
        number = int(b.b.value)
        return scale(divide(x, number), number) if number > 0 else None
    return None


def product(x: SymbolicRange, y: SymbolicRange) -> SymbolicRange:
    """By a number or by a form without variables; both not negative otherwise."""
    for a, b in ((x, y), (y, x)):
        ends = b.constants
        if ends is not None and ends[0] == ends[1]:
            return scale(a, ends[0])
    p, q = x.constants, y.constants
    if p is not None and q is not None:
        corners = [i * j for i in p for j in q]
        return numbers(min(corners), max(corners))
    if not (x.bounded and y.bounded and nonnegative(x) and nonnegative(y)):
        return UNBOUNDED
    low = tuple((times(f[0], g[0]),) for f in x.low for g in y.low if len(f) == len(g) == 1)
    high = tuple((times(f[0], g[0]),) for f in x.high for g in y.high if len(f) == len(g) == 1)
    return SymbolicRange(low or numbers(0, 0).low, high)


def times(f: Linear, g: Linear) -> Linear:

    return linear(ir.Binary(ir.Op.MUL, to_expr(f), to_expr(g)))


def nonnegative(x: SymbolicRange) -> bool:
    """Surely: some lower bound has no negative term."""
    return any(
        all(f.constant >= 0 and all(c >= 0 for _, c in f.terms) for f in clause) for clause in x.low
    )


def remainder(x: SymbolicRange, y: SymbolicRange, number: int | None) -> SymbolicRange:
    """x % y: within 0 .. y - 1 for positive y, and 0 for y = 0."""
    if number is not None and number > 0:
        ends = x.constants
        if ends is not None and ends[0] // number == ends[1] // number:
            return add(x, numbers(-(ends[0] // number) * number, -(ends[0] // number) * number))
        return numbers(0, number - 1)
    if not y.high or not nonnegative(y):
        return UNBOUNDED
    return SymbolicRange(numbers(0, 0).low, tuple(
        (*(shifted(f, -1) for f in clause), linear(ir.Const(0, INDEX))) for clause in y.high
    ))  # fmt: skip


def mirrored(a: ir.Expr, b: ir.Expr, x: SymbolicRange, y: SymbolicRange) -> SymbolicRange | None:
    """min(m, c - m) is at most c / 2: the reflection of `mirror`."""
    for m, other, ends in ((a, b, x), (b, a, y)):
        if isinstance(other, ir.Binary) and other.op is ir.Op.SUB and other.b == m:
            whole = linear(other.a)
            half = divide(exactly(whole), 2)
            folded = least(ends, add(exactly(whole), negate(ends)))
            return SymbolicRange(folded.low, half.high + folded.high)
    return None


def stored(e: ir.Access, of: Of[SymbolicRange], values: Values, calls: int) -> SymbolicRange:
    """What an input or Func can hold there."""
    if not e.type.element.is_int:
        return UNBOUNDED
    if e.array in values.bounds:
        bound = values.bounds[e.array]
        return between(linear(bound.lo), shifted(linear(bound.hi), -1))
    if e.name in values.tables:
        least_cell, most_cell = values.tables[e.name].ends
        return numbers(int(least_cell), int(most_cell))
    func = values.funcs.get(e.name)
    if func is not None and not func.updates and calls > 0:
        inside = {v: of(i) for v, i in zip(func.variables, e.indices, strict=True)}
        return range_of(func.value(e.part), inside, values, calls - 1)
    return by_type(e.type.element)


def by_type(t: DType) -> SymbolicRange:
    """All that a narrow type holds; 32 bits and more tell nothing useful."""
    return numbers(*t.limits) if t.is_int and t.bits <= 16 else UNBOUNDED


def wrapped(r: SymbolicRange, t: DType) -> SymbolicRange:
    """The result of arithmetic in type t, which wraps."""
    return r if holds(t, r) else by_type(t)


def holds(t: DType, r: SymbolicRange) -> bool:
    """Index arithmetic is taken not to overflow 32 bits and more, as everywhere."""
    if t.bits >= 32:
        return t.kind is not Kind.UINT or nonnegative(r)
    ends = r.constants
    low, high = t.limits
    return ends is not None and low <= ends[0] and ends[1] <= high
