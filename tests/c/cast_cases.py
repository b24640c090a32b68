"""A conversion from one element type to another, as a value to compile."""

from __future__ import annotations

from lanes import Case, Read

from hbc.ir.lang.nodes import Cast, Expr
from hbc.ir.lang.types import DType


def cast(source: DType, target: DType) -> Case:
    def value(read: Read) -> Expr:
        a = read("a", source)
        return Cast(target(a.type.lanes), a)

    return Case(f"{target}({source})", value)
