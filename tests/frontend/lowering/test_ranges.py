"""Reductions over intervals of data and of variables, against NumPy and the oracle, on every target."""

from itertools import pairwise

import numpy as np
import pytest

import hbc
from hbc.cli.pipeline import load_pipeline, lower_to_kernel
from hbc.ir.ground.source import Source
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.show import show
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.walk import reads, statements

CSR = """
size N, M, NNZ
input ptr: {index}[N + 1]
input column: u16[NNZ]
input value: f32[NNZ]
input x: f32[M]
output y: f32[N]
bound ptr in 0 .. NNZ + 1
bound column in 0 .. M
reduce k in ptr[i] .. ptr[i + 1]
y[i] = 0
y[i] += value[k] * x[column[k]]
"""
FACTORED = (
    "y.update.split(k, ko, ki, 4).rfactor(ki, u)\n y_u.compute_at(y.update, i).vectorize(u)\n"
)
SCHEDULES = {
    "rows": "y.update.parallel(i)",
    "lanes": "y.update.atomic().vectorize(k, 8)",
    "split": "y.update.split(k, ko, ki, 4, tail = guard).unroll(ki)",
    "columns": "y.update.reorder(k, i).vectorize(i, 8)",
    "both": "y.update.split(i, io, ii, 16).reorder(io, k, ii).vectorize(ii, 8)",
    "pieces": "y.update.split(k, ko, ki, 4)",
    "parts": "y.update.split(k, ko, ki, 4).rfactor(ki, u)\n y_u.compute_at(y.update, i)",
    "parts of all": "y.update.split(k, ko, ki, 4).rfactor(ki, u)\n y_u.compute_root()",
    "parts in lanes": FACTORED + "y_u.update.vectorize(u)",
    "lanes inside": FACTORED + "y_u.update.reorder(ko, i, u).vectorize(u)",
    "unrolled parts": FACTORED + "y_u.update.reorder(i, ko, u).vectorize(u).unroll(ko, 2)",
    "rows of parts": "y.update.split(k, ko, ki, 4).rfactor(ki, u)\n y_u.compute_root().vectorize(u)\n"
    "y_u.update.vectorize(u)\n y_u.update.parallel(i)",
    "blocks": "y.update.split(k, ko, ki, 4).rfactor(ko, u)\n y_u.compute_at(y.update, i)",
    "elements": "y.update.rfactor(k, u)\n y_u.compute_at(y.update, i).vectorize(u, 8)",
}
SHORT = [
    "parts",
    "parts of all",
    "parts in lanes",
    "lanes inside",
    "unrolled parts",
    "rows of parts",
]
"""Whose loops go over a row each."""
TRIANGLES = """
size N
input A: f32[N, N]
input x: f32[N]
output y: f32[N]
output z: f32[N]
output pairs: i32[N]
reduce k in 0 .. i + 1, q in N, r in q + 1 .. N, a in N, b in 0 .. a, c in 2 * b .. a + b
y[i] = 0
y[i] += A[i, k] * x[k]
z[i] = 1
z[q] += A[q, r] * x[r]
pairs[i] = 0
pairs[a] += 1 where b + c >= 0
"""
STEPS = """
size N
input A: f32[N, N]
output y: f32[N]
require 1 <= N
reduce t in i / 8 + 1, k in 8, r in (N + 7) / 8
part[i, n] = 0.0
part[i, n] += A[i, clamp(8 * n + k, 0, N - 1)]
most[i, n] = -1000
most[i, r] = max(most[i, r - 1], part[i, r])
y[i] = 0
y[i] += part[i, t] * most[i, t]
schedule s for {target} {
    y.update.split(i, io, ii, 8).reorder(io, t, ii)
    part.compute_at(y.update, t)
    most.store_at(y.update, io).compute_at(y.update, t)
}
"""
SUMS = """
size N, NNZ
input ptr: u16[N + 1]
input value: f32[NNZ]
output total: f32[N]
output most: f32[N]
output ahead: f32[N]
bound ptr in 0 .. NNZ + 1
size_of[i] = i64(ptr[i + 1]) - i64(ptr[i])
total[i] = sum(k in ptr[i] .. ptr[i + 1]: value[k] where k % 2 == 0) / f32(max(size_of[i], 1))
most[i] = max(k in ptr[i] .. ptr[i + 1]: value[k])
ahead[j] = sum(k in 0 .. j: sum(q in k .. j: value[clamp(q, 0, NNZ - 1)]))
require 1 <= NNZ
"""


def csr(index: str = "i32", schedule: str = "", target: str = "c") -> str:
    text = CSR.format(index=index)
    return f"{text}schedule s for {target} {{ {schedule} }}" if schedule else text


def matrix(rows: int, columns: int, seed: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(seed)
    dense = random.random((rows, columns), np.float32) * (random.random((rows, columns)) < 0.2)
    dense[random.random(rows) < 0.2] = 0
    at = [np.flatnonzero(row) for row in dense]
    ptr = np.cumsum([0, *map(len, at)])
    column = np.concatenate(at).astype(np.uint16)
    return dense, ptr, column, dense[dense != 0]


@pytest.mark.parametrize("target", ["c", "avx512"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_rows_of_a_sparse_matrix(name: str, target: str) -> None:
    kernel = hbc.compile(csr("i64", SCHEDULES[name], target), target=target)
    dense, ptr, column, value = matrix(37, 53, 1)
    x = np.random.default_rng(2).random(53, np.float32)
    np.testing.assert_allclose(kernel(ptr, column, value, x), dense @ x, rtol=1e-5)
    assert kernel.verify(trials=4)


def test_a_loop_goes_over_the_row_alone() -> None:
    source = hbc.compile(csr(), target="c", schedule="none").source
    assert "k_from = max_i64((int64_t)ptr[i], 0)" in source
    assert "for (int64_t k = k_from; k <" in source


@pytest.mark.parametrize("target", ["c", "avx2"])
@pytest.mark.parametrize("name", SHORT)
def test_partial_sums_go_over_the_row_alone(name: str, target: str) -> None:
    pipeline = load_pipeline(Source("k.hb", csr("i32", SCHEDULES[name], target)), {})
    kernel = lower_to_kernel(pipeline, pipeline.schedules[0], TARGETS[target], before="vectorize")
    steps = list(statements(kernel.body))
    loops = [x for x in steps if isinstance(x, ir.For) and x.var == "ko"]
    assert loops
    for loop in loops:
        assert "ko_from" in show(loop.start) and "ko_count" in show(loop.extent)
    for end in (x for x in steps if isinstance(x, ir.LetStmt)):
        assert reads(end.value, "ptr") == end.name.endswith(("_from", "_count"))


def test_intervals_that_are_empty_or_turned_have_no_terms() -> None:
    kernel = hbc.compile(csr())
    ones, nothing = np.ones(4, np.float32), np.zeros(4, np.uint16)
    ptr = np.array([4, 1, 3, 3, 0, 4], np.int32)
    np.testing.assert_array_equal(kernel(ptr, nothing, ones, ones[:1]), [0, 2, 0, 0, 4])


@pytest.mark.parametrize("wrong", [-1, 5, -(2**31), 2**31 - 1])
def test_data_beyond_its_bound_is_refused(wrong: int) -> None:
    ones, nothing = np.ones(4, np.float32), np.zeros(4, np.uint16)
    ptr = np.array([0, 1, wrong, 4], np.int32)
    with pytest.raises(ValueError, match=r"a value of `ptr` is outside of its bound 0 \.\. NNZ"):
        hbc.compile(csr())(ptr, nothing, ones, ones[:1])


@pytest.mark.parametrize("target", ["c", "avx2", "avx512", "cuda"])
@pytest.mark.parametrize("text", [csr("i16"), TRIANGLES, SUMS], ids=["csr", "triangles", "sums"])
def test_as_the_oracle(text: str, target: str) -> None:
    assert hbc.compile(text, target=target, on_cpu=target == "cuda").verify(trials=5)


def test_triangles() -> None:
    n = 23
    random = np.random.default_rng(3)
    a, x = random.random((n, n), np.float32), random.random(n, np.float32)
    found = hbc.compile(TRIANGLES)(a, x)
    np.testing.assert_allclose(found["y"], np.tril(a) @ x, rtol=1e-5)
    np.testing.assert_allclose(found["z"], 1 + np.triu(a, 1) @ x, rtol=1e-5)
    pairs = [sum(max(i + b - 2 * b, 0) for b in range(i)) for i in range(n)]
    assert found["pairs"].tolist() == pairs


def test_sums_over_intervals() -> None:
    random = np.random.default_rng(4)
    ptr = np.sort(random.integers(0, 41, 12)).astype(np.uint16)
    value = random.random(40, np.float32)
    found = hbc.compile(SUMS)(ptr, value)
    pieces = [value[a:b] for a, b in pairwise(ptr)]
    even = [
        sum(v for k, v in enumerate(p, a) if k % 2 == 0) for a, p in zip(ptr, pieces, strict=False)
    ]
    mean = [e / max(len(p), 1) for e, p in zip(even, pieces, strict=True)]
    np.testing.assert_allclose(found["total"], mean, rtol=1e-5)
    assert found["most"].tolist() == [max(p, default=-np.inf) for p in pieces]
    ahead = [sum(value[k:j].sum() for k in range(j)) for j in range(11)]
    np.testing.assert_allclose(found["ahead"], ahead, rtol=1e-5)


@pytest.mark.parametrize("target", ["c", "avx2", "avx512"])
def test_steps_for_what_is_left_out_are_not_done(target: str) -> None:
    """Parts and the largest so far are for the last step alone, which ends with the triangle."""
    kernel = hbc.compile(STEPS.replace("{target}", target), target=target)
    assert "t_count = io + 1;" in kernel.source.replace("const int64_t ", "")
    assert kernel.verify(trials=4)
    a = np.random.default_rng(5).random((21, 21), np.float32)
    padded = np.pad(a, ((0, 0), (0, 3)), mode="edge").reshape(21, 3, 8).sum(2)
    terms = padded * np.maximum.accumulate(padded, 1)
    expected = [terms[i, : i // 8 + 1].sum() for i in range(21)]
    np.testing.assert_allclose(kernel(a), expected, rtol=1e-5)
