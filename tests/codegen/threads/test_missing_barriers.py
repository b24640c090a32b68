"""ThreadSanitizer on the CPU reports every barrier of a kernel that is taken away, and no race otherwise.

All of it is one program: the barrier to leave out, and the sizes, are its arguments.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from barrier_programs import NONE, RACE, program
from gpu_kernels import lowered, pipeline_of

from hbc.cli.pipeline import choose_schedule, load_pipeline, lower_to_kernel
from hbc.ir.lang.target import TARGETS

SHARED = (
    ("gemm", "staged"), ("transpose", "shared"), ("fragments", "staged"), ("fragments", "per_warp"),
    ("atomics", "inblock"),
)  # fmt: skip
SIZES = {
    "gemm": ((16, 32, 32), (17, 36, 11)),
    "transpose": ((33, 65),),
    "atomics": ((13, 15), (70, 16)),
    "fragments": ((32, 16, 32), (33, 17, 40)),
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("missing")


@pytest.mark.parametrize(("name", "schedule"), SHARED)
def test_every_missing_barrier_is_found(name: str, schedule: str, folder: Path) -> None:
    made = program(pipeline_of(name), lowered(name, schedule), folder)
    assert made.count >= 2
    if made.status(NONE, (1,) * len(SIZES[name][0])) not in (0, RACE):
        pytest.skip("ThreadSanitizer does not run here")
    assert [made.status(NONE, sizes) for sizes in SIZES[name]] == [0] * len(SIZES[name])
    assert made.not_missed(SIZES[name]) == []


# Sizes at which each barrier of a sample's code is come to: whole pieces, and pieces at edges, with rows that
# allow copies of 16 bytes and rows that do not, for which the host launches another kernel.
SAMPLES = {
    ("conv1d", "wmma"): ((5, 300, 12), (4, 256, 16)),
    ("conv_layer", "wmma"): (
        (1, 5, 67, 19, 17),
        (1, 4, 64, 32, 16),
        (1, 5, 67, 24, 24),
        (1, 4, 64, 33, 17),
    ),
    ("gemm_f16", "wmma_64"): ((64, 64, 72), (90, 90, 40), (90, 88, 40), (64, 64, 71)),
    ("gemm_f16", "mma_persistent"): (
        (384, 128, 72),
        (128, 128, 40),
        (130, 140, 72),
        (130, 136, 72),
        (384, 128, 71),
        (128, 128, 39),
    ),
    ("histogram", "shared"): ((5000,),),
}
FOLDER = Path(__file__).resolve().parents[3] / "samples" / "cuda"


@pytest.mark.parametrize(("name", "schedule"), SAMPLES)
def test_every_missing_barrier_of_samples_is_found(name: str, schedule: str, folder: Path) -> None:
    p = load_pipeline(FOLDER / f"{name}.hb", {})
    kernel = lower_to_kernel(p, choose_schedule(p, "cuda", schedule), TARGETS["cuda"])
    made, sizes = program(p, kernel, folder), SAMPLES[name, schedule]
    if made.status(NONE, (1,) * len(p.sizes)) not in (0, RACE):
        pytest.skip("ThreadSanitizer does not run here")
    assert [made.status(NONE, s) for s in sizes] == [0] * len(sizes)
    assert made.not_missed(sizes) == []
