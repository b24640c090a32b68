"""Expressions as lines of Python: scalars by Python's integers, vectors by NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import BOOL, I64, INDEX, DType, Type
from hbc.ir.lang.walk import operands
from hbc.ir.meaning import arith, arith_cast, arith_scalar
from hbc.ir.meaning.instruction_semantics import executor
from hbc.ir.meaning.interp_code import Code
from hbc.ir.meaning.interp_lanes import LANES, Offsets, offsets_of
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

_SUMS = frozenset({ir.Op.ADD, ir.Op.SUB, ir.Op.MUL})
MOST_NESTED = 50  # parentheses in a line: CPython reads 200


def emit(code: Code, e: ir.Expr) -> str:
    """Adds lines that compute `e`; returns the name or literal that stands for it."""
    match e:
        case ir.Const(value=value, type=t):
            return literal(code, value, t.element)
        case ir.Var(name=name):
            if name not in code.variables:
                raise InternalError(f"the interpreter met the unbound variable `{name}`")
            return code.variables[name]
        case ir.Let(name=name, value=value, body=body):
            with code.bound(code.variables, name, emit(code, value)):
                return emit(code, body)
        case ir.Move(value=value):
            return emit(code, value)
        case ir.Cast(type=t, value=value):
            return _cast(code, emit(code, value), value.type, t)
        case ir.Binary(a=ir.Binary()) | ir.Binary(b=ir.Binary()) if (
            e.type == INDEX and e.op in _SUMS
        ):
            return _wrapped(code, _polynomial(code, e), I64)
        case ir.Binary(op=op, a=a, b=b):
            return _binary(code, op, emit(code, a), emit(code, b), a.type)
        case ir.Unary(op=uop, a=a):
            table = arith_scalar if a.type.lanes == 1 else arith
            return _apply(code, table.unary(uop, a.type.element), emit(code, a))
        case ir.Call(name=name, args=args, type=t):
            source = args[0].type
            module = arith_scalar if t.lanes == 1 else arith
            meaning = module.call(name, source.element, t.element)
            return _apply(code, meaning, *(emit(code, arg) for arg in args))
        case ir.Select(condition=c, a=a, b=b):
            condition, x, y = emit(code, c), emit(code, a), emit(code, b)
            if c.type.lanes == 1:
                return code.value(f"{x} if {condition} else {y}")
            return _apply(code, np.where, condition, x, y)
        case ir.Load():
            return _load(code, e)
        case ir.Instruct(args=args, type=t):
            meaning = code.refer(_execution(code, e))
            result = code.value(f"{meaning}({', '.join(_array(code, a) for a in args)})")
            return result if t.lanes > 1 else _only(code, result, t)
        case ir.Access(name=name):
            raise InternalError(f"the interpreter met the access of `{name}`: lower first")
        case ir.Tuple():
            raise InternalError("the interpreter met a tuple: lower first")
        case _:
            return _vector(code, e)


def buffer_name(code: Code, name: str) -> str:
    """What a buffer in scope is called in Python."""
    if name not in code.buffers:
        raise InternalError(f"the interpreter met the unknown buffer `{name}`")
    python = code.buffers[name]
    return f"{python}[{code.thread or 0}]" if python in code.shared_out else python


def literal(code: Code, value: int | float | bool, element: DType) -> str:
    """A constant as Python source, or the name of an object that is one."""
    if element.is_float:
        # Through the dtype: Python has no literal for bf16, nor for NaN.
        scalar = arith_cast.round_to(np.asarray(value, np.float64), element)[()]
        return code.refer(scalar, (element, scalar.tobytes()))
    if element == BOOL:
        return str(bool(value))
    return f"({int(value)})"


def offsets(code: Code, o: Offsets) -> str:
    """The name of offsets: the same for equal ones."""
    return code.refer(o, (Offsets, o.lanes.tobytes()))


def _lanes_of(code: Code, x: Array) -> str:
    """The name of constant lanes: the same for equal ones."""
    return code.refer(x, (x.dtype, x.tobytes()))


def _apply(code: Code, meaning: Callable[..., object], *args: str) -> str:
    """A name for what the function, which has no effect, gives for the values of these names."""
    return code.value(f"{code.refer(meaning)}({', '.join(args)})")


def _cast(code: Code, value: str, source: Type, target: Type) -> str:
    if source.element == target.element:
        return value
    if source.lanes == 1:
        return _apply(code, arith_scalar.cast(source.element, target.element), value)

    return _apply(code, arith_cast.casting(source.element, target.element), value)


def _binary(code: Code, op: ir.Op, a: str, b: str, t: Type) -> str:
    element = t.element
    if t.lanes > 1:
        return _apply(code, arith.binary(op, element), a, b)
    if op in ir.COMPARISONS:
        return code.value(f"bool({a} {arith_scalar.INLINE_COMPARISON[op]} {b})")
    if element.is_float:
        if op in (ir.Op.ADD, ir.Op.SUB, ir.Op.MUL, ir.Op.DIV):
            return code.value(f"{a} {op} {b}")
        return _apply(code, arith_scalar.binary(op, element), a, b)
    match op:
        case ir.Op.ADD | ir.Op.SUB | ir.Op.MUL:
            return _wrapped(code, f"{a} {op} {b}", element)
        case ir.Op.DIV:
            return _wrapped(code, f"{a} // {b} if {b} else 0", element)
        case ir.Op.MOD:
            return code.value(f"{a} % {b} if {b} else 0")
        case ir.Op.MIN:
            return code.value(f"{a} if {a} <= {b} else {b}")
        case ir.Op.MAX:
            return code.value(f"{a} if {a} >= {b} else {b}")
        case ir.Op.AND | ir.Op.OR | ir.Op.XOR:
            return code.value(f"{a} {op} {b}")
        case _:
            return _apply(code, arith_scalar.binary(op, element), a, b)


def _polynomial(code: Code, e: ir.Expr, levels: int = MOST_NESTED) -> str:
    """Sums and products as one line: it is enough that the whole wraps. Quotients and remainders by
    a positive number are in range where what is divided is."""
    match e:
        case ir.Binary(op=op, a=a, b=b) if levels and op in _SUMS:
            x, y = (_polynomial(code, part, levels - 1) for part in (a, b))
            return f"({x} {op} {y})"
        case ir.Binary(op=ir.Op.DIV | ir.Op.MOD, a=a, b=ir.Const(value=d)) if d > 0:
            return f"({emit(code, a)} {'//' if e.op is ir.Op.DIV else '%'} {int(d)})"
        case _:
            return emit(code, e)


def _wrapped(code: Code, text: str, element: DType) -> str:
    lo, hi = element.limits
    wrap = code.refer(arith_scalar.wrapping(element))
    return code.value(text, f"if not {lo} <= {{}} <= {hi}: {{}} = {wrap}({{}})")


def _load(code: Code, e: ir.Load) -> str:
    buffer = buffer_name(code, e.buffer)
    strided = offsets_of(e.index) if e.mask is None else None
    if strided is not None:
        base = emit(code, strided[0])
        return code.assign(f"{buffer}.load_offsets({base}, {offsets(code, strided[1])})")
    index = emit(code, e.index)
    if e.type.lanes > 1:
        if e.mask is None:
            return code.assign(f"{buffer}.load_lanes({index})")
        return code.assign(f"{buffer}.load_masked({index}, {emit(code, e.mask)})")
    method = "load" if e.type.element.is_float else "load_item"
    if e.mask is None:
        return code.assign(f"{buffer}.{method}({index})")
    mask, zero = emit(code, e.mask), literal(code, 0, e.type.element)
    return code.assign(f"{buffer}.{method}({index}) if {mask} else {zero}")


def _vector(code: Code, e: ir.Lanes) -> str:
    offsets = offsets_of(e)
    if offsets is not None:
        beyond = offsets[1].lanes
        if isinstance(offsets[0], ir.Const):
            return _lanes_of(code, beyond + int(offsets[0].value))
        return code.value(f"{_lanes_of(code, beyond)} + {emit(code, offsets[0])}")
    match e:
        case ir.Broadcast(value=ir.Const(value=number, type=t), lanes=lanes):
            one = np.asarray(number, np.float64 if t.element.is_float else numpy_dtype(t.element))
            if t.element.is_float:
                one = arith_cast.round_to(one, t.element)
            return _lanes_of(code, np.full(lanes, one, numpy_dtype(t.element)))
        case ir.Broadcast(value=value, lanes=lanes) if value.type.lanes == 1:
            return _apply(code, _broadcast(e.type.element, lanes), emit(code, value))
        case _:
            arrays = [_array(code, x) for x in operands(e)]
            result = _apply(code, LANES[type(e)](e), *arrays)
            return result if e.type.lanes > 1 else _only(code, result, e.type)


def _execution(code: Code, e: ir.Instruct) -> Callable[..., object]:
    """The instruction as a function of its operands' lanes."""
    if e.name not in code.instructions:
        raise InternalError(f"the interpreter met the unknown instruction `{e.name}`")
    return executor(code.instructions[e.name], dict(e.sizes))


def _array(code: Code, e: ir.Expr) -> str:
    """`e` as an array, of one element when it is a scalar."""
    value = emit(code, e)
    if e.type.lanes > 1:
        return value
    return _apply(code, _broadcast(e.type.element, 1), value)


def _only(code: Code, array: str, t: Type) -> str:
    """The element of an array that has one."""
    return code.value(f"{array}[0]" if t.element.is_float else f"{array}.item(0)")


@cache
def _broadcast(element: DType, lanes: int) -> Callable[[object], Array]:
    dtype = numpy_dtype(element)
    return lambda value: np.full(lanes, value, dtype)
