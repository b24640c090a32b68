"""What nodes name: operators, and kinds of loops, barriers and fences. Also what those operators mean that
processors have in one instruction and the language spells with wider integers, exactly, on Python's
integers (`FIXED_POINT`).

The names of these are those of Halide where it has them; the instructions are PMULHW, PMULHRSW, PAVGB,
PADDSB, .. of Intel's SDM, vol. 2, and SHADD, SRHADD, SABD, SQADD, .. of Arm's ARM (DDI 0487).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from hbc.ir.lang.types import DType, Kind


class Op(StrEnum):
    """Binary operators; comparisons give bool. DIV and MOD floor for integers."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    MOD = "%"
    MIN = "min"
    MAX = "max"
    AND = "&"  # bitwise on integers, logical on bool
    OR = "|"
    XOR = "^"
    SHL = "<<"  # passes make those of f32 and f64 too: a * 2^b, where b is whole
    SHR = ">>"  # arithmetic for signed types
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    EQ = "=="
    NE = "!="
    # Of integers of at most 32 bits, as `FIXED_POINT` says: passes make them.
    MULHI = "mulhi"  # the high half of the product
    MULROUND = "mulround"  # signed: a * b / 2^(bits - 1), to nearest, halves up
    AVG = "avg"  # (a + b) / 2
    AVGUP = "avgup"  # (a + b + 1) / 2
    ABSD = "absd"  # |a - b|
    ADDSAT = "addsat"  # the nearest limit where the type cannot hold it
    SUBSAT = "subsat"


COMPARISONS = frozenset({Op.LT, Op.LE, Op.GT, Op.GE, Op.EQ, Op.NE})
ASSOCIATIVE = frozenset({Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.AND, Op.OR, Op.XOR})


class UnaryOp(StrEnum):
    NEG = "-"
    NOT = "~"  # bitwise on integers, logical on bool
    ABS = "abs"  # |least int| wraps to itself


class MathOp(StrEnum):
    """Names that `Call` accepts; all float -> same float type, correctly rounded within 2 ulp, or to 0 where
    the result is no normal number, except `sqrt floor ceil round tf32`, which are exact (`round`: ties to
    even; `tf32`: of f32 alone, see `ir/meaning/tf32.py`)."""

    EXP = "exp"
    EXP2 = "exp2"
    LOG = "log"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    SIN = "sin"
    COS = "cos"
    TANH = "tanh"
    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    TF32 = "tf32"
    REINTERPRET = "reinterpret"  # same bits as another type of the same width (int <-> float)


MOST_BITS: Final = 32
"""Their exact results fit twice as many bits, which wider types would not have."""


def _saturated(value: int, t: DType) -> int:
    low, high = t.limits
    return max(low, min(value, high))


FIXED_POINT: Final[Mapping[Op, Callable[[int, int, DType], int]]] = {
    Op.MULHI: lambda a, b, t: a * b >> t.bits,
    Op.MULROUND: lambda a, b, t: (a * b + (1 << (t.bits - 2))) >> (t.bits - 1),
    Op.AVG: lambda a, b, t: (a + b) >> 1,
    Op.AVGUP: lambda a, b, t: (a + b + 1) >> 1,
    Op.ABSD: lambda a, b, t: abs(a - b),
    Op.ADDSAT: lambda a, b, t: _saturated(a + b, t),
    Op.SUBSAT: lambda a, b, t: _saturated(a - b, t),
}
"""Results wrap in the type."""


def has_fixed_point(op: Op, t: DType) -> bool:
    """Whether there is this operator of the type."""
    signed = op is Op.MULROUND
    return t.is_int and t.bits <= MOST_BITS and (not signed or t.kind is Kind.INT)


class LoopKind(StrEnum):
    """How iterations run. BLOCK, THREAD and LANE are a GPU's: blocks of a grid, threads of a block and
    lanes of a warp. Their iterations have no order, but for threads between two barriers."""

    SERIAL = "for"
    PARALLEL = "parallel"
    UNROLL = "unroll"
    VECTOR = "vector"
    BLOCK = "blocks"
    THREAD = "threads"
    LANE = "lanes"


class BarrierScope(StrEnum):
    """Who waits for whom at a `Barrier`."""

    BLOCK = "block"
    WARP = "warp"


class FenceKind(StrEnum):
    """What is in order at a `Fence`."""

    REGISTERS = "registers"  # what was done to fragments, before the products that begin next
    STORES = "stores"  # what the thread stored to shared memory, before what products read behind a barrier
