"""Terms with one constant factor share a product: the same bits, and as few products as there are factors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import broadcast, const
from hbc.ir.lang.read import read_expr
from hbc.ir.lang.show import show
from hbc.ir.lang.types import I8, I16, I32, U8, U16, U32, DType
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import evaluate
from hbc.ir.meaning.numpy_types import numpy_dtype
from hbc.ir.vectors.common_factors import common_factors

LANES = 4
SHARED = [
    ("a * 3 + b * 5 + c * 5 + d * 3", "(a + d) * 3 + (b + c) * 5"),
    ("a * 3 - b * 3", "(a - b) * 3"),
    ("a - (b * 3 - c * 3)", "a - (b - c) * 3"),
    ("a - b * 3 - (c + d * 3)", "a - (b + d) * 3 - c"),
    ("min(a * 3 + b * 3, c)", "min((a + b) * 3, c)"),
    ("(a * 3 + b * 3) * 5 + c * 5", "((a + b) * 3 + c) * 5"),
]
KEPT = ["a * 3 + b * 5", "a * b + c * b", "a + a", "a * 3 * (b * 3)"]


def text(short: str) -> ir.Expr:
    """Letters are loads of vectors, numbers are in all lanes."""
    words = (
        f"{w.upper()}.i16x4[ramp(0, 1, 4)]" if w in "abcd" else f"x4({w}:i16)" if w.isdigit() else w
        for w in short.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
    )
    return read_expr("".join(f" {w}" if w != "(" else w for w in words).replace("min (", "min("))


@pytest.mark.parametrize(("before", "after"), SHARED)
def test_shared(before: str, after: str) -> None:
    assert show(common_factors(text(before))) == show(text(after))


@pytest.mark.parametrize("before", KEPT)
def test_kept(before: str) -> None:
    e = text(before)
    assert common_factors(e) is e


def test_addresses_and_scalars_are_kept() -> None:
    for e in (
        read_expr("A.i16[x * 3 + y * 3]"),
        read_expr("ramp(x, 1, 4) * x4(3) + ramp(y, 1, 4) * x4(3)"),
        read_expr("A.i16x4[ramp(x, 1, 4) * x4(3) + x4(y) * x4(3)]"),
        read_expr("A.i16[0] * 3:i16 + A.i16[1] * 3:i16"),
    ):
        assert common_factors(e) is e


Terms = list[tuple[bool, int, int | None]]


@given(
    st.sampled_from([I8, U8, I16, U16, I32, U32]),
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 5), st.none() | st.integers(2, 5)),
        min_size=2,
        max_size=7,
    ),
    st.integers(0, 2**32),
)
def test_any_sum(t: DType, terms: Terms, seed: int) -> None:
    def load(n: int) -> ir.Expr:
        index = ir.Ramp(ir.const_index(LANES * n), ir.const_index(1), LANES)
        return ir.Load("A", index, t(LANES))

    total = load(0)
    for negative, n, factor in terms:
        value = load(n)
        if factor is not None:
            value = ir.Binary(ir.Op.MUL, value, broadcast(const(factor, t), LANES))
        total = ir.Binary(ir.Op.SUB if negative else ir.Op.ADD, total, value)
    random = np.random.default_rng(seed)
    a = random.integers(0, 2**64, LANES * 6, dtype=np.uint64).astype(numpy_dtype(t))
    new = common_factors(total)
    got, want = (evaluate(e, {}, {"A": a}) for e in (new, total))
    assert np.array_equal(got, want)
    products = sum(isinstance(n, ir.Binary) and n.op is ir.Op.MUL for n in nodes(new))
    assert products == len({factor for _, _, factor in terms if factor is not None})
