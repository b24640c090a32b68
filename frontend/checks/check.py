"""Checks a file: from its syntax tree to a Pipeline, or to everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from hbc.frontend.checks import declarations as check_declarations
from hbc.frontend.checks.definitions import Draft, drafts, func
from hbc.frontend.checks.examples import examples
from hbc.frontend.checks.names import kernel_name, names_of_strides
from hbc.frontend.checks.order import callees_first, names_read, reachable
from hbc.frontend.checks.scalars import said_already, scalars
from hbc.frontend.checks.schedules import schedules
from hbc.frontend.checks.tables import table
from hbc.frontend.checks.tuples import tuple_func
from hbc.frontend.expand.expand import expand
from hbc.frontend.plans.packed import packed_as_bytes
from hbc.frontend.plans.packed_outputs import packed_outputs
from hbc.frontend.program.funcs import Func, Pipeline, Requirement
from hbc.frontend.program.literals import UNKNOWN
from hbc.frontend.program.reads import check_bounds
from hbc.frontend.program.scope import Scope, Signature
from hbc.frontend.program.settings import Settings
from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import words
from hbc.frontend.text.walk import nodes
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError, did_you_mean, in_order
from hbc.ir.ground.source import Span

Proofs = tuple[tuple[Requirement, ...], dict[str, Func]]
"""What `check_bounds` finds."""

MOST_ARGUMENTS = 127  # that every C11 compiler takes (5.2.4.1)


def check(
    file: ast.File, settings: Mapping[str, str], fix_sizes: bool = False,
    bounds: Callable[[Pipeline, Scope], Proofs] = check_bounds,
) -> Pipeline:  # fmt: skip
    """The pipeline that the file describes, whose reads are proved to be inside by `bounds`.

    `settings` are the texts of `--set`; those of sizes fix them when `fix_sizes` says so, and are
    only read otherwise. Raises UsageError for wrong settings, and HbcError with every independent
    mistake of the file."""
    if any(isinstance(s, ast.Kernel) and s.body is not None for s in file.statements):
        raise InternalError("check: kernels in braces are checked one by one (`text.kernels`)")
    nowhere = reductions_nowhere(file)
    file = expand(file, settings)
    scope = Scope(file.source, words=words(file))
    given = Settings(settings, fix_sizes)
    name = kernel_name(file, scope)
    scope.variables = variables_of_funcs(file)
    tables = declarations(file, scope, given)
    given.finish(file, [n for n, s in scope.sizes.items() if s.element is not None])
    names_of_strides(file, scope)
    written = drafts(file, scope)
    graph = call_graph(written, tables, scope)
    for s in file.statements:
        if isinstance(s, ast.Alias):
            check_declarations.alias(s, scope)
    order = callees_first(graph, {n: d.name for n, d in written.items()}, scope)
    funcs = dict(tables)
    for n in order:
        if n in written:
            checked = func_of(written[n], written, scope)
            if checked is not None:
                funcs[n] = checked
    late_declarations(file, scope)
    outputs_are_defined(file, written, scope)
    packed_outputs(funcs.values(), scope)
    pipeline = Pipeline(
        name, file.source, tuple(scope.sizes.values()), tuple(scope.inputs.values()),
        tuple(scope.outputs.values()), tuple(funcs[n] for n in order if n in funcs),
        tuple(scope.bounds.values()), tuple(scope.requirements),
        schedules(file, funcs, scope), examples(file, scope), file.imported,
        tuple(r for r in scope.reduces.values() if r.name in nowhere),
    )  # fmt: skip
    sizes_are_used(scope)
    proved, bounded = bounds(pipeline, scope)
    if scope.mistakes:
        raise HbcError(once_each(in_order(scope.mistakes), file.repeated))
    firsts = first_parts(written)
    wanted = reachable(graph, [firsts[n] for n in scope.outputs if n in firsts])
    kept = tuple(bounded.get(f.name, f) for f in pipeline.funcs if f.name in wanted)
    return packed_as_bytes(replace(pipeline, funcs=kept, requirements=proved))


def reductions_nowhere(file: ast.File) -> set[str]:
    """The reduction variables that nothing but their declaration names, and schedules."""
    said = [s for s in file.statements if not isinstance(s, ast.Schedule | ast.Example)]
    declared = [d.name for s in said if isinstance(s, ast.Reduce) for d in s.domains]
    if not declared:
        return set()
    own = {id(d) for d in declared}
    names = (n for n in nodes(*said) if isinstance(n, ast.Ident | ast.Name))
    return {d.text for d in declared} - {n.text for n in names if id(n) not in own}


def variables_of_funcs(file: ast.File) -> set[str]:
    """The names that stand alone on the left of a definition."""
    left = (i for s in file.statements if isinstance(s, ast.Definition) for i in s.indices)
    return {i.text for i in left if isinstance(i, ast.Name)}


def declarations(file: ast.File, scope: Scope, given: Settings) -> dict[str, Func]:
    """Declares names in the order of the file; returns the tables."""
    tables: dict[str, Func] = {}
    for s in file.statements:
        match s:
            case ast.Sizes():
                check_declarations.sizes(s, scope, given)
            case ast.TypeParam():
                check_declarations.type_param(s, scope, given)
            case ast.Param():
                check_declarations.param(s, scope, given)
            case _:
                pass
    scalars(file, scope, given)
    for s in file.statements:
        match s:
            case ast.Input(extents=()):
                pass
            case ast.Input() | ast.Output():
                check_declarations.array(s, scope)
            case ast.Table():
                made = table(s, scope)
                if made is not None:
                    tables[made.name] = made
            case ast.Reduce():
                check_declarations.reduce(s, scope)
            case _:
                pass
    order = [s.name.text for s in file.statements if isinstance(s, ast.Input)]
    scope.inputs = {n: scope.inputs[n] for n in dict.fromkeys(order) if n in scope.inputs}
    for s in file.statements:
        if isinstance(s, ast.Output) and s.aliases is not None:
            check_declarations.in_place(s, s.aliases, scope)
    few_enough(scope)
    return tables


def few_enough(scope: Scope) -> None:
    """The C function has a parameter for each size and array."""
    spans = [size.span for size in scope.sizes.values()]
    spans += [image.span for image in (*scope.inputs.values(), *scope.outputs.values())]
    if len(spans) > MOST_ARGUMENTS:
        scope.report(
            f"{len(spans)} sizes and arrays, and a C function has at most {MOST_ARGUMENTS} "
            "parameters", spans[MOST_ARGUMENTS], "join arrays along a new dimension",
        )  # fmt: skip


def late_declarations(file: ast.File, scope: Scope) -> None:
    """What speaks of Funcs, or of sizes alone."""
    for s in file.statements:
        match s:
            case ast.Require():
                check_declarations.require(s, scope)
            case ast.Bound() if not said_already(s, scope):
                check_declarations.bound(s, scope)
            case _:
                pass


def call_graph(
    written: Mapping[str, Draft], tables: Mapping[str, Func], scope: Scope
) -> dict[str, list[str]]:
    """Which Funcs each Func reads. An update may read its own; a pure step is on a cycle then. Those of
    several values have the name of the first."""
    graph: dict[str, list[str]] = {n: [] for n in tables}
    firsts = {n: n for n in tables} | first_parts(written)
    place = {n: k for k, n in enumerate(firsts)}
    for n, draft in written.items():
        scope.funcs.setdefault(n, Signature(UNKNOWN, len(draft.pure.indices)))
        if n != firsts[n]:
            continue
        drafts = [written[m] for m in draft.group if m in written]
        steps = [s for d in drafts for s in (d.pure, *d.updates)]
        read = names_read([e for s in steps for e in (*s.indices, s.value, s.condition)])
        read |= names_read(interval_ends([u for d in drafts for u in d.updates], scope))
        own = {firsts.get(m) for m in names_read(d.pure.value for d in drafts)}
        callees = dict.fromkeys(
            firsts[m] for m in sorted(read & firsts.keys(), key=place.__getitem__)
        )
        graph[n] = [m for m in callees if m != n or n in own]
    return graph


def interval_ends(updates: Iterable[ast.Definition], scope: Scope) -> list[ast.Interval]:
    """The intervals of data and of variables along which updates run, with those that these read."""
    found: dict[str, ast.Interval] = {}
    left: list[object] = list(updates) if scope.dependent else []
    while left:
        for n in [n for n in nodes(left.pop()) if isinstance(n, ast.Name | ast.Ident)]:
            if n.text in scope.dependent and n.text not in found:
                found[n.text] = scope.dependent[n.text]
                left.append(found[n.text])
    return list(found.values())


def first_parts(written: Mapping[str, Draft]) -> dict[str, str]:
    """The name of the Func that each name is of: of several values that of the first."""
    return {n: next(m for m in draft.group if m in written) for n, draft in written.items()}


def func_of(draft: Draft, written: Mapping[str, Draft], scope: Scope) -> Func | None:
    """The checked Func; None after a report."""
    if not draft.pure.group:
        return func(draft, scope)
    drafts = [written[n] for n in draft.group if n in written]
    if len(drafts) == len(draft.group):
        return tuple_func(drafts, scope)
    scope.broken.update(draft.group)  # a name that is taken
    return None


def outputs_are_defined(file: ast.File, written: Mapping[str, Draft], scope: Scope) -> None:
    for n, output in scope.outputs.items():
        if n not in written and n not in scope.broken:
            unused = [m for m in written if m not in scope.outputs]
            hint = did_you_mean(n, unused) or f"write `{n}[...] = ...`"
            scope.report(f"output `{n}` is never defined", output.span, hint)
    if not scope.outputs and not any(isinstance(s, ast.Output) for s in file.statements):
        begin = Span(file.source, 0, 0)
        scope.report("the file has no output", begin, "write `output C: f32[M, N]`")


def once_each(mistakes: list[Diagnostic], repeated: tuple[Span, ...]) -> list[Diagnostic]:
    """Without those that stand in the same place of what was written out for several members."""
    places = [(s.source.name, s.start, s.end) for s in repeated]
    kept: list[Diagnostic] = []
    told: set[tuple[str, int, int]] = set()
    for d in mistakes:
        key = None if d.span is None else (d.span.source.name, d.span.start, d.span.end)
        if key is not None and any(
            name == key[0] and start <= key[1] and key[2] <= end for name, start, end in places
        ):
            if key in told:
                continue
            told.add(key)
        kept.append(d)
    return kept


def sizes_are_used(scope: Scope) -> None:
    """A size that nothing mentions cannot be found from the arrays, and is a slip."""
    for n, size in scope.sizes.items():
        if n not in scope.used:
            scope.report(f"size `{n}` is never used", size.span, "remove it")
