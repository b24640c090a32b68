"""Tables at constant indices become literals; other loads stay."""

from __future__ import annotations

from hbc.codegen.gpu.fold_tables import fold_tables
from hbc.ir.lang.kernel import Kernel, Table
from hbc.ir.lang.read import read_stmt
from hbc.ir.lang.show import show
from hbc.ir.lang.types import F16


def test_literals() -> None:
    body = read_stmt(
        "for i from 0 count 2 { A[i] = f32(D.f16[1 + 2 * 1]) * f32(D.f16[i]) + f32(D.f16[0] * E.f16[0]) }"
    )
    table = Table("D", F16, (2, 2), (0.5, 1.0, 2.0, 0.25))
    folded = fold_tables(Kernel("k", (), (), (table,), (), body))
    assert show(folded.body) == (
        "for i from 0 count 2 {\n"
        "    A[i] = f32(0.25:f16) * f32(D.f16[i]) + f32(0.5:f16 * E.f16[0])\n}"
    )
