"""Vector stores, and the folds of lanes that become scalars."""

from __future__ import annotations

from hbc.codegen.plan.register_arrays import VALUES
from hbc.codegen.text.names import Binding
from hbc.codegen.text.scalar import register, scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Buffer, Text, Unit
from hbc.codegen.vector.machine import machine_of
from hbc.codegen.vector.spilled_mask import each_live_lane, spilled_mask
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import BOOL, U8, DType, Memory
from hbc.ir.vectors.lane_masks import possible_lanes
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import Take, integer


def store_vector(s: ir.Store, unit: Unit) -> None:
    """Prints a vector store."""
    if unit.buffers[s.buffer].memory is Memory.REGISTER:
        _register(s, unit)
        return
    access, lanes, known = machine_of(unit).accesses, s.value.type.lanes, lane_offsets(s.index)
    if known is not None and known[1] == tuple(range(known[1][0], known[1][0] + lanes)):
        # The place of a lane that is never live may lie before the array.
        starts = s.mask is None or possible_lanes(s.mask)[0]
        text = access.store(s, add(known[0], known[1][0]), unit) if starts else None
        if text is not None:
            unit.out.line(f"{text};")
            return
    elif access.scatter(s, unit):
        return
    _by_lane(s, unit)


def value_text(e: ir.Expr, unit: Unit) -> str:
    """The value as it lies in memory: bools as bytes 0 and 1."""
    if e.type.element != BOOL:
        return unit.printers.vector(e, unit)
    machine = machine_of(unit)
    return machine.put_mask(
        "bytes", "mask", U8, e.type.lanes, (machine.masks.text(e, 8, unit),), unit
    )


def _register(s: ir.Store, unit: Unit) -> None:
    name = register(s.buffer, s.index, unit)
    if name is None:
        raise InternalError(f"codegen: `{s.buffer}` is in registers but written at other lanes")
    value = s.value
    if s.mask is not None:
        value = ir.Select(s.mask, value, ir.Load(s.buffer, s.index, value.type))
    text = unit.printers.vector(value, unit)
    if VALUES in s.buffer:
        text = machine_of(unit).held(text, value, unit)
    unit.out.line(f"{unit.undeclared.pop(name, '')}{name} = {text};")


def _by_lane(s: ir.Store, unit: Unit) -> None:
    """The lanes one by one, through an array if the machine does not read them from the register."""
    t, lanes, machine = s.value.type.element, s.value.type.lanes, machine_of(unit)
    name, registers, take = unit.buffers[s.buffer].text, machine.registers, machine.lane
    unit.scope.push()
    with unit.out.braces():
        value, held = value_text(s.value, unit), unit.scope.fresh("lanes")
        if s.mask is None and take is not None:
            unit.out.line(f"const {registers.type(t, lanes)} {held} = {value};")
            for lane in range(lanes):
                at = scalar(Take()(s.index, (lane,)), unit)
                unit.out.line(f"{name}[{at}] = {take(held, t, lanes, lane)};")
        else:
            unit.out.line(f"{c_type(t)} {held}[{registers.lanes(t, lanes)}];")
            unit.out.line(f"{registers.spill(t, lanes, held, value)};")

        def put(lane: str, at: str) -> str:
            return f"{name}[{at}] = {held}[{lane}];"

        if s.mask is not None:
            each_live_lane(s.index, spilled_mask(s.mask, t, unit), unit, put)
        elif take is None:
            for lane in range(lanes):
                unit.out.line(put(str(lane), str(scalar(Take()(s.index, (lane,)), unit))))
    unit.scope.pop()


def reduce_lanes(e: ir.VectorReduce, unit: Unit) -> Text:
    """All lanes of a native vector folded into a scalar."""
    t, lanes, machine = e.value.type.element, e.value.type.lanes, machine_of(unit)
    if t == BOOL:
        width = machine.reduced(lanes)
        condition = machine.masks.text(e.value, width, unit)
        name = _OF_BOOLS[e.op]
        return Text(machine.put_mask(name, "mask", integer(width), lanes, (condition,), unit))
    value, name = unit.printers.vector(e.value, unit), f"reduce_{e.op.name.lower()}"
    if machine.has(name, t.name) and lanes == machine.registers.lanes(t, lanes):
        return Text(machine.put(name, t, lanes, (value,), unit))
    return Text(f"{machine.fold(e.op, t, lanes, unit)}({value})")


_OF_BOOLS = {
    ir.Op.OR: "any", ir.Op.MAX: "any", ir.Op.ADD: "any",
    ir.Op.AND: "all", ir.Op.MIN: "all", ir.Op.MUL: "all", ir.Op.XOR: "odd", ir.Op.NE: "odd",
}  # fmt: skip


def fold_lanes(op: ir.Op, t: DType, lanes: int, unit: Unit) -> str:
    """The function that goes through the lanes of a register, one after the other."""
    function, registers = f"reduce_{op.name.lower()}_{t}x{lanes}", unit.registers
    inner = Unit(unit.target, prelude=unit.prelude)
    inner.scope.bind("i", Binding("i", nonnegative=True))
    inner.scope.bind("total", Binding("total", bits=t.bits))
    inner.buffers["x"] = Buffer("x", t)
    step = scalar(ir.Binary(op, ir.Var("total", t(1)), ir.Load("x", ir.Var("i"), t(1))), inner)
    text = (
        f"static inline {c_type(t)} {function}({registers.type(t, lanes)} lanes)\n{{\n"
        f"    {c_type(t)} x[{registers.lanes(t, lanes)}];\n"
        f"    {registers.spill(t, lanes, 'x', 'lanes')};\n"
        f"    {c_type(t)} total = x[0];\n    for (int i = 1; i < {lanes}; ++i)\n"
        f"        total = {step};\n    return total;\n}}\n"
    )
    return unit.prelude.add(function, text)
