"""Casts between vectors: one instruction, two, a small function, or lane by lane."""

from __future__ import annotations

from hbc.codegen.text.lanewise import lane_operand, lanewise
from hbc.codegen.text.registers import piece_of
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import machine_of
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import BOOL, DTYPES, DType, Kind, Memory
from hbc.ir.vectors.lane_offsets import constant_lanes


def cast(e: ir.Cast, unit: Unit) -> str:
    """The C text of a cast of a vector that is not a mask."""
    s, t, lanes, machine = e.value.type.element, e.type.element, e.type.lanes, machine_of(unit)
    if BOOL in (s, t):
        raise InternalError("codegen: a cast of a mask was not legalized")
    if machine.narrowed is not None and (within := clamped(e.value, t)) is not None:
        text = machine.narrowed(unit.printers.vector(within, unit), s, t, lanes, unit)
        if text is not None:
            return text
    if (text := _widened(e.value, t, unit)) is not None:
        return text
    return convert(unit.printers.vector(e.value, unit), s, t, lanes, unit)


def _widened(e: ir.Expr, t: DType, unit: Unit) -> str | None:
    """Lanes of registers that one instruction picks and widens."""
    if not isinstance(e, ir.Load) or e.mask is not None or piece_of(e.index) is not None:
        return None
    buffer, picks = unit.buffers[e.buffer], constant_lanes(e.index)
    if buffer.memory is not Memory.REGISTER or picks is None:
        return None
    return machine_of(unit).shuffles.widened(buffer.pieces, picks, e.type.element, t, unit)


def convert(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """`text`, a vector of s, as a vector of t with as many lanes."""
    machine, key = machine_of(unit), (s.name, t.name)
    if s == t:
        return text
    if s.is_int and t.is_int and s.bits == t.bits:
        return machine.reinterpret(text, s, t, lanes)
    row = machine.casts.get(key)
    if isinstance(row, str):
        return row.format(text, **machine.cast_words(s, t, lanes))
    if row is not None:
        return row(text, s, t, lanes, unit)
    if key in machine.via:
        middle = DTYPES[machine.via[key]]
        return convert(convert(text, s, middle, lanes, unit), middle, t, lanes, unit)
    function = lanewise(
        f"cast_{s}_{t}x{lanes}", ir.Cast(t(1), lane_operand(0, s)), (s,), lanes, unit
    )
    return f"{function}({text})"


def clamped(e: ir.Expr, t: DType) -> ir.Expr | None:
    """x, when `e` is x brought within the limits of a narrower integer type, as a narrowing with
    saturation does by itself."""
    s = e.type.element
    if not (s.is_int and t.is_int and t.bits < s.bits and (s.kind is t.kind or s.kind is Kind.INT)):
        return None
    bounds: dict[ir.Op, int | float | bool] = {}
    while isinstance(e, ir.Binary) and e.op in (ir.Op.MIN, ir.Op.MAX) and e.op not in bounds:
        limit = const_value(e.b)
        if limit is None:
            return None
        bounds[e.op] = limit
        e = e.a
    low, high = t.limits
    if s.kind is Kind.UINT:
        bounds.setdefault(ir.Op.MAX, 0)
    return e if bounds == {ir.Op.MAX: low, ir.Op.MIN: high} else None
