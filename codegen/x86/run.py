"""Vector loads of adjacent elements, all of them or those under a mask."""

from __future__ import annotations

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.mask import register_mask
from hbc.codegen.x86.types import (
    fill,
    prefix,
    register_lanes,
    spill,
    suffix,
    vector_type,
)  # fmt: skip
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import BOOL, U8, DType
from hbc.ir.vectors.take import integer


def contiguous(e: ir.Load, base: ir.Expr, unit: Unit) -> str:
    """`e` from element `base` on; lanes that its mask does not have are 0."""
    t, lanes = e.type.element, e.type.lanes
    if e.mask is None:
        return load_text(e.buffer, base, t, lanes, unit)
    at, p = address(e.buffer, base, unit), prefix(t, lanes)
    condition = register_mask(e.mask, t, unit)
    if unit.target.vector_bits == 512:
        return f"{p}_maskz_loadu_{suffix(t)}({condition}, {at})"
    if t.bits >= 32 and lanes * t.bits >= 128:
        pointer = at
        if not t.is_float:
            pointer = f"(const {'int' if t.bits == 32 else 'long long'} *){at}"
        return f"{p}_maskload_{suffix(t)}({pointer}, {condition})"
    return f"{_masked_loader(t, lanes, unit)}({at}, {condition})"


def address(buffer: str, index: ir.Expr, unit: Unit) -> str:
    """`&A[i]`, or `A` alone for index 0."""
    text = unit.buffers[buffer].text
    return text if const_value(index) == 0 else f"&{text}[{scalar(index, unit)}]"


def load_text(buffer: str, index: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    """A load of adjacent elements."""
    at = address(buffer, index, unit)
    if t.name in ("f32", "f64") and lanes * t.bits >= 128:
        return f"{prefix(t, lanes)}_loadu_{suffix(t)}({at})"
    return f"{_loader(t, lanes, unit)}({at})"


def _loader(t: DType, lanes: int, unit: Unit) -> str:
    """The function that loads so many adjacent elements, and nothing beyond them."""
    size, v = lanes * t.bits, vector_type_of(t, lanes)
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


def vector_type_of(t: DType, lanes: int) -> str:
    """The register type in memory's terms: bools are bytes."""
    return vector_type(U8 if t == BOOL else t, lanes)


def _masked_loader(t: DType, lanes: int, unit: Unit) -> str:
    """AVX2: elements that have no masked load, one by one."""
    name = f"maskload_{t}x{lanes}"
    v, count = vector_type_of(t, lanes), register_lanes(t, lanes)
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
