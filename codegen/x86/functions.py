"""Operations that take a small C function: the least of floats, the first lanes of a k-mask, folds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import Function, machine_of
from hbc.codegen.x86.types import (
    all_lanes,
    mask_bits,
    mask_type,
    prefix,
    register_bits,
    resize,
    suffix,
    vector_type,
    width_prefix,
    words,
)  # fmt: skip
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import F32, F64, I64, DType
from hbc.ir.vectors.lane_masks import first_lanes_count


def extreme(op: str) -> Function:
    """`min` or `max` of floats, NaN where an operand is. The instruction gives its second operand when
    either is NaN."""

    def printed(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
        p, s, v = prefix(t, lanes), suffix(t), vector_type(t, lanes)
        name, function = f"{p}_{op}_{s}", f"{op}_{t}x{lanes}"
        if unit.target.vector_bits == 512:
            nan = f"{p}_cmp_{s}_mask(a, a, _CMP_UNORD_Q)"
            result = f"{p}_mask_mov_{s}({name}(a, b), {nan}, a)"
        else:
            result = f"{p}_blendv_{s}({name}(a, b), a, {p}_cmp_{s}(a, a, _CMP_UNORD_Q))"
        text = f"static inline {v} {function}({v} a, {v} b)\n{{\n    return {result};\n}}\n"
        return f"{unit.prelude.add(function, text)}({', '.join(operands)})"

    return printed


def twice(name: str, body: str) -> Function:
    """The C function of vectors `a` and `b`, for what names an operand more than once. Its template has
    the words of `ops.py`."""

    def printed(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
        return _of_two(name, f"return {body.format(**words(t, lanes))};", operands, t, lanes, unit)

    return printed


def by_mask(template: str) -> Function:
    """What takes the mask, operand 0, as floats of the type: as comparisons of floats make it."""

    def printed(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
        named = words(t, lanes)
        return template.format(*operands, mask=_as_floats(operands[0], t, lanes), **named)

    return printed


def _as_floats(mask: str, t: DType, lanes: int) -> str:
    p, s, bits = prefix(t, lanes), suffix(t), register_bits(t, lanes)
    begin = f"{p}_cast{s}_si{bits}("
    inner = mask[len(begin) : -1]
    depths = accumulate((c == "(") - (c == ")") for c in inner)
    whole = mask.startswith(begin) and all(depth >= 0 for depth in depths)
    return inner if whole else f"{p}_castsi{bits}_{s}({mask})"


def of_bits(template: str) -> Function:
    """What asks `bits`, of which a mask has one for each lane, of 8 or 32 bits."""

    def printed(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
        named, (mask,) = words(t, lanes), operands
        if t.bits == 32:
            text = f"{named['p']}_movemask_ps({_as_floats(mask, F32, lanes)})"
        else:
            text = "{p}_movemask_epi8({0})".format(mask, **named)
        whole = lanes * t.bits == named["bits"]
        bits = f"(unsigned){text}" if whole else f"((unsigned){text} & {named['all']})"
        return template.format(bits=bits, all=named["all"])

    return printed


def high_halves(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    """The high halves of products of 32 bits: those of the even lanes, moved down, and of the odd ones."""
    named = {"pick": "_mm512_mask_blend_epi32(0xaaaa, even, odd)"}
    if register_bits(t, lanes) < 512:
        named["pick"] = "{p}_blend_epi32(even, odd, 0xaa)".format(**words(t, lanes))
    body = _HIGH_HALVES.format(**words(t, lanes), **named, v=vector_type(t, lanes))
    return _of_two("mulhi", body, operands, t, lanes, unit)


_HIGH_HALVES = """\
const {v} even = {p}_srli_epi64({p}_mul_{u}(a, b), 32);
    const {v} odd = {p}_mul_{u}({p}_srli_epi64(a, 32), {p}_srli_epi64(b, 32));
    return {pick};"""


def _of_two(name: str, body: str, operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    v, function = vector_type(t, lanes), f"{name}_{t}x{lanes}"
    text = f"static inline {v} {function}({v} a, {v} b)\n{{\n    {body}\n}}\n"
    return f"{unit.prelude.add(function, text)}({', '.join(operands)})"


_FIRST = """\
/* The first n of {lanes} lanes. */
static inline {mask} first_i64x{lanes}(int64_t n)
{{
    return ({mask})_bzhi_u{bits}({all}, (unsigned)(n < 0 ? 0 : n > {lanes} ? {lanes} : n));
}}
"""


def first_lanes(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    """The function that makes the k-mask of so many first lanes, or of none or all beyond those."""
    bits = 64 if lanes > 32 else 32
    text = _FIRST.format(lanes=lanes, mask=mask_type(lanes), bits=bits, all=all_lanes(lanes))
    return unit.prelude.add(f"first_i64x{lanes}", text)


def register_mask(e: ir.Expr, t: DType, unit: Unit) -> str:
    """The mask of a vector of `t` for an instruction on its whole register, which may have more lanes
    than 8, and so a longer mask."""
    lanes = e.type.lanes
    text = machine_of(unit).masks.text(e, max(t.bits, 8), unit)
    whole = register_bits(t, lanes) // t.bits
    simple = first_lanes_count(e) is not None or isinstance(e, ir.Broadcast)
    if unit.target.vector_bits < 512 or mask_bits(lanes) >= whole or simple:
        return text
    return f"{unit.prelude.add('widened_mask', _WIDENED)}({text})"


# gcc (12 at least) stores 8 bits of a comparison's mask when it is short of mask registers, and
# loads 16: bits that were never stored.
_WIDENED = """\
static inline __mmask16 widened_mask(__mmask8 mask)
{
    unsigned bits = mask;
#if defined(__GNUC__)
    __asm__("" : "+r"(bits));
#endif
    return (__mmask16)bits;
}
"""


_TIMES = """\
/* A factor to multiply by: gcc makes several shifts and sums of one that it knows, which take longer. */
static inline {v} factor_{t}x{lanes}({c} c)
{{
    {v} factor = {p}_set1_epi16((short)c);
#if defined(__GNUC__) && !defined(__clang__) && !defined(SOFT_VECTORS)
    __asm__("" : "+{register}"(factor));
#endif
    return factor;
}}
"""


def times_constant(operands: Sequence[str], t: DType, lanes: int, unit: Unit) -> str:
    """Products of 16 bits by a constant."""
    p, register = prefix(t, lanes), "v" if unit.target.vector_bits == 512 else "x"
    text = _TIMES.format(
        v=vector_type(t, lanes), t=t, lanes=lanes, c=c_type(t), p=p, register=register
    )
    factor = f"{unit.prelude.add(f'factor_{t}x{lanes}', text)}({operands[1]})"
    return f"{p}_mullo_epi16({operands[0]}, {factor})"


def halving_fold(op: ir.Op, t: DType, lanes: int, unit: Unit) -> str:
    """A function that halves the vector until one lane is left."""
    name = f"reduce_{op.name.lower()}_{t}x{lanes}"
    body: list[str] = []
    step, n = 0, lanes
    while n > 1:
        n //= 2
        low, high = _halves(f"x{step}", t, n, register_bits(t, 2 * n))
        unit.scope.push()
        a, b = ir.Var(f"low{step}", t(n)), ir.Var(f"high{step}", t(n))
        names = [unit.scope.declare(v.name) for v in (a, b)]
        v = vector_type(t, n)
        body.append(f"    const {v} {names[0]} = {low}, {names[1]} = {high};")
        step += 1
        body.append(f"    const {v} x{step} = {unit.printers.vector(ir.Binary(op, a, b), unit)};")
        unit.scope.pop()
    body.append(f"    return {_first_lane(f'x{step}', t)};")
    head = f"static inline {c_type(t)} {name}({vector_type(t, lanes)} x0)"
    return unit.prelude.add(name, "\n".join([head, "{", *body, "}", ""]))


def _halves(x: str, t: DType, n: int, bits: int) -> tuple[str, str]:
    """The low and the high n lanes of a register of `bits`."""
    if n * t.bits >= 128:
        low = resize(x, t, bits, bits // 2)
        extract = {
            (512, "f32"): "extractf32x8_ps", (512, "f64"): "extractf64x4_pd",
            (256, "f32"): "extractf128_ps", (256, "f64"): "extractf128_pd",
            (256, ""): "extracti128_si256",
        }.get((bits, t.name if t in (F32, F64) else ""), "extracti64x4_epi64")  # fmt: skip
        return low, f"{width_prefix(bits)}_{extract}({x}, 1)"
    cast = {"f32": "ps", "f64": "pd"}.get(t.name)
    whole = f"_mm_cast{cast}_si128({x})" if cast else x
    moved = f"_mm_bsrli_si128({whole}, {n * t.bits // 8})"
    return x, f"_mm_castsi128_{cast}({moved})" if cast else moved


def _first_lane(x: str, t: DType) -> str:
    if t in (F32, F64):
        return f"_mm_cvtss_f32({x})" if t == F32 else f"_mm_cvtsd_f64({x})"
    if t == I64:
        return f"_mm_cvtsi128_si64({x})"
    return f"({c_type(t)})_mm_cvtsi128_si{max(t.bits, 32)}({x})"
