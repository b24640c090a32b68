"""Several schedules for a GPU: the host takes one by the sizes, and launches its kernels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from cuda_library import CudaLibrary, cuda_of

TEXT = """
kernel twice
size H, W
input I: f32[H, W]
output O: f32[H, W]
rows[y, x] = I[y, x] * 2
O[y, x] = rows[y, x] + 1
schedule wide for cuda where W % 128 == 0 and H >= 4 {
    O.split(x, xo, xi, 128, tail = exact).gpu_blocks(y, xo).gpu_threads(xi)
}
schedule tall for cuda where W < 16 {
    O.split(y, yo, yi, 64).reorder(yo, x, yi).gpu_blocks(yo, x).gpu_threads(yi)
    rows.compute_root()
}
"""


def test_each_is_launched_at_its_sizes(tmp_path: Path) -> None:
    library = CudaLibrary(cuda_of(TEXT), tmp_path)
    for h, w in ((5, 256), (3, 128), (70, 3), (64, 15), (9, 130), (1, 1)):
        given = np.arange(h * w, dtype=np.float32).reshape(h, w)
        found = np.full((h, w), np.nan, np.float32)
        assert library.call("", h, w, given, found) == 0
        assert (found == given * 2 + 1).all(), (h, w)
