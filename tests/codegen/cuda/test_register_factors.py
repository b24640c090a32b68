"""Products by groups of four warps whose first factor is in registers: what they are computed from, what is
missed when it is not there, and what nvcc makes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from suite_tables import WHOLE
from warp_group_runs import compiled, each_is_missed, is_right

from hbc.codegen.build.nvcc import build_cuda

TABLE = [(t, n, order) for t in ("f16", "bf16") for n in (64, 128, 256) for order in ("kj", "jk")]
SOME = TABLE if WHOLE else [("f16", 64, "kj"), ("bf16", 128, "jk"), ("f16", 256, "kj")]
NEEDED = re.compile(
    r"__syncthreads\(\);|__pipeline_commit\(\);|__pipeline_wait_prior\(0\);"
    r"|ptx_fence_proxy_async\(\);|ptx_wgmma_(?:fence|commit)\(\);|ptx_wgmma_wait<0>\(\);"
)


def program(t: str, n: int, order: str) -> str:
    """O = w(A B) V, 64 columns of A B at a time, with w elementwise and rounded to `t`. `order`: of V."""
    rows = {"kj": "K, N", "jk": "N, K"}[order]
    read = {"kj": "64 * p + q, j", "jk": "j, 64 * p + q"}[order]
    last = {"kj": "j", "jk": "p"}[order]
    return f"""
size   M, K
param  N: i64 = {n}
param  H: i64 = 64
input  A: {t}[M, H]
input  B: {t}[K, H]
input  V: {t}[{rows}]
output O: f32[M, N]
reduce h in H, p in K / 64, q in 64
dot[i, x, k]  = 0
dot[i, x, k] += f32(A[i, h]) * f32(B[64 * x + k, h])
w[i, x, k]    = {t}(max(dot[i, x, k], 0) * 0.25)
sum[i, j]     = 0
sum[i, j]    += f32(w[i, p, q]) * f32(V[{read}])
O[i, j]       = sum[i, j]
schedule s for cuda {{
    O.split(i, io, ii, 128).split(ii, iw, iv, 64)
    O.gpu_blocks(io).gpu_threads(iw).vectorize(iv).vectorize(j)
    sum.compute_at(O, io).store_in(wgmma_accumulator)
    sum.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    sum.update.split(i, iw, iv, 64).reorder(p, iw, iv, j, q).gpu_threads(iw)
    sum.update.atomic().vectorize(iv).vectorize(j).vectorize(q).pipeline(p, 2)
    dot.compute_at(sum.update, p).store_in(wgmma_accumulator)
    dot.split(i, iw, iv, 64).reorder(x, iw, iv, k).gpu_threads(iw).vectorize(iv).vectorize(k)
    dot.update.split(h, ht, hv, 16).split(i, iw, iv, 64).reorder(x, iw, ht, iv, k, hv).gpu_threads(iw)
    dot.update.unroll(ht).atomic().vectorize(iv).vectorize(k).vectorize(hv)
    w.compute_at(sum.update, p).store_in(wgmma_accumulator)
    w.split(i, iw, iv, 64).reorder(x, iw, iv, k).gpu_threads(iw).vectorize(iv).vectorize(k)
    A.in(dot).compute_at(O, io).store_in(shared).vectorize(h, 8)
    B.in(dot).compute_at(sum.update, p).store_in(shared).vectorize(h, 8)
    V.in(sum).compute_at(sum.update, p).store_in(shared).vectorize({last}, 8)
}}
"""


@pytest.mark.parametrize(("t", "n", "order"), SOME)
def test_right(t: str, n: int, order: str, tmp_path: Path) -> None:
    """Whole tiles and tails."""
    p, kernel, source = compiled(program(t, n, order))
    assert f"ptx_wgmma_m64n{n}k64_f32_{t}<{int(order == 'kj')}>(" in source.text
    sizes = [{"M": 130, "K": 192}, {"M": 128, "K": 64}]
    assert is_right(p, kernel, source, sizes, tmp_path)


def test_each_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fences, waits and barriers; and a store to registers that a product is reading is seen."""
    p, kernel, source = compiled(program("f16", 64, "kj"))
    sizes = [{"M": 128, "K": 256}]
    assert is_right(p, kernel, source, sizes, tmp_path)
    text = source.text
    product = text.index("ptx_wgmma_m64n64k64_f32_f16<1>(")
    start = text.rindex("for (index_t p = 0", 0, product)
    end = text.index("ptx_wgmma_wait<0>", product) + len("ptx_wgmma_wait<0>();")
    missing = [
        (text[: m.start()] + text[m.end() :], m[0]) for m in NEEDED.finditer(text, start, end)
    ]
    assert {what for _, what in missing} >= {
        "__syncthreads();", "ptx_fence_proxy_async();", "ptx_wgmma_commit();",
        "ptx_wgmma_fence();", "ptx_wgmma_wait<0>();",
    }  # fmt: skip
    store = text.index("ptx_wgmma_commit();", product)
    missing.append((text[:store] + "w_0[3] = 7; " + text[store:], "a store beside a product"))
    each_is_missed(p, kernel, source, missing, sizes, tmp_path, monkeypatch)


@pytest.mark.parametrize(("t", "n", "order"), SOME)
@pytest.mark.usefixtures("nvcc")
def test_nvcc_takes_it(t: str, n: int, order: str, tmp_path: Path) -> None:
    """No spills; and of what ptxas would say where it waits for each product, nothing is said."""
    _, _, source = compiled(program(t, n, order))
    used = build_cuda(source, tmp_path / "k.cubin", "cubin", ("sm_90",))
    assert {r.arch for r in used} == {"sm_90a"}
    assert all(r.spills == r.stack == 0 for r in used)
