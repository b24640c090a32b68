"""Statements that vectors or plain instructions do, for `hbc explain`: which accesses are contiguous, or so
with each element for several lanes, strided, the same for all lanes, lane by lane, and what is scalar."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.cli.show.report import Json
from hbc.ir.vectors.reached import Reach, Reached, Statement

WORDS = {
    Reach.REGISTERS: "in registers",
    Reach.CONTIGUOUS: "contiguous",
    Reach.BROADCAST: "the same for all lanes",
    Reach.REPEATED: "contiguous",
    Reach.STRIDED: "strided",
    Reach.LANES: "lane by lane",
    Reach.GATHERED: "gathered",
}


def plain_lines(found: Sequence[Statement]) -> list[str]:
    """The statements as text, each with a line for its vectors, one for what it loads and one for what it
    stores."""
    lines: list[str] = []
    for s in found:
        where = f"line {s.span.line}: " if s.span else ""
        lines.append(f"{where}{' '.join(s.span.text.split()) if s.span else s.stage}")
        if not s.along:
            lines.append("  scalar: no loop of it is vectorized")
            continue
        along = " and ".join(f"{lanes} along `{loop}`" for loop, lanes in s.along)
        rest = "; one element at a time in some parts" if s.rest else ""
        lines.append(f"  vectors of {along}{rest}")
        for stored, verb in ((False, "loads"), (True, "stores")):
            each = [_words(a) for a in s.accesses if a.stored == stored]
            if each:
                lines.append(f"  {verb} {', '.join(each)}")
    return ["", "plain code:", *lines] if lines else []


def _words(a: Reached) -> str:
    apart = (
        f" (distance {a.step})" if a.step else f" (each for {a.times} lanes)" if a.times > 1 else ""
    )
    return f"`{a.text}` {WORDS[a.reach]}{apart}"


def plain_json(s: Statement) -> Json:
    """Stable keys."""
    return {
        "line": None if s.span is None else s.span.line,
        "stage": s.stage,
        "vectors": [{"loop": loop, "lanes": lanes} for loop, lanes in s.along],
        "rest_scalar": s.rest,
        "accesses": [
            {
                "text": a.text,
                "stored": a.stored,
                "reach": a.reach.name.lower(),
                "step": a.step or None,
                "times": a.times,
            }
            for a in s.accesses
        ],
    }
