"""Blocks at once, beside what NVIDIA's occupancy calculator says of the same kernels."""

from __future__ import annotations

import pytest

from hbc.codegen.build.occupancy import Occupancy, occupancy


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "shared", "expected"),
    [
        ("sm_80", 256, 32, 0, Occupancy(8, 100, "threads")),
        ("sm_80", 256, 128, 0, Occupancy(2, 25, "registers")),
        ("sm_80", 128, 225, 49_152, Occupancy(2, 12, "registers")),
        ("sm_80", 256, 101, 57_344, Occupancy(2, 25, "registers")),
        ("sm_80", 128, 64, 57_344, Occupancy(2, 12, "shared memory")),
        ("sm_86", 256, 32, 0, Occupancy(6, 100, "threads")),
        ("sm_90", 1024, 65, 0, Occupancy(0, 0, "registers")),
        ("sm_90a", 32, 16, 0, Occupancy(32, 50, "blocks")),
        ("sm_75", 128, 32, 8_192, Occupancy(8, 100, "threads")),
        ("sm_60", 128, 32, 8_192, None),
    ],
)
def test_blocks_at_once(
    arch: str, threads: int, registers: int, shared: int, expected: Occupancy | None
) -> None:
    assert occupancy(arch, threads, registers, shared) == expected
