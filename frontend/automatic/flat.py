"""Pixels of all rows as one loop, where nothing depends on which row a pixel is of: blocks then do not end
where rows do."""

from __future__ import annotations

from collections.abc import Iterator

from hbc.frontend.automatic.rewritten import Rewritten
from hbc.frontend.automatic.text import Line, call
from hbc.frontend.costs.graph import words_of
from hbc.frontend.costs.inlining import LONGEST
from hbc.frontend.plans.flat import flattened, keeps_pixel, site_of
from hbc.frontend.plans.inline_limit import kept_apart
from hbc.frontend.program.funcs import Func, Pipeline
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import mentions, nodes

PIXEL = "p"


def flat_program(p: Pipeline) -> Rewritten | None:
    """With the dimensions before the last one of each output as one, as many of them as can be; None where no
    two can, nothing is summed (a copy of arrays with gaps would take as long as the rest), or formulas would
    be long: of several stages rather than of blocks of sums."""
    if not any(f.updates for f in p.funcs) or kept_apart(p.funcs, p.output_funcs, LONGEST):
        return None
    lines: list[Line] = []
    words = set(words_of(p))
    current, left = p, True
    while left:
        left = False
        pixel = PIXEL
        while pixel in words:
            pixel += "_"
        for name, image in current.output_funcs.items():
            func = current.func(name)
            at = len(func.variables) - 3
            if at < 0 or name in current.in_place or not keeps_pixel(func, at):
                continue
            y, x = func.variables[at : at + 2]
            new = flattened(current, {name: site_of(image, at, pixel)}, ())
            if any(_knows_rows(f, pixel) for f in new.funcs):
                continue
            words.add(pixel)
            lines.append(Line(name, (call("flatten", [y, x, pixel]),)))
            current, left = new, True
            break
    return Rewritten(current, tuple(lines), True) if lines else None


def _knows_rows(func: Func, pixel: str) -> bool:
    """Whether a Func asks for the row or column of a pixel."""
    return any(
        isinstance(n, ir.Binary) and n.op in (ir.Op.DIV, ir.Op.MOD) and mentions(n.a, pixel)
        for e in _expressions(func)
        for n in nodes(e)
    )


def _expressions(func: Func) -> Iterator[ir.Expr]:
    yield func.pure
    for u in func.updates:
        yield from (u.value, *u.indices)
        if u.condition is not None:
            yield u.condition
        yield from (e for r in u.reduce for e in (r.ends or ()))
