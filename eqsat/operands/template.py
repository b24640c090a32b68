"""Statements that differ in the places of their arrays alone are performed once.

What does the first is kept with marks for places, names of its own, and variables for operands that
are packed; for each of its like these are replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace

from hbc.eqsat.operands.choice import Choice, Statement
from hbc.eqsat.operands.perform import Packed, perform
from hbc.eqsat.tensors.plan import Parts
from hbc.eqsat.tensors.points import Points
from hbc.eqsat.tensors.steps import Fresh, Index
from hbc.eqsat.tensors.tensor import Tensor, map_scalars
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import INDEX
from hbc.ir.lang.walk import map_children, map_stmt, substitute


@record
class Name:
    """A new name like `like` was asked for; the template has this one."""

    name: str
    like: str


@record
class Operand:
    """An operand was packed: what `Packed` was called with. The template has a variable of this name."""

    name: str
    x: Tensor
    at: Points
    steps: Parts
    index: Index
    note: str


@record
class Template:
    """A statement over marks, and what was asked for when it was made, in order."""

    body: ir.Stmt
    asked: tuple[Name | Operand, ...]


@mutable
class Templates:
    """By the number of the choice."""

    known: dict[int, Template] = field(default_factory=dict)

    def perform(
        self, marked: tuple[Statement, Choice], choice: Choice, fresh: Fresh, packed: Packed
    ) -> ir.Stmt:
        """As `perform` for a choice. `marked`: the statement and the choice over marks."""
        if choice.number not in self.known:
            self.known[choice.number] = template(*marked)
        return _copy(self.known[choice.number], choice.marks, fresh, packed)


def template(s: Statement, choice: Choice) -> Template:
    """That of a statement over marks."""
    asked: list[Name | Operand] = []

    def fresh(base: str) -> str:
        asked.append(Name(f"name {len(asked)}", base))
        return asked[-1].name

    def packed(x: Tensor, at: Points, steps: Parts, index: Index, note: str) -> ir.Expr:
        asked.append(Operand(f"operand {len(asked)}", x, at, steps, index, note))
        return ir.Var(asked[-1].name, x.element(at.lanes))

    return Template(perform(choice, s, fresh, packed), tuple(asked))


def _copy(t: Template, marks: Mapping[str, ir.Expr], fresh: Fresh, packed: Packed) -> ir.Stmt:
    """The template with these expressions for its marks."""
    given, names = dict(marks), dict[str, str]()
    tensors: dict[int, Tensor] = {}  # by the id of the one over marks, which the template holds
    for asked in t.asked:
        match asked:
            case Name(name=name, like=like):
                names[name] = fresh(like)
                given[name] = ir.Var(names[name])
            case Operand(name=name, x=x, at=at, steps=steps, index=index, note=note):
                if id(x) not in tensors:
                    tensors[id(x)] = map_scalars(x, lambda e, _: substitute(e, marks))
                at_marks = {d: substitute(e, given) for d, e in index.items()}
                given[name] = packed(tensors[id(x)], at, steps, at_marks, note)
    return _replaced(t.body, given, names)


def _replaced(s: ir.Stmt, given: Mapping[str, ir.Expr], names: Mapping[str, str]) -> ir.Stmt:
    """The statement with variables replaced, sums of places in canonical form, and other names."""

    def expr(e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Var(name=name):
                return given.get(name, e)
            case ir.Load(buffer=buffer, index=index, type=t, mask=mask):
                there = None if mask is None else expr(mask)
                return ir.Load(names.get(buffer, buffer), expr(index), t, there)
            case _ if e.type == INDEX:
                new = substitute(e, given)
                return new if new is e else canonical(new)
            case _:
                return map_children(e, expr)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        match s:
            case ir.Store(buffer=b):
                s = replace(s, buffer=names.get(b, b))
            case ir.For(var=var):
                s = replace(s, var=names.get(var, var))
            case ir.Allocate(buffer=b):
                s = replace(s, buffer=names.get(b, b))
            case _:
                pass
        return map_stmt(s, expr, stmt)

    return stmt(s)
