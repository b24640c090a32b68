"""What strides are multiples of is tested before a launch, which chooses one of two kernels by it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from .cuda_library import CudaLibrary, cuda_of

KERNEL = """
size M, N, K
input A: f16[M, K]
input B: f16[K, N]
output C: f32[M, N]
reduce k in K
acc[i, j] = 0
acc[i, j] += f32(A[i, k]) * f32(B[k, j])
C[i, j] = select(j <= i, acc[i, j], 0)
schedule s for cuda {
  C.tile(i, j, io, jo, ii, ji, 32, 32).tile(ii, ji, iw, jt, iv, jv, 16, 16).gpu_blocks(io, jo)
  C.gpu_threads(iw).unroll(jt).vectorize(iv).vectorize(jv)
  acc.compute_at(C, jo).store_in(mma_accumulator).tile(i, j, iw, jt, iv, jv, 16, 16)
  acc.gpu_threads(iw).unroll(jt).vectorize(iv).vectorize(jv)
  acc.update.split(k, ko, kv, 16).tile(i, j, iw, jt, iv, jv, 16, 16).reorder(ko, iw, jt, iv, jv, kv)
  acc.update.gpu_threads(iw).unroll(jt).atomic().vectorize(iv).vectorize(jv).vectorize(kv).pipeline(ko, 3)
  A.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(k, 8)
  B.in(acc).compute_at(acc.update, ko).store_in(shared).vectorize(j, 8)
}
"""
KERNELS = re.compile(r"static __device__ __forceinline__ void (\w+)_block\(.*?^}", re.M | re.S)


def test_the_first_kernel_asks_for_nothing() -> None:
    """It has no copies of single elements for rows that are not aligned; the second has both."""
    text = cuda_of(KERNEL).text
    aligned, either = (m[0] for m in KERNELS.finditer(text))
    assert "_stride0 % " not in aligned
    assert "_stride0 % 8 == 0" in either
    assert "if (A_stride0 % 8 == 0 && B_stride0 % 8 == 0 && C_stride0 % 2 == 0)" in text
    assert len(aligned) < 0.8 * len(either)


def test_slots_are_counted_and_not_divided() -> None:
    """Which of three slots an iteration uses is no remainder."""
    text = cuda_of(KERNEL).text
    assert "ko_slot = ko_slot == 2 ? 0 : ko_slot + 1;" in text
    assert not re.search(r"ko\b[^;]* % 3", text)


def test_masks_are_left_out_where_all_elements_are_there() -> None:
    """Blocks below the diagonal store without a condition for each element, those on it with one."""
    aligned = next(KERNELS.finditer(cuda_of(KERNEL).text))[0]
    assert re.search(r"if \(jo < io\) {\n *// C\.gpu_threads\(iw\)", aligned)


@pytest.mark.parametrize("padding", [(0, 0, 0), (3, 0, 0), (0, 0, 1), (8, 16, 2)])
@pytest.mark.parametrize("sizes", [(64, 96, 80), (45, 37, 33)])
def test_any_strides(sizes: tuple[int, int, int], padding: tuple[int, ...], tmp_path: Path) -> None:
    m, n, k = sizes
    random = np.random.default_rng(3)
    pa, pb, pc = padding
    a = random.integers(-8, 9, (m, k + pa)).astype(np.float16)
    b = random.integers(-8, 9, (k, n + pb)).astype(np.float16)
    c = np.full((m, n + pc), 77, np.float32)
    made = CudaLibrary(cuda_of(KERNEL), tmp_path)
    assert made.call("_strided", m, n, k, a, k + pa, b, n + pb, c, n + pc) == 0
    wanted = np.tril(a[:, :k].astype(np.float32) @ b[:, :n].astype(np.float32))
    assert np.array_equal(c[:, :n], wanted)
    assert (c[:, n:] == 77).all()
