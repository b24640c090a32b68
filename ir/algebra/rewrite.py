"""Rewrite rules as rows of text, and the matcher that applies them.

A row reads as Python: `select(x, y, y)`. On the left, `c0 c1` stand for literals (also broadcast
ones), `n m` for lane counts, `t u` for element types, `op` for any binary operator, `rel` for any
comparison, other names for any expression; a name that comes twice must stand for equal ones.
Operands of commutative operators match in either order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Final

from hbc.ir.algebra.facts import Facts
from hbc.ir.ground.record import record
from hbc.ir.lang import build
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.operators import FIXED_POINT
from hbc.ir.lang.types import DType

Bound = ir.Expr | int | DType | ir.Op
Bindings = dict[str, Bound]
Guard = Callable[[Bindings, Facts], bool]
Matcher = Callable[[Bound, Bindings], bool]
Maker = Callable[[Bindings, ir.Expr], Bound]

_OPERATORS: Final[dict[type[ast.AST], ir.Op]] = {
    ast.Add: ir.Op.ADD, ast.Sub: ir.Op.SUB, ast.Mult: ir.Op.MUL, ast.Div: ir.Op.DIV, ast.Mod: ir.Op.MOD,
    ast.BitAnd: ir.Op.AND, ast.BitOr: ir.Op.OR, ast.BitXor: ir.Op.XOR, ast.LShift: ir.Op.SHL,
    ast.RShift: ir.Op.SHR, ast.Lt: ir.Op.LT, ast.LtE: ir.Op.LE, ast.Gt: ir.Op.GT, ast.GtE: ir.Op.GE,
    ast.Eq: ir.Op.EQ, ast.NotEq: ir.Op.NE,
}  # fmt: skip
_UNARY: Final[dict[type[ast.AST], ir.UnaryOp]] = {
    ast.USub: ir.UnaryOp.NEG,
    ast.Invert: ir.UnaryOp.NOT,
}
_COMMUTES: Final = build.COMMUTES | {ir.Op.EQ, ir.Op.NE}
_NAMED: Final = {str(op): op for op in (ir.Op.MIN, ir.Op.MAX, *FIXED_POINT)}
_LITERALS: Final = {"true": True, "false": False}


@record
class Rule:
    """Where `left` matches and `guard` agrees, `right` has the same value."""

    name: str
    left: str
    right: str
    guard: Guard | None = None


@record
class Compiled:
    """A rule ready to use; `root` is what the left side starts with, None for any binary."""

    rule: Rule
    root: object
    match: Matcher
    make: Maker


class Rewriter:
    """A list of rules, indexed by root. Compiled on first use, to keep imports fast."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        self._index: dict[object, list[Compiled]] = {}

    def apply(self, e: ir.Expr, facts: Facts) -> ir.Expr:
        """The right side of the first rule that applies to `e` itself; else `e`."""
        if not self._index:
            self._compile()
        for rule in self._index.get(_root(e), ()):
            bindings: Bindings = {}
            if rule.match(e, bindings) and (
                rule.rule.guard is None or rule.rule.guard(bindings, facts)
            ):
                made = rule.make(bindings, e)
                assert not isinstance(made, int | DType | ir.Op)
                return made
        return e

    def _compile(self) -> None:
        compiled = [compile_rule(r) for r in self.rules]
        roots = {c.root for c in compiled if not isinstance(c.root, str)} | set(ir.Op)
        for root in roots:
            self._index[root] = [c for c in compiled if _serves(c.root, root)]


def compile_rule(rule: Rule) -> Compiled:
    """The rule with both sides as functions."""
    left = ast.parse(rule.left, mode="eval").body
    right = ast.parse(rule.right, mode="eval").body
    return Compiled(rule, _pattern_root(left), _matcher(left), _maker(right, at_root=True))


def _root(e: ir.Expr) -> object:
    if isinstance(e, ir.Binary | ir.Unary):
        return e.op if isinstance(e, ir.Binary) else ("unary", e.op)
    return type(e)


def _serves(rule_root: object, root: object) -> bool:
    if rule_root == "op":
        return isinstance(root, ir.Op)
    if rule_root == "rel":
        return root in ir.COMPARISONS
    return rule_root == root


def _pattern_root(p: ast.expr) -> object:
    match p:
        case ast.BinOp(op=op) | ast.Compare(ops=[op]):
            return _OPERATORS[type(op)]
        case ast.UnaryOp(op=uop):
            return ("unary", _UNARY[type(uop)])
        case ast.Call(func=ast.Name(id=name)):
            if name == "abs":
                return ("unary", ir.UnaryOp.ABS)
            if name in _NAMED:
                return _NAMED[name]
            known = {
                "select": ir.Select,
                "broadcast": ir.Broadcast,
                "ramp": ir.Ramp,
                "cast": ir.Cast,
            }
            return known.get(name, name)
        case _:
            raise ValueError(f"no rule starts with `{ast.unparse(p)}`")


def _matcher(p: ast.expr) -> Matcher:
    match p:
        case ast.Name(id=("true" | "false") as name):
            return _literal(_LITERALS[name])
        case ast.Constant(value=int() as value):
            return _literal(value)
        case ast.Name(id=name):
            return _variable(name)
        case ast.BinOp(left=a, op=op, right=b) | ast.Compare(left=a, ops=[op], comparators=[b]):
            return _binary(_OPERATORS[type(op)], None, a, b)
        case ast.UnaryOp(op=uop, operand=a):
            return _unary(_UNARY[type(uop)], a)
        case ast.Call(func=ast.Name(id=name), args=[a, b]) if name in _NAMED:
            return _binary(_NAMED[name], None, a, b)
        case ast.Call(func=ast.Name(id=("op" | "rel") as name), args=[a, b]):
            return _binary(None, name, a, b)
        case ast.Call(func=ast.Name(id="abs"), args=[a]):
            return _unary(ir.UnaryOp.ABS, a)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _node(name, [_matcher(a) for a in args])
        case _:
            raise ValueError(f"not a pattern: `{ast.unparse(p)}`")


def _literal(value: int) -> Matcher:
    def match(e: Bound, _: Bindings) -> bool:
        if isinstance(e, int | DType | ir.Op):
            return e == value
        literal = build.const_value(e)
        return literal == value and isinstance(literal, bool) == isinstance(value, bool)

    return match


def _variable(name: str) -> Matcher:
    is_literal = name[0] == "c" and name[1:].isdigit()

    def match(e: Bound, bindings: Bindings) -> bool:
        if is_literal and (isinstance(e, int | DType | ir.Op) or build.const_value(e) is None):
            return False
        old = bindings.get(name)
        if old is None:
            bindings[name] = e
            return True
        if isinstance(old, int | DType | ir.Op) or isinstance(e, int | DType | ir.Op):
            return old == e
        return build.same(old, e)

    return match


def _binary(op: ir.Op | None, variable: str | None, a: ast.expr, b: ast.expr) -> Matcher:
    first, second = _matcher(a), _matcher(b)

    def match(e: Bound, bindings: Bindings) -> bool:
        if not isinstance(e, ir.Binary) or (op is not None and e.op is not op):
            return False
        if variable is not None:
            if variable == "rel" and e.op not in ir.COMPARISONS:
                return False
            if bindings.setdefault(variable, e.op) is not e.op:
                return False
        before = dict(bindings)
        if first(e.a, bindings) and second(e.b, bindings):
            return True
        if op not in _COMMUTES:
            return False
        bindings.clear()
        bindings.update(before)
        return first(e.b, bindings) and second(e.a, bindings)

    return match


def _unary(op: ir.UnaryOp, a: ast.expr) -> Matcher:
    inner = _matcher(a)

    def match(e: Bound, bindings: Bindings) -> bool:
        return isinstance(e, ir.Unary) and e.op is op and inner(e.a, bindings)

    return match


def _node(name: str, inner: list[Matcher]) -> Matcher:
    def match(e: Bound, bindings: Bindings) -> bool:
        parts: tuple[Bound, ...]
        match name, e:
            case "select", ir.Select(condition=c, a=a, b=b):
                parts = (c, a, b)
            case "broadcast", ir.Broadcast(value=v, lanes=n):
                parts = (v, n)
            case "ramp", ir.Ramp(base=base, stride=stride, lanes=n):
                parts = (base, stride, n)
            case "cast", ir.Cast(type=t, value=v):
                parts = (t.element, v)
            case _:
                return False
        return all(m(part, bindings) for m, part in zip(inner, parts, strict=True))

    return match


def _maker(p: ast.expr, at_root: bool = False) -> Maker:
    """Builds the right side. A number takes its type from the operand beside it; a whole right
    side that is a number, from what it replaces."""
    match p:
        case ast.Name(id=("true" | "false") as name):
            return _number(_LITERALS[name], at_root)
        case ast.Constant(value=int() as value):
            return _number(value, at_root)
        case ast.Name(id=name):
            return lambda bindings, _: bindings[name]
        case ast.BinOp(left=a, op=op, right=b) | ast.Compare(left=a, ops=[op], comparators=[b]):
            return _make(_binary_of(_OPERATORS[type(op)]), a, b)
        case ast.UnaryOp(op=uop, operand=a):
            return _make(build.neg if _UNARY[type(uop)] is ir.UnaryOp.NEG else build.not_, a)
        case ast.Call(func=ast.Name(id=name), args=[a, b]) if name in _NAMED:
            return _make(_binary_of(_NAMED[name]), a, b)
        case ast.Call(func=ast.Name(id=("op" | "rel") as name), args=[a, b]):
            return _make(build.binary, ast.Name(name), a, b)
        case ast.Call(func=ast.Name(id="abs"), args=[a]):
            return _make(lambda x: ir.Unary(ir.UnaryOp.ABS, x), a)
        case ast.Call(func=ast.Name(id=name), args=args):
            return _make(_MAKE[name], *args)
        case _:
            raise ValueError(f"not a right side: `{ast.unparse(p)}`")


def _make(function: Callable[..., ir.Expr], *args: ast.expr) -> Maker:
    parts = [_maker(a) for a in args]
    return lambda bindings, e: function(*(part(bindings, e) for part in parts))


def _number(value: int, at_root: bool) -> Maker:
    return lambda _, e: build.const(value, e.type) if at_root else value


def _binary_of(op: ir.Op) -> Callable[..., ir.Expr]:
    return lambda a, b: build.binary(op, a, b)


_MAKE: Final[dict[str, Callable[..., ir.Expr]]] = {
    "select": build.select,
    "broadcast": build.broadcast,
    "ramp": build.ramp,
    "cast": build.cast,
    "like": lambda c, x: build.const(build.const_value(c) or 0, x.type),
}
