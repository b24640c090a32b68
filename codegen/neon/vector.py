"""Vector expressions as C with NEON intrinsics. Vectors are native: `legalize` has seen to that."""

from __future__ import annotations

from typing import assert_never

from hbc.codegen.neon.convert import clamped, convert, saturate
from hbc.codegen.neon.load import load
from hbc.codegen.neon.mask import inverted, mask, natural_width
from hbc.codegen.neon.ops import BINARY, MATH, UNARY
from hbc.codegen.neon.store import reduce_lanes, store_vector
from hbc.codegen.neon.types import (
    NEON,
    broadcast,
    constants,
    copies,
    kind,
    mask_kind,
    mask_type,
    name,
    register_bits,
    reinterpret,
    vector_type,
    zero,
)  # fmt: skip
from hbc.codegen.text.instruct import execution
from hbc.codegen.text.lanewise import lane_operand, lanewise
from hbc.codegen.text.math import math_function
from hbc.codegen.text.scalar import declare as declare_scalar
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import constant, wrapped
from hbc.codegen.text.unit import Printers, Unit
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, const_value
from hbc.ir.lang.build import broadcast as broadcast_expr
from hbc.ir.lang.types import BOOL, F32, F64, Kind, Memory
from hbc.ir.passes.vector_math import is_expanded
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.take import constants as constants_expr
from hbc.ir.vectors.take import integer


def vector(e: ir.Expr, unit: Unit) -> str:
    """The C text of a vector expression that is not a mask."""
    t, lanes = e.type.element, e.type.lanes
    match e:
        case ir.Var(name=variable):
            return unit.scope.find(variable).text
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            value = const_value(v)
            text = str(scalar(v, unit)) if value is None else constant(value, t)
            return broadcast(t, lanes, text)
        case ir.Broadcast() if lane_offsets(e) is None:
            return _copies(e, unit)
        case ir.Ramp() | ir.Gather() | ir.Broadcast():
            return _positions(e, unit)
        case ir.Load():
            return load(e, unit)
        case ir.Cast(value=v):
            if BOOL in (t, v.type.element):
                raise InternalError("codegen: a cast of a mask was not legalized")
            within = clamped(v, t)
            if within is not None:
                return saturate(vector(within, unit), v.type.element, t, lanes)
            return convert(vector(v, unit), v.type.element, t, lanes, unit)
        case ir.Binary():
            return _binary(e, unit)
        case ir.Unary():
            return _unary(e, unit)
        case ir.Select(condition=c, a=a, b=b):
            x, y = vector(a, unit), vector(b, unit)
            return f"{name('vbsl', t, lanes)}({mask(c, t.bits, unit)}, {x}, {y})"
        case ir.Call():
            return _call(e, unit)
        case ir.Let(name=variable, value=v, body=body):
            unit.printers.declare(variable, v, unit)
            return vector(body, unit)
        case ir.Move(value=v):
            return vector(v, unit)
        case ir.Instruct():
            return execution(e, unit)
        case ir.VectorReduce() | ir.Const() | ir.Access():
            raise InternalError(f"codegen: {type(e).__name__} of {e.type} was not legalized")
        case _:
            assert_never(e)


def declare(variable: str, value: ir.Expr, unit: Unit) -> None:
    """`const T name = value;` for a scalar, vector or mask; the name is in scope from here on."""
    t, lanes = value.type.element, value.type.lanes
    if lanes == 1:
        declare_scalar(variable, value, unit)
        return
    if t != BOOL:
        held, text = vector_type(t, lanes), vector(value, unit)
    else:
        width = natural_width(value, unit)
        if width * lanes > 128:
            width = 8
        unit.mask_widths[variable] = width
        held, text = mask_type(width, lanes), mask(value, width, unit)
    unit.out.line(f"const {held} {unit.scope.declare(variable)} = {text};")


def _copies(e: ir.Broadcast, unit: Unit) -> str:
    """Copies of a vector of several lanes: an operand of dot products that is the same in each."""
    t, value = e.type.element, e.value
    if isinstance(value, ir.Load) and value.mask is None:
        repeated = ir.Load(value.buffer, ir.Broadcast(value.index, e.lanes), e.type)
        in_memory = unit.buffers[value.buffer].memory is not Memory.REGISTER
        if in_memory and lane_offsets(repeated.index) is not None:
            return load(repeated, unit)
    return copies(vector(value, unit), t, value.type.lanes, e.type.lanes)


def _positions(e: ir.Expr, unit: Unit) -> str:
    """Integers that differ by known amounts from lane to lane."""
    t, lanes = e.type.element, e.type.lanes
    known = constant_lanes(e)
    if known is not None:
        return constants(t, known)
    offsets = lane_offsets(e)
    if offsets is not None:
        base = broadcast(t, lanes, str(scalar(offsets[0], unit)))
        return (
            f"{name('vadd', t, lanes)}({base}, {constants(t, [wrapped(v, t) for v in offsets[1]])})"
        )
    if isinstance(e, ir.Ramp) and e.base.type.lanes == 1:
        line = constants_expr(tuple(range(lanes)), t.bits)
        steps = binary(ir.Op.MUL, line, broadcast_expr(e.stride, lanes))
        return vector(ir.Binary(ir.Op.ADD, broadcast_expr(e.base, lanes), steps), unit)
    raise InternalError(f"codegen: {type(e).__name__} of {e.type} as a value")


def _binary(e: ir.Binary, unit: Unit) -> str:
    t, lanes, op = e.type.element, e.type.lanes, e.op
    if fused := _fma(e, unit):
        return fused
    if op in (ir.Op.SHL, ir.Op.SHR):
        return _shift(e, unit)
    if (op, t) in BINARY:
        return f"{name(BINARY[op, t], t, lanes)}({vector(e.a, unit)}, {vector(e.b, unit)})"
    value = ir.Binary(op, lane_operand(0, t), lane_operand(1, t))
    function = lanewise(f"{op.name.lower()}_{t}x{lanes}", value, (t, t), lanes, unit)
    return f"{function}({vector(e.a, unit)}, {vector(e.b, unit)})"


def _fma(e: ir.Binary, unit: Unit) -> str | None:
    """a*b+c, a*b-c and c-a*b with one rounding. There is no intrinsic for the second: negating c
    is exact."""
    t, lanes = e.type.element, e.type.lanes
    if t not in (F32, F64) or e.op not in (ir.Op.ADD, ir.Op.SUB):
        return None
    stem, product, other = "vfma", e.a, e.b
    if not _is_product(product):
        stem, product, other = "vfma" if e.op is ir.Op.ADD else "vfms", e.b, e.a
    elif e.op is ir.Op.SUB:
        other = ir.Unary(ir.UnaryOp.NEG, other)
    if not (isinstance(product, ir.Binary) and _is_product(product)):
        return None
    x, y, z = (vector(part, unit) for part in (product.a, product.b, other))
    return f"{name(stem, t, lanes)}({z}, {x}, {y})"


def _is_product(e: ir.Expr) -> bool:
    return isinstance(e, ir.Binary) and e.op is ir.Op.MUL


def _shift(e: ir.Binary, unit: Unit) -> str:
    """Amounts count modulo the width. Lane by lane there is only a shift to the left, by signed
    amounts."""
    t, lanes, value = e.type.element, e.type.lanes, vector(e.a, unit)
    amount = const_value(e.b)
    if amount is not None:
        n = int(amount) % t.bits
        stem = "vshl" if e.op is ir.Op.SHL else "vshr"
        return f"{name(stem, t, lanes).replace('_', '_n_', 1)}({value}, {n})" if n else value
    held = integer(t.bits)
    bits = register_bits(t, lanes)
    count = vector(binary(ir.Op.AND, e.b, t.bits - 1), unit)
    count = reinterpret(count, kind(t), kind(held), bits)
    if e.op is ir.Op.SHR:
        count = f"{name('vneg', held, lanes)}({count})"
    return f"{name('vshl', t, lanes)}({value}, {count})"


def _unary(e: ir.Unary, unit: Unit) -> str:
    t, lanes, x = e.type.element, e.type.lanes, vector(e.a, unit)
    unsigned = t.kind is Kind.UINT
    match e.op:
        case ir.UnaryOp.NEG if unsigned:
            return f"{name('vsub', t, lanes)}({zero(t, lanes)}, {x})"
        case ir.UnaryOp.ABS if unsigned:
            return x
        case ir.UnaryOp.NEG | ir.UnaryOp.ABS:
            return f"{name(UNARY[e.op], t, lanes)}({x})"
        case ir.UnaryOp.NOT:
            held, bits = mask_kind(t.bits), register_bits(t, lanes)
            flipped = inverted(reinterpret(x, kind(t), held, bits), t.bits, lanes)
            return reinterpret(flipped, held, kind(t), bits)
        case _:
            assert_never(e.op)


def _call(e: ir.Call, unit: Unit) -> str:
    t, lanes, argument = e.type.element, e.type.lanes, e.args[0]
    x = vector(argument, unit)
    match e.name:
        case ir.MathOp.REINTERPRET:
            return reinterpret(x, kind(argument.type.element), kind(t), register_bits(t, lanes))
        case ir.MathOp.RSQRT:
            root, one = f"{name('vsqrt', t, lanes)}({x})", broadcast(t, lanes, constant(1.0, t))
            return f"{name('vdiv', t, lanes)}({one}, {root})"
        case _ if e.name in MATH:
            return f"{name(MATH[e.name], t, lanes)}({x})"
        case _ if t == F32 and is_expanded(e.name):
            return f"{math_function(e.name, lanes, unit)}({x})"
        case _:
            value: ir.Expr = ir.Call(e.name, (lane_operand(0, t),), t(1))
            function = lanewise(f"{e.name}_{t}x{lanes}", value, (t,), lanes, unit)
            return f"{function}({x})"


NEON_PRINTERS = Printers(vector, load, reduce_lanes, declare, store_vector, NEON)
