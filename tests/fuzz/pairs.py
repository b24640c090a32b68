"""Makes a written Func one of two values: each of its steps computes both, from each other."""

from __future__ import annotations

import re

from choices import chance, pick
from draft import Array, Draft, FuncDraft

LINE = re.compile(
    r"(?P<name>\w+)(?P<type>: \w+)?\[(?P<place>.*?)\] (?P<op>[-+*/%|&^]|<<|>>|min|max)?= (?P<term>.*?)"
    r"(?P<where> where .*)?(?P<while> while .*)?"
)
WITHIN = " only "  # for the `where` of a reduction in an expression, while a line is taken apart

OF_PAIRS = (
    "select(p > r, (p, q), (r, s))", "(p + r, q)", "(max(p, r), {g}(p) + s)",
    "let a = p + r in (a, q + {g}(a))",
)  # fmt: skip


def pair(draft: Draft, func: FuncDraft, other: Array) -> None:
    """`f[x] += t` becomes `(f[x], g[x]) = (f[x] + t, g[x] + f[x])`, or the like."""
    c = draft.c
    func.other, func.other_output = other, func.output and chance(c, 50)
    line = matched(func.pure)
    begun = f"{other.element}({pick(c, ('0', '1', func.variables[0]))})"
    type_ = f": {other.element}" if chance(c, 30) else ""
    func.pure = (
        f"({func.name}{line['type'] or ''}[{line['place']}], {other.name}{type_}[{line['place']}])"
        f" = ({line['term']}, {begun})"
    )
    for u in func.updates:
        line = matched(u.text)
        own, own_other = f"{func.name}[{line['place']}]", f"{other.name}[{line['place']}]"
        f, g = func.element, other.element
        term = combined(line["op"] or "", own, line["term"])
        if chance(c, 40):
            term = f"({term} + {f}({own_other}))"
        last = pick(
            c,
            (
                f"{own_other} + {g}({own})", own_other, f"{g}({own})",
                f"select({own} > {f}(1), {own_other}, {g}(2))",
            ),
        )  # fmt: skip
        value = f"({term}, {last})"
        if chance(c, 50):
            value = f"select({own} < {f}({own_other}), {value}, ({own}, {own_other}))"
        elif chance(c, 50):
            name, inner = draft.fresh("d"), pick(c, OF_PAIRS).format(f=f, g=g)
            draft.declarations.append(f"def {name}((p, q), (r, s)) = {inner}")
            value = f"{name}({value}, ({own}, {own_other}))"
        where = f" where {own} < {f}({own_other})" if chance(c, 25) else ""
        if line["while"] is not None:
            where = line["while"]
            if chance(c, 50):
                where = f" while {where.split()[1]} {own} < {f}({own_other})"
        u.text = f"({own}, {own_other}) = {value}{line['where'] or where}"
        u.associative, u.scan, u.product = False, True, False


def matched(text: str) -> dict[str, str | None]:
    deep, plain = 0, []
    for part in re.split(r"([()]| where )", text):
        deep += {"(": 1, ")": -1}.get(part, 0)
        plain.append(WITHIN if part == " where " and deep else part)
    found = LINE.fullmatch("".join(plain))
    assert found is not None, text
    return {n: v and v.replace(WITHIN, " where ") for n, v in found.groupdict().items()}


def combined(op: str, own: str, term: str) -> str:
    if op in ("min", "max"):
        return f"{op}({own}, {term})"
    return f"({own} {op} {term})" if op else term
