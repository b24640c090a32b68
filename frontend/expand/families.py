"""Writes families of Funcs out: `for l in 1 .. 3 { g[l][x] = f(g[l - 1])[x] }` defines `g_1` and `g_2`.

Which names are families: those that are defined with two pairs of brackets, and those that stand for a
call that gives a Func (`g[l] = blur(A)`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from hbc.frontend.expand.whole_numbers import number, whole
from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import EDGES
from hbc.frontend.text.walk import mapped, nodes
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, Note
from hbc.ir.ground.record import mutable
from hbc.ir.ground.source import Span

Place = tuple[int, ...]
MOST = 1000  # statements written out


@mutable
class Families:
    """The values of params, the names that the file declares, the functions that give Funcs, and what was
    wrong. `members`: by family and index, where it is defined first. `around`: the indices of the
    blocks being written out. `hidden`: families whose names mean something else here."""

    known: Mapping[str, int]
    declared: Mapping[str, ast.Ident]
    gives_func: frozenset[str]
    mistakes: list[Diagnostic]
    members: dict[str, dict[Place, Span]] = field(default_factory=dict)
    emitted: dict[str, tuple[str, Place]] = field(default_factory=dict)
    around: dict[str, int] = field(default_factory=dict)
    repeated: list[Span] = field(default_factory=list)
    hidden: frozenset[str] = frozenset()
    told: set[tuple[str, int, int]] = field(default_factory=set)
    made: int = 0

    def written_out(self, file: ast.File) -> tuple[ast.Statement, ...]:
        """The statements without blocks and members: first every definition, so that all members are
        known, then what reads them."""
        self._find(file.statements)
        flat: list[tuple[ast.Statement, dict[str, int]]] = []
        for s in file.statements:
            flat += self._flat(s)
        if self.mistakes:  # what reads a member that is wrong would be, too
            return ()
        return tuple(x for s, around in flat for x in self._rewritten(s, around))

    # Definitions

    def _find(self, statements: tuple[ast.Statement, ...]) -> None:
        for s in statements:
            if isinstance(s, ast.Each):
                self._find(s.body)
            elif isinstance(s, ast.Definition):
                if s.members or self._is_alias(s):
                    self.members.setdefault(s.name.text, {})
                for t in s.others:
                    if t.members:
                        self.members.setdefault(t.name.text, {})

    def _is_alias(self, s: ast.Definition) -> bool:
        """`g[l] = blur(A)`: what gives a Func is no value of a Func."""
        return (
            isinstance(s.value, ast.Call)
            and s.op == "="
            and not s.members
            and not s.group
            and s.value.name.text in {*EDGES, *self.gives_func}
        )

    def _flat(self, s: ast.Statement) -> Iterator[tuple[ast.Statement, dict[str, int]]]:
        """Each definition with the values of the indices around it."""
        if isinstance(s, ast.Each):
            self.repeated.append(s.span)
            yield from self._block(s, s.domains)
            return
        if self.around:
            self.made += 1
            if self.made == MOST + 1:
                self._report(
                    f"families make more than {MOST:,} definitions", s.span,
                    "a dimension of a Func costs nothing: `g[l, y, x]`",
                )  # fmt: skip
            if self.made > MOST:
                return
        if isinstance(s, ast.Definition):
            named = self._defined(s)
            if named is not None:
                yield named, dict(self.around)
            return
        if isinstance(s, ast.Alias) and self.around:
            self._one_for_all(s.name, "=")
        yield s, dict(self.around)

    def _block(
        self, s: ast.Each, domains: tuple[ast.Domain, ...]
    ) -> Iterator[tuple[ast.Statement, dict[str, int]]]:
        if not domains:
            for inner in s.body:
                yield from self._flat(inner)
            return
        domain, name = domains[0], domains[0].name.text
        ends = self._ends(domain)
        other = self.declared.get(name)
        if other is not None:
            self._report(
                f"`{name}` already has a meaning", domain.name.span, "choose another name",
                Note("the first meaning", other.span),
            )  # fmt: skip
        if name in self.around:
            self._report(f"`{name}` is the index of a `for` around this one", domain.name.span)
        if ends is None or other is not None or name in self.around:
            return
        start, stop = ends
        for value in range(start, min(stop, start + MOST + 1)):
            if self.made > MOST:
                return
            self.around[name] = value
            yield from self._block(s, domains[1:])
            del self.around[name]

    def _ends(self, domain: ast.Domain) -> tuple[int, int] | None:
        i = domain.interval
        ends = []
        for e in (i.start or ast.Number(0, i.span), i.stop):
            value = whole(e, {**self.known, **self.around})
            if value is None:
                self._report(
                    f"`{e.span.text}` is not known when the kernel is compiled", e.span,
                    f"the interval of `for` consists of numbers and params: "
                    f"`param J: i32 = 4` and `for {domain.name.text} in 0 .. J`",
                )  # fmt: skip
                return None
            ends.append(value)
        return ends[0], ends[1]

    def _defined(self, s: ast.Definition) -> ast.Statement | None:
        """The definition under the names of the members; None after a report."""
        if self._is_alias(s) and s.name.text in self.members:
            name = self._defined_name(s.name, s.indices, s)
            return None if name is None else ast.Alias(name, s.value, s.span)
        first = self._defined_name(s.name, s.members, s)
        others = [self._defined_name(t.name, t.members, s) for t in s.others]
        if first is None or None in others:
            return None
        targets = tuple(
            replace(t, name=n, members=()) for t, n in zip(s.others, others, strict=True) if n
        )
        group = (first, *(t.name for t in targets)) if s.group else ()
        return replace(s, name=first, members=(), others=targets, group=group)

    def _defined_name(
        self, name: ast.Ident, members: tuple[ast.Expr, ...], s: ast.Definition
    ) -> ast.Ident | None:
        """What stands on the left under the name of the member; None after a report."""
        family = name.text
        if family not in self.members:
            if self.around and all(isinstance(i, ast.Name) for i in s.indices):
                self._one_for_all(name, s.op)
            return name
        if not members:
            first = next(iter(self.members[family].values()), None)
            notes = () if first is None else (Note("a member is defined here", first),)
            self._report(
                f"`{family}` is a family of Funcs, and this defines a Func", name.span,
                f"a member is defined with two pairs of brackets: `{family}[0][x] = ...`", *notes,
            )  # fmt: skip
            return None
        place = self._place(members, family, name.span)
        if place is None:
            return None
        member = ast.Ident(_name(family, place), name.span)
        self._claim(member, family, place)
        return member

    def _one_for_all(self, name: ast.Ident, op: str) -> None:
        """A Func that is defined in a block, and not before it."""
        first = self.declared.get(name.text)
        if op == "=" and (first is None or first.span == name.span):
            index = next(iter(self.around))
            self._report(
                f"`{name.text}` is defined anew for each `{index}`", name.span,
                f"a Func for each is `{name.text}[{index}]`; one for all is defined before the `for`",
            )  # fmt: skip

    def _claim(self, name: ast.Ident, family: str, place: Place) -> None:
        other = self.declared.get(name.text)
        rival = self.emitted.get(name.text, (family, place))
        shown = _shown(family, place)
        if other is not None:
            note = Note(f"`{name.text}` is declared here", other.span)
            message = f"`{shown}` is called `{name.text}`, and that name is taken"
            self._report(message, name.span, "rename one of them", note)
        elif rival != (family, place):
            note = Note(f"`{_shown(*rival)}` is defined here", self.members[rival[0]][rival[1]])
            message = f"`{shown}` and `{_shown(*rival)}` are both called `{name.text}`"
            self._report(message, name.span, "rename one of the families", note)
        sizes = {len(p): span for p, span in self.members[family].items()}
        if sizes and len(place) not in sizes:
            count = next(iter(sizes))
            self._report(
                f"a member of `{family}` has {counted(count, 'index', 'indices')}, not {len(place)}",
                name.span, None,
                Note("the first member", sizes[count]),
            )  # fmt: skip
        self.emitted.setdefault(name.text, (family, place))
        self.members[family].setdefault(place, name.span)

    # Reads and schedules

    def _rewritten(self, s: ast.Statement, around: dict[str, int]) -> Iterator[ast.Statement]:
        self.around = around
        match s:
            case ast.Schedule(lines=lines) if lines is not None:
                yield replace(s, lines=tuple(x for line in lines for x in self._lines(line)))
            case ast.Function(parameters=parameters):
                own = {p.text for p in parameters}
                own |= {v.text for v in s.variables or () if isinstance(v, ast.Name)}
                self.hidden = frozenset(own & self.members.keys())
                yield mapped(s, self.rewritten)
                self.hidden = frozenset()
            case ast.Bound(name=name) | ast.Alias(name=name) if name.text in self.members:
                self._whole(name)
            case ast.Definition() | ast.Alias() | ast.Table() | ast.Require():
                yield mapped(s, self.rewritten)
            case _:
                yield s

    def rewritten(self, node: ast.Expr) -> ast.Expr:
        """The expression with numbers for the indices of blocks, and names for members."""
        match node:
            case ast.Name(text=text) if text in self.around:
                return number(self.around[text], node)
            case ast.Name(text=text) if text in self.members and text not in self.hidden:
                self._whole(node)
                return node
            case ast.Let(name=name) if name.text in self.around or name.text in self.members:
                value = self.rewritten(node.value)
                around, hidden = self.around, self.hidden
                self.around = {k: v for k, v in around.items() if k != name.text}
                self.hidden = hidden | {name.text}
                body = self.rewritten(node.body)
                self.around, self.hidden = around, hidden
                return replace(node, value=value, body=body)
            case ast.MemberAccess(name=name, members=members):
                indices = tuple(map(self.rewritten, node.indices))
                return ast.Access(self._member(name, members, node.span), indices, node.span)
            case ast.Access(name=name) if name.text in self.members.keys() - self.hidden:
                ident = self._member(name, node.indices, node.span)
                return ast.Name(ident.text, node.span)
            case _:
                return mapped(node, self.rewritten)

    def _lines(self, line: ast.Line) -> Iterator[ast.Line]:
        """One for each member that is meant."""
        steps = tuple(replace(s, args=self._arguments(s)) for s in line.steps)
        if line.name.text not in self.members:
            if line.members:
                self._no_family(line.name)
            yield replace(line, steps=steps, members=())
            return
        match line.members:
            case ():
                names = [ast.Ident(_name(line.name.text, p), line.name.span)
                         for p in sorted(self.members[line.name.text])]  # fmt: skip
            case ast.Range() as chosen:
                names = self._ranged(line.name, chosen)
            case members:
                names = [self._member(line.name, members, line.name.span)]
        if len(names) > 1:
            self.repeated.append(line.span)
        for name in names:
            yield ast.Line(name, steps, line.span)

    def _ranged(self, family: ast.Ident, chosen: ast.Range) -> list[ast.Ident]:
        """`[a ..]` may choose none where it begins behind the last: a param may say how many there are."""
        there = self.members[family.text]
        start = self._value(chosen.start)
        stop = None if chosen.stop is None else self._value(chosen.stop)
        if start is None or (chosen.stop is not None and stop is None):
            return []
        if any(len(p) > 1 for p in there):
            self._report(
                f"a member of `{family.text}` has several indices, and a range chooses by one",
                chosen.span, f"write a line for each, or `{family.text}` alone for all",
            )  # fmt: skip
            return []
        members = [p for p in sorted(there) if start <= p[0] and (stop is None or p[0] < stop)]
        if not members and start != 1 + max((p[0] for p in there), default=start - 1):
            self._report(
                f"`{family.text}{chosen.span.text}` is none of {_range(there)}", chosen.span,
                "the end is not part of a range, and it begins at one of them" if len(there) > 1 else
                f"choose that one, or `{family.text}` alone for all",
            )  # fmt: skip
        return [ast.Ident(_name(family.text, p), family.span) for p in members]

    def _arguments(self, s: ast.Step) -> tuple[ast.Expr | ast.Line | ast.Option, ...] | None:
        if s.args is None:
            return None
        arguments: list[ast.Expr | ast.Line | ast.Option] = []
        for a in s.args:
            if isinstance(a, ast.Line):
                arguments += self._lines(a)
            else:
                arguments.append(
                    mapped(a, self.rewritten) if isinstance(a, ast.Option) else self.rewritten(a)
                )
        return tuple(arguments)

    def _member(self, name: ast.Ident, members: tuple[ast.Expr, ...], at: Span) -> ast.Ident:
        family = name.text
        if family not in self.members or family in self.hidden:
            self._no_family(name)
            return name
        place = self._place(members, family, at)
        if place is None:
            return name
        if place not in self.members[family]:
            first = next(iter(self.members[family].values()), None)
            notes = [] if first is None else [Note("the first member", first)]
            values = ", ".join(f"`{k}` = {v}" for k, v in self.around.items())
            inside = f" (where {values})" if values else ""
            self._report(
                f"there is no `{_shown(family, place)}`{inside}", at,
                f"`{family}` has {_range(self.members[family])}", *notes,
            )  # fmt: skip
        return ast.Ident(_name(family, place), name.span)

    def _place(self, members: tuple[ast.Expr, ...], family: str, at: Span) -> Place | None:
        values = [self._value(e) for e in members]
        whole = tuple(v for v in values if v is not None)
        return whole if len(whole) == len(values) else None

    def _value(self, e: ast.Expr) -> int | None:
        value = whole(e, {**self.known, **self.around})
        if value is None:
            self._report(
                f"`{e.span.text}` is not known when the kernel is compiled, and chooses a member", e.span,
                "a member is chosen by numbers, params and the index of `for`",
            )  # fmt: skip
        return value

    # Reports

    def _whole(self, name: ast.Ident | ast.Name) -> None:
        self._report(
            f"`{name.text}` is a family of Funcs", name.span,
            f"name one of {_range(self.members[name.text])}: `{name.text}[0]`",
        )  # fmt: skip

    def _no_family(self, name: ast.Ident) -> None:
        self._report(
            f"`{name.text}` is no family of Funcs", name.span,
            f"what has several dimensions is read as `{name.text}[i, j]`, what has one as `{name.text}[i]`",
        )  # fmt: skip

    def _report(self, message: str, span: Span, hint: str | None = None, *notes: Note) -> None:
        """Once for each place, though it may be written out many times."""
        key = (span.source.name, span.start, span.end)
        if key not in self.told:
            self.told.add(key)
            self.mistakes.append(Diagnostic(message, span, hint, notes))


def has_families(s: ast.Statement) -> bool:
    """Whether anything in it is for this pass."""
    if isinstance(s, ast.Each):
        return True
    if isinstance(s, ast.Definition) and (s.members or any(t.members for t in s.others)):
        return True
    return any(
        isinstance(n, ast.MemberAccess) or (isinstance(n, ast.Line) and n.members != ())
        for n in nodes(s)
    )


def _name(family: str, place: Place) -> str:
    """Of the member in emitted code."""
    return "_".join([family, *(f"m{-v}" if v < 0 else str(v) for v in place)])


def _shown(family: str, place: Place) -> str:
    return f"{family}[{', '.join(map(str, place))}]"


def _range(members: Mapping[Place, Span]) -> str:
    """All members in words."""
    if not members:
        return "no members"
    shown = [", ".join(map(str, p)) for p in sorted(members)]
    return f"`[{shown[0]}]`" if len(shown) == 1 else f"`[{shown[0]}]` .. `[{shown[-1]}]`"
