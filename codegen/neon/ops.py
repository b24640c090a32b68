"""Which operation is one NEON intrinsic: tables, the same for 64 and 128 bits.

A stem becomes an intrinsic by `neon_types.name`: `vadd` is `vaddq_f32` for four f32. All is in base
Armv8-A (Arm C Language Extensions, IHI 0073).
"""

from __future__ import annotations

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DTYPES, DType

_FLOATS, _SMALL = "f32 f64", "i8 u8 i16 u16 i32 u32"
# FMIN and FMAX give NaN when an operand is one, as `min` and `max` do.
_ROWS: tuple[tuple[ir.Op, str, str], ...] = (
    (ir.Op.ADD, f"{_FLOATS} {_SMALL} i64", "vadd"),
    (ir.Op.SUB, f"{_FLOATS} {_SMALL} i64", "vsub"),
    (ir.Op.MUL, f"{_FLOATS} {_SMALL}", "vmul"),
    (ir.Op.DIV, _FLOATS, "vdiv"),
    (ir.Op.MIN, f"{_FLOATS} {_SMALL}", "vmin"),
    (ir.Op.MAX, f"{_FLOATS} {_SMALL}", "vmax"),
    (ir.Op.AND, f"{_SMALL} i64", "vand"),
    (ir.Op.OR, f"{_SMALL} i64", "vorr"),
    (ir.Op.XOR, f"{_SMALL} i64", "veor"),
)
BINARY: dict[tuple[ir.Op, DType], str] = {
    (op, DTYPES[name]): stem for op, names, stem in _ROWS for name in names.split()
}

# On floats, the comparisons with NaN are false; != is what == is not.
COMPARE = {
    ir.Op.LT: "vclt", ir.Op.LE: "vcle", ir.Op.GT: "vcgt", ir.Op.GE: "vcge", ir.Op.EQ: "vceq",
}  # fmt: skip

UNARY = {ir.UnaryOp.NEG: "vneg", ir.UnaryOp.ABS: "vabs"}  # of signed and float types; integers wrap

MATH = {
    ir.MathOp.SQRT: "vsqrt", ir.MathOp.FLOOR: "vrndm", ir.MathOp.CEIL: "vrndp", ir.MathOp.ROUND: "vrndn",
}  # fmt: skip

# All lanes of a whole register to a scalar.
REDUCE: dict[tuple[ir.Op, DType], str] = {
    (op, DTYPES[name]): stem
    for op, names, stem in (
        (ir.Op.ADD, f"{_FLOATS} {_SMALL} i64", "vaddv"),
        (ir.Op.MIN, f"{_FLOATS} {_SMALL}", "vminv"),
        (ir.Op.MAX, f"{_FLOATS} {_SMALL}", "vmaxv"),
    )
    for name in names.split()
}

# Masks: the operation on lanes that are all ones or zero, and whether its operands change places
# (vbic and vorn invert the second).
LOGIC: dict[ir.Op, tuple[str, bool]] = {
    ir.Op.AND: ("vand", False), ir.Op.MIN: ("vand", False), ir.Op.MUL: ("vand", False),
    ir.Op.OR: ("vorr", False), ir.Op.MAX: ("vorr", False), ir.Op.ADD: ("vorr", False),
    ir.Op.XOR: ("veor", False), ir.Op.NE: ("veor", False), ir.Op.EQ: ("vceq", False),
    ir.Op.LT: ("vbic", True), ir.Op.GT: ("vbic", False),
    ir.Op.GE: ("vorn", False), ir.Op.LE: ("vorn", True),
}  # fmt: skip
