"""NEON stores, and the folds of lanes that become scalars."""

from __future__ import annotations

from hbc.codegen.neon.load import address
from hbc.codegen.neon.mask import live_lanes, mask
from hbc.codegen.neon.masked import masked_store
from hbc.codegen.neon.ops import REDUCE
from hbc.codegen.neon.types import (
    broadcast,
    kind,
    mask_kind,
    name,
    q,
    register_lanes,
    reinterpret,
    spill,
    vector_type,
)  # fmt: skip
from hbc.codegen.text.names import Binding
from hbc.codegen.text.scalar import register, scalar
from hbc.codegen.text.spelling import c_type, unsigned_type
from hbc.codegen.text.unit import EQUALITY, Buffer, Text, Unit
from hbc.ir.ground.diag import InternalError
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add
from hbc.ir.lang.types import BOOL, DType, Memory
from hbc.ir.vectors.lane_offsets import lane_offsets
from hbc.ir.vectors.take import Take, integer


def store_vector(s: ir.Store, unit: Unit) -> None:
    """Prints a vector store."""
    if unit.buffers[s.buffer].memory is Memory.REGISTER:
        _register(s, unit)
        return
    lanes, known = s.value.type.lanes, lane_offsets(s.index)
    adjacent = known is not None and known[1] == tuple(range(known[1][0], known[1][0] + lanes))
    if known is None or not adjacent:
        _by_lane(s, unit)
        return
    t, value = s.value.type.element, value_text(s.value, unit)
    at = address(s.buffer, add(known[0], known[1][0]), unit)
    if s.mask is not None:
        unit.out.line(masked_store(at, s.mask, t, value, unit))
        return
    if lanes * t.bits >= 64:
        unit.out.line(f"{name('vst1', t, lanes)}({at}, {value});")
    else:
        unit.out.line(f"{_storer(t, lanes, unit)}({at}, {value});")


def value_text(e: ir.Expr, unit: Unit) -> str:
    """The value as it lies in memory: bools as bytes 0 and 1."""
    if e.type.element != BOOL:
        return unit.printers.vector(e, unit)
    lanes = e.type.lanes
    return f"{name('vand', BOOL, lanes)}({mask(e, 8, unit)}, {broadcast(BOOL, lanes, '1')})"


def _register(s: ir.Store, unit: Unit) -> None:
    variable = register(s.buffer, s.index, unit)
    if variable is None:
        raise InternalError(f"codegen: `{s.buffer}` is in registers but written at other lanes")
    value = s.value
    if s.mask is not None:
        value = ir.Select(s.mask, value, ir.Load(s.buffer, s.index, value.type))
    text = unit.printers.vector(value, unit)
    unit.out.line(f"{unit.undeclared.pop(variable, '')}{variable} = {text};")


def _storer(t: DType, lanes: int, unit: Unit) -> str:
    """The function that stores a vector of less than 64 bits."""
    function, size = f"store_{t}x{lanes}", lanes * t.bits
    held = f"u{size}"
    bits = f"vget_lane_{held}({reinterpret('x', kind(t), held, 64)}, 0)"
    text = (
        f"static inline void {function}({c_type(t)} *p, {vector_type(t, lanes)} x)\n{{\n"
        f"    const {unsigned_type(size)} bits = {bits};\n    memcpy(p, &bits, sizeof bits);\n}}\n"
    )
    return unit.prelude.add(function, text)


def _by_lane(s: ir.Store, unit: Unit) -> None:
    """The lanes one by one."""
    t, lanes = s.value.type.element, s.value.type.lanes
    unit.scope.push()
    with unit.out.braces():
        value, variable = value_text(s.value, unit), unit.scope.fresh("lanes")
        unit.out.line(f"const {vector_type(t, lanes)} {variable} = {value};")
        live = None if s.mask is None else live_lanes(s.mask, unit)
        buffer, get = unit.buffers[s.buffer].text, f"vget{q(t, lanes)}_lane_{kind(t)}"
        for lane in range(lanes):
            at = scalar(Take()(s.index, (lane,)), unit)
            if live is not None:
                unit.out.line(f"if ({live(lane)})")
                unit.out.depth += 1
            unit.out.line(f"{buffer}[{at}] = {get}({variable}, {lane});")
            if live is not None:
                unit.out.depth -= 1
    unit.scope.pop()


def reduce_lanes(e: ir.VectorReduce, unit: Unit) -> Text:
    """All lanes of a native vector folded into a scalar."""
    t, lanes = e.value.type.element, e.value.type.lanes
    if t == BOOL:
        return Text(_reduce_mask(e.op, e.value, unit), EQUALITY)
    value, stem = unit.printers.vector(e.value, unit), REDUCE.get((e.op, t))
    if stem is not None and lanes == register_lanes(t, lanes):
        return Text(f"{name(stem, t, lanes)}({value})")
    return Text(f"{_folder(e.op, t, lanes, unit)}({value})")


def _reduce_mask(op: ir.Op, e: ir.Expr, unit: Unit) -> str:
    """On lanes so wide that the mask fills its register."""
    lanes = e.type.lanes
    width = max(8, 64 // lanes)
    text, suffix = mask(e, width, unit), mask_kind(width)
    wide = q(integer(width), lanes)
    if op in (ir.Op.OR, ir.Op.MAX, ir.Op.ADD):
        return f"vmaxv{wide}_{suffix}({text}) != 0"
    if op in (ir.Op.AND, ir.Op.MIN, ir.Op.MUL):
        return f"vminv{wide}_{suffix}({text}) != 0"
    return f"(vaddv{wide}_{suffix}({text}) & 1) != 0"


def _folder(op: ir.Op, t: DType, lanes: int, unit: Unit) -> str:
    """A function that goes through the lanes."""
    function = f"reduce_{op.name.lower()}_{t}x{lanes}"
    inner = Unit(unit.target, prelude=unit.prelude)
    inner.scope.bind("i", Binding("i", nonnegative=True))
    inner.scope.bind("total", Binding("total", bits=t.bits))
    inner.buffers["x"] = Buffer("x", t)
    step = scalar(ir.Binary(op, ir.Var("total", t(1)), ir.Load("x", ir.Var("i"), t(1))), inner)
    text = (
        f"static inline {c_type(t)} {function}({vector_type(t, lanes)} lanes)\n{{\n"
        f"    {c_type(t)} x[{register_lanes(t, lanes)}];\n    {spill(t, lanes, 'x', 'lanes')};\n"
        f"    {c_type(t)} total = x[0];\n    for (int i = 1; i < {lanes}; ++i)\n"
        f"        total = {step};\n    return total;\n}}\n"
    )
    return unit.prelude.add(function, text)
