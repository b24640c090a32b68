"""Lanes that are a few bits of bytes each, as those of 4-bit integers are, in two or three operations.

    ((x >> s) + 8 & 15) - 8                      ->   x << 28 - s >> 28
    i32x8(W[b, b, b + 1, b + 1, ..]) >> 0, 4, 0, 4, .. & 15
                                                 ->   x8(i32(W[b .. b + 3])) >> 0, 4, 8, .. & 15

A signed field of constant place is shifted to the top and back. Where neighbouring lanes take fields of the
same few bytes, each has all of these as one word: that is loaded for all lanes at once, where to spread bytes
over lanes and widen them takes two instructions. Of 32 bits, whose lanes every machine shifts by amounts of
their own; after `legalize`, whose vectors are those of the machine.
"""

from __future__ import annotations

from functools import reduce

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, broadcast, cast, const, const_value, ramp, select
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import I32, U8, U32, Memory
from hbc.ir.lang.walk import map_children, nodes_of, rewrite_stmt
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.take import constants

BITS = 32
_BYTE = 8
_BYTES = BITS // _BYTE


@record
class _Field:
    """In each lane so many bits of `value`, from bit `at` on, and what their sign is."""

    value: ir.Expr
    at: tuple[int, ...]
    bits: int
    signed: bool


def bit_fields(kernel: Kernel) -> Kernel:
    """The kernel with such fields taken so."""
    registers = frozenset(
        n.buffer for n in nodes_of(kernel.body, ir.Allocate)
        if n.memory is Memory.REGISTER
    )  # fmt: skip

    def fields(e: ir.Expr) -> ir.Expr:
        found = _field(e)
        new = None if found is None else _taken(found, registers)
        return map_children(e if new is None else new, fields)

    return kernel.map_body(lambda body: rewrite_stmt(body, fields))


def _field(e: ir.Expr) -> _Field | None:
    """The field that a vector is; None if it is something else."""
    if e.type.lanes == 1 or e.type.element not in (I32, U32):
        return None
    half = 0
    signed = isinstance(e, ir.Binary) and e.op is ir.Op.SUB
    if isinstance(e, ir.Binary) and signed:  # ((x + half) & 2 half - 1) - half
        half, e = int(const_value(e.b) or 0), e.a
    if not isinstance(e, ir.Binary) or e.op is not ir.Op.AND:
        return None
    mask, value = int(const_value(e.b) or 0), e.a
    bits = mask.bit_length()
    if not 0 < bits < BITS or mask & (mask + 1) or (signed and 2 * half != mask + 1):
        return None
    if signed:
        if not isinstance(value, ir.Binary) or value.op is not ir.Op.ADD:
            return None
        if const_value(value.b) != half:
            return None
        value = value.a
    at: tuple[int, ...] = (0,) * e.type.lanes
    if isinstance(value, ir.Binary) and value.op is ir.Op.SHR:
        known = constant_lanes(value.b)
        if known is not None and all(0 <= n <= BITS - bits for n in known):
            value, at = value.a, known
    return _Field(value, at, bits, signed)


def _taken(f: _Field, registers: frozenset[str]) -> ir.Expr | None:
    """The same by shifts; None where that is no shorter."""
    word = _words(f, registers)
    value, at = (f.value, f.at) if word is None else word
    t = value.type
    if f.signed:
        up = tuple(BITS - f.bits - n for n in at)
        top = binary(ir.Op.SHL, cast(I32, value), constants(up, I32))
        return cast(t, binary(ir.Op.SHR, top, BITS - f.bits))
    if word is None:
        return None
    down = binary(ir.Op.SHR, value, constants(at, t.element))
    return binary(ir.Op.AND, down, (1 << f.bits) - 1)


def _words(f: _Field, registers: frozenset[str]) -> tuple[ir.Expr, tuple[int, ...]] | None:
    """Words of the bytes that the fields are in, one for all lanes or for each half, and where in them they
    are; None where lanes are of bytes of their own."""
    match f.value:
        case ir.Cast(value=ir.Load(type=t, mask=None) as load) if t.element == U8:
            found = lane_offsets(load.index)
        case _:
            return None
    if found is None or load.buffer in registers or max(f.at) + f.bits > _BYTE:
        return None
    base, offsets = found
    lanes = len(offsets)
    count = next((n for n in (1, 2) if lanes % n == 0 and _fit(offsets, lanes // n)), 0)
    if not count or 2 * len(set(offsets)) > lanes:
        return None
    each = lanes // count
    parts = [offsets[n : n + each] for n in range(0, lanes, each)]
    kind = f.value.type.element
    value, *second = (broadcast(cast(kind, _word(load, base, part)), lanes) for part in parts)
    if second:
        first = binary(ir.Op.LT, ramp(const(0, I32), 1, lanes), const(each, I32))
        value = select(first, value, second[0])
    at = tuple(
        f.at[n * each + i] + _BYTE * (o - part[0])
        for n, part in enumerate(parts)
        for i, o in enumerate(part)
    )
    return value, at


def _fit(offsets: tuple[int, ...], each: int) -> bool:
    """Whether pieces of so many lanes read all of a word's bytes, upwards."""
    for n in range(0, len(offsets), each):
        read = sorted(set(offsets[n : n + each]))
        if (
            offsets[n] != read[0]
            or read != list(range(read[0], read[-1] + 1))
            or len(read) > _BYTES
        ):
            return False
    return True


def _word(load: ir.Load, base: ir.Expr, offsets: tuple[int, ...]) -> ir.Expr:
    """The bytes of these lanes, the first lowest: compilers load them as one."""
    parts = [
        binary(ir.Op.SHL, cast(U32, ir.Load(load.buffer, add(base, o), U8(1))), _BYTE * n)
        for n, o in enumerate(sorted(set(offsets)))
    ]
    return reduce(lambda a, b: binary(ir.Op.OR, a, b), parts)
