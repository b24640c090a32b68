"""How each access of a statement reaches its elements: neighbours, one for all lanes, apart, lane by lane.

Read from the lowered loops, when vector loops are loops still. A statement has several copies (inside the
edges, at them, for the rest of a loop): of an access the best way that any vectorized copy has is told.
"""

from __future__ import annotations

from enum import IntEnum

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import contains, nodes, statements
from hbc.ir.vectors.slow_lanes import (
    Place,
    Way,
    is_unit,
    places,
    step_along,
    times_repeated,
    way_of,
    written,
)


class Reach(IntEnum):
    """The ways, the best first."""

    REGISTERS = 0
    CONTIGUOUS = 1
    BROADCAST = 2
    REPEATED = 3
    STRIDED = 4
    LANES = 5
    GATHERED = 6


@record
class Reached:
    """An access of a vectorized statement. `step`: how far apart the elements of neighbouring lanes lie, as
    text; empty where that differs or is told by `reach`. `times`: how many lanes in turn each is for."""

    text: str
    stored: bool
    reach: Reach
    step: str = ""
    times: int = 1


@record
class Statement:
    """A statement of the program. `along`: its vectorized loops and the lanes of each, none where it is
    scalar. `rest`: whether it is done one element at a time in some copy, too."""

    span: Span | None
    stage: str
    along: tuple[tuple[str, int], ...]
    accesses: tuple[Reached, ...]
    rest: bool


def reached(kernel: Kernel) -> list[Statement]:
    """The statements in the order of the program. `kernel` has its vector loops still."""
    memories = {n.buffer: n.memory for n in statements(kernel.body) if isinstance(n, ir.Allocate)}
    copies: dict[tuple[str, Span | None], list[Place]] = {}
    for place in places(kernel.body, (), {}):
        copies.setdefault((place.store.buffer, place.store.span), []).append(place)
    return [_statement(stage, span, each, memories) for (stage, span), each in copies.items()]


def _statement(
    stage: str, span: Span | None, copies: list[Place], memories: dict[str, Memory]
) -> Statement:
    vectors = [p for p in copies if p.vectors]
    best: dict[tuple[bool, str], Reached] = {}
    for place in vectors:
        for n in (place.store, *nodes(place.store.value)):
            if isinstance(n, ir.Store | ir.Load):
                a = _reached(n, place, memories)
                key = a.stored, a.text
                best[key] = min(best.get(key, a), a, key=lambda x: x.reach)
    along: tuple[tuple[str, int], ...] = ()
    if vectors:
        along = tuple((written(x), _lanes(x)) for x in vectors[0].vectors)
    return Statement(span, stage, along, tuple(best.values()), 0 < len(vectors) < len(copies))


def _lanes(x: ir.For) -> int:
    assert isinstance(x.extent, ir.Const)
    return int(x.extent.value)


def _reached(n: ir.Load | ir.Store, place: Place, memories: dict[str, Memory]) -> Reached:
    stored = isinstance(n, ir.Store)
    text = n.buffer if stored or n.span is None else " ".join(n.span.text.split())
    if memories.get(n.buffer) is Memory.REGISTER:
        return Reached(text, stored, Reach.REGISTERS)
    steps = [step_along(n.index, x.var) for x in place.vectors]
    way = way_of(n.index, place.vectors)
    if way is Way.GATHER:
        return Reached(text, stored, Reach.GATHERED)
    moving = [s for s in steps if not (isinstance(s, ir.Const) and s.value == 0)]
    if not moving:
        return Reached(text, stored, Reach.BROADCAST)
    if any(map(is_unit, moving)):
        return Reached(text, stored, Reach.CONTIGUOUS)
    times = times_repeated(n.index, place.vectors[-1])
    if times > 1 and way is Way.VECTOR:
        return Reached(text, stored, Reach.REPEATED, times=times)
    last = moving[-1]
    step = "" if last is None or contains(last, ir.Load) else show(last)
    return Reached(text, stored, Reach.STRIDED if way is Way.VECTOR else Reach.LANES, step)
