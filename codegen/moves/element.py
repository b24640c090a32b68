"""Elements of movements in CUDA C++: their type, how they are shuffled, and how folds combine them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.record import mutable
from hbc.ir.lang.types import DType

_FLOATS = {"f16": "__half", "bf16": "__nv_bfloat16", "f32": "float", "f64": "double"}
_INFIX = {"+": "sum", "*": "product", "&": "both", "|": "either", "^": "differing"}
_NAMES = {**_INFIX, "min": "least", "max": "greatest"}


@mutable
class Element:
    """`used`: the operations that occur."""

    dtype: DType
    used: dict[str, None] = field(default_factory=dict)

    @property
    def type(self) -> str:
        if self.dtype.name in _FLOATS:
            return _FLOATS[self.dtype.name]
        return f"{'' if self.dtype.limits[0] < 0 else 'u'}int{self.dtype.bits}_t"

    @property
    def cast(self) -> str:
        """What it must become to be shuffled; empty where shuffles take it as it is."""
        if self.dtype.is_float:
            return ""
        return {8: "int", 16: "int", 32: "", 64: "long long"}[self.dtype.bits]

    def combined(self, operation: str, left: str, right: str) -> str:
        """HbcError where the elements have no such operation."""
        known = operation in _NAMES and not (self.dtype.is_float and operation in "&|^")
        if not known:
            raise HbcError(
                Diagnostic(
                    f"elements of type {self.dtype} have no operation `{operation}`",
                    hint="--type names another element type: f32, f64, i8, u8, ... i64",
                )
            )
        self.used[operation] = None
        return f"{_NAMES[operation]}({left}, {right})"

    def neutral(self, operation: str) -> str:
        """The element that changes nothing."""
        if operation == "*":
            return self.number("1")
        if operation == "&":
            return self.number("~0ll")
        if operation in ("min", "max"):
            if self.dtype.is_float:
                return self.number("INFINITY" if operation == "min" else "-INFINITY")
            low, high = self.dtype.limits
            value = high if operation == "min" else low
            text = f"{value}ull" if value > 0 else f"({value + 1}ll - 1)" if value else "0"
            return self.number(text)
        return self.number("0")

    def number(self, text: str) -> str:
        return f"{self.type}({text}{'.0f' if text in '01' and self.dtype.is_float else ''})"

    def functions(self) -> list[str]:
        """Definitions of the operations that occur; sums and products of integers wrap."""
        return [self._function(operation) for operation in self.used]

    def _function(self, operation: str) -> str:
        t = self.type
        if operation in ("min", "max"):
            body = f"b {'<' if operation == 'min' else '>'} a ? b : a"
        elif self.dtype.is_float:
            body = f"a {operation} b"
        else:
            wide = f"uint{max(32, self.dtype.bits)}_t"
            body = f"({t})(({wide})a {operation} ({wide})b)"
        head = f"__host__ __device__ __forceinline__ {t} {_NAMES[operation]}({t} a, {t} b)"
        return f"{head}\n{{\n    return {body};\n}}"


def reserved() -> Iterable[str]:
    """Names that code must not use for anything else."""
    return _NAMES.values()
