"""Which operation is one instruction: tables, the same for 128, 256 and 512 bits.

`level` is the least `vector_bits` of the targets that have the instruction: 256 for AVX2, 512 for
AVX-512 F/BW/DQ/VL (which then has it at every width).
"""

from __future__ import annotations

from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DTYPES, DType


@record
class Instruction:
    """`_mm512_<stem>_<suffix>`; `signed`: unsigned elements have the suffix epu, not epi."""

    stem: str
    level: int = 256
    signed: bool = False


_FLOATS, _SMALL = "f32 f64", "i8 u8 i16 u16 i32 u32"
_ROWS: tuple[tuple[ir.Op, str, Instruction], ...] = (
    (ir.Op.ADD, f"{_FLOATS} {_SMALL} i64", Instruction("add")),
    (ir.Op.SUB, f"{_FLOATS} {_SMALL} i64", Instruction("sub")),
    (ir.Op.MUL, _FLOATS, Instruction("mul")),
    (ir.Op.MUL, "i16 u16 i32 u32", Instruction("mullo")),
    (ir.Op.MUL, "i64", Instruction("mullo", 512)),
    (ir.Op.DIV, _FLOATS, Instruction("div")),
    (ir.Op.MIN, _SMALL, Instruction("min", signed=True)),
    (ir.Op.MIN, "i64", Instruction("min", 512)),
    (ir.Op.MAX, _SMALL, Instruction("max", signed=True)),
    (ir.Op.MAX, "i64", Instruction("max", 512)),
)
BINARY: dict[tuple[ir.Op, DType], Instruction] = {
    (op, DTYPES[name]): row for op, names, row in _ROWS for name in names.split()
}

BITWISE = {ir.Op.AND: "and", ir.Op.OR: "or", ir.Op.XOR: "xor"}

# Shifts by a constant, and lane by lane (the amount is already below the width).
SHIFT_CONSTANT: dict[tuple[ir.Op, str], Instruction] = {
    (ir.Op.SHL, "i16 u16 i32 u32 i64"): Instruction("slli"),
    (ir.Op.SHR, "u16 u32"): Instruction("srli"),
    (ir.Op.SHR, "i16 i32"): Instruction("srai"),
    (ir.Op.SHR, "i64"): Instruction("srai", 512),
}
SHIFT_LANES: dict[tuple[ir.Op, str], Instruction] = {
    (ir.Op.SHL, "i32 u32 i64"): Instruction("sllv"),
    (ir.Op.SHL, "i16 u16"): Instruction("sllv", 512),
    (ir.Op.SHR, "u32"): Instruction("srlv"),
    (ir.Op.SHR, "u16"): Instruction("srlv", 512),
    (ir.Op.SHR, "i32"): Instruction("srav"),
    (ir.Op.SHR, "i16 i64"): Instruction("srav", 512),
}


def shift(table: dict[tuple[ir.Op, str], Instruction], op: ir.Op, t: DType) -> Instruction | None:
    """The row for an operator and element type."""
    rows = (row for (o, names), row in table.items() if o is op and t.name in names.split())
    return next(rows, None)


# cmp predicates: ordered but for !=, quiet.
FLOAT_COMPARE = {
    ir.Op.LT: "_CMP_LT_OQ", ir.Op.LE: "_CMP_LE_OQ", ir.Op.GT: "_CMP_GT_OQ", ir.Op.GE: "_CMP_GE_OQ",
    ir.Op.EQ: "_CMP_EQ_OQ", ir.Op.NE: "_CMP_NEQ_UQ",
}  # fmt: skip
INT_COMPARE = {
    ir.Op.LT: "cmplt", ir.Op.LE: "cmple", ir.Op.GT: "cmpgt", ir.Op.GE: "cmpge", ir.Op.EQ: "cmpeq",
    ir.Op.NE: "cmpneq",
}  # fmt: skip

# Rounding immediates; the exception flags do not matter.
ROUND = {
    ir.MathOp.FLOOR: "_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC",
    ir.MathOp.CEIL: "_MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC",
    ir.MathOp.ROUND: "_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC",
}


@record
class Conversion:
    """`_mm512_<name>`; `wide`: the prefix is that of the wider side (always, but where lanes keep
    their width both are the same). `tail` follows the operand."""

    name: str
    level: int = 256
    tail: str = ""


def _integer_conversions() -> dict[tuple[str, str], Conversion]:
    found = {}
    for a in (8, 16, 32):
        for b in (16, 32, 64):
            for sign in "iu":
                if a < b:
                    for to in (f"i{b}", f"u{b}"):
                        found[f"{sign}{a}", to] = Conversion(f"cvtep{sign}{a}_epi{b}")
                        for low in ("i", "u"):
                            found[to, f"{low}{a}"] = Conversion(f"cvtepi{b}_epi{a}", 512)
    return found


CONVERT: dict[tuple[str, str], Conversion] = {
    **_integer_conversions(),
    ("i32", "f32"): Conversion("cvtepi32_ps"),
    ("u32", "f32"): Conversion("cvtepu32_ps", 512),
    ("i64", "f32"): Conversion("cvtepi64_ps", 512),
    ("i32", "f64"): Conversion("cvtepi32_pd"),
    ("u32", "f64"): Conversion("cvtepu32_pd", 512),
    ("i64", "f64"): Conversion("cvtepi64_pd", 512),
    ("f32", "f64"): Conversion("cvtps_pd"),
    ("f64", "f32"): Conversion("cvtpd_ps"),
    ("f16", "f32"): Conversion("cvtph_ps"),
    ("f32", "f16"): Conversion("cvtps_ph", tail=", _MM_FROUND_TO_NEAREST_INT"),
}

# Conversions in two steps, neither of which rounds (or only the last).
VIA: dict[tuple[str, str], str] = {
    **{(a, b): "i32" for a in ("i8", "u8", "i16", "u16") for b in ("f32", "f64")},
    **{(a, b): "f32" for a in ("i8", "u8", "i16", "u16") for b in ("f16", "bf16")},
    ("i32", "f16"): "f32", ("f16", "f64"): "f32", ("bf16", "f64"): "f32",
    ("f16", "bf16"): "f32", ("bf16", "f16"): "f32",
}  # fmt: skip
