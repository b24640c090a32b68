"""Makes a written Func one of two values: each of its steps computes both, from each other."""

from __future__ import annotations

import re

from choices import Choices, chance, pick
from draft import Array, FuncDraft

LINE = re.compile(
    r"(?P<name>\w+)(?P<type>: \w+)?\[(?P<place>.*?)\] (?P<op>[-+*/%|&^]|<<|>>|min|max)?= (?P<term>.*?)"
    r"(?P<where> where .*)?(?P<while> while .*)?"
)


def pair(c: Choices, func: FuncDraft, other: Array) -> None:
    """`f[x] += t` becomes `(f[x], g[x]) = (f[x] + t, g[x] + f[x])`, or the like."""
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
        where = f" where {own} < {f}({own_other})" if chance(c, 25) else ""
        if line["while"] is not None:
            where = line["while"]
            if chance(c, 50):
                where = f" while {where.split()[1]} {own} < {f}({own_other})"
        u.text = f"({own}, {own_other}) = {value}{line['where'] or where}"
        u.associative, u.scan, u.product = False, True, False


def matched(text: str) -> dict[str, str | None]:
    found = LINE.fullmatch(text)
    assert found is not None, text
    return found.groupdict()


def combined(op: str, own: str, term: str) -> str:
    if op in ("min", "max"):
        return f"{op}({own}, {term})"
    return f"({own} {op} {term})" if op else term
