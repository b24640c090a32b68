"""The histogram sample: counts in shared memory and in the device's, in several orders of threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary
from sample_checks import cuda_of

from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE


@pytest.mark.parametrize("schedule", ["shared", "simt"])
def test_histogram(schedule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = cuda_of("histogram", schedule)
    assert "atomicAdd(&H[" in source.text
    assert ("__shared__" in source.text) == (schedule == "shared")
    library = CudaLibrary(source, tmp_path)
    random = np.random.default_rng(3)
    for n in (0, 1, 4095, 9000):
        values = (random.integers(0, 256, n) // 2 * 2).astype(np.uint8)
        for order in ("forward", "backward", "2"):
            monkeypatch.setenv(ORDER_VARIABLE, order)
            counts = np.full(256, -7, np.int32)
            assert library.call("", n, values, counts) == 0
            assert np.array_equal(counts, np.bincount(values, minlength=256))
