"""`while t: condition`: what it computes, and that the loop ends when no lane goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hbc as api
from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.codegen.build.processor import can_run
from hbc.frontend.oracle.oracle import evaluate
from hbc.ir.ground.source import Source
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.show import show_kernel
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.interp import run as interpret

Array = np.ndarray[Any, Any]
# How many rows, from the first, it takes until their sum is at least 2; and that sum. Rows are read at data.
ROWS = """
size   N, M
input  A: f32[N, M]
output n: i32[M]
output v: f32[M]
reduce t in N
(n[x], v[x]) = (0, 0)
(n[x], v[x]) = (n[x] + 1, v[x] + A[min(n[x], N - 1), x]) while t: v[x] < 2
require 1 <= N
bound n in 0 .. N + 1
"""
# Halvings until a number is at most 1, 20 at most; each point of a plane by itself.
HALVES = """
size   M, K
input  A: f32[M, K]
output n: i32[M, K]
output v: f32[M, K]
reduce t in 20
(n[y, x], v[y, x]) = (0, A[y, x])
(n[y, x], v[y, x]) = (n[y, x] + 1, v[y, x] / 2) while t: v[y, x] > 1
"""
SCHEDULES = {
    "plain": "",
    "outside": "n.update.vectorize(x, 8)",
    "inside": "n.update.split(x, xo, xi, 8).reorder(xo, t, xi).vectorize(xi)",
    "threads": "n.update.split(x, xo, xi, 16).reorder(xo, t, xi).vectorize(xi).parallel(xo)",
    "steps": "n.update.split(t, to, ti, 4).split(x, xo, xi, 8).reorder(xo, to, ti, xi).vectorize(xi)"
    ".unroll(ti)",
    "planes": "n.update.reorder(t, x).vectorize(x, 8)",
}
RUNNING = [t for t in ("c", "avx2", "avx512", "arm_dot") if can_run(TARGETS[t])]


def text(program: str, schedule: str, target: str) -> str:
    lines = SCHEDULES[schedule]
    if program is HALVES:
        lines = lines.replace("reorder(", "reorder(y, ")
    return f"{program}schedule s for {target} {{ {lines} }}\n" if lines else program


def lowered(program: str, schedule: str, target: str) -> Kernel:
    p = load_pipeline(Source("own.hb", text(program, schedule, target)), {})
    return lower_to_kernel(p, p.schedules[0] if p.schedules else None, TARGETS[target])


def rows(a: Array) -> tuple[Array, Array]:
    """As it is said, point by point."""
    n, v = np.zeros(a.shape[1], np.int32), np.zeros(a.shape[1], np.float32)
    for x in range(a.shape[1]):
        for t in range(a.shape[0]):
            if not v[x] < 2:
                break
            n[x], v[x] = t + 1, v[x] + a[t, x]
    return n, v


def halves(a: Array) -> tuple[Array, Array]:
    n, v = np.zeros(a.shape, np.int32), a.copy()
    for at in np.ndindex(*a.shape):
        for _ in range(20):
            if not v[at] > 1:
                break
            n[at], v[at] = n[at] + 1, v[at] / 2
    return n, v


def given(program: str, seed: int) -> Array:
    """Some numbers end at once, some never do, one is no number."""
    random = np.random.default_rng(seed)
    shape = int(random.integers(1, 14)), int(random.integers(1, 50))
    a = random.random(shape, np.float32)
    if program is HALVES:
        a = np.exp2(a * 30 - 4).astype(np.float32)
        a.flat[0] = np.inf
    a.flat[-1] = np.nan
    return a


@pytest.mark.parametrize("target", RUNNING)
@pytest.mark.parametrize("schedule", ["plain", "outside", "inside", "threads"])
@pytest.mark.parametrize(("program", "by_numpy"), [(ROWS, rows), (HALVES, halves)])
def test_values(program: str, by_numpy: Any, schedule: str, target: str) -> None:
    kernel = api.compile(text(program, schedule, target), target=target, schedule=None if SCHEDULES[schedule]
                         else "none")  # fmt: skip
    for seed in range(2):
        a = given(program, seed)
        made = kernel(A=a)
        n, v = by_numpy(a)
        np.testing.assert_array_equal(made["n"], n)
        np.testing.assert_array_equal(made["v"], v)


@pytest.mark.parametrize(("program", "by_numpy"), [(ROWS, rows), (HALVES, halves)])
def test_the_oracle(program: str, by_numpy: Any) -> None:
    p = load_pipeline(Source("own.hb", program), {})
    a = given(program, 5)
    sizes = dict(zip((s.name for s in p.sizes), a.shape, strict=True))
    found = evaluate(p, sizes, {"A": a})
    np.testing.assert_array_equal(found["n"].value, by_numpy(a)[0])


@pytest.mark.parametrize("target", ["avx512", "avx2", "arm_dot"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_lowered_for_any_machine(schedule: str, target: str) -> None:
    """By the interpreter, which ends loops as the C does."""
    kernel = lowered(HALVES, schedule, target)
    assert any(isinstance(n, ir.Leave) for n in nodes(kernel.body))
    a = given(HALVES, 11)
    made = {"n": np.full(a.shape, 77, np.int32), "v": np.full(a.shape, 77, np.float32)}
    interpret(kernel, {"M": a.shape[0], "K": a.shape[1]}, {"A": a, **made})
    for have, want in zip(made.values(), halves(a), strict=True):
        np.testing.assert_array_equal(have, want)


def test_the_loop_ends() -> None:
    """A bound of two thousand million steps, of which the numbers ask for a few."""
    long = HALVES.replace("in 20", "in 2000000000")
    for schedule in ("plain", "outside", "inside", "threads", "planes"):
        target = RUNNING[-1]
        kernel = api.compile(text(long, schedule, target), target=target, schedule=None
                             if SCHEDULES[schedule] else "none")  # fmt: skip
        made = kernel(A=np.array([[1, 2, 100, 3] * 10], np.float32))
        assert made["n"].tolist() == [[0, 1, 7, 2] * 10]


@pytest.mark.parametrize("schedule", ["n.gpu_blocks(x)", "n.update.reorder(t, y, x).parallel(y)"])
def test_threads_do_all_the_steps(schedule: str) -> None:
    """On a GPU, and where threads divide what lies inside of the loop."""
    target = "cuda" if "gpu" in schedule else "c"
    p = load_pipeline(Source("own.hb", f"{HALVES}schedule s for {target} {{ {schedule} }}"), {})
    kernel = lower_to_kernel(p, p.schedules[0], TARGETS[target])
    assert not any(isinstance(n, ir.Leave) for n in nodes(kernel.body))


def test_lanes_find_together_whether_one_goes_on() -> None:
    """They stay lanes, although all of them store that to one place."""
    loops = [n.var for n in nodes(lowered(HALVES, "inside", "avx2").body) if isinstance(n, ir.For)]
    assert loops
    assert "xi" not in loops


def test_a_loop_of_one_step_leaves_nothing_behind() -> None:
    """The loop is gone, and what would end it with it: nobody reads whether it goes on."""
    kernel = lowered(HALVES.replace("in 20", "in 1"), "outside", "avx2")
    assert "going" not in show_kernel(kernel)


def test_threads_inside_of_a_vector() -> None:
    p = load_pipeline(
        Source("own.hb", f"{HALVES}schedule s for avx2 {{ n.update.parallel(x).vectorize(y, 8) }}"),
        {},
    )
    kernel = lower_to_kernel(p, p.schedules[0], TARGETS["avx2"])
    assert not any(isinstance(n, ir.Leave) for n in nodes(kernel.body))
