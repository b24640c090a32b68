"""Math functions of f32 vectors as C functions of their own, such as `exp_f32x16`."""

from __future__ import annotations

from hbc.codegen.names import Binding, Scope
from hbc.codegen.spelling import constant
from hbc.codegen.unit import Unit
from hbc.codegen.vector_types import prefix, register_bits, set1, vector_type
from hbc.codegen.writer import Writer
from hbc.ir.nodes import MathOp, Var
from hbc.ir.types import F32
from hbc.ir.vector_math import LARGEST_ANGLE, expansion


def math_function(name: MathOp, lanes: int, unit: Unit) -> str:
    """The name of the function, which is defined when first asked for."""
    function = f"{name}_f32x{lanes}"
    if function in unit.prelude.texts:
        return function
    v, body = vector_type(F32, lanes), Writer(depth=1)
    outer, scope = unit.out, unit.scope
    unit.out, unit.scope = body, Scope()
    unit.scope.bind("x", Binding("x"))
    unit.scope.reserve("x")
    if name in (MathOp.SIN, MathOp.COS):
        _large_angles(name, lanes, unit)
    result = unit.printers.vector(expansion(name, Var("x", F32(lanes))), unit)
    body.line(f"return {result};")
    unit.out, unit.scope = outer, scope
    text = f"static inline {v} {function}({v} x)\n{{\n{body.text()}}}\n"
    return unit.prelude.add(function, text)


def _large_angles(name: MathOp, lanes: int, unit: Unit) -> None:
    """Angles that the reduction cannot take (or that are not finite) go to libm."""
    p, out = prefix(F32, lanes), unit.out
    size = f"{p}_andnot_ps({set1(F32, lanes, '-0.0f')}, x)"
    limit = set1(F32, lanes, constant(LARGEST_ANGLE, F32))
    predicate = "_CMP_NLE_UQ"
    if unit.target.vector_bits == 512:
        any_large = f"{p}_cmp_ps_mask({size}, {limit}, {predicate}) != 0"
    else:
        any_large = f"{p}_movemask_ps({p}_cmp_ps({size}, {limit}, {predicate})) != 0"
    with out.braces(f"if ({any_large})"):
        out.line(f"float lanes[{register_bits(F32, lanes) // 32}];")
        out.line(f"{p}_storeu_ps(lanes, x);")
        out.line(f"for (int i = 0; i < {lanes}; ++i)")
        out.line(f"    lanes[i] = {name}f(lanes[i]);")
        out.line(f"return {p}_loadu_ps(lanes);")
