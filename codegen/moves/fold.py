"""The arithmetic of folds on x86 registers, by the vector types of gcc and clang: sums and products wrap,
the least and the greatest of floats are the second operand where one is not a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from hbc.codegen.text.spelling import c_type, constant, int_type
from hbc.ir.lang.types import DTYPES, DType

if TYPE_CHECKING:
    from hbc.codegen.moves.file import VectorTarget

_INTEGERS = tuple(name for name, t in DTYPES.items() if t.is_int)
_NUMBERS = (*_INTEGERS, "f32", "f64")
NAMES = {
    "+": "add_all", "*": "multiply_all", "min": "least", "max": "greatest", "&": "and_all",
    "|": "or_all", "^": "xor_all",
}  # fmt: skip
# operation -> element type -> the function that combines two registers.
FOLDS: Mapping[str, Mapping[str, str]] = {
    op: dict.fromkeys(_NUMBERS if op in ("+", "*", "min", "max") else _INTEGERS, name)
    for op, name in NAMES.items()
}


def fold_functions(operations: Iterable[str], dtype: DType, target: VectorTarget) -> list[str]:
    """The C functions for these operations, and the type they need."""
    wanted = list(operations)
    if not wanted:
        return []
    wraps = dtype.is_int and not any(op in ("min", "max") for op in wanted)
    element = int_type(dtype.bits, signed=False) if wraps else c_type(dtype)
    size = target.bits // 8
    aliased = "__attribute__((may_alias, vector_size({})))"
    lines = [f"typedef {element} vec {aliased.format(size)};"]
    if any(op in ("min", "max") for op in wanted):
        integer = int_type(dtype.bits, signed=True)
        lines.append(f"typedef {integer} vec_mask {aliased.format(size)};")
        unsigned = int_type(dtype.bits, signed=False)
        if dtype.is_int:
            lines.append(f"typedef {unsigned} vec_bits {aliased.format(size)};")
    functions = [_function(op, dtype, target, wraps) for op in wanted]
    return ["\n".join(lines), *functions]


def _function(op: str, dtype: DType, target: VectorTarget, wraps: bool) -> str:
    vector = target.type
    if op in ("min", "max"):
        compare = "<" if op == "min" else ">"
        body = (
            f"    const vec_mask first = (vec_mask)((vec)a {compare} (vec)b);\n"
            f"    return ({vector})((first & (vec_mask)a) | (~first & (vec_mask)b));\n"
        )
    else:
        number = "vec" if wraps or not dtype.is_int else "vec_bits"
        body = f"    return ({vector})(({number})a {op} ({number})b);\n"
    return f"static inline {vector} {NAMES[op]}({vector} a, {vector} b)\n{{\n{body}}}"


def identity_text(operation: str, dtype: DType, target: VectorTarget) -> str | None:
    """A register of the number that changes nothing; None where that is 0."""
    if operation in ("+", "|", "^"):
        return None
    if operation == "*":
        value: int | float = 1
    elif operation == "&":
        value = -1 if dtype.limits[0] < 0 else dtype.limits[1]
    elif dtype.is_float:
        value = float("inf") if operation == "min" else float("-inf")
    else:
        value = dtype.limits[operation == "min"]
    text = constant(float(value) if dtype.is_float else value, dtype)
    return target.splat[dtype.name].format(value=text)
