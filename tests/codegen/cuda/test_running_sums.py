"""Sums of products that are added to others in each iteration of a loop: they begin with these, and run on
into the next iteration, which waits before it needs them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from warp_group_runs import compiled, is_right

from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE
from hbc.codegen.build.nvcc import build_cuda

NEEDED = re.compile(
    r"__syncthreads\(\);|__pipeline_commit\(\);|__pipeline_wait_prior\(1\);"
    r"|ptx_fence_proxy_async\(\);|ptx_wgmma_(?:fence|commit)\(\);|ptx_wgmma_wait<0>\(\);"
)
SIZES = [{"M": 128, "K": 448}]


def program(stages: int, added: str = "part[i, p, j]") -> str:
    """all = all / 2 + w(A B) V for each 64 columns of A B, with w elementwise and rounded to halves."""
    return f"""
size   M, K
param  N: i64 = 64
param  H: i64 = 64
input  A: f16[M, H]
input  B: f16[K, H]
input  V: f16[K, N]
output O: f32[M, N]
reduce h in H, p in K / 64, q in 64
dot[i, x, k]   = 0
dot[i, x, k]  += f32(A[i, h]) * f32(B[64 * x + k, h])
w[i, x, k]     = f16(max(dot[i, x, k], 0) * 0.25)
part[i, x, j]  = 0
part[i, x, j] += f32(w[i, x, q]) * f32(V[64 * x + q, j])
all[i, j]      = 0
all[i, j]      = 0.5 * all[i, j] + {added}
O[i, j]        = all[i, j]
schedule s for cuda {{
    O.split(i, io, ii, 128).split(ii, iw, iv, 64)
    O.gpu_blocks(io).gpu_threads(iw).vectorize(iv).vectorize(j)
    all.compute_at(O, io).store_in(wgmma_accumulator)
    all.split(i, iw, iv, 64).gpu_threads(iw).vectorize(iv).vectorize(j)
    all.update.split(i, iw, iv, 64).reorder(p, iw, iv, j).gpu_threads(iw)
    all.update.vectorize(iv).vectorize(j).pipeline(p, {stages})
    part.compute_at(all.update, p).store_in(wgmma_accumulator)
    part.split(i, iw, iv, 64).reorder(x, iw, iv, j).gpu_threads(iw).vectorize(iv).vectorize(j)
    part.update.split(i, iw, iv, 64).reorder(x, iw, iv, j, q).gpu_threads(iw)
    part.update.atomic().vectorize(iv).vectorize(j).vectorize(q)
    dot.compute_at(all.update, p).store_in(wgmma_accumulator)
    dot.split(i, iw, iv, 64).reorder(x, iw, iv, k).gpu_threads(iw).vectorize(iv).vectorize(k)
    dot.update.split(h, ht, hv, 16).split(i, iw, iv, 64).reorder(x, iw, ht, iv, k, hv).gpu_threads(iw)
    dot.update.unroll(ht).atomic().vectorize(iv).vectorize(k).vectorize(hv)
    w.compute_at(all.update, p).store_in(wgmma_accumulator)
    w.split(i, iw, iv, 64).reorder(x, iw, iv, k).gpu_threads(iw).vectorize(iv).vectorize(k)
    A.in(dot).compute_at(O, io).store_in(shared).vectorize(h, 8)
    B.in(dot).compute_at(all.update, p).store_in(shared).vectorize(h, 8)
    V.in(part).compute_at(all.update, p).store_in(shared).vectorize(j, 8)
}}
"""


@pytest.mark.parametrize("stages", [2, 4])
def test_right(stages: int, tmp_path: Path) -> None:
    p, kernel, source = compiled(program(stages))
    assert is_right(p, kernel, source, [*SIZES, {"M": 130, "K": 64}, {"M": 64, "K": 0}], tmp_path)


def test_sums_begin_with_others() -> None:
    """There are none of their own; where something else is done to them there are."""
    text = compiled(program(4))[2].text
    whole = text[: text.index("part_0")] if "part_0" in text else text
    assert "all_0[e] = 0.5f * all_0[e];" in whole or "all_0[e] *= 0.5f;" in whole
    assert re.search(r"ptx_wgmma_m64n64k64_f32_f16<1>\(all_0,", whole)
    other = compiled(program(4, "2 * part[i, p, j]"))[2].text
    assert not re.search(r"ptx_wgmma_m64n64k64_f32_f16<1>\(all_0,", other)


def test_each_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the loop one wait is left, for both products; the one behind it waits for the last."""
    p, kernel, source = compiled(program(4))
    assert is_right(p, kernel, source, SIZES, tmp_path)
    text = source.text
    start = text.index("for (index_t p = 0")
    product = text.index("<1>(all_0", start)
    end = text.index("ptx_wgmma_wait<0>();", product) + len("ptx_wgmma_wait<0>();")
    missing = [
        (text[: m.start()] + text[m.end() :], m[0]) for m in NEEDED.finditer(text, start, end)
    ]
    assert [what for _, what in missing].count("ptx_wgmma_wait<0>();") == 2
    for changed, what in missing:
        for order in ("forward", "backward"):
            monkeypatch.setenv(ORDER_VARIABLE, order)
            if not is_right(p, kernel, replace(source, text=changed), SIZES, tmp_path):
                break
        else:
            raise AssertionError(f"nobody misses {what}")


@pytest.mark.usefixtures("nvcc")
def test_nvcc_takes_it(tmp_path: Path) -> None:
    """No spills; and of what ptxas would say where it waits for each product, nothing is said."""
    used = build_cuda(compiled(program(4))[2], tmp_path / "k.cubin", "cubin", ("sm_90",))
    assert all(r.spills == r.stack == 0 for r in used)
