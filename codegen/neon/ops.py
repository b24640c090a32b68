"""Which operation is one NEON intrinsic: tables, the same for 64 and 128 bits.

A stem becomes an intrinsic by `neon_types.name`: `vadd` is `vaddq_f32` for four f32. All is in base
Armv8-A (Arm C Language Extensions, IHI 0073).
"""

from __future__ import annotations

from hbc.ir.lang.nodes import MathOp, Op, UnaryOp
from hbc.ir.lang.types import DTYPES, DType

_FLOATS, _SMALL = "f32 f64", "i8 u8 i16 u16 i32 u32"
# FMIN and FMAX give NaN when an operand is one, as `min` and `max` do.
_ROWS: tuple[tuple[Op, str, str], ...] = (
    (Op.ADD, f"{_FLOATS} {_SMALL} i64", "vadd"),
    (Op.SUB, f"{_FLOATS} {_SMALL} i64", "vsub"),
    (Op.MUL, f"{_FLOATS} {_SMALL}", "vmul"),
    (Op.DIV, _FLOATS, "vdiv"),
    (Op.MIN, f"{_FLOATS} {_SMALL}", "vmin"),
    (Op.MAX, f"{_FLOATS} {_SMALL}", "vmax"),
    (Op.AND, f"{_SMALL} i64", "vand"),
    (Op.OR, f"{_SMALL} i64", "vorr"),
    (Op.XOR, f"{_SMALL} i64", "veor"),
)
BINARY: dict[tuple[Op, DType], str] = {
    (op, DTYPES[name]): stem for op, names, stem in _ROWS for name in names.split()
}

# On floats, the comparisons with NaN are false; != is what == is not.
COMPARE = {
    Op.LT: "vclt", Op.LE: "vcle", Op.GT: "vcgt", Op.GE: "vcge", Op.EQ: "vceq",
}  # fmt: skip

UNARY = {UnaryOp.NEG: "vneg", UnaryOp.ABS: "vabs"}  # of signed and float types; integers wrap

MATH = {
    MathOp.SQRT: "vsqrt", MathOp.FLOOR: "vrndm", MathOp.CEIL: "vrndp", MathOp.ROUND: "vrndn",
}  # fmt: skip

# All lanes of a whole register to a scalar.
REDUCE: dict[tuple[Op, DType], str] = {
    (op, DTYPES[name]): stem
    for op, names, stem in (
        (Op.ADD, f"{_FLOATS} {_SMALL} i64", "vaddv"),
        (Op.MIN, f"{_FLOATS} {_SMALL}", "vminv"),
        (Op.MAX, f"{_FLOATS} {_SMALL}", "vmaxv"),
    )
    for name in names.split()
}

# Masks: the operation on lanes that are all ones or zero, and whether its operands change places
# (vbic and vorn invert the second).
LOGIC: dict[Op, tuple[str, bool]] = {
    Op.AND: ("vand", False), Op.MIN: ("vand", False), Op.MUL: ("vand", False),
    Op.OR: ("vorr", False), Op.MAX: ("vorr", False), Op.ADD: ("vorr", False),
    Op.XOR: ("veor", False), Op.NE: ("veor", False), Op.EQ: ("vceq", False),
    Op.LT: ("vbic", True), Op.GT: ("vbic", False),
    Op.GE: ("vorn", False), Op.LE: ("vorn", True),
}  # fmt: skip
