"""Extents of instruction operands: numbers, sizes, and sizes times or divided by a number."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.isa.properties import Reports
from hbc.frontend.text import ast
from hbc.ir.algebra.linear import canonical
from hbc.ir.ground.diag import did_you_mean
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const_value, floordiv, mul
from hbc.ir.lang.instruction import Size
from hbc.ir.lang.types import INDEX


@record
class Extent:
    """`grain` divides it, whatever the sizes are; `most` is what it is at the largest sizes."""

    value: ir.Expr
    grain: int
    most: int

    def divided(self, d: int) -> Extent:
        return Extent(canonical(floordiv(self.value, d)), self.grain // d, self.most // d)


BROKEN = Extent(ir.const_index(1), 1, 1)
_, LARGEST = INDEX.element.limits
"""Index arithmetic would wrap beyond, and messages show other numbers than those that are written."""


def check_sizes(written: list[isa_ast.Bounded], reports: Reports) -> tuple[Size, ...]:
    """The `size` lines."""
    sizes: dict[str, Size] = {}
    for b in written:
        written_step = 1 if b.step is None else b.step.value
        most, step = _whole(b.most.value), _whole(written_step)
        if most != b.most.value or step != written_step:
            reports.report("sizes are whole numbers", b.span)
            most, step = max(most, 1), max(step, 1)
        elif step < 1 or most < step or most % step:
            reports.report(
                f"no size is at most {most} in steps of {step}"
                if most < max(step, 1)
                else f"{most} is no multiple of the step {step}",
                b.span, "write the largest value, a positive multiple of the step",
            )  # fmt: skip
            step = max(step, 1)
            most = step
        elif not _is_index(str(most), most, b.most.span, reports):
            most = step
        for name in b.names:
            if name.text in sizes:
                reports.report(f"the size `{name.text}` is declared twice", name.span)
            sizes[name.text] = Size(name.text, most, step)
    return tuple(sizes.values())


def _whole(value: float) -> int:
    """The number, if it is a whole one."""
    return int(value) if isfinite(value) else 0


def _is_index(text: str, most: int, span: Span, reports: Reports) -> bool:
    """Whether an index can be as large; reported if not."""
    if most > LARGEST:
        shown = f"`{text}`" if text == str(most) else f"`{text}` is as large as {most}, which"
        reports.report(
            f"{shown} is beyond the largest index, {LARGEST}", span,
            "write how many elements a register holds",
        )  # fmt: skip
    return most <= LARGEST


def read_extent(e: ast.Expr, sizes: Mapping[str, Size], reports: Reports) -> Extent:
    """An extent as written; what is wrong is reported."""
    match e:
        case ast.Number(value=int() as value) if value > 0:
            small = _is_index(e.span.text, value, e.span, reports)
            return Extent(ir.const_index(value), value, value) if small else BROKEN
        case ast.Name(text=name):
            if name in sizes:
                return Extent(ir.Var(name), sizes[name].step, sizes[name].most)
            hint = did_you_mean(name, sizes) or f"declare it: `size {name} <= 16`"
            reports.report(f"there is no size `{name}`", e.span, hint)
            return BROKEN
        case (
            ast.Binary(op="*", a=a, b=ast.Number(value=int() as n))
            | ast.Binary(op="*", a=ast.Number(value=int() as n), b=a)
        ) if n > 0:
            inner = read_extent(a, sizes, reports)
            most = inner.most * n
            if inner is BROKEN or not _is_index(e.span.text, most, e.span, reports):
                return BROKEN
            return Extent(canonical(mul(inner.value, n)), inner.grain * n, most)
        case ast.Binary(op="/", a=a, b=ast.Number(value=int() as n)) if n > 0:
            inner = read_extent(a, sizes, reports)
            if inner is BROKEN:
                return BROKEN
            if inner.grain % n:
                reports.report(
                    f"`{e.span.text}` is not always whole", e.span,
                    f"declare the size with `step {n}`" if const_value(inner.value) is None else None,
                )  # fmt: skip
                return BROKEN
            return inner.divided(n)
        case _:
            reports.report(
                f"`{e.span.text}` is no extent", e.span,
                "write a positive number, or a size, times or divided by a number",
            )  # fmt: skip
            return BROKEN
