"""Vector expressions as C with x86 intrinsics. Vectors are native: `legalize` has seen to that."""

from __future__ import annotations

from typing import assert_never

from hbc.codegen.text.instruct import execution
from hbc.codegen.text.lanewise import lane_operand, lanewise
from hbc.codegen.text.math import math_function
from hbc.codegen.text.scalar import declare as declare_scalar
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import constant, wrapped
from hbc.codegen.text.unit import Printers, Unit
from hbc.codegen.x86.convert import convert
from hbc.codegen.x86.hold import held, held_if_widened
from hbc.codegen.x86.load import load
from hbc.codegen.x86.mask import mask, natural_width
from hbc.codegen.x86.ops import BINARY, BITWISE, ROUND, SHIFT_CONSTANT, SHIFT_LANES, shift
from hbc.codegen.x86.permute import picked
from hbc.codegen.x86.repeat import repeated
from hbc.codegen.x86.store import reduce_lanes, store_vector
from hbc.codegen.x86.types import (
    X86_REGISTERS,
    cast_register,
    mask_type,
    prefix,
    register_bits,
    set1,
    setr,
    suffix,
    vector_type,
    whole,
    zero,
)  # fmt: skip
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, broadcast, const_value
from hbc.ir.lang.types import BOOL, F32, F64, I32, I64, DType, Kind
from hbc.ir.passes.vector_math import is_expanded
from hbc.ir.vectors.lane_offsets import constant_lanes, lane_offsets
from hbc.ir.vectors.take import constants, integer


def vector(e: ir.Expr, unit: Unit) -> str:
    """The C text of a vector expression that is not a mask."""
    t, lanes = e.type.element, e.type.lanes
    match e:
        case ir.Var(name=name):
            return unit.scope.find(name).text
        case ir.Broadcast(value=v) if v.type.lanes == 1:
            return _broadcast(v, t, lanes, unit)
        case ir.Gather(value=ir.Load() as v):
            return picked(load(v, unit), v.type.lanes, e.lanes, t, unit)
        case ir.Ramp() | ir.Gather() | ir.Broadcast():
            return _positions(e, unit)
        case ir.Load():
            return load(e, unit)
        case ir.Cast(value=v):
            return _cast(v, t, lanes, unit)
        case ir.Binary():
            return _binary(e, unit)
        case ir.Unary():
            return _unary(e, unit)
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
        case ir.VectorReduce() | ir.Const() | ir.Access():
            raise InternalError(f"codegen: {type(e).__name__} of {e.type} was not legalized")
        case _:
            assert_never(e)


def declare(name: str, value: ir.Expr, unit: Unit) -> None:
    """`const T name = value;` for a scalar, vector or mask; the name is in scope from here on."""
    t, lanes = value.type.element, value.type.lanes
    if lanes == 1:
        declare_scalar(name, value, unit)
        return
    if t != BOOL:
        kind, text = vector_type(t, lanes), held(vector(value, unit), value, unit)
    elif unit.target.vector_bits == 512:
        kind, text = mask_type(lanes), mask(value, 8, unit)
    else:
        width = natural_width(value, unit)
        unit.mask_widths[name] = width
        kind, text = vector_type(integer(width), lanes), mask(value, width, unit)
    variable = unit.scope.declare(name)
    unit.out.line(f"const {kind} {variable} = {text};")


def _broadcast(v: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    value = const_value(v)
    if value == 0 and not str(value).startswith("-"):
        return zero(t, lanes)
    text = constant(value, t) if value is not None else str(scalar(v, unit))
    if t.bits == 16 and t.is_float:
        text = f"(short){text}"
    elif t.kind is Kind.UINT:
        signed = {8: "char", 16: "short", 32: "int"}[t.bits]
        text = f"({signed}){text if text.isalnum() else f'({text})'}"
    return set1(t, lanes, text)


def _positions(e: ir.Expr, unit: Unit) -> str:
    """Integers that differ by known amounts from lane to lane."""
    t, lanes = e.type.element, e.type.lanes
    known = constant_lanes(e)
    if known is not None:
        return setr(t, lanes, [constant(v, t) for v in known])
    offsets = lane_offsets(e)
    if offsets is not None:
        rest = setr(t, lanes, [constant(wrapped(v, t), t) for v in offsets[1]])
        base = _broadcast(offsets[0], t, lanes, unit)
        return f"{prefix(t, lanes)}_add_{suffix(t)}({base}, {rest})"
    if isinstance(e, ir.Ramp) and e.base.type.lanes == 1:
        steps = binary(
            ir.Op.MUL, constants(tuple(range(lanes)), t.bits), broadcast(e.stride, lanes)
        )
        return vector(ir.Binary(ir.Op.ADD, broadcast(e.base, lanes), steps), unit)
    if isinstance(e, ir.Broadcast):
        return repeated(e, unit)
    raise InternalError(f"codegen: {type(e).__name__} of {e.type} as a value")


def _cast(v: ir.Expr, t: DType, lanes: int, unit: Unit) -> str:
    s = v.type.element
    if BOOL in (s, t):
        raise InternalError("codegen: a cast of a mask was not legalized")
    return convert(vector(v, unit), s, t, lanes, unit)


def _binary(e: ir.Binary, unit: Unit) -> str:
    t, lanes = e.type.element, e.type.lanes
    p, op = prefix(t, lanes), e.op
    if fused := _fma(e, unit):
        return fused
    if op in BITWISE:
        return f"{p}_{BITWISE[op]}_{whole(t, lanes)}({vector(e.a, unit)}, {vector(e.b, unit)})"
    if op in (ir.Op.SHL, ir.Op.SHR) and (text := _shift(e, unit)):
        return text
    if op in (ir.Op.MIN, ir.Op.MAX) and t.is_float:
        return _extreme(e, unit)
    row = BINARY.get((op, t))
    if row and row.level <= unit.target.vector_bits:
        name = f"{p}_{row.stem}_{suffix(t, signless=not row.signed)}"
        return f"{name}({vector(e.a, unit)}, {vector(e.b, unit)})"
    value = ir.Binary(op, lane_operand(0, t), lane_operand(1, t))
    function = lanewise(f"{op.name.lower()}_{t}x{lanes}", value, (t, t), lanes, unit)
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
    x, y, z = (vector(part, unit) for part in (product.a, product.b, other))
    return f"{prefix(t, e.type.lanes)}_{name}_{suffix(t)}({x}, {y}, {z})"


def _is_product(e: ir.Expr) -> bool:
    return isinstance(e, ir.Binary) and e.op is ir.Op.MUL


def _shift(e: ir.Binary, unit: Unit) -> str | None:
    t, lanes = e.type.element, e.type.lanes
    p, level = prefix(t, lanes), unit.target.vector_bits
    amount = const_value(e.b)
    if amount is not None:
        row = shift(SHIFT_CONSTANT, e.op, t)
        if row and row.level <= level:
            n = int(amount) % t.bits
            return f"{p}_{row.stem}_epi{t.bits}({vector(e.a, unit)}, {n})"
        return None
    row = shift(SHIFT_LANES, e.op, t)
    if row is None or row.level > level:
        return None
    last = binary(ir.Op.AND, e.b, t.bits - 1)
    return f"{p}_{row.stem}_epi{t.bits}({vector(e.a, unit)}, {vector(last, unit)})"


def _extreme(e: ir.Binary, unit: Unit) -> str:
    """minps gives its second operand when either is NaN: right when the first is a number."""
    t, lanes = e.type.element, e.type.lanes
    name = f"{prefix(t, lanes)}_{e.op}_{suffix(t)}"
    a, b = e.a, e.b
    if _is_number(b):
        a, b = b, a
    if _is_number(a):
        return f"{name}({vector(a, unit)}, {vector(b, unit)})"
    function = f"{e.op}_{t}x{lanes}"
    v, s = vector_type(t, lanes), suffix(t)
    p = prefix(t, lanes)
    if unit.target.vector_bits == 512:
        nan = f"{p}_cmp_{s}_mask(a, a, _CMP_UNORD_Q)"
        result = f"{p}_mask_mov_{s}({name}(a, b), {nan}, a)"
    else:
        result = f"{p}_blendv_{s}({name}(a, b), a, {p}_cmp_{s}(a, a, _CMP_UNORD_Q))"
    text = f"static inline {v} {function}({v} a, {v} b)\n{{\n    return {result};\n}}\n"
    unit.prelude.add(function, text)
    return f"{function}({vector(a, unit)}, {vector(b, unit)})"


def _is_number(e: ir.Expr) -> bool:
    value = const_value(e)
    return value is not None and value == value  # NaN differs from itself


def _unary(e: ir.Unary, unit: Unit) -> str:
    t, lanes = e.type.element, e.type.lanes
    p, s, x = prefix(t, lanes), suffix(t), vector(e.a, unit)
    match e.op:
        case ir.UnaryOp.NEG if t.is_float:
            return f"{p}_xor_{s}({x}, {set1(t, lanes, constant(-0.0, t))})"
        case ir.UnaryOp.NEG:
            return f"{p}_sub_{s}({zero(t, lanes)}, {x})"
        case ir.UnaryOp.NOT:
            return f"{p}_xor_si{register_bits(t, lanes)}({x}, {set1(I32, _words(t, lanes), '-1')})"
        case ir.UnaryOp.ABS if t.is_float:
            return f"{p}_andnot_{s}({set1(t, lanes, constant(-0.0, t))}, {x})"
        case ir.UnaryOp.ABS if t.kind is Kind.UINT:
            return x
        case ir.UnaryOp.ABS if t != I64 or unit.target.vector_bits == 512:
            return f"{p}_abs_{s}({x})"
        case ir.UnaryOp.ABS:
            value = ir.Unary(ir.UnaryOp.ABS, lane_operand(0, t))
            return f"{lanewise(f'abs_{t}x{lanes}', value, (t,), lanes, unit)}({x})"
        case _:
            assert_never(e.op)


def _words(t: DType, lanes: int) -> int:
    return register_bits(t, lanes) // 32


def _select(e: ir.Select, unit: Unit) -> str:
    t, lanes = e.type.element, e.type.lanes
    p, bits = prefix(t, lanes), register_bits(t, lanes)
    condition = mask(e.condition, t.bits, unit)
    a = vector(e.a, unit)
    if unit.target.vector_bits == 512:
        a = held_if_widened(a, e.a, unit)
    if const_value(e.b) == 0 and unit.target.vector_bits == 512:
        return f"{p}_maskz_mov_{suffix(t)}({condition}, {a})"
    b = vector(e.b, unit)
    if unit.target.vector_bits == 512:
        b = held_if_widened(b, e.b, unit)
        return f"{p}_mask_blend_{suffix(t)}({condition}, {b}, {a})"
    if t in (F32, F64):
        wide = cast_register(condition, I32 if t == F32 else I64, t, lanes)
        return f"{p}_blendv_{suffix(t)}({b}, {a}, {wide})"
    return f"{'_mm' if bits == 128 else '_mm256'}_blendv_epi8({b}, {a}, {condition})"


def _call(e: ir.Call, unit: Unit) -> str:
    t, lanes = e.type.element, e.type.lanes
    p, s, argument = prefix(t, lanes), suffix(t), e.args[0]
    x = vector(argument, unit)
    match e.name:
        case ir.MathOp.REINTERPRET:
            return cast_register(x, argument.type.element, t, lanes)
        case ir.MathOp.SQRT:
            return f"{p}_sqrt_{s}({x})"
        case ir.MathOp.RSQRT:
            return f"{p}_div_{s}({set1(t, lanes, constant(1.0, t))}, {p}_sqrt_{s}({x}))"
        case ir.MathOp.FLOOR | ir.MathOp.CEIL | ir.MathOp.ROUND:
            name = "roundscale" if p == "_mm512" else "round"
            return f"{p}_{name}_{s}({x}, {ROUND[e.name]})"
        case _ if t == F32 and is_expanded(e.name):
            return f"{math_function(e.name, lanes, unit)}({x})"
        case _:
            value: ir.Expr = ir.Call(e.name, (lane_operand(0, t),), t(1))
            function = lanewise(f"{e.name}_{t}x{lanes}", value, (t,), lanes, unit)
            return f"{function}({x})"


X86_PRINTERS = Printers(vector, load, reduce_lanes, declare, store_vector, X86_REGISTERS)
