"""RVV registers: C types, suffixes of intrinsics, constants, and the same bits seen otherwise.

A vector has a fixed number of lanes, whatever the processor's registers hold beyond the `bits` that are
asked of it (VLEN, at least): every intrinsic is told the lanes. They decide the ratio of element width
and register group, as if `bits` were all there is, so that masks of so many lanes have one type, and a
conversion to a wider element takes a larger group (RISC-V V 1.0, section 4.4):

    4 lanes on 128 bits: vint8mf4_t, vint16mf2_t, vint32m1_t, vint64m2_t, vbool32_t

Half floats are their bits, as in memory; vectors of bools in memory are bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from hbc.codegen.text.spelling import c_type, constant
from hbc.ir.lang.types import DType, Kind

_WIDEST = 64  # bits of an element; a ratio beyond it has no type
_BASES = {"f": "float", "i": "int", "u": "uint"}


def ratio(bits: int, lanes: int) -> int:
    """Element width by registers in the group, for vectors of so many lanes."""
    return min(_WIDEST, bits // (1 << (lanes - 1).bit_length()))


def group(bits: int, width: int, lanes: int) -> str:
    """The group of registers that holds lanes of so many bits: `m2`, `mf4`."""
    n = ratio(bits, lanes)
    return f"m{width // n}" if width >= n else f"mf{n // width}"


def sign(t: DType) -> str:
    """`f`, `i` or `u`: what its registers hold."""
    if t.is_float and t.bits >= 32:
        return "f"
    return "i" if t.kind is Kind.INT else "u"


def kind(bits: int, t: DType, lanes: int) -> str:
    """The suffix of a vector: `f32m1`."""
    return f"{sign(t)}{t.bits}{group(bits, t.bits, lanes)}"


def vector_type(bits: int, t: DType, lanes: int) -> str:
    """The C type of a vector."""
    return f"v{_BASES[sign(t)]}{t.bits}{group(bits, t.bits, lanes)}_t"


def mask_type(bits: int, lanes: int) -> str:
    return f"vbool{ratio(bits, lanes)}_t"


def broadcast(bits: int, t: DType, lanes: int, text: str) -> str:
    """All lanes one C value."""
    stem = "vfmv_v_f" if sign(t) == "f" else "vmv_v_x"
    return f"__riscv_{stem}_{kind(bits, t, lanes)}({text}, {lanes})"


def zero(bits: int, t: DType, lanes: int) -> str:
    return broadcast(bits, t, lanes, "0")


def lanes_of(bits: int, t: DType, lanes: int, texts: Sequence[str]) -> str:
    """Lane by lane, the first first."""
    return fill(bits, t, lanes, f"(const {c_type(t)}[]){{{', '.join(texts)}}}")


def spill(bits: int, t: DType, lanes: int, array: str, value: str) -> str:
    """Stores the lanes into an array."""
    return f"__riscv_vse{t.bits}_v_{kind(bits, t, lanes)}({array}, {value}, {lanes})"


def fill(bits: int, t: DType, lanes: int, array: str) -> str:
    """Loads the lanes from an array."""
    return f"__riscv_vle{t.bits}_v_{kind(bits, t, lanes)}({array}, {lanes})"


def reinterpret(bits: int, text: str, s: DType, t: DType, lanes: int) -> str:
    """The same bits as elements of another type."""
    a, b = kind(bits, s, lanes), kind(bits, t, lanes)
    return text if a == b else f"__riscv_vreinterpret_v_{a}_{b}({text})"


@cache
def words(bits: int, t: DType, lanes: int) -> Mapping[str, object]:
    """What templates (`ops.py`) may name."""
    s, held = sign(t), group(bits, t.bits, lanes)
    low, high = t.limits if t.is_int else (0, 0)
    return {
        "n": lanes, "w": t.bits, "k": f"{s}{t.bits}{held}", "ki": f"i{t.bits}{held}",
        "ku": f"u{t.bits}{held}", "one": f"{s}{t.bits}m1", "t": f"{s}{t.bits}",
        "b": ratio(bits, lanes), "mask": mask_type(bits, lanes), "v": vector_type(bits, t, lanes),
        "vi": f"vint{t.bits}{held}_t",
        "u": "u" if s == "u" else "", "s": {"f": "f", "i": "s", "u": "s"}[s],
        "bytes": f"u8{group(bits, 8, lanes)}", "whole": {32: "0x1p23f", 64: "0x1p52"}.get(t.bits, ""),
        "least": constant(low, t) if t.is_int else "", "most": constant(high, t) if t.is_int else "",
    }  # fmt: skip
