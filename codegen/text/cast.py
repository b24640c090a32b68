"""Scalar conversions as C: casts where C converts as we do, functions of the prelude elsewhere."""

from __future__ import annotations

from hbc.codegen.text.ranges import storage_bits
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import EQUALITY, UNARY, Text, Unit
from hbc.ir.lang.types import BF16, BOOL, F32, F64, I32, I64, U64, DType


def cast_text(t: DType, s: DType, text: Text, unit: Unit) -> Text:
    """`text` of type s as a t."""
    if t == s:
        return text
    if t == BOOL:
        if s.is_narrow:
            text = Text(f"{unit.prelude.use(f'f32_from_{s}')}({text})")
        return Text(f"{text.at(EQUALITY + 1)} != 0", EQUALITY)
    if s.is_narrow:
        wide = Text(f"{unit.prelude.use(f'f32_from_{s}')}({text})")
        return wide if t == F32 else _convert(t, F32, wide, unit)
    return _convert(t, s, text, unit, implicit=_promotes(t, s))


def _promotes(t: DType, s: DType) -> bool:
    """C's integer promotion does it by itself."""
    return t == I32 and (s == BOOL or (s.is_int and storage_bits(s) <= 32 and s.bits < 32))


def _convert(t: DType, s: DType, text: Text, unit: Unit, *, implicit: bool = False) -> Text:
    """`text` of type s, not a half type, as a t."""
    if t.is_narrow:
        if t == BF16 and s in (I64, U64):
            return Text(f"{unit.prelude.use(f'bf16_from_{s}')}({text})")
        if s == F64 or (t == BF16 and s.is_int and s.bits == 32):
            return Text(f"{unit.prelude.use(f'{t}_from_f64')}({text})")
        single = text if s == F32 else Text(f"(float){text.at(UNARY)}", UNARY)
        return Text(f"{unit.prelude.use(f'{t}_from_f32')}({single})")
    if t.is_int and s.is_float:
        return Text(f"{unit.prelude.use(f'{t}_from_{s}')}({text})")
    if implicit:
        return text
    return Text(f"({unit.index if t == I64 else c_type(t)}){text.at(UNARY)}", UNARY)


def same_bits(t: DType, s: DType, text: Text, unit: Unit) -> Text:
    """The bits of `text`, of type s, as a t."""
    if c_type(t) == c_type(s):
        return text
    if s.bits <= 16 or (t.is_int and s.is_int):
        return Text(f"({c_type(t)}){text.at(UNARY)}", UNARY)
    return Text(f"{unit.prelude.use(f'bits_{t}_{s}')}({text})")
