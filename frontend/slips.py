"""Slips of hands used to other languages, each with the way it is written here: one row each."""

from __future__ import annotations

import re
from functools import cache

from hbc.ir.diag import Diagnostic
from hbc.ir.record import record
from hbc.ir.source import Source, Span


@record
class Slip:
    """`found` matches at the offset of the error, `before` at the end of the text before it."""

    found: str
    before: str
    message: str
    hint: str


SLIPS = (
    # Operators of C and Python
    Slip(r"\*", r"\*$", "there is no power operator",
         "write `x * x`, or `exp(y * log(x))`"),
    Slip(r"\*\*", r"", "there is no power operator",
         "write `x * x`, or `exp(y * log(x))`"),
    Slip(r"//", r"", "`//` is no operator and begins no comment",
         "`/` of integers floors; comments begin with `#`"),
    Slip(r"/\*|\*(?=\s|$)", r"/?$", "comments begin with `#`",
         "write `# ...` up to the end of the line") ,
    Slip(r"\?", r"", "there is no operator `?`", "write `select(condition, a, b)`"),
    Slip(r"(\+\+|--)", r"", "there is no operator `{}`", "write `f[x] += 1`"),
    Slip(r"(?:/|%|<<|>>)=", r"", "there is no operator `{}`",
         "updates are `+= -= *= min= max= |= &= ^=` and `=`: write `f[x] = f[x] / ...`"),
    Slip(r"\+", r"=$", "there is no operator `=+`", "write `+=` to add, or leave the sign out"),
    Slip(r"\+", r"[-+*/%(\[,<>&|^]$", "a sign `+` is not written", "leave it out"),
    Slip(r"=>", r"", "there is no operator `=>`", "write `>=`"),
    Slip(r"=<", r"", "there is no operator `=<`", "write `<=`"),
    Slip(r":=", r"", "there is no operator `:=`", "write `=`"),
    Slip(r"->", r"", "there is no operator `->`", "outputs are declared: `output C: f32[M, N]`"),
    Slip(r"<-", r"", "there is no operator `<-`", "write `=`"),
    Slip(r"\.", r"\.\.$", "an interval has two dots", "write `1 .. N`; it ends before `N`"),
    Slip(r"[-+*/%&|^]?=", r"\b(?:select|where|require|and|or|not)\b[^\n;]*$",
         "`=` defines and does not compare", "write `==` to compare"),
    # Numbers and text
    Slip(r"[A-Za-z_]\w*", r"(?<![\w.])\d[\w.]*$", "`{}` follows a number",
         "a literal has no suffix, it takes the type of what it meets; a product is written `*`"),
    Slip(r"'", r"", "text stands in double quotes", 'write `"..."`'),
    Slip(r'"(?![^"\n]*")', r"", "the text does not end on its line", 'close it with `"`'),
    Slip(r"[“”„«»]", r"", "`{}` is a typographic quote", 'write `"`'),
    Slip(r"[×·∙⋅]", r"", "`{}` is not read as a product", "write `*`"),
    Slip(r"÷", r"", "`{}` is not read as a quotient", "write `/`"),
    Slip(r"[−–—]", r"", "`{}` is a dash", "write `-`"),
    Slip(r"≤|≥|≠", r"", "`{}` is not read", "write `<=`, `>=` or `!=`"),
    # Statements of other languages
    Slip(r"for\b|while\b", r"", "there are no loops in an algorithm",
         "a definition covers all points of its variables; sum along `reduce k in K`"),
    Slip(r"\w+", r"\b(?:if|else)$", "there is no `if`",
         "write `select(condition, a, b)`, or `where condition` after an update"),
    Slip(r"\w+", r"(?:^|\n)[ \t]*(?:if|while|return|void|const|var|int|float|double)$",
         "this is no statement of the language",
         "statements begin with a keyword such as `input`, or define: `f[x] = ...`"),
)  # fmt: skip


@cache
def compiled() -> list[tuple[re.Pattern[str], re.Pattern[str], Slip]]:
    """The patterns, made when the first error is found."""
    return [(re.compile(s.found), re.compile(f"(?:{s.before})\\s*\\Z"), s) for s in SLIPS]


def slip_at(source: Source, at: int, before: str) -> Diagnostic | None:
    """The slip made at the offset, if it is a known one; `before` is the text that precedes."""
    for found, preceded, slip in compiled():
        match = found.match(source.text, at)
        if match and (not slip.before or preceded.search(before)):
            span = Span(source, at, max(match.end(), at + 1))
            return Diagnostic(slip.message.format(match[0]), span, slip.hint)
    return None
