"""Refuses vectors of thousands of lanes, which a forgotten `store_in` makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hbc.frontend.program.funcs import Directive, Func, ScheduleLine
from hbc.frontend.program.scope import Scope
from hbc.ir.lang import nodes as ir
from hbc.ir.vectors.lane_limit import MOST_LANES


def check_lanes(lines: Iterable[ScheduleLine], funcs: Mapping[str, Func], scope: Scope) -> None:
    """Multiplies the known extents of the vectorized loops of each stage."""
    all_lines = list(lines)
    tiles = {
        s.stage.name
        for s in all_lines
        for d in s.directives
        if d.name == "store_in" and d.args == ("amx_tile",)
    }
    lanes: dict[object, int] = {}
    extents: dict[object, dict[str, int]] = {}
    for s in all_lines:
        known = extents.setdefault(s.stage, known_extents(s, funcs))
        if s.stage.name in tiles:
            continue
        outside = lanes.get(s.stage, 1)
        special = False  # from there on, only under a condition
        for d in s.directives:
            learn(d, known)
            special = special or d.name == "specialize"
            if d.name != "vectorize":
                continue
            loop = d.args[0]
            width = d.args[1] if len(d.args) > 1 else known.get(str(loop), 1)
            before = lanes.get(s.stage, 1)
            lanes[s.stage] = before * (width if isinstance(width, int) else 1)
            if not special:
                outside = lanes[s.stage]
            if lanes[s.stage] > MOST_LANES >= before:
                shown = d.span.text if d.span else d.name
                scope.report(
                    f"`{shown}` makes vectors of {lanes[s.stage]} lanes of `{s.stage.name}`,"
                    f" and {MOST_LANES} are the most", d.span,
                    "vectorize a smaller factor, such as 16; tiles need `store_in(amx_tile)`",
                )  # fmt: skip
        lanes[s.stage] = outside


def known_extents(s: ScheduleLine, funcs: Mapping[str, Func]) -> dict[str, int]:
    """Reduction loops of the stage with a literal extent."""
    func = funcs.get(s.stage.name)
    if func is None or s.stage.update is None or s.stage.update >= len(func.updates):
        return {}
    return {
        r.name: int(r.extent.value)
        for r in func.updates[s.stage.update].reduce
        if isinstance(r.extent, ir.Const)
    }


def learn(d: Directive, known: dict[str, int]) -> None:
    """The extents that a directive gives to new loops."""
    a = d.args
    match d.name:
        case "split":
            known[str(a[2])] = number(a[3])
        case "tile":
            known[str(a[4])], known[str(a[5])] = number(a[6]), number(a[7])
        case "bound":
            if isinstance(a[2], int):
                known[str(a[0])] = a[2]
        case "fuse":
            if str(a[0]) in known and str(a[1]) in known:
                known[str(a[2])] = known[str(a[0])] * known[str(a[1])]
        case _:
            pass


def number(a: object) -> int:
    return a if isinstance(a, int) else 1
