"""Pins what a caller learns when the GPU fails: which kernel, its launch, and CUDA's own words."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, cuda_of, poisoned

TWO = """
kernel two
size N
input A: f32[N]
output C: f32[N]
half[i] = 0.5 * A[i]
C[i] = half[i] + half[N - 1 - i]
schedule simt for cuda {
    C.split(i, io, ii, 64).gpu_blocks(io).gpu_threads(ii)
    half.compute_root().split(i, io, ii, 32).gpu_blocks(io).gpu_threads(ii)
}
"""
HALF = "two_half<<<(4, 1, 1), 32, 0 bytes of shared memory>>>"
C = "two_C<<<(2, 1, 1), 64, 0 bytes of shared memory>>>"
ILLEGAL = "an illegal memory access was encountered (cudaErrorIllegalAddress)"
SIZE = 128


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> CudaLibrary:
    return CudaLibrary(cuda_of(TWO), tmp_path_factory.mktemp("two"))


@pytest.fixture
def two(built: CudaLibrary, tmp_path: Path) -> CudaLibrary:
    """A copy of its own: a GPU that failed stays broken."""
    copy = tmp_path / "two.so"
    shutil.copy(built.library._name, copy)
    return built.again(copy)


def arrays() -> tuple[np.ndarray, np.ndarray]:
    return np.ones(SIZE, np.float32), poisoned((SIZE,))


def test_nothing_fails(two: CudaLibrary) -> None:
    a, c = arrays()
    assert two.call("_device", SIZE, a, c, None) == 0
    assert two.call("_wait", None) == 0
    assert two.text("_cuda_error") == "no CUDA error"
    assert (c == 1).all()


def test_a_kernel_fails_while_it_runs(two: CudaLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launch succeeds; who waits learns which kernels it can have been."""
    monkeypatch.setenv("CUDA_ON_CPU_FAILS", "two_half")
    a, c = arrays()
    assert two.call("_device", SIZE, a, c, None) == 0
    code = two.call("_wait", None)
    assert "CUDA refused" in two.text("_strerror", code)
    assert two.text("_cuda_error") == f"one of {HALF}, {C}: {ILLEGAL}"
    assert two.call("_wait", None) == code  # it stays so


def test_from_host_arrays(two: CudaLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_ON_CPU_FAILS", "two_C")
    a, c = arrays()
    assert two.call("", SIZE, a, c) != 0
    assert two.text("_cuda_error") == f"one of {HALF}, {C}: {ILLEGAL}"
    assert (c.view(np.uint8) == 0xA5).all()


def test_launches_that_wait(two: CudaLibrary, monkeypatch: pytest.MonkeyPatch) -> None:
    """CUDA_LAUNCH_BLOCKING tells which kernel it was."""
    monkeypatch.setenv("CUDA_ON_CPU_FAILS", "two_half")
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    a, c = arrays()
    code = two.call("_device", SIZE, a, c, None)
    assert "CUDA refused" in two.text("_strerror", code)
    assert two.text("_cuda_error") == f"{HALF}: {ILLEGAL}"


@pytest.mark.parametrize("suffix", ["", "_device"])
def test_memory_of_a_device_that_failed(
    two: CudaLibrary, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    """It is not memory that is missing then: the code says that CUDA refused."""
    monkeypatch.setenv("CUDA_ON_CPU_FAILS", "two_C")
    a, c = arrays()
    assert two.call("", SIZE, a, c) != 0
    code = two.call(suffix, SIZE, a, c, *([None] if suffix else []))
    assert "CUDA refused" in two.text("_strerror", code)
    assert "illegal" in two.text("_cuda_error")


@pytest.mark.parametrize(
    ("suffix", "most", "what"),
    [
        ("_device", 4 * SIZE - 1, "device memory for `half`, 0.000512 MB"),
        ("", 4 * SIZE - 1, "device memory for `A`, 0.000512 MB"),
    ],
)
def test_out_of_memory(
    two: CudaLibrary, monkeypatch: pytest.MonkeyPatch, suffix: str, most: int, what: str
) -> None:
    """Which array, how much; and the next call, which asks for less, is not blamed for it."""
    monkeypatch.setenv("CUDA_ON_CPU_MEMORY", str(most))
    a, c = arrays()
    stream = [None] if suffix else []
    code = two.call(suffix, SIZE, a, c, *stream)
    assert two.text("_strerror", code) == "out of memory"
    assert two.text("_cuda_error") == f"{what}: out of memory (cudaErrorMemoryAllocation)"
    assert two.call(suffix, SIZE // 2, a[::2].copy(), c[: SIZE // 2], *stream) == 0
