"""The arithmetic of folds on HVX registers, by clang's vector types: integers that wrap."""

from __future__ import annotations

from hbc.codegen.text.spelling import int_type
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.lang.types import DType

NAMES = {
    "+": "sum", "*": "product", "min": "least", "max": "greatest", "&": "both", "|": "either",
    "^": "differing",
}  # fmt: skip


def combined(operation: str, dtype: DType, left: str, right: str) -> str:
    """HbcError for floats: HVX has none before V68."""
    if not dtype.is_int or operation not in NAMES:
        raise HbcError(
            Diagnostic(
                f"HVX cannot fold elements of type {dtype} with `{operation}`",
                hint="--type names integers: i8, u8, i16, u16, i32, u32",
            )
        )
    return f"{NAMES[operation]}({left}, {right})"


def neutral_word(operation: str, dtype: DType) -> str | None:
    """The element that changes nothing; None for 0."""
    if operation in ("+", "|", "^") or not dtype.is_int:
        return None
    low, high = dtype.limits
    value = {"*": 1, "&": -1 if low < 0 else high, "min": high, "max": low}[operation]
    return None if value == 0 else f"({value}ll)"


def definition(operation: str, dtype: DType) -> str:
    """The function of an operation."""
    head = f"static inline HVX_Vector {NAMES[operation]}(HVX_Vector a, HVX_Vector b)"
    if operation in ("min", "max"):
        compare = "<" if operation == "min" else ">"
        body = (
            f"    const vec_mask first = (vec_mask)((vec)a {compare} (vec)b);\n"
            "    return (HVX_Vector)((first & (vec_mask)a) | (~first & (vec_mask)b));"
        )
    else:
        body = f"    return (HVX_Vector)((vec_bits)a {operation} (vec_bits)b);"
    return f"{head}\n{{\n{body}\n}}"


def types(dtype: DType) -> list[str]:
    """The vector types that the functions use."""
    size = "__attribute__((vector_size(128)))"
    unsigned, signed = (int_type(dtype.bits, signed=s) for s in (False, True))
    element = signed if dtype.is_int and dtype.limits[0] < 0 else unsigned
    return [
        f"typedef {element} vec {size};",
        f"typedef {signed} vec_mask {size};",
        f"typedef {unsigned} vec_bits {size};",
    ]
