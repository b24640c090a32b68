"""The roofs of this machine's GPU, measured: its arithmetic, its tensor cores, its copies.

`gpu_peak.cu` is compiled and run like a kernel. Tensor cores are measured through WMMA with their
operands in registers, which on Hopper reaches some two thirds of what its own instructions can do.
"""

from __future__ import annotations

import hashlib
import json
from importlib import resources

from hbc.cli.roof.roofs import Roofs, load_roofs, store_roofs
from hbc.cli.roof.team import MEMORY
from hbc.cli.runs.native import Native, Repeat
from hbc.cli.show.report import Progress
from hbc.codegen.build.gpu import GpuFacts, GpuLibrary, find_loader, gpu_facts
from hbc.codegen.build.nvcc import build_cuda_cached, check_driver
from hbc.codegen.build.toolchain import cache_folder
from hbc.codegen.cuda.source import CudaSource

VERSION = 1  # of `gpu_peak.cu` and of what is kept: raise it when either changes
PEAKS = {kind: f"peak_{kind}" for kind in ("f32", "f64", "f16", "bf16", "u8s8")}
TRIAL, CALL_SECONDS = 1 << 32, 0.02  # operations of the first call; of those that count
COPIED = 512 << 20  # bytes of two arrays that no cache holds
ROUNDS = 64  # copies inside the L2 cache
REPEAT = Repeat(warmups=1, least=5, seconds=0.1, most=20)
TIMEOUT = 120.0  # seconds for one measurement
L2 = "L2"


def gpu_roofs(shown: Progress, flushed: bool, refresh: bool = False) -> Roofs:
    """The roofs of the first GPU, from the cache unless `refresh`; measuring takes some five seconds
    and nvcc's time. `flushed`: for runs that find the L2 cache empty. ToolError without a GPU."""
    facts = gpu_facts()
    file = cache_folder() / f"roofs-{_key(facts)}.json"
    roofs = None if refresh else load_roofs(file)
    if roofs is None:
        shown.step("measuring this GPU's roofs")
        roofs = _measure(facts)
        store_roofs(file, roofs, facts.name)
    return Roofs(roofs.threads, roofs.peaks, roofs.bandwidths, {}) if flushed else roofs


def measured_again(roofs: Roofs, shown: Progress) -> Roofs:
    """For when a run was faster than the roofs allow."""
    return gpu_roofs(shown, flushed=not roofs.levels, refresh=True)


def _key(facts: GpuFacts) -> str:
    parts = [VERSION, facts.name, facts.arch, facts.driver]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _measure(facts: GpuFacts) -> Roofs:
    check_driver(facts.driver)
    text = resources.files("hbc.cli.roof").joinpath("gpu_peak.cu").read_text(encoding="utf-8")
    library = build_cuda_cached(CudaSource("gpu_peak", text, ""), facts.arch)
    half = facts.l2_bytes // 4 // 512 * 512
    with Native(GpuLibrary(library, find_loader()), 1, TIMEOUT) as native:
        peaks = {kind: _peak(native, function) for kind, function in PEAKS.items()}
        copies = {MEMORY: max(_copy(native, f, COPIED // 2, 1) for f in ("own_copy", "copy"))}
        if half:
            copies[L2] = max(_copy(native, "copy", half, ROUNDS), copies[MEMORY])
    return Roofs(1, peaks, copies, {L2: facts.l2_bytes} if half else {})


def _peak(native: Native, function: str) -> float:
    """Operations in a second."""
    rate = TRIAL / min(native.time(function, [TRIAL], [], REPEAT))
    count = int(rate * CALL_SECONDS)
    return count / min(native.time(function, [count], [], REPEAT))


def _copy(native: Native, function: str, size: int, rounds: int) -> float:
    """Bytes in a second, read and written, from one array of that size to another."""
    both = 2 * size
    return both * rounds / min(native.time(function, [both, rounds], [size, size], REPEAT))
