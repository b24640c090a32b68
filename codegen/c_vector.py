"""Vector statements as C with x86 intrinsics."""

from __future__ import annotations

from hbc.codegen.unit import Unit
from hbc.ir.diag import InternalError
from hbc.ir.nodes import Expr, Store


def store_vector(s: Store, unit: Unit) -> None:
    raise InternalError("codegen: vector code is not written yet")


def declare_vector(name: str, value: Expr, unit: Unit) -> None:
    raise InternalError("codegen: vector code is not written yet")
