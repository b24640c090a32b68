"""Checks updates: which variables may stand where, scans, and the value that is stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hbc.frontend.checks.access import rank_fits
from hbc.frontend.checks.operations import operation
from hbc.frontend.checks.types import convert, text
from hbc.frontend.checks.values import condition, index, value
from hbc.frontend.program.funcs import Update
from hbc.frontend.program.literals import UNKNOWN, is_broken
from hbc.frontend.program.scope import Env, Scope
from hbc.frontend.text import ast
from hbc.frontend.text.walk import nodes as syntax_nodes
from hbc.ir.algebra.linear import difference
from hbc.ir.ground.diag import Note, did_you_mean
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, le, lt
from hbc.ir.lang.types import BOOL, DType, Type
from hbc.ir.lang.walk import free_variables, nodes_of

OPERATORS = {
    "+=": ir.Op.ADD, "-=": ir.Op.ADD, "*=": ir.Op.MUL, "min=": ir.Op.MIN, "max=": ir.Op.MAX,
    "|=": ir.Op.OR, "&=": ir.Op.AND, "^=": ir.Op.XOR,
}  # fmt: skip
# Those that are no sums of a kind: `f[i] /= x` is `f[i] = f[i] / x`, one step after the other.
IN_ORDER = {"/=": ir.Op.DIV, "%=": ir.Op.MOD, "<<=": ir.Op.SHL, ">>=": ir.Op.SHR}


def update(u: ast.Definition, variables: tuple[str, ...], t: DType, scope: Scope) -> Update | None:
    """The checked update of a Func with those pure variables and element type; None after a
    report."""
    name = u.name.text
    of = scope.funcs[name].of or name
    before = len(scope.mistakes)
    plain = around(u, variables)
    runs: dict[str, ir.Expr] = {r: ir.Var(r) for r in scope.reduces}
    whole = Env(scope, {**{v: ir.Var(v) for v in variables}, **runs}, f"in this update of `{name}`")
    if not rank_fits(name, len(variables), u.indices, u.name.span, whole, "updated"):
        return None
    indices = tuple(index(i, whole) for i in u.indices)
    check_left(u, indices, variables, scope)
    env = whole
    if len(scope.mistakes) == before:
        absent = frozenset(variables) - frozenset(plain)
        env = replace(whole, locals={**plain, **runs}, absent=absent)
    term = value(u.value, env)
    test = None if u.condition is None else condition(u.condition, env)
    if t is UNKNOWN or is_broken(term):
        return None
    op = OPERATORS.get(u.op)
    term = convert(term, u.value, t, f"`{name}`", scope)
    in_order = IN_ORDER.get(u.op)
    applied = op or in_order
    if applied is not None and not fits(applied, t):
        takes = "integers" if t.is_float else "numbers"
        if u.op in ("&=", "|=", "^="):
            takes = "integers and conditions"
        scope.report(f"`{u.op}` does not apply to {t}", u.span, f"it takes {takes}")
    if len(scope.mistakes) > before or is_broken(term):
        return None
    if u.op == "-=":
        term = ir.Unary(ir.UnaryOp.NEG, term, u.value.span)
    stored = term
    own = ir.Access(of, indices, Type(t), left_span(u), "" if of == name else name)
    if op is not None:
        stored = ir.Binary(op, own, term, u.span)
    elif in_order is not None:
        stored = operation(in_order, (own, u.value), (term, u.value), u.span, env)
    elif (combined := spelled_out(term, own)) is not None:
        op, term = combined
        stored = ir.Binary(op, own, term, u.span)
    check_self_reads(of, indices, variables, term, test, scope)
    if len(scope.mistakes) > before:
        return None
    read = [*indices, stored, *([test] if test is not None else [])]
    names = frozenset().union(*map(free_variables, read), (r.text for r in u.along))
    if u.ends is not None and test is not None:
        if not ends_well(u, u.ends, indices, test, scope):
            return None
        names |= {u.ends.text}
    ends: dict[str, tuple[ir.Expr, ir.Expr]] = {}
    for r in reversed(scope.dependent):
        if r in names:
            interval = ends_of(r, u, env)
            if interval is None:
                return None
            ends[r] = interval
            between = and_(le(interval[0], ir.Var(r)), lt(ir.Var(r), interval[1]))
            test = between if test is None else and_(between, test)
            names |= free_variables(between)
    reduce = tuple(
        replace(r, ends=ends.get(r.name)) for r in scope.reduces.values() if r.name in names
    )
    leaves = "" if u.ends is None else u.ends.text
    return Update(indices, stored, op, reduce, test, u.span, leaves)


def ends_well(
    u: ast.Definition, ends: ast.Ident, indices: tuple[ir.Expr, ...], test: ir.Expr, scope: Scope
) -> bool:
    """Whether the condition behind `while` stays false once it is: it reads what the steps of its own point
    leave, and they leave that as it is from then on. Reports otherwise."""
    before = len(scope.mistakes)
    reduces = scope.reduces.keys()
    if ends.text not in reduces:
        hint = did_you_mean(ends.text, reduces) or f"write `reduce {ends.text} in ...`"
        scope.report(f"`{ends.text}` is no reduction variable", ends.span, hint)
        return False
    for written, i in zip(u.indices, indices, strict=True):
        if not free_variables(i).isdisjoint(reduces):
            scope.report(
                "an update that ends early has its own variables as indices", written.span,
                "each point ends by itself: write what differs from step to step as a value",
            )  # fmt: skip
    for r in sorted(free_variables(test) & reduces):
        assert u.condition is not None
        scope.report(
            f"the condition of `while {ends.text}:` reads `{r}`", u.condition.span,
            "it ends the steps for good, so it reads what they leave: let a member of the Func keep what"
            " it asks for, or say it in the interval of the reduction",
        )  # fmt: skip
    data = sorted(scope.dependent.keys() & {ends.text, *names_read(u.value)})
    for r in data:
        scope.report(
            f"the interval of `{r}` reads data or variables, and the update ends early", ends.span,
            "declare the most steps there are by sizes", Note("the interval", scope.dependent[r].span),
        )  # fmt: skip
    return len(scope.mistakes) == before


def names_read(e: ast.Expr) -> set[str]:
    return {n.text for n in syntax_nodes(e) if isinstance(n, ast.Name)}


def ends_of(r: str, u: ast.Definition, env: Env) -> tuple[ir.Expr, ir.Expr] | None:
    """Where a reduction variable begins and ends in this update, as indices there; None after a report, which
    names the update too."""
    scope, e = env.scope, env.scope.dependent[r]
    before = len(scope.mistakes)
    here = replace(env, place=f"in the interval of `{r}`")
    start = ir.const_index(0) if e.start is None else index(e.start, here)
    stop = index(e.stop, here)
    mistakes = list(scope.mistakes)
    if len(mistakes) > before:
        note = Note(f"`{r}` runs from there in this update", u.span)
        new = [replace(d, notes=(*d.notes, note)) for d in mistakes[before:]]
        scope.mistakes = dict.fromkeys([*mistakes[:before], *new])
    own = scope.funcs[u.name.text].of or u.name.text
    for end in (start, stop):
        if is_broken(end):
            return None
        if reads := accesses_of(own, [end]):
            scope.report(
                f"the interval of `{r}` reads `{reads[0].array}`, which it updates", e.span,
                "copy what it reads to a Func of its own", Note("in this update", u.span),
            )  # fmt: skip
            return None
    return start, stop


def spelled_out(value: ir.Expr, own: ir.Access) -> tuple[ir.Op, ir.Expr] | None:
    """The operator and the term of `f[i] = f[i] + term`, which is `f[i] += term`, or of
    `f[i] = f[i] - term`, which is `f[i] += -term`."""
    if not isinstance(value, ir.Binary) or not fits(value.op, own.type.element):
        return None
    if value.op is ir.Op.SUB and value.a == own and not accesses_of(own.name, [value.b]):
        return ir.Op.ADD, ir.Unary(ir.UnaryOp.NEG, value.b, value.b.span)
    if value.op not in OPERATORS.values():
        return None
    swapped = value.a != own and value.op not in (
        ir.Op.MIN,
        ir.Op.MAX,
    )  # with NaN, those do not commute
    first, term = (value.b, value.a) if swapped else (value.a, value.b)
    if first != own or accesses_of(own.name, [term]):
        return None
    return value.op, term


def around(u: ast.Definition, variables: tuple[str, ...]) -> dict[str, ir.Expr]:
    """The pure variables that stand alone on the left, each in its place."""
    return {
        v: ir.Var(v)
        for v, i in zip(variables, u.indices, strict=False)
        if isinstance(i, ast.Name) and i.text == v
    }


def left_span(u: ast.Definition) -> Span:
    """The name and its indices; the whole where they are not written (`expand.reductions`)."""
    if u.indices[-1].span is u.span:
        return u.span
    end = u.span.source.text.index("]", u.indices[-1].span.end) + 1
    return Span(u.span.source, u.name.span.start, end)


def fits(op: ir.Op, t: DType) -> bool:
    if op in (ir.Op.AND, ir.Op.OR, ir.Op.XOR):
        return not t.is_float
    if op in (ir.Op.SHL, ir.Op.SHR):
        return t.is_int
    return t != BOOL


def check_left(
    u: ast.Definition, indices: tuple[ir.Expr, ...], variables: tuple[str, ...], scope: Scope
) -> None:
    """A pure variable stands alone in its own place before others may use it."""
    plain = around(u, variables)
    for written, i in zip(u.indices, indices, strict=True):
        for n in sorted(free_variables(i) & (set(variables) - set(plain))):
            scope.report(
                f"`{text(written)}` moves the pure variable `{n}` out of its place", written.span,
                f"write `{n}` alone in its place, or run along a `reduce` variable",
            )  # fmt: skip


def check_self_reads(
    name: str, indices: tuple[ir.Expr, ...], variables: tuple[str, ...], term: ir.Expr,
    test: ir.Expr | None, scope: Scope,
) -> None:  # fmt: skip
    """An update may read its own Func at other places only along reduce variables: the order of
    the pure ones is not defined."""
    for read in accesses_of(name, [term] if test is None else [term, test]):
        for at, v in enumerate(variables):
            i = indices[at]
            if not (isinstance(i, ir.Var) and i.name == v):
                continue
            j = read.indices[at]
            if isinstance(j, ir.Var) and j.name == v:
                continue
            scope.report(
                f"`{read.array}` reads itself along `{v}`, which has no order",
                span_of(j, read.span),
                f"make it a scan: `reduce t in {_steps(i, j)}`, and t in the place of `{v}` on both sides",
            )  # fmt: skip


def _steps(here: ir.Expr, there: ir.Expr) -> str:
    """What a scan runs over that reads what an earlier step wrote: from the first step that has one."""
    back = difference(here, there)
    return f"{back} .. N" if back is not None and back > 0 else "..."


def accesses_of(name: str, roots: Iterable[ir.Expr]) -> list[ir.Access]:
    return [n for e in roots for n in nodes_of(e, ir.Access) if n.name == name]


def span_of(e: ir.Expr, otherwise: Span | None) -> Span | None:
    return e.span or otherwise
