"""The convolutions for GPUs: their schedules agree with the oracle on the processor, at sizes with tails
and without, and nvcc keeps their fragments in registers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cuda_library import CudaLibrary, architectures, poisoned

from hbc.cli.pipeline import choose_schedule, lower_to_kernel
from hbc.codegen.build.nvcc import build_cuda
from hbc.codegen.cuda.file import emit_cuda
from hbc.codegen.cuda.source import CudaSource
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import compare, evaluate
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

FOLDER = Path(__file__).resolve().parents[3] / "samples" / "cuda"
TARGET = TARGETS["cuda"]
WHOLE = {"H": 4, "W": 512, "T": 16}
ODD = {"H": 3, "W": 261, "T": 5}
SIZES = {
    "conv1d": (WHOLE, ODD),
    "conv2d": (WHOLE, ODD),
    "downsample": (WHOLE, ODD),
    "upsample": ({**WHOLE, "H": 8}, ODD),
}

SCHEDULES = [(name, schedule) for name in SIZES for schedule in ("wmma", "mma", "simt")]
SCHEDULES.remove(
    ("upsample", "mma")
)  # twice the products of WMMA, whose 32 x 8 x 16 fits four phases


@cache
def lowered(name: str, schedule: str) -> CudaSource:
    path = FOLDER / f"{name}.hb"
    p = check(parse(Source(path.name, path.read_text())), {})
    return emit_cuda(lower_to_kernel(p, choose_schedule(p, "cuda", schedule), TARGET), TARGET)


def shapes(name: str, sizes: dict[str, int]) -> dict[str, tuple[int, ...]]:
    h, w, t = sizes.values()
    match name:
        case "conv1d":
            return {"I": (h, w + t - 1), "K": (t,)}
        case "conv2d":
            return {"I": (h + t - 1, w + t - 1), "K": (t, t)}
        case "downsample":
            return {"I": (2 * h + t - 2, 2 * w + t - 2), "K": (t, t)}
        case _:
            more = (t - 1) // 2
            return {"I": ((h + 1) // 2 + more, (w + 1) // 2 + more), "K": (t, t)}


@pytest.mark.parametrize(("name", "schedule"), SCHEDULES)
def test_agrees(name: str, schedule: str, tmp_path: Path) -> None:
    path = FOLDER / f"{name}.hb"
    p = check(parse(Source(path.name, path.read_text())), {})
    source = lowered(name, schedule)
    used = {"wmma": "wmma::mma_sync", "mma": "ptx_mma_m16n8k16", "simt": "fmaf"}
    assert used[schedule] in source.text
    assert schedule != "simt" or "mma_" not in source.text
    library = CudaLibrary(source, tmp_path)
    for n, sizes in enumerate(SIZES[name]):
        random = np.random.default_rng(n)
        wanted = shapes(name, sizes)
        arrays = {a: random.uniform(-1, 1, s).astype(np.float16) for a, s in wanted.items()}
        out = poisoned((sizes["H"], sizes["W"]))
        assert library.call("", *sizes.values(), *arrays.values(), out) == 0
        assert compare(out, evaluate(p, sizes, arrays)["O"]).mismatches == 0


@pytest.mark.parametrize(("name", "schedule"), [s for s in SCHEDULES if s[1] != "simt"])
@pytest.mark.usefixtures("nvcc")
def test_no_spills(name: str, schedule: str, tmp_path: Path) -> None:
    archs = architectures(name, schedule)
    used = build_cuda(lowered(name, schedule), tmp_path / "k.fatbin", "fatbin", archs)
    assert used and all(r.spills == 0 for r in used)


def test_where_operands_lie() -> None:
    """Bands of taps are made by a kernel of their own, windows of the image by the lanes of a warp."""
    text = lowered("conv1d", "wmma").text
    assert "conv1d_K_packed(" in text
    assert "__shared__ __align__(128) uint16_t I_packed[2048]" in text
    assert "wmma::fragment<wmma::accumulator, 32, 8, 16, float> acc" in text
    assert "__syncwarp()" in text
    assert "__syncthreads()" not in text


@pytest.mark.parametrize("name", ["conv1d", "conv2d", "downsample"])
def test_windows_by_16_bytes(name: str) -> None:
    """The main loop copies 16 bytes at a time, with zeros behind the last pixels; `ldmatrix` loads these
    without masks, as all have values; a lane has its part of a filter in one access."""
    text = lowered(name, "mma").text
    kernel = text[text.index(f"{name}_O_block(") :]
    loop = kernel[kernel.index("__pipeline_wait_prior(0);") : kernel.index("ptx_mma_m16n8k16")]
    assert "ptx_cp_async_16(&I_in_acc[" in loop
    assert "ptx_ldmatrix_x4(ptx_words(I_in_acc_tile" in loop
    assert "&=" not in loop
    assert "reinterpret_cast<const uint2 *>(&K_packed[4 * lane" in loop
    assert "I_packed" not in text


def test_windows_without_values_behind_them() -> None:
    """At the edges, zeros where a mask is."""
    text = lowered("conv1d", "mma").text
    assert re.search(r"ptx_words\(I_in_acc_tile_\d+\)\[2\] &=", text)
