"""NEON loads: contiguous, broadcast, permuted from a few contiguous ones, lane by lane."""

from __future__ import annotations

from hbc.codegen.neon.mask import live_lanes, mask
from hbc.codegen.neon.masked import masked_load
from hbc.codegen.neon.permute import permuted, picked
from hbc.codegen.neon.rows import load_rows
from hbc.codegen.neon.types import (
    broadcast,
    fill,
    kind,
    lanes_of,
    name,
    register_bits,
    register_lanes,
    reinterpret,
    vector_type,
    zero,
)  # fmt: skip
from hbc.codegen.neon.words import first_word, live_count, word
from hbc.codegen.text.registers import piece_of
from hbc.codegen.text.scalar import register, scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, const_value
from hbc.ir.lang.types import DType, Memory
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.take import Take


def load(e: ir.Load, unit: Unit) -> str:
    """The C text of a vector load (of bytes, for bools)."""
    t, lanes = e.type.element, e.type.lanes
    if unit.buffers[e.buffer].memory is Memory.REGISTER:
        return _register(e, unit)
    known = lane_offsets(e.index)
    if known is None:
        return load_rows(e, unit) or _by_lane(e, unit)
    base, offsets = known
    base, offsets = add(base, offsets[0]), tuple(o - offsets[0] for o in offsets)
    if e.mask is not None:
        if offsets == tuple(range(lanes)):
            return masked_load(address(e.buffer, base, unit), e.mask, t, unit)
        return (
            _masked_copies(e, base, offsets, e.mask, unit)
            or load_rows(e, unit)
            or _by_lane(e, unit)
        )
    if offsets == tuple(range(lanes)):
        return load_text(e.buffer, base, t, lanes, unit)
    if not any(offsets):
        return broadcast(t, lanes, str(scalar(ir.Load(e.buffer, base, t(1)), unit)))
    group = _group(offsets)
    if group * t.bits in (16, 32, 64):
        return f"{_repeater(t, lanes, group, False, unit)}({address(e.buffer, base, unit)})"
    text = permuted(lambda at, n: load_text(e.buffer, add(base, at), t, n, unit), t, offsets)
    return text or _by_lane(e, unit)


def _group(offsets: tuple[int, ...]) -> int:
    """How many adjacent elements are repeated to fill the vector; 0 when it is not that."""
    n = next((i for i, o in enumerate(offsets) if o != i), len(offsets))
    return n if len(offsets) % n == 0 and offsets == offsets[:n] * (len(offsets) // n) else 0


def address(buffer: str, index: ir.Expr, unit: Unit) -> str:
    """`&A[i]`, or `A` alone for index 0."""
    text = unit.buffers[buffer].text
    return text if const_value(index) == 0 else f"&{text}[{scalar(index, unit)}]"


def load_text(buffer: str, index: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    """A load of adjacent elements."""
    at = address(buffer, index, unit)
    if lanes * t.bits >= 64:
        return f"{name('vld1', t, lanes)}({at})"
    return f"{_repeater(t, lanes, lanes, False, unit)}({at})"


def _masked_copies(
    e: ir.Load, base: ir.Expr, offsets: tuple[int, ...], mask: ir.Expr, unit: Unit
) -> str | None:
    """Copies of a group of which the first elements are live, in every copy alike."""
    t, lanes, group = e.type.element, e.type.lanes, _group(offsets)
    if group * t.bits not in (16, 32, 64):
        return None
    starts = range(0, lanes, group)
    counts = {live_count(mask, tuple(range(s, s + group))) for s in starts}
    count = counts.pop()
    if count is None or counts:
        return None
    at = address(e.buffer, base, unit)
    return f"{_repeater(t, lanes, group, True, unit)}({at}, {scalar(count, unit)})"


def _repeater(t: DType, lanes: int, group: int, masked: bool, unit: Unit) -> str:
    """The function that fills a vector with copies of `group` adjacent elements (`masked`: of the first
    n of them), and reads nothing beyond. A vector of less than 64 bits has one copy that counts."""
    function = f"load_{'first_' if masked else ''}{t}x{group}_{t}x{lanes}"
    held, bits = f"u{group * t.bits}", register_bits(t, lanes)
    wide = "q" if bits == 128 else ""
    loaded = f"{first_word(t, group, unit)}(p, n)" if masked else f"{word(t, group, unit)}(p)"
    value = reinterpret(f"vdup{wide}_n_{held}({loaded})", held, kind(t), bits)
    text = (
        f"static inline {vector_type(t, lanes)} {function}(const {c_type(t)} *p"
        f"{', int64_t n' if masked else ''})\n{{\n    return {value};\n}}\n"
    )
    return unit.prelude.add(function, text)


def _register(e: ir.Load, unit: Unit) -> str:
    t, lanes = e.type.element, e.type.lanes
    variable = register(e.buffer, e.index, unit)
    if variable is None and piece_of(e.index) is None:
        text = picked(unit.buffers[e.buffer].pieces, constant_lanes(e.index) or (), t)
        if text is not None:
            return text
    if variable is None:
        raise InternalError(f"codegen: `{e.buffer}` is in registers but read at other lanes")
    if e.mask is None:
        return variable
    live = mask(e.mask, t.bits, unit)
    return f"{name('vbsl', t, lanes)}({live}, {variable}, {zero(t, lanes)})"


def _by_lane(e: ir.Load, unit: Unit) -> str:
    """Scalar loads put together; under a mask, through an array."""
    t, lanes = e.type.element, e.type.lanes
    source = unit.buffers[e.buffer].text
    parts = [str(scalar(Take()(e.index, (lane,)), unit)) for lane in range(lanes)]
    if e.mask is None:
        return lanes_of(t, lanes, [f"{source}[{part}]" for part in parts])
    array, live = unit.scope.fresh("lanes"), live_lanes(e.mask, unit)
    unit.out.line(f"{c_type(t)} {array}[{register_lanes(t, lanes)}] = {{0}};")
    for lane, part in enumerate(parts):
        unit.out.line(f"if ({live(lane)})")
        unit.out.depth += 1
        unit.out.line(f"{array}[{lane}] = {source}[{part}];")
        unit.out.depth -= 1
    return fill(t, lanes, array)
