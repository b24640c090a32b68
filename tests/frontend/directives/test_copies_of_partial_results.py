"""Copies of and for what `rfactor` makes: `acc_u.in(acc)`, `A.in(acc_u)`, on any target."""

from __future__ import annotations

import numpy as np

from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS
from hbc.ir.meaning.interp import run

TEXT = """
size   N, K
input  A: f32[N, K]
output C: f32[N]
reduce k in K
acc[i]  = 0
acc[i] += A[i, k]
C[i]    = acc[i]
schedule s for c {
    acc.update.split(k, ko, ki, 8).rfactor(ko, u)
    acc_u.in(acc).compute_root().split(i, io, ii, 4)
    acc_u.compute_at(acc_u.in(acc), io)
    acc_u.update.reorder(i, ki)
    A.in(acc_u).compute_at(acc_u.update, i)
}
"""


def test_values() -> None:
    p = check(parse(Source("k.hb", TEXT)), {})
    kernel = lower_to_kernel(p, choose_schedule(p, "c", None), TARGETS["c"])
    random = np.random.default_rng(1)
    for n, k in ((1, 1), (5, 17), (8, 64), (3, 0)):
        a, out = random.standard_normal((n, k)).astype(np.float32), np.full(n, np.nan, np.float32)
        run(kernel, {"N": n, "K": k}, {"A": a, "C": out})
        assert compare(out, evaluate(p, {"N": n, "K": k}, {"A": a})["C"]).mismatches == 0
