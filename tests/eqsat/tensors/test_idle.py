"""Steps of a sum beyond its end take no instruction."""

from __future__ import annotations

from tensor_checks import CHECKED, assert_agrees, compiled

from hbc.ir.lang.build import const_value
from hbc.ir.lang.nodes import Instruct
from hbc.ir.lang.walk import nodes

FIVE_TAPS = """
size N
input A: f32[N + 7]
input W: f32[5]
output C: f32[N]
reduce k in 5
acc[i] = 0
acc[i] += W[k] * A[i + k]
C[i] = acc[i]
schedule s for avx512bf16 {
    C.split(i, io, ii, 16, tail = mask).vectorize(ii)
    acc.compute_at(C, io).store_in(registers).vectorize(i)
    acc.update.split(k, ko, ki, 4).unroll(ko).reorder(ko, i, ki).atomic().vectorize(ki).vectorize(i)
}
"""


def test_beyond_the_end() -> None:

    p, kernels = compiled(FIVE_TAPS, "avx512bf16")
    done = [n for n in nodes(kernels["select"].body) if isinstance(n, Instruct)]
    assert done
    assert all(const_value(a) != 0 for n in done for a in n.args)
    for stage in CHECKED:
        assert_agrees(p, kernels[stage], {"N": 37})
