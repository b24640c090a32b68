"""Whether statements are one statement at evenly spaced places, and that statement with a variable.

    s[16 * t] = a[i]; s[16 * t + 1] = a[i + S]; s[16 * t + 2] = a[i + 2 * S]
->  s[16 * t + e] = a[i + e * S]

Whole buffers may be evenly apart too, in an array of buffers of one kind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field, replace

from hbc.codegen.plan.register_arrays import register_base
from hbc.codegen.plan.repeat_kinds import header, operation, same_kind, store_kind
from hbc.ir.algebra.form import Linear, minus, scaled, to_expr
from hbc.ir.algebra.linear import linear
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, mul
from hbc.ir.lang.show import show
from hbc.ir.lang.types import INDEX, Memory, Type
from hbc.ir.lang.walk import (
    free_variables,
    map_children,
    operands,
    rename_buffer,
    substitute,
    substitute_stmt,
)


@record
class Member:
    """A buffer as one of an array of them: the array's name, and which it is."""

    array: str
    index: ir.Expr


class DifferentError(Exception):
    """Two statements are no repetition of one another."""


Steps = dict[tuple[int, ...], Linear]
"""How much each index grew from one statement to another, by the path of children that leads to it."""


@mutable
class Match:
    """The comparison of two statements. `members`: what is known of buffers in arrays. When `keeping`, the
    statement with the variable `var` is made, and its buffers are added to them. `steps`: what
    differs. `renamed`: the second statement's own names, as the first one's. `bent`: the paths whose
    index does not make all of the expression around it grow evenly. `registers`: the lanes of each
    register of a buffer, 0 where registers differ; those of others are in memory."""

    var: str
    members: dict[str, Member]
    keeping: bool = False
    steps: Steps = field(default_factory=dict)
    renamed: dict[str, ir.Expr] = field(default_factory=dict)
    bent: set[tuple[int, ...]] = field(default_factory=set)
    registers: Mapping[str, int] = field(default_factory=dict)

    def stmt(self, a: ir.Stmt, b: ir.Stmt, path: tuple[int, ...] = ()) -> ir.Stmt:
        """`a` where the variable is 0, `b` where it is 1. DifferentError where that is nothing."""
        match a, b:
            case (ir.Store(), ir.Store()):
                return self._store(a, b, path)
            case (ir.Block(body=x), ir.Block(body=y)) if len(x) == len(y):
                pairs = enumerate(zip(x, y, strict=True))
                return ir.Block(tuple(self.stmt(p, q, (*path, n)) for n, (p, q) in pairs))
            case (ir.LetStmt(), ir.LetStmt()) if a.value.type == b.value.type:
                value = self.expr(a.value, b.value, (*path, 0))
                then = self._with_variable(b.body, b.name, a.name, a.value.type)
                return replace(a, value=value, body=self.stmt(a.body, then, (*path, 1)))
            case (ir.Allocate(), ir.Allocate()) if (
                same_kind(a, b) and a.memory is not Memory.SHARED
            ):
                then = _with_buffer(b.body, b.buffer, a.buffer)
                return replace(a, body=self.stmt(a.body, then, (*path, 0)))
            case (ir.For(), ir.For()) if header(a) == header(b):
                then = self._with_variable(b.body, b.var, a.var)
                return replace(a, body=self.stmt(a.body, then, (*path, 0)))
            case (ir.If(), ir.If()) if (a.otherwise is None) == (b.otherwise is None):
                condition = self.expr(a.condition, b.condition, (*path, 0))
                first = self.stmt(a.then, b.then, (*path, 1))
                if a.otherwise is None or b.otherwise is None:
                    return replace(a, condition=condition, then=first)
                other = self.stmt(a.otherwise, b.otherwise, (*path, 2))
                return replace(a, condition=condition, then=first, otherwise=other)
            case (
                ir.Barrier() | ir.CopyCommit() | ir.CopyWait() | ir.Fence() | ir.Comment(),
                _,
            ) if a == b:
                return a
            case _:
                raise DifferentError

    def _store(self, a: ir.Store, b: ir.Store, path: tuple[int, ...]) -> ir.Store:
        if store_kind(a) != store_kind(b) or (a.mask is None) != (b.mask is None):
            raise DifferentError
        name, mask = self.buffer(a.buffer, b.buffer, (*path, 3)), a.mask
        if a.mask is not None and b.mask is not None:
            mask = self.expr(a.mask, b.mask, (*path, 2))
        index = self._place(a.buffer, a.index, b.index, (*path, 0))
        value = self.expr(a.value, b.value, (*path, 1))
        return replace(a, buffer=name, index=index, value=value, mask=mask)

    def buffer(self, a: str, b: str, path: tuple[int, ...]) -> str:
        if a == b:
            return a
        x, y = self.members.get(a), self.members.get(b)
        if x is None or y is None or x.array != y.array:
            raise DifferentError
        index = self._index(x.index, substitute(y.index, self.renamed), path)
        if not self.keeping:
            return a
        name = f"{x.array}[{show(index)}]"
        self.members[name] = Member(x.array, index)
        return name

    def _place(self, buffer: str, a: ir.Expr, b: ir.Expr, path: tuple[int, ...]) -> ir.Expr:
        """An index of the buffer; of registers, whole ones further."""
        lanes = self.registers.get(buffer)
        if lanes is None or a == b:
            return self.expr(a, b, path)
        first, later = register_base(a, lanes), register_base(b, lanes)
        if first is None or later is None:
            raise DifferentError
        step = minus(linear(later), linear(first))
        if not step.is_constant or step.constant % lanes:
            raise DifferentError
        base = self._index(first, later, (*path, 0))
        return replace(a, base=base) if isinstance(a, ir.Ramp) else base

    def _with_variable(self, s: ir.Stmt, old: str, new: str, t: Type = INDEX) -> ir.Stmt:
        if old == new:
            return s
        if new in free_variables(s):
            raise DifferentError
        self.renamed[old] = ir.Var(new, t)
        return substitute_stmt(s, {old: self.renamed[old]})

    def expr(self, a: ir.Expr, b: ir.Expr, path: tuple[int, ...]) -> ir.Expr:
        if a is b:
            return a
        if a.type != b.type:
            raise DifferentError
        if a.type == INDEX:
            return self._index(a, b, path)
        match a, b:
            case (ir.Load(), ir.Load()):
                if (a.mask is None) != (b.mask is None):
                    raise DifferentError
                mask = a.mask
                if a.mask is not None and b.mask is not None:
                    mask = self.expr(a.mask, b.mask, (*path, 1))
                name = self.buffer(a.buffer, b.buffer, (*path, 2))
                index = self._place(a.buffer, a.index, b.index, (*path, 0))
                return ir.Load(name, index, a.type, mask, a.span)
            case (ir.Const() | ir.Var(), _):
                if a != b:
                    raise DifferentError
                return a
            case _:
                return self._children(a, b, path)

    def _children(self, a: ir.Expr, b: ir.Expr, path: tuple[int, ...]) -> ir.Expr:
        """The same operation on operands that may differ."""
        others = operands(b)
        if operation(a) != operation(b) or len(operands(a)) != len(others):
            raise DifferentError
        pairs = enumerate(others)

        def child(x: ir.Expr) -> ir.Expr:
            n, y = next(pairs)
            return self.expr(x, y, (*path, n))

        return map_children(a, child)

    def _index(self, a: ir.Expr, b: ir.Expr, path: tuple[int, ...]) -> ir.Expr:
        """So much further for every one of the variable: by a constant or multiple of a name, said
        where in the expression the difference is."""
        step = minus(linear(b), linear(a))
        if not step.terms and not step.constant:
            return a
        if step.is_constant or a.__class__ is not b.__class__:
            return self._further(a, step, path)
        before, self.steps = self.steps, {}
        try:
            made = self._children(a, b, path)
        except DifferentError:
            self.steps = before
            return self._further(a, step, path)
        inside, self.steps = self.steps, before
        if _bends(a, {p[len(path)] for p in inside}) or any(p in self.bent for p in inside):
            self.bent |= inside.keys()
            self.steps |= inside
        else:
            self.steps[path] = step
        return made

    def _further(self, a: ir.Expr, step: Linear, path: tuple[int, ...]) -> ir.Expr:
        if not step.is_constant and not _is_multiple_of_name(step):
            raise DifferentError
        self.steps[path] = step
        return simplify(add(a, mul(to_expr(step), ir.Var(self.var)))) if self.keeping else a


def _bends(e: ir.Expr, growing: Collection[int]) -> bool:
    """Whether the value may not grow evenly where these of its operands do."""
    if not isinstance(e, ir.Binary):
        return True
    return e.op not in (ir.Op.ADD, ir.Op.SUB) and (e.op is not ir.Op.MUL or len(growing) > 1)


def is_repetition(first: Steps, later: Steps, count: int) -> bool:
    """Whether a later statement lies so many times as far away as the first one."""
    return first.keys() == later.keys() and all(
        later[path] == scaled(step, count) for path, step in first.items()
    )


def _is_multiple_of_name(step: Linear) -> bool:
    return step.constant == 0 and len(step.terms) == 1 and isinstance(step.terms[0][0], ir.Var)


def _with_buffer(s: ir.Stmt, old: str, new: str) -> ir.Stmt:
    return s if old == new else rename_buffer(s, old, new)
