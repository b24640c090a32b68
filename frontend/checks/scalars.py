"""Inputs that are one number, given to each call: `input gain: f32`, `input n: i32`.

An integer whose bound says that it is not negative serves as a size: it may stand in extents and intervals,
and its bound is tested as a requirement of each call. Any other scalar is an input of no dimensions.
"""

from __future__ import annotations

from hbc.frontend.checks.declarations import interval, type_named
from hbc.frontend.checks.names import declare
from hbc.frontend.program.constants import evaluate
from hbc.frontend.program.funcs import Bound, Image, Requirement, SizeDecl
from hbc.frontend.program.prove import SizeFacts
from hbc.frontend.program.scope import Scope
from hbc.frontend.program.settings import Settings
from hbc.frontend.text import ast
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.diag import Note
from hbc.ir.lang import build
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import I64, DType

LARGEST_BITS = 40  # as of sizes


def scalars(file: ast.File, scope: Scope, settings: Settings) -> None:
    """Declares them all; those that serve as sizes with their bounds, which may speak of one another."""
    given: list[tuple[ast.Input, DType]] = []
    for s in file.statements:
        if isinstance(s, ast.Input) and not s.extents and declare(scope, s.name, "an input", True):
            given.append((s, type_named(s.type, scope)))
    bounds = {b.name.text: b for b in reversed(file.statements) if isinstance(b, ast.Bound)}
    for s, element in given:
        name = s.name.text
        bound = bounds.get(name)
        if bound is not None and element.is_int and not _may_be_negative(bound, name, scope):
            scope.sizes[name] = SizeDecl(name, s.name.span, settings.size(name), element)
            scope.used.add(name)
        else:
            scope.inputs[name] = Image(name, element, (), s.name.span)
            if element == I64 and not _is_moderate(bound, scope):
                scope.report(
                    f"nothing says how large `{name}` may be: i64 is the type of indices, which do not wrap",
                    s.name.span, f"write `bound {name} in -1_000 .. 1_000`, or declare it i32",
                )  # fmt: skip
    for name, size in scope.sizes.items():
        if size.element is not None:
            _bounded(bounds[name], size.element, scope)


def _may_be_negative(b: ast.Bound, name: str, scope: Scope) -> bool:
    """Whether a value within the bound may be. Sizes are not, nor are quotients and sums of them."""
    if b.interval.start is None:
        return False
    before, scope.quiet = scope.quiet, True
    ends = interval(b.interval, scope, "a bound")
    scope.quiet = before
    return ends is not None and not SizeFacts().prove(linear(ends[0]))


def _is_moderate(b: ast.Bound | None, scope: Scope) -> bool:
    """Whether the bound keeps arithmetic far from the ends of 64 bits: sizes do, and numbers of 40 bits."""
    if b is None:
        return False
    before, scope.quiet = scope.quiet, True
    ends = interval(b.interval, scope, "a bound")
    scope.quiet = before
    known = [evaluate(e) for e in ends or ()]
    return all(n is None or abs(n) <= 1 << LARGEST_BITS for n in known)


def _bounded(b: ast.Bound, element: DType, scope: Scope) -> None:
    """The bound of a scalar that serves as a size, and what each call is asked."""
    name, low_type_high = b.name.text, element.limits
    ends = interval(b.interval, scope, "a bound")
    if ends is None:
        return
    low, high = ends
    known = [evaluate(e) for e in ends]
    if known[0] is not None and known[1] is not None and known[0] >= known[1]:
        scope.report(
            f"no value lies in {known[0]} .. {known[1]}", b.interval.span,
            "the end is not part of the interval",
        )  # fmt: skip
        return
    own = ir.Var(name)
    if any(isinstance(a, ir.Var) and a.name == name for e in ends for a, _ in linear(e).terms):
        scope.report(f"the bound of `{name}` is said by `{name}` itself", b.interval.span)
        return
    scope.bounds[name] = Bound(name, low, high, b.span)
    tests = [build.le(low, own), build.lt(own, high)]
    if known[1] is None or known[1] > low_type_high[1] + 1:
        tests.append(build.le(own, low_type_high[1]))
    said = " ".join(b.interval.span.text.split())
    for test in tests:
        scope.requirements.append(
            Requirement(test, f"`{name}` is outside of its bound {said}", b.span)
        )


def said_already(s: ast.Bound, scope: Scope) -> bool:
    """Whether this is the bound of a scalar that serves as a size, which `scalars` has read."""
    name = s.name.text
    if name not in scope.sizes or scope.sizes[name].element is None:
        return False
    known = scope.bounds.get(name)
    if known is not None and known.span != s.span and known.span is not None:
        note = Note("the previous one", known.span)
        scope.report(f"`{name}` already has a bound", s.span, "keep one of them", note)
    return True
