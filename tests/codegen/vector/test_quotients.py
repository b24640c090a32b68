"""Quotients and remainders of vectors, compiled: by constants, by lanes, by one number for all lanes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from lanes import Case, Read, native_rows, reader
from values import values

from hbc.ir.lang.build import const
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Binary, Broadcast, Expr, Load, Op, Store, const_index
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import I8, I16, I32, U8, U16, U32, DType
from hbc.ir.meaning.interp import evaluate
from hbc.ir.vectors.integers import integers

TYPES = (U8, I8, U16, I16, U32, I32)
DIVISORS = (3, 7, 9, 10, 64, 100, 127, 255, 641, 65535, 1 << 31, -1, -2, -3, -7, -128, -32768)
LANES = 37


def as_arithmetic(e: Expr) -> Expr:
    made = integers(Kernel("k", (), (), (), (), Store("out", e, e)), TARGETS["avx2"]).body
    assert isinstance(made, Store)
    return made.value


def cases(t: DType) -> list[tuple[str, Op, int | str]]:
    low, high = t.limits
    known = [d for d in DIVISORS if low <= d <= high]
    return [
        (f"a {op} {d}: {t}", op, d) for op in (Op.DIV, Op.MOD) for d in (*known, "lanes", "shared")
    ]


def division(op: Op, d: int | str, t: DType, read: Read) -> Expr:
    a = read("a", t)
    if isinstance(d, int):
        return Binary(op, a, const(d, a.type))
    shared = Broadcast(Load(f"b_{t}", const_index(3), t(1)), a.type.lanes)
    return Binary(op, a, read("b", t) if d == "lanes" else shared)


@pytest.mark.parametrize("t", TYPES, ids=str)
def test_vectors(t: DType, vector_target: str, tmp_path: Path) -> None:
    given = {name: values(name) for name in (f"a_{t}", f"b_{t}")}
    rows, _ = native_rows(
        [
            Case(name, lambda read, op=op, d=d: as_arithmetic(division(op, d, t, read)))
            for name, op, d in cases(t)
        ],
        vector_target, LANES, tmp_path, given=given,
    )  # fmt: skip
    count = len(rows[0])
    for (name, op, d), row in zip(cases(t), rows, strict=True):
        wanted = evaluate(division(op, d, t, reader(const_index(0), count)), {}, given)
        wrong = np.flatnonzero(row[: len(wanted)] != wanted)
        at = [given[f"a_{t}"][i] for i in wrong[:3]]
        assert not len(wrong), f"{name}: of {at} {row[wrong[:3]]}, not {wanted[wrong[:3]]}"
