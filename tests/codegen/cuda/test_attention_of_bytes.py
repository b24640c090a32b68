"""Fused attention in 8 bits by `mma.sync`: scores and weights stay in the registers of their lanes.

Queries, keys, values and weights are bytes and sums of products integers, or floats of 8 bits and f32; the
softmax is f32. NumPy does the same in double precision, block by block.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cuda_library import CudaLibrary, cuda_of
from numpy.typing import NDArray

from hbc.codegen.build.nvcc import build_cuda

BLOCK = 64  # keys at a time
BYTES = {"factor": "i8", "sum": "i32", "weight": "u8", "most": "255.0 + 0.5"}
FLOATS = {"factor": "f8e4m3", "sum": "f32", "weight": "f8e4m3", "most": "448.0"}
PROGRAM = """
size B, L
param D: i64 = 64
input Q: $factor[B, L, D]
input K: $factor[B, L, D]
input V: $factor[B, D, L]
input scale: f32[B]
output O: f32[B, L, D]
require 1 <= L
def scaled(x) = x * (1.4426950408889634 / sqrt(f32(D)))
keys[b, n, l, d] = clamp_edge(K)[b, 64 * n + l, d]
values[b, n, e, l] = clamp_edge(V)[b, e, 64 * n + l]
reduce d in D, u in 64, v in 64, j in 64, t in (L + 63) / 64, r in (L + 63) / 64
dot[b, i, n, l] = 0
dot[b, i, n, l] += $sum(Q[b, i, d]) * $sum(keys[b, n, l, d])
score[b, i, n, l] = select(64 * n + l < L, f32(dot[b, i, n, l]) * scale[b], -inf)
best[b, i, n] = -inf
best[b, i, n] max= score[b, i, n, u]
most[b, i, n] = -inf
most[b, i, r] = max(most[b, i, r - 1], best[b, i, r])
power[b, i, n, l] = exp2(scaled(score[b, i, n, l]) - scaled(most[b, i, n]))
weight[b, i, n, l] = $weight(power[b, i, n, l] * $most)
sum[b, i, n] = 0
sum[b, i, n] += $sum(weight[b, i, n, v])
less[b, i, n] = exp2(scaled(most[b, i, n - 1]) - scaled(most[b, i, n]))
part[b, i, n, e] = 0
part[b, i, n, e] += $sum(weight[b, i, n, j]) * $sum(values[b, n, e, j])
total[b, i] = 0.0
total[b, i] = less[b, i, t] * total[b, i] + f32(sum[b, i, t])
mean[b, i, e] = 0.0
mean[b, i, e] = less[b, i, t] * mean[b, i, e] + f32(part[b, i, t, e])
new[b, i] = 1 / total[b, i]
O[b, i, e] = mean[b, i, e] * new[b, i]
schedule mma for cuda {
  O.split(i, io, ii, 64).split(ii, iw, iv, 16).split(e, et, ev, 16).reorder(io, b, iw, et, iv, ev)
  O.gpu_blocks(io, b).gpu_threads(iw).unroll(et).vectorize(iv).vectorize(ev)
  Q.in(dot).compute_at(O, b).store_in(shared).pad_storage(d, D + 16).vectorize(d, 16)
  new.compute_at(O, b).store_in(shared).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
  mean.compute_at(O, b).store_in(mma_accumulator)
  mean.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(b, iw, et, iv, ev).gpu_threads(iw)
  mean.unroll(et).vectorize(iv).vectorize(ev)
  mean.update.split(i, iw, iv, 16).split(e, et, ev, 16).reorder(b, t, iw, et, iv, ev).gpu_threads(iw)
  mean.update.unroll(et).vectorize(iv).vectorize(ev).pipeline(t, 2).compute_with(total.update, t)
  less.compute_at(mean.update, t).store_in(registers).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
  total.compute_at(O, b).store_in(shared).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
  total.update.split(i, iw, il, 16).reorder(b, t, iw, il).gpu_threads(iw).gpu_lanes(il).pipeline(t, 2)
  most.store_at(O, b).compute_at(mean.update, t).store_in(registers).reorder_storage(b, n, i)
  most.split(i, iw, il, 16).reorder(b, n, iw, il).gpu_threads(iw).gpu_lanes(il)
  most.update.split(i, iw, il, 16).reorder(b, r, iw, il).gpu_threads(iw).gpu_lanes(il)
  best.compute_at(mean.update, t).store_in(registers).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
  best.update.split(i, iw, iv, 16).split(u, ut, uv, 16).reorder(b, n, iw, ut, iv, uv).gpu_threads(iw)
  best.update.unroll(ut).atomic().vectorize(iv).vectorize(uv)
  sum.compute_at(mean.update, t).store_in(registers).split(i, iw, il, 16).gpu_threads(iw).gpu_lanes(il)
  sum.update.split(i, iw, iv, 16).split(v, vt, vv, 32).reorder(b, n, iw, vt, iv, vv).gpu_threads(iw)
  sum.update.unroll(vt).atomic().vectorize(iv).vectorize(vv)
  keys.compute_at(mean.update, t).store_in(shared).pad_storage(d, D + 16).vectorize(d, 16)
  dot.compute_at(mean.update, t).store_in(mma_accumulator)
  dot.split(i, iw, iv, 16).split(l, lt, lv, 16).reorder(b, n, iw, lt, iv, lv).gpu_threads(iw)
  dot.unroll(lt).vectorize(iv).vectorize(lv)
  dot.update.split(d, dt, dv, 32).split(i, iw, iv, 16).split(l, lt, lv, 16)
  dot.update.reorder(b, n, iw, dt, lt, iv, lv, dv).gpu_threads(iw).unroll(lt)
  dot.update.atomic().vectorize(iv).vectorize(lv).vectorize(dv)
  power.compute_at(mean.update, t).store_in(mma_accumulator)
  power.split(i, iw, iv, 16).split(l, lt, lv, 16).reorder(b, n, iw, lt, iv, lv).gpu_threads(iw)
  power.unroll(lt).vectorize(iv).vectorize(lv)
  weight.compute_at(mean.update, t).store_in(mma_accumulator)
  weight.split(i, iw, iv, 16).split(l, lt, lv, 32).reorder(b, n, iw, lt, iv, lv).gpu_threads(iw)
  weight.unroll(lt).vectorize(iv).vectorize(lv)
  values.compute_at(mean.update, t).store_in(shared).pad_storage(l, 80).vectorize(l, 16)
  part.compute_at(mean.update, et).store_in(mma_accumulator)
  part.split(e, et, ev, 16).reorder(b, n, et, i, ev).unroll(et).vectorize(i, 16).vectorize(ev)
  part.update.split(j, jt, jv, 32).split(e, et, ev, 16).reorder(b, n, jt, et, i, ev, jv)
  part.update.unroll(jt).unroll(et).atomic().vectorize(i, 16).vectorize(ev).vectorize(jv)
}
"""


def program(types: Mapping[str, str]) -> str:
    return Template(PROGRAM).substitute(types)


def to_weights(power: NDArray[np.float64], types: Mapping[str, str]) -> NDArray[np.float64]:
    """As the kernel rounds them."""
    if types is BYTES:
        return np.floor(power * 255 + 0.5)
    rounded: NDArray[np.float64] = (power * 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
    return rounded


def by_blocks(
    q: NDArray[Any], k: NDArray[Any], v: NDArray[Any], scale: float, types: Mapping[str, str]
) -> NDArray[np.float64]:
    """The same sums in double precision, weights rounded to 8 bits against the largest score so far."""
    heads, length, depth = q.shape
    scores = np.einsum("bid,bld->bil", q.astype(float), k.astype(float)) * scale / np.sqrt(depth)
    most = np.full((heads, length, 1), -np.inf)
    total, mean = np.zeros((heads, length, 1)), np.zeros((heads, length, depth))
    for n in range(0, length, BLOCK):
        part = scores[:, :, n : n + BLOCK]
        new = np.maximum(most, part.max(-1, keepdims=True))
        weight, less = to_weights(np.exp(part - new), types), np.exp(most - new)
        total = less * total + weight.sum(-1, keepdims=True)
        mean = less * mean + np.einsum("bil,bdl->bid", weight, v[:, :, n : n + BLOCK].astype(float))
        most = new
    return mean / total


@pytest.mark.parametrize("types", [BYTES, FLOATS], ids=lambda t: t["factor"])
@pytest.mark.parametrize(("heads", "length"), [(2, 128), (1, 101)])
def test_right(heads: int, length: int, types: Mapping[str, str], tmp_path: Path) -> None:
    random = np.random.default_rng(3)

    def draw(*shape: int) -> NDArray[Any]:
        if types is BYTES:
            return random.integers(-99, 100, shape).astype(np.int8)
        return (30 * random.standard_normal(shape)).astype(ml_dtypes.float8_e4m3fn)

    q, k, v = draw(heads, length, 64), draw(heads, length, 64), draw(heads, 64, length)
    got = np.full((heads, length, 64), 777, np.float32)
    library = CudaLibrary(cuda_of(program(types)), tmp_path)
    assert library.call("", heads, length, q, k, v, np.full(heads, 1e-3, np.float32), got) == 0
    assert np.allclose(got, by_blocks(q, k, v, 1e-3, types), rtol=0, atol=1e-3)


@pytest.mark.parametrize("types", [BYTES, FLOATS], ids=lambda t: t["factor"])
def test_scores_and_weights_stay_in_registers(types: Mapping[str, str]) -> None:
    source = cuda_of(program(types)).text
    shared = set(re.findall(r"__shared__ \S+ \S+ (\w+)\[", source))
    assert shared == {"Q_in_dot", "keys", "values", "total", "new_"}


@pytest.mark.parametrize(("types", "arch"), [(BYTES, "sm_80"), (FLOATS, "sm_90")])
@pytest.mark.usefixtures("nvcc")
def test_nvcc_spills_nothing(types: Mapping[str, str], arch: str, tmp_path: Path) -> None:
    used = build_cuda(cuda_of(program(types)), tmp_path / "k.cubin", "cubin", (arch,))
    assert all(r.spills == r.stack == 0 for r in used)
