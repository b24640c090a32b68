"""Chosen lanes of a vector expression, as an expression of only so many lanes.

    take(a[ramp(x, 1, 64)] * broadcast(b, 64), lanes 16..31)
->  a[ramp(x + 16, 1, 16)] * broadcast(b, 16)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from functools import reduce as fold
from itertools import pairwise

from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, broadcast, cast, const, mul, ramp, select
from hbc.ir.lang.types import BOOL, I8, I16, I32, I64, DType
from hbc.ir.lang.walk import map_children, nodes_of
from hbc.ir.vectors.vector_width import widest_bits

Picks = tuple[int, ...]


@mutable
class Take:
    """`native_bits`: the width of the vectors that reductions are formed in. `lets`: for each
    vector name in scope, the lanes asked of it and their new names, `made` counts these; `named`:
    the bits of the widest element that it is computed from."""

    native_bits: int = 0
    named: dict[str, int] = field(default_factory=dict)
    lets: dict[str, dict[Picks, str]] = field(default_factory=dict)
    made: int = 0

    def __call__(self, e: ir.Expr, picks: Picks) -> ir.Expr:
        """Lane i of the result is lane `picks[i]` of `e`; a scalar for one pick."""
        if e.type.lanes == 1:
            return broadcast(self._scalar(e), len(picks))
        return self._take(e, picks)

    def _scalar(self, e: ir.Expr) -> ir.Expr:
        """A scalar, which may hold reductions of vectors."""
        match e:
            case ir.VectorReduce():
                return self._reduce(e, (0,))
            case ir.Gather():
                return self._gather(e, (0,))
            case ir.Let(name=name, value=v, body=body):
                return self._let(name, v, body, (0,))
            case ir.Move(value=v):
                return self._scalar(v)
            case ir.Instruct():
                return e
            case _:
                return map_children(e, self._scalar)

    def _take(self, e: ir.Expr, picks: Picks) -> ir.Expr:
        match e:
            case ir.Const() | ir.Access() | ir.Tuple():
                raise InternalError(f"take: {type(e).__name__} of {e.type}")
            case ir.Var(name=name, type=t):
                return ir.Var(self._slice_name(name, picks), t.with_lanes(len(picks)), e.span)
            case ir.Cast(type=t, value=v):
                return cast(t.element, self(v, picks))
            case ir.Binary(op=op, a=a, b=b):
                return binary(op, self(a, picks), self(b, picks))
            case ir.Select(condition=c, a=a, b=b):
                return select(self(c, picks), self(a, picks), self(b, picks))
            case ir.Ramp():
                return self._ramp(e, picks)
            case ir.Broadcast(value=v):
                return self(v, tuple(p % v.type.lanes for p in picks))
            case ir.VectorReduce():
                return self._reduce(e, picks)
            case ir.Gather():
                return self._gather(e, picks)
            case ir.Let(name=name, value=v, body=body):
                return self._let(name, v, body, picks)
            case ir.Move(value=v):
                return self(v, picks)
            case ir.Instruct():
                if picks == tuple(range(e.type.lanes)):
                    return e
                raise InternalError(f"take: some lanes of `{e.name}`")
            case _:
                return self._of_operands(e, picks)

    def _of_operands(self, e: ir.LaneByLane, picks: Picks) -> ir.Expr:
        return map_children(e, lambda operand: self(operand, picks))

    def _let(self, name: str, value: ir.Expr, body: ir.Expr, picks: Picks) -> ir.Expr:
        if value.type.lanes == 1:
            return ir.Let(name, self._scalar(value), self(body, picks))
        with self.scope(name) as asked:
            inner = self(body, picks)
        for lanes, new in reversed(asked.items()):
            inner = ir.Let(new, self(value, lanes), inner)
        return inner

    @contextmanager
    def scope(self, name: str) -> Iterator[dict[Picks, str]]:
        """Inside, `name` is a vector; what is asked of it is gathered in the result."""
        outer = self.lets.get(name)
        asked = self.lets[name] = {}
        yield asked
        if outer is None:
            del self.lets[name]
        else:
            self.lets[name] = outer

    def _slice_name(self, name: str, picks: Picks) -> str:
        if name not in self.lets:
            raise InternalError(f"take: nothing binds the vector `{name}`")
        asked = self.lets[name]
        if picks not in asked:
            self.made += 1
            asked[picks] = f"{name}_{self.made}"
        return asked[picks]

    def _ramp(self, e: ir.Ramp, picks: Picks) -> ir.Expr:
        inner = e.base.type.lanes
        if inner == 1:
            return self._steps(e.base, e.stride, picks)
        low = tuple(p % inner for p in picks)
        high = tuple(p // inner for p in picks)
        base, stride = self(e.base, low), self(e.stride, low)
        if len(set(high)) == 1:
            return plus(base, times(stride, high[0]))
        for period in _divisors(len(picks)):
            rows = [high[i : i + period] for i in range(0, len(high), period)]
            steps = [row[0] for row in rows]
            if (
                all(len(set(row)) == 1 for row in rows)
                and low == low[:period] * len(rows)
                and len({b - a for a, b in pairwise(steps)}) == 1
            ):
                first, own = self(e.base, low[:period]), self(e.stride, low[:period])
                start = plus(first, times(own, steps[0]))
                return ramp(start, times(own, steps[1] - steps[0]), len(rows))
        return plus(base, mul(stride, constants(high, e.type.element)))

    def _steps(self, base: ir.Expr, stride: ir.Expr, picks: Picks) -> ir.Expr:
        """base + p * stride for each p of picks."""
        if len(picks) == 1:
            return add(base, mul(stride, picks[0]))
        digits = progression(picks)
        if digits is None:
            return add(base, mul(stride, constants(picks, base.type.element)))
        result = add(base, mul(stride, picks[0]))
        for count, step in digits:
            by = mul(stride, step)
            result = ramp(result, broadcast(by, result.type.lanes), count)
        return result

    def _reduce(self, e: ir.VectorReduce, picks: Picks) -> ir.Expr:
        """Lane p of the result folds lanes p*f to p*f + f - 1 of the value."""
        factor = e.value.type.lanes // e.lanes
        if factor == 1:
            return self(e.value, picks)
        if len(picks) > 1:
            terms = [self(e.value, tuple(p * factor + q for p in picks)) for q in range(factor)]
            return _tree(e.op, terms)
        first = picks[0] * factor
        width = max(1, self.native_bits // self.widest(e.value))
        parts: list[ir.Expr] = []
        whole = [
            self(e.value, tuple(range(first + i, first + i + width)))
            for i in range(0, factor - width + 1, width)
        ]
        if whole:
            total = _tree(e.op, whole)
            parts.append(ir.VectorReduce(e.op, total, 1, e.span) if width > 1 else total)
        for start, n in powers(len(whole) * width, factor - len(whole) * width):
            part = self(e.value, tuple(range(first + start, first + start + n)))
            parts.append(ir.VectorReduce(e.op, part, 1, e.span) if n > 1 else part)
        return _tree(e.op, parts)

    def widest(self, e: ir.Expr) -> int:
        """The bits of the widest element in it, and in the vectors that it names: pieces of these are
        made as long as they are asked for."""
        names = (self.named.get(n.name, 0) for n in nodes_of(e, ir.Var))
        return max(widest_bits(e), *names, 0)

    def _gather(self, e: ir.Gather, picks: Picks) -> ir.Expr:
        lanes = tuple(e.lanes[p] for p in picks)
        if all(p < 0 for p in lanes):
            return const(False if e.type.element == BOOL else 0, e.type.with_lanes(len(picks)))
        value = self(e.value, tuple(max(p, 0) for p in lanes))
        if all(p >= 0 for p in lanes):
            return value
        there = constants(tuple(int(p >= 0) for p in lanes))
        return select(binary(ir.Op.NE, there, 0), value, const(0, value.type))


def plus(a: ir.Expr, b: ir.Expr) -> ir.Expr:
    """a + b, done once where all lanes (or all bases) are alike."""
    match (a, b):
        case (ir.Broadcast(value=x, lanes=n), ir.Broadcast(value=y, lanes=m)) if n == m:
            return broadcast(plus(x, y), n)
        case (ir.Ramp(base=base, stride=stride, lanes=n), ir.Broadcast(value=y, lanes=m)) if (
            m % n == 0 and base.type.lanes == m // n * y.type.lanes
        ):
            return ir.Ramp(plus(base, broadcast(y, m // n)), stride, n)
        case (ir.Broadcast(), ir.Ramp()):
            return plus(b, a)
        case _:
            return add(a, b)


def times(a: ir.Expr, factor: int) -> ir.Expr:
    """a * factor, the lanes of a Broadcast or Ramp multiplied once."""
    match a:
        case ir.Broadcast(value=x, lanes=n):
            return broadcast(times(x, factor), n)
        case ir.Ramp(base=base, stride=stride, lanes=n) if factor:
            return ir.Ramp(times(base, factor), times(stride, factor), n)
        case _:
            return mul(a, factor)


def _tree(op: ir.Op, terms: list[ir.Expr]) -> ir.Expr:
    """The terms folded in pairs, so that no chain is longer than need be."""
    while len(terms) > 1:
        pairs = [terms[i : i + 2] for i in range(0, len(terms), 2)]
        terms = [fold(lambda a, b: ir.Binary(op, a, b), pair) for pair in pairs]
    return terms[0]


def constants(values: Picks, element: DType = I64) -> ir.Expr:
    """A vector of these integers."""
    digits = progression(values)
    if digits is None:
        low = min(values)
        line = ramp(const(low, element), 1, max(values) - low + 1)
        return ir.Gather(line, tuple(v - low for v in values))
    result: ir.Expr = const(values[0], element)
    for count, step in digits:
        result = ramp(result, const(step, result.type), count)
    return result


def progression(values: Picks) -> list[tuple[int, int]] | None:
    """(count, step) from the innermost out, when the values count so from the first; else None."""
    if len(values) == 1:
        return []
    step = values[1] - values[0]
    count = next(
        (i for i in range(1, len(values)) if values[i] != values[0] + i * step), len(values)
    )
    while count > 1:
        if len(values) % count == 0:
            rows = [values[i : i + count] for i in range(0, len(values), count)]
            if all(v - row[0] == i * step for row in rows for i, v in enumerate(row)):
                outer = progression(tuple(row[0] for row in rows))
                if outer is not None:
                    return [(count, step), *outer]
        count -= 1
    return None


def powers(start: int, count: int) -> list[tuple[int, int]]:
    """`count` lanes from `start` on, as (start, lanes) with lanes falling powers of two."""
    parts = []
    while count:
        n = 1 << (count.bit_length() - 1)
        parts.append((start, n))
        start, count = start + n, count - n
    return parts


def integer(bits: int) -> DType:
    """The signed integer of that width."""
    return {8: I8, 16: I16, 32: I32, 64: I64}[bits]


def _divisors(n: int) -> list[int]:
    return [d for d in range(2, n) if n % d == 0]
