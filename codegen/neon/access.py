"""NEON loads and stores of adjacent elements, and of a few of them again and again."""

from __future__ import annotations

from hbc.codegen.neon.masked import masked_load, masked_store
from hbc.codegen.neon.types import kind, name, register_bits, reinterpret, vector_type
from hbc.codegen.neon.words import first_word, live_count, word
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type, unsigned_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.load import address
from hbc.codegen.vector.store import value_text
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import DType
from hbc.ir.movement.structures import WIDTH, is_structure
from hbc.ir.vectors.lane_offsets import lane_offsets


def load_text(buffer: str, index: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    """A load of adjacent elements."""
    at = address(buffer, index, unit)
    if lanes * t.bits >= 64:
        return f"{name('vld1', t, lanes)}({at})"
    return f"{_repeater(t, lanes, lanes, False, unit)}({at})"


def load_live(e: ir.Load, base: ir.Expr, unit: Unit) -> str:
    """The same of the elements whose lanes are live."""
    assert e.mask is not None
    return masked_load(address(e.buffer, base, unit, e.mask), e.mask, e.type.element, unit)


def repeated(e: ir.Load, base: ir.Expr, offsets: tuple[int, ...], unit: Unit) -> str | None:
    """Copies of a group of elements; under a mask, of which the first are live in every copy alike."""
    t, lanes, group = e.type.element, e.type.lanes, _group(offsets)
    if group * t.bits not in (16, 32, 64):
        return None
    at = address(e.buffer, base, unit, e.mask)
    if e.mask is None:
        return f"{_repeater(t, lanes, group, False, unit)}({at})"
    starts = range(0, lanes, group)
    counts = {live_count(e.mask, tuple(range(s, s + group))) for s in starts}
    count = counts.pop()
    if count is None or counts:
        return None
    return f"{_repeater(t, lanes, group, True, unit)}({at}, {scalar(count, unit)})"


def load_structures(e: ir.Load, base: ir.Expr, offsets: tuple[int, ...], unit: Unit) -> str | None:
    """LD2 to LD4: vectors whose lanes alternate in memory."""
    count, t = is_structure(offsets), e.type.element
    if not count or e.type.lanes * t.bits != count * WIDTH or e.mask is not None:
        return None
    return f"vld{count}q_{kind(t)}({address(e.buffer, base, unit)})"


def store_structures(s: ir.Store, unit: Unit) -> bool:
    """ST2 to ST4, the same."""
    known, t, lanes = lane_offsets(s.index), s.value.type.element, s.value.type.lanes
    if known is None or s.mask is not None:
        return False
    base, offsets = add(known[0], known[1][0]), tuple(o - known[1][0] for o in known[1])
    count = is_structure(offsets)
    if not count or lanes * t.bits != count * WIDTH:
        return False
    value = unit.printers.vector(s.value, unit)
    unit.out.line(f"vst{count}q_{kind(t)}({address(s.buffer, base, unit)}, {value});")
    return True


def _group(offsets: tuple[int, ...]) -> int:
    """How many adjacent elements are repeated to fill the vector; 0 when it is not that."""
    n = next((i for i, o in enumerate(offsets) if o != i), len(offsets))
    return n if len(offsets) % n == 0 and offsets == offsets[:n] * (len(offsets) // n) else 0


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


def store(s: ir.Store, base: ir.Expr, unit: Unit) -> str | None:
    """A store of adjacent elements, all of them or those under a mask."""
    t, lanes, value = s.value.type.element, s.value.type.lanes, value_text(s.value, unit)
    at = address(s.buffer, base, unit, s.mask)
    if s.mask is not None:
        return masked_store(at, s.mask, t, value, unit)
    if lanes * t.bits >= 64:
        return f"{name('vst1', t, lanes)}({at}, {value})"
    return f"{_storer(t, lanes, unit)}({at}, {value})"


def _storer(t: DType, lanes: int, unit: Unit) -> str:
    """The function that stores a vector of less than 64 bits."""
    function, size = f"store_{t}x{lanes}", lanes * t.bits
    held = f"u{size}"
    bits = f"vget_lane_{held}({reinterpret('x', kind(t), held, 64)}, 0)"
    text = (
        f"static inline void {function}({c_type(t)} *p, {vector_type(t, lanes)} x)\n{{\n"
        f"    const {unsigned_type(size)} bits = {bits};\n    memcpy(p, &bits, sizeof bits);\n}}\n"
    )
    return unit.prelude.add(function, text)
