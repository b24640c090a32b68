"""A matrix product of half floats with single-precision results in Triton."""

import torch
import triton
import triton.language as tl

_BLOCKS = [
    triton.Config({"BM": m, "BN": n, "BK": k}, num_stages=stages, num_warps=warps)
    for m, n, k, stages, warps in (
        (128, 256, 64, 3, 8), (128, 128, 32, 4, 4), (64, 128, 32, 4, 4), (64, 64, 32, 5, 2),
    )
]  # fmt: skip


@triton.autotune(configs=_BLOCKS, key=["m", "n", "k"])
@triton.jit
def _product(
    a, b, c, m, n, k, a_row, b_row, c_row,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        inside = start + steps < k
        left = tl.load(
            a + rows[:, None] * a_row + (start + steps)[None, :],
            mask=(rows[:, None] < m) & inside[None, :], other=0.0,
        )  # fmt: skip
        right = tl.load(
            b + (start + steps)[:, None] * b_row + columns[None, :],
            mask=inside[:, None] & (columns[None, :] < n), other=0.0,
        )  # fmt: skip
        sums = tl.dot(left, right, sums)
    place = c + rows[:, None] * c_row + columns[None, :]
    tl.store(place, sums, mask=(rows[:, None] < m) & (columns[None, :] < n))


def gemm(a, b):
    """The product of two matrices on the GPU."""
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=torch.float32)

    def grid(block):
        return triton.cdiv(m, block["BM"]), triton.cdiv(n, block["BN"])

    _product[grid](a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0))
    return c
