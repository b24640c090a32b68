"""What is known of an index modulo a number holds for all values of its variables."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hbc.ir.algebra.alignment import alignment
from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.lang.read import read_expr


@pytest.mark.parametrize(
    ("text", "modulus"),
    [
        ("8 * a + 4", 8),
        ("a - a % 32", 32),
        ("8 * b + a - a % 32 + 16", 8),
        ("3 * a - 3 * (a % 4)", 12),
        ("a - a % 4 - a % 8", 1),
        ("a + a % 4", 1),
        ("b - a % 4", 1),
        ("min(8 * a, 12 * b)", 4),
        ("16 * a % 24", 8),
        ("5", 0),
    ],
)
def test_holds(text: str, modulus: int) -> None:
    e = read_expr(text)
    found, remainder = alignment(e)
    assert found == modulus
    for a, b in itertools.product(range(40), range(5)):
        value = int(evaluated(e, {"a": np.int64(a), "b": np.int64(b)}))
        assert value == remainder if found == 0 else (value - remainder) % found == 0
