"""Index expressions: integer formulas over loop variables, and the locations they read.

They say what a gather written in text does. All are evaluated on whole arrays at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import did_you_mean, error
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.ground.tree import children_by_class
from hbc.ir.moves.gather import UNDEFINED, ZERO, Shape

Values = NDArray[np.int64]

OUTSIDE = -3  # an index is outside its argument: an error where that location is really read


@record
class Number:
    value: int
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Name:
    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Unary:
    op: str  # - not
    operand: IndexExpr
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Binary:
    op: str
    left: IndexExpr
    right: IndexExpr
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Conditional:
    condition: IndexExpr
    then: IndexExpr
    otherwise: IndexExpr
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Call:
    """gcd, min, max or abs."""

    function: str
    arguments: tuple[IndexExpr, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Read:
    """The location of an element of an argument of the gather."""

    argument: str
    indices: tuple[IndexExpr, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class Nothing:
    """Where a location is wanted: no value at all."""

    span: Span | None = field(default=None, compare=False, repr=False)


IndexExpr = Number | Name | Unary | Binary | Conditional | Call | Read | Nothing
_PARTS = children_by_class("IndexExpr".__eq__)

Operation = Callable[[Any, Any], Any]


def _divided(a: Any, b: Any) -> Any:
    return np.floor_divide(a, np.where(np.equal(b, 0), 1, b))


def _remainder(a: Any, b: Any) -> Any:
    return np.mod(a, np.where(np.equal(b, 0), 1, b))


# Division floors. By zero it gives the dividend in branches that are not taken, for arrays are evaluated
# in all of them, and is an error elsewhere.
OPERATIONS: dict[str, Operation] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": _divided, "%": _remainder,
    "^": np.bitwise_xor, "&": np.bitwise_and, "<<": np.left_shift, ">>": np.right_shift,
    "==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
    "and": np.logical_and, "or": np.logical_or,
}  # fmt: skip
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "gcd": (2, np.gcd), "min": (2, np.minimum), "max": (2, np.maximum), "abs": (1, np.abs),
}  # fmt: skip


@record
class Argument:
    """What `Read` needs: the shape of the argument and where it begins among all of them."""

    shape: Shape
    start: int


@record
class Scope:
    """Names of integers (arrays that broadcast with each other) and of arguments. `taken`: where the
    conditions around a formula have chosen it."""

    values: Mapping[str, Any]
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    taken: Any = True

    def where(self, chosen: Any) -> Scope:
        """Inside a branch that is taken where `chosen`."""
        return replace(self, taken=np.logical_and(self.taken, chosen))


def evaluate(expr: IndexExpr, scope: Scope) -> Any:
    """The integer, or the array of them. HbcError for names that do not exist."""
    match expr:
        case Number(value):
            return np.int64(value)
        case Name(name):
            return _named(expr, name, scope)
        case Unary(op, operand):
            value = evaluate(operand, scope)
            return np.negative(value) if op == "-" else np.logical_not(value)
        case Binary(op, left, right):
            if op not in OPERATIONS:
                raise error(f"`{op}` has no meaning in an index", expr.span)
            first = evaluate(left, scope)
            inner = scope.where(_decides(op, first)) if op in ("and", "or") else scope
            second = evaluate(right, inner)
            if op in "/%":
                _refuse_zeros(expr, second, scope)
            return _integer(OPERATIONS[op](first, second))
        case Conditional(condition, then, otherwise):
            chosen = evaluate(condition, scope)
            if np.ndim(chosen) == 0:
                return evaluate(then if chosen else otherwise, scope)
            yes, no = scope.where(chosen), scope.where(np.logical_not(chosen))
            return np.where(chosen, evaluate(then, yes), evaluate(otherwise, no))
        case Call(function, arguments):
            return _called(expr, function, [evaluate(a, scope) for a in arguments])
        case Read() | Nothing():
            raise error("elements of arrays are no indices", expr.span)
        case _:
            assert_never(expr)


def conjuncts(expr: IndexExpr | None) -> list[IndexExpr]:
    """The parts that must all hold."""
    match expr:
        case None:
            return []
        case Binary("and", left, right):
            return conjuncts(left) + conjuncts(right)
        case _:
            return [expr]


def names_in(expr: IndexExpr) -> set[str]:
    """The integers that a formula names."""
    if isinstance(expr, Name):
        return {expr.name}
    return set().union(*map(names_in, _PARTS[type(expr)](expr)))


def locate(expr: IndexExpr, scope: Scope) -> Any:
    """The location that a gather's formula reads; ZERO, UNDEFINED or OUTSIDE."""
    match expr:
        case Read(argument, indices):
            return _location(expr, argument, indices, scope)
        case Number(0):
            return np.int64(ZERO)
        case Nothing():
            return np.int64(UNDEFINED)
        case Conditional(condition, then, otherwise):
            chosen = evaluate(condition, scope)
            yes, no = scope.where(chosen), scope.where(np.logical_not(chosen))
            return np.where(chosen, locate(then, yes), locate(otherwise, no))
        case _:
            raise error(
                "a gather yields an element of an argument, 0 or `_`", expr.span,
                "write for example `\\i, j. a[i, j]`, `0`, or `if i < 2 then a[i] else 0`",
            )  # fmt: skip


def _decides(op: str, first: Any) -> Any:
    """Where the second operand of `and` or `or` matters."""
    return first if op == "and" else np.logical_not(first)


def _refuse_zeros(expr: Binary, divisor: Any, scope: Scope) -> None:
    """HbcError where this divides by 0, saying for which indices."""
    wrong = np.equal(divisor, 0) & scope.taken
    if not wrong.any():
        return
    names = sorted(names_in(expr.right))
    shown = np.broadcast_arrays(np.atleast_1d(wrong), *(scope.values[name] for name in names))
    at = tuple(axis[0] for axis in np.nonzero(shown[0]))
    places = [f"`{n}` is {value[at]}" for n, value in zip(names, shown[1:], strict=True)]
    where = f" where {' and '.join(places)}" if places else ""
    raise error(f"this divides by 0{where}", expr.span)


def _named(expr: Name, name: str, scope: Scope) -> Any:
    if name in scope.values:
        return scope.values[name]
    if name in scope.arguments:
        raise error(f"`{name}` is an array, and an index is wanted", expr.span)
    hint = did_you_mean(name, [*scope.values, *scope.arguments])
    raise error(f"there is no index `{name}`", expr.span, hint)


def _called(expr: Call, function: str, values: list[Any]) -> Any:
    if function not in FUNCTIONS:
        hint = did_you_mean(function, FUNCTIONS) or f"there are {', '.join(FUNCTIONS)}"
        raise error(f"there is no function `{function}` of indices", expr.span, hint)
    count, meaning = FUNCTIONS[function]
    if len(values) != count:
        raise error(
            f"`{function}` takes {counted(count, 'argument')}, not {len(values)}", expr.span
        )
    return meaning(*values)


def _integer(value: Any) -> Any:
    return value.astype(np.int64) if value.dtype == np.bool_ else value


def _location(expr: Read, argument: str, indices: tuple[IndexExpr, ...], scope: Scope) -> Any:
    if argument not in scope.arguments:
        hint = did_you_mean(argument, scope.arguments)
        raise error(f"there is no argument `{argument}`", expr.span, hint)
    array = scope.arguments[argument]
    if len(indices) != len(array.shape):
        raise error(
            f"`{argument}` has {counted(len(array.shape), 'dimension')}, and is read with {len(indices)}",
            expr.span,
        )
    place: Any = np.int64(0)
    inside: Any = np.bool_(True)
    for index, extent in zip(indices, array.shape, strict=True):
        value = evaluate(index, scope)
        inside = inside & (value >= 0) & (value < extent)
        place = place * extent + value
    return np.where(inside, place + array.start, OUTSIDE)
