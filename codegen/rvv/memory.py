"""RVV loads and stores: adjacent elements, and those evenly apart, all or those under a mask."""

from __future__ import annotations

from hbc.codegen.rvv.types import broadcast, kind
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import ADD, Unit
from hbc.codegen.vector.load import address
from hbc.codegen.vector.machine import machine_of
from hbc.codegen.vector.store import value_text
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import mul
from hbc.ir.lang.types import DType


def load_text(buffer: str, index: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    """A load of adjacent elements."""
    k = kind(unit.target.vector_bits, t, lanes)
    return f"__riscv_vle{t.bits}_v_{k}({address(buffer, index, unit)}, {lanes})"


def load_live(e: ir.Load, base: ir.Expr, unit: Unit) -> str:
    """The same of the elements whose lanes are live; the other lanes are 0."""
    return _loaded("vle", e, base, "", unit)


def gather(e: ir.Load, unit: Unit) -> str | None:
    """Elements evenly apart."""
    match e.index:
        case ir.Ramp(base=base, stride=stride) if base.type.lanes == stride.type.lanes == 1:
            return _loaded("vlse", e, base, f", {_bytes(stride, e.type.element, unit)}", unit)
        case _:
            return None


def _loaded(stem: str, e: ir.Load, base: ir.Expr, step: str, unit: Unit) -> str:
    t, lanes, bits = e.type.element, e.type.lanes, unit.target.vector_bits
    at = address(e.buffer, base, unit, e.mask)
    call = f"__riscv_{stem}{t.bits}_v_{kind(bits, t, lanes)}"
    if e.mask is None:
        return f"{call}({at}{step}, {lanes})"
    live, zero = _live(e.mask, t, unit), broadcast(bits, t, lanes, "0")
    return f"{call}_mu({live}, {zero}, {at}{step}, {lanes})"


def store(s: ir.Store, base: ir.Expr, unit: Unit) -> str:
    """A store of adjacent elements."""
    return _stored("vse", s, base, "", unit)


def scatter(s: ir.Store, unit: Unit) -> bool:
    """A store of elements evenly apart."""
    match s.index:
        case ir.Ramp(base=base, stride=stride) if base.type.lanes == stride.type.lanes == 1:
            step = f", {_bytes(stride, s.value.type.element, unit)}"
            unit.out.line(f"{_stored('vsse', s, base, step, unit)};")
            return True
        case _:
            return False


def _stored(stem: str, s: ir.Store, base: ir.Expr, step: str, unit: Unit) -> str:
    t, lanes = s.value.type.element, s.value.type.lanes
    call = f"__riscv_{stem}{t.bits}_v_{kind(unit.target.vector_bits, t, lanes)}"
    at, value = address(s.buffer, base, unit, s.mask), value_text(s.value, unit)
    if s.mask is None:
        return f"{call}({at}{step}, {value}, {lanes})"
    return f"{call}_m({_live(s.mask, t, unit)}, {at}{step}, {value}, {lanes})"


def _live(mask: ir.Expr, t: DType, unit: Unit) -> str:
    return machine_of(unit).masks.text(mask, t.bits, unit)


def _bytes(stride: ir.Expr, t: DType, unit: Unit) -> str:
    return scalar(simplify(mul(stride, t.bits // 8)), unit).at(ADD)
