"""Vectors of bools as integer lanes that are all ones or zero, as wide as what was compared (AVX2, NEON)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import LOGIC_OR, Unit
from hbc.codegen.vector.machine import WIDTH_OF_MASK, Masks, machine_of
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, DTYPES, DType, Memory
from hbc.ir.vectors.lane_masks import first_lanes_count, known_lanes
from hbc.ir.vectors.take import Take, integer


def mask(e: ir.Expr, width: int, unit: Unit) -> str:
    """The C text of a vector of bools with lanes of `width` bits."""
    own = natural_width(e, unit)
    text = _any_width(e, width, unit)
    if text is not None:
        return text
    text, resized = _lanes(e, own, unit), machine_of(unit).masks.resized
    if own == width:
        return text
    assert resized is not None
    return resized(text, own, width, e.type.lanes, unit)


def natural_width(e: ir.Expr, unit: Unit) -> int:
    """The lane width, in bits, that comes without a conversion, if a register has room for the lanes."""
    return min(_compared_width(e, unit), machine_of(unit).mask_bits // e.type.lanes)


def _compared_width(e: ir.Expr, unit: Unit) -> int:
    """That of what is compared."""
    match e:
        case ir.Var(name=name):
            return unit.mask_widths[name]
        case ir.Binary(op=op, a=a) if op in ir.COMPARISONS and a.type.element != BOOL:
            return a.type.element.bits
        case ir.Binary(a=a) | ir.Unary(a=a) | ir.Select(a=a) | ir.Let(body=a) | ir.Move(value=a):
            return _compared_width(a, unit)
        case _:
            return 8


def put(op: str, width: int, lanes: int, operands: Sequence[str], unit: Unit) -> str:
    """An operation on masks with lanes of so many bits."""
    return machine_of(unit).put_mask(
        op, WIDTH_OF_MASK[width], integer(width), lanes, operands, unit
    )


def _any_width(e: ir.Expr, width: int, unit: Unit) -> str | None:
    """What can be formed with lanes of any width."""
    lanes, machine = e.type.lanes, machine_of(unit)
    count = first_lanes_count(e)
    if count is not None:
        return _first(count, width, lanes, unit)
    match e:
        case ir.Broadcast(value=ir.Const(value=v)):
            return put("true" if v else "false", width, lanes, (), unit)
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            return put("alike", width, lanes, (f"{scalar(v, unit).at(LOGIC_OR)} ? -1 : 0",), unit)
        case ir.Binary(op=op, a=a) if op in ir.COMPARISONS and a.type.element != BOOL:
            known = known_lanes(e)
            if known is not None:
                return _literal(width, ["-1" if holds else "0" for holds in known], unit)
            if lanes * a.type.element.bits > machine.mask_bits:
                return _literal(width, _each_lane(e, unit), unit)
            return None
        case _:
            return None


def _first(count: ir.Expr, width: int, lanes: int, unit: Unit) -> str:
    """The first so many lanes, of which there may be fewer than none or more than all."""
    machine, t = machine_of(unit), integer(width)
    n = scalar(count, unit)
    low, high = unit.prelude.use("min_i64"), unit.prelude.use("max_i64")
    bound = f"{high}({low}({n}, {lanes}), 0)"
    if width < 64:
        bound = machine.element(bound, DTYPES[f"u{width}"])
    line = machine.lanes_of(t, lanes, [str(i) for i in range(lanes)])
    return machine.put("gt", t, lanes, (machine.alike(t, lanes, bound), line), unit)


def _literal(width: int, texts: list[str], unit: Unit) -> str:
    machine, t, lanes = machine_of(unit), integer(width), len(texts)
    return put("lanes", width, lanes, (machine.lanes_of(t, lanes, texts),), unit)


def _each_lane(e: ir.Expr, unit: Unit) -> list[str]:
    """-1 or 0 for every lane, each asked by itself."""
    tests = [scalar(Take()(e, (lane,)), unit).at(LOGIC_OR) for lane in range(e.type.lanes)]
    return [f"{test} ? -1 : 0" for test in tests]


def _lanes(e: ir.Expr, width: int, unit: Unit) -> str:
    """`e` with its natural lane width."""
    lanes = e.type.lanes
    match e:
        case ir.Var(name=name):
            return unit.scope.find(name).text
        case ir.Binary(op=op, a=a, b=b) if a.type.element == BOOL:
            operands = mask(a, width, unit), mask(b, width, unit)
            return put(op.name.lower(), width, lanes, operands, unit)
        case ir.Binary(op=op, a=a, b=b) if op in ir.COMPARISONS:
            x, y = unit.printers.vector(a, unit), unit.printers.vector(b, unit)
            return machine_of(unit).put(op.name.lower(), a.type.element, lanes, (x, y), unit)
        case ir.Unary(a=a):
            return put("not", width, lanes, (mask(a, width, unit),), unit)
        case ir.Select(condition=c, a=a, b=b):
            x, y, z = (mask(part, width, unit) for part in (a, b, c))
            return put("select", width, lanes, (z, x, y), unit)
        case ir.Let(name=name, value=v, body=body):
            unit.printers.declare(name, v, unit)
            return _lanes(body, width, unit)
        case ir.Move(value=v):
            return _lanes(v, width, unit)
        case ir.Load():
            text = unit.printers.load(e, unit)
            if unit.buffers[e.buffer].memory is Memory.REGISTER:
                return text
            return put("test", 8, lanes, (text,), unit)
        case ir.Broadcast() | ir.Gather():
            return _literal(width, _each_lane(e, unit), unit)
        case _:
            raise InternalError(f"codegen: {type(e).__name__} of {e.type} as a mask")


def _declared(name: str, e: ir.Expr, unit: Unit) -> tuple[str, str]:
    width = natural_width(e, unit)
    unit.mask_widths[name] = width
    return mask_type(width, e.type.lanes, unit), mask(e, width, unit)


def mask_type(width: int, lanes: int, unit: Unit) -> str:
    """The C type of a mask with lanes of so many bits."""
    return put("type", width, lanes, (), unit)


def _spilled(name: str, e: ir.Expr, t: DType, unit: Unit) -> Callable[[str], str]:
    machine, width, lanes = machine_of(unit), max(8, t.bits), e.type.lanes
    whole = machine.registers.lanes(integer(width), lanes)
    unit.out.line(f"{put('element', width, lanes, (), unit)} {name}[{whole}];")
    stored = put("spill", width, lanes, (name, mask(e, width, unit)), unit)
    unit.out.line(f"{stored};")
    return lambda lane: f"{name}[{lane}]"


LANE_MASKS = Masks(mask, _declared, _spilled)
