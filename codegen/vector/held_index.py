"""Indices that take arithmetic, where elements are loaded one by one: computed as vectors, and read lane by
lane from an array.

    table[i64(min(max(v, 0), 255))]
->  int32_t places[16] = min(max(v, 0), 255);   table[places[0]], table[places[1]], ..
"""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Buffer, Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import ramp
from hbc.ir.lang.types import I64, Memory
from hbc.ir.lang.walk import map_children, nodes, nodes_of, rewrite
from hbc.ir.vectors.take import Take
from hbc.ir.vectors.vector_width import widest_bits

# gcc (12 at least) takes each lane out of the vector by shuffles where it sees what was stored: the lookups
# of camera_pipe then take 0.6 ns each instead of 0.4.
_FROM_MEMORY = """\
/* `p`, of which the compiler does not know what was stored there: it would take lanes out of registers. */
static inline const {c} *from_memory_{t}(const {c} *p)
{{
#if defined(__GNUC__) && !defined(__clang__)
    __asm__("" : "+r"(p) : : "memory");
#endif
    return p;
}}
"""
EXPRESSIONS = get_args(ir.Expr)
LEFT_ALONE = ir.Var | ir.Instruct | ir.VectorReduce


def held_index(e: ir.Load, unit: Unit) -> ir.Expr:
    """The index of a load with what is computed of narrower integers in an array, and what is in registers,
    which have no lanes to read one by one. Lanes that its mask does not have load nothing there either."""

    def held(part: ir.Expr) -> ir.Expr:
        if part.type.lanes == 1:
            return part
        if isinstance(part, ir.Cast) and part.type.element == I64 and _is_computed(part.value):
            value = under_mask(part.value, e)
            if value is not None:
                return ir.Cast(part.type, _array(value, unit), part.span)
        if isinstance(part, ir.Load) and unit.buffers[part.buffer].memory is Memory.REGISTER:
            return _array(part, unit)
        return map_children(part, held)

    return held(e.index)


def under_mask(part: ir.Expr, e: ir.Load) -> ir.Expr | None:
    """A part of the load's index whose loads have its mask; None where some of them cannot."""
    if e.mask is None:
        return part

    def masked(n: ir.Expr) -> ir.Expr:
        if isinstance(n, ir.Load) and n.type.lanes == e.type.lanes and n.mask is None:
            return replace(n, mask=e.mask)
        return n

    value = rewrite(part, masked)
    loads = (n for n in nodes_of(value, ir.Load) if n.type.lanes > 1)
    return value if all(n.mask is not None for n in loads) else None


def _is_computed(e: ir.Expr) -> bool:
    """Whether there is arithmetic of vectors that fit the machine's registers: what is only loaded is
    loaded by lanes as well."""
    if not e.type.element.is_int or e.type.element == I64:
        return False
    arithmetic = any(isinstance(n, ir.Binary | ir.Unary | ir.Select | ir.Call) for n in _vectors(e))
    return arithmetic and can_be_cut(e)


def can_be_cut(e: ir.Expr) -> bool:
    """Whether some lanes of it can be computed by themselves."""
    return not any(isinstance(n, LEFT_ALONE) for n in _vectors(e))


def _vectors(e: ir.Expr) -> list[ir.Node]:
    return [n for n in nodes(e) if isinstance(n, EXPRESSIONS) and n.type.lanes > 1]


def _array(e: ir.Expr, unit: Unit) -> ir.Expr:
    """An array with the lanes of `e`, loaded."""
    t, lanes, registers = e.type.element, e.type.lanes, unit.registers
    native = min(lanes, unit.target.vector_bits // widest_bits(e))
    name = unit.scope.fresh("places")
    room = max(lanes, lanes - native + registers.lanes(t, native))
    unit.out.line(f"{c_type(t)} {name}[{room}];")
    for start in range(0, lanes, native):
        part = Take()(e, tuple(range(start, start + native)))
        at = f"&{name}[{start}]" if start else name
        unit.out.line(f"{registers.spill(t, native, at, unit.printers.vector(part, unit))};")
    function = unit.prelude.add(f"from_memory_{t}", _FROM_MEMORY.format(t=t, c=c_type(t)))
    held = unit.scope.fresh("held")
    unit.out.line(f"const {c_type(t)} *{held} = {function}({name});")
    unit.buffers[name] = Buffer(held, t)
    return ir.Load(name, ramp(ir.const_index(0), ir.const_index(1), lanes), e.type)
