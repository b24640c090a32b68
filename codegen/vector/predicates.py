"""Vectors of bools as predicates: a bit for each lane, whatever was compared (AVX-512, RISC-V V)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import LOGIC_OR, Unit
from hbc.codegen.vector.machine import Masks, machine_of
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, not_, or_
from hbc.ir.lang.types import BOOL, I8, DType, Memory
from hbc.ir.vectors.lane_masks import first_lanes_count, known_lanes
from hbc.ir.vectors.take import Take


def predicate(e: ir.Expr, unit: Unit) -> str:
    """The C text of a vector of bools. Bits of no lane are 0."""
    lanes = e.type.lanes
    count = first_lanes_count(e)
    if count is not None:
        return f"{put('first', lanes, (), unit)}({scalar(count, unit)})"
    match e:
        case ir.Var(name=name):
            return unit.scope.find(name).text
        case ir.Broadcast(value=ir.Const(value=v)):
            return put("true" if v else "false", lanes, (), unit)
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            return put("alike", lanes, (scalar(v, unit).at(LOGIC_OR),), unit)
        case ir.Binary(op=op, a=a, b=b) if a.type.element == BOOL:
            operands = predicate(a, unit), predicate(b, unit)
            return put(op.name.lower(), lanes, operands, unit)
        case ir.Binary(op=op) if op in ir.COMPARISONS:
            return _compare(e, unit)
        case ir.Unary(a=a):
            return put("not", lanes, (predicate(a, unit),), unit)
        case ir.Select(condition=c, a=a, b=b):
            return predicate(or_(and_(c, a), and_(not_(c), b)), unit)
        case ir.Let(name=name, value=v, body=body):
            unit.printers.declare(name, v, unit)
            return predicate(body, unit)
        case ir.Move(value=v):
            return predicate(v, unit)
        case ir.Load():
            text = unit.printers.load(e, unit)
            if unit.buffers[e.buffer].memory is Memory.REGISTER:
                return text
            return put("test", lanes, (text,), unit)
        case _:
            raise InternalError(f"codegen: {type(e).__name__} of {e.type} as a mask")


def put(op: str, lanes: int, operands: Sequence[str], unit: Unit) -> str:
    """An operation on predicates, whose words are those of bytes."""
    return machine_of(unit).put_mask(op, "mask", I8, lanes, operands, unit)


def _compare(e: ir.Binary, unit: Unit) -> str:
    t, lanes, machine = e.a.type.element, e.type.lanes, machine_of(unit)
    if lanes * t.bits > machine.mask_bits:
        half = lanes // 2
        low, high = (predicate(Take()(e, tuple(range(n, n + half))), unit) for n in (0, half))
        return put("joined", lanes, (low, high, str(half)), unit)
    known = known_lanes(e)
    if known is not None:
        bits = f"{sum(1 << i for i, holds in enumerate(known) if holds):#x}"
        return put("known", lanes, (bits,), unit)
    x, y = unit.printers.vector(e.a, unit), unit.printers.vector(e.b, unit)
    return machine.put(e.op.name.lower(), t, lanes, (x, y), unit)


def _declared(name: str, e: ir.Expr, unit: Unit) -> tuple[str, str]:
    return put("type", e.type.lanes, (), unit), predicate(e, unit)


def _spilled(name: str, e: ir.Expr, t: DType, unit: Unit) -> Callable[[str], str]:
    kind = put("type", e.type.lanes, (), unit)
    unit.out.line(f"const {kind} {name} = {predicate(e, unit)};")
    return lambda lane: put("bit", e.type.lanes, (name, lane), unit)


PREDICATES = Masks(lambda e, width, unit: predicate(e, unit), _declared, _spilled)
