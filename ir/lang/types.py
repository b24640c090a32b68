"""Element types, vector types and memory spaces."""

from __future__ import annotations

import math
from enum import StrEnum

from hbc.ir.ground.record import interned


class Kind(StrEnum):
    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    FLOAT = "float"
    BFLOAT = "bfloat"
    FLOAT8 = "float8"


@interned
class DType:
    """An element type: its name in the language, kind and width in bits (bool: 8 in memory)."""

    name: str
    kind: Kind
    bits: int

    def __str__(self) -> str:
        return self.name

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind in (Kind.FLOAT, Kind.BFLOAT, Kind.FLOAT8)

    @property
    def is_narrow(self) -> bool:
        """A float that is stored, never computed with: f16, bf16 and those of 8 bits."""
        return self.is_float and self.bits <= 16

    @property
    def is_int(self) -> bool:
        """Signed or unsigned integer, not bool."""
        return self.kind in (Kind.INT, Kind.UINT)

    @property
    def limits(self) -> tuple[int, int]:
        """Least and greatest value of an integer or bool type."""
        if self.kind is Kind.INT:
            return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1
        if self.kind is Kind.UINT:
            return 0, (1 << self.bits) - 1
        return 0, 1

    @property
    def precision(self) -> int:
        """Significand bits of a float type, the hidden bit included (f32: 24)."""
        return _PRECISION[self.name]

    @property
    def ends(self) -> tuple[int | float, int | float]:
        """The least and the greatest value of a type: of floats infinite, where there are infinities."""
        if not self.is_float:
            return self.limits
        return (-math.inf, math.inf) if self.has_infinity else (-448.0, 448.0)

    @property
    def has_infinity(self) -> bool:
        """Whether a float type has infinities. In f8e4m3, what is beyond its range is NaN."""
        return self.name != "f8e4m3"

    def __call__(self, lanes: int = 1) -> Type:
        return Type(self, lanes)


_PRECISION = {"f8e5m2": 3, "f8e4m3": 4, "bf16": 8, "f16": 11, "f32": 24, "f64": 53}

I8, I16, I32, I64 = (DType(f"i{bits}", Kind.INT, bits) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (DType(f"u{bits}", Kind.UINT, bits) for bits in (8, 16, 32, 64))
F16, F32, F64 = (DType(f"f{bits}", Kind.FLOAT, bits) for bits in (16, 32, 64))
BF16 = DType("bf16", Kind.BFLOAT, 16)
# NVIDIA's E4M3 and E5M2 (Micikevicius et al., "FP8 formats for deep learning", 2022).
F8E4M3, F8E5M2 = (DType(name, Kind.FLOAT8, 8) for name in ("f8e4m3", "f8e5m2"))
BOOL = DType("bool", Kind.BOOL, 8)

DTYPES: dict[str, DType] = {
    t.name: t
    for t in (I8, U8, I16, U16, I32, U32, I64, U64, F8E4M3, F8E5M2, F16, BF16, F32, F64, BOOL)
}

I4, U4 = DType("i4", Kind.INT, 4), DType("u4", Kind.UINT, 4)
PACKED: dict[str, DType] = {t.name: t for t in (I4, U4)}
"""Types of elements that lie two in a byte: of inputs and outputs, and as long as a file is checked."""
WHOLE: dict[DType, DType] = {I4: I8, U4: U8}
"""What their values are."""


@interned
class Type:
    """The type of an expression: an element type and a number of lanes (1: scalar)."""

    element: DType
    lanes: int = 1

    def __str__(self) -> str:
        return self.element.name if self.lanes == 1 else f"{self.element.name}x{self.lanes}"

    def with_lanes(self, lanes: int) -> Type:
        return self if lanes == self.lanes else Type(self.element, lanes)


INDEX = I64(1)  # loop variables, sizes, strides and buffer offsets
CONDITION = BOOL(1)


class Memory(StrEnum):
    """Where a buffer lives. AUTO is decided by the `place` passes. SHARED: by the threads of a GPU's
    block; SIGNAL: what its threads wait at for copies, also shared; WMMA, MMA and WGMMA: fragments of
    tensor cores, spread over the lanes of a warp or of four; of the last two each lane knows which
    elements it has."""

    AUTO = "auto"
    HEAP = "heap"
    STACK = "stack"
    REGISTER = "registers"
    AMX_TILE = "amx_tile"
    SHARED = "shared"
    SIGNAL = "signals"
    WMMA = "wmma_accumulator"
    MMA = "mma_accumulator"
    WGMMA = "wgmma_accumulator"


FRAGMENT_LANES = {Memory.WMMA: 32, Memory.MMA: 32, Memory.WGMMA: 128}
"""How many lanes of a GPU hold a fragment in such memory together: a warp, or a group of four."""
FRAGMENTS = frozenset(FRAGMENT_LANES)
"""Memory that the lanes of a GPU hold together."""
TILES = frozenset({Memory.AMX_TILE, *FRAGMENTS})
"""Memory that only whole-tile statements touch."""
TILES_OF_ELEMENTS = FRAGMENTS
"""Those whose elements can be changed where they are, all in the same way."""
TILES_OF_LANES = frozenset({Memory.MMA, Memory.WGMMA})
"""Those of which every lane knows where its elements are: any statement may touch them one by one."""


def widen(a: DType, b: DType) -> DType | None:
    """The type that both convert to without loss, or None (no implicit narrowing, no int-to-float)."""
    if a == b:
        return a
    small, large = (a, b) if a.bits < b.bits else (b, a)
    if small.bits == large.bits:
        return None
    if small.is_float and large.is_float:
        return large if large.kind is Kind.FLOAT or small.kind is Kind.FLOAT8 else None
    if small.kind is large.kind and small.is_int:
        return large
    if small.kind is Kind.UINT and large.kind is Kind.INT:
        return large
    return None
