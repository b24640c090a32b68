"""What one lane of an x86 vector operation is, as C: the table that `soft_vectors` prints functions from.

x, y, z: the operands as arrays; j: integers as wide as T, that choose. T: the C type of an operand's
lane, U the unsigned integer of its width, N their number, B its bits, S how many 128 bits hold, M and L
the greatest and the least integer of B bits; n: an immediate. The operations are those of the Intel SDM
volume 2, on the instructions' pages.
"""

from __future__ import annotations

from hbc.ir.ground.record import record

INTEGERS = "i8 u8 i16 u16 i32 u32 i64 u64"
FLOATS = "f32 f64"
WORDS = "i32 i64 f32 f64"  # what masks choose from without AVX-512 BW
ALL = f"{INTEGERS} {FLOATS}"


@record
class Lanes:
    """`operands`: a letter for each, in the order of the intrinsic's arguments. `immediate`: whether n
    comes last. `value`: of lane i. `types`: of lanes that have it. `own`: those whose 128 and 256 bits
    are new with AVX-512 too."""

    operands: str
    value: str
    types: str = ALL
    immediate: bool = False
    own: str = ""


def _joined(index: str) -> str:
    """Element `index` of x and y behind one another."""
    return f"(({index}) < N ? x[({index}) & (N - 1)] : y[({index}) & (N - 1)])"


_WRAPPED = "(T)((U)x[i] {} (U)y[i])"
# Through int; M and L are the greatest and the least lane.
_SATURATED = "x[i] {0} y[i] > M ? M : x[i] {0} y[i] < L ? L : (T)(x[i] {0} y[i])"
_SMALL = "i8 u8 i16 u16"
_BITS = "soft_bits_T(soft_word_T(x[i]) {} soft_word_T(y[i]))"

# By the name between `_mm512_` and the suffix of the lane type. Floats and integers are apart where they
# differ.
INTEGER_LANES: dict[str, Lanes] = {
    "add": Lanes("xy", _WRAPPED.format("+")),
    "sub": Lanes("xy", _WRAPPED.format("-")),
    "mullo": Lanes("xy", "(T)((uint64_t)x[i] * (uint64_t)y[i])", own="i64"),
    "mul": Lanes("xy", "(T)((uint64_t)x[i & ~1] * (uint64_t)y[i & ~1] >> 32 * (i & 1))", "i32 u32"),
    "mulhi": Lanes("xy", "(T)((int64_t)x[i] * y[i] >> B)", "i16 u16"),
    "mulhrs": Lanes("xy", "(T)((x[i] * y[i] + 0x4000) >> 15)", "i16"),
    "avg": Lanes("xy", "(T)((x[i] + y[i] + 1) >> 1)", "u8 u16"),
    "adds": Lanes("xy", _SATURATED.format("+"), _SMALL),
    "subs": Lanes("xy", _SATURATED.format("-"), _SMALL),
    "min": Lanes("xy", "x[i] < y[i] ? x[i] : y[i]", own="i64 u64"),
    "max": Lanes("xy", "x[i] > y[i] ? x[i] : y[i]", own="i64 u64"),
    "abs": Lanes("x", "x[i] < 0 ? (T)-(U)x[i] : x[i]", own="i64"),
    "and": Lanes("xy", "x[i] & y[i]", own=ALL),
    "or": Lanes("xy", "x[i] | y[i]", own=ALL),
    "xor": Lanes("xy", "x[i] ^ y[i]", own=ALL),
    "andnot": Lanes("xy", "~x[i] & y[i]", own=ALL),
    # Counts of the width and more leave nothing but copies of the sign.
    "slli": Lanes("x", "n < B ? (T)((uint64_t)x[i] << n) : 0", immediate=True),
    "srli": Lanes("x", "n < B ? (T)((U)x[i] >> n) : 0", immediate=True),
    "srai": Lanes("x", "x[i] >> (n < B ? n : B - 1)", immediate=True, own="i64"),
    "sllv": Lanes("xy", "(U)y[i] < B ? (T)((uint64_t)x[i] << y[i]) : 0", own="i16"),
    "srlv": Lanes("xy", "(U)y[i] < B ? (T)((U)x[i] >> y[i]) : 0", own="i16"),
    "srav": Lanes("xy", "x[i] >> ((U)y[i] < B ? y[i] : B - 1)", own="i16 i64"),
}
FLOAT_LANES: dict[str, Lanes] = {
    "add": Lanes("xy", "x[i] + y[i]"),
    "sub": Lanes("xy", "x[i] - y[i]"),
    "mul": Lanes("xy", "x[i] * y[i]"),
    "div": Lanes("xy", "x[i] / y[i]"),
    # The second operand, where one is a NaN or both are zeros.
    "min": Lanes("xy", "x[i] < y[i] ? x[i] : y[i]"),
    "max": Lanes("xy", "x[i] > y[i] ? x[i] : y[i]"),
    "sqrt": Lanes("x", "soft_sqrt_T(x[i])"),
    "roundscale": Lanes("x", "soft_round_T(x[i], n)", immediate=True, own=ALL),
    "scalef": Lanes("xy", "soft_scale_T(x[i], y[i])", own=ALL),
    "fmadd": Lanes("xyz", "soft_fma_T(x[i], y[i], z[i])"),
    "fmsub": Lanes("xyz", "soft_fma_T(x[i], y[i], -z[i])"),
    "fnmadd": Lanes("xyz", "soft_fma_T(-x[i], y[i], z[i])"),
    "fnmsub": Lanes("xyz", "soft_fma_T(-x[i], y[i], -z[i])"),
    "and": Lanes("xy", _BITS.format("&")),
    "or": Lanes("xy", _BITS.format("|")),
    "xor": Lanes("xy", _BITS.format("^")),
    "andnot": Lanes("xy", "soft_bits_T(~soft_word_T(x[i]) & soft_word_T(y[i]))"),
}
MOVES: dict[str, Lanes] = {
    "mov": Lanes("x", "x[i]"),
    "unpacklo": Lanes("xy", "(i % 2 ? y : x)[i / S * S + i % S / 2]"),
    "unpackhi": Lanes("xy", "(i % 2 ? y : x)[i / S * S + S / 2 + i % S / 2]"),
    "permutexvar": Lanes("jx", "x[j[i] & (N - 1)]", own=ALL),
    "permutex2var": Lanes("xjy", _joined("j[i] & (2 * N - 1)"), own=ALL),
    "permutex": Lanes("x", "x[i / 4 * 4 + (n >> 2 * (i % 4) & 3)]", "i64 f64", True),
    "alignr": Lanes("yx", _joined("i + (n & (N - 1))"), "i32 i64", True, ALL),
    "shuffle": Lanes("x", "x[i / 4 * 4 + (n >> 2 * (i % 4) & 3)]", "i32", True),
}
BYTE_MOVES: dict[str, Lanes] = {
    "shuffle": Lanes("xy", "y[i] & 0x80 ? 0 : x[i / 16 * 16 + (y[i] & 15)]"),
    "alignr": Lanes(
        "yx", "(i % 16 + n < 16 ? x[i + n] : i % 16 + n < 32 ? y[i + n - 16] : 0)", immediate=True
    ),
}
# Of two registers of floats: fields of two bits.
FLOAT_SHUFFLE = Lanes("xy", "(i % 4 < 2 ? x : y)[i / 4 * 4 + (n >> 2 * (i % 4) & 3)]", "f32", True)


def lanes_of(stem: str, element: str) -> Lanes | None:
    """The row of an operation on lanes of a type; None: there is none."""
    tables = [FLOAT_LANES if element in FLOATS.split() else INTEGER_LANES, MOVES]
    if element in ("i8", "u8"):
        tables.insert(0, BYTE_MOVES)
    if (stem, element) == ("shuffle", "f32"):
        return FLOAT_SHUFFLE
    for table in tables:
        if (row := table.get(stem)) and element in row.types.split():
            return row
    return None
