"""Where the names of a kernel are declared and used, and which of them mean the same thing.

From the syntax tree alone, so that it is there while the kernel is still wrong. Index variables belong to
their Func: `i` of `acc` in its definitions and in schedules is one symbol, `i` of `C` another. Loops that a
schedule makes belong to the schedule and the Func.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from hbc.frontend.directives.table import DIRECTIVES, Row
from hbc.frontend.program.vocabulary import Kind
from hbc.frontend.text import ast
from hbc.frontend.text.walk import children
from hbc.ir.ground.record import mutable, record
from hbc.ir.ground.source import Span

Symbol = tuple[str, ...]
"""What a name means: ("", NAME) for what the whole file knows; else what it belongs to, and the name."""
GLOBAL = ""


@record
class Occurrence:
    """A name in the text. Several may declare a symbol: a Func by each of its definitions."""

    symbol: Symbol
    span: Span
    declares: bool = False


@mutable
class _Reading:
    """What is known while the statements are walked: names of the file, and variables of each Func."""

    declared: frozenset[str]
    found: list[Occurrence] = field(default_factory=list)
    variables: dict[str, set[str]] = field(default_factory=dict)
    firsts: dict[str, str] = field(default_factory=dict)  # of several Funcs defined together

    def add(self, symbol: Symbol, span: Span, declares: bool = False) -> None:
        self.found.append(Occurrence(symbol, span, declares))

    def use(self, name: ast.Ident | ast.Name, local: Mapping[str, Symbol]) -> None:
        symbol = local.get(name.text)
        if symbol is None and name.text in self.declared:
            symbol = (GLOBAL, name.text)
        if symbol is not None:
            self.add(symbol, name.span)


def occurrences(file: ast.File) -> list[Occurrence]:
    """All of them, those of imported statements too; names of hbc itself (functions, directives) are none."""
    reading = _Reading(
        frozenset(name.text for s in _flat(file.statements) for name in _declares(s))
    )
    for statement in file.statements:
        _statement(statement, {}, reading)
    for statement in file.statements:  # when the variables of all Funcs are known
        if isinstance(statement, ast.Schedule):
            _schedule(statement, reading)
    return sorted(reading.found, key=lambda o: (o.span.source.name, o.span.start, o.span.end))


def _flat(statements: tuple[object, ...]) -> Iterator[object]:
    for s in statements:
        yield s
        if isinstance(s, ast.Each):
            yield from _flat(s.body)


def _declares(s: object) -> tuple[ast.Ident, ...]:
    """The names that a statement gives to the whole file."""
    match s:
        case ast.Sizes(names=names):
            return names
        case ast.Reduce(domains=domains):
            return tuple(d.name for d in domains)
        case ast.Definition(defined=names):
            return names
        case (
            ast.Param() | ast.TypeParam() | ast.Input() | ast.Output() | ast.Table() | ast.Alias()
            | ast.Function()
        ):  # fmt: skip
            return (s.name,)
    return ()


def _statement(s: object, local: Mapping[str, Symbol], reading: _Reading) -> None:
    for name in _declares(s):
        reading.add((GLOBAL, name.text), name.span, declares=True)
    match s:
        case ast.Definition(name=name, indices=indices):
            for n in s.defined:
                reading.firsts.setdefault(n.text, name.text)
            first = reading.firsts[name.text]
            within = {**local, **_variables(first, indices, local, reading)}
            others = [part for t in s.others for part in (*t.members, *t.indices)]
            for part in (*s.members, *indices, *others, s.value, s.condition):
                _walk(part, within, reading)
            for said in (s.type, *(t.type for t in s.others)):
                if said is not None:
                    reading.use(said, {})
        case ast.Function(name=name, parameters=parameters, variables=variables):
            owner = f"def {name.text}"
            within = {p.text: (owner, p.text) for p in parameters}
            within |= {v.text: (owner, v.text) for v in variables or () if isinstance(v, ast.Name)}
            for p in parameters:
                reading.add((owner, p.text), p.span, declares=True)
            for v in variables or ():
                _walk(v, within, reading)
            _walk(s.value, within, reading)
        case ast.Table(name=name, variables=variables):
            owner = f"table {name.text}"
            names = [v for v in variables or () if isinstance(v, ast.Name)]
            for v in names:
                reading.add((owner, v.text), v.span, declares=True)
            reading.use(s.type, {})
            for part in s.extents:
                _walk(part, local, reading)
            _walk(s.value, {**local, **{v.text: (owner, v.text) for v in names}}, reading)
        case ast.Each(domains=domains, body=body):
            within = dict(local)
            for d in domains:
                _walk(d.interval, within, reading)
                within[d.name.text] = (f"for {d.name.span.start}", d.name.text)
                reading.add(within[d.name.text], d.name.span, declares=True)
            for inner in body:
                _statement(inner, within, reading)
        case ast.Input() | ast.Output() | ast.Param():
            reading.use(s.type, {})
            _walk_all(children(s), local, reading)
        case ast.Bound(name=name, interval=interval):
            reading.use(name, local)
            _walk(interval, local, reading)
        case ast.Reduce(domains=domains):
            for d in domains:
                _walk(d.interval, local, reading)
        case ast.Example(settings=settings):
            for setting in settings:
                reading.use(setting.name, {})
                _walk(setting.value, {}, reading)
        case ast.Alias(value=value):
            _walk(value, local, reading)
        case ast.Require(condition=condition):
            _walk(condition, local, reading)


def _variables(
    func: str, indices: tuple[ast.Expr, ...], local: Mapping[str, Symbol], reading: _Reading
) -> dict[str, Symbol]:
    """The index variables of a definition: the names among its indices that mean nothing else."""
    known = reading.variables.setdefault(func, set())
    found: dict[str, Symbol] = {}
    for e in indices:
        if isinstance(e, ast.Name) and e.text not in reading.declared and e.text not in local:
            found[e.text] = (f"Func {func}", e.text)
            if e.text not in known:
                reading.add(found[e.text], e.span, declares=True)
                known.add(e.text)
    return found


def _walk_all(parts: tuple[object, ...], local: Mapping[str, Symbol], reading: _Reading) -> None:
    for part in parts:
        if not isinstance(part, ast.Ident):
            _walk(part, local, reading)


def _walk(node: object, local: Mapping[str, Symbol], reading: _Reading) -> None:
    """An expression or an interval: its names, with those of `let` and reductions in their scope."""
    match node:
        case None:
            return
        case ast.Name():
            already = reading.found and reading.found[-1].span == node.span
            if not (already and reading.found[-1].declares):
                reading.use(node, local)
        case ast.Access(name=name) | ast.MemberAccess(name=name):
            reading.use(name, local)
            _walk_all(children(node), local, reading)
        case ast.Call(name=name) | ast.EdgeAccess(name=name):
            reading.use(name, local)
            _walk_all(children(node), local, reading)
        case ast.Let(name=name, value=value, body=body):
            _walk(value, local, reading)
            symbol = (f"let {name.span.start}", name.text)
            reading.add(symbol, name.span, declares=True)
            _walk(body, {**local, name.text: symbol}, reading)
        case ast.Reduction(over=over):
            within = dict(local)
            for part in over:
                if isinstance(part, ast.Domain):
                    _walk(part.interval, within, reading)
                    within[part.name.text] = (f"over {part.name.span.start}", part.name.text)
                    reading.add(within[part.name.text], part.name.span, declares=True)
                else:
                    _walk(part, within, reading)
            _walk(node.term, within, reading)
            _walk(node.condition, within, reading)
        case _:
            _walk_all(children(node), local, reading)


def _schedule(s: ast.Schedule, reading: _Reading) -> None:
    """Loops that a line makes are known to the lines behind it, `compute_at` of other Funcs included."""
    made: dict[tuple[str, str], Symbol] = {}
    if s.condition is not None:
        _walk(s.condition, {}, reading)
    for line in s.lines or ():
        reading.use(line.name, {})
        _walk_all(line.members if isinstance(line.members, tuple) else (line.members,), {}, reading)
        stage = line.name.text
        for step in line.steps:
            row = DIRECTIVES.get(step.name.text)
            if row is not None:
                _arguments(s, stage, step, row, made, reading)
            elif step.name.text == "in" and step.args:
                for part in step.args:
                    _stage(part, reading)
                stage = f"{stage}.in({''.join(_stage_text(a) for a in step.args)})"


def _arguments(
    s: ast.Schedule, stage: str, step: ast.Step, row: Row, made: dict[tuple[str, str], Symbol],
    reading: _Reading,
) -> None:  # fmt: skip
    owner = stage  # whose loops are named: of compute_at and the like the stage before the loop
    for i, argument in enumerate(step.args or ()):
        kind = _kind(row, len(step.args or ()), i)
        match argument:
            case ast.Option():
                continue
            case ast.Line():
                _stage(argument, reading)
                owner = argument.name.text
            case ast.Name() if kind in (Kind.STAGE, Kind.ARRAY):
                reading.use(argument, {})
                owner = argument.text if kind is Kind.STAGE else owner
            case ast.Name() if kind is Kind.NEW:
                symbol = made[owner, argument.text] = (f"loop {s.name.text} {owner}", argument.text)
                reading.add(symbol, argument.span, declares=True)
            case ast.Name() if kind is Kind.LOOP:
                _loop(argument, owner, made, reading)
            case _ if kind not in (Kind.MEMORY, Kind.CACHE, Kind.PARTS):
                _walk(argument, {}, reading)


def _kind(row: Row, count: int, i: int) -> Kind | None:
    """Of the argument `i` among `count`, by the form of that many."""
    for form in row.kinds:
        if form and (row.repeats or len(form) >= count):
            return form[min(i, len(form) - 1)]
    return None


def _loop(
    name: ast.Name, owner: str, made: Mapping[tuple[str, str], Symbol], reading: _Reading
) -> None:
    func = owner.partition(".")[0]
    func = reading.firsts.get(func, func)
    if (owner, name.text) in made:
        reading.add(made[owner, name.text], name.span)
    elif name.text in reading.variables.get(func, ()):
        reading.add((f"Func {func}", name.text), name.span)
    else:
        reading.use(name, {})


def _stage(part: object, reading: _Reading) -> None:
    """A stage as an argument: `acc`, `acc.update`, `B.in(acc)`."""
    if isinstance(part, ast.Name):
        reading.use(part, {})
    elif isinstance(part, ast.Line):
        reading.use(part.name, {})
        for step in part.steps:
            for inner in step.args or ():
                _stage(inner, reading)


def _stage_text(part: object) -> str:
    return part.span.text if isinstance(part, ast.Name | ast.Line) else ""
