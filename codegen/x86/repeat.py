"""A group of lanes repeated over a vector: an operand of dot products that is the same in every lane."""

from __future__ import annotations

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.load import address
from hbc.codegen.x86.types import (
    cast_register,
    register_bits,
    set1,
    vector_type,
    width_prefix,
)  # fmt: skip
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import BOOL, I8, U8, DType, Memory
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import integer

_REPEATER = """\
static inline {v} {name}(const {t} *p)
{{
    {word} bits;
    memcpy(&bits, p, sizeof bits);
    return {value};
}}
"""
# clang (14 at least) makes vbroadcastss of it where floats are wanted, which occupies a multiplier
# (Zen 4: one in a cycle, where vpbroadcastd from memory is two, and free): conv1d in bf16 takes 54 ms
# with it, and 40 with the integer form.
_FLOAT_REPEATER = """\
static inline {v} {name}(const {t} *p)
{{
#if defined(__clang__) && !defined(SOFT_VECTORS)
    {whole} v;
    __asm__("{mnemonic} %1, %0" : "=v"(v) : "m"(*(const {t}(*)[{group}])p));
    return {result};
#else
    {word} bits;
    memcpy(&bits, p, sizeof bits);
    return {value};
#endif
}}
"""
WORDS = {16: "uint16_t", 32: "int32_t", 64: "int64_t"}  # what holds a group of so many bits


def repeated(e: ir.Broadcast, unit: Unit) -> str:
    """`e.lanes` copies of a vector of several lanes."""
    t, group, lanes = e.type.element, e.value.type.lanes, e.type.lanes
    text = repeated_word(e, unit)
    return text or _copies(unit.printers.vector(e.value, unit), t, group * t.bits, lanes)


def repeated_word(e: ir.Broadcast, unit: Unit) -> str | None:
    """The same where the lanes lie in memory and are a word together; of booleans their bytes, as loads
    have them."""
    t, group, lanes = e.type.element, e.value.type.lanes, e.type.lanes
    at = _start(e.value, unit)
    if at is None or group * t.bits not in WORDS:
        return None
    return f"{_repeater(t, group, lanes, unit)}({address(*at, unit)})"


def _start(e: ir.Expr, unit: Unit) -> tuple[str, ir.Expr] | None:
    """Where in memory the adjacent elements lie that `e` loads."""
    if not isinstance(e, ir.Load) or e.mask is not None:
        return None
    known = lane_offsets(e.index)
    if known is None or unit.buffers[e.buffer].memory is Memory.REGISTER:
        return None
    base, offsets = known
    if offsets != tuple(range(offsets[0], offsets[0] + len(offsets))):
        return None
    return e.buffer, add(base, offsets[0])


def _repeater(t: DType, group: int, lanes: int, unit: Unit) -> str:
    """The function that loads a group into all of a vector: compilers make one instruction of it."""
    word, size = WORDS[group * t.bits], integer(group * t.bits)
    held = U8 if t == BOOL else t
    name, v = f"repeat_{t}x{group}x{lanes // group}", vector_type(held, lanes)
    value = set1(size, lanes // group, "bits" if size.bits > 16 else "(short)bits")
    count = lanes * t.bits // size.bits
    text = (_FLOAT_REPEATER if t.is_float else _REPEATER).format(
        v=v, name=name, t=c_type(t), word=word, whole=vector_type(size, count), group=group,
        mnemonic=f"vpbroadcast{'wdq'[size.bits // 32]}", value=_as(value, held, lanes),
        result=_as("v", held, lanes),
    )  # fmt: skip
    return unit.prelude.add(name, text)


def _as(text: str, t: DType, lanes: int) -> str:
    """A vector of words seen as one of `t`."""
    return cast_register(text, I8, t, lanes * t.bits // 8)


def _copies(text: str, t: DType, bits: int, lanes: int) -> str:
    """Copies of the low bits of a register."""
    to = register_bits(t, lanes)
    if t == BOOL or bits not in (8, 16, 32, 64, 128, 256):
        raise InternalError(f"codegen: copies of {bits} bits of {t}")
    low = cast_register(text, t, I8, max(128, bits) // t.bits)
    if bits == to:
        return text
    if bits < 128:
        name = f"{width_prefix(to)}_broadcast{'bwdq'[(bits // 8).bit_length() - 1]}_epi{bits}"
    else:
        name = {
            (128, 256): "_mm256_broadcastsi128_si256", (128, 512): "_mm512_broadcast_i32x4",
            (256, 512): "_mm512_broadcast_i64x4",
        }[bits, to]  # fmt: skip
    return _as(f"{name}({low})", t, lanes)
