"""What a mask leaves of the lanes, one by one, where no instruction takes the whole: a loop in C where the
places of the lanes are evenly apart."""

from __future__ import annotations

from collections.abc import Callable

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.vector.machine import machine_of
from hbc.ir.algebra.lane_at import NoLaneError, at_lane
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, floordiv, mod, mul
from hbc.ir.lang.types import DType
from hbc.ir.lang.walk import contains
from hbc.ir.vectors.lane_masks import first_lanes_count, possible_lanes
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import Take, progression

LANE = "lane"


@record
class SpilledMask:
    """The C condition of each lane, and which lanes may be live for all that the mask's constants tell:
    the C compiler warns of the indices of the others."""

    condition: Callable[[str], str]
    possible: list[bool]


def spilled_mask(e: ir.Expr, t: DType, unit: Unit) -> SpilledMask:
    """The mask in a variable. Of the first n lanes that is n, so that the C compiler sees which of them
    never are."""
    possible = possible_lanes(e)
    if not any(possible):  # nothing asks for the variable, and compilers warn of that
        return SpilledMask(lambda _: "0", possible)
    count = first_lanes_count(e)
    if isinstance(count, ir.Var):
        name = unit.scope.find(count.name).text
        return SpilledMask(lambda lane: f"{name} > {lane}", possible)
    name = unit.scope.fresh("live")
    if count is None:
        return SpilledMask(machine_of(unit).masks.spilled(name, e, t, unit), possible)
    unit.out.line(f"const {c_type(count.type.element)} {name} = {scalar(count, unit)};")
    return SpilledMask(lambda lane: f"{name} > {lane}", possible)


def each_live_lane(
    index: ir.Expr, live: SpilledMask, unit: Unit, statement: Callable[[str, str], str]
) -> None:
    """Prints `statement(lane, place)` for each lane of the index that is live."""
    lanes = index.type.lanes
    unit.scope.push()
    variable = unit.scope.declare(LANE, nonnegative=True)
    place = _place(index) if all(live.possible) else None
    if place is not None:
        unit.out.line(f"for (int64_t {variable} = 0; {variable} < {lanes}; ++{variable}) {{")
        unit.out.depth += 1
        at = str(scalar(place, unit))
        _if_live(live.condition(variable), statement(variable, at), unit)
        unit.out.depth -= 1
        unit.out.line("}")
    unit.scope.pop()
    if place is None:
        for lane in (n for n in range(lanes) if live.possible[n]):
            at = str(scalar(Take()(index, (lane,)), unit))
            _if_live(live.condition(str(lane)), statement(str(lane), at), unit)


def _if_live(condition: str, statement: str, unit: Unit) -> None:
    unit.out.line(f"if ({condition})")
    unit.out.depth += 1
    unit.out.line(statement)
    unit.out.depth -= 1


def _place(index: ir.Expr) -> ir.Expr | None:
    """The element of the index at the variable `lane`."""
    lane: ir.Expr = ir.Var(LANE)
    if isinstance(index, ir.Ramp) and index.base.type.lanes == 1 == index.stride.type.lanes:
        return add(index.base, mul(lane, index.stride))
    known = lane_offsets(index)
    digits = None if known is None else progression(known[1])
    if known is None or digits is None:
        return _formula(index)
    place, below = add(known[0], known[1][0]), 1
    for count, step in digits:
        above = floordiv(lane, below)
        digit = above if below * count == index.type.lanes else mod(above, count)
        place, below = add(place, mul(digit, step)), below * count
    return place


def _formula(index: ir.Expr) -> ir.Expr | None:
    """The same where places are limited or divided, which no offsets tell, but nothing is read again."""
    if contains(index, ir.Load):
        return None
    try:
        return simplify(at_lane(index, ir.Var(LANE)))
    except NoLaneError:
        return None
