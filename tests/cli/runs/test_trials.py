"""Pins that trials are odd, allowed, repeatable, and hold what breaks kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hbc.cli.files.inputs import choose_example
from hbc.cli.runs import trials
from hbc.cli.runs.trials import KINDS, MEDIUM, SMALL, Special, draw_inputs, draw_trials
from hbc.cli.runs.work import count_work
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.lang.kernel import Check
from hbc.ir.lang.nodes import Binary, Op, Var, const_index

Make = Callable[..., Pipeline]

GATHER = """
size   N, M, T
input  I: f32[N]
input  begin: i32[M]
output O: f32[M]
bound  begin in 0 .. N - T + 1
require T <= N, "too many taps"
reduce r in T
O[x]  = 0
O[x] += I[begin[x] + r]
example { N = 100; M = 50; T = 4; I = random(1, -1, 1); begin = random(2) }
"""


def drawn(p: Pipeline, count: int, checks: tuple[Check, ...] = (), **given: int) -> list[Any]:
    example = choose_example(p, None)
    return list(draw_trials(p, checks, given, example, MEDIUM, 100_000, count, 1))


def test_trials_are_allowed_and_differ(pipeline: Make) -> None:
    p = pipeline(GATHER)
    trials = drawn(p, 30)
    assert len(trials) == 30
    assert len({tuple(t.sizes.values()) for t in trials}) > 20
    assert {t.kind for t in trials} == set(KINDS)
    for trial in trials:
        n, m, t = trial.sizes.values()
        assert t <= n
        assert count_work(p, trial.sizes).total <= 100_000
        assert trial.inputs["I"].shape == (n,)
        assert trial.inputs["begin"].shape == (m,)
        assert not m or 0 <= trial.inputs["begin"].min() <= trial.inputs["begin"].max() <= n - t


def test_the_same_every_time(pipeline: Make) -> None:
    p = pipeline(GATHER)
    for a, b in zip(drawn(p, 6), drawn(p, 6), strict=True):
        assert a.sizes == b.sizes
        assert all(a.inputs[k].tobytes() == b.inputs[k].tobytes() for k in a.inputs)


def test_given_sizes_and_promises_are_kept(pipeline: Make) -> None:
    divides = Binary(Op.EQ, Binary(Op.MOD, Var("N"), const_index(8)), const_index(0))
    trials = drawn(pipeline(GATHER), 6, (Check(divides, "8 divides N"),), T=3)
    assert {t.sizes["T"] for t in trials} == {3}
    assert {t.sizes["N"] % 8 for t in trials} == {0}


def test_no_sizes_that_are_allowed_no_trials(pipeline: Make) -> None:
    never = Check(Binary(Op.LT, Var("N"), const_index(0)), "never")
    assert drawn(pipeline(GATHER), 3, (never,)) == []


def test_special_inputs_are_special(pipeline: Make) -> None:
    p = pipeline("size N\ninput I: {T}[N]\noutput O: {T}[N]\nO[i] = I[i]".replace("{T}", "bf16"))
    example = choose_example(p, None)
    special = draw_inputs(p, {"N": 1000}, "special", example, 1)["I"].astype(np.float32)
    assert np.isnan(special).any()
    assert {np.inf, -np.inf} <= set(special.tolist())
    assert (special == 0).any()
    assert ((special != 0) & (np.abs(special) < 1e-38)).any()
    some = Special(subnormals=False, non_finite=False)
    tame = draw_inputs(p, {"N": 1000}, "special", example, 1, some)["I"].astype(np.float32)
    assert np.isfinite(tame).all()
    assert (tame == 0).any()
    assert (np.abs(tame[tame != 0]) >= 2.0**-126).all()
    full = draw_inputs(p, {"N": 1000}, "full-range", example, 1)["I"].astype(np.float32)
    assert np.isfinite(full).all()
    assert full.min() < -10 < 10 < full.max()


def test_small_and_medium_sizes_are_odd() -> None:
    assert 1 in SMALL
    assert sum(size % 2 for size in SMALL) > len(SMALL) / 2
    assert sum(size % 2 for size in MEDIUM) > len(MEDIUM) / 2


def test_sizes_that_take_too_much_are_counted_once(
    pipeline: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[dict[str, int]] = []

    def count(p: Pipeline, sizes: dict[str, int]) -> object:
        counted.append(sizes)
        return count_work(p, sizes)

    monkeypatch.setattr(trials, "count_work", count)
    assert len(drawn(pipeline(GATHER), 1, N=1000, M=1000, T=900)) == 1
    assert len(counted) == 1
