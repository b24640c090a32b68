"""Vectors of bools: k-masks on AVX-512; on AVX2 integer lanes that are all ones or zero."""

from __future__ import annotations

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import LOGIC_OR, Unit
from hbc.codegen.x86.convert import convert
from hbc.codegen.x86.ops import FLOAT_COMPARE, INT_COMPARE
from hbc.codegen.x86.types import (
    all_lanes,
    cast_register,
    mask_bits,
    mask_type,
    prefix,
    register_bits,
    set1,
    setr,
    suffix,
    zero,
)  # fmt: skip
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, not_, or_
from hbc.ir.lang.types import BOOL, DType, Kind, Memory
from hbc.ir.vectors.lane_masks import first_lanes_count, known_lanes
from hbc.ir.vectors.take import Take, integer


def mask(e: ir.Expr, width: int, unit: Unit) -> str:
    """The C text of a vector of bools; on AVX2 with lanes of `width` bits. Unused bits of a k-mask
    are 0."""
    lanes = e.type.lanes
    if unit.target.vector_bits == 512:
        return _k(e, unit)
    own = natural_width(e, unit)
    text = _wide(e, own, width, unit)
    return text if text is not None else _resize(_lanes(e, own, unit), own, width, lanes, unit)


def natural_width(e: ir.Expr, unit: Unit) -> int:
    """AVX2: the lane width, in bits, that comes without a conversion."""
    match e:
        case ir.Var(name=name):
            return unit.mask_widths[name]
        case ir.Binary(op=op, a=a) if op in ir.COMPARISONS and a.type.element != BOOL:
            return a.type.element.bits
        case ir.Binary(a=a) | ir.Unary(a=a) | ir.Select(a=a) | ir.Let(body=a) | ir.Move(value=a):
            return natural_width(a, unit)
        case ir.Load(buffer=buffer) if unit.buffers[buffer].memory is Memory.REGISTER:
            return 8
        case _:
            return 8


def register_mask(e: ir.Expr, t: DType, unit: Unit) -> str:
    """The mask of a vector of `t` for an instruction on its whole register, which may have more lanes
    than 8, and so a longer mask."""
    lanes = e.type.lanes
    text = mask(e, max(t.bits, 8), unit)
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
    __asm__("" : "+r"(bits));
    return (__mmask16)bits;
}
"""

_FIRST = """\
/* The first n of {lanes} lanes. */
static inline {mask} first_i64x{lanes}(int64_t n)
{{
    return ({mask})_bzhi_u{bits}({all}, (unsigned)(n < 0 ? 0 : n > {lanes} ? {lanes} : n));
}}
"""


def _k(e: ir.Expr, unit: Unit) -> str:
    lanes = e.type.lanes
    count = first_lanes_count(e)
    if count is not None:
        bits = 64 if lanes > 32 else 32
        text = _FIRST.format(lanes=lanes, mask=mask_type(lanes), bits=bits, all=all_lanes(lanes))
        return f"{unit.prelude.add(f'first_i64x{lanes}', text)}({scalar(count, unit)})"
    match e:
        case ir.Var(name=name):
            return unit.scope.find(name).text
        case ir.Broadcast(value=ir.Const(value=v)):
            return all_lanes(lanes) if v else "0"
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            condition = scalar(v, unit)
            return f"(({mask_type(lanes)})({condition.at(LOGIC_OR)} ? {all_lanes(lanes)} : 0))"
        case ir.Binary(op=op, a=a, b=b) if a.type.element == BOOL:
            return _k_logic(op, a, b, unit)
        case ir.Binary(op=op) if op in ir.COMPARISONS:
            return _k_compare(e, unit)
        case ir.Unary(a=a):
            return f"({mask_type(lanes)})(~{_k(a, unit)} & {all_lanes(lanes)})"
        case ir.Select(condition=c, a=a, b=b):
            return _k(or_(and_(c, a), and_(not_(c), b)), unit)
        case ir.Let(name=name, value=v, body=body):
            unit.printers.declare(name, v, unit)
            return _k(body, unit)
        case ir.Move(value=v):
            return _k(v, unit)
        case ir.Load():
            bytes_ = unit.printers.load(e, unit)
            if unit.buffers[e.buffer].memory is Memory.REGISTER:
                return bytes_
            return _k_test(bytes_, lanes)
        case _:
            raise InternalError(f"codegen: {type(e).__name__} of {e.type} as a mask")


def _k_test(bytes_: str, lanes: int) -> str:
    """Bytes other than 0."""
    p = prefix(BOOL, lanes)
    if lanes < 16:
        return f"{p}_mask_test_epi8_mask({all_lanes(lanes)}, {bytes_}, {_ones(lanes)})"
    return f"{p}_test_epi8_mask({bytes_}, {_ones(lanes)})"


def _ones(lanes: int) -> str:
    return set1(integer(8), lanes, "-1")


def _k_logic(op: ir.Op, a: ir.Expr, b: ir.Expr, unit: Unit) -> str:
    x, y, lanes = _k(a, unit), _k(b, unit), a.type.lanes
    everything, t = all_lanes(lanes), mask_type(lanes)
    texts = {
        ir.Op.AND: f"{x} & {y}", ir.Op.MIN: f"{x} & {y}", ir.Op.OR: f"{x} | {y}", ir.Op.MAX: f"{x} | {y}",
        ir.Op.XOR: f"{x} ^ {y}", ir.Op.NE: f"{x} ^ {y}", ir.Op.EQ: f"~({x} ^ {y}) & {everything}",
        ir.Op.LT: f"~{x} & {y}", ir.Op.GT: f"{x} & ~{y}", ir.Op.LE: f"(~{x} | {y}) & {everything}",
        ir.Op.GE: f"({x} | ~{y}) & {everything}", ir.Op.ADD: f"{x} | {y}", ir.Op.MUL: f"{x} & {y}",
    }  # fmt: skip
    return f"({t})({texts[op]})"


def _k_compare(e: ir.Binary, unit: Unit) -> str:
    t, lanes = e.a.type.element, e.type.lanes
    if lanes * t.bits > 512:
        half = lanes // 2
        low, high = (_k(Take()(e, tuple(range(start, start + half))), unit) for start in (0, half))
        return f"({mask_type(lanes)})({low} | ({mask_type(lanes)}){high} << {half})"
    known = known_lanes(e)
    if known is not None:
        return f"{sum(1 << i for i, holds in enumerate(known) if holds):#x}"
    p = prefix(t, lanes)
    x, y = unit.printers.vector(e.a, unit), unit.printers.vector(e.b, unit)
    partial = lanes * t.bits < 128
    inside = f"{all_lanes(lanes)}, " if partial else ""
    masked = "mask_" if partial else ""
    if t.is_float:
        return f"{p}_{masked}cmp_{suffix(t)}_mask({inside}{x}, {y}, {FLOAT_COMPARE[e.op]})"
    name = suffix(t, signless=False)
    return f"{p}_{masked}{INT_COMPARE[e.op]}_{name}_mask({inside}{x}, {y})"


def may_be_live(e: ir.Expr) -> list[bool]:
    """Which lanes of a mask hold for all that its constants tell."""
    match e:
        case ir.Binary(op=ir.Op.AND | ir.Op.OR as op, a=a, b=b):
            pairs = zip(may_be_live(a), may_be_live(b), strict=True)
            return [x and y if op is ir.Op.AND else x or y for x, y in pairs]
        case ir.Binary(op=op) if op in ir.COMPARISONS and (known := known_lanes(e)):
            return known
        case _:
            return [True] * e.type.lanes


def _resize(text: str, have: int, want: int, lanes: int, unit: Unit) -> str:
    return convert(text, integer(have), integer(want), lanes, unit)


def _wide(e: ir.Expr, own: int, width: int, unit: Unit) -> str | None:
    """AVX2: what can be formed with lanes of any width."""
    t, lanes = integer(width), e.type.lanes
    count = first_lanes_count(e)
    if count is not None:
        line = setr(t, lanes, [str(i) for i in range(lanes)])
        n = scalar(count, unit)
        most = unit.prelude.use("min_i64"), unit.prelude.use("max_i64")
        clamped = f"{most[1]}({most[0]}({n}, {lanes}), 0)"
        kind = {8: "(char)", 16: "(short)", 32: "(int)", 64: ""}[width]
        bound = set1(t, lanes, f"{kind}{clamped}")
        return f"{prefix(t, lanes)}_cmpgt_epi{width}({bound}, {line})"
    match e:
        case ir.Broadcast(value=ir.Const(value=v)):
            return set1(t, lanes, "-1") if v else zero(t, lanes)
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            return set1(t, lanes, f"{scalar(v, unit).at(LOGIC_OR)} ? -1 : 0")
        case ir.Binary(op=op, a=a) if op in ir.COMPARISONS and a.type.element != BOOL:
            known = known_lanes(e)
            if known is not None:
                return setr(t, lanes, ["-1" if holds else "0" for holds in known])
            if lanes * own > 256:
                return _by_lane(e, t, lanes, unit)
            return None
        case _:
            return None


def _by_lane(e: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    """Comparisons of vectors wider than a register: scalars."""
    tests = [scalar(Take()(e, (lane,)), unit).at(LOGIC_OR) for lane in range(lanes)]
    return setr(t, lanes, [f"{test} ? -1 : 0" for test in tests])


def _lanes(e: ir.Expr, width: int, unit: Unit) -> str:
    """AVX2: `e` with its natural lane width."""
    t, lanes = integer(width), e.type.lanes
    p, bits = prefix(t, lanes), register_bits(t, lanes)
    ones = set1(t, lanes, "-1")
    match e:
        case ir.Var(name=name):
            return unit.scope.find(name).text
        case ir.Binary(op=op, a=a, b=b) if a.type.element == BOOL:
            x, y = mask(a, width, unit), mask(b, width, unit)
            return _logic(op, x, y, p, bits, ones)
        case ir.Binary(op=op) if op in ir.COMPARISONS:
            return _compare(e, unit)
        case ir.Unary(a=a):
            return f"{p}_xor_si{bits}({mask(a, width, unit)}, {ones})"
        case ir.Select(condition=c, a=a, b=b):
            x, y, z = (mask(part, width, unit) for part in (a, b, c))
            return f"{p}_blendv_epi8({y}, {x}, {z})"
        case ir.Let(name=name, value=v, body=body):
            unit.printers.declare(name, v, unit)
            return _lanes(body, width, unit)
        case ir.Move(value=v):
            return _lanes(v, width, unit)
        case ir.Load():
            bytes_ = unit.printers.load(e, unit)
            if unit.buffers[e.buffer].memory is Memory.REGISTER:
                return bytes_
            return f"{p}_xor_si{bits}({p}_cmpeq_epi8({bytes_}, {zero(t, lanes)}), {ones})"
        case _:
            raise InternalError(f"codegen: {type(e).__name__} of {e.type} as a mask")


def _logic(op: ir.Op, x: str, y: str, p: str, bits: int, ones: str) -> str:
    s = f"si{bits}"
    match op:
        case ir.Op.AND | ir.Op.MIN | ir.Op.MUL:
            return f"{p}_and_{s}({x}, {y})"
        case ir.Op.OR | ir.Op.MAX | ir.Op.ADD:
            return f"{p}_or_{s}({x}, {y})"
        case ir.Op.XOR | ir.Op.NE:
            return f"{p}_xor_{s}({x}, {y})"
        case ir.Op.EQ:
            return f"{p}_xor_{s}({p}_xor_{s}({x}, {y}), {ones})"
        case ir.Op.LT:
            return f"{p}_andnot_{s}({x}, {y})"
        case ir.Op.GT:
            return f"{p}_andnot_{s}({y}, {x})"
        case ir.Op.LE:
            return f"{p}_or_{s}({p}_xor_{s}({x}, {ones}), {y})"
        case ir.Op.GE:
            return f"{p}_or_{s}({x}, {p}_xor_{s}({y}, {ones}))"
        case _:
            raise InternalError(f"codegen: `{op}` on masks")


def _compare(e: ir.Binary, unit: Unit) -> str:
    """AVX2 has == and > for signed integers; the rest follows."""
    t, lanes = e.a.type.element, e.type.lanes
    p, bits = prefix(t, lanes), register_bits(t, lanes)
    x, y = unit.printers.vector(e.a, unit), unit.printers.vector(e.b, unit)
    if t.is_float:
        text = f"{p}_cmp_{suffix(t)}({x}, {y}, {FLOAT_COMPARE[e.op]})"
        return cast_register(text, t, integer(t.bits), lanes)
    if t.kind is Kind.UINT and e.op not in (ir.Op.EQ, ir.Op.NE):
        low = set1(t, lanes, {8: "-128", 16: "-32768", 32: "INT32_MIN"}[t.bits])
        x, y = (f"{p}_xor_si{bits}({part}, {low})" for part in (x, y))
    equal, greater = f"{p}_cmpeq_epi{t.bits}", f"{p}_cmpgt_epi{t.bits}"
    texts = {
        ir.Op.EQ: f"{equal}({x}, {y})", ir.Op.NE: f"{equal}({x}, {y})", ir.Op.GT: f"{greater}({x}, {y})",
        ir.Op.LE: f"{greater}({x}, {y})", ir.Op.LT: f"{greater}({y}, {x})", ir.Op.GE: f"{greater}({y}, {x})",
    }  # fmt: skip
    text = texts[e.op]
    if e.op in (ir.Op.NE, ir.Op.LE, ir.Op.GE):
        return f"{p}_xor_si{bits}({text}, {set1(integer(t.bits), lanes, '-1')})"
    return text
