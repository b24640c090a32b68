"""Reductions fused where memory is contiguous: 7 x 3 steps of a convolution of RGB are groups of four."""

from __future__ import annotations

import pytest
from tensor_checks import CHECKED, assert_agrees, assert_selected, compiled

STEM = """
size H, W, K
input I: u8[H, W, 3]
input F: i8[7, 7, 3, K]
output O: i32[(H - 5) / 2, (W - 5) / 2, K]
reduce s in 7, r in 7, c in 3
acc[y, x, k] = 0
acc[y, x, k] += i32(I[2 * y + s, 2 * x + r, c]) * i32(F[s, r, c, k])
O[y, x, k] = acc[y, x, k]
schedule fused for avx512vnni {
    O.split(x, xo, xi, 2).reorder(y, xo, k, xi).vectorize(k, 16).unroll(xi)
    acc.compute_at(O, k).store_in(registers).vectorize(k, 16).unroll(x)
    F.in(acc).compute_root()
    acc.update.fuse(r, c, rc).split(rc, ro, ri, 4).reorder(s, ro, x, k, ri)
    acc.update.atomic().vectorize(k, 16).vectorize(ri).unroll(x)
}
"""


@pytest.mark.parametrize("sizes", [(7, 7, 16), (9, 12, 17), (8, 11, 5)])
def test_the_copy_of_the_filter_is_read_in_one_line(sizes: tuple[int, int, int]) -> None:
    """`rc % 3 * K + rc / 3 * 3 * K` is `rc * K`."""
    p, found = compiled(STEM, "avx512vnni")
    assert_selected(found["select"])
    for stage in CHECKED:
        assert_agrees(p, found[stage], dict(zip("HWK", sizes, strict=True)))
