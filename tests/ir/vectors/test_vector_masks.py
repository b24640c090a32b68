"""What lanes that are not live read: nothing, not even one place for all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of

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
