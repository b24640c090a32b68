"""The words of the language and what is said of them: directives, functions, types, keywords."""

from __future__ import annotations

import re
from functools import cache

from hbc.frontend.directives.table import DIRECTIVES
from hbc.frontend.program.vocabulary import MEMORIES, PARTS, TAILS
from hbc.frontend.text.vocabulary import CONSTANTS, EDGES, FILLS, MATHEMATICS, SHAPES
from hbc.ir.ground.record import record
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES, PACKED

# What begins a statement, and how it goes on.
STATEMENTS = {
    "hbc": "hbc 1",
    "size": "size H, W", "param": "param R: i32 = 3", "type": "type T = f32", "input": "input A: f32[H, W]",
    "output": "output B: f32[H, W]", "table": "table w: f32[3] = [1, 2, 1]", "require": "require H > 0",
    "bound": "bound A in 0 .. 256", "reduce": "reduce k in K", "def": "def f(x) = x * x",
    "import": 'import "std/image.hb"', "for": "for l in 1 .. J { }", "schedule": "schedule fast for avx2 { }",
    "example": "example { H = 480 }",
}  # fmt: skip


@record
class Word:
    """`kind`: directive, function, type, keyword or value. `written`: how it is used."""

    name: str
    kind: str
    written: str
    said: str = ""


@cache
def words() -> dict[str, Word]:
    listed = [
        Word(n, "directive", f".{r.written}", _first(r.on.run.__doc__))
        for n, r in DIRECTIVES.items()
    ]
    listed += [Word(n, "function", shape) for n, (_, _, shape) in SHAPES.items()]
    listed += [Word(n, "function", f"{n}(x)") for n in MATHEMATICS]
    listed += [Word(n, "function", f"{n}(A)[i]", "A read beyond the edges of A.") for n in EDGES]
    listed += [
        Word(n, "function", f"{n}(...)", "How an example fills an input.") for n in sorted(FILLS)
    ]
    listed += [Word(n, "type", n) for n in DTYPES]
    listed += [
        Word(n, "type", n, "Of inputs and outputs: integers of 4 bits, two in a byte.")
        for n in PACKED
    ]
    listed += [Word(n, "value", n) for n in CONSTANTS]
    listed += [Word(n, "value", f"tail = {n}") for n in TAILS]
    listed += [Word(n, "value", f".store_in({n})") for n in MEMORIES]
    listed += [Word(n, "value", f".partition(x, {n})") for n in PARTS]
    listed += [Word(n, "value", n, "A target of schedules.") for n in TARGETS]
    listed += [Word(n, "keyword", text) for n, text in STATEMENTS.items()]
    return {w.name: w for w in listed}


def described(name: str) -> str | None:
    """Markdown on one of them."""
    word = words().get(name)
    if word is None:
        return None
    said = f"\n\n{word.said}" if word.said else ""
    page = (
        f" (docs/{DIRECTIVES[name].page}, {DIRECTIVES[name].section})" if name in DIRECTIVES else ""
    )
    return f"```hb\n{word.written}\n```{said}{page}"


def word_at(text: str, offset: int) -> str:
    """The identifier around a character, or nothing."""
    before = re.search(r"\w*$", text[:offset])
    after = re.match(r"\w*", text[offset:])
    return (before[0] if before else "") + (after[0] if after else "")


def _first(docstring: str | None) -> str:
    return " ".join((docstring or "").split("\n\n")[0].split())
