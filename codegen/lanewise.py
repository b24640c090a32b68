"""What has no instruction, as a C function that goes through the lanes one by one.

The scalar code of the lanes is printed by `c_scalar`, so a vector means what its lanes mean.
"""

from __future__ import annotations

from hbc.codegen.c_scalar import scalar
from hbc.codegen.names import Binding
from hbc.codegen.spelling import c_type
from hbc.codegen.unit import Buffer, Unit
from hbc.codegen.vector_types import prefix, register_bits, suffix, vector_type
from hbc.ir.nodes import Expr, Load, Var
from hbc.ir.types import DType


def lane_operand(i: int, t: DType) -> Expr:
    """The current lane of operand number i, for the expression given to `lanewise`."""
    return Load("abc"[i], Var("i"), t(1))


def lanewise(name: str, value: Expr, operands: tuple[DType, ...], lanes: int, unit: Unit) -> str:
    """Defines (once) and names the function whose lane i is the scalar `value` of lanes i."""
    inner = Unit(unit.target, prelude=unit.prelude)
    inner.scope.bind("i", Binding("i", nonnegative=True))
    for letter, t in zip("abc", operands, strict=False):
        inner.buffers[letter] = Buffer(letter, t)
    t = value.type.element
    lines = []
    for letter, s in zip("abc", operands, strict=False):
        lines.append(f"{c_type(s)} {letter}[{register_lanes(s, lanes)}];")
        lines.append(f"{spill(s, lanes, letter, f'{letter}_lanes')};")
    lines.append(f"{c_type(t)} result[{register_lanes(t, lanes)}] = {{0}};")
    lines += [f"for (int i = 0; i < {lanes}; ++i)", f"    result[i] = {scalar(value, inner)};"]
    lines.append(f"return {fill(t, lanes, 'result')};")
    parameters = ", ".join(
        f"{vector_type(s, lanes)} {letter}_lanes"
        for letter, s in zip("abc", operands, strict=False)
    )
    body = "\n".join(f"    {line}" for line in lines)
    text = f"static inline {vector_type(t, lanes)} {name}({parameters})\n{{\n{body}\n}}\n"
    return unit.prelude.add(name, text)


def register_lanes(t: DType, lanes: int) -> int:
    """Lanes of the whole register that holds the vector."""
    return register_bits(t, lanes) // t.bits


def spill(t: DType, lanes: int, array: str, value: str) -> str:
    """Stores the whole register into an array of `register_lanes`."""
    bits = register_bits(t, lanes)
    if t.name in ("f32", "f64"):
        return f"{prefix(t, lanes)}_storeu_{suffix(t)}({array}, {value})"
    return f"{prefix(t, lanes)}_storeu_si{bits}((__m{bits}i *){array}, {value})"


def fill(t: DType, lanes: int, array: str) -> str:
    """Loads the whole register from an array of `register_lanes`."""
    bits = register_bits(t, lanes)
    if t.name in ("f32", "f64"):
        return f"{prefix(t, lanes)}_loadu_{suffix(t)}({array})"
    return f"{prefix(t, lanes)}_loadu_si{bits}((const __m{bits}i *){array})"
