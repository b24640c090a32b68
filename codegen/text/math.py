"""Math functions of f32 vectors as C functions of their own, such as `exp_f32x16`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hbc.codegen.text.names import Binding, Scope
from hbc.codegen.text.unit import UNARY, Unit
from hbc.codegen.text.writer import Writer
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import F32
from hbc.ir.passes.vector_math import USUAL_ALONE, expansion, is_usual


def math_function(name: ir.MathOp, lanes: int, unit: Unit) -> str:
    """The name of the function, which is defined when first asked for. Where it is made for usual numbers,
    it asks first whether all are."""
    function = f"{name}_f32x{lanes}"
    if function in unit.prelude.texts:
        return function
    x = ir.Var("x", F32(lanes))
    usual = is_usual(name, x)
    others = [] if usual is None else _of_others(name, lanes, unit)
    with _body(function, lanes, unit) as out:
        if usual is not None:
            are_all = unit.printers.reduce(ir.VectorReduce(ir.Op.AND, usual, 1), unit)
            with out.braces(f"if (!{are_all.at(UNARY)})"):
                for line in others:
                    out.line(line)
        out.line(f"return {unit.printers.vector(expansion(name, x, usual=True), unit)};")
    return function


@contextmanager
def _body(function: str, lanes: int, unit: Unit) -> Iterator[Writer]:
    """Where the lines of a function of `x` go."""
    v, body = unit.registers.type(F32, lanes), Writer(depth=1)
    outer, scope = unit.out, unit.scope
    unit.out, unit.scope = body, Scope()
    unit.scope.bind("x", Binding("x"))
    unit.scope.reserve("x")
    yield body
    unit.out, unit.scope = outer, scope
    unit.prelude.add(function, f"static inline {v} {function}({v} x)\n{{\n{body.text()}}}\n")


def _of_others(name: ir.MathOp, lanes: int, unit: Unit) -> list[str]:
    """What returns the function of numbers that are not usual: by libm, or by the expansion for all numbers
    where there is one."""
    registers = unit.registers
    if name in USUAL_ALONE:
        return [
            f"float lanes[{registers.lanes(F32, lanes)}];",
            f"{registers.spill(F32, lanes, 'lanes', 'x')};",
            f"for (int i = 0; i < {lanes}; ++i)",
            f"    lanes[i] = {name}f(lanes[i]);",
            f"return {registers.fill(F32, lanes, 'lanes')};",
        ]
    function = f"{name}_of_any_f32x{lanes}"
    with _body(function, lanes, unit) as out:
        out.line(f"return {unit.printers.vector(expansion(name, ir.Var('x', F32(lanes))), unit)};")
    return [f"return {function}(x);"]
