"""Operations on NEON registers as templates, the same for 64 and 128 bits. All is in base Armv8-A (Arm C
Language Extensions, IHI 0073).

Their words, of an element type and lanes (see `words` in `types.py`):

    {q} {k}   `q` for 128 bits; the suffix of the type: f32, s8, u16
    {b}       bits of an element; masks have the suffix u{b}
    {type}    the C type of masks with lanes as wide
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.neon.types import (
    inverted,
    kind,
    mask_kind,
    name,
    register_bits,
    reinterpret,
    vector_type,
)  # fmt: skip
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import (
    FLOATS,
    INTEGERS,
    MASKS,
    NARROW,
    NUMBERS,
    SMALL,
    Template,
    rows,
)
from hbc.ir.lang.types import DType
from hbc.ir.vectors.take import integer

_SIGNED = f"{FLOATS} i8 i16 i32 i64"


def _not(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    held, bits = mask_kind(t.bits), register_bits(t, lanes)
    flipped = inverted(reinterpret(operands[0], kind(t), held, bits), t.bits, lanes)
    return reinterpret(flipped, held, kind(t), bits)


def _not_mask(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    return inverted(operands[0], t.bits, lanes)


def _shift_left(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    """Lane by lane there is only a shift to the left, by signed amounts."""
    held = integer(t.bits)
    amount = reinterpret(operands[1], kind(t), kind(held), register_bits(t, lanes))
    return f"{name('vshl', t, lanes)}({operands[0]}, {amount})"


def _shift_right(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    held = integer(t.bits)
    amount = reinterpret(operands[1], kind(t), kind(held), register_bits(t, lanes))
    return f"{name('vshl', t, lanes)}({operands[0]}, {name('vneg', held, lanes)}({amount}))"


def _mask_of_signed(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    return reinterpret(operands[0], kind(t), mask_kind(t.bits), register_bits(t, lanes))


def _high_halves(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    return _of_products(
        "mulhi", f"vshrn_n_{kind(t)[0]}{2 * t.bits}({{0}}, {t.bits})", operands, t, lanes, unit
    )


def _rounded_product(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    return _of_products("mulround", "vrshrn_n_s32({0}, 15)", operands, t, lanes, unit)


def _of_products(
    op: str, narrowed: str, operands: Sequence[str], t: DType, lanes: int, unit: Unit
) -> str:
    """A C function that multiplies to twice the width, and narrows the products."""
    k, whole = kind(t), register_bits(t, lanes) == 128
    v, function = vector_type(t, lanes), f"{op}_{t}x{lanes}"
    low = narrowed.format(f"vmull_{k}(vget_low_{k}(a), vget_low_{k}(b))")
    high = narrowed.format(f"vmull_high_{k}(a, b)")
    result = f"vcombine_{k}({low}, {high})" if whole else narrowed.format(f"vmull_{k}(a, b)")
    text = f"static inline {v} {function}({v} a, {v} b)\n{{\n    return {result};\n}}\n"
    return f"{unit.prelude.add(function, text)}({', '.join(operands)})"


_NOT_64 = "vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64({0})))"
_ONES = {8: "0xff", 16: "0xffff", 32: "0xffffffff", 64: "(uint64_t)-1"}
ROWS: dict[tuple[str, str], Template] = rows(
    ("add sub", NUMBERS, "v{op}{q}_{k}({0}, {1})"),
    ("mul", f"{FLOATS} {SMALL}", "vmul{q}_{k}({0}, {1})"),
    ("div", FLOATS, "vdiv{q}_{k}({0}, {1})"),
    # FMIN and FMAX give NaN when an operand is one, as `min` and `max` do.
    ("min max", f"{FLOATS} {SMALL}", "v{op}{q}_{k}({0}, {1})"),
    ("avg", SMALL, "vhadd{q}_{k}({0}, {1})"),
    ("avgup", SMALL, "vrhadd{q}_{k}({0}, {1})"),
    ("absd", SMALL, "vabd{q}_{k}({0}, {1})"),
    ("addsat", SMALL, "vqadd{q}_{k}({0}, {1})"),
    ("subsat", SMALL, "vqsub{q}_{k}({0}, {1})"),
    ("mulhi", SMALL, _high_halves),
    ("mulround", "i16", _rounded_product),
    ("and", INTEGERS, "vand{q}_{k}({0}, {1})"),
    ("or", INTEGERS, "vorr{q}_{k}({0}, {1})"),
    ("xor", INTEGERS, "veor{q}_{k}({0}, {1})"),
    ("fmadd", FLOATS, "vfma{q}_{k}({2}, {0}, {1})"),
    # There is no intrinsic for a*b-c: negating c is exact.
    ("fmsub", FLOATS, "vfma{q}_{k}(vneg{q}_{k}({2}), {0}, {1})"),
    ("fnmadd", FLOATS, "vfms{q}_{k}({2}, {0}, {1})"),
    ("shl_by", INTEGERS, "vshl{q}_n_{k}({0}, {1})"),
    ("shr_by", INTEGERS, "vshr{q}_n_{k}({0}, {1})"),
    ("shl", INTEGERS, _shift_left),
    ("shr", INTEGERS, _shift_right),
    ("neg abs", _SIGNED, "v{op}{q}_{k}({0})"),
    ("neg", "u8 u16 u32 u64", "vsub{q}_{k}(vdup{q}_n_{k}(0), {0})"),
    ("not", INTEGERS, _not),
    ("sqrt", FLOATS, "vsqrt{q}_{k}({0})"),
    ("floor", FLOATS, "vrndm{q}_{k}({0})"),
    ("ceil", FLOATS, "vrndp{q}_{k}({0})"),
    ("round", FLOATS, "vrndn{q}_{k}({0})"),
    ("rsqrt", "f32", "vdiv{q}_{k}(vdup{q}_n_{k}(1.0f), vsqrt{q}_{k}({0}))"),
    ("rsqrt", "f64", "vdiv{q}_{k}(vdup{q}_n_{k}(1.0), vsqrt{q}_{k}({0}))"),
    ("reduce_add", NUMBERS, "vaddv{q}_{k}({0})"),
    ("reduce_min", f"{FLOATS} {SMALL}", "vminv{q}_{k}({0})"),
    ("reduce_max", f"{FLOATS} {SMALL}", "vmaxv{q}_{k}({0})"),
    ("select", f"{NUMBERS} {NARROW} bool", "vbsl{q}_{k}({0}, {1}, {2})"),
    # The comparisons with NaN are false; != is what == is not.
    ("lt le gt ge", NUMBERS, "vc{op}{q}_{k}({0}, {1})"),
    ("eq", NUMBERS, "vceq{q}_{k}({0}, {1})"),
    ("ne", f"f32 {SMALL}", "vmvn{q}_u{b}(vceq{q}_{k}({0}, {1}))"),
    ("ne", "f64 i64 u64", _NOT_64.format("vceq{q}_{k}({0}, {1})")),
    # Masks: unsigned lanes that are all ones or zero.
    ("type", MASKS, "{type}"),
    ("element", MASKS, "uint{b}_t"),
    ("spill", MASKS, "vst1{q}_u{b}({0}, {1})"),
    ("lanes", MASKS, _mask_of_signed),
    *(("true", f"mask{b}", f"vdup{{q}}_n_u{b}({ones})") for b, ones in _ONES.items()),
    ("false", MASKS, "vdup{q}_n_u{b}(0)"),
    ("alike", MASKS, "vdup{q}_n_u{b}({0})"),
    ("not", MASKS, _not_mask),
    ("select", MASKS, "vbsl{q}_u{b}({0}, {1}, {2})"),
    ("and min mul", MASKS, "vand{q}_u{b}({0}, {1})"),
    ("or max add", MASKS, "vorr{q}_u{b}({0}, {1})"),
    ("xor ne", MASKS, "veor{q}_u{b}({0}, {1})"),
    ("eq", MASKS, "vceq{q}_u{b}({0}, {1})"),
    # These invert the second.
    ("lt", MASKS, "vbic{q}_u{b}({1}, {0})"),
    ("gt", MASKS, "vbic{q}_u{b}({0}, {1})"),
    ("ge", MASKS, "vorn{q}_u{b}({0}, {1})"),
    ("le", MASKS, "vorn{q}_u{b}({1}, {0})"),
    ("test", "mask8", "vcgt{q}_u8({0}, vdup{q}_n_u8(0))"),
    ("bytes", "mask", "vand{q}_u8({0}, vdup{q}_n_u8(1))"),
    ("any", "mask", "(vmaxv{q}_u{b}({0}) != 0)"),
    ("all", "mask", "(vminv{q}_u{b}({0}) != 0)"),
    ("odd", "mask", "((vaddv{q}_u{b}({0}) & 1) != 0)"),
)


def reduced_width(lanes: int) -> int:
    """So wide that a mask of the lanes fills its register."""
    return max(8, 64 // lanes)
