"""Loops over what unrolled code repeats, as C prints them: an index more instead of lines.

#pragma GCC unroll 4
for (int64_t e = 0; e < 4; ++e)
    acc[e] = _mm512_add_ps(acc[e], _mm512_loadu_ps(&a[16 * e]));
"""

from __future__ import annotations

from hbc.codegen.plan.register_arrays import RegisterArray
from hbc.codegen.plan.repeats import roll_up_registers
from hbc.codegen.text.registers import first_stores, holder, piece_of
from hbc.codegen.text.unit import Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.accesses import Accesses
from hbc.ir.lang.types import TILES, Memory
from hbc.ir.lang.walk import statements


def with_loops(body: ir.Stmt, unit: Unit) -> ir.Stmt:
    """The body with loops; the unit learns which buffers may be arrays of registers."""
    if not unit.registers.in_arrays:
        return body
    lanes: dict[str, int] = {}
    for s in statements(body):
        if not isinstance(s, ir.Allocate) or s.memory not in (Memory.REGISTER, *TILES):
            continue
        array = _array(s, unit.accesses) if s.memory is Memory.REGISTER else None
        known = unit.arrays.get(s.buffer)
        if array is None or (s.buffer in lanes and (known is None or known.lanes != array.lanes)):
            lanes[s.buffer] = 0
            unit.arrays.pop(s.buffer, None)
        else:
            lanes[s.buffer] = array.lanes
            filled = array.filled and (known is None or known.filled)
            unit.arrays[s.buffer] = RegisterArray(array.lanes, array.count, filled)
    rolled, values = roll_up_registers(body, lanes)
    for v in values:
        unit.arrays[v.array] = RegisterArray(v.type.lanes, v.count, filled=True)
    return rolled


def _array(s: ir.Allocate, accesses: Accesses) -> RegisterArray | None:
    """The buffer as an array, where its registers are equally long and none is beside another."""
    if not isinstance(s.extent, ir.Const):
        return None
    touched = {p for n in accesses.within(s) if (p := piece_of(n.index))}
    pieces = {p for p in touched if holder(p, touched, s.element) is None}
    lengths = {lanes for _, lanes in pieces}
    if len(lengths) != 1:
        return None
    (lanes,) = lengths
    count, rest = divmod(int(s.extent.value), lanes)
    if rest or any(first % lanes for first, _ in pieces):
        return None
    every = {(lanes * n, lanes) for n in range(count)}
    return RegisterArray(lanes, count, every <= set(first_stores(s, accesses)))
