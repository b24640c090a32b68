"""Checks sizes, params, types, inputs, outputs, reductions, bounds, requirements and aliases."""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.checks.access import edge_image
from hbc.frontend.checks.names import declare
from hbc.frontend.checks.types import convert, text
from hbc.frontend.checks.values import condition, index, value
from hbc.frontend.program.constants import evaluate
from hbc.frontend.program.funcs import Bound, Image, ReduceVar, Requirement, SizeDecl
from hbc.frontend.program.literals import is_broken
from hbc.frontend.program.scope import Edge, Env, Scope
from hbc.frontend.program.settings import Settings
from hbc.frontend.text import ast
from hbc.frontend.text.walk import nodes as nodes_of
from hbc.ir.algebra.linear import Linear, linear, to_expr
from hbc.ir.ground.diag import Note
from hbc.ir.ground.source import Span
from hbc.ir.lang import build
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.types import DTYPES, PACKED, DType, Type
from hbc.ir.lang.walk import nodes


def sizes(s: ast.Sizes, scope: Scope, settings: Settings) -> None:
    for name in s.names:
        if declare(scope, name, "a size", in_c=True):
            fixed, usual = settings.size(name.text), settings.usual(name.text)
            scope.sizes[name.text] = SizeDecl(name.text, name.span, fixed, usual=usual)


def type_param(s: ast.TypeParam, scope: Scope, settings: Settings) -> None:
    if not declare(scope, s.name, "a type"):
        return
    chosen = settings.type(s.name.text)
    scope.types[s.name.text] = chosen or type_named(s.default, scope)


def param(s: ast.Param, scope: Scope, settings: Settings) -> None:
    if not declare(scope, s.name, "a param"):
        return
    to = type_named(s.type, scope)
    default = constant(s.default, to, f"`{s.name.text}`", scope)
    chosen = settings.param(s.name.text, to)
    number = default if chosen is None else chosen
    if number is None:
        scope.broken.add(s.name.text)
        number = 0.0 if to.is_float else 0
    scope.params[s.name.text] = ir.Const(number, Type(to), s.name.span)


def constant(e: ast.Expr, to: DType, what: str, scope: Scope) -> int | float | bool | None:
    """The value of an expression that must not depend on sizes; None after a report."""
    before = len(scope.mistakes)
    v = convert(value(e, Env(scope, place="in a constant")), e, to, what, scope)
    if is_broken(v):
        return None
    number = evaluate(v)
    if number is None and len(scope.mistakes) == before:
        scope.report(f"`{text(e)}` is not known at compile time", e.span,
                     "write a number: sizes and inputs are known when the kernel runs")  # fmt: skip
    return number


def type_named(name: ast.Ident, scope: Scope) -> DType:
    """The element type of that name; f32 after a report."""
    if name.text in scope.types:
        scope.used.add(name.text)
        return scope.types[name.text]
    if name.text in PACKED:
        whole = name.text.replace("4", "8")
        scope.report(
            f"`{name.text}` is a type of arrays that are inputs or outputs, and of nothing else", name.span,
            f"its values are {whole}: write `{whole}`",
        )  # fmt: skip
        return DTYPES[whole]
    scope.unknown("type", name.text, name.span, scope.types)
    return DTYPES["f32"]


def array(s: ast.Input | ast.Output, scope: Scope) -> None:
    what = "an input" if isinstance(s, ast.Input) else "an output"
    fresh = declare(scope, s.name, what, in_c=True)
    is_packed = s.type.text in PACKED.keys() - scope.types.keys()
    dtype = PACKED[s.type.text] if is_packed else type_named(s.type, scope)
    shape = [extent(e, scope, f"`{s.name.text}`") for e in s.extents]
    extents = tuple(ir.const_index(1) if e is None else e for e in shape)
    if not fresh:
        return
    if None in shape:
        scope.broken.add(s.name.text)
    constant = isinstance(s, ast.Input) and s.constant
    image = Image(s.name.text, dtype, extents, s.name.span, constant)
    (scope.inputs if isinstance(s, ast.Input) else scope.outputs)[s.name.text] = image


def in_place(s: ast.Output, of: ast.Ident, scope: Scope) -> None:
    """Notes that an output takes the memory of an input."""
    name = s.name.text
    output, given = scope.outputs.get(name), scope.inputs.get(of.text)
    if given is None:
        known = scope.declared.get(of.text)
        if known is None:
            scope.unknown("input", of.text, of.span, scope.inputs)
        elif of.text not in scope.broken:
            scope.report(
                f"`{of.text}` is {known.what}, and `{name}` may alias an input alone", of.span,
                "name the input that it overwrites", Note("it is declared here", known.span),
            )  # fmt: skip
        return
    if output is None or not {name, of.text}.isdisjoint(scope.broken):
        return
    other = next((o for o in scope.outputs.values() if o.aliases == of.text), None)
    there = () if given.span is None else (Note(f"`{of.text}` is declared here", given.span),)
    if given.is_scalar:
        scope.report(f"`{of.text}` is one number, and has no memory to take", of.span, None, *there)
    elif given.constant:
        scope.report(
            f"`{of.text}` is constant, and `{name}` would overwrite it", of.span,
            "leave `constant` out", *there,
        )  # fmt: skip
    elif other is not None and other.span is not None:
        scope.report(
            f"two outputs alias `{of.text}`", of.span, "one of them needs memory of its own",
            Note(f"`{other.name}` aliases it too", other.span),
        )  # fmt: skip
    elif (output.element, output.extents) != (given.element, given.extents):
        ours, its = (
            f"{i.element}[{', '.join(show(e) for e in i.extents)}]" for i in (output, given)
        )
        scope.report(
            f"`{name}` is {ours}, and `{of.text}`, which it aliases, {its}", of.span,
            "both lie in the same memory: give them one type and the same extents", *there,
        )  # fmt: skip
    else:
        scope.outputs[name] = replace(output, aliases=of.text)


def extent(e: ast.Expr, scope: Scope, what: str) -> ir.Expr | None:
    """An extent in its normal form: affine in the sizes (quotients by numbers count as affine), and
    positive when it is a number."""
    typed = index(e, Env(scope, place="in an extent"))
    if is_broken(typed):
        return None
    form = linear(typed)
    if not is_affine(form):
        if refuse_scalar(typed, e.span, "an extent", scope):
            return None
        scope.report(
            f"the extent `{text(e)}` of {what} is not affine in the sizes", e.span,
            "declare a size for it, and state how they relate with `require`",
        )  # fmt: skip
        return None
    if form.is_constant and form.constant <= 0:
        scope.report(f"the extent of {what} is {form.constant}", e.span, "it must be at least 1")
        return None
    return to_expr(form)


def is_affine(form: Linear) -> bool:
    """Sums of sizes, multiples of them and their quotients by numbers, rounded down."""
    return all(
        isinstance(atom, ir.Var)
        or (
            isinstance(atom, ir.Binary)
            and atom.op in (ir.Op.DIV, ir.Op.MOD)
            and isinstance(atom.b, ir.Const)
            and atom.b.value > 0
            and is_affine(linear(atom.a))
        )
        for atom, _ in form.terms
    )


def reduce(s: ast.Reduce, scope: Scope) -> None:
    for d in s.domains:
        fresh = declare(scope, d.name, "a reduction variable")
        if depends(d.interval, scope):
            if fresh:
                scope.dependent[d.name.text] = d.interval
                nothing, one = ir.const_index(0), ir.const_index(1)
                scope.reduces[d.name.text] = ReduceVar(d.name.text, nothing, one, d.name.span)
            continue
        ends = interval(d.interval, scope, "a reduction")
        if ends is None or not fresh:
            scope.broken.add(d.name.text)
            ends = ends or (ir.const_index(0), ir.const_index(1))
        if not fresh:
            continue
        start, stop = ends
        count = to_expr(linear(build.sub(stop, start)))
        if isinstance(count, ir.Const) and count.value <= 0:
            scope.report(
                f"`{d.name.text}` runs over {count.value} values", d.interval.span,
                "the end is not part of the interval: `0 .. N` has N values",
            )  # fmt: skip
        scope.reduces[d.name.text] = ReduceVar(d.name.text, start, count, d.name.span)


def depends(e: ast.Interval, scope: Scope) -> bool:
    """Whether the interval is another one at each point: its ends read data, or variables of a Func or of
    reductions before it."""
    for n in nodes_of(e):
        if isinstance(n, ast.Access | ast.EdgeAccess):
            return True
        known = isinstance(n, ast.Name) and (n.text in scope.sizes or n.text in scope.params)
        if (
            isinstance(n, ast.Name)
            and not known
            and n.text in scope.reduces.keys() | scope.variables
        ):
            return True
    return False


NOT_AFFINE = (
    "write sums of sizes, multiples and quotients by numbers: a product of two is a size of its own, or two "
    "reduction variables: `reduce r in M, s in N`"
)


def interval(e: ast.Interval, scope: Scope, what: str) -> tuple[ir.Expr, ir.Expr] | None:
    """Start and stop, affine in the sizes."""
    env = Env(scope, place=f"in the interval of {what}")
    ends = [ir.const_index(0) if x is None else index(x, env) for x in (e.start, e.stop)]
    if any(map(is_broken, ends)):
        return None
    forms = [linear(x) for x in ends]
    if not all(map(is_affine, forms)):
        for end in ends:
            if refuse_scalar(end, e.span, f"the interval of {what}", scope):
                return None
        scope.report(f"the interval of {what} is not affine in the sizes", e.span, NOT_AFFINE)
        return None
    return to_expr(forms[0]), to_expr(forms[1])


def refuse_scalar(e: ir.Expr, span: Span, where: str, scope: Scope) -> bool:
    """Reports the first scalar that stands where a size should, and does not serve as one."""
    for n in nodes(e):
        if isinstance(n, ir.Access) and not n.indices:
            scope.report(
                f"`{n.name}` stands in {where}, and nothing says that it is not negative",
                n.span or span,
                f"{'correct its bound' if n.name in scope.bounds else 'say what it is at most'}: "
                f"`bound {n.name} in 0 .. 1_000`",
                Note(f"`{n.name}` is declared here", scope.declared[n.name].span),
            )  # fmt: skip
            return True
    return False


def alias(s: ast.Alias, scope: Scope) -> None:
    if not isinstance(s.value, ast.Call):
        scope.report(
            f"`{s.name.text} = ...` without indices names a boundary helper", s.span,
            f"write `{s.name.text}[x] = ...` to define a Func, `P = clamp_edge(A)` for a helper",
        )  # fmt: skip
        scope.broken.add(s.name.text)
        return
    image = edge_image(s.value, Env(scope))
    fresh = declare(scope, s.name, "an alias")
    if image is None:
        scope.broken.add(s.name.text)
    elif fresh:
        name = s.value.args[0]
        scope.aliases[s.name.text] = Edge(s.value.name, ast.Ident(image.name, name.span))


def require(s: ast.Require, scope: Scope) -> None:
    test = condition(s.condition, Env(scope, place="in a requirement"))
    if is_broken(test):
        return
    message = s.message or f"the kernel requires {text(s.condition, 200)}"
    if evaluate(test) is False:
        scope.report(f"this requirement never holds: {message}", s.condition.span)
        return
    scope.requirements.append(Requirement(test, message, s.span))


def bound(s: ast.Bound, scope: Scope) -> None:
    name = s.name.text
    ends = interval(s.interval, scope, "a bound")
    if name in scope.inputs:
        dtype = scope.inputs[name].element
    elif name in scope.funcs:
        dtype = scope.funcs[name].element
    else:
        scope.unknown("Func or input", name, s.name.span, [*scope.inputs, *scope.funcs])
        return
    if name in scope.bounds:
        previous = scope.bounds[name].span
        notes = [] if previous is None else [Note("the previous one", previous)]
        scope.report(f"`{name}` already has a bound", s.span, "keep one of them", *notes)
        return
    if not dtype.is_int:
        scope.report(f"`{name}` is {dtype}, and only integers are bounded", s.span,
                     "leave it out, and write `clamp` where the values are used")  # fmt: skip
        return
    if dtype in PACKED.values():
        least, most = dtype.limits
        scope.report(
            f"`{name}` is {dtype}, whose values are {least} to {most} in any case, and has no bound of its "
            "own", s.span, "leave it out, and clamp what is read where it may be beyond",
        )  # fmt: skip
    if ends is None:
        return
    low, high = (evaluate(e) for e in ends)
    if low is not None and high is not None and low >= high:
        scope.report(f"no value lies in {low} .. {high}", s.interval.span,
                     "the end is not part of the interval")  # fmt: skip
        return
    scope.bounds[name] = Bound(name, *ends, s.span)
