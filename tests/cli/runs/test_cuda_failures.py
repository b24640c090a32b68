"""What CUDA refuses, or a kernel does wrong, on the processor in a GPU's place: one line with CUDA's error,
the kernel and its launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..conftest import Command

PROGRAM = """
size   M, N
input  I: f32[M, N]
output O: f32[M, N]
O[y, x] = I[y, x] * 2.0
schedule s for cuda { O.tile(y, x, yo, xo, yi, xi, 4, 64).gpu_blocks(yo, xo).gpu_threads(yi, xi) }
example { M = 6; N = 70; I = random(1) }
"""


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("CUDA_ON_CPU_FAILS", "twice_O", "twice_O<<<(2, 2, 1), 256, 0 bytes of shared memory>>>: an illegal"),
        ("CUDA_ON_CPU_THREADS", "128", "twice_O<<<(2, 2, 1), 256, 0 bytes of shared memory>>>: invalid"),
        ("CUDA_ON_CPU_MEMORY", "1000", "device memory for `I`, 0.00168 MB: out of memory"),
    ],
)  # fmt: skip
def test_one_line(
    variable: str, value: str, said: str, tmp_path: Path, hbc_process: Command
) -> None:
    path = tmp_path / "twice.hb"
    path.write_text(PROGRAM, encoding="utf-8")
    done = hbc_process("run", path, "--target", "cuda", "--on-cpu", **{variable: value})
    assert done.code == 1
    assert done.err.startswith("error: `twice` failed: ")
    assert said in done.err
    assert done.err.count("\n") == 1
