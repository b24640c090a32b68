"""Constant ranges of integer values of any width: what types, literals, clamps and casts promise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from hbc.ir.algebra.domain import Domain, Of, fold
from hbc.ir.algebra.form import ARITHMETIC
from hbc.ir.algebra.intervals import UNKNOWN, Range, constant, hull, meet, of_binary, of_unary
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import I64, INDEX, U64, Kind


class HasLimits(Protocol):
    """What is known of a name: `lo` and `hi`, both included, None for unbounded."""

    @property
    def lo(self) -> ir.Expr | None: ...
    @property
    def hi(self) -> ir.Expr | None: ...


def value_range(
    e: ir.Expr, ranges: Mapping[str, HasLimits], index_range: Callable[[ir.Expr], Range]
) -> Range:
    """The least and greatest value of any lane, each None if unknown. `index_range` answers for
    scalar index arithmetic, which has a linear form."""

    def binary(e: ir.Binary, of: Of[Range]) -> Range:
        if e.type == INDEX and e.op in ARITHMETIC:
            return index_range(e)
        return _fitting(of_binary(e.op, of(e.a), of(e.b), e.type.element.bits), e)

    def other(e: ir.Expr, of: Of[Range]) -> Range:
        match e:
            case ir.Var() if e.type == INDEX:
                return index_range(e)
            case ir.Broadcast(value=v):
                return of(v)
            case ir.Ramp(base=base, stride=stride, lanes=lanes):
                steps = of_binary(ir.Op.MUL, of(stride), (0, lanes - 1), e.type.element.bits)
                return _fitting(of_binary(ir.Op.ADD, of(base), steps, e.type.element.bits), e)
            case ir.Gather(value=v, lanes=lanes):
                return hull(of(v), (0, 0)) if -1 in lanes else of(v)
            case ir.Load(buffer=name) | ir.Access(array=name) if name in ranges:
                known = meet(_within_type(e), _named(ranges[name], index_range))
                masked = isinstance(e, ir.Load) and e.mask is not None
                return hull(known, (0, 0)) if masked else known
            case _:
                return _within_type(e)

    return fold(e, Domain(constant, _unary, binary, _cast, _select, other, _let), {})


def _unary(e: ir.Unary, of: Of[Range]) -> Range:
    return _fitting(of_unary(e.op, of(e.a)), e)


def _cast(e: ir.Cast, of: Of[Range]) -> Range:
    source = e.value.type.element
    if source.is_float:
        return _within_type(e)
    r = of(e.value)
    if source == U64 and e.type.element == I64 and (r[1] is None or r[1] > I64.limits[1]):
        return UNKNOWN  # what is beyond i64 is negative there
    return _fitting(r, e)


def _select(e: ir.Select, of: Of[Range]) -> Range:
    return hull(of(e.a), of(e.b))


def _let(e: ir.Let, of: Of[Range]) -> Range:
    """Its name may mean something else to `index_range`."""
    return _within_type(e.body)


def _within_type(e: ir.Expr) -> Range:
    element = e.type.element
    if element.kind is Kind.BOOL or (element.is_int and element != I64):
        return element.limits
    return UNKNOWN


def _named(known: HasLimits, index_range: Callable[[ir.Expr], Range]) -> Range:
    low = None if known.lo is None else index_range(known.lo)[0]
    high = None if known.hi is None else index_range(known.hi)[1]
    return low, high


def _fitting(r: Range, e: ir.Expr) -> Range:
    """The range of what is computed, where it fits the type, so that nothing wraps."""
    element = e.type.element
    low, high = element.limits if element.is_int else (1, 0)
    if element == I64:
        return r
    fits = r[0] is not None and r[1] is not None and low <= r[0] and r[1] <= high
    return r if fits else _within_type(e)
