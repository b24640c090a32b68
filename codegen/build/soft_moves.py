"""Intrinsics with a shape of their own: loads, stores, constants, conversions, comparisons, parts.

`PATTERNS` pairs what stands behind `_mm512_` and a mask's prefix with the function that makes the
operation of it, at a width in bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hbc.codegen.build.soft_call import C_LANES, Operation, Register, lane_bits

Maker = Callable[[re.Match[str], int], Operation]

NEW = "new"  # with AVX-512, at all widths
WIDE = "wide"  # new where a mask or 512 bits are in the name

_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "neq": "!="}
_LETTERS = {"b": 8, "w": 16, "d": 32, "q": 64, "ss": 32, "sd": 64}


def lane_type(suffix: str) -> str:
    """`i32` for epi32, `f32` for ps, and so on; `i32` too for whole registers (si512)."""
    if suffix.startswith("si"):
        return "i32"
    return {"ps": "f32", "pd": "f64", "ph": "f16"}.get(suffix) or suffix[2:].replace("x", "")


def _lanes(element: str, bits: int) -> int:
    return bits // lane_bits(element)


def _load(m: re.Match[str], bits: int) -> Operation:
    t = lane_type(m[2])
    return Operation(t, _lanes(t, bits), ["const void *p"], f"soft_load_{t}(p, i)")


def _store(m: re.Match[str], bits: int) -> Operation:
    t = lane_type(m[2])
    x = Register("x", t, _lanes(t, bits))
    return Operation(t, x.lanes, ["void *p", x], f"soft_store_{t}(p, i, x[i]);", effect=True)


def _zero(m: re.Match[str], bits: int) -> Operation:
    t = lane_type(m[1])
    return Operation(t, _lanes(t, bits), ["void"], "0")


def _set1(m: re.Match[str], bits: int) -> Operation:
    t = lane_type(m[1])
    return Operation(t, _lanes(t, bits), [f"{C_LANES[t]} x"], "x")


def _set(m: re.Match[str], bits: int) -> Operation:
    """set: the last lane first; setr: the first one."""
    t = lane_type(m[2])
    n = _lanes(t, bits)
    names = [f"x{i}" for i in range(n)]
    order = names if m[1] else names[::-1]
    listed = ", ".join(names)
    first = f"const {C_LANES[t]} all[{n}] = {{{listed}}};"
    return Operation(t, n, [f"{C_LANES[t]} {x}" for x in order], "all[i]", first)


def _cast(m: re.Match[str], bits: int) -> Operation:
    """The same bits; those that a longer register has more hold anything, or zeros (zext)."""
    (a, wide_a), (b, wide_b) = (_cast_kind(x, bits) for x in (m[2], m[3]))
    x = Register("x", a, _lanes(a, wide_a))
    n = min(wide_a, wide_b) // lane_bits(b)
    read = f"soft_load_{b}(x, i)"
    if wide_b <= wide_a:
        return Operation(b, n, [x], read)
    value = f"i < {n} ? {read} : soft_anything_{b}()" if m[1] == "cast" else f"i < {n} ? {read} : 0"
    return Operation(b, wide_b // lane_bits(b), [x], value)


def _cast_kind(text: str, bits: int) -> tuple[str, int]:
    match = re.fullmatch(r"(ps|pd|si)(\d*)", text)
    assert match is not None
    t = {"ps": "f32", "pd": "f64", "si": "i32"}[match[1]]
    return t, int(match[2] or bits)


def _broadcast_lane(m: re.Match[str], bits: int) -> Operation:
    t = f"{'f' if m[1].startswith('s') else 'i'}{_LETTERS[m[1]]}"
    return Operation(t, _lanes(t, bits), [Register("x", t, 128 // lane_bits(t))], "x[0]")


def _broadcast_part(m: re.Match[str], bits: int) -> Operation:
    t, n = f"{m[1]}{m[2]}", int(m[3])
    part = Register("x", t, max(n, 128 // lane_bits(t)))
    return Operation(t, _lanes(t, bits), [part], f"x[i % {n}]")


def _insert(m: re.Match[str], bits: int) -> Operation:
    t, n = f"{m[1]}{m[2]}", int(m[3])
    x, y = Register("x", t, _lanes(t, bits)), Register("y", t, n)
    return Operation(t, x.lanes, [x, y, "unsigned n"], f"i / {n} == (int)n ? y[i % {n}] : x[i]")


def _extract(m: re.Match[str], bits: int) -> Operation:
    t, n = f"{m[1]}{m[2]}", int(m[3])
    return Operation(t, n, [Register("x", t, _lanes(t, bits)), "unsigned n"], f"x[n * {n} + i]")


def _shuffle_blocks(m: re.Match[str], bits: int) -> Operation:
    """Whole blocks of 128 bits: the lower half of the result from x, the upper from y."""
    t = f"{m[1]}{m[2]}"
    n, size = _lanes(t, bits), 128 // lane_bits(t)
    blocks = n // size
    field = {4: 2, 2: 1}[blocks]
    pick = f"(n >> {field} * (i / {size}) & {blocks - 1}) * {size} + i % {size}"
    value = f"(i < {n // 2} ? x : y)[{pick}]"
    return Operation(t, n, [Register("x", t, n), Register("y", t, n), "unsigned n"], value)


def _blend(m: re.Match[str], bits: int) -> Operation:
    t = lane_type(m[1])
    n = _lanes(t, bits)
    k = f"__mmask{max(n, 8)} k"
    return Operation(
        t, n, [k, Register("x", t, n), Register("y", t, n)], "k >> i & 1 ? y[i] : x[i]"
    )


def _compare(m: re.Match[str], bits: int) -> Operation:
    t = lane_type(m[2])
    n = _lanes(t, bits)
    x, y = Register("x", t, n), Register("y", t, n)
    if m[1]:
        return Operation("mask", n, [x, y], f"x[i] {_COMPARISONS[m[1]]} y[i]")
    return Operation("mask", n, [x, y, "int n"], "soft_compare(x[i], y[i], n)")


def _test(m: re.Match[str], bits: int) -> Operation:
    t = lane_type(m[2])
    n = _lanes(t, bits)
    sign = "==" if m[1] else "!="
    return Operation(
        "mask", n, [Register("x", t, n), Register("y", t, n)], f"(x[i] & y[i]) {sign} 0"
    )


def _convert(m: re.Match[str], bits: int) -> Operation:
    """The wider side has the width of the name, at least; the other one as many lanes."""
    how, a, b = m[1], lane_type(m[2]), lane_type(m[3])
    n = bits // max(lane_bits(a), lane_bits(b))
    x = Register("x", a, max(n, 128 // lane_bits(a)))
    operands: Sequence[Register | str] = [x]
    if b == "f16":
        operands, value = [x, "int n"], "soft_half(x[i], n)"
    elif a == "f16":
        value = "_cvtsh_ss(x[i])"
    elif a[0] == "f" and b[0] != "f":
        value = f"soft_{'truncate' if how else 'nearest'}_{b}(x[i])"
    else:
        value = f"({C_LANES[b]})x[i]"
    return Operation(b, n, operands, value)


def _saturate(m: re.Match[str], bits: int) -> Operation:
    """The nearest that the narrower type has."""
    sign, width, wanted = "u" if m[1] == "us" else "i", int(m[2]), int(m[3])
    a, b, n = f"{sign}{width}", f"{sign}{wanted}", bits // width
    high = (1 << (wanted - (sign == "i"))) - 1
    below = f"x[i] < {-high - 1} ? {-high - 1} : " if sign == "i" else ""
    value = f"({C_LANES[b]})(x[i] > {high} ? {high} : {below}x[i])"
    return Operation(b, n, [Register("x", a, n)], value)


def _gather(m: re.Match[str], bits: int) -> Operation:
    index, t = f"i{m[1]}", lane_type(m[2])
    n = bits // max(lane_bits(index), lane_bits(t))
    j = Register("j", index, max(n, 128 // lane_bits(index)))
    value = f"soft_load_{t}((const char *)p + (int64_t)j[i] * n, 0)"
    return Operation(t, n, [j, "const void *p", "int n"], value)


def _scatter(m: re.Match[str], bits: int) -> Operation:
    index, t = f"i{m[1]}", lane_type(m[2])
    n = bits // max(lane_bits(index), lane_bits(t))
    j = Register("j", index, max(n, 128 // lane_bits(index)))
    x = Register("x", t, max(n, 128 // lane_bits(t)))
    value = f"soft_store_{t}((char *)p + (int64_t)j[i] * n, 0, x[i]);"
    return Operation(t, n, ["void *p", j, x, "int n"], value, effect=True)


def _dot_bytes(m: re.Match[str], bits: int) -> Operation:
    return _dot(bits, "u8", "i8", 4, saturates=bool(m[1]))


def _dot_words(m: re.Match[str], bits: int) -> Operation:
    return _dot(bits, "i16", "i16", 2, saturates=bool(m[1]))


def _dot(bits: int, a: str, b: str, group: int, saturates: bool) -> Operation:
    n = bits // 32
    c = Register("c", "i32", n)
    products = " + ".join(
        f"(int64_t)x[{group} * i + {q}] * y[{group} * i + {q}]" for q in range(group)
    )
    value = f"{'soft_saturate_i32' if saturates else '(int32_t)'}(c[i] + {products})"
    return Operation("i32", n, [c, Register("x", a, group * n), Register("y", b, group * n)], value)


def _dot_bf16(m: re.Match[str], bits: int) -> Operation:
    n = bits // 32
    x, y = (Register(name, "bf16", 2 * n) for name in "xy")
    value = (
        "soft_bf16_product(x[2 * i], y[2 * i], soft_bf16_product(x[2 * i + 1], y[2 * i + 1], c[i]))"
    )
    return Operation("f32", n, [Register("c", "f32", n), x, y], value)


_SUFFIX = r"(ps|pd|ep[iu]\d+x?)"
# In this order. NEW or WIDE: whether 128 and 256 bits without a mask are AVX2's.
PATTERNS: tuple[tuple[str, str, Maker], ...] = (
    (WIDE, r"(loadu|load)_(ps|pd|si\d+|epi\d+)", _load),
    (WIDE, r"(storeu|store)_(ps|pd|si\d+|epi\d+)", _store),
    (WIDE, r"setzero_(ps|pd|si\d+|epi\d+)", _zero),
    (WIDE, rf"set1_{_SUFFIX}", _set1),
    (WIDE, rf"set(r?)_{_SUFFIX}", _set),
    (WIDE, r"(cast|zext)((?:ps|pd|si)\d*)_((?:ps|pd|si)\d*)", _cast),
    (WIDE, r"broadcast(b|w|d|q|ss|sd)_(?:ps|pd|epi\d+)", _broadcast_lane),
    (NEW, r"broadcast_([if])(32|64)x(\d)", _broadcast_part),
    (NEW, r"insert([if])(32|64)x(\d)", _insert),
    (NEW, r"extract([if])(32|64)x(\d)_(?:ps|pd|epi\d+)", _extract),
    (NEW, r"shuffle_([if])(32|64)x\d", _shuffle_blocks),
    (NEW, rf"mask_blend_{_SUFFIX}", _blend),
    (NEW, r"cmp(lt|le|gt|ge|eq|neq)_(ep[iu]\d+)_mask", _compare),
    (NEW, r"cmp()_(ps|pd)_mask", _compare),
    (NEW, r"test(n?)_(epi\d+)_mask", _test),
    (NEW, r"cvt(us|s)epi(\d+)_epi(\d+)", _saturate),
    (NEW, r"cvt(t?)(ep[iu]\d+|ps|pd|ph)_(ep[iu]\d+|ps|pd|ph)", _convert),
    (WIDE, r"i(32|64)gather_(ps|pd|epi\d+)", _gather),
    (NEW, r"i(32|64)scatter_(ps|pd|epi\d+)", _scatter),
    (NEW, r"dpbusd(s?)(?:_avx)?_epi32", _dot_bytes),
    (NEW, r"dpwssd(s?)(?:_avx)?_epi32", _dot_words),
    (NEW, r"dpbf16_ps", _dot_bf16),
)
