"""NEON registers: C types, suffixes of intrinsics, constants, and the same bits seen otherwise.

A vector of at most 64 bits lies in the low lanes of a 64-bit register, a wider one in 128 bits.
Half floats are their bits, as in memory; vectors of bools in memory are bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from hbc.codegen.text.unit import Registers
from hbc.ir.lang.types import DType, Kind


def register_bits(t: DType, lanes: int) -> int:
    """64 or 128."""
    return 64 if t.bits * lanes <= 64 else 128


def register_lanes(t: DType, lanes: int) -> int:
    """Lanes of the whole register that holds the vector."""
    return register_bits(t, lanes) // t.bits


def kind(t: DType) -> str:
    """The suffix of an element type: `s8`, `u16`, `f32`."""
    if t.is_float and t.bits >= 32:
        return t.name
    return f"{'s' if t.kind is Kind.INT else 'u'}{t.bits}"


def mask_kind(width: int) -> str:
    """The suffix of comparison results with lanes of so many bits."""
    return f"u{width}"


def q(t: DType, lanes: int) -> str:
    """What follows the operation's name: `q` for 128 bits."""
    return "q" if register_bits(t, lanes) == 128 else ""


def name(stem: str, t: DType, lanes: int) -> str:
    """The intrinsic of a table's stem: `vaddq_f32` for `vadd`."""
    return f"{stem}{q(t, lanes)}_{kind(t)}"


def type_of_kind(suffix: str, bits: int) -> str:
    """`float32x4_t` for `f32` and 128 bits."""
    width = int(suffix[1:])
    base = {"s": "int", "u": "uint", "f": "float"}[suffix[0]]
    return f"{base}{width}x{bits // width}_t"


def vector_type(t: DType, lanes: int) -> str:
    """The C type of a vector, or of several in a structure; a mask's is that of `mask_type`."""
    one, several = type_of_kind(kind(t), register_bits(t, lanes)), lanes * t.bits // 128
    return one if several < 2 else one.replace("_t", f"x{several}_t")


def mask_type(width: int, lanes: int) -> str:
    """The C type of a mask with lanes of `width` bits, all ones or zero."""
    return type_of_kind(mask_kind(width), 64 if width * lanes <= 64 else 128)


def zero(t: DType, lanes: int) -> str:
    return broadcast(t, lanes, "0")


def broadcast(t: DType, lanes: int, text: str) -> str:
    """All lanes alike."""
    return f"{name('vdup', t, lanes).replace('_', '_n_', 1)}({text})"


def lanes_of(t: DType, lanes: int, texts: Sequence[str]) -> str:
    """Lane by lane, the first first; lanes that the vector does not have are 0."""
    whole = [*texts, *["0"] * (register_lanes(t, lanes) - lanes)]
    return literal(vector_type(t, lanes), whole)


def literal(c_type: str, texts: Sequence[str]) -> str:
    """A compound literal (of vectors: little endian). In parentheses, because clang's intrinsics are
    macros."""
    return f"(({c_type}){{{', '.join(texts)}}})"


def reinterpret(text: str, source: str, to: str, bits: int) -> str:
    """A register with the suffix `source` seen with the suffix `to`."""
    if source == to:
        return text
    seen = _SEEN.fullmatch(text)
    if seen and _is_one(seen[2]):
        return reinterpret(seen[2], seen[1], to, bits)
    return f"vreinterpret{'q' if bits == 128 else ''}_{to}_{source}({text})"


_SEEN = re.compile(r"vreinterpretq?_\w+?_(\w+)\((.*)\)", re.DOTALL)


def _is_one(text: str) -> bool:
    """Whether no parenthesis is closed that was not opened: a single argument."""
    depth = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if depth < 0:
            return False
    return True


def copies(text: str, t: DType, group: int, lanes: int) -> str:
    """A vector of `group` lanes (16, 32 or 64 bits), again and again."""
    size, bits = group * t.bits, register_bits(t, lanes)
    if group == lanes:
        return text
    word = reinterpret(text, kind(t), f"u{size}", 64)
    repeated = f"vdup{'q' if bits == 128 else ''}_lane_u{size}({word}, 0)"
    return reinterpret(repeated, f"u{size}", kind(t), bits)


@cache
def words(t: DType, lanes: int) -> Mapping[str, object]:
    """What templates (`ops.py`) may name."""
    held = mask_type(t.bits, lanes)
    return {"q": q(t, lanes), "k": kind(t), "b": t.bits, "type": held}


def inverted(text: str, width: int, lanes: int) -> str:
    """Every bit of unsigned lanes flipped. There is no form for 64-bit ones."""
    if width < 64:
        wide = "q" if width * lanes > 64 else ""
        return f"vmvn{wide}_u{width}({text})"
    return f"vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64({text})))"


def spill(t: DType, lanes: int, array: str, value: str) -> str:
    """Stores the whole register into an array of `register_lanes`."""
    return f"{name('vst1', t, lanes)}({array}, {value})"


def fill(t: DType, lanes: int, array: str) -> str:
    """Loads the whole register from an array of `register_lanes`."""
    return f"{name('vld1', t, lanes)}({array})"


NEON_REGISTERS = Registers(vector_type, zero, register_lanes, spill, fill)
