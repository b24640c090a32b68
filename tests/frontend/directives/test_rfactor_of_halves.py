"""`rfactor` on a loop that was split off a half of another: partial pieces of both splits are left out."""

from __future__ import annotations

import numpy as np
import pytest

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
output S: f32[N]
reduce k in 1 .. K
S[i]  = 0
S[i] += A[i, k] where k % 3 != 1
schedule s for c { S.update.CHAIN; S_u.compute_at(S.update, i) }
"""


@pytest.mark.parametrize(
    "chain",
    [
        "split(k, ko, ki, 24).split(ki, kt, kv, 8).rfactor(kv, u)",
        "split(k, ko, ki, 20).split(ki, kt, kv, 8).rfactor(kt, u)",
        "split(k, ko, ki, 6).split(ko, ka, kb, 4).rfactor(kb, u)",
        "split(k, ko, ki, 6).split(ko, ka, kb, 4).split(ki, kc, kd, 4).rfactor(kd, u)",
    ],
)
def test_values(chain: str) -> None:
    p = check(parse(Source("k.hb", TEXT.replace("CHAIN", chain))), {})
    kernel = lower_to_kernel(p, choose_schedule(p, "c", None), TARGETS["c"])
    random = np.random.default_rng(1)
    for n, k in ((1, 1), (2, 2), (3, 50), (2, 97)):
        a, out = random.standard_normal((n, k)).astype(np.float32), np.full(n, np.nan, np.float32)
        run(kernel, {"N": n, "K": k}, {"A": a, "S": out})
        assert compare(out, evaluate(p, {"N": n, "K": k}, {"A": a})["S"]).mismatches == 0
