"""Makes a Func of each reduction in an expression: `y[i] = sum(k: A[i, k] * x[k])` becomes

    y_sum[i]  = 0
    y_sum[i] += A[i, k] * x[k]
    y[i]      = y_sum[i]

over those variables around it that the term reads. Schedules name the Func so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from hbc.frontend.expand.calls import names
from hbc.frontend.text import ast
from hbc.frontend.text.walk import free_names, mapped, nodes, own_names
from hbc.ir.ground.diag import Diagnostic, Note, did_you_mean
from hbc.ir.ground.record import mutable, record
from hbc.ir.ground.source import Span


@record
class Kind:
    """The value of an empty reduction, and the update that takes one more term."""

    empty: str
    update: str


KINDS = {
    "sum": Kind("0", "+="),
    "product": Kind("1", "*="),
    "min": Kind("highest", "min="),
    "max": Kind("lowest", "max="),
    "any": Kind("false", "|="),
    "all": Kind("true", "&="),
}


@mutable
class Lifting:
    """The names that `reduce` declares, every word of the program, what was wrong, and the words that stand
    in schedules alone, which may speak of the Funcs and loops made here."""

    reduces: set[str]
    words: set[str]
    mistakes: list[Diagnostic]
    scheduled: set[str] = field(default_factory=set)
    made: list[ast.Statement] = field(default_factory=list)
    defined: ast.Definition | None = None
    """The definition whose reductions are lifted."""

    def lifted(self, s: ast.Definition) -> Iterator[ast.Statement]:
        """The Funcs of the reductions in a definition, then the definition that reads them."""
        self.made, self.defined = [], s
        plain = [i.text for i in s.indices if isinstance(i, ast.Name)]
        around = [*plain, *(r for r in sorted(self.reduces) if r not in plain)]
        after = replace(
            s, value=self._rewritten(s.value, s.name.text, around),
            condition=None if s.condition is None
            else self._rewritten(s.condition, s.name.text, around),
        )  # fmt: skip
        if not self.made:
            yield s
            return
        yield from self.made
        yield after

    def _rewritten(self, e: ast.Expr, owner: str, around: Sequence[str]) -> ast.Expr:
        """The expression with a read of a new Func for each reduction, inner ones first."""
        if isinstance(e, ast.Reduction):
            return self._func(e, owner, around)
        if isinstance(e, ast.Let):
            return self._let(e, owner, around)
        return mapped(e, lambda x: self._rewritten(x, owner, around))

    def _let(self, e: ast.Let, owner: str, around: Sequence[str]) -> ast.Expr:
        """A Func cannot read what only the expression around it names: it gets the value itself."""
        e = replace(e, body=_given(e.body, e.name.text, e.value))
        inside = next((r for r in reductions(e.body) if e.name.text in names(r)), None)
        if inside is not None:
            self.mistakes.append(
                Diagnostic(
                    f"this reduction reads `{e.name.text}`, which a `let` around it names",
                    inside.span, f"define a Func for `{e.name.text}`, or name it in the reduction",
                )
            )  # fmt: skip
        value = self._rewritten(e.value, owner, around)
        return replace(e, value=value, body=self._rewritten(e.body, owner, around))

    def _func(self, e: ast.Reduction, owner: str, around: Sequence[str]) -> ast.Expr:
        span, kind = e.span, KINDS.get(e.name.text)
        nothing = ast.Number(0, span)
        if kind is None:
            hint = (
                did_you_mean(e.name.text, KINDS) or f"there is {', '.join(f'`{k}`' for k in KINDS)}"
            )
            self.mistakes.append(
                Diagnostic(f"`{e.name.text}` is no reduction", e.name.span, hint)
            )  # fmt: skip
            return nothing
        along = self._along(e)
        if along is None:
            return nothing
        bound = dict(along)
        own = self._fresh(f"{owner}_{e.name.text}")
        outer = [*around, *(new for _, new in along if new not in around)]
        term = self._rewritten(renamed(e.term, bound), own, outer)
        condition = None
        if e.condition is not None:
            condition = self._rewritten(renamed(e.condition, bound), own, outer)
        intervals = [
            renamed_interval(over.interval, dict(along[:n]))  # which may read those before it
            for n, over in enumerate(e.over)
            if isinstance(over, ast.Domain)
        ]
        read = names(term).union(*map(names, intervals), names(condition) if condition else ())
        free = [v for v in around if v in read and v not in bound.values()]
        # A variable that `reduce` declares could mean either in an update: the Func's has its own name.
        inner = {v: self._fresh(v) for v in free if v in self.reduces}
        left = [inner.get(v, v) for v in free] or [self._fresh("at")]
        indices = tuple(ast.Name(v, span) for v in left)
        term = renamed(term, inner)
        condition = None if condition is None else renamed(condition, inner)
        for over, interval in zip(_domains(e), intervals, strict=True):
            domain = ast.Ident(bound[over.name.text], over.name.span)
            whole = ast.Domain(domain, renamed_interval(interval, inner), over.span)
            self.made.append(ast.Reduce((whole,), over.span))
        name = ast.Ident(own, e.name.span)
        runs = tuple(ast.Ident(new, span) for _, new in along)
        self.made += [
            ast.Definition(name, None, indices, "=", _literal(kind.empty, span), None, span),
            ast.Definition(name, None, indices, kind.update, term, condition, span, along=runs),
        ]
        at = tuple(ast.Name(v, span) for v in free) or (ast.Number(0, span),)
        return ast.Access(name, at, span)

    def _along(self, e: ast.Reduction) -> list[tuple[str, str]] | None:
        """The variables, as written and as they are called."""
        variables: list[tuple[str, str]] = []
        for over in e.over:
            taken = self._taken(e, over)
            if taken is not None:
                self.mistakes.append(taken)
                return None
            if isinstance(over, ast.Domain):
                written = over.name.text
                own = self._fresh(written) if written in self.reduces else written
                self.reduces.add(own)
                variables.append((written, own))
            elif isinstance(over, ast.Name) and over.text in self.reduces:
                variables.append((over.text, over.text))
            else:
                what = over.text if isinstance(over, ast.Name) else "k"
                self.mistakes.append(
                    Diagnostic(
                        f"`{e.name.text}` runs along variables that `reduce` declares", over.span,
                        f"write `{e.name.text}({what} in 0 .. N: ...)`, or declare `reduce {what} in N`",
                    )
                )  # fmt: skip
                return None
        return variables

    def _taken(self, e: ast.Reduction, over: ast.Domain | ast.Expr) -> Diagnostic | None:
        """What is wrong where the reduction runs along a name that is a variable of the definition."""
        name = over.name if isinstance(over, ast.Domain) else over
        assert self.defined is not None
        func = self.defined.name.text
        for index in self.defined.indices:
            if isinstance(index, ast.Name) and index.text == getattr(name, "text", None):
                v = index.text
                return Diagnostic(
                    f"`{v}` is a variable of `{func}`, and this reduction runs along it", name.span,
                    f"give the reduction a variable of its own: `{e.name.text}(r in 0 .. N: ...)`",
                    (Note(f"`{v}` runs over positions of `{func}` here", index.span),),
                )  # fmt: skip
        return None

    def _fresh(self, name: str) -> str:
        """The name, with a number behind it when the program has it already. That a schedule says it, of a
        Func or of a loop, does not take the name: it speaks of what is made here."""
        own, number = name, 1
        while own in self.words and own not in self.scheduled:
            number += 1
            own = f"{name}_{number}"
        self.scheduled.discard(own)
        self.words.add(own)
        return own


def reductions(e: object) -> Iterator[ast.Reduction]:
    """Those in an expression, at any depth."""
    return (n for n in nodes(e) if isinstance(n, ast.Reduction))


def _given(e: ast.Expr, name: str, value: ast.Expr, inside: bool = False) -> ast.Expr:
    """The expression whose reductions have a value for a name; but not those that run along what it reads."""
    match e:
        case ast.Name(text=text) if inside and text == name:
            return value
        case ast.Let() if not inside and name in names(
            e.value
        ):  # which a reduction in its body may read
            e = replace(e, body=_given(e.body, e.name.text, e.value))
        case ast.Reduction():
            if not own_names(e).isdisjoint(n.text for n, _ in free_names(value)):
                return e
            inside = True
        case _:
            pass
    return mapped(e, lambda x: _given(x, name, value, inside))


def _domains(e: ast.Reduction) -> list[ast.Domain]:
    return [over for over in e.over if isinstance(over, ast.Domain)]


def renamed_interval(e: ast.Interval, new: dict[str, str]) -> ast.Interval:
    """The interval with other names for variables."""
    start = None if e.start is None else renamed(e.start, new)
    return ast.Interval(start, renamed(e.stop, new), e.span)


def renamed(e: ast.Expr, new: dict[str, str]) -> ast.Expr:
    """The expression with other names for variables."""
    if isinstance(e, ast.Name):
        return ast.Name(new[e.text], e.span) if e.text in new else e
    if isinstance(e, ast.Reduction):
        inside = {name: own for name, own in new.items() if name not in own_names(e)}
        over = tuple(
            ast.Domain(o.name, renamed_interval(o.interval, new), o.span) if isinstance(o, ast.Domain)
            else o
            for o in e.over
        )  # fmt: skip
        condition = None if e.condition is None else renamed(e.condition, inside)
        return replace(e, over=over, term=renamed(e.term, inside), condition=condition)
    return mapped(e, lambda x: renamed(x, new))


def _literal(text: str, span: Span) -> ast.Expr:
    match text:
        case "true" | "false":
            return ast.Boolean(text == "true", span)
        case "0" | "1":
            return ast.Number(int(text), span)
        case _:
            return ast.Name(text, span)
