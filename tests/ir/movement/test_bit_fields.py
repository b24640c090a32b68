"""A few bits of bytes in each lane: the same values at every place and count of bits."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import binary, cast, const
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.types import I32, I64, U8, U32, DType
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import evaluate
from hbc.ir.movement.bit_fields import bit_fields
from hbc.ir.vectors.take import constants


def taken(e: ir.Expr) -> ir.Expr:
    """What the pass makes of the expression."""
    index = ir.Ramp(const(0), const(1), e.type.lanes)
    (stored,) = stores(bit_fields(Kernel("k", (), (), (), (), ir.Store("o", index, e))))
    return stored.value


def stores(kernel: Kernel) -> list[ir.Store]:
    return [n for n in nodes(kernel.body) if isinstance(n, ir.Store)]


def field(t: DType, at: list[int], places: list[int], bits: int, signed: bool) -> ir.Expr:
    """Bits of the bytes at such places."""
    load = ir.Load("W", constants(tuple(places), I64), U8(len(places)))
    x = binary(ir.Op.SHR, cast(t, load), constants(tuple(at), t))
    if not signed:
        return binary(ir.Op.AND, x, (1 << bits) - 1)
    half = 1 << (bits - 1)
    return binary(ir.Op.SUB, binary(ir.Op.AND, binary(ir.Op.ADD, x, half), 2 * half - 1), half)


@pytest.mark.parametrize("t", [I32, U32], ids=str)
def test_values_stay(t: DType) -> None:
    r, rng = Random(1), np.random.default_rng(2)
    words = 0
    for _ in range(300):
        lanes, bits = r.choice((4, 8, 16)), r.randint(1, 8)
        repeated = r.choice((1, 2, 4, 8))
        begin = r.randrange(4)
        places = [begin + n // repeated for n in range(lanes)]
        if r.random() < 0.2:
            r.shuffle(places)
        at = [r.randint(0, 8 - bits) for _ in range(lanes)]
        e = field(t, at, places, bits, r.random() < 0.5)
        new = taken(e)
        held = {"W": rng.integers(0, 256, 32, np.uint8)}
        assert np.array_equal(evaluate(e, {}, held), evaluate(new, {}, held)), (places, at, bits)
        words += any(isinstance(n, ir.Load) and n.type.lanes == 1 for n in nodes(new))
    assert words > 50
