"""Neighbouring bytes that make an integer, the first the lowest, as one load.

    u32(W[b]) | u32(W[b + 1]) << 8   ->   load_bytes_u32x2(&W[b])

gcc sees that bytes are neighbours where they are behind one pointer, not where each has an index of its own.
"""

from __future__ import annotations

from hbc.codegen.text.unit import Unit
from hbc.ir.algebra.linear import difference
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value
from hbc.ir.lang.types import U8, U32, Memory

_BYTE = 8


def neighbours(e: ir.Binary, unit: Unit) -> tuple[ir.Load, int] | None:
    """The first of the bytes, and how many there are; None where `e` is something else."""
    if e.op is not ir.Op.OR or e.type.element != U32 or unit.target.vector_bits == 0:
        return None
    found: list[tuple[ir.Load, int]] = []  # the last first
    rest: ir.Expr | None = e
    while rest is not None:
        joined = isinstance(rest, ir.Binary) and rest.op is ir.Op.OR
        part, rest = (rest.b, rest.a) if isinstance(rest, ir.Binary) and joined else (rest, None)
        byte = _byte(part, unit)
        if byte is None:
            return None
        found.append(byte)
    found.reverse()
    first = found[0][0]
    for n, (load, at) in enumerate(found):
        if (
            load.buffer != first.buffer
            or at != _BYTE * n
            or difference(load.index, first.index) != n
        ):
            return None
    return first, len(found)


def _byte(e: ir.Expr, unit: Unit) -> tuple[ir.Load, int] | None:
    """A byte of an array, and the bit that it begins at."""
    at = 0
    if isinstance(e, ir.Binary) and e.op is ir.Op.SHL:
        at, e = int(const_value(e.b) or 0), e.a
    match e:
        case ir.Cast(value=ir.Load(type=t, mask=None) as load) if t == U8(1):
            held = unit.buffers[load.buffer]
            return None if held.memory is Memory.REGISTER or held.swizzle else (load, at)
        case _:
            return None


def loader(count: int, unit: Unit) -> str:
    """Defines (once) and names the function that loads so many bytes."""
    name = f"load_bytes_u32x{count}"
    parts = ["(uint32_t)p[0]", *(f"((uint32_t)p[{n}] << {_BYTE * n})" for n in range(1, count))]
    body = f"    return {' | '.join(parts)};\n"
    return unit.prelude.add(
        name, f"static inline uint32_t {name}(const uint8_t *p)\n{{\n{body}}}\n"
    )
