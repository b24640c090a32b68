"""Where an array lies in memory, and what it holds: of any library, and without NumPy, which takes as long
to import as Python and hbc take to start."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from hbc.ir.ground.diag import ArgumentError, Diagnostic
from hbc.ir.ground.record import record
from hbc.ir.lang.types import BF16, BOOL, F8E4M3, F8E5M2, DType

CPU = "cpu"
OF_ML_DTYPES = (BF16, F8E4M3, F8E5M2)  # the others NumPy has by itself
# Spelled by torch, jax and others; NumPy's names of 1-byte and 2-byte codes are read by NumPy.
NAMES = {
    "float16": "f16", "half": "f16", "bfloat16": "bf16", "float32": "f32", "float": "f32",
    "float64": "f64", "double": "f64", "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16",
    "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64", "bool": "bool",
    "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
}  # fmt: skip


@record
class View:
    """Where an array lies. `strides` in bytes; `element` None for a type that the language lacks,
    whose name is `type_name`. `device`: `cpu` or `cuda:N`. `writable`: whether it may be an output.
    `held`: what keeps the memory where it is, beside the array itself."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    element: DType | None
    type_name: str
    device: str
    writable: bool
    held: Any = field(default=None, compare=False, repr=False)

    def is_dense(self) -> bool:
        """Whether the elements lie side by side in row-major order (empty arrays do)."""
        if self.element is None or 0 in self.shape:
            return True
        expected = self.element.bytes
        for length, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if length != 1 and stride != expected:
                return False
            expected *= length
        return True

    def row_strides(self, what: str) -> list[int]:
        """Strides in elements of every dimension but the last. ArgumentError where the code cannot walk
        so: elements of a row that lie apart, or dimensions that run backwards or overlap."""
        assert self.element is not None
        size, strides, least = self.element.bytes, [], 1
        empty = 0 in self.shape
        for d in reversed(range(len(self.shape))):
            length, (stride, rest) = self.shape[d], divmod(self.strides[d], size)
            if length == 1 or empty:
                stride = least
            elif rest or stride < least or (d == len(self.shape) - 1 and stride != 1):
                raise ArgumentError(
                    Diagnostic(
                        f"{what} has strides {self.strides} (bytes) for the shape {self.shape}: rows may "
                        "lie apart, the elements of a row may not, and none may overlap",
                        hint="copy it first: numpy.ascontiguousarray(...) or tensor.contiguous()",
                    )
                )
            if d < len(self.shape) - 1:
                strides.append(stride)
            least = max(least, stride * length)
        return strides[::-1]


def check_element(view: View, element: DType, what: str) -> None:
    """ArgumentError unless the array holds the element type; raw integers may be bf16 or floats of 8 bits."""
    raw = element in OF_ML_DTYPES and view.type_name == f"uint{element.bits}"
    if view.element == element or raw or (element == BOOL and view.type_name == "bool"):
        return
    from hbc.ir.meaning.numpy_types import numpy_dtype

    library = "ml_dtypes" if element in OF_ML_DTYPES else "numpy"
    raise ArgumentError(
        Diagnostic(
            f"{what} holds {view.type_name}, but is declared {element}",
            hint=f"convert it: array.astype({library}.{numpy_dtype(element).name})",
        )
    )
