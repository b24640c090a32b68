"""Checks the update of an instruction: a sum of products of its operands."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.isa.extents import Extent
from hbc.frontend.isa.properties import Reports
from hbc.frontend.text import ast
from hbc.ir.ground.diag import did_you_mean
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Operand
from hbc.ir.lang.types import F32, DType, widen

FUNCTIONS = {str(ir.MathOp.TF32): ir.MathOp.TF32}
"""What instructions do to floats before they multiply them."""
MEANING = "the meaning of an instruction is one update, `c[i] += i32(a[i, k]) * i32(b[i, k])`"


@record
class Typed:
    """An operand, its extents with what divides them, and where it is written."""

    operand: Operand
    extents: tuple[Extent, ...]
    written: isa_ast.Operand


def check_update(u: ast.Definition, operands: Mapping[str, Typed], reports: Reports) -> bool:
    """Whether the update is a sum into an operand, over all of its elements."""
    if u.name.text not in operands:
        hint = did_you_mean(u.name.text, operands)
        reports.report(f"there is no operand `{u.name.text}`", u.name.span, hint)
        return False
    if u.op != "+=" or u.condition is not None or u.type is not None:
        reports.report("an instruction adds products to an operand", u.span, MEANING)
        return False
    names = [x.text for x in u.indices if isinstance(x, ast.Name)]
    if len(set(names)) < len(u.indices):
        reports.report(
            f"`{u.name.text}` is written at indices that are no distinct variables", u.span,
            "what is added to has one variable for each dimension, such as `c[i, j]`",
        )  # fmt: skip
        return False
    return True


def read_factors(
    u: ast.Definition, operands: Mapping[str, Typed], reports: Reports
) -> dict[str, tuple[ast.Expr, ...]] | None:
    """The indices of each operand of the product, or None."""
    to = operands[u.name.text].operand.element
    factors: dict[str, tuple[ast.Expr, ...]] = {}
    before = len(reports.found)
    pending = [u.value]
    while pending:
        match pending.pop():
            case ast.Binary(op="*", a=a, b=b):
                pending += [b, a]
            case ast.Access(name=name, indices=indices) as e:
                check_factor(e, name, None, to, operands, reports)
                check_once(name, u, factors, reports)
                factors[name.text] = indices
            case ast.Call(name=to_type, args=(ast.Access(name=name, indices=indices),)) as e:
                check_factor(e, name, to_type, to, operands, reports)
                check_once(name, u, factors, reports)
                factors[name.text] = indices
            case other:
                reports.report(
                    f"`{other.span.text}` is no factor of a product", other.span, MEANING
                )
    if len(reports.found) == before:
        for operand, t in operands.items():
            if operand != u.name.text and operand not in factors:
                reports.report(f"the operand `{operand}` is not used", t.written.span, MEANING)
        if len(factors) > 2:
            reports.report("a product has at most two factors", u.value.span, MEANING)
    return factors if len(reports.found) == before else None


def read_functions(u: ast.Definition) -> dict[str, ir.MathOp]:
    """What is done to the elements of factors before they are multiplied, by operand."""
    functions: dict[str, ir.MathOp] = {}
    pending = [u.value]
    while pending:
        match pending.pop():
            case ast.Binary(a=a, b=b):
                pending += [b, a]
            case ast.Call(name=function, args=(ast.Access(name=name),)):
                if function.text in FUNCTIONS:
                    functions[name.text] = FUNCTIONS[function.text]
            case _:
                pass
    return functions


def check_once(
    name: ast.Ident, u: ast.Definition, factors: Collection[str], reports: Reports
) -> None:
    """Reports a factor that is one already, or is what is added to."""
    if name.text == u.name.text:
        reports.report(f"`{name.text}` is added to and is a factor", name.span, MEANING)
    elif name.text in factors:
        reports.report(
            f"`{name.text}` is a factor twice", name.span,
            "declare two operands; code may give both the same register",
        )  # fmt: skip


def check_factor(
    e: ast.Expr, name: ast.Ident, cast: ast.Ident | None, to: DType,
    operands: Mapping[str, Typed], reports: Reports,
) -> None:  # fmt: skip
    """Reports a factor that is no operand, or whose values do not all fit the sum."""
    if name.text not in operands:
        hint = did_you_mean(name.text, operands)
        reports.report(f"there is no operand `{name.text}`", name.span, hint)
        return
    own = operands[name.text].operand.element
    if cast is not None and cast.text in FUNCTIONS:
        if own != F32 or to != F32:
            reports.report(f"`{cast.text}` is of `f32`, added to `f32`", e.span)
        return
    if cast is not None and cast.text != to.name:
        reports.report(
            f"the product is `{cast.text}` and what it is added to is `{to}`", e.span,
            f"cast each factor to the type of the sum: `{to}(...)`",
        )  # fmt: skip
    elif cast is None and own != to:
        reports.report(
            f"`{name.text}` is `{own}` and the sum is `{to}`", e.span,
            f"write the cast: `{to}({e.span.text})`",
        )  # fmt: skip
    elif widen(own, to) != to:
        reports.report(f"`{to}` does not hold all values of `{own}`", e.span)
