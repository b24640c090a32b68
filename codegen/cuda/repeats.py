"""Loops over what a thread repeats, and arrays of buffers, as CUDA prints them.

wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[8];
#pragma unroll
for (int t = 0; t < 8; ++t) {
    wmma::fill_fragment(acc[t], 0.0f);
}
"""

from __future__ import annotations

from dataclasses import replace

from hbc.codegen.c.stmt import statement
from hbc.codegen.fragments.fragment_kinds import Fragment
from hbc.codegen.plan.repeats import roll_up
from hbc.codegen.text.names import Binding
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.unit import Buffer, Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import free_variables


def with_loops(body: ir.Stmt, unit: Unit) -> ir.Stmt:
    """What a thread does, with loops for what it repeats; the unit learns of their buffers."""

    def kind(buffer: str) -> object:
        known = unit.fragments.get(buffer)
        return known.type if isinstance(known, Fragment) else known

    rolled, unit.repeats = roll_up(body, kind)
    fragments = dict(unit.fragments)
    named = {array: array for array in unit.repeats.arrays}
    named |= {name: member.array for name, member in unit.repeats.members.items()}
    for name, array in named.items():
        first = unit.repeats.arrays[array][0]
        if first in fragments:
            fragments[name] = fragments[first]
    unit.fragments = fragments
    return rolled


def repeated(s: ir.For, unit: Unit) -> None:
    """Prints a loop that nvcc unrolls."""
    assert isinstance(s.extent, ir.Const)
    unit.scope.push()
    text = unit.scope.fresh(s.var.partition("#")[0])
    unit.scope.bind(s.var, Binding(text, nonnegative=True))
    unit.unrolled.add(s.var)
    bound = {v for frame in unit.scope.frames for v in frame.bindings}
    for name, member in unit.repeats.members.items():
        names = free_variables(member.index)
        if s.var in names and names <= bound:
            array = unit.buffers[member.array]
            place = f"{array.text}[{scalar(member.index, unit)}]"
            unit.buffers[name] = Buffer(place, array.element, array.memory)
    unit.out.directive("#pragma unroll")
    with unit.out.braces(f"for (int {text} = 0; {text} < {s.extent.value}; ++{text})"):
        statement(s.body, unit)
    unit.scope.pop()


def array_of(s: ir.Allocate, buffer: Buffer, unit: Unit) -> str:
    """Notes where a buffer is, and of an array, each of its; returns how it is declared."""
    unit.buffers[s.buffer] = buffer
    names = unit.repeats.arrays.get(s.buffer)
    if names is None:
        return buffer.text
    for n, name in enumerate(names):
        unit.buffers[name] = replace(buffer, text=f"{buffer.text}[{n}]")
    return f"{buffer.text}[{len(names)}]"
