"""A remainder and its quotient, times the same: what a fused loop makes of two dimensions without a gap."""

from itertools import product

import pytest

from hbc.ir.algebra.evaluate import evaluated
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, binary, mod, mul
from hbc.ir.lang.show import show
from hbc.ir.lang.types import INDEX

X, K, S = (ir.Var(name, INDEX) for name in "xKS")


def quotient(a: ir.Expr, d: int) -> ir.Expr:
    return binary(ir.Op.DIV, a, d)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (add(mul(mod(X, 3), K), mul(mul(quotient(X, 3), 3), K)), "x * K"),
        (add(mul(mul(K, quotient(X, 3)), mul(6, S)), mul(mul(mod(X, 3), S), mul(K, 2))), "2 * x * K * S"),
        (add(mul(mod(add(X, S), 4), K), mul(mul(quotient(add(X, S), 4), K), 4)), None),
        (add(mul(mod(X, 3), K), mul(mul(quotient(X, 3), 2), K)), None),  # another factor: stays
        (add(mul(mod(X, 3), K), mul(mul(quotient(X, 3), 3), S)), None),  # times something else
    ],
)  # fmt: skip
def test_the_value_is_kept(given: ir.Expr, expected: str | None) -> None:
    found = simplify(given)
    for x, k, s in product(range(-7, 8), (-2, 0, 5), (-3, 1, 4)):
        values = {"x": x, "K": k, "S": s}
        assert evaluated(found, values) == evaluated(given, values)
    if expected is not None:
        assert "%" not in show(found)
        assert simplify(found) is found or simplify(found) == found
