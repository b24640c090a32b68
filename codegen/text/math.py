"""Math functions of f32 vectors as C functions of their own, such as `exp_f32x16`."""

from __future__ import annotations

from hbc.codegen.text.names import Binding, Scope
from hbc.codegen.text.unit import UNARY, Unit
from hbc.codegen.text.writer import Writer
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import const
from hbc.ir.lang.types import F32
from hbc.ir.passes.vector_math import LARGEST_ANGLE, expansion


def math_function(name: ir.MathOp, lanes: int, unit: Unit) -> str:
    """The name of the function, which is defined when first asked for."""
    function = f"{name}_f32x{lanes}"
    if function in unit.prelude.texts:
        return function
    v, body = unit.registers.type(F32, lanes), Writer(depth=1)
    outer, scope = unit.out, unit.scope
    unit.out, unit.scope = body, Scope()
    unit.scope.bind("x", Binding("x"))
    unit.scope.reserve("x")
    if name in (ir.MathOp.SIN, ir.MathOp.COS):
        _large_angles(name, lanes, unit)
    result = unit.printers.vector(expansion(name, ir.Var("x", F32(lanes))), unit)
    body.line(f"return {result};")
    unit.out, unit.scope = outer, scope
    text = f"static inline {v} {function}({v} x)\n{{\n{body.text()}}}\n"
    return unit.prelude.add(function, text)


def _large_angles(name: ir.MathOp, lanes: int, unit: Unit) -> None:
    """Angles that the reduction cannot take (or that are not finite) go to libm."""
    out, registers, t = unit.out, unit.registers, F32(lanes)
    size = ir.Unary(ir.UnaryOp.ABS, ir.Var("x", t))
    small = ir.VectorReduce(ir.Op.AND, ir.Binary(ir.Op.LE, size, const(LARGEST_ANGLE, t)), 1)
    with out.braces(f"if (!{unit.printers.reduce(small, unit).at(UNARY)})"):
        out.line(f"float lanes[{registers.lanes(F32, lanes)}];")
        out.line(f"{registers.spill(F32, lanes, 'lanes', 'x')};")
        out.line(f"for (int i = 0; i < {lanes}; ++i)")
        out.line(f"    lanes[i] = {name}f(lanes[i]);")
        out.line(f"return {registers.fill(F32, lanes, 'lanes')};")
