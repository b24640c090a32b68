"""Which schedules are told that a loop goes over all of an interval of data, or that `partition` is idle."""

from __future__ import annotations

import pytest

from hbc.cli.advice import Watch, advice
from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

ROWS = """
size N, M, E
input ptr: i32[N + 1]
input value: f32[E]
input x: f32[M]
output y: f32[N]
output z: f32[M]
bound ptr in 0 .. E + 1
reduce k in ptr[i] .. ptr[i + 1], b in M
y[i] = 0
y[i] += value[k] * x[b] where b < 9
z[j] = 0
z[b] += x[b]
"""
SPLIT = "y.update.split(k, ko, ki, 8)"


def warned(text: str, schedule: str, target: str) -> list[str]:
    p = load_pipeline(Source("k.hb", f"{text}schedule s for {target} {{ {schedule} }}"), {})
    watch = Watch()
    done = lower_to_kernel(p, p.schedules[0], TARGETS[target], watch)
    found = advice(p, p.schedules[0], TARGETS[target], watch, done)
    return [d.message for d in found if "goes over all" in d.message or "has parts" in d.message
            or "divides nothing" in d.message]  # fmt: skip


@pytest.mark.parametrize("target", ["c", "avx2"])
@pytest.mark.parametrize(
    ("schedule", "loop"),
    [
        ("y.update.reorder(i, k, b)", ""),
        ("y.update.reorder(i, b, k)", ""),
        ("y.update.reorder(k, i, b)", "the loop `k`"),
        ("y.update.reorder(b, k, i)", "the loop `k`"),
        (f"{SPLIT}.reorder(i, ko, b, ki)", ""),
        (f"{SPLIT}.reorder(ko, i, ki, b)", "the loop `ko`"),
        (f"{SPLIT}.rfactor(ki, u)\n y_u.compute_at(y.update, i).vectorize(u)", ""),
        (f"{SPLIT}.rfactor(ko, u)\n y_u.compute_at(y.update, i)", "`y_u` has parts"),
        ("y.update.rfactor(k, u)\n y_u.compute_at(y.update, i)", "`y_u` has parts"),
        ("y.update.rfactor(b, u)\n y_u.compute_at(y.update, i)", ""),
        ("z.update.rfactor(b, u)\n y.update.parallel(i)", ""),
    ],
)
def test_intervals_of_data(schedule: str, loop: str, target: str) -> None:
    found = warned(ROWS, schedule, target)
    assert [m.startswith(loop) for m in found] == ([True] if loop else [])


EDGES = """
size W, H
input I: f32[H, W]
output O: f32[H, W]
P = clamp_edge(I)
f[y, x] = P[y - 1, x + 3]
O[y, x] = f[y, x - 1] + select(y + x < 9, 1.0, 2.0)
"""


@pytest.mark.parametrize("target", ["c", "avx512"])
@pytest.mark.parametrize(
    ("schedule", "idle"),
    [
        ("O.partition(y).partition(x)", []),
        ("O.vectorize(x, 16).partition(x)", []),
        ("f.compute_at(O, y).partition(y).partition(x)", []),
        ("f.compute_root().partition(y)", []),
        ("f.compute_root().partition(x)\n O.partition(y)", []),
        ("f.compute_root().split(y, yo, yi, 4, tail = exact).partition(yo, never)", []),
        ("O.split(x, xo, xi, 8).partition(xi)", []),
    ],
)
def test_loops_that_decide_something(schedule: str, idle: list[str], target: str) -> None:
    assert warned(EDGES, schedule, target) == idle


@pytest.mark.parametrize("target", ["c", "avx512"])
def test_loops_that_decide_nothing(target: str) -> None:
    rows = EDGES.replace("y + x < 9", "x < 9").replace("P[y - 1, x + 3]", "P[0, x + 3]")
    text = "divides nothing: no condition, clamp or tail in the loops of"
    found = warned(
        rows, "f.compute_root().partition(x).partition(y)\n O.partition(y).partition(x)", target
    )
    assert found == [
        f"`partition(y)` {text} `f` depends on `y`", f"`partition(y)` {text} `O` depends on `y`",
    ]  # fmt: skip
