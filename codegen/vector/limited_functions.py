"""The C functions that load lanes evenly apart whose places are held within limits, or of which the first
are live."""

from __future__ import annotations

from collections.abc import Sequence

from hbc.codegen.text.names import Binding
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Buffer, Unit
from hbc.codegen.vector.machine import kept, machine_of
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import (
    add,
    broadcast,
    cast,
    const,
    gt,
    maximum,
    minimum,
    mul,
    ramp,
    select,
    sub,
)
from hbc.ir.lang.types import I64, DType, Memory
from hbc.ir.vectors.lane_masks import first_lanes
from hbc.ir.vectors.take import integer

_AT, _FIRST, _LOW, _HIGH, _COUNT = (ir.Var(name) for name in ("at", "first", "low", "high", "n"))


@record
class Limits:
    """Of places `step` apart: whether there is a least one, a greatest one, and a number of lanes that are
    live."""

    step: int
    low: bool
    high: bool
    live: bool

    @property
    def parameters(self) -> list[str]:
        return [
            x for x, there in (("low", self.low), ("high", self.high), ("n", self.live)) if there
        ]

    def hold(self, place: ir.Expr) -> ir.Expr:
        """A place held within them."""
        place = maximum(place, _LOW) if self.low else place
        return minimum(place, _HIGH) if self.high else place


def clamped(t: DType, lanes: int, limits: Limits, unit: Unit) -> str | None:
    """The function of a pointer `p`, `at`, `first` and the limits: elements `at` + first, first + step .. as
    the limits hold them; where `n` lanes are live the others are 0."""
    inner = _inside(("at", "first", *limits.parameters), t, lanes, unit)
    body = _in_vectors(t, lanes, limits, inner)
    if body is None and limits.live:
        return None
    body = body or _by_lane(t, lanes, limits, inner)
    stem = {(1, 1): "clamped", (1, 0): "at_least", (0, 1): "at_most"}[limits.low, limits.high]
    apart = f"_by{limits.step}" if limits.step > 1 else ""
    name = f"{stem}{apart}_{t}x{lanes}{'_live' if limits.live else ''}"
    note = (
        f"Elements of p, {limits.step} apart from `first` on, places behind `at` held within limits"
    )
    return _function(name, note, ("at", "first", *limits.parameters), body, t, lanes, unit)


def first_apart(t: DType, lanes: int, step: int, unit: Unit) -> str | None:
    """The function of a pointer `p`, the first place `at` and a number of lanes `n`: elements that far apart,
    0 in the other lanes; None where the machine has no permute for them. What lies between is loaded too."""
    inner = _inside(("at", "n"), t, lanes, unit)
    end = sub(mul(_COUNT, step), step - 1)

    def neighbours(first: int, number: int) -> str:
        index, live = ramp(add(_AT, first), 1, number), first_lanes(sub(end, first), number)
        return inner.printers.load(ir.Load("p", index, t(number), live), inner)

    offsets = range(0, lanes * step, step)
    text = machine_of(unit).accesses.permuted(neighbours, t, offsets, inner)
    if text is None:
        return None
    note = f"The first n elements of p from `at` on, {step} apart"
    name = f"first_by{step}_{t}x{lanes}"
    return _function(name, note, ("at", "n"), [f"return {text};"], t, lanes, unit)


def _inside(numbers: Sequence[str], t: DType, lanes: int, unit: Unit) -> Unit:
    """What prints the body."""
    inner = Unit(unit.target, prelude=unit.prelude, printers=unit.printers)
    for name in (*numbers, "start", "last", "places"):
        inner.scope.bind(name, Binding(name))
    # It may lie there, where nothing beyond it may be written `p[i]`, though it is not read.
    inner.buffers["p"] = Buffer("p", t, Memory.STACK)
    return inner


def _in_vectors(t: DType, lanes: int, limits: Limits, inner: Unit) -> list[str] | None:
    """`places` counts from that of the first lane, the least one; `last` is that of the last live one."""
    index, start, last, zero = integer(t.bits), ir.Var("start"), ir.Var("last"), ir.const_index(0)
    value = _ordered(t, lanes, limits, inner)
    if value is None:
        return None
    count: ir.Expr = minimum(_COUNT, lanes) if limits.live else ir.const_index(lanes)
    end = limits.hold(add(_FIRST, mul(sub(count, 1), limits.step)))
    line = ramp(cast(index, zero), const(limits.step, index), lanes)
    if limits.low:  # so far below it is the first
        below = cast(index, maximum(sub(_FIRST, start), -lanes * limits.step))
        line = maximum(add(line, broadcast(below, lanes)), broadcast(cast(index, zero), lanes))
    if limits.high:
        line = minimum(line, broadcast(cast(index, last), lanes))
    register = inner.registers.type(index, lanes)
    named = [
        ("int64_t", "start", scalar(limits.hold(_FIRST), inner)),
        ("int64_t", "last", scalar(sub(end, start), inner)),
        (register, "places", inner.printers.vector(line, inner)),
    ]
    read = f"{value} {named[-1][2]} start"
    return [
        *(f"const {kind} {name} = {text};" for kind, name, text in named if name in read),
        f"return {value};",
    ]


def _ordered(t: DType, lanes: int, limits: Limits, inner: Unit) -> str | None:
    """The elements at `places` from `start` on: neighbours loaded and permuted, or gathered."""
    base, machine = add(_AT, ir.Var("start")), machine_of(inner)
    live = first_lanes(_COUNT, lanes) if limits.live else None
    permute = machine.shuffles.by_places
    if limits.step == 1 and permute("", "", t, lanes, inner) is not None:
        loaded = add(ir.Var("last"), 1)
        if limits.live:
            loaded = select(gt(_COUNT, 0), loaded, 0)
        near = ir.Load("p", ramp(base, 1, lanes), t(lanes), first_lanes(loaded, lanes))
        text = permute(inner.printers.load(near, inner), "places", t, lanes, inner) or ""
        return text if live is None else kept(text, live, t, inner)
    places = ir.Cast(I64(lanes), ir.Var("places", integer(t.bits)(lanes)))
    at = ir.Binary(ir.Op.ADD, broadcast(base, lanes), places)
    return machine.accesses.gather(ir.Load("p", at, t(lanes), live), inner)


def _by_lane(t: DType, lanes: int, limits: Limits, inner: Unit) -> list[str]:
    machine = machine_of(inner)
    places = [add(_AT, limits.hold(add(_FIRST, limits.step * i))) for i in range(lanes)]
    values = [machine.element(f"p[{scalar(place, inner)}]", t) for place in places]
    return [f"return {machine.lanes_of(t, lanes, values)};"]


def _function(
    name: str, note: str, numbers: Sequence[str], body: Sequence[str],
    t: DType, lanes: int, unit: Unit,
) -> str:  # fmt: skip
    parameters = "".join(f", int64_t {n}" for n in numbers)
    head = f"static inline {unit.registers.type(t, lanes)} {name}(const {c_type(t)} *p{parameters})"
    note += "; other lanes are 0." if "n" in numbers else "."
    lines = [f"/* {note} */", head, "{", *(f"    {line}" for line in body), "}", ""]
    return unit.prelude.add(name, "\n".join(lines))
