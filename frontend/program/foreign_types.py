"""Names that types have in C, NumPy, CUDA and Halide, and what they are called here."""

from __future__ import annotations

import re

from hbc.ir.lang.types import DTYPES, PACKED

NAMES = {
    "float": "f32", "single": "f32", "double": "f64", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3", "float8_e4m3": "f8e4m3", "__nv_fp8_e4m3": "f8e4m3", "e4m3": "f8e4m3",
    "fp8e4m3": "f8e4m3", "float8_e5m2": "f8e5m2", "__nv_fp8_e5m2": "f8e5m2", "e5m2": "f8e5m2",
    "fp8e5m2": "f8e5m2", "fp8": "f8e4m3", "float8": "f8e4m3", "f8": "f8e4m3",
    "char": "i8", "byte": "u8", "short": "i16", "int": "i32", "long": "i64", "uchar": "u8", "ushort": "u16",
    "uint": "u32", "ulong": "u64", "unsigned": "u32", "size_t": "i64", "intp": "i64", "bool_": "bool",
    "boolean": "bool",
}  # fmt: skip
SIZED = re.compile(r"(?P<kind>u?int|uint|float|bfloat|fp|bf|s|i|u|f)_?(?P<bits>\d+)(?:_t)?")
KINDS = {"uint": "u", "u": "u", "int": "i", "s": "i", "i": "i", "float": "f", "fp": "f", "f": "f"}


def called_here(name: str) -> str | None:
    """The hint for a name of another language; None for one that no language has."""
    lower = name.lower()
    if lower.startswith(("complex", "c32", "c64", "c128")):
        return 'complex numbers are pairs: `import "std/complex.hb"` has their products'
    sized = SIZED.fullmatch(lower)
    found = NAMES.get(lower)
    if found is None and sized is not None:
        found = f"{KINDS.get(sized['kind'], 'bf')}{sized['bits']}"
    return f"write `{found}`" if found in DTYPES or found in PACKED else None
