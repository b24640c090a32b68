"""What lanes that are not live read: nothing, not even one place for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of
from hbc.ir.algebra.simplify import simplify
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, and_, le, lt, minimum, mul, sub
from hbc.ir.lang.types import INDEX
from hbc.ir.vectors.vector_masks import plain_loop

GROUPS = """
size M, K
input scale: f32[M, (K + 31) / 32]
input zero: u8[(K + 31) / 32]
input x: f32[K]
output y: f32[M]
reduce k in K
y[i]  = 0
y[i] += scale[i, k / 32] * x[k] + f32(zero[k / 32] & 15)
schedule partial for avx512 {
    y.update.split(k, ko, ki, 64).rfactor(ki, u)
    y.update.atomic().vectorize(ki)
    y_u.compute_at(y.update, i).store_in(registers).vectorize(u, 16).unroll(u)
    y_u.update.reorder(i, ko, u).vectorize(u, 16).unroll(u)
}
example { M = 3; K = 17; scale = random(1); zero = random(2); x = random(3, -1, 1) }
"""


@pytest.mark.parametrize("k", [1, 17, 33, 70])
def test_a_place_for_all_lanes_of_which_none_is_live(k: int, tmp_path: Path) -> None:
    """The vector of k = 32 .. 47 reads behind the scales of a row of 17."""
    file = tmp_path / "groups.hb"
    file.write_text(GROUPS)
    arguments = ["verify", str(file), "--target", "avx512", "--no-native", "--set", f"K={k}"]
    assert exit_code_of([*arguments, "--trials", "1"]) == 0


V, N, C = ir.Var("v"), ir.Var("n"), ir.Var("c")


@pytest.mark.parametrize(
    ("condition", "extent", "left"),
    [
        (lt(V, N), minimum(ir.const_index(4), N), None),
        (lt(add(V, N), C), minimum(ir.const_index(4), sub(C, N)), None),
        (and_(le(V, N), lt(C, V)), minimum(ir.const_index(4), add(N, 1)), lt(C, V)),
        (lt(C, V), ir.const_index(4), lt(C, V)),
        (lt(V, ir.Load("A", N, INDEX)), ir.const_index(4), lt(V, ir.Load("A", N, INDEX))),
        (lt(mul(V, 2), N), ir.const_index(4), lt(mul(V, 2), N)),
    ],
)
def test_a_plain_loop_ends_with_its_live_lanes(
    condition: ir.Expr, extent: ir.Expr, left: ir.Expr | None
) -> None:
    store = ir.Store("B", V, V)
    loop = ir.For(
        "v", ir.const_index(0), ir.const_index(4), ir.LoopKind.VECTOR, ir.If(condition, store)
    )
    made = plain_loop(loop)
    assert made.kind is ir.LoopKind.SERIAL
    assert simplify(made.extent) == simplify(extent)
    assert made.body == (store if left is None else ir.If(left, store))
