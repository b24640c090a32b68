"""The oracle against plain loops over many programs: integers exactly, floats within the bound."""

from __future__ import annotations

import numpy as np
import pytest
from full_range import special_values
from naive import evaluate, pipeline, random_inputs

from hbc.frontend.oracle import oracle
from hbc.ir.ground.diag import HbcError

PROGRAMS = {
    "gemm": """
        size M, N, K
        input A: f32[M, K]
        input B: f32[K, N]
        output C: f32[M, N]
        reduce k in K
        C[i, j] = 0
        C[i, j] += A[i, k] * B[k, j]
    """,
    "gemm_bf16": """
        size M, N, K
        input A: bf16[M, K]
        input B: bf16[K, N]
        output C: bf16[M, N]
        reduce k in K
        acc: f32[i, j] = 0
        acc[i, j] += f32(A[i, k]) * f32(B[k, j])
        C[i, j] = bf16(acc[i, j])
    """,
    "gemm_u8s8": """
        size M, N, K
        input A: u8[M, K]
        input B: i8[K, N]
        output C: i32[M, N]
        reduce k in K
        C[i, j] = 7
        C[i, j] += i32(A[i, k]) * i32(B[k, j])
    """,
    "gemm_wraps": """
        size M, N, K
        input A: i64[M, K]
        input B: i64[K, N]
        output C: i64[M, N]
        reduce k in K
        C[i, j] = 0
        C[i, j] += A[i, k] * B[k, j]
    """,
    "attention": """
        size M, N, K
        input Q: f32[M, K]
        input V: f32[N, K]
        output O: f32[M, K]
        reduce d in K, j in N
        score[i, n] = 0
        score[i, n] += Q[i, d] * V[n, d]
        most[i] = -inf
        most[i] max= score[i, j] * 0.01
        weight[i, n] = exp(score[i, n] * 0.01 - most[i])
        total[i] = 0
        total[i] += weight[i, j]
        sum[i, e] = 0
        sum[i, e] += weight[i, j] * V[j, e]
        O[i, e] = sum[i, e] / total[i]
    """,
    "conv2d": """
        size M, N
        input I: f32[M + 4, N + 5]
        input K: f32[5, 6]
        output O: f32[M, N]
        reduce s in 5, r in 6
        O[y, x] = 1
        O[y, x] += K[s, r] * I[y + s, x + r]
    """,
    "conv2d_i16": """
        size M, N
        input I: i16[M + 4, N + 5]
        input K: i16[5, 6]
        output O: i32[M, N]
        reduce s in 5, r in 6
        O[y, x] = 0
        O[y, x] += i32(I[y + s, x + r]) * i32(K[s, r])
    """,
    "downsample": """
        size M, N
        input I: f16[2 * M + 6, 3 * N + 8]
        input K: f16[5, 9]
        output O: f32[M, N]
        reduce s in 5, r in 9
        O[y, x] = 0
        O[y, x] += f32(K[s, r]) * f32(I[2 * y + s, 3 * x + r])
    """,
    "upsample": """
        size M, N
        input I: f32[M + 2, N + 2]
        input K: f32[6, 6]
        output O: f32[M, N]
        reduce s in 3, r in 3
        O[y, x] = 0
        O[y, x] += K[2 * s + y % 2, 2 * r + x % 2] * I[y / 2 + s, x / 2 + r]
    """,
    "boundaries": """
        size M, N
        input A: f32[M, N]
        output O: f32[M, N]
        P = clamp_edge(A)
        Z = zero_edge(A)
        W = wrap(A)
        R = mirror(A)
        O[y, x] = P[y - 1, x + 2] + Z[y + 1, x - 3] - W[y - 2, x] * R[y, x + 1]
    """,
    "stencil_chain": """
        size M, N
        input I: u16[M + 2, N + 2]
        output O: u16[M, N]
        bx[y, x] = (u32(I[y, x]) + u32(I[y, x + 1]) + u32(I[y, x + 2])) / 3
        O[y, x] = u16((bx[y, x] + bx[y + 1, x] + bx[y + 2, x]) / 3)
    """,
    "histogram": """
        size M, N
        input I: u8[M, N]
        output H: i32[256]
        reduce y in M, x in N
        H[v] = 0
        H[I[y, x]] += 1
    """,
    "weighted_histogram": """
        size M, N
        input I: u8[M, N]
        input W: f32[M, N]
        output H: f32[16]
        reduce y in M, x in N
        H[v] = 0
        H[I[y, x] / 16] += W[y, x] where x % 3 != 1
    """,
    "prefix_sum": """
        size M, N
        input I: f32[M, N]
        output S: f32[M, N]
        reduce t in 1 .. N
        S[y, x] = I[y, x]
        S[y, t] = S[y, t - 1] + I[y, t]
    """,
    "filter": """
        size M, N
        input I: f32[M, N]
        output Y: f32[M, N]
        reduce t in N
        Y[y, x] = I[y, x]
        Y[y, t] = I[y, t] + 1.8 * Y[y, t - 1] - 0.9 * Y[y, t - 2] where t >= 2
    """,
    "smooth": """
        size M, N
        input I: f32[N, M]
        output Y: f32[N, M]
        reduce t in 1 .. N
        Y[i, c] = I[i, c]
        Y[t, c] = Y[t - 1, c] + 0.2 * (I[t, c] - Y[t - 1, c])
    """,
    "integer_scan": """
        size M, N
        input I: i32[M, N]
        output Y: i32[M, N]
        reduce t in 1 .. M
        Y[y, x] = I[y, x]
        Y[t, x] = Y[t - 1, x] * 3 + (I[t, x] ^ Y[t - 1, x])
    """,
    "extrema": """
        size M, N
        input I: f32[M, N]
        output least: f32[M]
        output most: f32[N]
        output parity: bool[M]
        reduce s in M, r in N
        least[y] = 1000
        least[y] min= I[y, r] * I[y, 0]
        most[x] = -inf
        most[x] max= abs(I[s, x])
        parity[y] = false
        parity[y] ^= I[y, r] > 0
    """,
    "gather": """
        size M, N
        input I: f32[N]
        input at: i32[M]
        bound at in 0 .. N
        table W: f32[3] = [0.25, 0.5, 0.25]
        output O: f32[M]
        reduce r in 3
        O[x] = 0
        O[x] += W[r] * I[clamp(at[x] + i32(r), 0, i32(N) - 1)]
    """,
    "narrow": """
        size M, N
        input I: f16[M, N]
        input J: bf16[M, N]
        output O: f16[M, N]
        output P: bf16[M, N]
        O[y, x] = (I[y, x] * I[y, x] + I[y, x]) / f16(3.5)
        P[y, x] = exp(J[y, x] * bf16(0.25)) - J[y, x]
    """,
    "of 8 bits": """
        size M, N
        input I: f8e4m3[M, N]
        input J: f8e5m2[M, N]
        output O: f8e4m3[M, N]
        output P: f8e5m2[M, N]
        output S: f8e4m3[M]
        output T: f32[M]
        output U: f8e4m3[M]
        reduce r in N
        O[y, x] = (I[y, x] * I[y, x] + I[y, x]) / f8e4m3(3.5)
        P[y, x] = exp(J[y, x] * f8e5m2(0.25)) - f8e5m2(f32(I[y, x]) * 300)
        S[y] = 0
        S[y] += I[y, r] * f8e4m3(0.125)
        T[y] = 0
        T[y] += f32(I[y, r]) * f32(J[y, r])
        U[y] = lowest
        U[y] max= I[y, r]
    """,
    "double": """
        size M, N
        input I: f64[M, N]
        output O: f64[M]
        reduce r in N
        O[y] = 0
        O[y] += sin(I[y, r]) * sqrt(abs(I[y, r]))
    """,
    "branches": """
        size M, N
        input I: f32[M, N]
        output O: u8[M, N]
        output F: f32[M, N]
        a[y, x] = I[y, x] * 0.3 + I[y, 0]
        F[y, x] = select(a[y, x] > 0 and floor(a[y, x]) != 1, tanh(a[y, x]), -a[y, x])
        O[y, x] = u8(round(a[y, x] * 40) + 100)
    """,
    "table": """
        size M
        input I: f32[M, 8]
        output O: f32[M, 8]
        table D: f32[8, 8][u, x] = cos(pi * f32(2 * x + 1) * f32(u) / 16)
        reduce r in 8
        O[y, u] = 0
        O[y, u] += D[u, r] * I[y, r]
    """,
}

SIZES = ({"M": 5, "N": 7, "K": 6}, {"M": 1, "N": 1, "K": 1}, {"M": 9, "N": 67, "K": 9})


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_agrees_with_plain_loops(name: str, sizes: dict[str, int]) -> None:
    p = pipeline(PROGRAMS[name])
    needed = {s.name: sizes[s.name] for s in p.sizes}
    inputs = random_inputs(p, needed)
    if name == "gather":
        inputs["at"] %= np.int32(needed["N"])
    want = oracle.evaluate(p, needed, inputs)
    got = evaluate(p, needed, inputs)
    for output in p.outputs:
        reference = want[output.name]
        assert oracle.compare(got[output.name], reference).ok, output.name
        assert oracle.compare(reference.value, reference).max_error_over_bound <= 2
        if not output.element.is_float and name != "branches":
            assert not reference.bound.any()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", PROGRAMS)
def test_special_values_agree_with_plain_loops(name: str, seed: int) -> None:
    p = pipeline(PROGRAMS[name])
    sizes = {s.name: {"M": 6, "N": 9, "K": 5}[s.name] for s in p.sizes}
    rng = np.random.default_rng(seed)
    inputs = {
        i.name: special_values(i.element, plain.shape, rng) if i.element.is_float else plain
        for i, plain in zip(p.inputs, random_inputs(p, sizes, seed).values(), strict=True)
    }
    if name == "gather":
        inputs["at"] %= np.int32(sizes["N"])
    want = oracle.evaluate(p, sizes, inputs)
    got = evaluate(p, sizes, inputs)
    for output in p.outputs:
        assert oracle.compare(got[output.name], want[output.name]).ok, output.name


def test_empty_outputs() -> None:
    p = pipeline(PROGRAMS["gemm"])
    sizes = {"M": 0, "N": 3, "K": 2}
    assert oracle.evaluate(p, sizes, random_inputs(p, sizes))["C"].value.shape == (0, 3)
    sizes = {"M": 2, "N": 3, "K": 0}
    result = oracle.evaluate(p, sizes, random_inputs(p, sizes))["C"]
    assert not result.value.any() and not result.bound.any()


def test_reading_outside_an_input_names_the_place() -> None:
    p = pipeline("""
        size N
        input A: i32[N]
        input at: i32[N]
        bound at in 0 .. N
        output B: i32[N]
        B[x] = A[at[x]]
    """)
    inputs = {"A": np.arange(4, dtype=np.int32), "at": np.array([0, 1, 9, 3], np.int32)}
    with pytest.raises(HbcError) as failure:
        oracle.evaluate(p, {"N": 4}, inputs)
    message = str(failure.value)
    assert "`A[9]` lies outside the extents 4 of `A` (at x = 2)" in message
    assert "test.hb:7:16: error:" in message
