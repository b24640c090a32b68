"""What has no instruction, as a C function that goes through the lanes one by one.

The scalar code of the lanes is printed by `c_scalar`, so a vector means what its lanes mean.
"""

from __future__ import annotations

from hbc.codegen.text.names import Binding
from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Buffer, Unit
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType


def lane_operand(i: int, t: DType) -> ir.Expr:
    """The current lane of operand number i, for the expression given to `lanewise`."""
    return ir.Load("abc"[i], ir.Var("i"), t(1))


def lanewise(name: str, value: ir.Expr, operands: tuple[DType, ...], lanes: int, unit: Unit) -> str:
    """Defines (once) and names the function whose lane i is the scalar `value` of lanes i."""
    inner, registers = Unit(unit.target, prelude=unit.prelude), unit.registers
    inner.scope.bind("i", Binding("i", nonnegative=True))
    for letter, t in zip("abc", operands, strict=False):
        inner.buffers[letter] = Buffer(letter, t)
    t = value.type.element
    lines = []
    for letter, s in zip("abc", operands, strict=False):
        lines.append(f"{c_type(s)} {letter}[{registers.lanes(s, lanes)}];")
        lines.append(f"{registers.spill(s, lanes, letter, f'{letter}_lanes')};")
    lines.append(f"{c_type(t)} result[{registers.lanes(t, lanes)}] = {{0}};")
    lines += [f"for (int i = 0; i < {lanes}; ++i)", f"    result[i] = {scalar(value, inner)};"]
    lines.append(f"return {registers.fill(t, lanes, 'result')};")
    parameters = ", ".join(
        f"{registers.type(s, lanes)} {letter}_lanes"
        for letter, s in zip("abc", operands, strict=False)
    )
    body = "\n".join(f"    {line}" for line in lines)
    text = f"static inline {registers.type(t, lanes)} {name}({parameters})\n{{\n{body}\n}}\n"
    return unit.prelude.add(name, text)
