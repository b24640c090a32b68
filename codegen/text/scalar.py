"""Scalar expressions as C, with the meaning of `ir.nodes` and as few parentheses as C allows."""

from __future__ import annotations

from typing import Never, assert_never

from hbc.codegen.plan.register_arrays import register_number
from hbc.codegen.text.cast import cast_text, same_bits
from hbc.codegen.text.ranges import bits, is_index, nonnegative, wraps
from hbc.codegen.text.registers import piece_of
from hbc.codegen.text.spelling import c_type, constant, value_type
from hbc.codegen.text.swizzled import swizzled_index
from hbc.codegen.text.unit import (
    ADD,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    CONDITIONAL,
    EQUALITY,
    LOGIC_AND,
    LOGIC_OR,
    MUL,
    PRIMARY,
    RELATION,
    SHIFT,
    UNARY,
    Text,
    Unit,
)  # fmt: skip
from hbc.codegen.text.words import loader, neighbours
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.operators import FIXED_POINT
from hbc.ir.lang.target import GPU
from hbc.ir.lang.types import BOOL, F32, F64, I64, DType, Kind, Memory

_BINDS = {
    ir.Op.ADD: ADD, ir.Op.SUB: ADD, ir.Op.MUL: MUL, ir.Op.DIV: MUL, ir.Op.MOD: MUL, ir.Op.AND: BIT_AND,
    ir.Op.OR: BIT_OR, ir.Op.XOR: BIT_XOR, ir.Op.SHL: SHIFT, ir.Op.SHR: SHIFT, ir.Op.LT: RELATION,
    ir.Op.LE: RELATION, ir.Op.GT: RELATION, ir.Op.GE: RELATION, ir.Op.EQ: EQUALITY, ir.Op.NE: EQUALITY,
}  # fmt: skip
_LOGIC = {ir.Op.AND: ("&&", LOGIC_AND), ir.Op.OR: ("||", LOGIC_OR), ir.Op.XOR: ("!=", EQUALITY)}
_HELPER = {ir.Op.ADD: "add", ir.Op.SUB: "sub", ir.Op.MUL: "mul", ir.Op.DIV: "div", ir.Op.MOD: "mod"}
_FUNCTION = {
    ir.MathOp.EXP: "exp", ir.MathOp.EXP2: "exp2", ir.MathOp.LOG: "log", ir.MathOp.SQRT: "sqrt",
    ir.MathOp.SIN: "sin", ir.MathOp.COS: "cos", ir.MathOp.TANH: "tanh", ir.MathOp.FLOOR: "floor",
    ir.MathOp.CEIL: "ceil", ir.MathOp.ROUND: "rint",
}  # fmt: skip


def scalar(e: ir.Expr, unit: Unit) -> Text:
    """The C text of a scalar expression; `Let`s are declared before the current line."""
    match e:
        case ir.Const(value=v, type=t):
            text = constant(v, t.element)
            return Text(text, UNARY if text.startswith("-") else PRIMARY)
        case ir.Var(name=name):
            return Text(unit.scope.find(name).text)
        case ir.Cast(type=t, value=v):
            return cast_text(t.element, v.type.element, scalar(v, unit), unit)
        case ir.Binary():
            return _binary(e, unit)
        case ir.Unary():
            return _unary(e, unit)
        case ir.Select(condition=c, a=a, b=b):
            z, x, y = (scalar(part, unit) for part in (c, a, b))
            return Text(f"{z.at(LOGIC_OR)} ? {x.at(LOGIC_OR)} : {y.at(CONDITIONAL)}", CONDITIONAL)
        case ir.Load():
            return _load(e, unit)
        case ir.Call():
            return _call(e, unit)
        case ir.Let(name=name, value=v, body=body):
            unit.printers.declare(name, v, unit)
            return scalar(body, unit)
        case ir.Move(value=v):
            return scalar(v, unit)
        case ir.VectorReduce(lanes=1):
            return unit.printers.reduce(e, unit)
        case ir.Access(name=name):
            raise InternalError(f"codegen: access to `{name}` was not lowered")
        case ir.Tuple():
            raise InternalError("codegen: a tuple was not lowered")
        case _:
            _no_scalar(e)


def _no_scalar(e: ir.Lanes | ir.Instruct) -> Never:
    raise InternalError(f"codegen: {type(e).__name__} of {e.type} where a scalar is needed")


def declare(name: str, value: ir.Expr, unit: Unit) -> None:
    """`const T name = value;`, and the name is in scope from here on."""
    text = scalar(value, unit)
    t = value.type.element
    sign = nonnegative(value, unit.scope)
    size = value_bits(value, unit)
    variable = unit.scope.declare(name, nonnegative=sign, bits=size)
    unit.out.line(f"const {unit.index if t == I64 else value_type(t)} {variable} = {text};")


def value_bits(value: ir.Expr, unit: Unit) -> int | None:
    """What a name bound to `value` says about its bits: None when it is an index."""
    return None if is_index(value, unit.scope) else bits(value, unit.scope)


def element(buffer: str, index: ir.Expr, unit: Unit) -> str:
    """`buffer[index]`, or the variable that holds that element."""
    held = unit.buffers[buffer]
    if held.memory is Memory.REGISTER:
        if (variable := register(buffer, index, unit)) is not None:
            return variable
        raise InternalError(f"codegen: `{buffer}` is in registers but its index is not constant")
    if held.swizzle is not None:
        place = swizzled_index(
            index, held.swizzle, held.element, unit.prelude, lambda e: scalar(e, unit)
        )
        return f"{held.text}[{place}]"
    return f"{held.text}[{scalar(index, unit)}]"


def register(buffer: str, index: ir.Expr, unit: Unit) -> str | None:
    """The variable that holds the elements, None where no one of them holds just these."""
    held, piece = unit.buffers[buffer], piece_of(index)
    if piece is not None:
        return held.pieces.get(piece)
    number = register_number(index, held.lanes) if held.lanes else None
    return None if number is None else f"{held.text}[{scalar(number, unit)}]"


def _load(e: ir.Load, unit: Unit) -> Text:
    text = Text(element(e.buffer, e.index, unit))
    if e.type.element == BOOL and unit.buffers[e.buffer].memory is not Memory.REGISTER:
        text = Text(f"{text} != 0", EQUALITY)
    if e.mask is None:
        return text
    zero = constant(False if e.type.element == BOOL else 0, e.type.element)
    condition = scalar(e.mask, unit)
    return Text(f"{condition.at(LOGIC_OR)} ? {text.at(LOGIC_OR)} : {zero}", CONDITIONAL)


def _binary(e: ir.Binary, unit: Unit) -> Text:
    t = e.a.type.element
    if t.is_narrow:
        raise InternalError(f"codegen: `{e.op}` on {t} was not legalized")
    if t == BOOL and e.op in _LOGIC:
        symbol, binds = _LOGIC[e.op]
        x, y = (_logical(scalar(part, unit), binds) for part in (e.a, e.b))
        return Text(f"{x} {symbol} {y}", binds)
    if e.op in ir.COMPARISONS:
        x, y = (scalar(part, unit).at(SHIFT + 1) for part in (e.a, e.b))
        return Text(f"{x} {e.op} {y}", _BINDS[e.op])
    if e.op in (ir.Op.MIN, ir.Op.MAX):
        return _extreme(e, unit)
    if e.op in FIXED_POINT:
        return _helper_call(str(e.op), e, unit)
    if e.op in (ir.Op.DIV, ir.Op.MOD):
        return _division(e, unit)
    if e.op in (ir.Op.SHL, ir.Op.SHR):
        return _shift(e, unit)
    if unit.fused and t in (F32, F64) and (text := _fma(e, unit)):
        return text
    if (bytes_ := neighbours(e, unit)) is not None:
        load, count = bytes_
        return Text(f"{loader(count, unit)}(&{element(load.buffer, load.index, unit)})")
    if wraps(e, unit.scope) and t.bits >= 32:
        return _helper_call(_HELPER[e.op], e, unit)
    if e.op is ir.Op.XOR and t.kind is Kind.UINT and t.bits < 32 and _all_ones(e.b):
        # gcc takes `x ^ 255` for `~x`, which it warns of where it is compared, with or without a cast.
        return _infix(ir.Binary(ir.Op.SUB, e.b, e.a), unit)
    return _narrow(_infix(e, unit), e, unit)


def _all_ones(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value == (1 << e.type.element.bits) - 1


def _logical(operand: Text, binds: int) -> str:
    """-Wall asks for parentheses where && meets ||, and where a comparison is compared."""
    if binds == EQUALITY:
        return operand.at(SHIFT + 1)
    return operand.at(binds if operand.binds == binds else EQUALITY)


def _infix(e: ir.Binary, unit: Unit) -> Text:
    """`a op b`; a negative constant after + or - changes the sign instead."""
    op, b = e.op, e.b
    if (
        op in (ir.Op.ADD, ir.Op.SUB)
        and isinstance(b, ir.Const)
        and b.value < 0
        and b.value != b.type.element.limits[0]
    ):
        op, b = (ir.Op.SUB if op is ir.Op.ADD else ir.Op.ADD), ir.Const(-b.value, b.type)
    x, y = scalar(e.a, unit), scalar(b, unit)
    t = e.type.element
    if t.bits == 16 and t.kind is Kind.UINT and op is ir.Op.MUL:
        x = Text(f"(uint32_t){x.at(UNARY)}", UNARY)
    binds = _BINDS[op]
    # Integer sums and products may be regrouped (not x * (y / z)), floating-point ones may not.
    regroups = t.is_int and (op is ir.Op.ADD or (op is ir.Op.MUL and not _starts_with_division(b)))
    least = binds if regroups else binds + 1
    if op in (ir.Op.AND, ir.Op.OR, ir.Op.XOR):
        return Text(f"{_bitwise(x, binds)} {op} {_bitwise(y, binds)}", binds)
    return Text(f"{x.at(binds)} {op} {y.at(least)}", binds)


def _starts_with_division(e: ir.Expr) -> bool:
    """Whether a factor, printed without parentheses, would begin `y / z` or `y % z`."""
    while isinstance(e, ir.Binary) and e.op is ir.Op.MUL:
        e = e.a
    return isinstance(e, ir.Binary) and e.op in (ir.Op.DIV, ir.Op.MOD)


def _bitwise(operand: Text, binds: int) -> str:
    return operand.at(binds if operand.binds == binds else UNARY)


def _narrow(text: Text, e: ir.Binary | ir.Unary, unit: Unit) -> Text:
    """C computes 8- and 16-bit operands as int: back to the type, unless the value fits anyway."""
    t = e.type.element
    if t.bits >= 32 or not t.is_int:
        return text
    bitwise = isinstance(e, ir.Binary) and e.op in (ir.Op.AND, ir.Op.OR, ir.Op.XOR)
    # gcc takes `(uint8_t)(255 - x)` for `~x`, which it warns of where it is compared: it fits anyway.
    flipped = isinstance(e, ir.Binary) and e.op is ir.Op.SUB and _all_ones(e.a)
    if (
        bitwise
        or (flipped and t.kind is Kind.UINT)
        or (t.kind is Kind.INT and bits(e, unit.scope, top=True) <= t.bits)
    ):
        return text
    return Text(f"({c_type(t)}){text.at(UNARY)}", UNARY)


def _fma(e: ir.Binary, unit: Unit) -> Text | None:
    """a*b+c, a*b-c and c-a*b with one rounding, as vectors have them."""
    if e.op not in (ir.Op.ADD, ir.Op.SUB):
        return None
    first = _is_product(e.a)
    product, other = (e.a, e.b) if first else (e.b, e.a)
    if not (isinstance(product, ir.Binary) and _is_product(product)):
        return None
    factor: ir.Expr = product.a
    if e.op is ir.Op.SUB and first:
        other = ir.Unary(ir.UnaryOp.NEG, other)
    elif e.op is ir.Op.SUB:
        factor = ir.Unary(ir.UnaryOp.NEG, factor)
    name = "fmaf" if e.type.element == F32 else "fma"
    x, y, z = (scalar(part, unit) for part in (factor, product.b, other))
    return Text(f"{name}({x}, {y}, {z})")


def _is_product(e: ir.Expr) -> bool:
    return isinstance(e, ir.Binary) and e.op is ir.Op.MUL


def _helper_call(family: str, e: ir.Binary, unit: Unit) -> Text:
    name = unit.prelude.use(f"{family}_{e.a.type.element}")
    return Text(f"{name}({scalar(e.a, unit)}, {scalar(e.b, unit)})")


def _extreme(e: ir.Binary, unit: Unit) -> Text:
    t = e.type.element
    a, b = e.a, e.b
    if t == BOOL:
        return _binary(ir.Binary(ir.Op.AND if e.op is ir.Op.MIN else ir.Op.OR, a, b), unit)
    if not t.is_float:
        return _helper_call(str(e.op), e, unit)
    if _is_number(a):
        a, b = b, a
    families = {ir.Op.MIN: "least", ir.Op.MAX: "most"}
    return _helper_call(families[e.op] if _is_number(b) else str(e.op), ir.Binary(e.op, a, b), unit)


def _is_number(e: ir.Expr) -> bool:
    return isinstance(e, ir.Const) and e.value == e.value  # NaN differs from itself


def _division(e: ir.Binary, unit: Unit) -> Text:
    t, b = e.a.type.element, e.b
    if t.is_float:
        if e.op is ir.Op.MOD:
            return _helper_call("mod", e, unit)
        return Text(f"{scalar(e.a, unit).at(MUL)} / {scalar(b, unit).at(UNARY)}", MUL)
    if not (isinstance(b, ir.Const) and b.value > 0):
        return _helper_call(_HELPER[e.op], e, unit)
    if nonnegative(e.a, unit.scope):
        x = scalar(e.a, unit).at(MUL)
        return _narrow(Text(f"{x} {e.op} {scalar(b, unit)}", MUL), e, unit)
    value = int(b.value)
    if value & (value - 1) == 0:
        x = scalar(e.a, unit).at(UNARY)
        if e.op is ir.Op.DIV:
            return Text(f"{x} >> {value.bit_length() - 1}", SHIFT)
        return Text(f"{x} & {value - 1}", BIT_AND)
    return _helper_call(_HELPER[e.op], e, unit)


def _shift(e: ir.Binary, unit: Unit) -> Text:
    t, n = e.type.element, e.b
    if t.is_float:
        suffix = "f" if t == F32 else ""
        a, power = (scalar(part, unit) for part in (e.a, n))
        return Text(f"scalbln{suffix}({a}, lrint{suffix}({power}))")  # a cast of NaN is undefined
    known = isinstance(n, ir.Const) and 0 <= n.value < t.bits
    if known and (e.op is ir.Op.SHR or (t.kind is Kind.UINT and t.bits >= 32)):
        x = scalar(e.a, unit).at(UNARY)
        return Text(f"{x} {e.op} {int(n.value) if isinstance(n, ir.Const) else 0}", SHIFT)
    return _helper_call("shl" if e.op is ir.Op.SHL else "shr", e, unit)


def _unary(e: ir.Unary, unit: Unit) -> Text:
    t = e.type.element
    if t.is_narrow:
        raise InternalError(f"codegen: `{e.op}` on {t} was not legalized")
    match e.op:
        case ir.UnaryOp.NOT:
            if t == BOOL:
                return Text(f"!{scalar(e.a, unit).at(UNARY)}", UNARY)
            if t.kind is Kind.UINT and t.bits < 32:
                return _infix(ir.Binary(ir.Op.SUB, ir.Const(2**t.bits - 1, e.type), e.a), unit)
            return _narrow_not(_inverted(e.a, unit), t)
        case ir.UnaryOp.NEG:
            if t.is_int and (wraps(e, unit.scope) or t.kind is Kind.UINT):
                return Text(f"{unit.prelude.use(f'neg_{t}')}({scalar(e.a, unit)})")
            operand = scalar(e.a, unit)
            inner = operand.at(UNARY)
            return Text(f"-({inner})" if inner.startswith("-") else f"-{inner}", UNARY)
        case ir.UnaryOp.ABS:
            if t.is_float:
                name = "fabsf" if t == F32 else "fabs"
                return Text(f"{name}({scalar(e.a, unit)})")
            if t.kind is Kind.UINT:
                return scalar(e.a, unit)
            return Text(f"{unit.prelude.use(f'abs_{t}')}({scalar(e.a, unit)})")
        case _:
            assert_never(e.op)


def _inverted(x: ir.Expr, unit: Unit) -> Text:
    """Every bit flipped. Compilers warn of `~` before what is 0 or 1, as if `!` were meant."""
    if isinstance(x, ir.Cast) and x.value.type.element == BOOL:
        return Text(f"{scalar(x, unit).at(BIT_XOR + 1)} ^ -1", BIT_XOR)
    return Text(f"~{scalar(x, unit).at(UNARY)}", UNARY)


def _narrow_not(text: Text, t: DType) -> Text:
    return Text(f"({c_type(t)}){text.at(UNARY)}", UNARY) if t.bits < 32 else text


def _call(e: ir.Call, unit: Unit) -> Text:
    t = e.type.element
    x = e.args[0]
    if e.name is ir.MathOp.REINTERPRET:
        return same_bits(t, x.type.element, scalar(x, unit), unit)
    if t not in (F32, F64):
        raise InternalError(f"codegen: `{e.name}` on {t} was not legalized")
    suffix = "f" if t == F32 else ""
    if e.name is ir.MathOp.RSQRT and unit.target.machine == GPU:
        return Text(f"rsqrt{suffix}({scalar(x, unit)})")
    if e.name is ir.MathOp.RSQRT:
        return Text(f"{constant(1.0, t)} / sqrt{suffix}({scalar(x, unit)})", MUL)
    if e.name is ir.MathOp.EXP2 and t == F32 and unit.target.machine == GPU:
        return Text(f"{unit.prelude.use('exp2_f32')}({scalar(x, unit)})")
    if e.name is ir.MathOp.TF32:
        return Text(f"{unit.prelude.use('tf32_f32')}({scalar(x, unit)})")
    return Text(f"{_FUNCTION[e.name]}{suffix}({scalar(x, unit)})")
