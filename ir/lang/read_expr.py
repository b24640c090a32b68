"""Reads the text of expressions; `show` says how they look."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.fold import round_to
from hbc.ir.lang.read_tokens import Cursor
from hbc.ir.lang.syntax import CALLS, PRECEDENCE, operands_of
from hbc.ir.lang.types import CONDITION, DTYPES, INDEX, DType, Memory, Type

T = TypeVar("T")
_BROADCAST: Final = re.compile(r"x(\d+)")
_TYPE: Final = re.compile(rf"({'|'.join(DTYPES)})(?:x(\d+))?")
_MOVES: Final = {f"{a}_to_{b}": (a, b) for a in Memory for b in Memory}
_MATH: Final = {op.value for op in ir.MathOp}
_SPECIAL: Final = {"inf": math.inf, "nan": math.nan}


def expression(c: Cursor, level: int = 0) -> ir.Expr:
    """An expression of operators that bind at least as tightly as `level`."""
    if c.is_("let"):
        return _let(c)
    left = _operand(c)
    while c.next.kind == "sign" and c.next.text in _OPERATORS:
        op = _OPERATORS[c.next.text]
        own = PRECEDENCE[op]
        if own < level:
            break
        c.take()
        left = ir.Binary(op, left, expression(c, own + 1))
    return left


_OPERATORS: Final = {op.value: op for op in PRECEDENCE}


def element_type(c: Cursor) -> DType:
    if c.next.text not in DTYPES:
        raise c.wrong("an element type")
    return DTYPES[c.take().text]


def value_type(c: Cursor) -> Type:
    """A type such as `f32x16`."""
    result = _as_type(c.next.text) if c.next.kind in ("name", "call") else None
    if result is None:
        raise c.wrong("a type")
    c.take()
    return result


def indices(c: Cursor, closing: str) -> tuple[ir.Expr, ...]:
    """Expressions up to the closing sign."""
    expressions: list[ir.Expr] = []
    while not c.accept(closing):
        if expressions:
            c.expect(",")
        expressions.append(expression(c))
    return tuple(expressions)


def place(c: Cursor) -> tuple[ir.Expr, ir.Expr | None]:
    """`[index]` or `[index if mask]`."""
    c.expect("[")
    index = expression(c)
    mask = expression(c) if c.accept("if") else None
    c.expect("]")
    return index, mask


def literal(c: Cursor, element: DType | None = None) -> ir.Const:
    """A number, `true`, `inf` and so on with its type, which defaults to i64 or `element`."""
    minus = c.accept("-")
    text = c.next.text
    if c.is_("true", "false") and not minus:
        value: int | float = text == "true"
    elif c.is_(*_SPECIAL):
        value = _SPECIAL[text]
    elif c.next.kind == "number":
        value = int(text) if text.isdigit() else float(text)
    else:
        raise c.wrong("a literal")
    c.take()
    if isinstance(value, bool):
        return ir.Const(value, CONDITION)
    t = value_type(c) if c.accept(":") else INDEX if element is None else Type(element)
    value = -value if minus else value
    return ir.Const(round_to(value, t.element) if isinstance(value, float) else value, t)


def _operand(c: Cursor) -> ir.Expr:
    token = c.next
    if token.kind == "call":
        return _call(c)
    if token.kind == "number" or c.is_("true", "false", "inf", "nan"):
        return literal(c)
    if c.accept("("):
        items = [expression(c)]
        while c.accept(","):
            items.append(expression(c))
        c.expect(")")
        return items[0] if len(items) == 1 else ir.Tuple(tuple(items))
    if c.is_("-", "~"):
        following = c.tokens[c.at + 1]
        is_literal = following.kind == "number" or following.text in _SPECIAL
        if token.text == "-" and is_literal and following.kind != "quoted":
            return literal(c)
        c.take()
        return ir.Unary(ir.UnaryOp(token.text), _operand(c))
    name = c.name()
    if c.accept(":"):
        return ir.Var(name, value_type(c))
    return _memory(c, name) if c.accept(".") else ir.Var(name)


def _memory(c: Cursor, name: str) -> ir.Expr:
    """`A.f32[i]` is a Load, `A.f32(i, j)` an Access."""
    access = c.next.kind == "call"
    t = value_type(c)
    if access:
        return ir.Access(name, indices(c, ")"), t)
    index, mask = place(c)
    return ir.Load(name, index, t, mask)


def _let(c: Cursor) -> ir.Let:
    c.expect("let")
    name = c.name()
    c.expect("=")
    value = expression(c)
    c.expect("in")
    return ir.Let(name, value, expression(c))


def _call(c: Cursor) -> ir.Expr:
    """Everything that is written `name(..)` or `name<..>(..)`."""
    token = c.next
    name, _, parameter = token.text.rstrip(">").partition("<")
    t = _as_type(token.text)
    copies = _BROADCAST.fullmatch(token.text)
    if name in _MATH:
        c.take()
        args = indices(c, ")")
        to = _as_type(parameter) if parameter else args[0].type if args else None
        if to is None:
            raise c.wrong("a math function with a type")
        return ir.Call(ir.MathOp(name), args, to)
    known = name in CALLS or name in _OTHER_CALLS or name in _MOVES
    if not known and t is None and copies is None:
        raise c.wrong("a function")
    c.take()
    if copies:
        result: ir.Expr = ir.Broadcast(expression(c), int(copies[1]))
    elif t is not None:
        result = ir.Cast(t, expression(c))
    elif name in _MOVES:
        result = ir.Move(*_MOVES[name], expression(c))
    elif name in CALLS:
        result = _written(c, name, parameter)
    else:
        result = _OTHER_CALLS[name](c, parameter)
    c.expect(")")
    return result


def _two(c: Cursor) -> tuple[ir.Expr, ir.Expr]:
    first = expression(c)
    c.expect(",")
    return first, expression(c)


def _of_two(op: ir.Op) -> Callable[[Cursor, str], ir.Expr]:
    return lambda c, _: ir.Binary(op, *_two(c))


def listed(c: Cursor, item: Callable[[Cursor], T]) -> tuple[T, ...]:
    """`[item, item]`"""
    c.expect("[")
    items: list[T] = []
    while not c.accept("]"):
        if items:
            c.expect(",")
        items.append(item(c))
    return tuple(items)


FIELDS: Final[dict[str, Callable[[Cursor], Any]]] = {
    "Expr": expression,
    "tuple[Expr, ...]": lambda c: listed(c, expression),
    "int": Cursor.number,
    "tuple[int, ...]": lambda c: listed(c, Cursor.number),
}
"""How a field of an expression is read, by the kind of `syntax.Part`."""


def _written(c: Cursor, name: str, parameter: str) -> ir.Expr:
    """A node of `CALLS`."""
    cls = CALLS[name]
    values: dict[str, Any] = {"op": ir.Op(parameter)} if cls is ir.VectorReduce else {}
    for n, part in enumerate(operands_of(name)):
        if n:
            c.expect(",")
        values[part.field] = FIELDS[part.kind](c)
    return cls(**values)


def _instruct(c: Cursor, parameter: str) -> ir.Expr:
    head, *sizes = parameter.split(",")
    name, _, type_text = head.partition(":")
    result = _as_type(type_text)
    if result is None:
        raise c.wrong("an instruction with a type")
    given = tuple((size, int(n)) for size, _, n in (s.partition("=") for s in sizes))
    args = [expression(c)]
    while c.accept(","):
        args.append(expression(c))
    return ir.Instruct(name, given, tuple(args), result)


_OTHER_CALLS: Final[dict[str, Callable[[Cursor, str], ir.Expr]]] = {
    **{str(op): _of_two(op) for op in ir.Op if op not in PRECEDENCE},
    "abs": lambda c, _: ir.Unary(ir.UnaryOp.ABS, expression(c)),
    "instruct": _instruct,
}


def _as_type(text: str) -> Type | None:
    match = _TYPE.fullmatch(text)
    return Type(DTYPES[match[1]], int(match[2] or 1)) if match else None
