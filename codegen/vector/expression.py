"""Vector expressions as C. Vectors are native: `legalize` has seen to that."""

from __future__ import annotations

from typing import assert_never

from hbc.codegen.text.instruct import execution
from hbc.codegen.text.lanewise import lane_operand, lanewise
from hbc.codegen.text.math import math_function
from hbc.codegen.text.scalar import declare as declare_scalar
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import constant, wrapped
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.cast import cast
from hbc.codegen.vector.load import load
from hbc.codegen.vector.machine import machine_of
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, broadcast, const_value
from hbc.ir.lang.types import BOOL, F32, F64, Kind
from hbc.ir.passes.vector_math import is_expanded
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.take import constants


def vector(e: ir.Expr, unit: Unit) -> str:
    """The C text of a vector expression that is not a mask."""
    match e:
        case ir.Var(name=name):
            return unit.scope.find(name).text
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            return _broadcast(v, e.type.lanes, unit)
        case ir.Gather(value=ir.Load() as v):
            return _picked(e, v, unit)
        case ir.Ramp() | ir.Gather() | ir.Broadcast():
            return _positions(e, unit)
        case ir.Load():
            return load(e, unit)
        case ir.Cast():
            return cast(e, unit)
        case ir.Binary():
            return _binary(e, unit)
        case ir.Unary(op=op, a=a):
            return _unary(op, a, unit)
        case ir.Select():
            return _select(e, unit)
        case ir.Call():
            return _call(e, unit)
        case ir.Let(name=name, value=v, body=body):
            unit.printers.declare(name, v, unit)
            return vector(body, unit)
        case ir.Move(value=v):
            return vector(v, unit)
        case ir.Instruct():
            return execution(e, unit)
        case ir.VectorReduce() | ir.Const() | ir.Access() | ir.Tuple():
            raise InternalError(f"codegen: {type(e).__name__} of {e.type} was not legalized")
        case _:
            assert_never(e)


def declare(name: str, value: ir.Expr, unit: Unit) -> None:
    """`const T name = value;` for a scalar, vector or mask; the name is in scope from here on."""
    t, lanes = value.type.element, value.type.lanes
    if lanes == 1:
        declare_scalar(name, value, unit)
        return
    machine = machine_of(unit)
    if t == BOOL:
        kind, text = machine.masks.declared(name, value, unit)
    else:
        kind = machine.registers.type(t, lanes)
        text = machine.held(vector(value, unit), value, unit)
    variable = unit.scope.declare(name)
    unit.out.line(f"const {kind} {variable} = {text};")


def _broadcast(v: ir.Expr, lanes: int, unit: Unit) -> str:
    t, value = v.type.element, const_value(v)
    text = constant(value, t) if value is not None else str(scalar(v, unit))
    return machine_of(unit).broadcast(t, lanes, text)


def _picked(e: ir.Gather, v: ir.Load, unit: Unit) -> str:
    t, lanes = e.type.element, v.type.lanes
    text = machine_of(unit).shuffles.picked(load(v, unit), lanes, e.lanes, t, unit)
    if text is None:
        raise InternalError(f"codegen: no shuffle of {lanes} lanes of {t} to {len(e.lanes)}")
    return text


def _positions(e: ir.Expr, unit: Unit) -> str:
    """Integers that differ by known amounts from lane to lane; or copies of a shorter vector."""
    t, lanes, machine = e.type.element, e.type.lanes, machine_of(unit)
    known = constant_lanes(e)
    if known is not None:
        return machine.lanes_of(t, lanes, [constant(v, t) for v in known])
    offsets = lane_offsets(e)
    if offsets is not None:
        rest = machine.lanes_of(t, lanes, [constant(wrapped(v, t), t) for v in offsets[1]])
        return machine.put("add", t, lanes, (_broadcast(offsets[0], lanes, unit), rest), unit)
    if isinstance(e, ir.Ramp):
        inner = e.base.type.lanes
        line = constants(tuple(lane // inner for lane in range(lanes)), t)
        steps = binary(ir.Op.MUL, line, broadcast(e.stride, e.lanes))
        return vector(ir.Binary(ir.Op.ADD, broadcast(e.base, e.lanes), steps), unit)
    if isinstance(e, ir.Broadcast):
        return machine.shuffles.copies(e, unit)
    raise InternalError(f"codegen: {type(e).__name__} of {e.type} as a value")


def _binary(e: ir.Binary, unit: Unit) -> str:
    t, lanes, machine = e.type.element, e.type.lanes, machine_of(unit)
    if fused := _fma(e, unit):
        return fused
    name, a, b = e.op.name.lower(), e.a, e.b
    if e.op in (ir.Op.SHL, ir.Op.SHR) and t.is_int:
        amount = const_value(b)
        if amount is None:
            b = binary(ir.Op.AND, b, t.bits - 1)
        elif machine.has(f"{name}_by", t.name):
            x, n = vector(a, unit), int(amount) % t.bits
            return machine.put(f"{name}_by", t, lanes, (x, str(n)), unit) if n else x
    if e.op is ir.Op.MUL and machine.has("mul_by", t.name):
        factor = const_value(b)
        if factor is not None:
            return machine.put("mul_by", t, lanes, (vector(a, unit), constant(factor, t)), unit)
    if machine.has(f"{name}_number", t.name):
        a, b = (b, a) if _is_number(b) else (a, b)
        name += "_number" if _is_number(a) else ""
    if machine.has(name, t.name):
        return machine.put(name, t, lanes, (vector(a, unit), vector(b, unit)), unit)
    value = ir.Binary(e.op, lane_operand(0, t), lane_operand(1, t))
    function = lanewise(f"{name}_{t}x{lanes}", value, (t, t), lanes, unit)
    return f"{function}({vector(e.a, unit)}, {vector(e.b, unit)})"


def _fma(e: ir.Binary, unit: Unit) -> str | None:
    """a*b+c, a*b-c and c-a*b with one rounding."""
    t = e.type.element
    if t not in (F32, F64) or e.op not in (ir.Op.ADD, ir.Op.SUB):
        return None
    name, product, other = "fmadd" if e.op is ir.Op.ADD else "fmsub", e.a, e.b
    if not _is_product(product):
        name, product, other = "fmadd" if e.op is ir.Op.ADD else "fnmadd", e.b, e.a
    if not (isinstance(product, ir.Binary) and _is_product(product)):
        return None
    operands = [vector(part, unit) for part in (product.a, product.b, other)]
    return machine_of(unit).put(name, t, e.type.lanes, operands, unit)


def _is_product(e: ir.Expr) -> bool:
    return isinstance(e, ir.Binary) and e.op is ir.Op.MUL


def _is_number(e: ir.Expr) -> bool:
    value = const_value(e)
    return value is not None and value == value  # NaN differs from itself


def _unary(op: ir.UnaryOp, a: ir.Expr, unit: Unit) -> str:
    t, lanes, x, machine = a.type.element, a.type.lanes, vector(a, unit), machine_of(unit)
    name = op.name.lower()
    if op is ir.UnaryOp.ABS and t.kind is Kind.UINT:
        return x
    if machine.has(name, t.name):
        return machine.put(name, t, lanes, (x,), unit)
    value = ir.Unary(op, lane_operand(0, t))
    return f"{lanewise(f'{name}_{t}x{lanes}', value, (t,), lanes, unit)}({x})"


def _select(e: ir.Select, unit: Unit) -> str:
    t, lanes, machine = e.type.element, e.type.lanes, machine_of(unit)
    condition = machine.masks.text(e.condition, t.bits, unit)
    a = machine.chosen(vector(e.a, unit), e.a, unit)
    if _is_nothing(e.b) and machine.has("select_zero", t.name):
        return machine.put("select_zero", t, lanes, (condition, a), unit)
    b = machine.chosen(vector(e.b, unit), e.b, unit)
    return machine.put("select", t, lanes, (condition, a, b), unit)


def _is_nothing(e: ir.Expr) -> bool:
    """Whether all bits are 0."""
    value = const_value(e)
    return value == 0 and not str(value).startswith("-")


def _call(e: ir.Call, unit: Unit) -> str:
    t, lanes, argument, machine = e.type.element, e.type.lanes, e.args[0], machine_of(unit)
    x = vector(argument, unit)
    if e.name is ir.MathOp.REINTERPRET:
        return machine.reinterpret(x, argument.type.element, t, lanes)
    if machine.has(e.name.value, t.name):
        return machine.put(e.name.value, t, lanes, (x,), unit)
    if t == F32 and is_expanded(e.name):
        return f"{math_function(e.name, lanes, unit)}({x})"
    value: ir.Expr = ir.Call(e.name, (lane_operand(0, t),), t(1))
    return f"{lanewise(f'{e.name}_{t}x{lanes}', value, (t,), lanes, unit)}({x})"
