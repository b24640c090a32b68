"""Takes tuples apart: `(a[x], b[x]) = select(c, (p, q), (r, s))` becomes

    a[x] = select(c, p, r)
    b[x] = select(c, q, s)

each with the names of all, which the checker makes one Func of several values of. Functions are written
out before, since they may give tuples.
"""

from __future__ import annotations

from dataclasses import replace

from hbc.frontend.expand.items import items
from hbc.frontend.text import ast
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, Note
from hbc.ir.ground.source import Span


def apart(s: ast.Definition, mistakes: list[Diagnostic]) -> list[ast.Definition]:
    """The definition of each Func on the left; nothing where something is wrong, and reported."""
    if not s.group:
        return [s]
    wrong = list(_left(s))
    if wrong:
        mistakes += wrong
        return []
    unequal: list[ast.Expr] = []
    values = items(s.value, len(s.group), unequal)
    if unequal:
        if not any(_is_of(d, s) for d in mistakes):  # what is left of a call that is wrong
            mistakes += [_unequal(e, s) for e in unequal]
        return []
    first = ast.Target(s.name, s.type, s.indices, s.span)
    return [
        replace(s, name=t.name, type=t.type, indices=t.indices, value=value, others=())
        for t, value in zip((first, *s.others), values, strict=True)
    ]


def _left(s: ast.Definition) -> list[Diagnostic]:
    """What is wrong with the left side."""
    if not s.others:
        hint = f"write `{s.name.text}[...] {s.op} ...` without the parentheses"
        return [Diagnostic("a tuple has two members at least", s.span, hint)]
    wrong: list[Diagnostic] = []
    seen = {s.name.text: s.name.span}
    for t in s.others:
        name = t.name.text
        if name in seen:
            note = Note("it stands here too", seen[name])
            wrong.append(
                Diagnostic(f"`{name}` stands twice in this tuple", t.name.span, None, (note,))
            )
        seen.setdefault(name, t.name.span)
        if t.indices != s.indices:
            here = ", ".join(i.span.text for i in s.indices)
            wrong.append(
                Diagnostic(
                    f"`{s.name.text}` and `{name}` are defined together, at different indices",
                    _over(t.indices), f"write `{name}[{here}]`, or a definition for each",
                    (Note(f"the indices of `{s.name.text}`", _over(s.indices)),),
                )
            )  # fmt: skip
    return wrong


def _is_of(d: Diagnostic, s: ast.Definition) -> bool:
    """Whether a mistake was found in the definition, or in a function that it calls."""
    spans = [d.span, *(n.span for n in d.notes)]
    return any(
        x is not None and x.source is s.span.source and s.span.start <= x.start <= s.span.end
        for x in spans
    )


def _unequal(e: ast.Expr, s: ast.Definition) -> Diagnostic:
    """A part of the right side that has not as many values as the left side has members."""
    has = len(e.items) if isinstance(e, ast.Tuple) else 1
    left = ", ".join(n.text for n in s.group)
    return Diagnostic(
        f"the left side has {len(s.group)} members, and this has {counted(has, 'value')}", e.span,
        f"write a value for each of `{left}`: `({', '.join('abcdefgh'[: len(s.group)])})`",
        (Note("the left side", Span(s.span.source, s.span.start, _end(s))),),
    )  # fmt: skip


def _over(indices: tuple[ast.Expr, ...]) -> Span:
    return Span(indices[0].span.source, indices[0].span.start, indices[-1].span.end)


def _end(s: ast.Definition) -> int:
    """Where the left side ends: at the `)` behind its last member."""
    last = s.others[-1].span.end
    return s.span.source.text.index(")", last) + 1
