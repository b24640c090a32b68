"""Vectors that are loaded once for several operations, and stay in a register between them."""

from __future__ import annotations

import re
from typing import Final

from hbc.codegen.text.unit import Unit
from hbc.codegen.x86.types import prefix, register_bits, vector_type
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DType, Memory

# gcc (12 at least) makes the load an operand of every instruction that can read memory, rather than
# keep its value for the second one. A load that crosses a cache line costs two, and convolutions
# load at every offset: with 2 taps sharing their loads, conv1d runs at 64 GFLOP/s so, and held at 102.
_HELD = "`v`, in a register: gcc would load it again for each operation, or take it into one."

# gcc 12 makes one instruction of taking a part out of a wider register and of storing it under a mask:
# VEXTRACTI32X8 and its like, of exception type E6NF (Intel SDM, vol. 2), which fault on lanes that the mask
# leaves out. What an intrinsic of the narrow register makes is no such part, nor what
# conversions make.
_SEPARATE = (
    "`v`, in a register of its own: gcc makes one instruction of cutting it out of a wider one and\n"
    "   storing it under a mask, and that one faults where the mask leaves memory out."
)
_CONVERTED: Final = re.compile(r"_mm(256|512)_cvt(?!si)")

_FUNCTION = """\
/* {why} */
static inline {v} {name}({v} v)
{{
#if defined(__GNUC__) && !defined(__clang__) && !defined(SOFT_VECTORS)
    __asm__("" : "+v"(v));
#endif
    return v;
}}
"""


def held(text: str, value: ir.Expr, unit: Unit) -> str:
    """The C text of a value that is about to be named; a load from memory is held."""
    t, lanes = value.type.element, value.type.lanes
    if not (isinstance(value, ir.Load) and _fills_register(t, lanes)):
        return text
    if unit.buffers[value.buffer].memory is Memory.REGISTER:
        return text
    return _hold(text, t, lanes, unit)


def held_if_widened(text: str, value: ir.Expr, unit: Unit) -> str:
    """The C text of a value that is chosen by a mask. gcc 12 makes one instruction of a load of a few
    bytes, their widening and the mask, and then cannot compile it: "unable to generate reloads"."""
    t, lanes = value.type.element, value.type.lanes
    match value:
        case ir.Cast(value=ir.Load(type=narrow)) if narrow.element.bits * lanes < 128:
            return _hold(text, t, lanes, unit)
        case _:
            return text


def separate(text: str, t: DType, lanes: int, unit: Unit) -> str:
    """The C text of a value that AVX-512 stores under a mask: never part of a wider register."""
    narrow = t.bits in (32, 64) and register_bits(t, lanes) < 512
    own = re.match(rf"{prefix(t, lanes)}_(?!cast|extract)", text)
    if not narrow or own or _CONVERTED.match(text):
        return text
    return _function("separate", _SEPARATE, text, t, lanes, unit)


def _hold(text: str, t: DType, lanes: int, unit: Unit) -> str:
    return _function("hold", _HELD, text, t, lanes, unit)


def _function(word: str, why: str, text: str, t: DType, lanes: int, unit: Unit) -> str:
    name = f"{word}_{t}x{lanes}"
    body = _FUNCTION.format(why=why, v=vector_type(t, lanes), name=name)
    return f"{unit.prelude.add(name, body)}({text})"


def _fills_register(t: DType, lanes: int) -> bool:
    return t != BOOL and t.bits * lanes == register_bits(t, lanes)
