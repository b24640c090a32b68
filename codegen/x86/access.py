"""x86 loads and stores of adjacent elements, all of them or those under a mask; gathers and scatters."""

from __future__ import annotations

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.load import address
from hbc.codegen.vector.machine import machine_of
from hbc.codegen.vector.store import value_text
from hbc.codegen.x86.functions import register_mask
from hbc.codegen.x86.hold import separate
from hbc.codegen.x86.types import (
    all_lanes,
    fill,
    prefix,
    register_lanes,
    setr,
    spill,
    suffix,
    vector_type,
)  # fmt: skip
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import BOOL, I32, U8, DType
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import integer


def load_live(e: ir.Load, base: ir.Expr, unit: Unit) -> str:
    """`e` from element `base` on; lanes that its mask does not have are 0."""
    t, lanes = e.type.element, e.type.lanes
    assert e.mask is not None
    at, p = address(e.buffer, base, unit, e.mask), prefix(t, lanes)
    condition = register_mask(e.mask, t, unit)
    if unit.target.vector_bits == 512:
        return f"{p}_maskz_loadu_{suffix(t)}({condition}, {at})"
    if t.bits >= 32 and lanes * t.bits >= 128:
        pointer = at
        if not t.is_float:
            pointer = f"(const {'int' if t.bits == 32 else 'long long'} *){at}"
        return f"{p}_maskload_{suffix(t)}({pointer}, {condition})"
    return f"{_masked_loader(t, lanes, unit)}({at}, {condition})"


def load_text(buffer: str, index: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    """A load of adjacent elements."""
    at = address(buffer, index, unit)
    if t.name in ("f32", "f64") and lanes * t.bits >= 128:
        return f"{prefix(t, lanes)}_loadu_{suffix(t)}({at})"
    return f"{_loader(t, lanes, unit)}({at})"


def _loader(t: DType, lanes: int, unit: Unit) -> str:
    """The function that loads so many adjacent elements, and nothing beyond them."""
    size, v = lanes * t.bits, _vector_type(t, lanes)
    name = f"load_{t}x{lanes}"
    if size >= 128:
        body = f"    return {fill(t, lanes, 'p')};\n"
    else:
        holder = {16: "uint16_t", 32: "int32_t", 64: "int64_t"}[size]
        move = "_mm_cvtsi64_si128(bits)" if size == 64 else "_mm_cvtsi32_si128(bits)"
        cast = {"f32": "_mm_castsi128_ps", "f64": "_mm_castsi128_pd"}.get(t.name, "")
        value = f"{cast}({move})" if cast else move
        body = f"    {holder} bits;\n    memcpy(&bits, p, sizeof bits);\n    return {value};\n"
    text = f"static inline {v} {name}(const {c_type(t)} *p)\n{{\n{body}}}\n"
    return unit.prelude.add(name, text)


def _vector_type(t: DType, lanes: int) -> str:
    """The register type in memory's terms: bools are bytes."""
    return vector_type(U8 if t == BOOL else t, lanes)


def _masked_loader(t: DType, lanes: int, unit: Unit) -> str:
    """AVX2: elements that have no masked load, one by one."""
    name = f"maskload_{t}x{lanes}"
    v, count = _vector_type(t, lanes), register_lanes(t, lanes)
    held = integer(t.bits)
    text = (
        f"static inline {v} {name}(const {c_type(t)} *p, {vector_type(held, lanes)} mask)\n"
        f"{{\n    {c_type(held)} live[{count}];\n    {spill(held, lanes, 'live', 'mask')};\n"
        f"    {c_type(t)} lanes[{count}] = {{0}};\n"
        f"    for (int i = 0; i < {lanes}; ++i)\n"
        f"        if (live[i])\n            lanes[i] = p[i];\n"
        f"    return {fill(t, lanes, 'lanes')};\n}}\n"
    )
    return unit.prelude.add(name, text)


def store(s: ir.Store, base: ir.Expr, unit: Unit) -> str | None:
    """A store of adjacent elements. AVX2 has masked ones of 32 and 64 bits alone."""
    t, lanes = s.value.type.element, s.value.type.lanes
    narrow = t.bits < 32 or lanes * t.bits < 128
    if s.mask is not None and narrow and unit.target.vector_bits < 512:
        return None
    at, p = address(s.buffer, base, unit, s.mask), prefix(t, lanes)
    value = value_text(s.value, unit)
    if s.mask is None:
        if t.name in ("f32", "f64") and lanes * t.bits >= 128:
            return f"{p}_storeu_{suffix(t)}({at}, {value})"
        return f"{_storer(t, lanes, unit)}({at}, {value})"
    condition = register_mask(s.mask, t, unit)
    if unit.target.vector_bits == 512:
        return f"{p}_mask_storeu_{suffix(t)}({at}, {condition}, {separate(value, t, lanes, unit)})"
    pointer = at if t.is_float else f"({'int' if t.bits == 32 else 'long long'} *){at}"
    return f"{p}_maskstore_{suffix(t)}({pointer}, {condition}, {value})"


def _storer(t: DType, lanes: int, unit: Unit) -> str:
    size, name = lanes * t.bits, f"store_{t}x{lanes}"
    if size >= 128:
        body = f"    {spill(t, lanes, 'p', 'x')};\n"
    else:
        holder = {16: "uint16_t", 32: "int32_t", 64: "int64_t"}[size]
        whole = {"f32": "_mm_castps_si128(x)", "f64": "_mm_castpd_si128(x)"}.get(t.name, "x")
        take = f"_mm_cvtsi128_si{64 if size == 64 else 32}({whole})"
        body = f"    const {holder} bits = ({holder}){take};\n    memcpy(p, &bits, sizeof bits);\n"
    head = f"static inline void {name}({c_type(t)} *p, {_vector_type(t, lanes)} x)"
    return unit.prelude.add(name, f"{head}\n{{\n{body}}}\n")


def scatter(s: ir.Store, unit: Unit) -> bool:
    """AVX-512: 32-bit offsets from the lane nearest to the start of memory."""
    t, lanes, known = s.value.type.element, s.value.type.lanes, lane_offsets(s.index)
    if known is None or t.bits < 32 or unit.target.vector_bits < 512:
        return False
    base, offsets = known
    low = min(offsets)
    if max(offsets) - low >= 1 << 31:
        return False
    at, value = address(s.buffer, add(base, low), unit, s.mask), unit.printers.vector(s.value, unit)
    index = setr(I32, lanes, [str(o - low) for o in offsets])
    live = None if s.mask is None else machine_of(unit).masks.text(s.mask, t.bits, unit)
    if live is None and lanes < register_lanes(t, lanes):
        live = all_lanes(lanes)
    name = f"{prefix(t, lanes)}_{'mask_' if live else ''}i32scatter_{suffix(t)}"
    condition = f"{live}, " if live else ""
    unit.out.line(f"{name}({at}, {condition}{index}, {value}, {t.bits // 8});")
    return True
