"""NEON's vectors of bools: unsigned lanes that are all ones or zero, as wide as what was compared."""

from __future__ import annotations

from collections.abc import Callable

from hbc.codegen.neon.convert import resized
from hbc.codegen.neon.ops import COMPARE, LOGIC
from hbc.codegen.neon.types import (
    broadcast,
    constants,
    kind,
    literal,
    mask_kind,
    mask_type,
    name,
    q,
    reinterpret,
)  # fmt: skip
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import LOGIC_OR, Unit
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DType, Memory
from hbc.ir.vectors.lane_masks import first_lanes_count, known_lanes
from hbc.ir.vectors.take import Take, integer

REGISTER = 128


def mask(e: ir.Expr, width: int, unit: Unit) -> str:
    """The C text of a vector of bools as unsigned lanes of `width` bits."""
    direct = _any_width(e, width, unit)
    if direct is not None:
        return direct
    own = natural_width(e, unit)
    return mask_resized(_lanes(e, own, unit), own, width, e.type.lanes)


def mask_resized(text: str, width: int, wanted: int, lanes: int) -> str:
    """A mask with lanes of another width."""
    if width == wanted:
        return text
    if wanted < width:
        return resized(text, mask_kind(width), mask_kind(wanted), lanes)
    bits = 64 if width * lanes <= 64 else 128
    signed = reinterpret(text, mask_kind(width), f"s{width}", bits)
    return resized(signed, f"s{width}", mask_kind(wanted), lanes)


def natural_width(e: ir.Expr, unit: Unit) -> int:
    """The lane width, in bits, that comes without a conversion, if a register has room for the lanes."""
    return min(_compared_width(e, unit), REGISTER // e.type.lanes)


def _compared_width(e: ir.Expr, unit: Unit) -> int:
    """That of what is compared."""
    match e:
        case ir.Var(name=variable):
            return unit.mask_widths[variable]
        case ir.Binary(op=op, a=a) if op in ir.COMPARISONS and a.type.element != BOOL:
            return a.type.element.bits
        case ir.Binary(a=a) | ir.Unary(a=a) | ir.Select(a=a) | ir.Let(body=a) | ir.Move(value=a):
            return _compared_width(a, unit)
        case _:
            return 8


def memory_width(t: DType, lanes: int) -> int:
    """The lane width of the mask of an access to elements of type t."""
    return min(t.bits, REGISTER // lanes)


def _any_width(e: ir.Expr, width: int, unit: Unit) -> str | None:
    """What can be formed with lanes of any width."""
    t, lanes = integer(width), e.type.lanes
    count = first_lanes_count(e)
    if count is not None:
        low, high = unit.prelude.use("min_i64"), unit.prelude.use("max_i64")
        clamped = f"{high}({low}({scalar(count, unit)}, {lanes}), 0)"
        bound = broadcast(t, lanes, clamped)
        return f"{name('vcgt', t, lanes)}({bound}, {constants(t, range(lanes))})"
    match e:
        case ir.Broadcast(value=ir.Const(value=v)):
            return _ones(width, lanes) if v else _all(width, lanes, "0")
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            return _all(width, lanes, f"{scalar(v, unit).at(LOGIC_OR)} ? -1 : 0")
        case ir.Binary(op=op, a=a) if op in ir.COMPARISONS and a.type.element != BOOL:
            known = known_lanes(e)
            if known is not None:
                return _literal(width, ["-1" if holds else "0" for holds in known])
            if lanes * a.type.element.bits > REGISTER:
                return _literal(width, _each_lane(e, unit))
            return None
        case _:
            return None


def _lanes(e: ir.Expr, width: int, unit: Unit) -> str:
    """`e` with its natural lane width."""
    lanes = e.type.lanes
    match e:
        case ir.Var(name=variable):
            return unit.scope.find(variable).text
        case ir.Binary(op=op, a=a, b=b) if a.type.element == BOOL:
            return _logic(op, mask(a, width, unit), mask(b, width, unit), width, lanes)
        case ir.Binary(op=op) if op in ir.COMPARISONS:
            return _compare(e, unit)
        case ir.Unary(a=a):
            return inverted(mask(a, width, unit), width, lanes)
        case ir.Select(condition=c, a=a, b=b):
            x, y, z = (mask(part, width, unit) for part in (a, b, c))
            return f"{_name('vbsl', width, lanes)}({z}, {x}, {y})"
        case ir.Let(name=variable, value=v, body=body):
            unit.printers.declare(variable, v, unit)
            return _lanes(body, width, unit)
        case ir.Move(value=v):
            return _lanes(v, width, unit)
        case ir.Load():
            text = unit.printers.load(e, unit)
            if unit.buffers[e.buffer].memory is Memory.REGISTER:
                return text
            return f"{name('vcgt', BOOL, lanes)}({text}, {broadcast(BOOL, lanes, '0')})"
        case ir.Broadcast() | ir.Gather():
            return _literal(width, _each_lane(e, unit))
        case _:
            raise InternalError(f"codegen: {type(e).__name__} of {e.type} as a mask")


def _each_lane(e: ir.Expr, unit: Unit) -> list[str]:
    """-1 or 0 for every lane, each asked by itself."""
    lanes = range(e.type.lanes)
    tests = [scalar(Take()(e, (lane,)), unit).at(LOGIC_OR) for lane in lanes]
    return [f"{test} ? -1 : 0" for test in tests]


def _compare(e: ir.Binary, unit: Unit) -> str:
    t, lanes = e.a.type.element, e.type.lanes
    stem = COMPARE[ir.Op.EQ if e.op is ir.Op.NE else e.op]
    x, y = unit.printers.vector(e.a, unit), unit.printers.vector(e.b, unit)
    text = f"{name(stem, t, lanes)}({x}, {y})"
    return inverted(text, t.bits, lanes) if e.op is ir.Op.NE else text


def _logic(op: ir.Op, x: str, y: str, width: int, lanes: int) -> str:
    row = LOGIC.get(op)
    if row is None:
        raise InternalError(f"codegen: `{op}` on masks")
    stem, swapped = row
    a, b = (y, x) if swapped else (x, y)
    return f"{_name(stem, width, lanes)}({a}, {b})"


def inverted(text: str, width: int, lanes: int) -> str:
    """Every bit flipped. There is no form for 64-bit lanes."""
    if width < 64:
        return f"{_name('vmvn', width, lanes)}({text})"
    return f"vreinterpretq_u64_u32(vmvnq_u32(vreinterpretq_u32_u64({text})))"


def _name(stem: str, width: int, lanes: int) -> str:
    return f"{stem}{q(integer(width), lanes)}_{mask_kind(width)}"


def _all(width: int, lanes: int, text: str) -> str:
    return f"{_name('vdup', width, lanes).replace('_', '_n_', 1)}({text})"


def _ones(width: int, lanes: int) -> str:
    return _all(width, lanes, f"(uint{width}_t)-1" if width == 64 else f"{(1 << width) - 1:#x}")


def _literal(width: int, texts: list[str]) -> str:
    t, lanes = integer(width), len(texts)
    bits = 64 if width * lanes <= 64 else 128
    whole = [*texts, *["0"] * (bits // width - lanes)]
    held = kind(t)
    signed = literal(mask_type(width, lanes).removeprefix("u"), whole)
    return reinterpret(signed, held, mask_kind(width), bits)


def live_lanes(e: ir.Expr, unit: Unit) -> Callable[[int], str]:
    """Declares what a mask needs to be asked lane by lane: the result gives the C condition of a lane.
    Of the first n lanes that is n, so that the C compiler sees which of them never are live."""
    variable = unit.scope.fresh("live")
    count = first_lanes_count(e)
    if count is not None:
        held = c_type(count.type.element)
        unit.out.line(f"const {held} {variable} = {scalar(count, unit)};")
        return lambda lane: f"{variable} > {lane}"
    width, lanes = natural_width(e, unit), e.type.lanes
    text = mask(e, width, unit)
    unit.out.line(f"const {mask_type(width, lanes)} {variable} = {text};")
    get = f"vget{q(integer(width), lanes)}_lane_{mask_kind(width)}"
    return lambda lane: f"{get}({variable}, {lane})"
