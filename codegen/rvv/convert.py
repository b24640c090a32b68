"""Casts between RVV vectors: conversions that keep, double or halve the width of lanes, in chains.

VFCVT saturates and gives the greatest integer for NaN, where a cast means 0. Half floats have no
instruction in RVV 1.0 (Zvfh is an extension): f16 goes lane by lane, bf16 by shifts.
"""

from __future__ import annotations

from hbc.codegen.rvv.types import group, kind, mask_type, ratio, sign, vector_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.cast import convert
from hbc.codegen.vector.machine import Cast
from hbc.ir.lang.types import DTYPES, F32, DType


def _suffix(bits: int, letter: str, width: int, lanes: int) -> str:
    return f"{letter}{width}{group(bits, width, lanes)}"


def _integers(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """Widened as their sign says, or their low bits."""
    bits, letter, width = unit.target.vector_bits, sign(s), s.bits
    if width < t.bits:
        extend, times = "sext" if letter == "i" else "zext", t.bits // width
        text = (
            f"__riscv_v{extend}_vf{times}_{_suffix(bits, letter, t.bits, lanes)}({text}, {lanes})"
        )
    while width > t.bits:
        width //= 2
        text = f"__riscv_vncvt_x_x_w_{_suffix(bits, letter, width, lanes)}({text}, {lanes})"
    a, b = _suffix(bits, letter, t.bits, lanes), kind(bits, t, lanes)
    return text if a == b else f"__riscv_vreinterpret_v_{a}_{b}({text})"


def saturate(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """Integers narrowed with saturation: VNCLIP, or VNCLIPU of what is not negative."""
    bits = unit.target.vector_bits
    letter, width = sign(s), s.bits
    if letter == "i" and sign(t) == "u":
        a, letter = _suffix(bits, "i", width, lanes), "u"
        text = f"__riscv_vmax_vx_{a}({text}, 0, {lanes})"
        text = f"__riscv_vreinterpret_v_{a}_{_suffix(bits, 'u', width, lanes)}({text})"
    while width > t.bits:
        width //= 2
        clip = (
            f"__riscv_vnclip{'u' if letter == 'u' else ''}_wx_{_suffix(bits, letter, width, lanes)}"
        )
        text = f"{clip}({text}, 0, __RISCV_VXRM_RDN, {lanes})"
    return text


_TRUNCATED = """\
/* Truncated and saturated; 0 for NaN. */
static inline {v} {name}({f} x)
{{
    const {v} near = __riscv_{cvt}_{k}(x, {lanes});
    return __riscv_vmerge_vxm_{k}(near, 0, __riscv_vmfne_vv_{kf}_b{b}(x, x, {lanes}), {lanes});
}}
"""
_TRUNCATE = {-1: "vfncvt_rtz_x{u}_f_w", 0: "vfcvt_rtz_x{u}_f_v", 1: "vfwcvt_rtz_x{u}_f_v"}
"""By how often the width doubles."""


def _to_integer(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    bits, near = unit.target.vector_bits, DTYPES[f"{sign(t)}{max(t.bits, s.bits // 2)}"]
    doubles = near.bits.bit_length() - s.bits.bit_length()
    name = f"{near}_from_{s}x{lanes}"
    cvt = _TRUNCATE[doubles].format(u="u" if sign(t) == "u" else "")
    function = _TRUNCATED.format(
        v=vector_type(bits, near, lanes), name=name, f=vector_type(bits, s, lanes), cvt=cvt,
        k=kind(bits, near, lanes), kf=kind(bits, s, lanes), b=ratio(bits, lanes), lanes=lanes,
    )  # fmt: skip
    return saturate(f"{unit.prelude.add(name, function)}({text})", near, t, lanes, unit)


def _by(stem: str) -> Cast:
    """One instruction, named by what comes of it."""

    def printed(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
        return f"__riscv_{stem}_{kind(unit.target.vector_bits, t, lanes)}({text}, {lanes})"

    return printed


def _from_bf16(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    bits = unit.target.vector_bits
    wide = _suffix(bits, "u", 32, lanes)
    moved = f"__riscv_vsll_vx_{wide}(__riscv_vzext_vf2_{wide}({text}, {lanes}), 16, {lanes})"
    return f"__riscv_vreinterpret_v_{wide}_{kind(bits, F32, lanes)}({moved})"


_TO_BF16 = """\
/* Rounded to nearest, ties to even. */
static inline {half} {name}({f} x)
{{
    const {v} bits = __riscv_vreinterpret_v_{kf}_{k}(x);
    const {v} odd = __riscv_vand_vx_{k}(__riscv_vsrl_vx_{k}(bits, 16, {n}), 1, {n});
    const {v} near = __riscv_vadd_vv_{k}(bits, __riscv_vadd_vx_{k}(odd, 0x7fff, {n}), {n});
    const {v} quiet = __riscv_vor_vx_{k}(bits, 0x400000, {n});  // what NaN becomes
    const {mask} nan = __riscv_vmfne_vv_{kf}_b{b}(x, x, {n});
    return __riscv_vnsrl_wx_{kh}(__riscv_vmerge_vvm_{k}(near, quiet, nan, {n}), 16, {n});
}}
"""


def _to_bf16(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    bits, name = unit.target.vector_bits, f"bf16_from_f32x{lanes}"
    plain = DTYPES["u32"]
    function = _TO_BF16.format(
        half=vector_type(bits, t, lanes), name=name, f=vector_type(bits, F32, lanes), n=lanes,
        v=vector_type(bits, plain, lanes), k=kind(bits, plain, lanes), kf=kind(bits, F32, lanes),
        kh=kind(bits, t, lanes), b=ratio(bits, lanes), mask=mask_type(bits, lanes),
    )  # fmt: skip
    return f"{unit.prelude.add(name, function)}({text})"


def _f64_to_bf16(text: str, s: DType, t: DType, lanes: int, unit: Unit) -> str:
    """By way of an f32 that is rounded to odd."""
    odd = f"__riscv_vfncvt_rod_f_f_w_{kind(unit.target.vector_bits, F32, lanes)}({text}, {lanes})"
    return convert(odd, F32, t, lanes, unit)


_INTEGERS = [t for t in DTYPES.values() if t.is_int]
CASTS: dict[tuple[str, str], Cast] = {
    **{(s.name, t.name): _integers for s in _INTEGERS for t in _INTEGERS if s.bits != t.bits},
    **{(s, t.name): _to_integer for s in ("f32", "f64") for t in _INTEGERS},
    ("i32", "f32"): _by("vfcvt_f_x_v"), ("u32", "f32"): _by("vfcvt_f_xu_v"),
    ("i64", "f64"): _by("vfcvt_f_x_v"), ("i64", "f32"): _by("vfncvt_f_x_w"),
    ("u64", "f64"): _by("vfcvt_f_xu_v"), ("u64", "f32"): _by("vfncvt_f_xu_w"),
    ("i16", "f32"): _by("vfwcvt_f_x_v"), ("u16", "f32"): _by("vfwcvt_f_xu_v"),
    ("i32", "f64"): _by("vfwcvt_f_x_v"), ("u32", "f64"): _by("vfwcvt_f_xu_v"),
    ("f32", "f64"): _by("vfwcvt_f_f_v"), ("f64", "f32"): _by("vfncvt_f_f_w"),
    ("bf16", "f32"): _from_bf16, ("f32", "bf16"): _to_bf16, ("f64", "bf16"): _f64_to_bf16,
}  # fmt: skip
# Casts in several steps, of which none or only the last rounds.
VIA: dict[tuple[str, str], str] = {
    ("i8", "f32"): "i16", ("u8", "f32"): "u16",
    **{(a, "f64"): "i32" for a in ("i8", "i16")}, **{(a, "f64"): "u32" for a in ("u8", "u16")},
    **{(a, "bf16"): "f32" for a in ("i8", "u8", "i16", "u16")}, ("bf16", "f64"): "f32",
}  # fmt: skip
