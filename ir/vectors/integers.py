"""Vectors of integers in the operations that processors have: averages, saturation and high halves for what
spells them in wider integers, products and shifts for divisions, one product for terms of a common factor,
lanes chosen from a few shifts where there is no instruction that shifts each by its own amount.

Scalars stay: C compilers know their divisions.
"""

from __future__ import annotations

from functools import partial

from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, cast, const, const_value, select
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.target import X86, Target
from hbc.ir.lang.types import I16, U16, DType, Kind
from hbc.ir.lang.walk import map_children, rewrite_stmt
from hbc.ir.vectors.common_factors import common_factors
from hbc.ir.vectors.fixed_point import fixed_point
from hbc.ir.vectors.lane_offsets import constant_lanes
from hbc.ir.vectors.narrowed import narrowed
from hbc.ir.vectors.quotients import by_floats, quotient, remainder
from hbc.ir.vectors.stored_ranges import Ranges, lane_range, stored_ranges

MOST_BITS = 32
"""Wider integers are divided lane by lane."""
MOST_SHIFTS = 4
"""By so many amounts all lanes are shifted, and those chosen that each is."""


def integers(kernel: Kernel, target: Target) -> Kernel:
    """The kernel for a target with vectors."""
    if target.vector_bits == 0:
        return kernel
    kernel = kernel.map_body(lambda body: rewrite_stmt(body, fixed_point))
    kernel = kernel.map_body(lambda body: rewrite_stmt(body, common_factors))
    ranges = stored_ranges(kernel)
    narrow = partial(narrowed, ranges=ranges)
    kernel = kernel.map_body(lambda body: rewrite_stmt(body, narrow))
    work = _Integers(ranges, 0 if target.machine != X86 else 8 if target.vector_bits == 512 else 16)
    return kernel.map_body(lambda body: rewrite_stmt(body, work.expr))


@mutable
class _Integers:
    """`together`: integers of so many bits or fewer are shifted by one amount alone."""

    ranges: Ranges
    together: int
    made: int = 0

    def expr(self, e: ir.Expr) -> ir.Expr:
        """From the top, so that ranges are those of what the program says."""
        new = map_children(e, self.expr)
        if (
            isinstance(new, ir.Binary)
            and new.op in (ir.Op.SHL, ir.Op.SHR)
            and new.type.element.is_int
        ):
            return self._shift(new)
        if not (isinstance(e, ir.Binary) and isinstance(new, ir.Binary) and _is_division(e)):
            return new
        return self._division(new, *lane_range(e.a, self.ranges))

    def _division(self, e: ir.Binary, low: int | None, high: int | None) -> ir.Expr:
        t, d = e.type.element, const_value(e.b)
        if d == 0:
            return const(0, e.type)
        if d is not None and _is_power(d):
            down = e.op is ir.Op.DIV
            amount = int(d).bit_length() - 1 if down else int(d) - 1
            return binary(ir.Op.SHR if down else ir.Op.AND, e.a, amount)
        held = t if t.bits > 8 else I16 if t.kind is Kind.INT else U16
        assert low is not None and high is not None, f"no range of {t}"
        names: list[tuple[ir.Var, ir.Expr]] = []
        x = self._named("dividend", cast(held, e.a), names)
        if d is not None:
            find = quotient if e.op is ir.Op.DIV else remainder
            result = find(x, int(d), low, high)
        else:
            y = cast(held, e.b)
            shared = isinstance(y, ir.Broadcast)
            result = by_floats(e.op, x, y if shared else self._named("divisor", y, names))
        result = cast(t, result)
        for variable, value in reversed(names):
            result = ir.Let(variable.name, value, result)
        return result

    def _shift(self, e: ir.Binary) -> ir.Expr:
        """By constant amounts of the lanes: of one shift for each amount the lanes that want it."""
        bits = e.type.element.bits
        lanes = constant_lanes(e.b) if e.type.lanes > 1 and bits <= self.together else None
        amounts = sorted({n % bits for n in lanes or ()})
        if lanes is None or not 1 < len(amounts) <= MOST_SHIFTS:
            return e
        names: list[tuple[ir.Var, ir.Expr]] = []
        x, own = self._named("shifted", e.a, names), binary(ir.Op.AND, e.b, bits - 1)
        result = binary(e.op, x, amounts[0])
        for amount in amounts[1:]:
            result = select(binary(ir.Op.EQ, own, amount), binary(e.op, x, amount), result)
        return ir.Let(x.name, e.a, result)

    def _named(self, name: str, value: ir.Expr, names: list[tuple[ir.Var, ir.Expr]]) -> ir.Var:
        self.made += 1
        variable = ir.Var(f"{name}.{self.made}", value.type)  # no name that a program can have
        names.append((variable, value))
        return variable


def is_divided(t: DType, divisor: ir.Expr) -> bool:
    """Whether vectors of an integer type are divided as vectors."""
    return t.bits <= MOST_BITS or _is_power(const_value(divisor))


def _is_power(d: float | None) -> bool:
    """Of two."""
    return d is not None and d > 0 and int(d) & (int(d) - 1) == 0


def _is_division(e: ir.Binary) -> bool:
    t, divides = e.type, e.op in (ir.Op.DIV, ir.Op.MOD)
    return divides and t.lanes > 1 and t.element.is_int and is_divided(t.element, e.b)
