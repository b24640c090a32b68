"""Pins what is counted as work, by hand-counted kernels."""

from collections.abc import Callable

import pytest

from hbc.cli.roof.roofs import Roofs
from hbc.cli.roof.speed import Speed
from hbc.cli.runs.work import Work, count_work
from hbc.frontend.program.funcs import Pipeline

Make = Callable[..., Pipeline]

GEMM = """
type T = f32
type S = f32
size M, N, K
input A: T[M, K]
input B: S[K, N]
output C: {c}[M, N]
reduce k in K
C[i, j] = 0
C[i, j] += {c}(A[i, k]) * {c}(B[k, j])
"""
SIZES = {"M": 4, "N": 5, "K": 6}


@pytest.mark.parametrize(
    ("a", "b", "c", "kind", "moved"),
    [
        ("f32", "f32", "f32", "f32", 4 * (24 + 30 + 20)),
        ("f64", "f64", "f64", "f64", 8 * (24 + 30 + 20)),
        ("bf16", "bf16", "f32", "bf16", 2 * (24 + 30) + 4 * 20),
        ("u8", "i8", "i32", "u8s8", 24 + 30 + 4 * 20),
        ("f16", "f16", "f32", "f16", 2 * (24 + 30) + 4 * 20),
    ],
)
def test_gemm(pipeline: Make, a: str, b: str, c: str, kind: str, moved: int) -> None:
    work = count_work(pipeline(GEMM.format(c=c), T=a, S=b), SIZES)
    assert work == Work({kind: 2 * 4 * 5 * 6}, moved, c != "i32")


def test_casts_apart_do_not_hide_the_operands(pipeline: Make) -> None:
    p = pipeline(
        """
        size H, W, T
        input  I: u8[H, W + T - 1]
        input  K: i8[T]
        output O: i32[H, W]
        reduce r in T
        wide[y, x] = i32(I[y, x])
        O[y, x]    = 0
        O[y, x]   += wide[y, x + r] * i32(K[r])
        """
    )
    work = count_work(p, {"H": 4, "W": 5, "T": 6})
    assert work.operations == {"u8s8": 2 * 4 * 5 * 6}


def test_what_consumers_need_is_counted_once(pipeline: Make) -> None:
    """A blur of a blur: the first is needed on two more rows than the second, not twice."""
    p = pipeline(
        """
        size H, W
        input  I: f32[H + 2, W]
        output O: f32[H, W]
        B[y, x] = I[y, x] * 2
        O[y, x] = B[y, x] + B[y + 1, x] + B[y + 2, x]
        """
    )
    assert count_work(p, {"H": 10, "W": 7}).total == 12 * 7 + 2 * 10 * 7


def test_unused_funcs_tables_and_index_arithmetic_are_free(pipeline: Make) -> None:
    p = pipeline(
        """
        size N
        input  I: f32[2 * N + 1]
        output O: f32[N]
        table  T: f32[2] = [0.5, 0.25]
        U[x] = I[x] * 3
        O[x] = I[2 * x + 1] * T[x % 2]
        """
    )
    assert count_work(p, {"N": 10}).total == 10


def test_no_points_no_work(pipeline: Make) -> None:
    assert count_work(pipeline(GEMM.format(c="f32")), {"M": 0, "N": 5, "K": 6}).total == 0


ROOFS = Roofs(1, {"f32": 100.0, "bf16": 200.0}, {"L1": 50.0, "DRAM": 10.0}, {"L1": 1000})


@pytest.mark.parametrize(
    ("work", "seconds"),
    [
        (Work({"f32": 1000}, 10, True), 10.0),
        (Work({"bf16": 1000}, 10, True), 5.0),
        (Work({"u8s8": 1000}, 10, False), 10.0),
        (Work({"f32": 500, "bf16": 500}, 10, True), 7.5),
        (Work({"f32": 1}, 500, True), 10.0),
        (Work({"f32": 1}, 2000, True), 200.0),
        (Work({}, 500, True), 10.0),
    ],
)
def test_the_roof_is_the_longer_of_computing_and_moving(work: Work, seconds: float) -> None:
    speed = Speed((4 * seconds, 2 * seconds, 3 * seconds), work, ROOFS)
    assert ROOFS.seconds(work) == pytest.approx(seconds)
    assert speed.roof_share == pytest.approx(1 / 3)
    assert {"gflops", "gbytes_per_s", "roof_share", "seconds_median"} <= speed.as_json().keys()
    assert [name for name, _ in speed.facts()] == ["time", "speed", "roof"]
