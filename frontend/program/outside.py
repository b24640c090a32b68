"""Says how a read leaves its array, and writes requirements on the sizes."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from hbc.frontend.program.funcs import Requirement
from hbc.frontend.program.ranges import Clauses, SymbolicRange, quotient
from hbc.frontend.program.scope import Scope
from hbc.ir.algebra.linear import Linear, linear, minus, shifted, to_expr
from hbc.ir.ground.diag import Note
from hbc.ir.ground.source import Span
from hbc.ir.lang import build
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.walk import free_variables, nodes_of


def requirement(clauses: Clauses, message: str, span: Span | None) -> Requirement:
    """Some clause is at least 0 in all its forms."""
    tests = [build.and_(*(at_least_zero(f) for f in clause)) for clause in clauses]
    return Requirement(build.or_(*tests), message, span)


def at_least_zero(form: Linear) -> ir.Expr:
    """`form >= 0` with its negative terms on the other side."""
    common = gcd(*(c for _, c in form.terms))
    form = quotient(form, common) if common > 1 else form
    positive = [(k, t) for k, t in zip(form.keys, form.terms, strict=True) if t[1] > 0]
    negative = [(k, t) for k, t in zip(form.keys, form.terms, strict=True) if t[1] < 0]
    left = Linear(max(-form.constant, 0), tuple((a, -c) for _, (a, c) in negative),
                  tuple(k for k, _ in negative))  # fmt: skip
    right = Linear(max(form.constant, 0), tuple(t for _, t in positive),
                   tuple(k for k, _ in positive))  # fmt: skip
    return build.le(to_expr(left), to_expr(right))


def leaves(access: ir.Access, at: int, below: bool, clauses: Clauses, extent: Linear) -> str:
    """The message of a requirement: the read leaves its array for some sizes."""
    read = " ".join(access.span.text.split()) if access.span else access.name
    alone = clauses[0][0] if len(clauses) == len(clauses[0]) == 1 else None
    if alone is not None and at_least_zero(alone) == at_least_zero(shifted(extent, -1)):
        return f"`{access.name}` is empty along dimension {at}, and `{read}` reads it"
    end = "below index 0" if below else "beyond its end"
    return f"`{read}` reads `{access.name}` {end} along dimension {at}"


def report_unbounded(access: ir.Access, at: int, scope: Scope) -> None:
    """An index of which nothing is known."""
    index = access.indices[at]
    through = [n.name for n in nodes_of(index, ir.Access)]
    shown = written(access)
    if through:
        extent = _extent(access.name, at, scope)
        last = f"{int(extent) - 1}" if extent.isdigit() else f"{extent} - 1"
        source = next(n for n in nodes_of(index, ir.Access))
        hint = f"write `clamp(..., 0, {last})`"
        if source.type.element.is_int and through[0] not in scope.bounds:
            hint += f", or promise it: `bound {through[0]} in 0 .. {extent}`"
        scope.report(
            f"index {at} of `{shown}` depends on the values of `{through[0]}`, which have no bound",
            index.span or access.span, hint,
        )  # fmt: skip
        return
    scope.report(
        f"index {at} of `{shown}` has no bound that is affine in the sizes",
        index.span or access.span, "write `clamp(..., 0, N - 1)`",
    )  # fmt: skip


def _extent(name: str, at: int, scope: Scope) -> str:
    """The extent of an array along a dimension, `N` where it is not declared."""
    image = scope.inputs.get(name) or scope.outputs.get(name)
    return "N" if image is None or at >= len(image.extents) else show(image.extents[at])


def report_outside(
    access: ir.Access, at: int, r: SymbolicRange, extent: Linear, below: bool,
    known: Mapping[str, SymbolicRange], places: Mapping[str, Span | None], scope: Scope,
) -> None:  # fmt: skip
    """An index that leaves the array for all sizes."""
    clauses = r.low if below else r.high
    value = end(clauses, below)
    notes: list[Note] = []
    for v in sorted(free_variables(access.indices[at])):
        span = places.get(v)
        if span is not None and known[v].bounded:
            low, high = end(known[v].low, True), end(known[v].high, False)
            notes.append(Note(f"`{v}` runs from `{low}` to `{high}`", span))
    has = f"the indices of `{access.name}` begin at 0" if below else (
        f"`{access.name}` has extent `{shown(extent)}`"
    )  # fmt: skip
    where = f" in dimension {at}" if len(access.indices) > 1 else ""
    scope.report(
        f"`{written(access)}` reaches `{value}`, but {has}{where}",
        access.indices[at].span or access.span, hint(access, at, extent, below, known, scope), *notes,
    )  # fmt: skip


def hint(
    access: ir.Access, at: int, extent: Linear, below: bool, known: Mapping[str, SymbolicRange],
    scope: Scope,
) -> str:  # fmt: skip
    """What keeps the index inside: of an array that steps of a reduction write, other steps; of what is
    read, an index that stops at the ends."""
    index = access.indices[at]
    last = shown(shifted(extent, -1))
    through = next((n for n in nodes_of(index, ir.Access) if n.indices), None)
    if through is not None:
        promise = f"`bound {through.name} in 0 .. {shown(extent)}`"
        if through.name in scope.bounds:
            return f"write `clamp(..., 0, {last})`, or correct the bound of `{through.name}`"
        return f"write `clamp(..., 0, {last})`, or promise it: {promise}"
    if access.name in scope.inputs:
        return f"read it through a boundary helper, such as `clamp_edge({access.name})[...]`"
    steps = _fewer_steps(index, extent, below, known, scope)
    if steps:
        return f"leave those steps out: `{steps}`"
    written = " ".join(index.span.text.split()) if index.span else "..."
    inside = f"write `clamp({written}, 0, {last})`"
    return inside if below else f"{inside}, or give `{access.name}` a larger extent"


def _fewer_steps(
    index: ir.Expr, extent: Linear, below: bool, known: Mapping[str, SymbolicRange], scope: Scope
) -> str | None:
    """The declaration of the only variable of an index, of a reduction, with the interval in which the
    index is inside; None where there is no such."""
    variables = [v for v in free_variables(index) if v not in scope.sizes]
    if len(variables) != 1 or variables[0] not in scope.reduces:
        return None
    (v,) = variables
    past = minus(linear(index), linear(ir.Var(v)))
    low, high = known[v].low, known[v].high
    if v in (a.name for a, _ in past.terms if isinstance(a, ir.Var)) or not past.is_constant:
        return None
    if not len(low) == len(low[0]) == len(high) == len(high[0]) == 1:
        return None
    start = Linear(-past.constant) if below else low[0][0]
    stop = shifted(high[0][0], 1) if below else shifted(extent, -past.constant)
    return f"reduce {v} in {shown(start)} .. {shown(stop)}"


def end(clauses: Clauses, below: bool) -> str:
    """One end of a range, in words."""
    inner, outer = ("min", "max") if below else ("max", "min")
    clauses = tuple(c for c in clauses if len(c) == 1)[:1] or clauses
    parts = [
        shown(c[0]) if len(c) == 1 else f"{inner}({', '.join(map(shown, c))})" for c in clauses
    ]
    return parts[0] if len(parts) == 1 else f"{outer}({', '.join(parts)})"


def shown(form: Linear) -> str:
    return show(to_expr(form))


def written(access: ir.Access) -> str:
    """The read as it stands in the file."""
    return " ".join(access.span.text.split()) if access.span else access.name
